"""Standard errors of estimates, from resampled tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.estimation.choosing_classes import fit_rows
from fairbounds.estimation.latent_class import event_mass
from fairbounds.estimation.latent_data import LatentData, Rows
from fairbounds.inference.counting import SampleCounts, count
from fairbounds.inference.plan import Sampling
from fairbounds.metrics import event_indicators
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.questions import Question
from fairbounds.results import Estimate
from fairbounds.seeds import stream

__all__ = ["independence_errors", "latent_class_errors", "with_errors"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_AT_ONCE = 2**22  # counts held at once, 32 MB
_MOST_COUNTS = 20_000_000  # drawn in all, about a second


def with_errors(
    problem: Problem, questions: Sequence[Question], estimates: Sequence[Estimate], plan: Sampling, seed: int
) -> tuple[Estimate, ...]:
    """Return the estimates of one method, their standard errors among the details where there are any."""
    match estimates[0].method if estimates else "":
        case "independence":
            errors = independence_errors(problem, questions, plan, seed)
        case "latent_class":
            errors = latent_class_errors(problem, questions, plan, int(estimates[0].details["classes"]), seed)
        case _:
            return tuple(estimates)
    return tuple(
        replace(estimate, details=estimate.details | {"standard_error": error})
        for estimate, error in zip(estimates, errors, strict=True)
    )


def independence_errors(
    problem: Problem, questions: Sequence[Question], plan: Sampling, seed: int, draws: int | None = None
) -> tuple[float | None, ...]:
    """Return the standard deviation of the independence estimate over multinomial resamples of both tables.

    Parameters
    ----------
    problem : Problem
    questions : sequence of Question
    plan : Sampling
    seed : int
    draws : int, optional
        By default 200, fewer (at least 50) where the tables are large.

    Returns
    -------
    tuple of float or None
        ``None`` where the metric is not finite in some resample.
    """
    counts, rng = count(problem, plan), stream(seed, "independence errors")
    cells = counts.internal.size + counts.external.size
    draws = draws or max(50, min(200, _MOST_COUNTS // cells))
    step = max(1, _AT_ONCE // cells)
    sizes = [min(step, draws - begin) for begin in range(0, draws, step)]
    mass = np.concatenate([_group_events(counts, problem, plan, size, rng) for size in sizes])
    return tuple(_deviation(question, mass) for question in questions)


def _group_events(
    counts: SampleCounts, problem: Problem, plan: Sampling, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Event masses of each group under independence in resamples of both tables, shape (draws, G, E)."""
    inside = _resampled(counts.internal, draws, rng)
    outside = np.broadcast_to(counts.external.ravel(), (draws, counts.external.size))
    if not plan.external_is_census:
        outside = _resampled(counts.external.ravel(), draws, rng)
    outside = outside.reshape(draws, *counts.external.shape)
    events = event_indicators(counts.score, counts.label)
    held = np.flatnonzero(np.diff(counts.offsets))
    by_event = np.zeros((draws, len(counts.external), events.shape[1]))
    for at in range(events.shape[1]):
        by_event[:, held, at] = np.add.reduceat(inside * events[:, at], counts.offsets[held], axis=1)
    rows, people = by_event.sum(axis=2), outside.sum(axis=2)
    other = rows if problem.population == "external" else people
    scale = np.where((rows > 0) & (people > 0), 1.0 / np.where(other > 0, other, 1.0), 0.0)
    return np.asarray(np.einsum("dc,dcg,dce->dge", scale, outside, by_event))


def _resampled(counts: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    return rng.multinomial(max(1, round(float(counts.sum()))), counts / counts.sum(), size=draws).astype(np.float64)


def _deviation(question: Question, mass: FloatArray) -> float | None:
    values = question.answers(question.metric.rate.of_events(mass))
    return float(values.std()) if np.isfinite(values).all() else None


def latent_class_errors(
    problem: Problem,
    questions: Sequence[Question],
    plan: Sampling,
    classes: int,
    seed: int,
    draws: int = 20,
    starts: int = 4,
) -> tuple[float | None, ...]:
    """Return the standard deviation of the latent class estimate over refits to resampled tables.

    Where the model is not identified the refits jump between optima, and so does the figure: it is sampling error and
    indeterminacy together.
    """
    data, rng = LatentData(problem), stream(seed, "latent class errors")
    found = []
    for draw in range(draws):
        report("Refitting latent classes to resampled tables", draw / draws)
        inside, outside = data.rows()
        known = outside if plan.external_is_census else _resampled_rows(outside, rng)
        fits = fit_rows(data, (_resampled_rows(inside, rng), known), classes, starts, rng)
        found.append(event_mass(data, fits)[int(np.argmax(fits.log_likelihood))])
    return tuple(_deviation(question, np.stack(found)) for question in questions)


def _resampled_rows(rows: Rows, rng: np.random.Generator) -> Rows:
    return rows._replace(counts=_resampled(rows.counts, 1, rng)[0])
