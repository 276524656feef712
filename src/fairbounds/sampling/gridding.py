"""The grid of the paper's appendix A, for two groups and two internal cells in each of a few strata."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, whole_number
from fairbounds.feasible import FeasibleSet
from fairbounds.kernels.grid import Limits, grid_array, grid_joints, grid_values
from fairbounds.questions import Question
from fairbounds.results import Bounds, Draws
from fairbounds.sampling.exact import exact_mean
from fairbounds.tables import Table

__all__ = ["GridJoints", "on_grid"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

_MOST_JOINTS = 10_000_000


@dataclass(frozen=True, eq=False)
class GridJoints:
    """The feasible joints of a grid, made when they are asked for.

    Attributes
    ----------
    feasible_set : FeasibleSet
    values : array, shape (C, points)
        Mass of the first cell in the first group, stratum by stratum.
    feasible : array of bool, shape (C, points)
    """

    feasible_set: FeasibleSet
    values: FloatArray
    feasible: BoolArray

    def __len__(self) -> int:
        return math.prod(self.feasible.sum(axis=1).tolist())

    def _matrices(self) -> Iterator[FloatArray]:
        rows = self.feasible_set.paired(self.feasible_set.cell_mass)
        return grid_joints(rows, self.feasible_set.group_mass, self.values, self.feasible)

    def __iter__(self) -> Iterator[Table]:
        return (self.feasible_set.table(self.feasible_set.unpaired(matrix)) for matrix in self._matrices())

    def to_array(self) -> FloatArray:
        """Make all of them, shape (joints, internal cells, groups)."""
        rows = self.feasible_set.paired(self.feasible_set.cell_mass)
        joints = grid_array(rows, self.feasible_set.group_mass, self.values, self.feasible)
        return self.feasible_set.unpaired(joints)

    def event_mass(self) -> FloatArray:
        """Return the mass of every event in each group, shape (joints, 2, events), from a part for each stratum."""
        rows = self.feasible_set.paired(self.feasible_set.cell_mass)
        events = self.feasible_set.paired(self.feasible_set.events)
        strata = zip(rows, self.feasible_set.group_mass, events, self.values, self.feasible, strict=True)
        parts = [_event_parts(row, group, event, value[chosen]) for row, group, event, value, chosen in strata]
        total = parts[0]
        for part in parts[1:]:
            total = (total[:, None] + part[None, :]).reshape(-1, *part.shape[1:])
        return total


def _event_parts(row: FloatArray, group: FloatArray, events: FloatArray, value: FloatArray) -> FloatArray:
    """Event masses of both groups in one stratum by the value of the free entry, shape (values, 2, events)."""
    of_first_cell = np.stack([value, row[0] - value], axis=1)
    held = np.stack([of_first_cell, group - of_first_cell], axis=2)  # values × groups × cells
    return np.asarray(np.maximum(0.0, held) @ events)


def on_grid(
    feasible: FeasibleSet, questions: Sequence[Question], bounds: Sequence[Bounds], points: int, limits: Limits
) -> tuple[Draws, ...]:
    """Return each metric on every feasible joint of the grid."""
    if limits not in get_args(Limits):
        raise ProblemError(f"the limits of a grid are 'tight' or 'paper', not {limits!r}")
    _refuse_hopeless(feasible, points)
    rows = feasible.paired(feasible.cell_mass)
    joints = GridJoints(feasible, *grid_values(rows, feasible.group_mass, points, limits))
    mass = joints.event_mass()
    rates = {question.metric.rate: question.metric.rate.of_events(mass) for question in questions}
    settings = {"points": points, "limits": limits, "joints": points ** len(rows), "feasible": len(joints)}
    return tuple(
        Draws(
            question.metric.name,
            *question.names,
            "grid",
            question.answers(rates[question.metric.rate])[None, :],
            found,
            exact_mean(feasible, question),
            None,
            settings,
            joints,
        )
        for question, found in zip(questions, bounds, strict=True)
    )


def _refuse_hopeless(feasible: FeasibleSet, points: int) -> None:
    """Say how many joints a grid would have where it cannot be made."""
    whole_number("points", points, least=2)
    free, strata = feasible.n_free, len(feasible.group_mass)
    instead = "draw from the joints by the walk instead (--sampling walk, method='walk')"
    if not feasible.binary:
        size = f"a grid of {points} points on each of {free:,} free parameters would have {points}^{free} joints"
        if feasible.one_sided:
            size = "part of the population lies in strata that one table lacks"
        raise ProblemError(
            "a grid is for two groups, at most two internal cells in each stratum, and strata that both tables have "
            f"seen; here {size}; {instead}"
        )
    if strata * math.log10(points) > math.log10(_MOST_JOINTS):
        raise ProblemError(
            f"a grid of {points} points in each of {strata} strata ({free} free parameters) would have "
            f"{points}^{strata} joints; {instead}"
        )
