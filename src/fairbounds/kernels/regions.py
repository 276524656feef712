"""Where two groups' rates can lie together, and how much each stratum leaves open (docs/method.md, 3 and 4)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.closed_form import envelope_tangents, envelopes
from fairbounds.kernels.compiling import compiled

__all__ = ["open_mass", "pair_polygon"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


def pair_polygon(low: FloatArray, high: FloatArray, tolerance: float = 0.0) -> FloatArray:
    """Return the corners of a generalised polymatroid of two coordinates, counter-clockwise.

    Parameters
    ----------
    low, high : array, shape (3,)
        LO and HI of the first set, of the second, and of both together: low[0] ≤ x ≤ high[0], low[1] ≤ y ≤ high[1],
        low[2] ≤ x + y ≤ high[2]. Each of them is attained, and high of one together with low of the other.
    tolerance : float
        Corners nearer to each other than this are one.

    Returns
    -------
    array, shape (1 to 6, 2)

    Examples
    --------
    >>> pair_polygon(np.array([0.125, 0.125, 0.5]), np.array([0.375, 0.375, 0.5])).tolist()
    [[0.375, 0.125], [0.125, 0.375]]
    """
    corners = np.array(
        [
            (high[0], low[1]),
            (high[0], high[2] - high[0]),
            (high[2] - high[1], high[1]),
            (low[0], high[1]),
            (low[0], low[2] - low[0]),
            (low[2] - low[1], low[1]),
        ]
    )
    kept = [corners[0]]
    for corner in corners[1:]:
        if all(np.abs(corner - other).max() > tolerance for other in kept):
            kept.append(corner)
    return np.array(kept)


@compiled
def open_mass(
    offsets: IntArray,
    value: FloatArray,
    weight: FloatArray,
    mass: FloatArray,
    shares: FloatArray,
    side: IntArray,
) -> FloatArray:
    """Greatest less least integral of `value` that each group can hold in each stratum, shape (C, G).

    Parameters
    ----------
    offsets, weight, mass, shares, side
        As in `StrataArrays`; internal-only strata, whose shares are unknown, are passed over.
    value : array, shape (A,)
        In [0, 1].
    """
    n_strata, n_groups = shares.shape
    out = np.zeros((n_strata, n_groups))
    most = np.max(offsets[1:] - offsets[:-1])
    slope, height, mine = np.empty(most), np.empty(most), np.empty(most)
    for c in range(n_strata):
        if side[c] == 2:  # outcome unknown: all of the group may be favoured, or no one
            for g in range(n_groups):
                out[c, g] = mass[c] * shares[c, g]
        elif side[c] == 0:
            start, n = offsets[c], offsets[c + 1] - offsets[c]
            envelope_tangents(value, weight, start, n, slope, height, mine)
            total, everyone = 0.0, 0.0
            for j in range(n):
                total += slope[j] * mine[j]
            for g in range(n_groups):
                everyone += shares[c, g]
            for g in range(n_groups):
                top, rest = envelopes(slope, height, n, shares[c, g], everyone - shares[c, g])
                out[c, g] = mass[c] * max(0.0, min(total, top) - max(0.0, total - rest))
    return out
