"""One metric for one group, and one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairbounds.results.bounds import Bounds
from fairbounds.results.estimates import Estimate
from fairbounds.results.intervals import Interval
from fairbounds.results.naming import Label, Verdict, in_words, json_number
from fairbounds.results.showing import Columns, Shown

__all__ = ["Finding", "GroupSummary", "rows_of"]


@dataclass(frozen=True)
class Finding(Shown):
    """One metric for one group: bounds, estimates and verdict.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
    bounds : Bounds
    estimates : tuple of Estimate
    verdict : {"below", "above", "within", "undetermined"} or None
        Where the interval (the bounds, without one) lies against the threshold; ``within`` a tolerance around 0;
        ``None`` for plain rates.
    threshold : float or None
    tolerance : float
        Half-width of the band around the threshold (differences).
    note : str
        A caveat that belongs to this number, or nothing.
    interval : Interval or None
        The bounds widened for sampling error; ``None`` where none was asked for or none can be had.
    """

    metric: str
    group: Label | None
    reference: Label | None
    bounds: Bounds
    estimates: tuple[Estimate, ...] = ()
    verdict: Verdict | None = None
    threshold: float | None = None
    tolerance: float = 0.0
    note: str = ""
    interval: Interval | None = None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """What the verdict rests on: the interval, or the bounds where there is none or the metric is undefined."""
        if self.interval is None or self.bounds.lower is None:
            return self.bounds.lower, self.bounds.upper
        return self.interval.lower, self.interval.upper

    def __str__(self) -> str:
        who = "" if self.group is None else f" {self.group}"
        against = "" if self.reference is None else f" / {self.reference}"
        values = "".join(f"; {entry.method} {in_words(entry.value)}" for entry in self.estimates)
        verdict = "" if self.verdict is None else f"; {self.verdict} {self.threshold:g}"
        ends = f"between {in_words(self.bounds.lower)} and {in_words(self.bounds.upper)}"
        sampled = "" if self.interval is None else f"; {self.interval}"
        return f"{self.metric}{who}{against}: {ends}{sampled}{values}{verdict}"

    def estimate(self, method: str) -> float | None:
        """Return the value of one estimate, ``None`` where it is undefined or was not asked for."""
        return next((entry.value for entry in self.estimates if entry.method == method), None)

    def columns(self) -> Columns:
        """Return one row: bounds, interval, estimates and verdict."""
        return rows_of([self])

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "metric": self.metric,
            "group": self.group,
            "reference": self.reference,
            "bounds": self.bounds.to_dict(),
            "interval": None if self.interval is None else self.interval.to_dict(),
            "estimates": {entry.method: json_number(entry.value) for entry in self.estimates},
            "estimate_details": {entry.method: entry.to_dict() for entry in self.estimates},
            "verdict": self.verdict,
            "threshold": self.threshold,
            "tolerance": self.tolerance,
            "note": self.note,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """Rebuild from `to_dict`."""
        estimates = tuple(Estimate.from_dict(entry) for entry in data["estimate_details"].values())
        roles = data["metric"], data["group"], data["reference"]
        return cls(
            *roles,
            Bounds.from_dict(data["bounds"], *roles),
            estimates,
            data["verdict"],
            data["threshold"],
            data["tolerance"],
            data["note"],
            None if data["interval"] is None else Interval.from_dict(data["interval"], *roles),
        )


@dataclass(frozen=True)
class GroupSummary:
    """A group's share of the audited population and the bounds of its selection rate."""

    group: Label
    share: float
    selection_rate: Bounds

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"group": self.group, "share": self.share, "selection_rate": self.selection_rate.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GroupSummary:
        """Rebuild from `to_dict`."""
        rate = Bounds.from_dict(data["selection_rate"], "selection_rate", data["group"])
        return cls(data["group"], data["share"], rate)


def rows_of(findings: Sequence[Finding]) -> Columns:
    """Return findings as columns; an estimate that a finding lacks is ``None`` there.

    Parameters
    ----------
    findings : sequence of Finding
    """
    found: Columns = {name: [getattr(entry, name) for entry in findings] for name in ("metric", "group", "reference")}
    for end in ("lower", "upper"):
        found[end] = [getattr(entry.bounds, end) for entry in findings]
    for end in ("lower", "upper", "level"):
        found[f"interval_{end}"] = [getattr(entry.interval, end, None) for entry in findings]
    for method in dict.fromkeys(entry.method for finding in findings for entry in finding.estimates):
        found[method] = [entry.estimate(method) for entry in findings]
    for name in ("verdict", "threshold", "tolerance", "note"):
        found[name] = [getattr(entry, name) for entry in findings]
    return found
