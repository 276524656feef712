"""Means over the feasible set that need no draw."""

from __future__ import annotations

import numpy as np

from fairbounds.feasible import FeasibleSet
from fairbounds.kernels.exact_means import ExactMeans, exact_means
from fairbounds.questions import Question

__all__ = ["exact_mean"]


def exact_mean(feasible: FeasibleSet, question: Question) -> float | None:
    """Return the mean of a metric with every joint equally likely, ``None`` where no formula gives it.

    There is one for two groups with at most two internal cells in each stratum, and a rate counted among the whole
    group: for the rate, the difference and the ratio (docs/method.md, 10).
    """
    metric, group, base = question.metric, question.group, question.reference
    if not (feasible.binary and metric.rate.unconditional) or group is None or metric.form == "impact_ratio":
        return None
    if base is None:  # a rate: its mean is half of what the difference and the overall rate leave
        means, other = _means(feasible, question, [group, 1 - group]), 1 - group
        return None if means.difference is None else _rate(feasible, question, group, other, means.difference)
    means = _means(feasible, question, [group, base])
    return means.ratio if metric.is_ratio else means.difference


def _means(feasible: FeasibleSet, question: Question, groups: list[int]) -> ExactMeans:
    value, _ = question.metric.rate.split(feasible.events)
    rows, counted = feasible.paired(feasible.cell_mass), feasible.paired(value)
    return exact_means(rows, feasible.group_mass[:, groups], counted)


def _rate(feasible: FeasibleSet, question: Question, group: int, other: int, difference: float) -> float:
    """Solve p_g·x + p_h·(x − difference) = counted for the group's mean rate x."""
    value, _ = question.metric.rate.split(feasible.events)
    mass = feasible.group_mass.sum(axis=0)
    counted = float(np.dot(feasible.cell_mass, value))
    return float((counted + mass[other] * difference) / (mass[group] + mass[other]))
