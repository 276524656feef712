"""What one run can compute, and how much of it: named here so that the command line need not load the studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from fairbounds.errors import ProblemError, nearest

__all__ = ["DESIGNS", "FULL_TRIALS", "RUNS", "Effort", "Part", "ShownDesign", "parts_of"]

Part: TypeAlias = Literal["simulation", "stress", "feasible", "structural"]
ShownDesign: TypeAlias = Literal["mirrored", "independent"]

DESIGNS: tuple[ShownDesign, ...] = get_args(ShownDesign)
RUNS: dict[str, tuple[Part, ...]] = {
    "simulation": ("simulation", "stress"),
    "stress": ("stress",),
    "feasible": ("feasible",),
    "structural": ("structural",),
    "all": get_args(Part),
}
FULL_TRIALS = 1_000
_FULL_SPLITS = 20


def parts_of(what: str) -> tuple[Part, ...]:
    """Return the studies of one run.

    Examples
    --------
    >>> parts_of("simulation")
    ('simulation', 'stress')
    """
    if what not in RUNS:
        raise ProblemError(f"there is no study {what!r}{nearest(what, RUNS)}; there are {', '.join(RUNS)}")
    return RUNS[what]


@dataclass(frozen=True)
class Effort:
    """How much is computed; the paper's own sizes by default, everything smaller with fewer trials.

    Attributes
    ----------
    trials : int
        Of each simulated study, and of each setting of the stress test.
    studies : int
        Repetitions of the simulated study.
    splits, bootstraps : int
        Of the structural estimates.
    largest : int, optional
        Most common variables in a set; by default there is no limit.
    draws : int
        Of the feasible set with all categories.
    """

    trials: int = FULL_TRIALS
    studies: int = 40
    splits: int = _FULL_SPLITS
    bootstraps: int = 1_000
    largest: int | None = None
    draws: int = 10_000

    @classmethod
    def of(cls, trials: int = FULL_TRIALS, splits: int | None = None) -> Effort:
        """Scale everything with the number of trials, up to the paper's sizes.

        Examples
        --------
        >>> Effort.of() == Effort(), Effort.of(50)
        (True, Effort(trials=50, studies=40, splits=2, bootstraps=50, largest=1, draws=2000))
        """
        if trials < 2:
            raise ProblemError(f"a reproduction needs at least 2 trials, not {trials}")
        part = min(1.0, trials / FULL_TRIALS)
        return cls(
            trials=trials,
            splits=max(2, round(_FULL_SPLITS * part)) if splits is None else splits,
            bootstraps=max(20, round(1_000 * part)),
            largest=None if part == 1 else max(1, round(3 * part)),
            draws=max(2_000, round(10_000 * part)),
        )
