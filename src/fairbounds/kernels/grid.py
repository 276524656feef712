"""A grid over the feasible set of two outcomes and two groups: Ramineni et al. 2025, appendix A (docs/method.md, 9).

In each stratum the joints that fit both tables are 2 × 2 matrices (internal cells × groups) with one free entry, the
mass of the first cell in the first group. The grid gives each free entry equally spaced values; its joints are all
combinations, one value per stratum. A group's favourable mass is a sum of one part per stratum, each linear in the
free entry, so statistics need neither the joints nor, but for the moments of the ratio, the combinations.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["GridStatistics", "Limits", "grid_array", "grid_joints", "grid_statistics", "grid_values"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Limits = Literal["tight", "paper"]

# Part of a stratum's mass by which its two tables may differ; an entry negative by no more cannot be told from zero,
_ROUNDING = 1e-12
# nor one negative by no more than this part of the grid's step, whichever is less: in a tiny cell steps are tiny.
_TIE = 1e-6
# Less than this part of the whole mass is taken for none (docs/method.md, 8).
_NOTHING = 1e-13


class GridStatistics(NamedTuple):
    """How many joints of each scenario's grid are feasible, and how two groups' rates compare over those.

    `sd` is the standard deviation of the feasible joints as a population, `low` and `high` are their extremes. The
    ratio counts as infinite where only the second rate is 0; a single such joint makes the mean and the sd infinite.
    Without any favourable mass the ratio is 0/0 in every joint: its statistics are NaN. Where a group has no mass, so
    are those of the difference.

    Attributes
    ----------
    feasible : array of int, shape (N,)
        Joints without a negative entry, out of points². Values that coincide, in an interval of no width, count
        one by one.
    ratio_mean, ratio_sd, ratio_low, ratio_high : array, shape (N,)
        Of (rate of the first group) / (rate of the second).
    difference_mean, difference_sd, difference_low, difference_high : array, shape (N,)
        Of (rate of the first group) − (rate of the second).
    """

    feasible: IntArray
    ratio_mean: FloatArray
    ratio_sd: FloatArray
    ratio_low: FloatArray
    ratio_high: FloatArray
    difference_mean: FloatArray
    difference_sd: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray


def grid_values(
    row_mass: FloatArray, column_mass: FloatArray, points: int, limits: Limits = "tight"
) -> tuple[FloatArray, BoolArray]:
    """Return the grid's values of the free entries of one problem, and which are feasible.

    Parameters
    ----------
    row_mass : array, shape (C, 2)
        Mass of the two internal cells in each stratum.
    column_mass : array, shape (C, 2)
        Mass of the two groups; its rows have the same sums.
    points : int
        Values per stratum, at least 2: equally spaced, both ends included.
    limits : {"tight", "paper"}
        The values that some joint has, or all from 0 to the lesser of the cell's and the group's mass, as in the paper.

    Returns
    -------
    values : array, shape (C, points)
    feasible : array of bool, shape (C, points)

    Examples
    --------
    >>> cells, groups = np.array([[0.75, 0.25]]), np.array([[0.5, 0.5]])
    >>> grid_values(cells, groups, 3)[0].tolist()
    [[0.25, 0.375, 0.5]]
    >>> values, feasible = grid_values(cells, groups, 3, "paper")
    >>> values.tolist(), feasible.tolist()
    ([[0.0, 0.25, 0.5]], [[False, True, True]])
    """
    row_mass, column_mass = _floats(row_mass), _floats(column_mass)
    _check_tables(row_mass, column_mass, ("C", 2))
    lattice = _lattice(row_mass, column_mass, points, limits)
    values = np.linspace(lattice.start, lattice.high, points, axis=1)
    feasible = np.arange(points) >= points - lattice.kept[:, None]
    return np.where(feasible, np.maximum(values, lattice.low[:, None]), values), feasible


def grid_joints(
    row_mass: FloatArray, column_mass: FloatArray, values: FloatArray, feasible: BoolArray
) -> Iterator[FloatArray]:
    """Yield every feasible joint of the grid, the last stratum's value changing fastest.

    Parameters
    ----------
    row_mass, column_mass
        As in `grid_values`.
    values, feasible
        As `grid_values` returned them.

    Yields
    ------
    array, shape (C, 2, 2)
        Strata × internal cells × groups.

    Examples
    --------
    >>> cells, groups = np.array([[0.75, 0.25]]), np.array([[0.5, 0.5]])
    >>> for joint in grid_joints(cells, groups, *grid_values(cells, groups, 2)):
    ...     print(joint.tolist())
    [[[0.25, 0.5], [0.25, 0.0]]]
    [[[0.5, 0.25], [0.0, 0.25]]]
    """
    matrices = _by_stratum(row_mass, column_mass, values, feasible)
    return (np.stack(joint) for joint in itertools.product(*matrices))


def grid_array(row_mass: FloatArray, column_mass: FloatArray, values: FloatArray, feasible: BoolArray) -> FloatArray:
    """Return the joints that `grid_joints` yields, in its order, shape (joints, C, 2, 2)."""
    matrices = _by_stratum(row_mass, column_mass, values, feasible)
    chosen = np.indices([len(each) for each in matrices]).reshape(len(matrices), -1)
    out = np.empty((chosen.shape[1], len(matrices), 2, 2))
    for c, (each, places) in enumerate(zip(matrices, chosen, strict=True)):
        out[:, c] = each[places]
    return out


def _by_stratum(
    row_mass: FloatArray, column_mass: FloatArray, values: FloatArray, feasible: BoolArray
) -> list[FloatArray]:
    """Return the feasible matrices of each stratum, shape (feasible values, 2, 2)."""
    row_mass, column_mass, values = _floats(row_mass), _floats(column_mass), _floats(values)
    _check_tables(row_mass, column_mass, ("C", 2))
    if values.ndim != 2 or len(values) != len(row_mass) or values.shape != np.shape(feasible):
        raise ValueError(f"values {values.shape}, feasible {np.shape(feasible)} do not fit {len(row_mass)} strata")
    strata = zip(row_mass, column_mass, values, np.asarray(feasible, dtype=np.bool_), strict=True)
    return [_matrices(row, column, value[chosen]) for row, column, value, chosen in strata]


def grid_statistics(
    row_mass: FloatArray, column_mass: FloatArray, value: FloatArray, points: int = 100, limits: Limits = "tight"
) -> GridStatistics:
    """Return statistics over the feasible joints of each of many scenarios of two strata.

    Parameters
    ----------
    row_mass, column_mass : array, shape (N, 2, 2)
        Scenario, stratum, internal cell or group; otherwise as in `grid_values`.
    value : array, shape (N, 2, 2)
        Probability of the favourable decision in each internal cell.
    points, limits
        As in `grid_values`.

    Examples
    --------
    One scenario: in its only stratum three quarters are favoured, and half belong to the first group.

    >>> cells, groups = np.array([[[0.75, 0.25], [0.0, 0.0]]]), np.array([[[0.5, 0.5], [0.0, 0.0]]])
    >>> favourable = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    >>> found = grid_statistics(cells, groups, favourable, points=3)
    >>> found.difference_low.item(), found.difference_high.item(), found.ratio_low.item(), found.ratio_high.item()
    (-0.5, 0.5, 0.5, 2.0)
    """
    row_mass, column_mass, value = _floats(row_mass), _floats(column_mass), _floats(value)
    _check_tables(row_mass, column_mass, ("N", 2, 2))
    if value.shape != row_mass.shape or not np.all((value >= 0) & (value <= 1)):
        raise ValueError(f"value, of shape {value.shape}, must be probabilities of shape {row_mass.shape}")
    lattice = _lattice(row_mass, column_mass, points, limits)
    reach = _reach(row_mass, column_mass, value, lattice)
    return GridStatistics(lattice.kept.prod(axis=1), *_ratio(reach, lattice.kept), *_difference(reach, lattice.kept))


class _Lattice(NamedTuple):
    """The grid of each stratum: where it starts, its first feasible value, its last, and how many are feasible."""

    start: FloatArray
    low: FloatArray
    high: FloatArray
    kept: IntArray


class _Reach(NamedTuple):
    """Favourable masses over the feasible joints of N scenarios; arrays of shape (N,) unless noted.

    Attributes
    ----------
    group : array, shape (2, N)
        Mass of either group, NaN where it has none.
    least, middle, most : array, shape (2, N)
        Favourable mass of either group in the joint with the least, the middle and the most for the first group.
    first, last : array, shape (N, 2)
        Part of each stratum in the second group's favourable mass, at the first and the last feasible value.
    step : array, shape (N, 2)
        What the first group gains from one value to the next, and the second group loses.
    """

    group: FloatArray
    least: FloatArray
    middle: FloatArray
    most: FloatArray
    first: FloatArray
    last: FloatArray
    step: FloatArray


def _floats(array: FloatArray) -> FloatArray:
    return np.asarray(array, dtype=np.float64)


def _check_tables(row_mass: FloatArray, column_mass: FloatArray, shape: tuple[str | int, ...]) -> None:
    if row_mass.shape != column_mass.shape or row_mass.ndim != len(shape) or row_mass.shape[1:] != shape[1:]:
        wanted = f"({', '.join(map(str, shape))})"
        raise ValueError(f"row_mass {row_mass.shape} and column_mass {column_mass.shape} must have one shape {wanted}")
    if not all(np.all((mass >= 0) & np.isfinite(mass)) for mass in (row_mass, column_mass)):
        raise ValueError("masses must be finite numbers of at least 0")
    rows, columns = row_mass.sum(axis=-1), column_mass.sum(axis=-1)
    apart = np.abs(rows - columns) > _ROUNDING * np.maximum(rows, columns)
    if apart.any():
        at = tuple(int(i) for i in np.argwhere(apart)[0])
        where = f"scenario {at[0]}, stratum {at[1]}" if len(at) == 2 else f"stratum {at[0]}"
        raise ValueError(f"in {where} the cells have mass {rows[at]}, the groups {columns[at]}")


def _lattice(row_mass: FloatArray, column_mass: FloatArray, points: int, limits: Limits) -> _Lattice:
    if limits not in get_args(Limits):
        raise ValueError(f"unknown limits {limits!r}: tight or paper")
    if points < 2:
        raise ValueError(f"a grid has at least 2 points per stratum, not {points}")
    high = np.minimum(row_mass[..., 0], column_mass[..., 0])
    low = np.clip(row_mass[..., 0] - column_mass[..., 1], 0.0, high)
    if limits == "tight":
        return _Lattice(low, low, high, np.full(high.shape, points, dtype=np.int64))
    step = high / (points - 1)
    reached = np.maximum(0.0, low - np.minimum(_ROUNDING * row_mass.sum(axis=-1), _TIE * step))
    skipped = np.ceil(np.divide(reached, step, out=np.zeros_like(high), where=step > 0))
    skipped = np.minimum(skipped, points - 1)
    # A value below the lower end by rounding only is moved onto it: no joint then has a negative entry.
    first = np.clip(skipped * step, low, high)
    return _Lattice(np.zeros_like(high), first, high, points - skipped.astype(np.int64))


def _matrices(row: FloatArray, column: FloatArray, free: FloatArray) -> FloatArray:
    """Matrices of one stratum by the value of the free entry, shape (len(free), 2, 2)."""
    second = row[0] - free
    last = np.maximum(0.0, column[1] - second)
    return np.stack([free, second, column[0] - free, last], axis=-1).reshape(-1, 2, 2)


def _reach(row_mass: FloatArray, column_mass: FloatArray, value: FloatArray, lattice: _Lattice) -> _Reach:
    free = np.stack([lattice.low, (lattice.low + lattice.high) / 2, lattice.high])
    second = row_mass[..., 0] - free
    by_group = np.stack(
        [
            value[..., 0] * free + value[..., 1] * (column_mass[..., 0] - free),
            value[..., 0] * second + value[..., 1] * np.maximum(0.0, column_mass[..., 1] - second),
        ]
    )
    ends = by_group[:, ::2]
    lows, highs = ends.min(axis=1).sum(axis=-1), ends.max(axis=1).sum(axis=-1)
    nothing = _NOTHING * row_mass.sum(axis=(1, 2))
    group = column_mass.sum(axis=1).T
    group = np.where(group <= nothing, np.nan, group)
    joints = np.stack([lows[0], highs[1]]), by_group[:, 1].sum(axis=-1), np.stack([highs[0], lows[1]])
    least, middle, most = (np.where(favourable <= nothing, 0.0, favourable) for favourable in joints)
    step = (value[..., 0] - value[..., 1]) * (lattice.high - lattice.low) / np.maximum(1, lattice.kept - 1)
    return _Reach(group, least, middle, most, by_group[1, 0], by_group[1, 2], step)


def _difference(reach: _Reach, count: IntArray) -> tuple[FloatArray, ...]:
    """Mean, sd, low and high: n equally spaced values have the variance step² (n² − 1)/12, strata add theirs."""
    mean, low, high = (np.subtract(*(mass / reach.group)) for mass in (reach.middle, reach.least, reach.most))
    spread = np.sqrt((reach.step**2 * (count**2 - 1) / 12).sum(axis=-1))
    sd = spread * (1 / reach.group).sum(axis=0)
    return mean, sd, low, high


def _ratio(reach: _Reach, count: IntArray) -> tuple[FloatArray, ...]:
    """Mean, sd, low and high.

    Low and high need two joints only: the ratio (p₁/p₀)·T₀/(T − T₀) rises with T₀. With the middle joint marked ~ and
    T₀ = T̃₀ + δ, it differs from the middle one by (p₁/p₀)·(T/T̃₁)·δ/T₁, so moments of δ/T₁ are all the grid is for.
    δ lies symmetrically around 0, so the middle ratio is a median, which no mean is further from than one sd:
    E[(δ/T₁)²] is at most twice the variance, and taking (E[δ/T₁])² away from it cancels one bit at most.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, low, high = (np.divide(*(mass / reach.group)) for mass in (reach.middle, reach.least, reach.most))
    mean, sd = high.copy(), high.copy()  # infinite or NaN, unless the second rate is positive throughout
    finite = np.isfinite(high)
    shift, square = _moments(reach.first[finite], reach.last[finite], reach.step[finite], count[finite])
    total, second = reach.middle.sum(axis=0)[finite], reach.middle[1, finite]
    scale = reach.group[1, finite] / reach.group[0, finite] * total / second
    mean[finite] = middle[finite] + scale * shift
    sd[finite] = scale * np.sqrt(np.maximum(0.0, square - shift**2))
    return mean, sd, low, high


