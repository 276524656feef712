"""How the intervals are to be made."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

from fairbounds.errors import ProblemError, nearest
from fairbounds.surveys import Survey

__all__ = ["IntervalMethod", "Sampling", "settled_plan"]

IntervalMethod: TypeAlias = Literal["cross_fitted", "exact", "bootstrap"]


@dataclass(frozen=True)
class Sampling:
    """What is known of the two samples, and how intervals are to be made.

    Attributes
    ----------
    level : float
        Confidence level, in (0, 1).
    method : {"cross_fitted", "exact", "bootstrap"}
        ``cross_fitted``: averages whose duals come from other rows, valid at ties and in sparse strata. ``exact``:
        Clopper–Pearson boxes, valid in samples of any size and wide, for hard decisions. ``bootstrap``: percentiles
        of resampled bounds, for rates counted among whole groups; too narrow at ties and in sparse strata.
    external_is_census : bool
        Whether the external table is a full count, without sampling error.
    internal_size, external_size : float, optional
        Sample sizes where the tables do not tell.
    internal_rounding, external_rounding : float
        Counts of the table were rounded to multiples of this (or perturbed by at most half of it); 0 for not at all.
    splits : int, optional
        Random splits of the rows that are averaged; by default more where there are few strata.
    combine : {"average", "median"}
        How the splits are combined: their ends and variances averaged, or twice the median of their p-values, which is
        valid whatever the dependence of the splits and wider.
    draws : int
        Resamples of the bootstrap.
    survey : Survey, optional
        Clusters and replicate weights.
    """

    level: float = 0.95
    method: IntervalMethod = "cross_fitted"
    external_is_census: bool = False
    internal_size: float | None = None
    external_size: float | None = None
    internal_rounding: float = 0.0
    external_rounding: float = 0.0
    splits: int | None = None
    combine: Literal["average", "median"] = "average"
    draws: int = 2000
    survey: Survey | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.level, int | float):
            raise ProblemError(f"confidence must be a number between 0 and 1, not {self.level!r}")
        if not 0 < self.level < 1:
            raise ProblemError(f"confidence must lie between 0 and 1, not {self.level}")
        if self.method not in get_args(IntervalMethod):
            raise ProblemError(f"intervals are {', '.join(get_args(IntervalMethod))}, not {self.method!r}")
        if self.combine not in ("average", "median"):
            raise ProblemError(f"splits are combined by 'average' or 'median', not {self.combine!r}")
        if self.survey is not None and self.method != "cross_fitted":
            raise ProblemError(f"clusters and replicate weights need the method cross_fitted, not {self.method}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        for role, size in (("internal", self.internal_size), ("external", self.external_size)):
            if size is not None and not 1 <= size < math.inf:
                raise ProblemError(f"the sample size of the {role} table is a number of people, 1 or more, not {size}")
        for unit in (self.internal_rounding, self.external_rounding):
            if not 0 <= unit < math.inf:
                raise ProblemError(f"counts are rounded to multiples of a number above 0, not {unit}")
        if (self.splits is not None and self.splits < 1) or self.draws < 100:
            raise ProblemError(
                f"intervals need at least one split and 100 resamples, not {self.splits} and {self.draws}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return what was chosen, JSON-ready."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "survey"}


def settled_plan(level: float, method: str, **options: Any) -> Sampling:
    """Return a plan, or say which option there is not."""
    known = [entry.name for entry in fields(Sampling)]
    for name in options:
        if name not in known:
            raise ProblemError(f"intervals have no option {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    return Sampling(level, method, **options)  # type: ignore[arg-type]  # checked there
