"""Uniform draws from the joints that fit both tables: coordinate hit-and-run, one transportation polytope per stratum.

Inside a stratum the joints are the matrices (internal cells × groups) with given row and column sums. A swap picks two
cells and two groups, moves mass around the four entries, uniformly over all it can move: a Gibbs step, so the uniform
distribution stays as it is (Smith 1984, https://doi.org/10.1287/opre.32.6.1296; Diaconis and Gangolli 1995 for the
swaps). Lanes are chains side by side in memory; they make the same picks but move different amounts, and since no pick
depends on where a chain is, chains at rest are uncorrelated.

Swaps round in the last digit. To keep that from adding up, rows and then columns are scaled back to the tables every
few sweeps and at the end; the factors differ from 1 by rounding only.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["start", "walk"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
SeedArray: TypeAlias = npt.NDArray[np.uint64]

# Sweeps between two scalings back to the tables; rounding has by then reached some 1e-15.
_SCALE_EVERY = 32
_TOTALS_AGREE = 1e-12

_1, _11, _16, _24, _27, _30, _31, _37, _40 = (np.uint64(n) for n in (1, 11, 16, 24, 27, 30, 31, 37, 40))
_UNIT = 2.0**-53
_GOLDEN, _MIX, _REMIX = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
# What a seed is used for, so that one seed never gives two uses the same numbers.
_LANE, _PICK, _CORNER = (np.uint64(n) for n in (0x6C616E65, 0x7069636B, 0x636F726E))


def walk(
    offsets: IntArray,
    row_mass: FloatArray,
    column_mass: FloatArray,
    value: FloatArray,
    kept: int,
    thin: int,
    seeds: SeedArray,
    state: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Walk in every stratum and sum linear functionals of the joints over the strata.

    Parameters
    ----------
    offsets : array of int, shape (C + 1,)
        Internal cells of stratum c are ``offsets[c]:offsets[c + 1]``.
    row_mass : array, shape (A,)
        Mass of each internal cell.
    column_mass : array, shape (C, G)
        Mass of each group in each stratum; its rows have the same sums as the cells of the stratum.
    value : array, shape (A, F)
        Functionals of the internal cell, such as P(counted | cell).
    kept : int
        Draws to keep; 0 leaves the state alone.
    thin : int
        Sweeps before each draw. A sweep has as many swaps as the stratum has free entries.
    seeds : array of uint64, shape (C, lanes)
        The random streams. Walking on takes new seeds: the same ones would repeat the same moves.
    state : array, shape (A, G, lanes)
        Matrices to begin with, as `start` or an earlier walk returned them.

    Returns
    -------
    sums : array, shape (kept, lanes, G, F)
        Σ over cells of matrix · value.
    state : array, shape (A, G, lanes)
        The matrices at the last draw.
    """
    _check(offsets, row_mass, column_mass, seeds)
    if thin < 1 or kept < 0:
        raise ValueError(f"a walk keeps no fewer than 0 draws and makes at least 1 sweep for each: {kept}, {thin}")
    n_groups, lanes = column_mass.shape[1], seeds.shape[1]
    if state.shape != (len(row_mass), n_groups, lanes) or value.shape[:1] != row_mass.shape:
        raise ValueError(f"state {state.shape} or value {value.shape} do not fit {len(row_mass)} cells")
    state = np.array(state, dtype=np.float64, order="C")
    sums = np.zeros((kept, n_groups, value.shape[1], lanes))
    _walk(*_plain(offsets, row_mass, column_mass), _floats(value), thin, _unsigned(seeds), state, sums)
    return sums.transpose(0, 3, 1, 2), state


def start(
    offsets: IntArray,
    row_mass: FloatArray,
    column_mass: FloatArray,
    seeds: SeedArray,
    kind: Literal["vertex", "independence"] = "vertex",
) -> FloatArray:
    """Return matrices to begin a walk with, shape (A, G, lanes).

    Parameters
    ----------
    offsets, row_mass, column_mass, seeds
        As in `walk`; give `walk` other seeds.
    kind : {"vertex", "independence"}
        Another random vertex of the polytope in each lane (the north-west corner rule after shuffling rows and
        columns), far apart so that R̂ can tell; or the joint in which cells and groups are independent, in all lanes.
    """
    _check(offsets, row_mass, column_mass, seeds)
    if kind not in {"vertex", "independence"}:
        raise ValueError(f"unknown start {kind!r}: vertex or independence")
    state = np.zeros((len(row_mass), column_mass.shape[1], seeds.shape[1]))
    fill = _corners if kind == "vertex" else _products
    fill(*_plain(offsets, row_mass, column_mass), _unsigned(seeds), state)
    return state


