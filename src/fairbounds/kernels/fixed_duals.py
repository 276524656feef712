"""Ends of rates with θ held fixed: averages that are linear in the rows, whose variance any design of a sample gives.

The cross-fitted ends choose θ anew for each table. Held fixed, an end is a ratio of two averages of what every row
adds, so replicate weights and clusters have the variance that the textbooks of surveys give them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.dual_bounds import ordering, solve
from fairbounds.kernels.dual_fitting import choose_sets, empty_ends
from fairbounds.kernels.halves import Outcomes, empty_halves, weigh

__all__ = ["FixedDuals", "ends_of_tables", "fixed_duals", "row_deviations"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Population: TypeAlias = Literal["external", "internal"]


class FixedDuals(NamedTuple):
    """What a row adds to the top and the bottom of each of E ends, θ given.

    Attributes
    ----------
    offsets : array of int, shape (C + 1,)
    gain : array, shape (2, A, E)
        Of an internal row of each atom, to top and bottom.
    price : array, shape (2, C, G, E)
        Of an external row of each group.
    rate : array, shape (E,)
        The ends themselves.
    """

    offsets: IntArray
    gain: FloatArray
    price: FloatArray
    rate: FloatArray


def fixed_duals(
    offsets: IntArray,
    counted: FloatArray,
    among: FloatArray,
    internal: FloatArray,
    external: FloatArray,
    sets: FloatArray | None = None,
    *,
    population: Population = "external",
) -> FixedDuals:
    """Choose θ from both tables together.

    Parameters
    ----------
    offsets, counted, among, sets, population
        As for `dual_ends`.
    internal : array, shape (A,)
    external : array, shape (C, G)

    Examples
    --------
    >>> duals = fixed_duals(np.array([0, 2]), np.array([0.0, 1.0]), np.ones(2), np.array([50.0, 50.0]),
    ...     np.array([[80.0, 20.0]]))
    >>> duals.rate.round(9).tolist()
    [0.375, 0.0, 0.625, 1.0]
    """
    n_strata, n_groups = external.shape
    by_external = population == "external"
    sets = np.empty((0, n_groups)) if sets is None else np.ascontiguousarray(sets, dtype=np.float64)
    outcomes = Outcomes(
        np.ascontiguousarray(offsets, dtype=np.int64),
        np.ascontiguousarray(counted, dtype=np.float64),
        np.ascontiguousarray(among, dtype=np.float64),
    )
    halves = empty_halves(len(counted), n_strata, n_groups)
    halves.inside[:], halves.outside[:] = internal / 2, external / 2
    stratum = np.repeat(np.arange(n_strata), np.diff(outcomes.offsets))
    rows = np.bincount(stratum, weights=internal, minlength=n_strata), external.sum(axis=1)
    for held, total in zip((halves.inside_rows, halves.outside_rows), rows, strict=True):
        held[:2], held[2] = total / 2, total
    if by_external:
        weigh(halves.outside_rows, halves.inside_rows, False, halves.outside_weight, halves.inside_weight)
    else:
        weigh(halves.inside_rows, halves.outside_rows, False, halves.inside_weight, halves.outside_weight)
    ends = empty_ends(n_strata, n_groups, 2 * n_groups + (2 if len(sets) else 0))
    mass_rows = (halves.outside_rows if by_external else halves.inside_rows)[2]
    for half in range(2 if len(sets) else 0):
        choose_sets(half, outcomes, halves, mass_rows, sets, False, ends)
    order, pooled, one_order, rounds = ordering(outcomes, external[None], len(ends.sign), by_external)
    solve(outcomes, halves, order, pooled, by_external, True, one_order, rounds, ends)
    a, b = ends.dual[0, :, 0], ends.dual[0, :, 1]
    above, below = counted[:, None] - a[stratum], among[:, None] - b[stratum]
    taken = ends.sign * (above - ends.lam * below) > 0
    member = ends.member[0].T
    return FixedDuals(
        outcomes.offsets,
        np.stack([above * taken, below * taken]),
        np.stack([a[:, None] * member, b[:, None] * member]),
        ends.lam.copy(),
    )


def ends_of_tables(
    duals: FixedDuals, internal: FloatArray, external: FloatArray, population: Population = "external"
) -> FloatArray:
    """Return the ends of many tables, θ held fixed, shape (T, E).

    Parameters
    ----------
    duals : FixedDuals
    internal : array, shape (T, A)
        Weights may be of any kind; a single table, shape (1, A), goes with all others.
    external : array, shape (T, C, G)
    population : {"external", "internal"}
    """
    gain, rows = _per_stratum(duals, internal)
    people = external.sum(axis=2)
    price = np.einsum("tcg,kcge->ktce", external, duals.price)
    own, other, shown, conditional = (people, rows, price, gain) if population == "external" else (
        rows, people, gain, price
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(other > 0, own / other, 0.0)
        top, bottom = shown.sum(axis=2) + (scale[..., None] * conditional).sum(axis=2)
        return np.asarray(np.where(bottom > 0, top / bottom, duals.rate))


def row_deviations(
    duals: FixedDuals, internal: FloatArray, external: FloatArray, population: Population = "external"
) -> tuple[FloatArray, FloatArray]:
    """Return how far one more row moves each end, by atom, shape (A, E), and by group, shape (C, G, E).

    Rows weigh their share of the table: the deviations, weighed by the counts, add up to 0 over the table (over each
    stratum for the table that does not weigh the strata).

    Parameters
    ----------
    duals : FixedDuals
    internal : array, shape (A,)
    external : array, shape (C, G)
    population : {"external", "internal"}
    """
    stratum = np.repeat(np.arange(len(external)), np.diff(duals.offsets))
    gain, rows = (array[..., 0, :, :] if array.ndim == 4 else array[0] for array in _per_stratum(duals, internal[None]))
    people = external.sum(axis=1)
    price = np.einsum("cg,kcge->kce", external, duals.price)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_gain, mean_price = (
            np.where(n[:, None] > 0, total / np.where(n > 0, n, 1.0)[:, None], 0.0)
            for total, n in ((gain, rows), (price, people))
        )
    by_external = population == "external"
    own, other = (people, rows) if by_external else (rows, people)
    shown, conditional = (price, mean_gain) if by_external else (gain, mean_price)
    bottom = (shown[1] + own[:, None] * conditional[1]).sum(axis=0)
    reach = np.where(other > 0, own / np.where(other > 0, other, 1.0), 0.0)
    bottom = np.where(bottom > 0, bottom, np.inf)
    net_gain, net_price = (value[0] - duals.rate * value[1] for value in (duals.gain, duals.price))
    usual_gain, usual_price = (value[0] - duals.rate * value[1] for value in (mean_gain, mean_price))
    if by_external:
        inside = (net_gain - usual_gain[stratum]) * reach[stratum, None]
        outside = net_price + usual_gain[:, None]
    else:
        inside = net_gain + usual_price[stratum]
        outside = (net_price - usual_price[:, None]) * reach[:, None, None]
    return inside / bottom, outside / bottom


def _per_stratum(duals: FixedDuals, internal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what the rows of each stratum add, shape (2, T, C, E), and how many there are, shape (T, C)."""
    n_strata, n_ends = len(duals.offsets) - 1, duals.gain.shape[2]
    gain, rows = np.zeros((2, len(internal), n_strata, n_ends)), np.zeros((len(internal), n_strata))
    held = np.flatnonzero(np.diff(duals.offsets))
    if len(held):
        starts = duals.offsets[held]
        rows[:, held] = np.add.reduceat(internal, starts, axis=1)
        for k in range(2):
            for e in range(n_ends):
                gain[k, :, held, e] = np.add.reduceat(internal * duals.gain[k, :, e], starts, axis=1).T
    return gain, rows
