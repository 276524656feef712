"""Covariance of cross-fitted ends, from what every row adds to them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled
from fairbounds.kernels.dual_fitting import Ends
from fairbounds.kernels.halves import Halves, Outcomes

__all__ = ["covariance_of_ends"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# A stratum with fewer rows than this says nothing about the spread of its rows.
_ALONE = 1.5
# Rows laid side by side, so that sums along them are vector instructions and stay in the cache.
_BLOCK = 2048


@compiled
def covariance_of_ends(
    outcomes: Outcomes,
    halves: Halves,
    ends: Ends,
    usual: FloatArray,
    by_external: bool,
    census: bool,
    covariance: FloatArray,
    moments: FloatArray,
) -> None:
    """Add the covariance of top − λ·bottom of every end, and its moments with bottom as `DualEnds` lists them.

    The rows of the table that weighs the strata vary over the whole table; what they add includes the mean, in their
    stratum, of what the rows of the other table add. Those vary within the stratum, whose size is given. Both parts
    take the other sample as it came out, which on average counts their joint error twice: on the safe side.

    Parameters
    ----------
    usual : array, shape (2 E,)
        What an internal row adds on average to top − λ·bottom of each end, and to bottom.
    covariance : array, shape (E, E)
    moments : array, shape (3, E)
    """
    n_ends, n_groups = ends.member.shape[1:]
    inside_rows, outside_rows = halves.inside_rows[2], halves.outside_rows[2]
    margin_rows, within_rows = (outside_rows, inside_rows) if by_external else (inside_rows, outside_rows)
    row_weight = (halves.outside_weight if by_external else halves.inside_weight) * np.sum(margin_rows)
    if not by_external:
        usual = _usual_price(halves.outside, ends)
    # Rows are laid out stratum by stratum, those of the first half before those of the second.
    gain_starts, price_starts = 2 * outcomes.offsets, 2 * n_groups * np.arange(len(inside_rows) + 1)
    near_starts, far_starts = (gain_starts, price_starts) if by_external else (price_starts, gain_starts)
    size = max(_BLOCK, 2 * n_groups, 2 * np.max(outcomes.offsets[1:] - outcomes.offsets[:-1]))
    gain, price, below = np.empty((n_ends, size)), np.empty((n_ends, size)), np.empty((2, size))
    gain_count, price_count, weight = np.empty(size), np.empty(size), np.empty((2, size))
    second, total = np.zeros((n_ends, n_ends)), np.zeros((5, n_ends))
    near, far = (gain, price) if by_external else (price, gain)
    near_count, far_count = (gain_count, price_count) if by_external else (price_count, gain_count)
    near_below, far_below = (below[0], below[1]) if by_external else (below[1], below[0])
    near_noisy, far_noisy = by_external or not census, not (by_external and census)
    first = 0
    while first < len(inside_rows):
        last = _block_end(first, gain_starts, price_starts, size)
        nears, fars = near_starts[last] - near_starts[first], far_starts[last] - far_starts[first]
        _lay_counts(first, last, outcomes.offsets, halves, gain_count, price_count)
        _weigh_deviations(first, last, near_starts, near_count, margin_rows, within_rows, near_noisy, weight)
        for e in range(n_ends):
            _lay_gains(e, first, last, outcomes, ends, gain[e], below[0])
            _lay_prices(e, first, last, ends, price[e], below[1])
            _centre(
                first, last, near_starts, far_starts, near_count, within_rows, usual[e], usual[n_ends + e], row_weight,
                near[e], near_below, far[e], far_below,
            )  # fmt: skip
            _add_moments(near[e], near_below, weight, nears, moments[:, e])
            if far_noisy:
                _add_totals(far[e], far_below, far_count, fars, total[:, e])
        _add_products(covariance, near, weight[0], nears)
        if far_noisy:
            _add_products(second, far, far_count, fars)
        first = last
    _finish(second, total, np.sum(margin_rows), covariance, moments)


@compiled
def _block_end(first: int, gain_starts: IntArray, price_starts: IntArray, size: int) -> int:
    last = first + 1
    while last < len(gain_starts) - 1:
        if max(gain_starts[last + 1] - gain_starts[first], price_starts[last + 1] - price_starts[first]) > size:
            break
        last += 1
    return last


@compiled
def _lay_counts(
    first: int,
    last: int,
    offsets: IntArray,
    halves: Halves,
    gain_count: FloatArray,
    price_count: FloatArray,
) -> None:
    m, n = 0, 0
    for c in range(first, last):
        for k in range(2):
            for j in range(offsets[c], offsets[c + 1]):
                gain_count[m] = halves.inside[k, j]
                m += 1
            for g in range(halves.outside.shape[2]):
                price_count[n] = halves.outside[k, c, g]
                n += 1


@compiled
def _weigh_deviations(
    first: int,
    last: int,
    starts: IntArray,
    count: FloatArray,
    margin_rows: FloatArray,
    rows: FloatArray,
    noisy: bool,
    weight: FloatArray,
) -> None:
    """Write the weights of squares and of cubes of the deviations within strata."""
    people = np.sum(margin_rows)
    for c in range(first, last):
        alone = rows[c] < _ALONE
        unit = margin_rows[c] / people / rows[c] if noisy and rows[c] > 0.0 else 0.0
        square = unit * unit if alone else unit * unit * rows[c] / (rows[c] - 1.0)
        for m in range(starts[c] - starts[first], starts[c + 1] - starts[first]):
            weight[0, m] = square * count[m]
            weight[1, m] = unit * unit * unit * count[m]


@compiled
def _lay_gains(
    e: int, first: int, last: int, outcomes: Outcomes, ends: Ends, gain: FloatArray, below: FloatArray
) -> None:
    """Write what an internal row of each atom adds to top − λ·bottom of one end, and to bottom."""
    m, sign, lam = 0, ends.sign[e], ends.lam[e]
    for c in range(first, last):
        for k in range(2):
            a, b = ends.dual[k, c, 0, e], ends.dual[k, c, 1, e]
            for j in range(outcomes.offsets[c], outcomes.offsets[c + 1]):
                under = outcomes.among[j] - b
                above = sign * (outcomes.counted[j] - a - lam * under)
                gain[m] = sign * max(0.0, above)
                below[m] = under if above > 0.0 else 0.0
                m += 1


@compiled
def _lay_prices(e: int, first: int, last: int, ends: Ends, price: FloatArray, below: FloatArray) -> None:
    """Write what an external row of each group adds to top − λ·bottom of one end, and to bottom."""
    n, lam = 0, ends.lam[e]
    for c in range(first, last):
        for k in range(2):
            b = ends.dual[k, c, 1, e]
            theta = ends.dual[k, c, 0, e] - lam * b
            for g in range(ends.member.shape[2]):
                price[n] = ends.member[k, e, g] * theta
                below[n] = ends.member[k, e, g] * b
                n += 1


@compiled
def _centre(
    first: int,
    last: int,
    near_starts: IntArray,
    far_starts: IntArray,
    count: FloatArray,
    rows: FloatArray,
    usual: float,
    usual_below: float,
    row_weight: FloatArray,
    near: FloatArray,
    near_below: FloatArray,
    far: FloatArray,
    far_below: FloatArray,
) -> None:
    """Move the means within strata from the rows of one table to those of the other.

    A row alone is compared with the mean of all rows, which overstates its variance (the collapsed strata of surveys).
    Rows of the table that weighs the strata count more or less, to match the other table's halves.
    """
    for c in range(first, last):
        begin, end = near_starts[c] - near_starts[first], near_starts[c + 1] - near_starts[first]
        mean, mean_below = 0.0, 0.0
        if rows[c] > 0.0:
            for m in range(begin, end):
                mean += count[m] * near[m]
                mean_below += count[m] * near_below[m]
            mean /= rows[c]
            mean_below /= rows[c]
        alone = rows[c] < _ALONE
        middle, middle_below = usual if alone else mean, usual_below if alone else mean_below
        for m in range(begin, end):
            near[m] -= middle
            near_below[m] -= middle_below
        begin, end = far_starts[c] - far_starts[first], far_starts[c + 1] - far_starts[first]
        half = (begin + end) // 2
        one, two = row_weight[0, c], row_weight[1, c]
        for m in range(begin, half):
            far[m] = mean + one * far[m]
            far_below[m] = mean_below + one * far_below[m]
        for m in range(half, end):
            far[m] = mean + two * far[m]
            far_below[m] = mean_below + two * far_below[m]


@compiled
def _add_moments(values: FloatArray, below: FloatArray, weight: FloatArray, n: int, moments: FloatArray) -> None:
    with_below, of_below, third = 0.0, 0.0, 0.0
    for m in range(n):
        with_below += weight[0, m] * values[m] * below[m]
        of_below += weight[0, m] * below[m] * below[m]
        third += weight[1, m] * values[m] * values[m] * values[m]
    moments[0] += with_below
    moments[1] += of_below
    moments[2] += third


@compiled
def _add_totals(values: FloatArray, below: FloatArray, count: FloatArray, n: int, total: FloatArray) -> None:
    one, other, with_below, of_below, third = 0.0, 0.0, 0.0, 0.0, 0.0
    for m in range(n):
        here = count[m] * values[m]
        one += here
        other += count[m] * below[m]
        with_below += here * below[m]
        of_below += count[m] * below[m] * below[m]
        third += here * values[m] * values[m]
    total[0] += one
    total[1] += other
    total[2] += with_below
    total[3] += of_below
    total[4] += third


@compiled
def _add_products(matrix: FloatArray, rows: FloatArray, weight: FloatArray, n: int) -> None:
    """Add Σ weight · x xᵀ to the lower triangle."""
    weighted = np.empty(n)
    for e in range(len(matrix)):
        for m in range(n):
            weighted[m] = weight[m] * rows[e, m]
        for f in range(e + 1):
            added = 0.0
            for m in range(n):
                added += weighted[m] * rows[f, m]
            matrix[e, f] += added


@compiled
def _finish(second: FloatArray, total: FloatArray, people: float, covariance: FloatArray, moments: FloatArray) -> None:
    """Add the variance over the table that weighs the strata."""
    scale = 1.0 / (people * max(1.0, people - 1.0))
    for e in range(len(second)):
        mean, mean_below = total[0, e] / people, total[1, e] / people
        moments[0, e] += scale * (total[2, e] - people * mean * mean_below)
        moments[1, e] += scale * (total[3, e] - people * mean_below * mean_below)
        moments[2, e] += (total[4, e] - 3.0 * mean * second[e, e] + 2.0 * people * mean**3) / people**3
        for f in range(e + 1):
            covariance[e, f] += scale * (second[e, f] - mean * total[0, f])
            covariance[f, e] = covariance[e, f]


@compiled
def _usual_price(outside: FloatArray, ends: Ends) -> FloatArray:
    """Return what an external row adds on average."""
    n_ends, n_groups = ends.member.shape[1:]
    mean, rows = np.zeros(2 * n_ends), max(1.0, np.sum(outside))
    for k in range(2):
        for c in range(outside.shape[1]):
            for g in range(n_groups):
                for e in range(n_ends):
                    held = outside[k, c, g] / rows * ends.member[k, e, g]
                    mean[e] += held * (ends.dual[k, c, 0, e] - ends.lam[e] * ends.dual[k, c, 1, e])
                    mean[n_ends + e] += held * ends.dual[k, c, 1, e]
    return mean
