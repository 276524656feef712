"""The audited population divided by one protected column, or by all of them, as regulators ask for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairbounds.results.findings import Finding
from fairbounds.results.naming import Label, json_number

__all__ = ["Category", "Classification"]


@dataclass(frozen=True)
class Category:
    """One level: its size, and what its selection rate and impact ratio can be.

    Attributes
    ----------
    level : str, int, float or bool
    share : float
        Of the audited population, in [0, 1].
    selection_rate, impact_ratio : Finding
        The ratio is against the most favoured category.
    shortfall_lower, shortfall_upper : float or None
        How far its selection rate lies below that of the most favoured category: valid ends, exact for two categories.
    """

    level: Label
    share: float
    selection_rate: Finding
    impact_ratio: Finding
    shortfall_lower: float | None
    shortfall_upper: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "level": self.level,
            "share": self.share,
            "selection_rate": self.selection_rate.to_dict(),
            "impact_ratio": self.impact_ratio.to_dict(),
            "shortfall": {"lower": json_number(self.shortfall_lower), "upper": json_number(self.shortfall_upper)},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Category:
        """Rebuild from `to_dict`."""
        rate, ratio = (Finding.from_dict(data[name]) for name in ("selection_rate", "impact_ratio"))
        shortfall = data["shortfall"]
        return cls(data["level"], data["share"], rate, ratio, shortfall["lower"], shortfall["upper"])


@dataclass(frozen=True)
class Classification:
    """All categories by the same columns.

    Attributes
    ----------
    columns : tuple of str
        One protected column, or several for their intersection.
    categories : tuple of Category

    Examples
    --------
    >>> Classification(("sex", "race"), ()).name
    'sex × race'
    """

    columns: tuple[str, ...]
    categories: tuple[Category, ...]

    @property
    def name(self) -> str:
        """The columns as one name."""
        return " × ".join(self.columns)

    @classmethod
    def of(
        cls,
        columns: tuple[str, ...],
        shares: tuple[float, ...],
        rates: tuple[Finding, ...],
        ratios: tuple[Finding, ...],
    ) -> Classification:
        """Put together what was found of each category; a shortfall follows from the rates."""
        made = []
        for at, (share, rate, ratio) in enumerate(zip(shares, rates, ratios, strict=True)):
            lower, upper = _shortfall(rate, [*rates[:at], *rates[at + 1 :]])
            assert rate.group is not None
            made.append(Category(rate.group, share, rate, ratio, lower, upper))
        return cls(columns, tuple(made))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"columns": list(self.columns), "categories": [entry.to_dict() for entry in self.categories]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Classification:
        """Rebuild from `to_dict`."""
        return cls(tuple(data["columns"]), tuple(Category.from_dict(entry) for entry in data["categories"]))


def _shortfall(rate: Finding, others: list[Finding]) -> tuple[float | None, float | None]:
    low, high = rate.bounds.lower, rate.bounds.upper
    lowest = [entry.bounds.lower for entry in others if entry.bounds.lower is not None]
    highest = [entry.bounds.upper for entry in others if entry.bounds.upper is not None]
    if low is None or high is None or not lowest or not highest or not math.isfinite(high):
        return None, None
    return max(0.0, max(lowest) - high), max(0.0, max(highest) - low)
