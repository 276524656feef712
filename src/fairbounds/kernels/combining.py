"""Intervals for metrics from estimated ends of rates."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from fairbounds.kernels.dual_bounds import DualEnds

__all__ = ["Form", "average_splits", "critical", "interval", "limits", "median_interval"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Form: TypeAlias = Literal["rate", "difference", "ratio", "impact_ratio", "parity_gap", "parity_ratio"]
Limits: TypeAlias = tuple[FloatArray, FloatArray]

IntArray: TypeAlias = npt.NDArray[np.int64]

_STEPS = 6
_RANGES: dict[Form, tuple[float, float]] = {
    "rate": (0.0, 1.0),
    "difference": (-1.0, 1.0),
    "ratio": (0.0, np.inf),
    "impact_ratio": (0.0, 1.0),
    "parity_gap": (0.0, 1.0),
    "parity_ratio": (0.0, 1.0),
}


def average_splits(ends: DualEnds) -> DualEnds:
    """Average ends and variances over the splits (the second axis).

    The mean of many splits varies less than one split does, also where ties make the halves' θ follow each other, and
    the variance within a split covers it. A median of limits does not: at ties the limits of one table are skew.

    Examples
    --------
    >>> one = DualEnds(np.array([[[0.1, 0.5], [0.2, 0.6]]]), np.zeros((1, 2, 2, 2)), np.zeros((1, 2, 3, 2)))
    >>> average_splits(one).value.round(3).tolist()
    [[0.15, 0.55]]
    """
    return DualEnds(*(array.mean(axis=1) for array in ends))


def interval(
    ends: DualEnds,
    form: Form,
    n_groups: int,
    group: int,
    reference: int,
    level: float,
    reading: Literal["metric", "set"] = "metric",
) -> Limits:
    """Return an interval for a metric, or for all values the metric can possibly have.

    The metric is one point of the set. Where the set is wide, only one end can be missed, which one-sided limits allow
    for; where it shrinks to a point both can, so the limits move apart to two-sided ones (Imbens and Manski 2004,
    https://doi.org/10.1111/j.1468-0262.2004.00555.x; Stoye 2009, https://doi.org/10.3982/ECTA7347). The width is taken
    one standard error below its estimate.

    Parameters
    ----------
    ends : DualEnds
        With the splits averaged: value of shape (B, E).
    form, n_groups, group, reference
        As in `limits`.
    level : float
    reading : {"metric", "set"}

    Returns
    -------
    lower, upper : array, shape (B,)
    """
    error = 1.0 - level
    widest = float(-ndtri(error / 2))
    if reading == "set":
        return _limits(ends, form, n_groups, group, reference, widest)
    low, high = _limits(ends, form, n_groups, group, reference, 0.0)
    lower, upper = _limits(ends, form, n_groups, group, reference, widest)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.maximum(low - lower, np.where(np.isinf(high), 0.0, upper - high)) / widest
        apart = np.maximum(0.0, (high - low) / spread - 1.0)
    apart = np.where(np.isnan(apart), 0.0, apart)
    return _limits(ends, form, n_groups, group, reference, critical(apart, error))


def median_interval(
    ends: DualEnds,
    form: Form,
    n_groups: int,
    group: int,
    reference: int,
    level: float,
    reading: Literal["metric", "set"] = "metric",
) -> Limits:
    """Combine the splits by twice the median of their p-values, which is a p-value whatever their dependence.

    A value is kept where half of the splits or more keep it at half the error (van de Wiel, Berkhof and van Wieringen
    2009, https://doi.org/10.1093/biostatistics/kxp021); the limits are then medians of those of the splits.

    Parameters
    ----------
    ends : DualEnds
        Splits apart: value of shape (B, R, E).
    form, n_groups, group, reference, level, reading
        As for `interval`.

    Returns
    -------
    lower, upper : array, shape (B,)
    """
    half = 1.0 - (1.0 - level) / 2
    lower, upper = interval(ends, form, n_groups, group, reference, half, reading)
    return _inner(lower, 0), _inner(upper, 1)


def _inner(limit: FloatArray, outwards: int) -> FloatArray:
    """Return the median over the splits; of an even number, the outer one of the middle two."""
    ordered, n = np.sort(limit, axis=1), limit.shape[1]
    return np.asarray(ordered[:, n // 2 if outwards else (n - 1) // 2])


def critical(apart: FloatArray, error: float) -> FloatArray:
    """Return by how many standard errors to move out limits of one point of a set.

    Solves Φ(z + apart) − Φ(−z) = 1 − error by Newton's method; `apart` is the width in standard errors. The left side
    is concave in z, so that after the first step from the two-sided value all steps go up.

    Parameters
    ----------
    apart : array
    error : float

    Examples
    --------
    >>> critical(np.array([0.0, 9.0]), 0.05).round(3).tolist()
    [1.96, 1.645]
    """
    z = np.full(apart.shape, float(-ndtri(error / 2)))
    for _ in range(_STEPS):
        missing = 1.0 - error - ndtr(z + apart) + ndtr(-z)
        z = z + missing / (_density(z + apart) + _density(z))
    return np.asarray(np.clip(z, float(-ndtri(error)), float(-ndtri(error / 2))))


def _density(z: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))


def limits(ends: DualEnds, form: Form, n_groups: int, group: int, reference: int, tail: float) -> Limits:
    """Return one-sided limits of both ends of a metric, each wrong with probability `tail`.

    Parameters
    ----------
    ends : DualEnds
        With the splits averaged.
    form : str
        How rates are compared. The forms of all groups need M* and m*.
    n_groups : int
    group, reference : int
        Ignored where the form has none.
    tail : float

    Returns
    -------
    lower, upper : array, shape (B,)
        `upper` is infinite where the denominator of a ratio may be 0.
    """
    return _limits(ends, form, n_groups, group, reference, float(-ndtri(tail)))


class _Distances(NamedTuple):
    """Estimates of the ends, how far down and up their own limits are, and their correlations."""

    value: FloatArray
    down: FloatArray
    up: FloatArray
    correlation: FloatArray


def _limits(ends: DualEnds, form: Form, n_groups: int, group: int, reference: int, z: float | FloatArray) -> Limits:
    near = _distances(ends, np.asarray(z)[..., None])
    first, second = np.array(_pairs(form, n_groups, group, reference), dtype=np.int64).T
    largest, smallest = np.array([2 * n_groups]), np.array([2 * n_groups + 1])
    match form:
        case "rate":
            lower = near.value[..., group] - near.down[..., group]
            upper = near.value[..., n_groups + group] + near.up[..., n_groups + group]
        case "difference" | "parity_gap":
            lower = _differences(near, first, n_groups + second)[0].min(axis=-1)
            upper = _differences(near, n_groups + first, second)[1].max(axis=-1)
        case _:
            lower = _ratios(near, first, n_groups + second)[0].min(axis=-1)
            upper = _ratios(near, n_groups + first, second)[1].max(axis=-1)
    # What equal rates would take is asked of all groups together.
    match form:
        case "parity_gap":
            lower = _differences(near, largest, smallest)[0][..., 0]
        case "parity_ratio":
            upper = _ratios(near, smallest, largest)[1][..., 0]
        case "impact_ratio":
            upper = _ratios(near, np.array([n_groups + group]), largest)[1][..., 0]
    least, greatest = _RANGES[form]
    return np.clip(lower, least, greatest), np.clip(upper, least, greatest)


def _pairs(form: Form, n_groups: int, group: int, reference: int) -> list[tuple[int, int]]:
    """Return the pairs that may be the metric's: its limit is the extreme one of theirs.

    The metric is that of one of them, if an unknown one, so no correction for their number is needed: the extreme limit
    is no easier to miss than that one's.
    """
    match form:
        case "parity_gap" | "parity_ratio":
            return [(a, b) for a in range(n_groups) for b in range(n_groups) if a != b]
        case "impact_ratio":
            return [(group, other) for other in range(n_groups) if other != group]
        case _:
            return [(group, reference)]


def _distances(ends: DualEnds, z: FloatArray) -> _Distances:
    """Invert the test that an end is at `value + δ`, whose variance is v − 2δc + δ²w.

    The distances solve δ² = z²(v − 2δc + δ²w); without a solution the test never rejects. Where rows are few the
    average is skew, and the distance on that side grows (Johnson 1978, https://doi.org/10.2307/2286597); the other one
    is left as it is.
    """
    variance = np.maximum(np.diagonal(ends.covariance, axis1=-2, axis2=-1), 0.0)
    c, w, third = (ends.moments[..., i, :] for i in range(3))
    square = np.square(z)
    left, middle = 1.0 - square * w, square * c
    root = np.sqrt(np.maximum(middle**2 + left * square * variance, 0.0))
    deviation = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        down, up = (np.where(left > 0, (root + s * middle) / left, np.inf) for s in (1.0, -1.0))
        shift = np.where(square > 0, third * (1 + 2 * square) / (6 * variance), 0.0)
        correlation = ends.covariance / (deviation[..., :, None] * deviation[..., None, :])
    # An end without sampling error has none to invert.
    still = variance <= 0.0
    down, up = (np.where(still, 0.0, d + np.maximum(0.0, s)) for d, s in ((down, -shift), (up, shift)))
    return _Distances(ends.value, down, up, np.clip(np.nan_to_num(correlation, posinf=0.0, neginf=0.0), -1.0, 1.0))


def _differences(near: _Distances, one: IntArray, two: IntArray) -> Limits:
    """Combine the distances of two ends to their limits (Zou and Donner 2008, https://doi.org/10.1002/sim.3095)."""
    r, gap = near.correlation[..., one, two], near.value[..., one] - near.value[..., two]
    down = _joined(near.down[..., one], near.up[..., two], r)
    return gap - down, gap + _joined(near.up[..., one], near.down[..., two], r)


def _joined(first: FloatArray, second: FloatArray, correlation: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        square = first**2 + second**2 - 2 * correlation * first * second
    return np.where(np.isinf(first) | np.isinf(second), np.inf, np.sqrt(np.maximum(square, 0.0)))


def _ratios(near: _Distances, one: IntArray, two: IntArray) -> Limits:
    """Solve one − t·two = ± its joined distance for t (Fieller's theorem, with the distances of the ends themselves).

    A denominator whose limits reach 0 leaves the upper limit infinite; there a limit on the scale of logarithms would
    be finite, and wrong.
    """
    x, y, r = near.value[..., one], near.value[..., two], near.correlation[..., one, two]
    lower = _fieller(x, y, near.down[..., one], near.up[..., two], r)[0]
    return lower, _fieller(x, y, near.up[..., one], near.down[..., two], r)[1]


def _fieller(x: FloatArray, y: FloatArray, dx: FloatArray, dy: FloatArray, r: FloatArray) -> Limits:
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b, c = y**2 - dy**2, x * y - r * dx * dy, x**2 - dx**2
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        lower = np.where((x > 0) & (c > 0), c / (b + root), 0.0)
        upper = np.where((y > 0) & (a > 0), (b + root) / a, np.inf)
    unknown = np.isinf(dx) | np.isinf(dy)
    lower = np.where(unknown | np.isnan(lower), 0.0, np.maximum(lower, 0.0))
    return lower, np.where(unknown | np.isnan(upper), np.inf, np.maximum(upper, 0.0))
