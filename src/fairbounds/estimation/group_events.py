"""What every metric needs of an estimated joint: how much of each event each group holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.resampling import resampled_events
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Draws, Resampler
from fairbounds.seeds import Rng, settled_seed, stream

__all__ = ["Atoms", "GroupEvents", "atoms_of_strata"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Atoms: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class GroupEvents:
    """Event masses of an estimated joint.

    Attributes
    ----------
    mass : array, shape (G, E)
    atoms : callable
        Returns the masses of groups by outcome atom, shape (G, A), and P(event | atom), shape (A, E): made only when
        people are drawn.
    """

    mass: FloatArray
    atoms: Callable[[], Atoms]

    def value(self, question: Question) -> float | None:
        """Return the metric, ``None`` where it is 0/0."""
        return question.answer(question.metric.rate.of_events(self.mass))

    def resampler(self, question: Question, method: str) -> Resampler:
        """Return a function that draws samples of people and computes the metric in each."""

        def resample(people: int, draws: int, rng: Rng) -> Draws:
            seed = settled_seed(rng)
            mass = resampled_events(*self.atoms(), people, draws, stream(seed, "resample"))
            values = question.answers(question.metric.rate.of_events(mass))
            settings = {"seed": seed, "people": people, "estimate": method}
            return Draws(question.metric.name, *question.names, "resample", values[None, :], settings=settings)

        return resample


def atoms_of_strata(problem: Problem, per_stratum: FloatArray, events: FloatArray) -> Atoms:
    """Give each outcome atom to the groups in proportion to masses of groups by stratum, shape (C, G)."""
    strata = problem.strata
    return per_stratum[strata.atom_stratum].T * strata.weight, events
