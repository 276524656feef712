"""Closed forms inside strata: extremes of conditional rates, and the set function Φ of unconditional ones."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["event_extremes", "phi"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Up to this many atoms in a stratum, comparing all pairs beats sorting: the inner loops have no branches.
_ALL_PAIRS_LIMIT = 48


@compiled
def event_extremes(
    event: FloatArray, rest: FloatArray, mass: FloatArray, shares: FloatArray, side: IntArray
) -> FloatArray:
    """Least and greatest mass of two disjoint events that each group can hold (Fréchet's bounds, stratum by stratum).

    Parameters
    ----------
    event, rest : array, shape (C,)
        P(event | stratum): N and D of a rate.
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
            out[g, 0] += mass[c] * max(0.0, share + event[c] - 1.0)
            out[g, 1] += mass[c] * min(share, event[c])
            out[g, 2] += mass[c] * max(0.0, share + rest[c] - 1.0)
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
    r"""Greatest and least integral of `value` that sets of groups can hold together (DESIGN 3.3).

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
    n_sets = subsets.shape[0]
    n_groups = shares.shape[1]
    low, high = np.zeros(n_sets), np.zeros(n_sets)
    for c in range(len(mass)):
        if side[c] == 1:
            continue
        start, stop = offsets[c], offsets[c + 1]
        slope, height = _tangents(value[start:stop], weight[start:stop])
        total = np.sum(value[start:stop] * weight[start:stop])
        for k in range(n_sets):
            inside, outside = 0.0, 0.0
            for g in range(n_groups):
                inside += subsets[k, g] * shares[c, g]
                outside += (1.0 - subsets[k, g]) * shares[c, g]
            if side[c] == 2:  # outcome unknown: everyone in the set may be favoured, or no one
                high[k] += mass[c] * inside
            else:
                high[k] += mass[c] * min(total, _envelope(slope, height, inside))
                low[k] += mass[c] * max(0.0, total - _envelope(slope, height, outside))
    return low, high


@compiled
def _tangents(value: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slope and height at 0 of the tangents of F, one per atom."""
    n = len(value)
    height = np.zeros(n)
    if n <= _ALL_PAIRS_LIMIT:
        for j in range(n):
            total = 0.0
            for i in range(n):
                total += weight[i] * max(0.0, value[i] - value[j])
            height[j] = total
        return value, height
    order = np.argsort(-value)
    slope = value[order]
    taken, integral = 0.0, 0.0
    for j in range(n):
        height[j] = integral - slope[j] * taken
        taken += weight[order[j]]
        integral += weight[order[j]] * slope[j]
    return slope, height


@compiled
def _envelope(slope: FloatArray, height: FloatArray, point: float) -> float:
    least = np.inf
    for j in range(len(slope)):
        least = min(least, slope[j] * point + height[j])
    return least
