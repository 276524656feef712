"""How far sampling error may move the bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairbounds.results.naming import Label, in_words, json_number
from fairbounds.results.showing import Columns, Shown

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval(Shown):
    """Bounds widened for sampling error.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
    lower, upper : float
        Hold the metric itself with probability `level` or more; infinite where unbounded.
    set_lower, set_upper : float
        Hold every value that the metric can possibly have, the whole identified set, with that probability.
    level : float
        In (0, 1).
    method : {"cross_fitted", "exact", "bootstrap"}
    note : str
        A caveat that belongs to this interval, or nothing.
    details : dict
        JSON-ready: sample sizes, splits, seed.

    Examples
    --------
    >>> Interval("disparate_impact", "F", "M", 0.33, 0.77, 0.32, 0.78, 0.95).contains(0.4)
    True
    """

    metric: str
    group: Label | None
    reference: Label | None
    lower: float
    upper: float
    set_lower: float
    set_upper: float
    level: float
    method: str = "cross_fitted"
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def contains(self, value: float) -> bool:
        """Whether a value lies in the interval for the metric."""
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"{self.level:.0%} interval {in_words(self.lower)} to {in_words(self.upper)}"

    def columns(self) -> Columns:
        """Return one row: what the interval is of, both pairs of ends, level and method."""
        names = ("metric", "group", "reference", "lower", "upper", "set_lower", "set_upper", "level", "method", "note")
        return {name: [getattr(self, name)] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "lower": json_number(self.lower),
            "upper": json_number(self.upper),
            "level": self.level,
            "set": {"lower": json_number(self.set_lower), "upper": json_number(self.set_upper)},
            "method": self.method,
            "note": self.note,
            "details": self.details,
        }

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], metric: str, group: Label | None = None, reference: Label | None = None
    ) -> Interval:
        """Rebuild from `to_dict`."""
        ends = data["lower"], data["upper"], data["set"]["lower"], data["set"]["upper"]
        lower, upper, set_lower, set_upper = (math.inf if end is None else end for end in ends)
        settled = data["level"], data["method"], data["note"], dict(data["details"])
        return cls(metric, group, reference, lower, upper, set_lower, set_upper, *settled)
