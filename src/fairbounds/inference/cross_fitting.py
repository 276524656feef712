"""Cross-fitted intervals: the duals of each half of the rows are judged by the other half."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.inference.counting import SampleCounts, count
from fairbounds.inference.designs import design_effect, drawn, halves_of_clusters
from fairbounds.inference.plan import Sampling
from fairbounds.inference.reading import all_group_forms, recorded, sizes, subsets
from fairbounds.inference.rounding import rounding_shift
from fairbounds.kernels.combining import average_splits, interval, median_interval
from fairbounds.kernels.design_effects import stretched
from fairbounds.kernels.dual_bounds import DualEnds, default_splits, dual_ends
from fairbounds.metrics import Rate
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.questions import Question
from fairbounds.results import Bounds, Interval
from fairbounds.seeds import stream

__all__ = ["by_cross_fitting"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def by_cross_fitting(
    problem: Problem, questions: Sequence[Question], bounds: Sequence[Bounds], plan: Sampling, seed: int
) -> tuple[Interval, ...]:
    """Return the intervals of several metrics; each rate is split once."""
    counts = count(problem, plan)
    splits = plan.splits or default_splits(len(counts.external))
    details = sizes(counts, plan) | drawn(plan) | {"splits": splits, "combine": plan.combine, "seed": seed}
    ends: dict[Rate, DualEnds] = {}
    rates = list(dict.fromkeys(question.metric.rate for question in questions))
    for at, rate in enumerate(rates):
        report("Computing intervals", at / len(rates))
        asked = [question for question in questions if question.metric.rate == rate]
        ends[rate] = _ends(problem, rate, counts, plan, splits, seed, all_group_forms(asked))
    return tuple(
        _interval(len(problem.groups), question, known, ends[question.metric.rate], plan, details)
        for question, known in zip(questions, bounds, strict=True)
    )


def _ends(
    problem: Problem, rate: Rate, counts: SampleCounts, plan: Sampling, splits: int, seed: int, compare_all: bool
) -> DualEnds:
    seeds = stream(seed, "splits").integers(0, 2**64, (1, splits), dtype=np.uint64)
    n_groups, survey = len(problem.groups), plan.survey
    coefficients, sets = rate.coefficients(counts.score, counts.label), subsets(n_groups) if compare_all else None
    together = None
    if survey is not None and survey.clusters is not None:
        together = halves_of_clusters(survey.clusters, counts, splits, stream(seed, "clusters"))
    found = dual_ends(
        counts.offsets,
        *coefficients,
        counts.internal[None],
        counts.external[None],
        seeds,
        sets,
        population=problem.population,
        external_is_census=plan.external_is_census,
        first_halves=together,
    )
    if survey is not None:
        found = stretched(found, design_effect(counts, coefficients, sets, problem.population, plan))
    return _widened(found, rounding_shift(problem, rate, counts, plan))


def _widened(ends: DualEnds, shift: FloatArray) -> DualEnds:
    """Move every end outwards by what rounding can have done."""
    groups = len(shift)
    outwards = np.concatenate([-shift, shift, [-shift.max(), shift.max()]])[: ends.value.shape[-1]]
    value = ends.value + outwards
    value[..., : 2 * groups] = np.clip(value[..., : 2 * groups], 0.0, 1.0)
    return ends._replace(value=value)


def _interval(
    groups: int, question: Question, bounds: Bounds, ends: DualEnds, plan: Sampling, details: dict[str, Any]
) -> Interval:
    roles = groups, question.group or 0, question.reference or 0
    form, level = question.metric.form, plan.level
    if plan.combine == "median":
        metric, whole = (median_interval(ends, form, *roles, level, reading) for reading in ("metric", "set"))
    else:
        mean = average_splits(ends)
        metric, whole = (interval(mean, form, *roles, level, reading) for reading in ("metric", "set"))
    return recorded(question, bounds, plan, _first(metric), _first(whole), details)


def _first(limits: tuple[FloatArray, FloatArray]) -> tuple[float, float]:
    return float(limits[0][0]), float(limits[1][0])
