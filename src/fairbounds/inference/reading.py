"""What makes up an interval's record, whatever the method, and what is to be said of the samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.inference.counting import SampleCounts
from fairbounds.inference.plan import Sampling
from fairbounds.questions import Question
from fairbounds.results import Bounds, Interval

__all__ = ["all_group_forms", "recorded", "sample_warnings", "sizes", "subsets"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Ends: TypeAlias = tuple[float, float]

_FEW = 10  # rows of a stratum, below which its bound is mostly its worst case
_MOST_ENUMERATED = 12


def recorded(
    question: Question,
    bounds: Bounds,
    plan: Sampling,
    metric: Ends,
    whole: Ends,
    details: dict[str, Any],
    note: str = "",
) -> Interval:
    """Return an interval that holds the bounds themselves, so that more than one reading never contradicts another."""
    low, high = (math.nan if end is None else end for end in (bounds.lower, bounds.upper))
    inner = _hull(metric, (low, high))
    outer = _hull(whole, inner)
    return Interval(question.metric.name, *question.names, *inner, *outer, plan.level, plan.method, note, details)


def _hull(one: Ends, other: Ends) -> Ends:
    """Return the smallest interval that holds both; NaN holds nothing."""
    return float(np.fmin(one[0], other[0])), float(np.fmax(one[1], other[1]))


def subsets(n_groups: int) -> FloatArray:
    """Return the sets of groups to compare: all, or where there are too many, some, which still give valid limits."""
    from fairbounds.kernels.polymatroid import all_subsets

    if n_groups <= _MOST_ENUMERATED:
        return all_subsets(n_groups)
    single = np.eye(n_groups)
    return np.vstack([single, 1.0 - single, np.ones((1, n_groups))])


def sample_warnings(counts: SampleCounts, plan: Sampling) -> tuple[str, ...]:
    """Return what the samples do not tell: strata that one of them hardly has, and how many rows there are."""
    inside, outside = counts.internal_rows, counts.external.sum(axis=1)
    said = []
    for role, rows, mass in (("internal", inside, outside), ("external", outside, inside)):
        if role == "external" and plan.external_is_census:
            continue
        few = (rows < _FEW) & (mass > 0)
        share = float(mass[few].sum() / mass.sum()) if mass.sum() else 0.0
        if share > 0:
            said.append(
                f"{share:.1%} of the population lies in strata with fewer than {_FEW} {role} people (the median "
                f"stratum has {np.median(rows[rows > 0]):,.0f}); the interval takes the worst case where there are too "
                "few."
            )
    return tuple(said)


def sizes(counts: SampleCounts, plan: Sampling) -> dict[str, Any]:
    """Return what is known of the samples, JSON-ready."""
    return {
        "internal_people": float(counts.internal.sum()),
        "external_people": float(counts.external.sum()),
        "external_is_census": plan.external_is_census,
        "internal_rounding": plan.internal_rounding,
        "external_rounding": plan.external_rounding,
    }


def all_group_forms(questions: Sequence[Question]) -> bool:
    """Whether a question compares all groups, which needs more than each group's own ends."""
    return any(question.metric.form in ("impact_ratio", "parity_gap", "parity_ratio") for question in questions)
