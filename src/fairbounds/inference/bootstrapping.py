"""Percentiles of the bounds in multinomial resamples: the plain bootstrap, to be compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.inference.counting import SampleCounts, count
from fairbounds.inference.plan import Sampling
from fairbounds.inference.reading import all_group_forms, recorded, sizes, subsets
from fairbounds.kernels.count_bootstrap import resampled_ends
from fairbounds.metrics import Rate
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.questions import Question
from fairbounds.results import Bounds, Interval
from fairbounds.seeds import stream

__all__ = ["by_bootstrap"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Ends: TypeAlias = tuple[FloatArray, FloatArray]

_AT_ONCE = 100  # resamples between two words of progress
_FAILS = (
    "Percentiles of resampled bounds: too narrow where a group's share ties with a rate in its stratum and where "
    "strata have few rows, and there they can miss the truth nearly always; use cross_fitted."
)


def by_bootstrap(
    problem: Problem, questions: Sequence[Question], bounds: Sequence[Bounds], plan: Sampling, seed: int
) -> tuple[Interval, ...]:
    """Return percentile intervals of several metrics of rates that are counted among whole groups."""
    if plan.internal_rounding or plan.external_rounding:
        raise ProblemError("the bootstrap does not know of rounded counts; use cross_fitted or exact")
    counts = count(problem, plan)
    details = sizes(counts, plan) | {"draws": plan.draws, "seed": seed}
    known: dict[Rate, Ends] = {}
    for rate in dict.fromkeys(question.metric.rate for question in questions):
        asked = [question for question in questions if question.metric.rate == rate]
        known[rate] = _resampled(problem, rate, counts, plan, seed, all_group_forms(asked))
    out = []
    for question, known_bounds in zip(questions, bounds, strict=True):
        lower, upper = _compared(question, *known[question.metric.rate], len(problem.groups))
        metric, whole = (_percentiles(lower, upper, tail) for tail in (1 - plan.level, (1 - plan.level) / 2))
        out.append(recorded(question, known_bounds, plan, metric, whole, details, _FAILS))
    return tuple(out)


def _resampled(
    problem: Problem, rate: Rate, counts: SampleCounts, plan: Sampling, seed: int, compare_all: bool
) -> Ends:
    if not rate.unconditional:
        raise ProblemError(
            f"the bootstrap is for rates counted among whole groups, such as selection, not for {rate.name}; use "
            "cross_fitted"
        )
    counted, _ = rate.coefficients(counts.score, counts.label)
    single = np.eye(len(problem.groups))
    sets, rng, found = (
        np.vstack([single, subsets(len(single))]) if compare_all else single,
        stream(seed, "bootstrap"),
        [],
    )
    for begin in range(0, plan.draws, _AT_ONCE):
        report("Resampling both tables", begin / plan.draws)
        found.append(
            resampled_ends(
                counts.offsets,
                counted,
                counts.internal,
                counts.external,
                sets,
                min(_AT_ONCE, plan.draws - begin),
                rng,
                population=problem.population,
                external_is_census=plan.external_is_census,
            )
        )
    return np.concatenate([low for low, _ in found]), np.concatenate([high for _, high in found])


def _compared(question: Question, low: FloatArray, high: FloatArray, groups: int) -> Ends:
    """Return the plug-in bounds of the metric in each resample; the first columns are those of single groups."""
    at, base = question.group or 0, question.reference or 0
    one_low, one_high = low[:, :groups], high[:, :groups]
    largest, smallest = low.max(axis=1), high.min(axis=1)
    others = [h for h in range(groups) if h != at]
    with np.errstate(divide="ignore", invalid="ignore"):
        match question.metric.form:
            case "rate":
                return one_low[:, at], one_high[:, at]
            case "difference":
                return one_low[:, at] - one_high[:, base], one_high[:, at] - one_low[:, base]
            case "ratio":
                return one_low[:, at] / one_high[:, base], one_high[:, at] / one_low[:, base]
            case "impact_ratio":
                least = one_low[:, at] / one_high[:, others].max(axis=1)
                return np.minimum(1.0, least), np.minimum(1.0, one_high[:, at] / largest)
            case "parity_gap":
                widest = np.max([one_high[:, a] - one_low[:, b] for a, b in _pairs(groups)], axis=0)
                return np.maximum(0.0, largest - smallest), widest
            case "parity_ratio":
                least = np.min([one_low[:, a] / one_high[:, b] for a, b in _pairs(groups)], axis=0)
                return np.minimum(1.0, least), np.minimum(1.0, smallest / largest)


def _pairs(groups: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(groups) for b in range(groups) if a != b]


def _percentiles(lower: FloatArray, upper: FloatArray, tail: float) -> tuple[float, float]:
    return (
        float(np.nanquantile(lower, tail, method="inverted_cdf")),
        float(np.nanquantile(upper, 1.0 - tail, method="inverted_cdf")),
    )
