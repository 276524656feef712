"""What was found: frozen records that print, compare and store; everything shown to a person comes from here."""

from fairbounds.results.agreement import Mismatch, StrataSummary, StratumMismatch
from fairbounds.results.audit import SCHEMA, Audit, Finding, GroupSummary
from fairbounds.results.bounds import Bounds
from fairbounds.results.draws import Diagnosis, Draws
from fairbounds.results.estimates import Estimate
from fairbounds.results.exploration import Exploration
from fairbounds.results.naming import Defined, End, Label, Verdict, label_of

__all__ = [
    "SCHEMA",
    "Audit",
    "Bounds",
    "Defined",
    "Diagnosis",
    "Draws",
    "End",
    "Estimate",
    "Exploration",
    "Finding",
    "GroupSummary",
    "Label",
    "Mismatch",
    "StrataSummary",
    "StratumMismatch",
    "Verdict",
    "label_of",
]
