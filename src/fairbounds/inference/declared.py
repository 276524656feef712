"""What a table of counts declares of itself: that its counts were suppressed, rounded or hidden by noise."""

from __future__ import annotations

from dataclasses import replace

from fairbounds.inference.plan import Sampling
from fairbounds.problem import Problem
from fairbounds.tables import Table

__all__ = ["as_declared"]


def as_declared(problem: Problem, plan: Sampling) -> Sampling:
    """Let each cell be off by as much as its table declares, if that is more than the plan says."""
    inside = problem.internal.marginal([*problem.common, *problem.outcome.columns])
    outside = problem.external.marginal([*problem.common, problem.protected])
    return replace(
        plan,
        internal_rounding=max(plan.internal_rounding, _rounding(inside)),
        external_rounding=max(plan.external_rounding, _rounding(outside)),
    )


def _rounding(table: Table) -> float:
    """Return the unit of rounding that moves a cell as far as it may be off."""
    declared = None if table.origin is None else table.origin.disclosure
    return 0.0 if declared is None else declared.rounding
