"""Standard errors of estimates: by the delta method for independence, from resampled tables for latent classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.estimation.choosing_classes import fit_rows
from fairbounds.estimation.latent_class import event_mass
from fairbounds.estimation.latent_data import LatentData, Rows
from fairbounds.inference.counting import SampleCounts, count
from fairbounds.inference.plan import Sampling
from fairbounds.metrics import event_indicators
from fairbounds.problem import Population, Problem
from fairbounds.progress import report
from fairbounds.questions import Question
from fairbounds.results import Estimate
from fairbounds.seeds import stream

__all__ = ["independence_errors", "latent_class_errors", "with_errors"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_STEP = 1e-7  # of the whole mass, to differentiate by: errors of some 1e-9 from rounding and from curvature


def with_errors(
    problem: Problem, questions: Sequence[Question], estimates: Sequence[Estimate], plan: Sampling, seed: int
) -> tuple[Estimate, ...]:
    """Return the estimates of one method, their standard errors among the details where there are any."""
    match estimates[0].method if estimates else "":
        case "independence":
            errors = independence_errors(problem, questions, plan)
        case "latent_class":
            errors = latent_class_errors(problem, questions, plan, int(estimates[0].details["classes"]), seed)
        case _:
            return tuple(estimates)
    return tuple(
        replace(estimate, details=estimate.details | {"standard_error": error})
        for estimate, error in zip(estimates, errors, strict=True)
    )


def independence_errors(problem: Problem, questions: Sequence[Question], plan: Sampling) -> tuple[float | None, ...]:
    """Return the standard error of the independence estimate, by the delta method over the cells of both tables.

    Parameters
    ----------
    problem : Problem
    questions : sequence of Question
    plan : Sampling

    Returns
    -------
    tuple of float or None
        ``None`` where the metric is not finite, or has no derivative, at the tables given.
    """
    counts = count(problem, plan)
    cells = _Cells.of(counts, problem.population)
    return tuple(_delta_error(question, cells, counts, plan) for question in questions)


class _Cells(NamedTuple):
    """Mass of every event in each stratum, (C, E); what a row of it, and one of a group, count for, (C,); the events.

    The joint is group · event · scale, scale being one over the rows of the table that does not weigh the strata.
    """

    by_event: FloatArray
    scale: FloatArray
    population: Population
    events: FloatArray

    @classmethod
    def of(cls, counts: SampleCounts, population: Population) -> _Cells:
        events = event_indicators(counts.score, counts.label)
        by_event = np.stack([counts.per_stratum(column) for column in events.T], axis=1)
        rows, people = by_event.sum(axis=1), counts.external.sum(axis=1)
        other = rows if population == "external" else people
        both = (rows > 0) & (people > 0)
        return cls(by_event, np.where(both, 1.0 / np.where(both, other, 1.0), 0.0), population, events)


def _delta_error(question: Question, cells: _Cells, counts: SampleCounts, plan: Sampling) -> float | None:
    slope = _slope(question, np.einsum("c,cg,ce->ge", cells.scale, counts.external, cells.by_event))
    if slope is None:
        return None
    group = cells.scale[:, None] * (cells.by_event @ slope.T)  # what one more person of each group does, (C, G)
    event = cells.scale[:, None] * (counts.external @ slope)  # and one more row of each event, (C, E)
    if cells.population == "external":
        event -= cells.scale[:, None] * (event * cells.by_event).sum(axis=1, keepdims=True)
    else:
        group -= cells.scale[:, None] * (group * counts.external).sum(axis=1, keepdims=True)
    variance = _multinomial_variance(counts.internal, (event[counts.stratum] * cells.events).sum(axis=1))
    if not plan.external_is_census:
        variance += _multinomial_variance(counts.external, group)
    return math.sqrt(variance)


def _slope(question: Question, mass: FloatArray) -> FloatArray | None:
    """Return the derivative of a metric in the mass of every group and event, by differences, shape (G, E)."""
    step = _STEP * float(mass.sum())
    moves = step * np.eye(mass.size).reshape(-1, *mass.shape)
    rate = question.metric.rate
    with np.errstate(divide="ignore", invalid="ignore"):
        ahead, behind = (question.answers(rate.of_events(mass + sign * moves)) for sign in (1.0, -1.0))
        slope = (ahead - behind).reshape(mass.shape) / (2.0 * step)
    return slope if np.isfinite(slope).all() and question.answer(rate.of_events(mass)) is not None else None


def _multinomial_variance(counts: FloatArray, slope: FloatArray) -> float:
    """Return the variance of Σ slope · counts where the counts are multinomial."""
    total = float(counts.sum())
    mean = float((counts * slope).sum()) / total
    return max(0.0, float((counts * (slope - mean) ** 2).sum()))


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
        known = outside if plan.external_is_census else _resampled(outside, rng)
        fits = fit_rows(data, (_resampled(inside, rng), known), classes, starts, rng)
        found.append(event_mass(data, fits)[int(np.argmax(fits.log_likelihood))])
    return tuple(_deviation(question, np.stack(found)) for question in questions)


def _resampled(rows: Rows, rng: np.random.Generator) -> Rows:
    people = max(1, round(float(rows.counts.sum())))
    return rows._replace(counts=rng.multinomial(people, rows.counts / rows.counts.sum()).astype(np.float64))
