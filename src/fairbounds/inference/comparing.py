"""Metrics from limits of all groups' rates that hold together."""

from __future__ import annotations

import itertools
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.questions import Question

__all__ = ["compare"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def compare(question: Question, low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Return the least and greatest metric of rates between limits, shape (G,); 0/0 allows anything."""
    at, base = question.group, question.reference
    pairs = list(itertools.permutations(range(len(low)), 2))
    match question.metric.form:
        case "rate":
            return float(low[_known(at)]), float(high[_known(at)])
        case "difference":
            one, other = _known(at), _known(base)
            return float(low[one] - high[other]), float(high[one] - low[other])
        case "ratio":
            return _ratio(low, high, _known(at), _known(base))
        case "impact_ratio":
            lowest = [_ratio(low, high, _known(at), other)[0] for other in range(len(low)) if other != at]
            greatest = high[_known(at)] / low.max() if low.max() > 0 else np.inf
            return min([1.0, *lowest]), min(1.0, float(greatest))
        case "parity_gap":
            return max(0.0, float(low.max() - high.min())), max(float(high[a] - low[b]) for a, b in pairs)
        case "parity_ratio":
            greatest = high.min() / low.max() if low.max() > 0 else np.inf
            return min([1.0, *(_ratio(low, high, a, b)[0] for a, b in pairs)]), min(1.0, float(greatest))


def _known(position: int | None) -> int:
    assert position is not None
    return position


def _ratio(low: FloatArray, high: FloatArray, one: int, other: int) -> tuple[float, float]:
    lower = low[one] / high[other] if high[other] > 0 else 0.0
    return float(lower), float(high[one] / low[other]) if low[other] > 0 else np.inf
