"""The pairs of rates that two groups can have together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairbounds.results.naming import Label
from fairbounds.results.showing import Columns, Shown

__all__ = ["Region"]


@dataclass(frozen=True)
class Region(Shown):
    """Every pair of rates that some joint fitting both tables gives to the reference and to a group.

    Attributes
    ----------
    rate : str
        Name of the rate, e.g. ``selection_rate``.
    group, reference : str, int, float or bool
    corners : tuple of (float, float)
        Rate of the reference, then of the group; counter-clockwise. One corner is a point, two a segment.
    estimates : dict
        Method to the pair of rates that it estimates.

    Examples
    --------
    >>> region = Region("selection_rate", "F", "M", ((0.9, 0.2), (0.5, 0.6)))
    >>> region.contains(0.7, 0.4), region.contains(0.7, 0.5), region.meets(1.0)
    (True, False, True)
    """

    rate: str
    group: Label
    reference: Label
    corners: tuple[tuple[float, float], ...]
    estimates: dict[str, tuple[float, float]] = field(default_factory=dict)

    def contains(self, reference_rate: float, group_rate: float, tolerance: float = 1e-9) -> bool:
        """Whether a pair of rates lies in the region, give or take rounding."""
        pairs = zip(self.corners, (*self.corners[1:], self.corners[0]), strict=True)
        lowest = [min(corner[at] for corner in self.corners) for at in (0, 1)]
        highest = [max(corner[at] for corner in self.corners) for at in (0, 1)]
        point = (reference_rate, group_rate)
        if any(not lowest[at] - tolerance <= point[at] <= highest[at] + tolerance for at in (0, 1)):
            return False
        return all(
            (x2 - x1) * (group_rate - y1) - (y2 - y1) * (reference_rate - x1) >= -tolerance
            for (x1, y1), (x2, y2) in pairs
        )

    def meets(self, ratio: float, tolerance: float = 1e-12) -> bool:
        """Whether some pair has the group's rate at this ratio to the reference's; 1 is parity."""
        sides = [group - ratio * reference for reference, group in self.corners]
        return min(sides) <= tolerance and max(sides) >= -tolerance

    def columns(self) -> Columns:
        """Return one row for each corner."""
        n = len(self.corners)
        return {
            "reference": [self.reference] * n,
            "reference_rate": [x for x, _ in self.corners],
            "group": [self.group] * n,
            "group_rate": [y for _, y in self.corners],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "rate": self.rate,
            "group": self.group,
            "reference": self.reference,
            "corners": [list(corner) for corner in self.corners],
            "estimates": {method: list(pair) for method, pair in self.estimates.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Region:
        """Rebuild from `to_dict`."""
        corners = tuple((float(x), float(y)) for x, y in data["corners"])
        estimates = {method: (float(x), float(y)) for method, (x, y) in data["estimates"].items()}
        return cls(data["rate"], data["group"], data["reference"], corners, estimates)
