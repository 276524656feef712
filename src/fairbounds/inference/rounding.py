"""Published counts are often rounded or perturbed: by how much that can move a rate, whatever the true counts are."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.extremes import extremes, set_ends
from fairbounds.inference.counting import SampleCounts
from fairbounds.inference.plan import Sampling
from fairbounds.metrics import Rate
from fairbounds.problem import Problem

__all__ = ["rounding_shift"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def rounding_shift(problem: Problem, rate: Rate, counts: SampleCounts, plan: Sampling) -> FloatArray:
    """Return how far rounding can have moved the ends of each group's rate, at most, shape (G,).

    A person more or less in a cell changes what a group can hold of an event by one person at most. So the masses are
    off by no more than half a unit of rounding for every cell of the table that describes the audited population, and,
    in each stratum, by the part of the other table's rows that rounding can have made (docs/method.md, 14).
    """
    if not (plan.internal_rounding or plan.external_rounding):
        return np.zeros(len(problem.groups))
    inside, outside = counts.internal_rows, counts.external.sum(axis=1)
    cells = np.diff(counts.offsets), np.full(len(outside), counts.external.shape[1])
    worth = inside.sum() / problem.internal.total, outside.sum() / problem.external.total
    off = tuple(
        unit * people / 2 * number
        for unit, people, number in zip((plan.internal_rounding, plan.external_rounding), worth, cells, strict=True)
    )
    own, other = (1, 0) if problem.population == "external" else (0, 1)
    rows = (inside, outside)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.where(rows[other] > 0, np.minimum(1.0, off[other] / rows[other]), 0.0)
    mass = (off[own].sum() + float(rows[own] @ moved)) / rows[own].sum()
    return np.asarray(mass / _least_condition(problem, rate))


def _least_condition(problem: Problem, rate: Rate) -> FloatArray:
    """Return the least mass of each group that the rate is counted among; a rate of next to nobody can be anything."""
    if rate.unconditional:
        least = problem.group_mass
    else:
        least, _ = set_ends(problem, extremes(problem, rate).among, np.eye(len(problem.groups)))
    return np.maximum(least, 1e-300)
