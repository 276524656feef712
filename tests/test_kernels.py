"""The kernels alone: arrays in, arrays out, against plain Python and linear programs written from the definitions."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog

from fairbounds.kernels.closed_form import part_extremes, phi
from fairbounds.kernels.fractional import rate_extremes
from fairbounds.kernels.pair_search import PairProgram, greatest_pair
from fairbounds.kernels.polymatroid import all_subsets, extreme_of_extremes, level_by_vertices
from fairbounds.kernels.strata import BOTH, EXTERNAL_ONLY, INTERNAL_ONLY, StrataArrays, atoms_of

FloatArray = npt.NDArray[np.float64]
SIDES = (BOTH, BOTH, BOTH, INTERNAL_ONLY, EXTERNAL_ONLY)


def shares_of(rng: np.random.Generator, n: int, size: int, most: int = 6) -> FloatArray:
    """Simple fractions, many of them equal and some zero; rows sum to 1."""
    counts = rng.integers(0, most, (n, size)).astype(float)
    counts[np.arange(n), rng.integers(0, size, n)] += 1
    return counts / counts.sum(axis=1, keepdims=True)


def strata_of(seed: int, n_groups: int, n_strata: int, most_atoms: int, *, sides: Any = SIDES) -> StrataArrays:
    rng = np.random.default_rng(seed)
    side = rng.choice(sides, n_strata)
    side[0] = BOTH
    sizes = np.where(side == EXTERNAL_ONLY, 0, rng.integers(1, most_atoms + 1, n_strata))
    weight = np.concatenate([shares_of(rng, 1, size)[0] for size in sizes if size])
    shares = shares_of(rng, n_strata, n_groups)
    shares[0] = 1 / n_groups
    shares[side == INTERNAL_ONLY] = 0.0
    return StrataArrays(shares_of(rng, 1, n_strata)[0], shares, side, np.concatenate([[0], np.cumsum(sizes)]), weight)


def values(rng: np.random.Generator, n: int) -> FloatArray:
    """Scores with ties, or without."""
    return rng.integers(0, 5, n) / 4 if rng.random() < 0.5 else rng.random(n)


def atoms_in(strata: StrataArrays, c: int) -> range:
    return range(int(strata.offsets[c]), int(strata.offsets[c + 1]))


# -- phi ---------------------------------------------------------------------------------------------------------------


def filled(pairs: list[tuple[float, float]], room: float) -> float:
    """Take atoms (value, weight) in their order until the room is full."""
    taken = 0.0
    for value, weight in pairs:
        part = min(weight, room)
        taken, room = taken + value * part, room - part
    return taken


def plain_phi(strata: StrataArrays, value: FloatArray, subset: FloatArray) -> tuple[float, float]:
    low = high = 0.0
    for c, side in enumerate(strata.side):
        room = float(sum(strata.shares[c, g] for g in np.flatnonzero(subset)))
        pairs = sorted((float(value[j]), float(strata.weight[j])) for j in atoms_in(strata, c))
        if side == EXTERNAL_ONLY:
            high += strata.mass[c] * room
        elif side == BOTH:
            low += strata.mass[c] * filled(pairs, room)
            high += strata.mass[c] * filled(pairs[::-1], room)
    return low, high


@pytest.mark.parametrize("most_atoms", [1, 2, 20, 48, 49, 120])
@pytest.mark.parametrize("seed", range(6))
def test_phi_fills_sets_from_the_bottom_and_from_the_top(seed: int, most_atoms: int) -> None:
    strata = strata_of(seed, 2 + seed, 8, most_atoms)
    value, subsets = values(np.random.default_rng(seed), len(strata.weight)), all_subsets(2 + seed)
    low, high = phi(strata.offsets, value, strata.weight, strata.mass, strata.shares, strata.side, subsets)
    wanted = np.array([plain_phi(strata, value, subset) for subset in subsets])
    np.testing.assert_allclose(np.column_stack([low, high]), wanted, atol=1e-12)


@pytest.mark.parametrize("n_atoms", [47, 48, 49, 50])
def test_phi_is_one_function_on_both_sides_of_the_number_of_atoms_at_which_it_sorts(n_atoms: int) -> None:
    rng = np.random.default_rng(n_atoms)
    shares, weight = shares_of(rng, 1, 4), shares_of(rng, 1, n_atoms)[0]
    strata = StrataArrays(np.ones(1), shares, np.zeros(1, np.int64), np.array([0, n_atoms]), weight)
    value = rng.random(n_atoms)
    low, high = phi(strata.offsets, value, weight, strata.mass, shares, strata.side, all_subsets(4))
    wanted = np.array([plain_phi(strata, value, subset) for subset in all_subsets(4)])
    np.testing.assert_allclose(np.column_stack([low, high]), wanted, atol=1e-13)


def test_phi_of_all_groups_is_the_whole_integral() -> None:
    strata = strata_of(3, 3, 6, 30, sides=[BOTH])
    value = values(np.random.default_rng(3), len(strata.weight))
    low, high = phi(strata.offsets, value, strata.weight, strata.mass, strata.shares, strata.side, np.ones((1, 3)))
    assert low[0] == pytest.approx(high[0], abs=1e-14)
    assert low[0] == pytest.approx(float(value @ strata.atom_mass), abs=1e-14)


def test_all_subsets_are_all_and_the_last_is_the_whole() -> None:
    found = {tuple(row) for row in all_subsets(4).astype(int).tolist()}
    assert found == set(itertools.product((0, 1), repeat=4)) - {(0, 0, 0, 0)}
    assert all_subsets(4)[-1].tolist() == [1.0] * 4


# -- part_extremes -----------------------------------------------------------------------------------------------------


def event_ends(side: int, share: float, event: float, rest: float) -> list[float]:
    """Least and greatest part of either event that a group can hold in one stratum, by linear programs."""
    others = [event, rest, 1.0 - event - rest]
    ends = []
    for at in (0, 1):
        for sign in (1.0, -1.0):
            price = [0.0] * 6  # (event, rest, neither) × (group, everyone else)
            price[at] = sign
            rows, need = [], []
            if side != INTERNAL_ONLY:  # the group's share is known
                rows, need = [[1.0] * 3 + [0.0] * 3, [0.0] * 3 + [1.0] * 3], [share, 1.0 - share]
            if side != EXTERNAL_ONLY:  # the outcome is known
                rows += [[float(i in (j, j + 3)) for i in range(6)] for j in range(3)]
                need += others
            answer = linprog(price, A_eq=rows, b_eq=need)
            assert answer.status == 0
            ends.append(sign * answer.fun)
    return ends


@pytest.mark.parametrize("seed", range(8))
def test_part_extremes_are_those_of_linear_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_strata, n_groups = 5, 2 + seed % 4
    side = rng.choice(SIDES, n_strata)
    split, shares = shares_of(rng, n_strata, 3), shares_of(rng, n_strata, n_groups)
    mass = shares_of(rng, 1, n_strata)[0]
    found = part_extremes(*split.T, mass, shares, side)
    wanted = [
        sum(mass[c] * np.array(event_ends(side[c], shares[c, g], *split[c, :2])) for c in range(n_strata))
        for g in range(n_groups)
    ]
    np.testing.assert_allclose(found, np.array(wanted), atol=1e-8)


# -- rate_extremes -----------------------------------------------------------------------------------------------------


def coefficients(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """Return counted and among of a conditional rate: labels, predictive values, or anything that a rate may be."""
    score, label = values(rng, n), rng.integers(0, 2, n).astype(float)
    return [(score * label, label), (score * label, score), (score, np.ones(n))][rng.integers(3)]


def rate_ends(strata: StrataArrays, counted: FloatArray, among: FloatArray, group: int) -> list[float] | None:
    """Charnes and Cooper: fill m of one group, scaled by τ so that its condition is 1."""
    free = np.flatnonzero(strata.side == EXTERNAL_ONLY)
    n, extra = len(counted), 3 * len(free)  # counted, among alone, neither
    top = np.concatenate([counted, np.tile([1.0, 0.0, 0.0], len(free)), [0.0]])
    bottom = np.concatenate([among, np.tile([1.0, 1.0, 0.0], len(free)), [0.0]])
    equal, limits = [bottom], np.hstack([np.eye(n), np.zeros((n, extra)), -strata.atom_mass[:, None]])
    for c in np.flatnonzero(strata.side != INTERNAL_ONLY):
        row = np.zeros(n + extra + 1)
        if strata.side[c] == BOTH:
            row[list(atoms_in(strata, c))] = 1.0
        else:
            at = n + 3 * int(np.flatnonzero(free == c)[0])
            row[at : at + 3] = 1.0
        row[-1] = -strata.mass[c] * strata.shares[c, group]
        equal.append(row)
    right = np.append(1.0, np.zeros(len(equal) - 1))
    ends = []
    for sign in (1.0, -1.0):
        answer = linprog(sign * top, A_ub=limits, b_ub=np.zeros(n), A_eq=np.array(equal), b_eq=right)
        if answer.status == 2:
            return None
        assert answer.status == 0
        ends.append(sign * answer.fun)
    return ends


@pytest.mark.parametrize("seed", range(40))
def test_rate_extremes_are_those_of_linear_programs(seed: int) -> None:
    strata = strata_of(100 + seed, 2, 4, 6 if seed % 2 else 60)
    counted, among = coefficients(np.random.default_rng(seed), len(strata.weight))
    found = rate_extremes(strata.offsets, counted, among, strata.weight, strata.mass, strata.shares, strata.side)
    for group in range(2):
        ends = rate_ends(strata, counted, among, group)
        if ends is None:
            assert np.isnan(found[group]).all()
        else:
            np.testing.assert_allclose(found[group], ends, atol=1e-8)


def test_a_condition_without_mass_has_no_rate() -> None:
    one = np.ones(1)
    found = rate_extremes(
        np.array([0, 2]), np.zeros(2), np.zeros(2), np.full(2, 0.5), one, np.full((1, 2), 0.5), np.zeros(1, np.int64)
    )
    assert np.isnan(found).all()


@pytest.mark.parametrize("rate", [0.0, 1.0, 0.3])
def test_a_rate_that_no_fill_changes_has_one_end(rate: float) -> None:
    """Also where every fill that is best at the end leaves the condition empty if ties fall badly."""
    among = np.array([1.0, 0.0])
    one = np.ones(1)
    found = rate_extremes(
        np.array([0, 2]), rate * among, among, np.full(2, 0.5), one, np.full((1, 2), 0.5), np.zeros(1, np.int64)
    )
    np.testing.assert_allclose(found, rate, atol=1e-12)


# -- all groups at once ------------------------------------------------------------------------------------------------


def hard(seed: int, n_groups: int, n_strata: int = 5) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mass, shares and selected share of strata."""
    rng = np.random.default_rng(seed)
    shares = shares_of(rng, n_strata, n_groups)
    shares[0] += 1.0
    shares[0] /= shares[0].sum()
    return shares_of(rng, 1, n_strata)[0] + 0.0, shares, rng.integers(0, 7, n_strata) / 6


