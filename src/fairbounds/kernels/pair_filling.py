"""Two groups served from the same outcome atoms as gainfully as can be, by strata (docs/method.md, 2 and 3)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["fill_pair"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Part of a stratum below which a mass is what rounding left of a difference.
_DUST = 1e-15


@compiled
def fill_pair(
    start: IntArray, mass: FloatArray, need: FloatArray, side: IntArray, gain: FloatArray, others: bool
) -> FloatArray:
    """Give atoms to two groups so that Σ gain·mass is greatest; whatever neither takes is for the other groups.

    Parameters
    ----------
    start : array of int, shape (C + 1,)
        Atoms of stratum c are ``start[c]:start[c + 1]``.
    mass : array, shape (N,)
        Infinite for atoms of unknown outcome.
    need : array, shape (C, 2)
        Mass of each of the two groups in each stratum; not read where shares are unknown.
    side : array of int, shape (C,)
        As in `StrataArrays`.
    gain : array, shape (N, 2)
        Gain per unit of an atom's mass in either group.
    others : bool
        Whether there are other groups; if not, the two share everyone of the strata of unknown shares.

    Returns
    -------
    array, shape (N, 2)
    """
    fill = np.zeros((len(mass), 2))
    for c in range(len(side)):
        here = slice(start[c], start[c + 1])
        if side[c] == 1:
            _anyone(mass[here], gain[here], others, fill[here])
        elif side[c] == 2:
            _any_outcome(need[c], gain[here], fill[here])
        else:
            _transport(mass[here], need[c], gain[here], fill[here])
    return fill


@compiled
def _anyone(mass: FloatArray, gain: FloatArray, others: bool, fill: FloatArray) -> None:
    """Shares unknown: every atom goes where it gains most."""
    for j in range(len(mass)):
        best = 0 if gain[j, 0] >= gain[j, 1] else 1
        if gain[j, best] > 0.0 or not others:
            fill[j, best] = mass[j]


@compiled
def _any_outcome(need: FloatArray, gain: FloatArray, fill: FloatArray) -> None:
    """Outcome unknown: either group is all of its best atom."""
    for g in range(2):
        fill[np.argmax(gain[:, g]), g] = need[g]


@compiled
def _transport(mass: FloatArray, need: FloatArray, gain: FloatArray, fill: FloatArray) -> None:
    """Serve the second group from its best atoms, then the first along ever less gainful paths.

    A unit for the first is one that is free, or one that the second gives up for another that is free. These are all
    paths that a shortest augmentation can take, so the gain is greatest for every amount served on the way.
    """
    n = len(mass)
    free, dust = mass.copy(), _DUST * mass.sum()
    by_first, by_second = np.argsort(-gain[:, 0]), np.argsort(-gain[:, 1])
    by_swap = np.argsort(gain[:, 1] - gain[:, 0])
    rank = np.empty(n, dtype=np.int64)
    rank[by_swap] = np.arange(n)
    second, left = 0, need[1]
    while left > min(dust, 1e-3 * need[1]) and second < n:
        k = by_second[second]
        taken = min(left, free[k])
        fill[k, 1] += taken
        free[k] -= taken
        left -= taken
        if free[k] <= dust:
            second += 1
    first, swap, left = 0, 0, need[0]
    while left > min(dust, 1e-3 * need[0]):
        while first < n and free[by_first[first]] <= dust:
            first += 1
        while second < n and free[by_second[second]] <= dust:
            second += 1
        if max(first, second) == n:
            break
        while swap < n and fill[by_swap[swap], 1] <= dust:
            swap += 1
        i, k = by_first[first], by_second[second]
        direct, detour = gain[i, 0], -np.inf
        if swap < n:
            j = by_swap[swap]
            detour = gain[j, 0] - gain[j, 1] + gain[k, 1]
        if direct >= detour:
            taken = min(left, free[i])
            fill[i, 0] += taken
            free[i] -= taken
        else:
            taken = min(left, free[k], fill[j, 1])
            fill[j, 0] += taken
            fill[j, 1] -= taken
            fill[k, 1] += taken
            free[k] -= taken
            swap = min(swap, rank[k])
        left -= taken
