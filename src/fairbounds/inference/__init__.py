"""Intervals that stay valid in finite samples, at ties and in sparse strata."""

from __future__ import annotations

from typing import Any

from fairbounds.bounding import answer
from fairbounds.inference.counting import SampleCounts, count
from fairbounds.inference.declared import as_declared
from fairbounds.inference.inferred import Inferred, infer, intervals
from fairbounds.inference.plan import IntervalMethod, Sampling, settled_plan
from fairbounds.levels import Level
from fairbounds.metrics import Metric
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Interval
from fairbounds.seeds import Rng, settled_seed

__all__ = [
    "Inferred",
    "IntervalMethod",
    "SampleCounts",
    "Sampling",
    "confidence",
    "count",
    "infer",
    "intervals",
    "settled_plan",
]


def confidence(
    problem: Problem,
    metric: str | Metric | None = None,
    *,
    group: Level = None,
    reference: Level = None,
    level: float = 0.95,
    method: IntervalMethod = "cross_fitted",
    rng: Rng = None,
    **sampling: Any,
) -> Interval:
    """Widen the bounds of a metric for sampling error.

    Parameters
    ----------
    problem : Problem
    metric, group, reference : optional
        As for `estimate`.
    level : float
        Confidence level, in (0, 1).
    method : {"cross_fitted", "exact", "bootstrap"}
        See `Sampling`.
    rng : int or numpy.random.Generator, optional
        Seed; 0 by default.
    **sampling
        Other fields of `Sampling`, e.g. ``external_is_census=True``.

    Returns
    -------
    Interval
        For the metric itself, and for all values that it can possibly have.

    Examples
    --------
    >>> from fairbounds import Problem, Table, bound
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 0]}, [80, 20, 30, 70])
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "M"]}, [350, 150, 250, 250])
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok", reference="M")
    >>> found = confidence(problem, "disparate_impact", external_is_census=True)
    >>> found.lower < bound(problem, "disparate_impact").lower
    True
    """
    question = Question.settle(problem, metric, group, reference)
    plan = as_declared(problem, settled_plan(level, method, **sampling))
    return intervals(problem, [question], [answer(problem, question)], plan, settled_seed(rng))[0]
