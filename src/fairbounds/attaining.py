"""The joint distribution that attains an end, rebuilt in the user's own levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, SolverError
from fairbounds.extremes import Extremes, clean, extremes, levels
from fairbounds.kernels.pair_search import PairExtreme, PairProgram, greatest_pair
from fairbounds.kernels.strata import EXTERNAL_ONLY, INTERNAL_ONLY, Atoms, atoms_of
from fairbounds.levels import Level, show
from fairbounds.metrics import Event, Metric, Rate
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.results import End
from fairbounds.tables import Table

__all__ = ["attaining_joint", "pair_program"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# HiGHS takes masses near its tolerance for zero, so its programs count a population of this size.
_COUNTS = 1e6

# A gain of less than this per unit of the condition is rounding of the rate that it is measured against.
_TIED = 1e-12

_SEARCHES: WeakKeyDictionary[Problem, dict[tuple[Metric, int, int], PairExtreme]] = WeakKeyDictionary()


def pair_program(problem: Problem, metric: Metric, ends: Extremes, a: int, b: int) -> PairExtreme:
    """Return the certified greatest difference or ratio of the rates of groups a and b."""
    known = _SEARCHES.setdefault(problem, {})
    if (metric, a, b) not in known:
        program = PairProgram(problem.strata, atoms_of(problem.strata, ends.counted, ends.among), a, b)
        spans = [(float(ends.low[g]), float(ends.high[g])) for g in (a, b)]
        known[metric, a, b] = greatest_pair(
            program,
            "ratio" if metric.is_ratio else "difference",
            (spans[0], spans[1]),
            told=partial(report, f"searching for the ends of {metric.name}"),
        )
    return known[metric, a, b]


def attaining_joint(problem: Problem, metric: Metric, end: End, at: int | None, base: int | None) -> Table:
    """Return a joint that fits both tables and whose metric is the lower or upper end.

    An end can be a limit that no joint attains: where two groups are compared and, of the joints in which both rates
    are defined, those with a metric ever nearer to the end leave a group ever less of its condition. Such an end is
    sharp all the same, and asking for its joint raises a `ProblemError` that says so.

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
    fill = _choose(problem, metric, end, at, base, ends, filler)
    if fill is None:
        raise ProblemError(
            f"the {end} end of {metric.name} is only approached: joints come as near to it as you like, but in none "
            "that has it do both groups have anyone whom their rates are counted among"
        )
    return filler.table(metric.rate, fill)


def _choose(
    problem: Problem, metric: Metric, end: End, at: int | None, base: int | None, ends: Extremes, filler: _Filler
) -> FloatArray | None:
    """Pick the fill, shape (atoms, groups), that has the metric's end; none if none has it."""
    upper = end == "upper"
    match metric.form:
        case "rate" if at is not None:
            return filler.extreme(at, upper)
        case "difference" | "ratio" if at is not None and base is not None:
            if metric.is_ratio and min(ends.high[at], ends.high[base]) == 0:  # one is always 0: 0/0 is no ratio
                upper = bool(ends.high[base] == 0)
            first, second = (at, base) if upper else (base, at)
            if ends.together:
                return filler.apart(first, second, metric.is_ratio)
            pair = pair_program(problem, metric, ends, first, second).fill
            return None if pair is None else filler.completed(pair, first, second)
        case "impact_ratio" if at is not None:
            return _against_best(problem, ends, filler, at, upper)
        case "parity_gap" | "parity_ratio":
            if upper != (metric.form == "parity_gap"):
                return filler.most_equal()
            return filler.apart(*_furthest(ends, metric.is_ratio), metric.is_ratio)
    raise ProblemError(f"the metric {metric.name!r} compares a group with a reference; name both")


def _against_best(problem: Problem, ends: Extremes, filler: _Filler, at: int, upper: bool) -> FloatArray | None:
    others = np.where(np.arange(len(ends.high)) == at, -np.inf, ends.high)
    nobody_else = others.max() == 0 or (levels(problem).smallest_largest == 0 and ends.high[at] > 0)
    if nobody_else and (upper or others.max() == 0):
        return filler.extreme(at, upper=True)
    if upper and ends.high[at] > 0:
        return filler.near_best(at)
    return filler.apart(int(np.argmax(others)), at, is_ratio=True)


def _furthest(ends: Extremes, ratio: bool) -> tuple[int, int]:
    """Return the groups, most favoured first, whose rates can be furthest apart."""
    n = len(ends.low)
    pairs = [(high, low) for high in range(n) for low in range(n) if high != low and (ends.high[high] > 0 or not ratio)]
    if ratio:
        return min(pairs, key=lambda pair: float(ends.low[pair[1]] / ends.high[pair[0]]))
    return max(pairs, key=lambda pair: float(ends.high[pair[0]] - ends.low[pair[1]]))


