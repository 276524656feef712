"""Intervals that hold in samples of any size: simultaneous Clopper–Pearson limits pushed through the closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.inference.comparing import compare
from fairbounds.inference.counting import SampleCounts, count
from fairbounds.inference.plan import Sampling
from fairbounds.inference.reading import recorded, sizes
from fairbounds.inference.rounding import rounding_shift
from fairbounds.kernels.exact_boxes import exact_rate_ends
from fairbounds.metrics import Rate
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Bounds, Interval

__all__ = ["by_exact_boxes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_WIDE = "Valid in samples of any size, and wider than need be."


def by_exact_boxes(
    problem: Problem, questions: Sequence[Question], bounds: Sequence[Bounds], plan: Sampling, seed: int
) -> tuple[Interval, ...]:
    """Return the intervals of several metrics of hard decisions; nothing is random, so the seed is not used."""
    del seed
    counts = count(problem, plan)
    samples = [counts.internal] if plan.external_is_census else [counts.internal, counts.external]
    if any(np.any(array != np.round(array)) for array in samples):
        raise ProblemError("exact intervals are for counts of people, not for weighted tables; use cross_fitted")
    known = {}
    for rate in dict.fromkeys(question.metric.rate for question in questions):
        low, high = _rate_ends(problem, rate, counts, plan)
        shift = rounding_shift(problem, rate, counts, plan)
        known[rate] = np.clip(low - shift, 0.0, 1.0), np.clip(high + shift, 0.0, 1.0)
    details = sizes(counts, plan)
    out = []
    for question, known_bounds in zip(questions, bounds, strict=True):
        ends = compare(question, *known[question.metric.rate])
        out.append(recorded(question, known_bounds, plan, ends, ends, details, _WIDE))
    return tuple(out)


def _rate_ends(problem: Problem, rate: Rate, counts: SampleCounts, plan: Sampling) -> tuple[FloatArray, FloatArray]:
    counted, among = rate.coefficients(counts.score, counts.label)
    if not (np.all((counted == 0) | (counted == 1)) and np.all((among == 0) | (among == 1))):
        raise ProblemError("exact intervals are for decisions, not for scores; use cross_fitted")
    return exact_rate_ends(
        counts.per_stratum(counted),
        counts.per_stratum(among - counted),
        counts.internal_rows,
        counts.external,
        1.0 - plan.level,
        population=problem.population,
        external_is_census=plan.external_is_census,
    )
