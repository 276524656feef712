"""Uniform draws from the joints that fit both tables: chains that walk until they agree, or say that they do not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, whole_number
from fairbounds.feasible import FeasibleSet
from fairbounds.kernels.diagnostics import diagnose
from fairbounds.kernels.walk import start, walk
from fairbounds.metrics import Rate
from fairbounds.progress import report
from fairbounds.questions import Question
from fairbounds.results import Bounds, Diagnosis, Draws
from fairbounds.sampling.exact import exact_mean
from fairbounds.sampling.open_strata import open_event_mass
from fairbounds.seeds import stream
from fairbounds.tables import Table

__all__ = ["Plan", "Start", "WalkJoints", "by_walk"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Start: TypeAlias = Literal["vertex", "independence"]

_AGREED = 1.01  # R̂ below which chains count as one (Vehtari et al. 2021)
# Draws of each chain, times the root of the number of chains, below which R̂ is more noise than news: with n draws in
# each of m half chains that agree, R̂² is 1 ± √(2/m)/n.
_FEWEST_DRAWS = 340
_AT_ONCE = 200_000_000  # swaps between two looks at the keyboard, some 0.2 s
_MOST_SWAPS = 200_000_000_000  # after which a walk that has not converged says so, some minutes
_MOST_ENTRIES = 2**26  # entries of all chains' joints, 512 MB


@dataclass(frozen=True)
class Plan:
    """How long to walk, as in `sample`."""

    draws: int = 10_000
    chains: int = 256
    effective: int | None = None
    start: Start = "vertex"

    def __post_init__(self) -> None:
        if self.start not in get_args(Start):
            raise ProblemError(f"a walk starts at 'vertex' or 'independence', not {self.start!r}")
        whole_number("draws", self.draws)
        whole_number("chains", self.chains)
        if self.effective is not None:
            whole_number("effective", self.effective)

    @property
    def wanted(self) -> int:
        """Effective draws to reach."""
        return max(1, min(4_000, self.draws // 2)) if self.effective is None else self.effective


@dataclass(frozen=True, eq=False)
class WalkJoints:
    """The joints at which the chains ended: uniform, and independent of each other.

    Attributes
    ----------
    feasible_set : FeasibleSet
    state : array, shape (A, G, chains)
    """

    feasible_set: FeasibleSet
    state: FloatArray

    def __len__(self) -> int:
        return int(self.state.shape[2])

    def __iter__(self) -> Iterator[Table]:
        return (self.feasible_set.table(self.state[:, :, lane]) for lane in range(len(self)))

    def to_array(self) -> FloatArray:
        """Return all of them, shape (joints, internal cells, groups)."""
        return np.moveaxis(self.state, 2, 0).copy()


class _Walker:
    """Chains that go on from where they are."""

    def __init__(self, feasible: FeasibleSet, plan: Plan, rng: np.random.Generator) -> None:
        entries = max(1, feasible.cell_mass.size * len(feasible.protected))
        self.lanes = min(plan.chains, max(4, _MOST_ENTRIES // entries))
        self._feasible, self._rng = feasible, rng
        self.swaps = max(1, int(feasible.free_by_stratum.sum())) * self.lanes  # of one sweep
        self.spent = 0
        self.state = start(*self._tables, self._seeds(), plan.start)

    @property
    def _tables(self) -> tuple[npt.NDArray[np.int64], FloatArray, FloatArray]:
        return self._feasible.offsets, self._feasible.cell_mass, self._feasible.group_mass

    def _seeds(self) -> npt.NDArray[np.uint64]:
        return self._rng.integers(0, 2**64, (len(self._feasible.group_mass), self.lanes), dtype=np.uint64)

    def take(self, kept: int, thin: int, task: str) -> FloatArray:
        """Walk on for `kept` draws, `thin` sweeps each; return event masses, shape (kept, chains, G, E)."""
        parts: list[FloatArray] = []
        whole = max(1, _AT_ONCE // self.swaps)  # sweeps in one go
        taken = 0
        while taken < kept:
            report(task, taken / kept)
            block = min(kept - taken, max(1, whole // thin))
            for left in range(thin - whole, 0, -whole) if thin > whole else ():
                self._advance(1, min(whole, left))
            parts.append(self._advance(block, min(whole, thin)))
            taken += block
        report(task, 1.0)
        self.spent += kept * thin * self.swaps
        found = np.concatenate(parts)
        return found + open_event_mass(self._feasible, found.shape[:2], self._rng)

    def _advance(self, kept: int, thin: int) -> FloatArray:
        sums, self.state = walk(*self._tables, self._feasible.events, kept, thin, self._seeds(), self.state)
        return sums


def by_walk(
    feasible: FeasibleSet, questions: Sequence[Question], bounds: Sequence[Bounds], plan: Plan, seed: int
) -> tuple[Draws, ...]:
    """Walk until R̂ and the effective sizes of every metric are as wanted.

    Each round walks twice as far as the one before, from where it ended, and only the last round counts: half of all
    steps are burn-in. How long a round is depends on nothing but whether the chains agree.
    """
    walker = _Walker(feasible, plan, stream(seed, "walk"))
    kept, thin = _draws_of_a_chain(plan, walker.lanes), 1
    walker.take(kept, thin, "Walking away from the start")
    while True:
        mass = walker.take(kept, thin, f"Walking over the feasible set, {thin} sweeps a draw")
        values = _answers(questions, mass)
        diagnoses = [_diagnosis(value, plan.wanted) for value in values]
        if all(found.converged for found in diagnoses) or 2 * kept * thin * walker.swaps > _MOST_SWAPS - walker.spent:
            break
        thin *= 2
    settings = {
        "seed": seed,
        "start": plan.start,
        "chains": walker.lanes,
        "sweeps_per_draw": thin,
        "effective_wanted": plan.wanted,
        "free_parameters": feasible.n_free,
    }
    joints = None if feasible.one_sided else WalkJoints(feasible, walker.state)
    return tuple(
        Draws(
            question.metric.name,
            *question.names,
            "walk",
            value,
            found,
            exact_mean(feasible, question),
            diagnosis,
            settings,
            joints,
        )
        for question, found, value, diagnosis in zip(questions, bounds, values, diagnoses, strict=True)
    )


def _draws_of_a_chain(plan: Plan, lanes: int) -> int:
    """Return how many draws each chain keeps: those asked for, and enough for the diagnostics to judge by."""
    total = max(plan.draws, math.ceil(1.25 * plan.wanted), math.ceil(_FEWEST_DRAWS * math.sqrt(lanes)))
    return max(8, -(-total // lanes))


def _answers(questions: Sequence[Question], mass: FloatArray) -> list[FloatArray]:
    """Return each metric, shape (chains, kept), from event masses, shape (kept, chains, G, E)."""
    rates: dict[Rate, FloatArray] = {}
    for question in questions:
        rate = question.metric.rate
        if rate not in rates:
            rates[rate] = rate.of_events(mass)
    return [np.ascontiguousarray(question.answers(rates[question.metric.rate]).T) for question in questions]


def _diagnosis(values: FloatArray, wanted: int) -> Diagnosis:
    """Diagnose the draws; those without a value share a rank of their own, below all others."""
    ranked = np.where(np.isnan(values), -2.0, values)
    r_hat, bulk, tail = (float(found[0]) for found in diagnose(ranked[:, :, None]))
    return Diagnosis(r_hat, bulk, tail, r_hat < _AGREED and min(bulk, tail) >= wanted)
