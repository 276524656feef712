"""Point estimates of a metric, each under a named assumption."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairbounds.errors import ProblemError, whole_number
from fairbounds.joints import Joint
from fairbounds.results.draws import Draws
from fairbounds.results.naming import json_number
from fairbounds.results.showing import Columns, Shown

__all__ = ["Estimate", "Resampler"]

# From a number of people, a number of samples and a seed to the metric in each sample.
Resampler = Callable[[int, int, Any], Draws]


@dataclass(frozen=True)
class Estimate(Shown):
    """One number for a metric under a named assumption.

    Attributes
    ----------
    method : str
        The assumption, e.g. ``independence``.
    value : float or None
        ``None`` where the metric is undefined, infinite where its denominator is 0.
    margin_preserving : bool
        Whether the joint behind it fits both tables, so that it lies inside the bounds.
    note : str
        A caveat that belongs to this number, or nothing.
    details : dict
        JSON-ready figures of the method: what was fitted, how well, how sure.
    joint : Joint or None
        The distribution behind the number, where it has one; not stored.

    Examples
    --------
    >>> Estimate("independence", 0.43).value
    0.43
    """

    method: str
    value: float | None
    margin_preserving: bool = True
    note: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    joint: Joint | None = field(default=None, repr=False, compare=False)
    resampler: Resampler | None = field(default=None, repr=False, compare=False)

    def resample(self, rows: int, draws: int = 1000, rng: Any = 0) -> Draws:
        """Draw samples of people from the joint behind the estimate, and compute the metric in each.

        A score stays the probability that it is: people are drawn, and their decisions expected. Of decisions drawn
        from scores the metric would vary more.

        Parameters
        ----------
        rows : int
            People in each sample.
        draws : int
            Samples.
        rng : int or numpy.random.Generator

        Returns
        -------
        Draws
        """
        if self.resampler is None:
            raise ProblemError(f"the estimate {self.method!r} has no joint distribution to draw from")
        return self.resampler(whole_number("rows", rows), whole_number("draws", draws), rng)

    def columns(self) -> Columns:
        """Return one row."""
        return {name: [getattr(self, name)] for name in ("method", "value", "margin_preserving", "note")}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data, without the joint."""
        return {
            "method": self.method,
            "value": json_number(self.value),
            "infinite": self.value is not None and math.isinf(self.value),
            "margin_preserving": self.margin_preserving,
            "note": self.note,
            "details": self.details,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Estimate:
        """Rebuild from `to_dict`."""
        value = math.inf if data["infinite"] else data["value"]
        return cls(data["method"], value, data["margin_preserving"], data["note"], dict(data["details"]))
