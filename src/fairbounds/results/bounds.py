"""Identification limits of a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairbounds.errors import ProblemError
from fairbounds.results.naming import Defined, End, Label, json_number
from fairbounds.results.showing import Columns, Shown
from fairbounds.tables import Table

__all__ = ["Bounds"]


@dataclass(frozen=True)
class Bounds(Shown):
    """What the two tables cannot tell apart: the least and greatest value of a metric over every joint that fits both.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
        ``None`` where the metric has no such role.
    lower, upper : float or None
        Infinite where unbounded; ``None`` where the metric is never defined.
    method : str
        ``closed form``, ``search`` (certified) or ``separate ends``.
    sharp : bool
        Whether both ends are the true ends; otherwise they are valid but may be loose.
    defined : str
        ``sometimes`` where a joint that fits gives the metric's condition no mass.

    Examples
    --------
    >>> Bounds("disparate_impact", "Female", "Male", 0.35, 0.75).contains(0.42)
    True
    """

    metric: str
    group: Label | None
    reference: Label | None
    lower: float | None
    upper: float | None
    method: str = "closed form"
    sharp: bool = True
    defined: Defined = "always"
    rebuild: Callable[[End], Table] | None = field(default=None, repr=False, compare=False)

    @property
    def width(self) -> float | None:
        """Distance between the ends."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def contains(self, value: float, tolerance: float = 1e-9) -> bool:
        """Whether a value lies between the ends, give or take rounding."""
        if self.lower is None or self.upper is None:
            return False
        return self.lower - tolerance <= value <= self.upper + tolerance

    def attained_by(self, end: End) -> Table:
        """Rebuild a joint distribution that fits both tables and has this end as its metric.

        It has it to rounding; where a search found the end, to the 1e-7 within which a search closes.

        Parameters
        ----------
        end : {"lower", "upper"}

        Returns
        -------
        Table
            Over the common variables, the outcome and the protected variable; total 1.
        """
        if self.rebuild is None:
            raise ProblemError(
                "these bounds are stored or not sharp, so no joint can be rebuilt; compute them with bound()"
            )
        return self.rebuild(end)

    def columns(self) -> Columns:
        """Return one row: what is bounded, its ends and how they were found."""
        names = ("metric", "group", "reference", "lower", "upper", "method", "sharp", "defined")
        return {name: [getattr(self, name)] for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "lower": json_number(self.lower),
            "upper": json_number(self.upper),
            "method": self.method,
            "sharp": self.sharp,
            "defined": self.defined,
        }

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], metric: str, group: Label | None = None, reference: Label | None = None
    ) -> Bounds:
        """Rebuild from `to_dict`."""
        defined = data["defined"]
        unbounded = None if defined == "never" else math.inf
        lower, upper = (unbounded if data[end] is None else data[end] for end in ("lower", "upper"))
        return cls(metric, group, reference, lower, upper, data["method"], data["sharp"], defined)
