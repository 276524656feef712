r"""Ends of rates as averages over people, cross-fitted, so that they have honest standard errors (docs/method.md).

Inside a stratum the most that a share ρ of the people can hold of a value v is a minimum,
:math:`F(ρ) = \min_θ θρ + E(v − θ)_+`, so any θ gives an average that is no less; the least is
:math:`\max_θ θρ − E(θ − v)_+`, and any θ gives an average that is no more. With θ from one half of the rows and the
averages from the other, nothing is chosen by the rows that it is judged by. That is all that ties and empty cells need:
a θ that was ill chosen makes an end wider, never wrong.

The value is v = counted − λ·among, λ the end itself, and θ = a − λ·b with a, b the coefficients of an atom, so that
every end is the root λ of top − λ·bottom, a ratio of two averages: the test that a rate λ is possible, inverted.

Without rows a stratum keeps its worst case, which is a θ too: the end of the range of v where the outcome is unknown,
0 where the shares are.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled
from fairbounds.kernels.dual_fitting import Ends, choose_sets, empty_ends, fit_duals, order_within
from fairbounds.kernels.dual_variance import covariance_of_ends
from fairbounds.kernels.halves import Halves, Outcomes, empty_halves, split

__all__ = ["DualEnds", "averages_of_ends", "default_splits", "dual_ends", "ordering", "solve"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
SeedArray: TypeAlias = npt.NDArray[np.uint64]

# Where the order of the atoms depends on λ: λ moves by less than its standard error after a few steps.
_ROUNDS = 4
_NOTHING = 1e-12
# So many rows are taken to be of the kind not seen: then the limit after none in n rows is −log(error)/n or more, as it
# must be, at the usual levels (exactly so at 90 %).
_UNSEEN = 1.155


class DualEnds(NamedTuple):
    """Estimated ends of rates and their covariance, for each table and split.

    Attributes
    ----------
    value : array, shape (B, R, E)
        Least rate of each group, greatest rate of each group and, where sets were given, M* and m*. On average no
        further in than the true ends; 0 and 1 where the condition has no rows.
    covariance : array, shape (B, R, E, E)
    moments : array, shape (B, R, 3, E)
        Of the same averages in units of the denominator: covariance of an end with its denominator and variance of the
        denominator, which say how the variance depends on the rate that is tested, and third central moment.
    """

    value: FloatArray
    covariance: FloatArray
    moments: FloatArray


def default_splits(n_strata: int) -> int:
    """Return how many random splits to average.

    Splits matter where strata are tied, the more so the fewer strata there are; they cost as much as there are strata.

    Examples
    --------
    >>> [default_splits(n) for n in (2, 100, 5000)]
    [21, 10, 3]
    """
    return int(np.clip(1000 // max(1, n_strata), 3, 21))


def dual_ends(
    offsets: IntArray,
    counted: FloatArray,
    among: FloatArray,
    internal: FloatArray,
    external: FloatArray,
    seeds: SeedArray,
    sets: FloatArray | None = None,
    *,
    population: Literal["external", "internal"] = "external",
    external_is_census: bool = False,
    first_halves: FloatArray | None = None,
) -> DualEnds:
    """Estimate the ends of every group's rate by halves: θ from one half, the average from the other, and vice versa.

    Parameters
    ----------
    offsets : array of int, shape (C + 1,)
        Outcome atoms of stratum c are ``offsets[c]:offsets[c + 1]``; strata that either table lacks are included.
    counted, among : array, shape (A,)
        P(counted | atom) ≤ P(among | atom), in [0, 1].
    internal : array, shape (B, A)
        Rows of each atom in B tables: people, or people times effective size over sample size.
    external : array, shape (B, C, G)
        Rows of each group.
    seeds : array of uint64, shape (B, R)
        One for each split of each table.
    sets : array of 0 and 1, shape (K, G), optional
        Sets of groups to search for M* and m*, all groups among them; only where `among` is 1.
    population : {"external", "internal"}
        Whose strata are weighted.
    external_is_census : bool
        Whether the external counts have no sampling error.
    first_halves : array, shape (B, R, A), optional
        Internal rows of one half in each split, where rows that belong together must not be drawn apart.

    Examples
    --------
    >>> ends = dual_ends(np.array([0, 2]), np.array([0.0, 1.0]), np.ones(2), np.array([[500.0, 500.0]]),
    ...     np.array([[[800.0, 200.0]]]), np.zeros((1, 1), dtype=np.uint64))
    >>> bool(np.abs(ends.value - [0.375, 0.0, 0.625, 1.0]).max() < 0.05)
    True
    """
    n_strata, n_groups = external.shape[1:]
    sets = np.empty((0, n_groups)) if sets is None else np.ascontiguousarray(sets, dtype=np.float64)
    if len(sets) and not np.all(among == 1.0):
        raise ValueError("sets of groups are compared by rates of whole groups only")
    n_ends = 2 * n_groups + (2 if len(sets) else 0)
    found = DualEnds(
        np.empty((*seeds.shape, n_ends)),
        np.zeros((*seeds.shape, n_ends, n_ends)),
        np.zeros((*seeds.shape, 3, n_ends)),
    )
    outcomes = Outcomes(np.ascontiguousarray(offsets, dtype=np.int64), _floats(counted), _floats(among))
    order, pooled_order, one_order, rounds = ordering(outcomes, external, n_ends, population == "external")
    _every_table(
        outcomes,
        _floats(internal),
        _floats(external),
        np.ascontiguousarray(seeds, dtype=np.uint64),
        sets,
        population == "external",
        external_is_census,
        one_order,
        rounds,
        order,
        pooled_order,
        np.empty((*seeds.shape, 0)) if first_halves is None else _floats(first_halves),
        empty_halves(len(counted), n_strata, n_groups),
        empty_ends(n_strata, n_groups, n_ends),
        found,
    )
    return found


def ordering(
    outcomes: Outcomes, external: FloatArray, n_ends: int, by_external: bool
) -> tuple[IntArray, IntArray, bool, int]:
    """Return atoms from the top in strata and over all, whether one order fits all ends, and how often to solve."""
    counted, among = outcomes.counted, outcomes.among
    hard = bool(np.all((counted == 0) | (counted == 1)) and np.all((among == 0) | (among == 1)))
    whole = bool(np.all(among == 1.0))
    loose = not by_external and bool(np.any(external.sum(axis=2) == 0))
    order = np.empty((1 if hard or whole else n_ends, len(counted)), dtype=np.int64)
    # Hard events stand in the order counted, among, neither for every λ between 0 and 1: any will do.
    key = counted - 0.5 * among
    order[0] = np.lexsort((-key, np.repeat(np.arange(len(outcomes.offsets) - 1), np.diff(outcomes.offsets))))
    # Who is taken depends on λ, unless everyone is among and has either 0 or 1, or θ rises with λ as v does.
    rounds = 1 if whole and (hard or not loose) else _ROUNDS
    return order, np.argsort(-key, kind="stable"), hard or whole, rounds


def _floats(array: FloatArray) -> FloatArray:
    """One memory layout, so that the kernels are compiled once."""
    return np.ascontiguousarray(array, dtype=np.float64)


@compiled
def _every_table(
    outcomes: Outcomes,
    internal: FloatArray,
    external: FloatArray,
    seeds: SeedArray,
    sets: FloatArray,
    by_external: bool,
    census: bool,
    one_order: bool,
    rounds: int,
    order: IntArray,
    pooled_order: IntArray,
    drawn: FloatArray,
    halves: Halves,
    ends: Ends,
    found: DualEnds,
) -> None:
    stream = np.empty(1, dtype=np.uint64)
    for t in range(len(internal)):
        for r in range(seeds.shape[1]):
            stream[0] = seeds[t, r]
            split(outcomes.offsets, internal[t], external[t], by_external, census, stream, drawn[t, r], halves)
            if len(sets) > 0:
                mass_rows = halves.outside_rows[2] if by_external else halves.inside_rows[2]
                for half in range(2):
                    choose_sets(half, outcomes, halves, mass_rows, sets, census, ends)
            bottom, usual = solve(outcomes, halves, order, pooled_order, by_external, census, one_order, rounds, ends)
            found.value[t, r] = ends.lam
            covariance, moments = found.covariance[t, r], found.moments[t, r]
            covariance_of_ends(outcomes, halves, ends, usual, by_external, census, covariance, moments)
            _add_unseen(halves, ends.sign, census, covariance, moments)
            for e in range(len(bottom)):
                scale = 1.0 / bottom[e] if bottom[e] > _NOTHING else 0.0
                covariance[e, :] *= scale
                covariance[:, e] *= scale
                moments[:2, e] *= scale**2
                moments[2, e] *= scale**3


@compiled
def _add_unseen(halves: Halves, sign: FloatArray, census: bool, covariance: FloatArray, moments: FloatArray) -> None:
    """Add, to either sample, a row of an outcome or group that has not been seen, on the side where it would tell."""
    for k in range(1 if census else 2):
        rows, weight = (
            (halves.inside_rows, halves.inside_weight) if k == 0 else (halves.outside_rows, halves.outside_weight)
        )
        mass, square = 0.0, 0.0
        for half in range(2):
            mass += np.sum(rows[half] * weight[half])
            square += np.sum(rows[half] * weight[half] ** 2)
        row = _UNSEEN * square / mass if mass > 0.0 else 0.0
        for e in range(len(sign)):
            covariance[e, e] += row**2
            moments[2, e] += sign[e] * row**3


@compiled
def solve(
    outcomes: Outcomes,
    halves: Halves,
    order: IntArray,
    pooled_order: IntArray,
    by_external: bool,
    census: bool,
    one_order: bool,
    rounds: int,
    ends: Ends,
) -> tuple[FloatArray, FloatArray]:
    """Choose θ and write the roots λ of top − λ·bottom; return bottom, and what an internal row adds on average."""
    n_ends = len(ends.sign)
    top, bottom, usual = np.empty(n_ends), np.empty(n_ends), np.empty(2 * n_ends)
    ends.lam[:] = 0.5
    for step in range(rounds):
        if not one_order:
            for e in range(n_ends):
                order_within(outcomes.offsets, outcomes.counted - ends.lam[e] * outcomes.among, order[e])
        if step == 0 or not one_order:
            for half in range(2):
                fit_duals(half, outcomes, order, pooled_order, halves, by_external, census, ends)
        averages_of_ends(outcomes, halves, ends, top, bottom, usual)
        for e in range(n_ends):
            if bottom[e] > _NOTHING:
                ends.lam[e] = top[e] / bottom[e]
            else:
                ends.lam[e] = 1.0 if ends.sign[e] > 0 else 0.0
    return bottom, usual


@compiled
def averages_of_ends(
    outcomes: Outcomes, halves: Halves, ends: Ends, top: FloatArray, bottom: FloatArray, usual: FloatArray
) -> None:
    """Write the two averages of each end, and what an internal row adds on average to top − λ·bottom and to bottom."""
    n_ends, n_groups = ends.member.shape[1:]
    top[:], bottom[:], usual[:] = 0.0, 0.0, 0.0
    rows = max(1.0, np.sum(halves.inside_rows[2]))
    for c in range(len(outcomes.offsets) - 1):
        for k in range(2):
            a, b, outside = ends.dual[k, c, 0], ends.dual[k, c, 1], halves.outside[k, c]
            weight = halves.outside_weight[k, c]
            for e in range(n_ends):
                held = 0.0
                if e < 2 * n_groups:
                    held = weight * outside[e % n_groups]
                else:
                    for g in range(n_groups):
                        held += weight * ends.member[k, e, g] * outside[g]
                top[e] += held * a[e]
                bottom[e] += held * b[e]
            for j in range(outcomes.offsets[c], outcomes.offsets[c + 1]):
                count = halves.inside[k, j]
                if count <= 0.0:
                    continue
                weight_here = halves.inside_weight[k, c] * count
                for e in range(n_ends):
                    above, below = outcomes.counted[j] - a[e], outcomes.among[j] - b[e]
                    gain = ends.sign[e] * (above - ends.lam[e] * below)
                    taken = weight_here if gain > 0.0 else 0.0
                    top[e] += taken * above
                    bottom[e] += taken * below
                    usual[e] += count / rows * ends.sign[e] * max(0.0, gain)
                    usual[n_ends + e] += count / rows * below if gain > 0.0 else 0.0