@dataclass(frozen=True)
class _Aim:
    """What a group is to have of the atoms, shape (N,): first the greatest gain, then mass of what is wanted."""

    gain: FloatArray
    wanted: FloatArray


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

    def _gain(self, group: int, upper: bool) -> FloatArray:
        """Return what each atom adds to a rate that is at its end; exactly 0 where it only keeps it there."""
        counted, among = self.atoms.counted, self.atoms.among
        gain = counted - float((self.ends.high if upper else self.ends.low)[group]) * among
        gain[np.abs(gain) <= _TIED * among] = 0.0
        return gain if upper else -gain

    def extreme(self, group: int, upper: bool) -> FloatArray:
        """Bring one group's rate to an end; the others share what is left.

        Of all fills that have the end, one with the most of the condition: it has some wherever one has.
        """
        gain = self._gain(group, upper)
        gain[gain == 0] = 1e-30 * self.atoms.among[gain == 0]
        pair = PairProgram(self.problem.strata, self.atoms, group, None).best(gain, np.full_like(gain, -1.0)).fill
        return self.completed(pair, group, None)

    def apart(self, high: int, low: int, is_ratio: bool) -> FloatArray | None:
        """Bring one group's rate to its greatest and another's to its least; the others share what is left.

        Each group's own best fills make a face of the polytope, and the two faces meet. Where all that is gained is a
        whole number, the gains of both together with a smaller reward for the condition find a corner where they meet.
        """
        program = PairProgram(self.problem.strata, self.atoms, high, low)
        if not self._hard:  # a whole group is the condition: any fill in which both are extreme will do
            return self.completed(program.best(self.atoms.counted, -self.atoms.counted).fill, high, low)
        one, two = self._aims(high, low, is_ratio)
        first, second = (8.0 * np.sign(aim.gain) for aim in (one, two))
        for pair in (
            program.best(first + one.wanted, second + two.wanted).fill,
            (program.best(first + one.wanted, second).fill + program.best(first, second + two.wanted).fill) / 2,
        ):
            mass = np.array([pair[:, 0] @ one.wanted, pair[:, 1] @ two.wanted])
            if np.all(clean(mass, np.array(program.heads)) > 0):
                return self.completed(pair, high, low)
        return None

    @property
    def _hard(self) -> bool:
        counted, among = self.atoms.counted, self.atoms.among
        return bool(np.all((counted == 0) | (counted == 1)) and np.all((among == 0) | (among == 1)))

    def _aims(self, high: int, low: int, is_ratio: bool) -> tuple[_Aim, _Aim]:
        """Say what both ends take; a ratio is 0 or infinite whatever the rate of the other group, if it is not 0."""
        counted, among = self.atoms.counted, self.atoms.among
        whatever = np.zeros_like(counted)
        if is_ratio and self.ends.high[high] == 0:
            return _Aim(whatever, among), _Aim(whatever, counted)
        if is_ratio and self.ends.low[low] == 0:
            return _Aim(whatever, counted), _Aim(self._gain(low, upper=False), among)
        return _Aim(self._gain(high, upper=True), among), _Aim(self._gain(low, upper=False), among)

    def _other_shares(self, *taken: int | None) -> FloatArray:
        """Shares among the groups not yet served, shape (strata, groups)."""
        shares = self.problem.strata.shares.copy()
        shares[:, [group for group in taken if group is not None]] = 0.0
        totals = shares.sum(axis=1, keepdims=True)
        return shares / np.where(totals > 0, totals, 1.0)

    def completed(self, pair: FloatArray, a: int, b: int | None) -> FloatArray:
        """Give what the fill of one or two groups leaves over to the others."""
        fill = np.zeros((len(self.atoms.stratum), len(self.problem.groups)))
        fill[:, a] = pair[:, 0]
        if b is not None:
            fill[:, b] = pair[:, 1]
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
        """Minimise the gap between the largest and the smallest rate; where nobody need be selected, select some."""
        found = levels(self.problem)
        floor = found.largest_smallest / 2 if found.smallest_largest == 0 else 0.0
        return self._program(lambda n_fill: np.concatenate([np.zeros(n_fill), [-1.0, 1.0]]), floor=floor)

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

    def _program(
        self, objective: Callable[[int], FloatArray], ceiling: float | None = None, floor: float = 0.0
    ) -> FloatArray:
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
            + [(_COUNTS * floor, _COUNTS), (0, _COUNTS * (1 if ceiling is None else ceiling))],
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
        atom, group = np.nonzero(fill > 1e-15 * problem.strata.mass[self.atoms.stratum][:, None])
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
