"""Least and greatest rate of every group, by the cheapest exact way the rate allows; computed once per problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.strata import INTERNAL_ONLY
from fairbounds.metrics import RATES, Rate
from fairbounds.problem import Problem
from fairbounds.results import Defined

__all__ = ["MOST_ENUMERATED", "Extremes", "Levels", "clean", "extremes", "forget", "levels", "prepare", "set_ends"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Sums of masses of a group are off by no more than this part of the group.
_ROUNDING = 1e-13
MOST_ENUMERATED = 12


def clean(mass: FloatArray, whole: FloatArray) -> FloatArray:
    """Set to zero what is only rounding of a part of a whole; a tie must not turn x/0 into x/1e-17."""
    return np.where(np.abs(mass) < _ROUNDING * whole, 0.0, mass)


@dataclass(frozen=True)
class Extremes:
    """Ends of one rate for every group.

    Attributes
    ----------
    low, high : array, shape (G,)
        NaN where the rate is never defined.
    defined : tuple of {"always", "sometimes", "never"}
    together : bool
        Whether one group is at its least and another at its greatest in the same joint, for every pair.
    counted, among : array, shape (A,)
        Coefficients of the outcome atoms.
    """

    low: FloatArray
    high: FloatArray
    defined: tuple[Defined, ...]
    together: bool
    counted: FloatArray
    among: FloatArray


_EXTREMES: WeakKeyDictionary[Problem, dict[Rate, Extremes]] = WeakKeyDictionary()


def extremes(problem: Problem, rate: Rate) -> Extremes:
    """Return the ends of a rate for every group of a problem."""
    known = _EXTREMES.setdefault(problem, {})
    if rate not in known:
        known[rate] = _compute(problem, rate)
    return known[rate]


def prepare() -> None:
    """Load the kernel that every audit calls, which takes as long as reading a small file."""
    from fairbounds.kernels.closed_form import phi

    one, none = np.ones(1), np.zeros(1, dtype=np.int64)
    phi(np.array([0, 1]), one, one, one, np.ones((1, 1)), none, np.ones((1, 1)))


def forget(problem: Problem) -> None:
    """Drop what is kept of a problem, so that a benchmark measures the work."""
    _EXTREMES.pop(problem, None)
    _LEVELS.pop(problem, None)


def _compute(problem: Problem, rate: Rate) -> Extremes:
    counted, among = rate.coefficients(problem.score, problem.label)
    hard = bool(np.all((counted == 0) | (counted == 1)) and np.all((among == 0) | (among == 1)))
    loose = bool((problem.strata.side == INTERNAL_ONLY).any())
    if hard and (loose or not rate.unconditional):
        low, high, defined = _hard(problem, counted, among, rate.unconditional)
    elif rate.unconditional and not loose:
        low, high, defined = _whole_group(problem, counted)
    else:
        low, high, defined = _fractional(problem, counted, among)
    return Extremes(low, high, defined, hard or (rate.unconditional and not loose), counted, among)


def _per_stratum(problem: Problem, value: FloatArray) -> FloatArray:
    strata = problem.strata
    return np.bincount(strata.atom_stratum, weights=value * strata.weight, minlength=len(strata.mass)).astype(float)


def _hard(
    problem: Problem, counted: FloatArray, among: FloatArray, unconditional: bool
) -> tuple[FloatArray, FloatArray, tuple[Defined, ...]]:
    """[NL/(NL+DU), NU/(NU+DL)] of docs/method.md, 2."""
    from fairbounds.kernels.closed_form import part_extremes

    strata = problem.strata
    event, rest, neither = (_per_stratum(problem, part) for part in (counted, among - counted, 1.0 - among))
    ends = part_extremes(event, rest, neither, strata.mass, strata.shares, strata.side)
    sure = strata.certain_group_mass
    nl, nu, dl, du = clean(ends, np.stack([sure, sure + problem.loose_mass] * 2, axis=1)).T
    with np.errstate(invalid="ignore"):
        low = np.where(nl + du > 0, nl / (nl + du), np.where(nu > 0, 1.0, np.nan))
        high = np.where(nu + dl > 0, nu / (nu + dl), np.where(du > 0, 0.0, np.nan))
    if unconditional and (strata.certain_group_mass > 0).all():
        return low, high, _always(problem)
    within = part_extremes(event + rest, neither, 0.0 * neither, strata.mass, strata.shares, strata.side)
    return low, high, _definedness(low, clean(within[:, 0], sure))


def _whole_group(problem: Problem, counted: FloatArray) -> tuple[FloatArray, FloatArray, tuple[Defined, ...]]:
    low, high = set_ends(problem, counted, np.eye(len(problem.groups)))
    mass = problem.group_mass
    return low / mass, np.minimum(high, mass) / mass, _always(problem)


def _fractional(
    problem: Problem, counted: FloatArray, among: FloatArray
) -> tuple[FloatArray, FloatArray, tuple[Defined, ...]]:
    from fairbounds.kernels.fractional import rate_extremes

    strata = problem.strata
    ends = rate_extremes(strata.offsets, counted, among, strata.weight, strata.mass, strata.shares, strata.side)
    within, _ = set_ends(problem, among, np.eye(len(problem.groups)))
    low, high = clean(ends, np.ones(1)).T
    return low, high, _definedness(low, within)


def _always(problem: Problem) -> tuple[Defined, ...]:
    always: Defined = "always"
    return tuple(always for _ in problem.groups)


def _definedness(low: FloatArray, least_condition: FloatArray) -> tuple[Defined, ...]:
    return tuple(
        "never" if np.isnan(end) else "always" if least > 0 else "sometimes"
        for end, least in zip(low, least_condition, strict=True)
    )


def set_ends(problem: Problem, value: FloatArray, subsets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return LO and HI of sets of groups for a value of the outcome atoms, strata of unknown shares aside."""
    from fairbounds.kernels.closed_form import phi

    strata = problem.strata
    low, high = phi(strata.offsets, value, strata.weight, strata.mass, strata.shares, strata.side, subsets)
    whole = subsets @ strata.certain_group_mass
    return clean(low, whole), clean(high, whole)


