"""The joint distribution that attains an end, rebuilt in the user's own levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, SolverError
from fairbounds.extremes import Extremes, clean, extremes, levels
from fairbounds.kernels.pair_search import PairExtreme, PairProgram, greatest_pair
from fairbounds.kernels.strata import BOTH, EXTERNAL_ONLY, INTERNAL_ONLY, Atoms, atoms_of
from fairbounds.levels import Level, show
from fairbounds.metrics import Event, Metric, Rate
from fairbounds.problem import Problem
from fairbounds.results import End
from fairbounds.tables import Table

__all__ = ["attaining_joint", "pair_program"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# HiGHS takes masses near its tolerance for zero, so its programs count a population of this size.
_COUNTS = 1e6

_SEARCHES: WeakKeyDictionary[Problem, dict[tuple[Metric, int, int], PairExtreme]] = WeakKeyDictionary()


def pair_program(problem: Problem, metric: Metric, ends: Extremes, a: int, b: int) -> PairExtreme:
    """Return the certified greatest difference or ratio of the rates of groups a and b."""
    known = _SEARCHES.setdefault(problem, {})
    if (metric, a, b) not in known:
        program = PairProgram(problem.strata, atoms_of(problem.strata, ends.counted, ends.among), a, b)
        combine = _ratio if metric.is_ratio else _difference
        known[metric, a, b] = greatest_pair(program, combine, (float(ends.low[a]), float(ends.high[a])))
    return known[metric, a, b]


def _ratio(first: float, second: float) -> float:
    return np.inf if second <= 0 < first else 0.0 if first <= 0 else first / second


def _difference(first: float, second: float) -> float:
    return first - second


def attaining_joint(problem: Problem, metric: Metric, end: End, at: int | None, base: int | None) -> Table:
    """Return a joint that fits both tables and whose metric is the lower or upper end.

    Parameters
    ----------
    problem : Problem
    metric : Metric
    end : {"lower", "upper"}
    at, base : int or None
        Positions of the group and of the reference.
    """
    ends = extremes(problem, metric.rate)
    filler = _Filler(problem, ends, atoms_of(problem.strata, ends.counted, ends.among))
    return filler.table(metric.rate, _choose(problem, metric, end, at, base, ends, filler))


def _choose(
    problem: Problem, metric: Metric, end: End, at: int | None, base: int | None, ends: Extremes, filler: _Filler
) -> FloatArray:
    """Pick the fill, shape (atoms, groups), that has the metric's end."""
    upper = end == "upper"
    match metric.form:
        case "rate" if at is not None:
            return filler.extreme(at, None) if upper else filler.extreme(None, at)
        case "difference" | "ratio" if at is not None and base is not None:
            if metric.is_ratio and min(ends.high[at], ends.high[base]) == 0:  # one is always 0: 0/0 is no ratio
                upper = bool(ends.high[base] == 0)
            first, second = (at, base) if upper else (base, at)
            if ends.together:
                return filler.extreme(first, second)
            return filler.completed(pair_program(problem, metric, ends, first, second).fill, first, second)
        case "impact_ratio" if at is not None:
            others = np.where(np.arange(len(ends.high)) == at, -np.inf, ends.high)
            return filler.near_best(at) if upper else filler.extreme(int(np.argmax(others)), at)
        case "parity_gap" | "parity_ratio":
            if upper != (metric.form == "parity_gap"):
                return filler.most_equal()
            return filler.extreme(*_furthest(ends, metric.is_ratio))
    raise ProblemError(f"the metric {metric.name!r} compares a group with a reference; name both")


def _furthest(ends: Extremes, ratio: bool) -> tuple[int, int]:
    """Return the groups, most favoured first, whose rates can be furthest apart."""
    n = len(ends.low)
    pairs = [(high, low) for high in range(n) for low in range(n) if high != low]
    if ratio:
        return min(pairs, key=lambda pair: _ratio(float(ends.low[pair[1]]), float(ends.high[pair[0]])))
    return max(pairs, key=lambda pair: float(ends.high[pair[0]] - ends.low[pair[1]]))


