"""Surveys: how much more the ends vary than if their rows had been drawn one by one."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.inference.counting import SampleCounts
from fairbounds.inference.plan import Sampling
from fairbounds.kernels.design_effects import cluster_variance, replicate_variance, simple_variance
from fairbounds.kernels.fixed_duals import FixedDuals, ends_of_tables, fixed_duals, row_deviations
from fairbounds.kernels.folds import cluster_halves
from fairbounds.problem import Population
from fairbounds.surveys import Clusters

__all__ = ["design_effect", "drawn", "halves_of_clusters"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def halves_of_clusters(clusters: Clusters, counts: SampleCounts, splits: int, rng: np.random.Generator) -> FloatArray:
    """Draw halves of the internal table that tear no cluster apart, shape (1, splits, A)."""
    scale = counts.internal.sum() / clusters.weight.sum()
    found = cluster_halves(clusters.cluster, clusters.cell, clusters.weight * scale, len(counts.internal), splits, rng)
    return np.minimum(found, counts.internal)[None]


def drawn(plan: Sampling) -> dict[str, int]:
    """Return how many clusters and replicates there are, for the record of an interval."""
    survey, found = plan.survey, {}
    if survey is not None and survey.clusters is not None:
        found["internal_clusters"] = int(survey.clusters.cluster.max()) + 1
    for role in ("internal", "external"):
        replicates = getattr(survey, role, None)
        if replicates is not None:
            found[f"{role}_replicates"] = len(replicates.tables)
    return found


def design_effect(
    counts: SampleCounts,
    coefficients: tuple[FloatArray, FloatArray],
    sets: FloatArray | None,
    population: Population,
    plan: Sampling,
) -> FloatArray:
    """Return by what the variance of each end is to be multiplied, shape (E,).

    Parameters
    ----------
    counts : SampleCounts
    coefficients : (array, array)
        P(counted | atom) and P(among | atom).
    sets : array, shape (K, G), optional
    population : {"external", "internal"}
    plan : Sampling
    """
    assert plan.survey is not None
    duals = fixed_duals(counts.offsets, *coefficients, counts.internal, counts.external, sets, population=population)
    inside, outside = row_deviations(duals, counts.internal, counts.external, population)
    simple_inside = simple_variance(counts.internal, inside)
    simple_outside = simple_variance(counts.external.ravel(), outside.reshape(-1, inside.shape[1]))
    if plan.external_is_census:
        simple_outside = np.zeros_like(simple_outside)
    drawn_inside = _inside(duals, counts, inside, population, plan, simple_inside)
    drawn_outside = _outside(duals, counts, population, plan, simple_outside)
    whole = simple_inside + simple_outside
    return np.where(whole > 0, (drawn_inside + drawn_outside) / np.where(whole > 0, whole, 1.0), 1.0)


def _inside(
    duals: FixedDuals,
    counts: SampleCounts,
    moved: FloatArray,
    population: Population,
    plan: Sampling,
    simple: FloatArray,
) -> FloatArray:
    """Return the variance from the internal table: by replicates, by clusters (never less than simple), or simple."""
    assert plan.survey is not None
    if plan.survey.internal is not None:
        again, factor = plan.survey.internal.tables, plan.survey.internal.factor
        ends = ends_of_tables(duals, again, counts.external[None], population)
        return replicate_variance(ends, _now(duals, counts, population), factor)
    if plan.survey.clusters is None:
        return simple
    found = plan.survey.clusters
    weight = found.weight * (counts.internal.sum() / found.weight.sum())
    drawn = cluster_variance(found.cluster, found.cell, weight, moved, int(found.cluster.max()) + 1)
    return np.maximum(simple, drawn)


def _outside(
    duals: FixedDuals, counts: SampleCounts, population: Population, plan: Sampling, simple: FloatArray
) -> FloatArray:
    assert plan.survey is not None
    if plan.survey.external is None or plan.external_is_census:
        return simple
    again, factor = plan.survey.external.tables, plan.survey.external.factor
    ends = ends_of_tables(duals, counts.internal[None], again, population)
    return replicate_variance(ends, _now(duals, counts, population), factor)


def _now(duals: FixedDuals, counts: SampleCounts, population: Population) -> FloatArray:
    return np.asarray(ends_of_tables(duals, counts.internal[None], counts.external[None], population)[0])