@dataclass(frozen=True, eq=False)
class Levels:
    """How equal the groups' selection rates can be made.

    Attributes
    ----------
    smallest_largest : float
        M*, the smallest possible largest rate.
    largest_smallest : float
        m*, the largest possible smallest rate.
    sharp : bool
        Whether both are attained, and together.
    """

    smallest_largest: float
    largest_smallest: float
    sharp: bool


_LEVELS: WeakKeyDictionary[Problem, Levels] = WeakKeyDictionary()


def levels(problem: Problem) -> Levels:
    """Return M* and m* of the selection rate (docs/method.md, 4)."""
    if problem not in _LEVELS:
        _LEVELS[problem] = _find_levels(problem, extremes(problem, RATES["selection"]).counted)
    return _LEVELS[problem]


def _find_levels(problem: Problem, score: FloatArray) -> Levels:
    from fairbounds.kernels.polymatroid import all_subsets, extreme_of_extremes, level_by_vertices

    n_groups = len(problem.groups)
    loose = problem.strata.side[problem.strata.atom_stratum] == INTERNAL_ONLY
    if n_groups > MOST_ENUMERATED and not loose.any():
        walk = _Walk(problem, score)
        largest, _ = level_by_vertices(walk.lowest, problem.group_mass)
        smallest, _ = level_by_vertices(walk.lowest_of_rest, problem.group_mass)
        return Levels(largest, 1.0 - smallest, True)
    if n_groups <= MOST_ENUMERATED:
        subsets = all_subsets(n_groups)
    else:  # a part of the subsets still gives valid ends
        single = np.eye(n_groups)
        subsets = np.vstack([single, 1.0 - single, np.ones((1, n_groups))])
    low, high = set_ends(problem, score, subsets)
    mass = problem.strata.atom_mass[loose]
    largest, smallest = extreme_of_extremes(subsets, low, high, problem.group_mass, score[loose], mass)
    return Levels(largest, smallest, not loose.any())


class _Walk:
    """Greedy walks along chains of sets: the vertices of the base polytope."""

    def __init__(self, problem: Problem, score: FloatArray) -> None:
        self._problem, self._score = problem, score

    @cached_property
    def _mass(self) -> FloatArray:
        return self._problem.group_mass

    def _chain(self, prices: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
        order = np.argsort(-prices, kind="stable")
        chain = np.zeros((len(order), len(order)))
        for position, group in enumerate(order):
            chain[position:, group] = 1.0
        return order, chain

    def lowest(self, prices: FloatArray) -> FloatArray:
        """Return the vertex of selected masses with the least price."""
        order, chain = self._chain(prices)
        low, _ = set_ends(self._problem, self._score, chain)
        return self._steps(order, low)

    def lowest_of_rest(self, prices: FloatArray) -> FloatArray:
        """Return the vertex of unselected masses with the least price."""
        order, chain = self._chain(prices)
        _, high = set_ends(self._problem, self._score, chain)
        return self._mass - self._steps(order, high)

    @staticmethod
    def _steps(order: npt.NDArray[np.intp], ends: FloatArray) -> FloatArray:
        vertex = np.empty_like(ends)
        vertex[order] = np.diff(ends, prepend=0.0)
        return vertex
