"""What is chosen by one half of the rows, to be judged by the other: the θ of every stratum, the sets behind M* and m*.

Nothing here can make an end invalid; a good choice makes it narrow.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.closed_form import phi
from fairbounds.kernels.compiling import compiled
from fairbounds.kernels.halves import Halves, Outcomes

__all__ = ["Ends", "choose_sets", "empty_ends", "fit_duals", "order_within"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# What is known of all strata counts as this many rows of each.
_BORROWED = 1.0
_WHOLE = 1.0 - 1e-9


class Ends(NamedTuple):
    """E ends of rates: for each group the least, for each group the greatest, then possibly M* and m*.

    Attributes
    ----------
    sign : array, shape (E,)
        1 for a greatest, −1 for a least value.
    member : array of 0 and 1, shape (2, E, G)
        Whom the end is about, when judged by either half.
    dual : array, shape (2, C, 2, E)
        a and b of θ = a − λ·b in each stratum, when judged by either half.
    lam : array, shape (E,)
    """

    sign: FloatArray
    member: FloatArray
    dual: FloatArray
    lam: FloatArray


def empty_ends(n_strata: int, n_groups: int, n_ends: int) -> Ends:
    """Return the ends of single groups, their θ still to be chosen."""
    sign, member = np.full(n_ends, -1.0), np.zeros((2, n_ends, n_groups))
    sign[n_groups : 2 * n_groups] = 1.0
    sign[2 * n_groups + 1 :] = 1.0
    member[:, :n_groups] = member[:, n_groups : 2 * n_groups] = np.eye(n_groups)
    return Ends(sign, member, np.zeros((2, n_strata, 2, n_ends)), np.full(n_ends, 0.5))


@compiled
def order_within(offsets: IntArray, key: FloatArray, order: IntArray) -> None:
    """Write the atoms of each stratum in the order of falling `key`."""
    for c in range(len(offsets) - 1):
        start, stop = offsets[c], offsets[c + 1]
        for j in range(start, stop):
            order[j] = j
        step = 1
        while step < (stop - start) // 9:
            step = 3 * step + 1
        while step > 0:  # Shell's sort: an insertion sort where there are few, and quick to compile
            for i in range(start + step, stop):
                j, at = order[i], i
                while at >= start + step and key[order[at - step]] < key[j]:
                    order[at] = order[at - step]
                    at -= step
                order[at] = j
            step //= 3


@compiled
def fit_duals(
    half: int,
    outcomes: Outcomes,
    order: IntArray,
    pooled_order: IntArray,
    halves: Halves,
    by_external: bool,
    census: bool,
    ends: Ends,
) -> None:
    """Write a and b of θ = a − λ·b for each stratum and end, from one half, to be judged by the other.

    The best θ is the value of the atom that the last of the group's people hold when the group is filled from the top
    (from the bottom for a least rate). It is averaged with that of all strata together, which matters where a stratum
    has few rows.

    Parameters
    ----------
    half : int
        The half to choose by.
    order : array of int, shape (1, A) or (E, A)
        Atoms from the top within strata; one order where it is the same for all ends.
    pooled_order : array of int, shape (A,)
        Atoms from the top, all strata together.
    """
    offsets, member = outcomes.offsets, ends.member[1 - half]
    pooled_a, pooled_b, pooled_reach = _pool(outcomes, halves.inside[half], pooled_order)
    usual = member @ _overall(halves.outside[half])
    reach, shares = np.empty(len(order[0])), np.empty(len(usual))
    no_rows = halves.inside_rows[2] if by_external else halves.outside_rows[2]
    for c in range(len(offsets) - 1):
        a, b = ends.dual[1 - half, c, 0], ends.dual[1 - half, c, 1]
        if no_rows[c] <= 0.0:
            _leave_open(by_external, ends.sign, a, b)
            continue
        rows, start, stop = halves.inside_rows[half, c], offsets[c], offsets[c + 1]
        trust = rows / (rows + _BORROWED)
        _guess_shares(halves.outside[half, c], halves.outside_rows[half, c], member, usual, census, shares)
        for e in range(len(usual)):
            level = shares[e] if ends.sign[e] > 0.0 else 1.0 - shares[e]
            if shares[e] > _WHOLE:  # the whole stratum: nothing is left to choose
                a[e], b[e] = 0.0 if ends.sign[e] > 0.0 else 1.0, 1.0
                continue
            at = _first(pooled_reach, level)
            a[e], b[e] = pooled_a[at], pooled_b[at]
            if rows > 0.0:
                own = order[min(e, len(order) - 1), start:stop]
                if e < len(order):
                    _cumulate(own, halves.inside[half], rows, reach)
                j = own[_first(reach[: stop - start], level)]
                a[e] += trust * (outcomes.counted[j] - a[e])
                b[e] += trust * (outcomes.among[j] - b[e])


@compiled
def _leave_open(by_external: bool, sign: FloatArray, a: FloatArray, b: FloatArray) -> None:
    """Write the worst case: any outcome where that is unknown, any shares where those are."""
    for e in range(len(sign)):
        a[e] = 1.0 if by_external and sign[e] > 0.0 else 0.0
        b[e] = 1.0 if by_external else 0.0


@compiled
def _overall(outside: FloatArray) -> FloatArray:
    """Return the share of each group over all strata."""
    held = np.zeros(outside.shape[1])
    for c in range(len(outside)):
        held += outside[c]
    return held / max(np.sum(held), 1e-300)


@compiled
def _guess_shares(
    outside: FloatArray, rows: float, member: FloatArray, usual: FloatArray, census: bool, shares: FloatArray
) -> None:
    """Write the share of each end's groups in a stratum, drawn towards that in all strata."""
    borrowed = 0.0 if census and rows > 0.0 else _BORROWED
    n_groups = len(outside)
    for e in range(len(usual)):
        held = 0.0
        if e < 2 * n_groups:
            held = outside[e % n_groups]
        else:
            for g in range(n_groups):
                held += member[e, g] * outside[g]
        shares[e] = min(1.0, (held + borrowed * usual[e]) / (rows + borrowed))