@dataclass(frozen=True)
class _Filler:
    """Ways to give the mass of every outcome atom to the groups."""

    problem: Problem
    ends: Extremes
    atoms: Atoms

    @property
    def _side(self) -> npt.NDArray[np.int64]:
        return self.problem.strata.side[self.atoms.stratum]

    @property
    def _group_need(self) -> FloatArray:
        """Mass of each group in each stratum, shape (strata, groups)."""
        return self.problem.strata.mass[:, None] * self.problem.strata.shares

    def extreme(self, high: int | None, low: int | None) -> FloatArray:
        """Fill one group from the top and another from the bottom; the rest share what is left (docs/method.md, 2).

        An end that only a part of the condition can have (every such rate is 1, say) needs another order, or the group
        would be filled with people outside the condition.
        """
        fill = self._filled(self._key(high, low), high, low)
        within = clean(fill.T @ self.atoms.among)
        if high is not None and within[high] == 0:
            return self._filled(self.atoms.counted + self.atoms.among, high, low)
        if low is not None and within[low] == 0:
            return self._filled(self.atoms.counted + 2 * (1.0 - self.atoms.among), high, low)
        return fill

    def _filled(self, key: FloatArray, high: int | None, low: int | None) -> FloatArray:
        fill = np.zeros((len(self.atoms.stratum), len(self.problem.groups)))
        self._fill_both(fill, key, high, low)
        self._fill_loose(fill, key, high, low)
        self._fill_unknown(fill, high)
        return fill

    def _key(self, high: int | None, low: int | None) -> FloatArray:
        """Order of atoms from best to worst: counted, neither, among but not counted; or by the gain at the end."""
        counted, among = self.atoms.counted, self.atoms.among
        if self.ends.together:
            return counted + (1.0 - among) / 2
        rate = self.ends.high[high] if high is not None else self.ends.low[_required(low)]
        return np.round(0.5 + (counted - float(rate) * among) / 2, 12)

    def _fill_both(self, fill: FloatArray, key: FloatArray, high: int | None, low: int | None) -> None:
        rows = np.flatnonzero(self._side == BOTH)
        # Among equals, those within the condition come first for the group whose rate is to be attained.
        tie = self.atoms.among[rows] * (1.0 if high is None else -1.0)
        rows = rows[np.lexsort((tie, -key[rows], self.atoms.stratum[rows]))]
        mass, stratum = self.atoms.mass[rows], self.atoms.stratum[rows]
        total = np.bincount(stratum, weights=mass, minlength=len(self.problem.strata.mass))
        after = np.cumsum(mass) - (np.cumsum(total) - total)[stratum]
        before = after - mass
        left = mass.copy()
        for group, start, stop in ((high, before, after), (low, total[stratum] - after, total[stratum] - before)):
            if group is not None:
                need = self._group_need[stratum, group]
                fill[rows, group] = np.clip(np.minimum(stop, need) - np.maximum(start, 0.0), 0.0, mass)
                left -= fill[rows, group]
        fill[rows] += np.clip(left, 0.0, None)[:, None] * self._other_shares(high, low)[stratum]

    def _other_shares(self, *taken: int | None) -> FloatArray:
        """Shares among the groups not yet served, shape (strata, groups)."""
        shares = self.problem.strata.shares.copy()
        shares[:, [group for group in taken if group is not None]] = 0.0
        totals = shares.sum(axis=1, keepdims=True)
        return shares / np.where(totals > 0, totals, 1.0)

    def _fill_loose(self, fill: FloatArray, key: FloatArray, high: int | None, low: int | None) -> None:
        """Where shares are unknown, each of the two takes what helps it and the others take the rest."""
        rows = np.flatnonzero(self._side == INTERNAL_ONLY)
        others = [g for g in range(fill.shape[1]) if g not in (high, low)]
        spare = others or [g for g in (low, high) if g is not None]
        goes_high, goes_low = key[rows] > 0.5, key[rows] < 0.5
        for group, taken in ((high, goes_high), (low, goes_low)):
            if group is not None:
                fill[rows[taken], group] = self.atoms.mass[rows[taken]]
        free = rows[fill[rows].sum(axis=1) == 0]
        fill[np.ix_(free, spare)] = self.atoms.mass[free][:, None] / len(spare)

    def _fill_unknown(self, fill: FloatArray, high: int | None) -> None:
        """Where outcomes are unknown, one group is wholly counted, everyone else among but not counted."""
        unknown = self._side == EXTERNAL_ONLY
        for group in range(fill.shape[1]):
            wanted = 1.0 if group == high else 0.0
            rows = np.flatnonzero(unknown & (self.atoms.counted == wanted) & (self.atoms.among == 1))
            fill[rows, group] = self._group_need[self.atoms.stratum[rows], group]

    def completed(self, pair: FloatArray, a: int, b: int) -> FloatArray:
        """Give what a pair's fill leaves over to the other groups."""
        fill = np.zeros((len(self.atoms.stratum), len(self.problem.groups)))
        fill[:, a], fill[:, b] = pair.T
        known = np.flatnonzero(np.isfinite(self.atoms.mass))
        left = np.clip(self.atoms.mass[known] - pair[known].sum(axis=1), 0.0, None)
        shares = self._other_shares(a, b)[self.atoms.stratum[known]]
        others = [g for g in range(fill.shape[1]) if g not in (a, b)]
        if others:
            loose = self._side[known] == INTERNAL_ONLY
            shares[np.ix_(loose, others)] = 1.0 / len(others)
        fill[known] += left[:, None] * shares
        self._fill_unknown_others(fill, others)
        return fill

    def _fill_unknown_others(self, fill: FloatArray, others: list[int]) -> None:
        rows = np.flatnonzero((self._side == EXTERNAL_ONLY) & (self.atoms.counted == 0) & (self.atoms.among == 1))
        for group in others:
            fill[rows, group] = self._group_need[self.atoms.stratum[rows], group]

    # -- all groups at once: one linear program over every fill, without strata of unknown shares ------------------

    def most_equal(self) -> FloatArray:
        """Minimise the gap between the largest and the smallest rate."""
        return self._program(lambda n_fill: np.concatenate([np.zeros(n_fill), [-1.0, 1.0]]))

    def near_best(self, at: int) -> FloatArray:
        """Bring one group's rate as near to the largest as it can be, the largest being as small as it can be."""
        ceiling = levels(self.problem).smallest_largest
        mass = self.problem.group_mass
        if float(self.ends.high[at]) < ceiling:
            pick = np.zeros_like(mass)
            pick[at] = 1.0
            gain = -np.outer(self.atoms.counted, pick).ravel()
            return self._program(lambda _: np.append(gain, [0.0, 0.0]), ceiling)
        pick = np.zeros_like(mass)
        pick[at] = 1.0 / mass[at]
        gain = -np.outer(self.atoms.counted, pick).ravel()
        return self._program(lambda _: np.append(gain, [0.0, 1.0]))

    def _program(self, objective: Callable[[int], FloatArray], ceiling: float | None = None) -> FloatArray:
        """Solve over fills and two levels: smallest ≤ rate of every group ≤ largest.

        Levels count the same population as fills, or their prices would fall below the solver's tolerance.
        """
        from scipy import sparse
        from scipy.optimize import linprog

        n_atoms, n_groups = len(self.atoms.stratum), len(self.problem.groups)
        known = np.flatnonzero(np.isfinite(self.atoms.mass))
        eye = sparse.identity(n_groups, format="csr")
        one_atom = sparse.csr_array((np.ones(len(known)), (np.arange(len(known)), known)), shape=(len(known), n_atoms))
        in_stratum = sparse.csr_array(
            (np.ones(n_atoms), (self.atoms.stratum, np.arange(n_atoms))), shape=(len(self._group_need), n_atoms)
        )
        fits = sparse.vstack([sparse.kron(one_atom, np.ones((1, n_groups))), sparse.kron(in_stratum, eye)])
        needs = _COUNTS * np.concatenate([self.atoms.mass[known], self._group_need.ravel()])
        selected = sparse.kron(self.atoms.counted[None, :], eye)
        mass = self.problem.group_mass[:, None]
        none = np.zeros_like(mass)
        answer = linprog(
            objective(n_atoms * n_groups),
            A_ub=sparse.vstack([sparse.hstack([-selected, mass, none]), sparse.hstack([selected, none, -mass])]),
            b_ub=np.zeros(2 * n_groups),
            A_eq=sparse.hstack([fits, sparse.csr_array((fits.shape[0], 2))]),
            b_eq=needs,
            bounds=[(0, None)] * (n_atoms * n_groups)
            + [(0, _COUNTS), (0, _COUNTS * (1 if ceiling is None else ceiling))],
            method="highs",
        )
        if answer.status != 0:
            raise SolverError(f"the joint of an end was not found: {answer.message}")
        fill: FloatArray = answer.x[:-2].reshape(n_atoms, n_groups) / _COUNTS
        return fill

    # -- back to the user's levels ---------------------------------------------------------------------------------

    def table(self, rate: Rate, fill: FloatArray) -> Table:
        """Write a fill as a table over the common variables, the outcome and the protected variable."""
        problem = self.problem
        atom, group = np.nonzero(fill > 1e-15)
        strata = problem.stratum_codes[self.atoms.stratum[atom]]
        columns: dict[str, list[Level]] = {
            name: [problem.internal[name].levels[code] for code in strata[:, axis].tolist()]
            for axis, name in enumerate(problem.common)
        }
        outcomes = self._outcome_levels(rate)
        for axis, name in enumerate(problem.outcome.columns):
            columns[name] = [outcomes[row][axis] for row in atom.tolist()]
        columns[problem.protected] = [problem.groups[position] for position in group.tolist()]
        return Table.from_columns(columns, fill[atom, group])

    def _outcome_levels(self, rate: Rate) -> list[tuple[Level, ...]]:
        """Levels of the outcome columns for every atom, those of unknown outcomes included."""
        problem = self.problem
        variables = [problem.internal[name] for name in problem.outcome.columns]
        known = [
            tuple(variable.levels[code] for variable, code in zip(variables, row, strict=True))
            for row in problem.atom_codes.tolist()
        ]
        made = len(self.atoms.stratum) - len(known)
        everything = frozenset((d, y) for d in (0, 1) for y in (0, 1))
        events = [rate.counted, rate.among - rate.counted, everything - rate.among]
        period = 2 if not np.any(self.atoms.among < 1) else 3
        return known + [self._levels_of(events[at % period]) for at in range(made)]

    def _levels_of(self, event: Event) -> tuple[Level, ...]:
        decision, label = max(event)
        outcome, internal = self.problem.outcome, self.problem.internal
        first: Level = float(decision)
        if not outcome.is_score:
            first = _level_for(decision, outcome.favourable, internal[outcome.column].levels)
        if outcome.label is None:
            return (first,)
        return first, _level_for(label, outcome.positive, internal[outcome.label].levels)


def _level_for(value: int, favourable: Level, known: tuple[Level, ...]) -> Level:
    if value:
        return favourable
    return next((level for level in known if level != favourable), f"not {show(favourable)}")


def _required(position: Any) -> int:
    if position is None:
        raise ProblemError("a fill needs a group to favour or to disfavour")
    return int(position)
