"""What was found: frozen records that print, compare and store; everything shown to a person comes from here."""

from fairbounds.results.agreement import Mismatch, StrataSummary, StratumMismatch
from fairbounds.results.audit import SCHEMA, Audit, Finding, GroupSummary
from fairbounds.results.bounds import Bounds
from fairbounds.results.comparison import Cause, CauseKind, Comparison, Move
from fairbounds.results.draws import Diagnosis, Draws
from fairbounds.results.estimates import Estimate, Resampler
from fairbounds.results.exploration import Exploration
from fairbounds.results.intervals import Interval
from fairbounds.results.naming import Defined, End, Label, Verdict, label_of
from fairbounds.results.synthesis import Synthesis

__all__ = [
    "SCHEMA",
    "Audit",
    "Bounds",
    "Cause",
    "CauseKind",
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
    "Resampler",
    "StrataSummary",
    "StratumMismatch",
    "Synthesis",
    "Verdict",
    "label_of",
]