@compiled
def _pool(outcomes: Outcomes, count: FloatArray, order: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the kinds of atoms over all strata from the top, and the share of rows down to each."""
    a, b, reach = np.zeros(len(order) + 1), np.zeros(len(order) + 1), np.ones(len(order) + 1)
    total, reached, kinds = np.sum(count), 0.0, 0
    for j in order:
        if count[j] <= 0.0:
            continue
        reached += count[j] / total
        if kinds == 0 or a[kinds - 1] != outcomes.counted[j] or b[kinds - 1] != outcomes.among[j]:
            a[kinds], b[kinds] = outcomes.counted[j], outcomes.among[j]
            kinds += 1
        reach[kinds - 1] = reached
    kinds = max(1, kinds)
    return a[:kinds], b[:kinds], reach[:kinds]


@compiled
def _cumulate(order: IntArray, count: FloatArray, rows: float, reach: FloatArray) -> None:
    """Write the share of rows down to each atom; the last atom with rows reaches any level."""
    reached, last = 0.0, 0
    for i in range(len(order)):
        here = count[order[i]]
        reached += here / rows
        reach[i] = reached
        last = i if here > 0.0 else last
    reach[last : len(order)] = np.inf


@compiled
def _first(reach: FloatArray, level: float) -> int:
    """Return the first position that reaches the level above 0, or the last."""
    low, high = 0, len(reach) - 1
    level = max(level, 1e-12)
    while low < high:
        middle = (low + high) // 2
        if reach[middle] < level:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def choose_sets(
    half: int, outcomes: Outcomes, halves: Halves, mass_rows: FloatArray, sets: FloatArray, census: bool, ends: Ends
) -> None:
    """Write the sets that make M* = max LO(S)/p(S) and m* = min HI(S)/p(S) in one half, as the last two ends.

    A small set looks extreme by chance, so sets are ranked after a standard error in their disfavour.
    """
    weight, shares, side = _distributions(half, outcomes.offsets, halves, census)
    mass = mass_rows / np.sum(mass_rows)
    low, high = phi(outcomes.offsets, outcomes.counted, weight, mass, shares, side, sets)
    group_mass = mass @ shares
    rows = min(np.sum(halves.inside_rows[half]), np.sum(halves.outside_rows[half]))
    best_low, best_high = -np.inf, np.inf
    for k in range(len(sets)):
        held = np.sum(sets[k] * group_mass)
        if held <= 0.0:
            continue
        doubt = 0.5 / np.sqrt(rows * held) if np.sum(sets[k]) < len(group_mass) else 0.0
        if low[k] / held - doubt > best_low:
            best_low = low[k] / held - doubt
            ends.member[1 - half, -2] = sets[k]
        if high[k] / held + doubt < best_high:
            best_high = high[k] / held + doubt
            ends.member[1 - half, -1] = sets[k]


@compiled
def _distributions(
    half: int, offsets: IntArray, halves: Halves, census: bool
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the atoms' weights and the groups' shares in one half, the latter drawn towards those of all strata."""
    n_strata, n_groups = halves.outside.shape[1:]
    weight, shares, side = (
        np.zeros(halves.inside.shape[1]),
        np.zeros((n_strata, n_groups)),
        np.zeros(n_strata, np.int64),
    )
    usual = _overall(halves.outside[half])
    for c in range(n_strata):
        rows, others = halves.inside_rows[half, c], halves.outside_rows[half, c]
        side[c] = 2 if rows <= 0.0 else 0
        for j in range(offsets[c], offsets[c + 1]):
            weight[j] = halves.inside[half, j] / max(rows, 1e-300)
        borrowed = 0.0 if census and others > 0.0 else _BORROWED
        for g in range(n_groups):
            shares[c, g] = (halves.outside[half, c, g] + borrowed * usual[g]) / (others + borrowed)
    return weight, shares, side
