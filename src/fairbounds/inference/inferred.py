"""The intervals of a whole audit, and what is to be said of the two samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairbounds.inference.bootstrapping import by_bootstrap
from fairbounds.inference.counting import SampleCounts, count, unknown_size
from fairbounds.inference.cross_fitting import by_cross_fitting
from fairbounds.inference.declared import as_declared
from fairbounds.inference.estimate_errors import with_errors
from fairbounds.inference.exact import by_exact_boxes
from fairbounds.inference.plan import Sampling
from fairbounds.inference.reading import sample_warnings
from fairbounds.mismatch import sample_size
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Bounds, Estimate, Interval

__all__ = ["Inferred", "infer", "intervals"]

_ROUNDING = 1e-9
_METHODS = {"cross_fitted": by_cross_fitting, "exact": by_exact_boxes, "bootstrap": by_bootstrap}


class Inferred(NamedTuple):
    """Intervals of several questions (``None`` where none can be had), and what they assume and are warned of."""

    intervals: tuple[Interval | None, ...]
    assumption: str
    estimates: tuple[tuple[Estimate, ...], ...]
    warnings: tuple[str, ...] = ()


def intervals(
    problem: Problem, questions: Sequence[Question], bounds: Sequence[Bounds], plan: Sampling, seed: int
) -> tuple[Interval, ...]:
    """Return the intervals of several metrics, whose bounds are known, from one set of splits."""
    return _METHODS[plan.method](problem, questions, bounds, plan, seed)


def infer(
    problem: Problem,
    questions: Sequence[Question],
    bounds: Sequence[Bounds],
    estimates: Sequence[Sequence[Estimate]],
    plan: Sampling | None,
    seed: int,
) -> Inferred:
    """Return the intervals of an audit; without a plan, or where a sample size is not known, there are none.

    Parameters
    ----------
    problem : Problem
    questions : sequence of Question
    bounds : sequence of Bounds
    estimates : sequence of sequence of Estimate
        Of each method, in the order of the questions; they are given standard errors.
    plan : Sampling or None
    seed : int
    """
    none, plain = (None,) * len(questions), tuple(map(tuple, estimates))
    if plan is None:
        return Inferred(none, "The bounds treat both tables as exact: sampling error is not included.", plain)
    unknown = unknown_size(problem, plan)
    if unknown is not None:
        return Inferred(
            none,
            f"The bounds treat both tables as exact: no interval was computed, because {unknown}.",
            plain,
            (f"There are no intervals: {unknown}. The verdicts are those of the bounds alone.",),
        )
    plan = as_declared(problem, plan)
    counts = count(problem, plan)
    found = intervals(problem, questions, bounds, plan, seed)
    sampled = tuple(with_errors(problem, questions, entries, plan, seed) for entries in estimates)
    warnings = (*_taken_for_weights(problem, plan), *sample_warnings(counts, plan))
    return Inferred(found, _assumption(counts, plan), sampled, warnings)


def _taken_for_weights(problem: Problem, plan: Sampling) -> tuple[str, ...]:
    """Say so where whole numbers, which could be counts, were taken for the weights of a survey."""
    said = []
    for role, table, given in (
        ("internal", problem.internal, plan.internal_size),
        ("external", problem.external, plan.external_size or plan.external_is_census),
    ):
        size, whole = sample_size(table), bool(np.all(table.weights == np.round(table.weights)))
        if not given and whole and size is not None and size < (1.0 - _ROUNDING) * table.total:
            said.append(
                f"Several rows of the {role} table are alike in what was read of them, so that its whole numbers were "
                f"taken for the weights of a survey, worth {size:,.0f} people: if they count people, give "
                f"--{role}-size {table.total:.0f}."
            )
    return tuple(said)


def _assumption(counts: SampleCounts, plan: Sampling) -> str:
    external = (
        "the external table for a full count"
        if plan.external_is_census
        else f"the external table for one of {counts.external.sum():,.0f}, drawn independently"
    )
    if plan.survey is not None:
        external += ", as their clusters and replicate weights tell"
    rounded = "; counts may be off by rounding" if plan.internal_rounding or plan.external_rounding else ""
    return (
        "The bounds treat both tables as exact. The intervals add sampling error: they take the internal table for a "
        f"random sample of {counts.internal.sum():,.0f} people and {external}{rounded}."
    )
