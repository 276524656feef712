"""Two random halves of a table of counts, drawn on the counts: no row is ever listed.

Inside a stratum of n rows the first half has n/2 of them (a fair coin decides on the odd one), every choice of rows
equally likely: its counts are multivariate hypergeometric. Halving inside strata rather than over the whole table
leaves as few empty halves as there can be, and is free, because the number of rows of a stratum says nothing about
what is in them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["cluster_halves", "first_halves", "halve"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
SeedArray: TypeAlias = npt.NDArray[np.uint64]

_1, _2, _4, _11, _27, _30, _31, _56, _63 = (np.uint64(n) for n in (1, 2, 4, 11, 27, 30, 31, 56, 63))
_GOLDEN, _MIX, _REMIX = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_PAIRS, _FOURS, _EIGHTS, _ONES = (
    np.uint64(n) for n in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)
_UNIT = 2.0**-53
# Counts that were scaled (to an effective sample size) may be off a whole number by rounding only.
_ROUNDING = 1e-9


def first_halves(offsets: IntArray, counts: FloatArray, seeds: SeedArray) -> FloatArray:
    """Return the counts of one random half of the table for each seed.

    Parameters
    ----------
    offsets : array of int, shape (C + 1,)
        Cells of stratum c are ``offsets[c]:offsets[c + 1]``.
    counts : array, shape (A,)
        At least 0. A count that is not whole (an effective size) is halved up to its fraction, which goes to either
        half undivided.
    seeds : array of uint64, shape (R,)

    Returns
    -------
    array, shape (R, A)

    Examples
    --------
    >>> halves = first_halves(np.array([0, 2]), np.array([6.0, 2.0]), np.arange(3, dtype=np.uint64))
    >>> halves.sum(axis=1).tolist()
    [4.0, 4.0, 4.0]
    """
    if np.any(counts < 0) or not np.all(np.isfinite(counts)):
        raise ValueError("counts must be numbers of at least 0")
    halves = np.empty((len(seeds), len(counts)))
    _halve_all(np.asarray(offsets, dtype=np.int64), np.asarray(counts, dtype=np.float64), seeds, halves)
    return halves


def cluster_halves(
    cluster: IntArray, cell: IntArray, counts: FloatArray, cells: int, splits: int, rng: np.random.Generator
) -> FloatArray:
    """Return the counts of one random half of the clusters for each split, shape (splits, cells).

    Parameters
    ----------
    cluster, cell : array of int, shape (M,)
        Of each entry, both counted from 0.
    counts : array, shape (M,)
    cells, splits : int
    rng : Generator

    Examples
    --------
    >>> kept = cluster_halves(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3), 2, 4, np.random.default_rng(0))
    >>> sorted({tuple(half) for half in kept.tolist()})
    [(0.0, 1.0), (1.0, 1.0)]
    """
    n = int(cluster.max()) + 1
    out = np.empty((splits, cells))
    for at in range(splits):
        chosen = rng.permutation(n) < n // 2
        out[at] = np.bincount(cell, weights=counts * chosen[cluster], minlength=cells)
    return out


@compiled
def _halve_all(offsets: IntArray, counts: FloatArray, seeds: SeedArray, halves: FloatArray) -> None:
    stream = np.empty(1, dtype=np.uint64)
    for r in range(len(seeds)):
        stream[0] = seeds[r]
        for c in range(len(offsets) - 1):
            halve(counts[offsets[c] : offsets[c + 1]], stream, halves[r, offsets[c] : offsets[c + 1]])


@compiled
def halve(counts: FloatArray, stream: SeedArray, half: FloatArray) -> None:
    """Write the counts of a random half of one stratum.

    Every row first goes where a coin sends it, 64 coins to a random word; then random rows change sides until the
    halves are even, which leaves every choice of rows equally likely.
    """
    total, taken = 0, 0
    for j in range(len(counts)):
        left = int(counts[j] + _ROUNDING)
        total += left
        heads = 0
        while left >= 64:
            heads += _bits(_word(stream))
            left -= 64
        if left > 0:
            heads += _bits(_word(stream) >> np.uint64(64 - left))
        half[j] = heads
        taken += heads
    goal = total // 2
    if total % 2 == 1 and _word(stream) >> _63 == _1:
        goal += 1
    while taken > goal:
        row = _below(taken, stream)
        j = 0
        while row >= half[j]:
            row -= half[j]
            j += 1
        half[j] -= 1.0
        taken -= 1
    while taken < goal:
        row = _below(total - taken, stream)
        j = 0
        while row >= int(counts[j] + _ROUNDING) - half[j]:
            row -= int(counts[j] + _ROUNDING) - half[j]
            j += 1
        half[j] += 1.0
        taken += 1
    for j in range(len(counts)):
        fraction = counts[j] - int(counts[j] + _ROUNDING)
        if fraction > _ROUNDING and _word(stream) >> _63 == _1:
            half[j] += fraction


@compiled
def _below(n: int, stream: SeedArray) -> float:
    """Draw a whole number from 0 to n − 1."""
    drawn: float = np.floor(np.float64(_word(stream) >> _11) * _UNIT * n)
    return drawn


@compiled
def _word(stream: SeedArray) -> np.uint64:
    """Draw 64 bits by splitmix64 (Steele, Lea and Flood 2014, https://doi.org/10.1145/2714064.2660195)."""
    stream[0] += _GOLDEN
    word: np.uint64 = stream[0]
    word = (word ^ (word >> _30)) * _MIX
    word = (word ^ (word >> _27)) * _REMIX
    return word ^ (word >> _31)


@compiled
def _bits(word: np.uint64) -> int:
    """Count the ones."""
    word = word - ((word >> _1) & _PAIRS)
    word = (word & _FOURS) + ((word >> _2) & _FOURS)
    word = (word + (word >> _4)) & _EIGHTS
    return int((word * _ONES) >> _56)