def _check(offsets: IntArray, row_mass: FloatArray, column_mass: FloatArray, seeds: SeedArray) -> None:
    n_strata = len(offsets) - 1
    if offsets[0] != 0 or offsets[-1] != len(row_mass) or np.any(np.diff(offsets) < 0):
        raise ValueError("offsets do not cut the internal cells into strata")
    if column_mass.ndim != 2 or len(column_mass) != n_strata or seeds.ndim != 2 or len(seeds) != n_strata:
        raise ValueError(f"column_mass {column_mass.shape} or seeds {seeds.shape} do not fit {n_strata} strata")
    if not (np.all(row_mass >= 0) and np.all(column_mass >= 0)):
        raise ValueError("masses must be numbers of at least 0")
    rows = np.bincount(np.repeat(np.arange(n_strata), np.diff(offsets)), weights=row_mass, minlength=n_strata)
    columns = column_mass.sum(axis=1)
    apart = np.abs(rows - columns) > _TOTALS_AGREE * np.maximum(rows, columns)
    if apart.any():
        c = int(np.argmax(apart))
        raise ValueError(f"in stratum {c} the cells have mass {rows[c]}, the groups {columns[c]}")


def _plain(offsets: IntArray, row_mass: FloatArray, column_mass: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """One memory layout, so that the kernels are compiled once."""
    return np.ascontiguousarray(offsets, dtype=np.int64), _floats(row_mass), _floats(column_mass)


def _floats(array: FloatArray) -> FloatArray:
    return np.ascontiguousarray(array, dtype=np.float64)


def _unsigned(seeds: SeedArray) -> SeedArray:
    return np.ascontiguousarray(seeds, dtype=np.uint64)


@compiled
def _walk(
    offsets: IntArray,
    row_mass: FloatArray,
    column_mass: FloatArray,
    value: FloatArray,
    thin: int,
    seeds: SeedArray,
    state: FloatArray,
    sums: FloatArray,
) -> None:
    """Walk one stratum after the other, writing the draws into `sums`, shape (kept, G, F, lanes), and `state`."""
    lanes = seeds.shape[1]
    streams = np.empty((2, lanes), dtype=np.uint64)
    picks = np.empty((2, 1), dtype=np.uint64)
    buffer = np.empty(lanes)
    for c in range(len(offsets) - 1):
        rows = offsets[c] + np.flatnonzero(row_mass[offsets[c] : offsets[c + 1]] > 0.0)
        columns = np.flatnonzero(column_mass[c] > 0.0)
        _seed(seeds[c], _LANE, streams)
        _seed(seeds[c, :1], _PICK, picks)
        row_reach, column_reach = np.cumsum(row_mass[rows]), np.cumsum(column_mass[c][columns])
        swaps = max(0, len(rows) - 1) * max(0, len(columns) - 1)
        sweeps = 0
        for k in range(len(sums)):
            for _ in range(thin):
                sweeps += 1
                for swap in range(swaps):
                    # Large cells and groups move the most mass, but small ones must get their turn.
                    evenly = (swap + sweeps) % 2 == 0
                    i, j = _pair(row_reach, evenly, picks)
                    g, h = _pair(column_reach, evenly, picks)
                    _swap(state, rows[i], rows[j], columns[g], columns[h], streams[0], streams[1])
                if sweeps % _SCALE_EVERY == 0 or sweeps == thin * len(sums):
                    _scale_back(state, rows, columns, row_mass, column_mass[c], buffer)
            _add_up(state, rows, columns, value, sums[k])


@compiled
def _swap(state: FloatArray, i: int, j: int, g: int, h: int, first: SeedArray, second: SeedArray) -> None:
    """Move a uniform amount around the entries of cells i, j and groups g, h, another one in each lane.

    The amounts come from xoroshiro128+ (Blackman and Vigna 2021, https://doi.org/10.1145/3460772), written out here so
    that the loop over lanes becomes vector instructions.
    """
    ig, ih, jg, jh = state[i, g], state[i, h], state[j, g], state[j, h]
    for lane in range(len(first)):
        one, two = first[lane], second[lane]
        bits = one + two
        two ^= one
        first[lane] = ((one << _24) | (one >> _40)) ^ two ^ (two << _16)
        second[lane] = (two << _37) | (two >> _27)
        down, up = min(ig[lane], jh[lane]), min(ih[lane], jg[lane])
        moved = np.float64(bits >> _11) * _UNIT * (down + up) - down
        ig[lane] = max(0.0, ig[lane] + moved)
        jh[lane] = max(0.0, jh[lane] + moved)
        ih[lane] = max(0.0, ih[lane] - moved)
        jg[lane] = max(0.0, jg[lane] - moved)


@compiled
def _scale_back(
    state: FloatArray,
    rows: IntArray,
    columns: IntArray,
    row_mass: FloatArray,
    column_mass: FloatArray,
    buffer: FloatArray,
) -> None:
    """Scale rows, then columns, to the tables they have drifted from by rounding."""
    for i in rows:
        buffer[:] = 0.0
        for g in columns:
            buffer += state[i, g]
        _factors(row_mass[i], buffer)
        for g in columns:
            state[i, g] *= buffer
    for g in columns:
        buffer[:] = 0.0
        for i in rows:
            buffer += state[i, g]
        _factors(column_mass[g], buffer)
        for i in rows:
            state[i, g] *= buffer


@compiled
def _factors(mass: float, total: FloatArray) -> None:
    for lane in range(len(total)):
        total[lane] = mass / total[lane] if total[lane] > 0.0 else 1.0


@compiled
def _add_up(state: FloatArray, rows: IntArray, columns: IntArray, value: FloatArray, sums: FloatArray) -> None:
    for i in rows:
        for f in range(value.shape[1]):
            if value[i, f] != 0.0:
                for g in columns:
                    sums[g, f] += value[i, f] * state[i, g]


@compiled
def _corners(
    offsets: IntArray, row_mass: FloatArray, column_mass: FloatArray, seeds: SeedArray, state: FloatArray
) -> None:
    """North-west corner rule in each lane, rows and columns in random order."""
    stream = np.empty((2, 1), dtype=np.uint64)
    for c in range(len(offsets) - 1):
        if offsets[c] == offsets[c + 1] or column_mass.shape[1] == 0:
            continue
        rows, columns = np.arange(offsets[c], offsets[c + 1]), np.arange(column_mass.shape[1])
        large_row, large_column = offsets[c] + np.argmax(row_mass[rows]), np.argmax(column_mass[c])
        for lane in range(seeds.shape[1]):
            _seed(seeds[c, lane : lane + 1], _CORNER, stream)
            _shuffle(rows, stream)
            _shuffle(columns, stream)
            at, to = 0, 0
            row_left, column_left = row_mass[rows[0]], column_mass[c, columns[0]]
            while True:
                moved = min(row_left, column_left)
                state[rows[at], columns[to], lane] += moved
                row_left -= moved
                column_left -= moved
                if row_left <= 0.0:
                    at += 1
                    if at == len(rows):
                        break
                    row_left = row_mass[rows[at]]
                else:
                    to += 1
                    if to == len(columns):
                        break
                    column_left = column_mass[c, columns[to]]
            # Rounding may use up one side first; what is left of the other goes where it matters least.
            for i in range(at, len(rows)):
                state[rows[i], large_column, lane] += row_left if i == at else row_mass[rows[i]]
            for g in range(to, len(columns)):
                state[large_row, columns[g], lane] += column_left if g == to else column_mass[c, columns[g]]


@compiled
def _products(
    offsets: IntArray,
    row_mass: FloatArray,
    column_mass: FloatArray,
    seeds: SeedArray,  # noqa: ARG001 -- called in place of _corners
    state: FloatArray,
) -> None:
    for c in range(len(offsets) - 1):
        total = np.sum(column_mass[c])
        for i in range(offsets[c], offsets[c + 1]):
            for g in range(column_mass.shape[1]):
                state[i, g, :] = row_mass[i] * (column_mass[c, g] / total) if total > 0.0 else 0.0


@compiled
def _seed(seeds: SeedArray, purpose: np.uint64, streams: SeedArray) -> None:
    """Spread seeds over the two words of each stream with splitmix64, as the authors of xoroshiro advise."""
    for lane in range(len(seeds)):
        streams[0, lane] = _mixed(seeds[lane] ^ purpose)
        streams[1, lane] = _mixed((seeds[lane] ^ purpose) + _GOLDEN) | _1  # never all zeros


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    word = word + _GOLDEN
    word = (word ^ (word >> _30)) * _MIX
    word = (word ^ (word >> _27)) * _REMIX
    return word ^ (word >> _31)


@compiled
def _uniform(stream: SeedArray) -> float:
    """Draw from [0, 1) for the picks, which all lanes share."""
    one, two = stream[0, 0], stream[1, 0]
    bits = one + two
    two ^= one
    stream[1, 0] = (two << _37) | (two >> _27)
    stream[0, 0] = ((one << _24) | (one >> _40)) ^ two ^ (two << _16)
    return np.float64(bits >> _11) * _UNIT


@compiled
def _pair(reach: FloatArray, evenly: bool, stream: SeedArray) -> tuple[int, int]:
    """Pick one evenly or by weight, then another by weight; `reach` holds cumulative weights."""
    last = len(reach) - 1
    if evenly:
        first = int(_uniform(stream) * len(reach))
    else:
        first = min(last, int(np.searchsorted(reach, _uniform(stream) * reach[last], side="right")))
    before = reach[first - 1] if first > 0 else 0.0
    weight = reach[first] - before
    target = _uniform(stream) * (reach[last] - weight)
    if target >= before:
        target += weight
    second = min(last, int(np.searchsorted(reach, target, side="right")))
    return first, second if second != first else (first + 1) % (last + 1)


@compiled
def _shuffle(items: IntArray, stream: SeedArray) -> None:
    for k in range(len(items) - 1, 0, -1):
        other = int(_uniform(stream) * (k + 1))
        items[k], items[other] = items[other], items[k]