def cheapest(mass: FloatArray, shares: FloatArray, selected: FloatArray, prices: FloatArray) -> FloatArray:
    """Select the cheapest groups first in every stratum."""
    vertex = np.zeros(len(prices))
    for m, share, whole in zip(mass, shares, selected, strict=True):
        left = whole
        for g in np.argsort(prices, kind="stable"):
            part = min(share[g], left)
            vertex[g] += m * part
            left -= part
    return vertex


def smallest_largest(mass: FloatArray, shares: FloatArray, selected: FloatArray) -> float:
    """Minimise t with every group's selected mass at most t times its mass, over who is selected in each stratum."""
    n_strata, n_groups = shares.shape
    n = n_strata * n_groups
    limit = np.array([[float(i % n_groups == g) for i in range(n)] + [-(mass @ shares)[g]] for g in range(n_groups)])
    fixed = np.array([[float(i // n_groups == c) for i in range(n)] + [0.0] for c in range(n_strata)])
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=limit,
        b_ub=np.zeros(n_groups),
        A_eq=fixed,
        b_eq=mass * selected,
        bounds=[(0.0, top) for top in (mass[:, None] * shares).ravel()] + [(0.0, None)],
    )
    assert answer.status == 0
    return float(answer.fun)


@pytest.mark.parametrize("n_groups", [3, 4, 5, 6, 7, 8, 9, 10, 15])
def test_levels_by_vertices_and_by_sets_are_those_of_a_linear_program(n_groups: int) -> None:
    for seed in range(4):
        mass, shares, selected = hard(100 * n_groups + seed, n_groups)
        group_mass, wanted = mass @ shares, smallest_largest(mass, shares, selected)
        low, high = level_by_vertices(lambda prices: cheapest(mass, shares, selected, prices), group_mass)  # noqa: B023
        assert low - 1e-12 <= wanted + 1e-9
        assert high == pytest.approx(wanted, abs=1e-9)
        assert high - low <= 1e-9
        if n_groups <= 10:
            subsets = all_subsets(n_groups)
            least = [mass @ np.maximum(0.0, selected - shares @ (1 - subset)) for subset in subsets]
            most = [mass @ np.minimum(selected, shares @ subset) for subset in subsets]
            none = np.empty(0)
            largest, smallest = extreme_of_extremes(subsets, np.array(least), np.array(most), group_mass, none, none)
            assert largest == pytest.approx(wanted, abs=1e-9)
            assert smallest == pytest.approx(1 - smallest_largest(mass, shares, 1 - selected), abs=1e-9)


# -- pairs that are not extreme together -------------------------------------------------------------------------------


def test_the_search_finds_three_quarters() -> None:
    """The example of docs/method.md, 3, whose separate ends differ by 1."""
    one = np.ones(1)
    strata = StrataArrays(one, np.full((1, 2), 0.5), np.zeros(1, np.int64), np.array([0, 4]), np.full(4, 0.25))
    counted, among = np.array([1.0, 0.5, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])
    anything = (0.0, 1.0)
    program = PairProgram(strata, atoms_of(strata, counted, among), 0, 1)
    found = greatest_pair(program, "difference", (anything, anything))
    assert found.fill is not None
    assert found.certified == pytest.approx(0.75, abs=2e-7)
    assert found.attained <= found.certified
    tops, bottoms = found.fill.T @ counted, found.fill.T @ among
    assert tops[0] / bottoms[0] - tops[1] / bottoms[1] == pytest.approx(found.attained, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_no_fill_beats_the_search_and_a_fine_grid_of_fills_comes_near(seed: int) -> None:
    """Two groups, one stratum, four atoms: what the first gets of three atoms decides the fill."""
    rng = np.random.default_rng(seed)
    weight, share = shares_of(rng, 1, 4)[0], rng.integers(2, 5) / 6
    counted, among = coefficients(rng, 4)
    among = np.maximum(among, 0.05)  # a condition that keeps some mass
    strata = StrataArrays(np.ones(1), np.array([[share, 1 - share]]), np.zeros(1, np.int64), np.array([0, 4]), weight)
    atoms = atoms_of(strata, counted, among)
    ends = rate_extremes(strata.offsets, counted, among, weight, strata.mass, strata.shares, strata.side)
    spans = tuple((float(low), float(high)) for low, high in ends)
    found = greatest_pair(PairProgram(strata, atoms, 0, 1), "difference", spans)  # type: ignore[arg-type]
    parts = np.stack(np.meshgrid(*[np.linspace(0.0, top, 41) for top in weight[:3]]), axis=-1).reshape(-1, 3)
    last = share - parts.sum(axis=1)
    fits = (last >= -1e-12) & (last <= weight[3] + 1e-12)
    first = np.column_stack([parts, last])[fits]
    gaps = first @ counted / (first @ among) - (weight - first) @ counted / ((weight - first) @ among)
    assert gaps.max() <= found.certified + 1e-9
    assert found.certified - gaps.max() < 0.05
    assert found.closed
    assert math.isclose(found.certified, found.attained, abs_tol=1e-6)
