"""What was found: frozen records that print, compare and store; everything shown to a person comes from here."""

from fairbounds.results.agreement import Mismatch, StrataSummary, StratumMismatch
from fairbounds.results.audit import SCHEMA, Audit
from fairbounds.results.bounds import Bounds
from fairbounds.results.classification import Category, Classification
from fairbounds.results.comparison import Cause, CauseKind, Comparison, Move
from fairbounds.results.draws import Diagnosis, Draws
from fairbounds.results.estimates import Estimate, Resampler
from fairbounds.results.exploration import Exploration
from fairbounds.results.findings import Finding, GroupSummary
from fairbounds.results.intervals import Interval
from fairbounds.results.naming import Defined, End, Label, Verdict, label_of
from fairbounds.results.openness import StratumWidth
from fairbounds.results.regions import Region
from fairbounds.results.synthesis import Synthesis

__all__ = [
    "SCHEMA",
    "Audit",
    "Bounds",
    "Category",
    "Cause",
    "CauseKind",
    "Classification",
    "Comparison",
    "Defined",
    "Diagnosis",
    "Draws",
    "End",
    "Estimate",
    "Exploration",
    "Finding",
    "GroupSummary",
    "Interval",
    "Label",
    "Mismatch",
    "Move",
    "Region",
    "Resampler",
    "StrataSummary",
    "StratumMismatch",
    "StratumWidth",
    "Synthesis",
    "Verdict",
    "label_of",
]
