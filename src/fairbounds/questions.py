"""What is asked of an engine: a metric, and the groups that it is about."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.levels import Level
from fairbounds.metrics import Metric, get
from fairbounds.problem import Problem
from fairbounds.results import Label, label_of

__all__ = ["Question"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A metric, and the positions of its groups in `Problem.groups`.

    Attributes
    ----------
    metric : Metric
    group, reference : int or None
        ``None`` where the metric has no such role.
    names : tuple
        Group and reference as results carry them.
    """

    metric: Metric
    group: int | None
    reference: int | None
    names: tuple[Label | None, Label | None]

    @classmethod
    def settle(
        cls, problem: Problem, metric: str | Metric | None = None, group: Level = None, reference: Level = None
    ) -> Question:
        """Fill in what the caller left open.

        Parameters
        ----------
        problem : Problem
        metric : str or Metric, optional
            By default ``disparate_impact``; ``parity_ratio`` where there are more than two groups and none is named.
        group : optional
            Needed for metrics of one group; with two groups, by default the one that is not the reference.
        reference : optional
            By default the problem's.
        """
        if metric is None:
            metric = "disparate_impact" if len(problem.groups) == 2 or group is not None else "parity_ratio"
        chosen = get(metric)
        base = problem.reference if reference is None else problem.group_position(reference)
        if chosen.all_groups:
            return cls.about(problem, chosen, None, base)
        at = _settled_group(problem, group, base)
        if chosen.pairwise and at == base:
            raise ProblemError(f"group and reference are both {problem.groups[base]!r}; compare two different groups")
        return cls.about(problem, chosen, at, base)

    @classmethod
    def every(cls, problem: Problem, metric: str | Metric, reference: Level = None) -> tuple[Question, ...]:
        """Ask a metric of every group it can be about: all, all but the reference, or none in particular."""
        chosen = get(metric)
        base = problem.reference if reference is None else problem.group_position(reference)
        if chosen.all_groups:
            return (cls.about(problem, chosen, None, base),)
        others = [at for at in range(len(problem.groups)) if at != base or not chosen.pairwise]
        return tuple(cls.about(problem, chosen, at, base) for at in others)

    @classmethod
    def about(cls, problem: Problem, metric: Metric, group: int | None, reference: int) -> Question:
        """Name the groups at two positions, the reference only where the metric has one."""
        base = reference if metric.pairwise else None
        names = [None if at is None else label_of(problem.groups[at]) for at in (group, base)]
        return cls(metric, group, base, (names[0], names[1]))

    def answers(self, rates: FloatArray) -> FloatArray:
        """Return the metric, NaN where it is 0/0, from the rates of all groups, shape (..., G)."""
        return self.metric.values(rates, self.group, self.reference)

    def answer(self, rates: FloatArray) -> float | None:
        """Return the metric of one set of rates, shape (G,); ``None`` where it is 0/0."""
        found = float(self.answers(rates))
        return None if math.isnan(found) else found


def _settled_group(problem: Problem, group: Level, base: int) -> int:
    if group is not None or None in problem.groups:
        return problem.group_position(group)
    if len(problem.groups) == 2:
        return 1 - base
    raise ProblemError(f"there are {len(problem.groups)} groups; name the one the metric is about with group=")
