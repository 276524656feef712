"""How the intervals are to be made."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from fairbounds.errors import ProblemError, nearest

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
    draws : int
        Resamples of the bootstrap.
    """

    level: float = 0.95
    method: IntervalMethod = "cross_fitted"
    external_is_census: bool = False
    internal_size: float | None = None
    external_size: float | None = None
    internal_rounding: float = 0.0
    external_rounding: float = 0.0
    splits: int | None = None
    draws: int = 2000

    def __post_init__(self) -> None:
        if not isinstance(self.level, int | float):
            raise ProblemError(f"confidence must be a number between 0 and 1, not {self.level!r}")
        if not 0 < self.level < 1:
            raise ProblemError(f"confidence must lie between 0 and 1, not {self.level}")
        if self.method not in get_args(IntervalMethod):
            raise ProblemError(f"intervals are {', '.join(get_args(IntervalMethod))}, not {self.method!r}")
        for role, size in (("internal", self.internal_size), ("external", self.external_size)):
            if size is not None and not 1 <= size < math.inf:
                raise ProblemError(f"the sample size of the {role} table is a number of people, 1 or more, not {size}")
        if self.internal_rounding < 0 or self.external_rounding < 0:
            raise ProblemError(
                "counts are rounded to multiples of a number above 0, not "
                f"{min(self.internal_rounding, self.external_rounding)}"
            )
        if (self.splits is not None and self.splits < 1) or self.draws < 100:
            raise ProblemError(
                f"intervals need at least one split and 100 resamples, not {self.splits} and {self.draws}"
            )


def settled_plan(level: float, method: str, **options: Any) -> Sampling:
    """Return a plan, or say which option there is not."""
    known = [field.name for field in fields(Sampling)]
    for name in options:
        if name not in known:
            raise ProblemError(f"intervals have no option {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    return Sampling(level, method, **options)  # type: ignore[arg-type]  # checked there