@compiled
def _moments(first: FloatArray, last: FloatArray, step: FloatArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
    """Means of δ/T₁ and of its square over the grid of each scenario; arguments of shape (N, 2) as in `_Reach`.

    One pass over the combinations, none of which is stored: the inner loop becomes vector instructions.
    """
    n_scenarios = len(first)
    mean, square = np.empty(n_scenarios), np.empty(n_scenarios)
    most = 1
    for n in range(n_scenarios):
        most = max(most, count[n, 1])
    part, away = np.empty(most), np.empty(most)
    for n in range(n_scenarios):
        n_outer, n_inner = count[n, 0], count[n, 1]
        for k in range(n_inner):
            share = k / max(1, n_inner - 1)
            part[k] = (1.0 - share) * first[n, 1] + share * last[n, 1]
            away[k] = (k - 0.5 * (n_inner - 1)) * step[n, 1]
        total, squares = 0.0, 0.0
        for j in range(n_outer):
            share = j / max(1, n_outer - 1)
            mass = (1.0 - share) * first[n, 0] + share * last[n, 0]
            distance = (j - 0.5 * (n_outer - 1)) * step[n, 0]
            for k in range(n_inner):
                moved = (distance + away[k]) / (mass + part[k])
                total += moved
                squares += moved * moved
        mean[n] = total / (n_outer * n_inner)
        square[n] = squares / (n_outer * n_inner)
    return mean, square
