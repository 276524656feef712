"""Extremes of one group's rate when its condition is not a whole group or not a hard event: Dinkelbach iteration."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["rate_extremes"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Part of a group below which the mass of its condition is rounding.
_NOTHING = 1e-13


@compiled
def rate_extremes(
    offsets: IntArray,
    counted: FloatArray,
    among: FloatArray,
    weight: FloatArray,
    mass: FloatArray,
    shares: FloatArray,
    side: IntArray,
) -> FloatArray:
    """Least and greatest rate Σ counted·m / Σ among·m of each group over all fills m (docs/method.md, 3).

    Parameters
    ----------
    offsets, weight, mass, shares, side
        As in `StrataArrays`.
    counted, among : array, shape (A,)
        P(counted | atom) ≤ P(among | atom), in [0, 1].

    Returns
    -------
    array, shape (G, 2)
        NaN for a group whose condition has no mass in any fill.
    """
    n_groups = shares.shape[1]
    out = np.full((n_groups, 2), np.nan)
    for g in range(n_groups):
        for end in range(2):
            out[g, end] = _one_end(offsets, counted, among, weight, mass, shares[:, g], side, end == 1)
    return out


@compiled
def _one_end(
    offsets: IntArray,
    counted: FloatArray,
    among: FloatArray,
    weight: FloatArray,
    mass: FloatArray,
    share: FloatArray,
    side: IntArray,
    upper: bool,
) -> float:
    """Dinkelbach: fill by counted − λ·among, set λ to the rate of that fill, until λ no longer moves.

    Starting beyond the far end makes the first fill one with the condition present wherever it can be.
    """
    rate = -1e-9 if upper else 1.0 + 1e-9
    found, whole = np.nan, 0.0
    for c in range(len(mass)):
        whole += mass[c] * (1.0 if side[c] == 1 else share[c])
    for _ in range(100):
        top, bottom = _fill(offsets, counted, among, weight, mass, share, side, rate, upper)
        if bottom <= _NOTHING * whole:
            return found
        moved = top / bottom
        if not np.isnan(found) and (moved <= rate if upper else moved >= rate):
            return found
        found, rate = moved, moved
    return found


@compiled
def _fill(
    offsets: IntArray,
    counted: FloatArray,
    among: FloatArray,
    weight: FloatArray,
    mass: FloatArray,
    share: FloatArray,
    side: IntArray,
    rate: float,
    upper: bool,
) -> tuple[float, float]:
    """Masses counted and among of the fill that is best for `rate`."""
    top, bottom = 0.0, 0.0
    for c in range(len(mass)):
        if side[c] == 2:  # outcome unknown: the whole group counts (or only stands among)
            top += mass[c] * share[c] * (1.0 if upper else 0.0)
            bottom += mass[c] * share[c]
            continue
        start, stop = offsets[c], offsets[c + 1]
        gain = counted[start:stop] - rate * among[start:stop]
        if not upper:
            gain = -gain
        room = 1.0 if side[c] == 1 else share[c]
        order = np.argsort(-gain)
        for j in order:
            if room <= 0.0 or (side[c] == 1 and gain[j] <= 0.0):
                break
            taken = min(room, weight[start + j])
            room -= taken
            top += mass[c] * taken * counted[start + j]
            bottom += mass[c] * taken * among[start + j]
    return top, bottom
