"""Closed forms inside strata: extremes of conditional rates, and the set function Φ of unconditional ones."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["envelope_tangents", "envelopes", "part_extremes", "phi"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Up to this many atoms in a stratum, comparing all pairs beats sorting: the inner loops have no branches.
_ALL_PAIRS_LIMIT = 48

# A set with less than this part of a stratum is filled atom by atom: as a difference it would be lost in rounding.
_SMALL_SET = 0.01


@compiled
def part_extremes(
    event: FloatArray, rest: FloatArray, neither: FloatArray, mass: FloatArray, shares: FloatArray, side: IntArray
) -> FloatArray:
    """Least and greatest mass of two disjoint events that each group can hold (Fréchet's bounds, stratum by stratum).

    Parameters
    ----------
    event, rest, neither : array, shape (C,)
        P(event | stratum): N, D and O of a rate. The third is no difference of the others here, so that the ends are
        exact to rounding of a group, however small it is.
    mass, shares, side
        As in `StrataArrays`.

    Returns
    -------
    array, shape (G, 4)
        Columns: least N, greatest N, least D, greatest D.
    """
    n_strata, n_groups = shares.shape
    out = np.zeros((n_groups, 4))
    for c in range(n_strata):
        if side[c] == 1:  # shares unknown: any group may hold all of either event, or none
            for g in range(n_groups):
                out[g, 1] += mass[c] * event[c]
                out[g, 3] += mass[c] * rest[c]
            continue
        if side[c] == 2:  # outcome unknown: the group's whole mass may be either event, or neither
            for g in range(n_groups):
                out[g, 1] += mass[c] * shares[c, g]
                out[g, 3] += mass[c] * shares[c, g]
            continue
        for g in range(n_groups):
            share = shares[c, g]
            out[g, 0] += mass[c] * max(0.0, share - (rest[c] + neither[c]))
            out[g, 1] += mass[c] * min(share, event[c])
            out[g, 2] += mass[c] * max(0.0, share - (event[c] + neither[c]))
            out[g, 3] += mass[c] * min(share, rest[c])
    return out


@compiled
def phi(
    offsets: IntArray,
    value: FloatArray,
    weight: FloatArray,
    mass: FloatArray,
    shares: FloatArray,
    side: IntArray,
    subsets: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    r"""Greatest and least integral of `value` that sets of groups can hold together (docs/method.md, 4).

    Inside a stratum the greatest is F(t), the integral of the value over the top t of the mass, t the share of the
    set. F is the lower envelope of its tangents, :math:`F(t) = \min_θ θt + \sum_j w_j (v_j − θ)_+`, with θ among the
    atoms' values, so no sorting is needed; hard decisions are the case of two atoms, F(t) = min(t, q).

    Parameters
    ----------
    offsets, weight, mass, shares, side
        As in `StrataArrays`; internal-only strata are passed over.
    value : array, shape (A,)
        In [0, 1].
    subsets : array of 0 and 1, shape (K, G)

    Returns
    -------
    low, high : array, shape (K,)
    """
    n_sets, n_groups = subsets.shape
    low, high = np.zeros(n_sets), np.zeros(n_sets)
    # Copies next to each other let the inner loops use vector instructions: twice as fast as slices of the arguments.
    most = np.max(offsets[1:] - offsets[:-1])
    slope, height, mine = np.empty(most), np.empty(most), np.empty(most)
    for c in range(len(mass)):
        if side[c] == 1:
            continue
        start, n = offsets[c], offsets[c + 1] - offsets[c]
        envelope_tangents(value, weight, start, n, slope, height, mine)
        total, everyone = 0.0, 0.0
        for j in range(n):
            total += slope[j] * mine[j]
        for g in range(n_groups):
            everyone += shares[c, g]
        for k in range(n_sets):
            inside = 0.0
            for g in range(n_groups):
                inside += subsets[k, g] * shares[c, g]
            if side[c] == 2:  # outcome unknown: everyone in the set may be favoured, or no one
                high[k] += mass[c] * inside
            else:
                top, other = envelopes(slope, height, n, inside, everyone - inside)
                high[k] += mass[c] * min(total, top)
                if inside < _SMALL_SET:
                    low[k] += mass[c] * _from_below(slope, mine, n, inside)
                else:
                    low[k] += mass[c] * max(0.0, total - other)
    return low, high


@compiled
def _from_below(value: FloatArray, weight: FloatArray, n: int, part: float) -> float:
    """Integral of the value over the lowest part of a stratum."""
    integral, least, left = 0.0, -np.inf, part
    while left > 0.0:
        level, here = np.inf, 0.0
        for j in range(n):
            if least < value[j] < level:
                level, here = value[j], weight[j]
            elif value[j] == level:
                here += weight[j]
        if level == np.inf:
            return integral
        integral += level * min(left, here)
        left -= here
        least = level
    return integral


@compiled
def envelope_tangents(
    value: FloatArray,
    weight: FloatArray,
    start: int,
    n: int,
    slope: FloatArray,
    height: FloatArray,
    mine: FloatArray,
) -> None:
    """Write slope, height at 0 and weight of the tangents of F of one stratum, one per atom, by the faster way."""
    if n <= _ALL_PAIRS_LIMIT:
        _tangents(value, weight, start, n, slope, height, mine)
    else:
        _tangents_by_sorting(value, weight, start, n, slope, height, mine)


@compiled
def _tangents(
    value: FloatArray,
    weight: FloatArray,
    start: int,
    n: int,
    slope: FloatArray,
    height: FloatArray,
    mine: FloatArray,
) -> None:
    """Write slope, height at 0 and weight of the tangents of F, one per atom."""
    for i in range(n):
        slope[i] = value[start + i]
        mine[i] = weight[start + i]
    for j in range(n):
        level, total = slope[j], 0.0
        for i in range(n):
            total += mine[i] * max(0.0, slope[i] - level)
        height[j] = total


@compiled
def _tangents_by_sorting(
    value: FloatArray,
    weight: FloatArray,
    start: int,
    n: int,
    slope: FloatArray,
    height: FloatArray,
    mine: FloatArray,
) -> None:
    order = np.argsort(-value[start : start + n])
    taken, integral = 0.0, 0.0
    for j in range(n):
        slope[j], mine[j] = value[start + order[j]], weight[start + order[j]]
        height[j] = integral - slope[j] * taken
        taken += mine[j]
        integral += mine[j] * slope[j]


@compiled
def envelopes(slope: FloatArray, height: FloatArray, n: int, first: float, second: float) -> tuple[float, float]:
    """F at two points."""
    one, two = np.inf, np.inf
    for j in range(n):
        one = min(one, slope[j] * first + height[j])
        two = min(two, slope[j] * second + height[j])
    return one, two
