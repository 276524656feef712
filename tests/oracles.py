"""Oracles: what rates, metrics and bounds must be, from the cells of two tables alone.

Nothing here is taken from the package, neither a formula nor an array. A metric's value comes from its definition; an
end of its bounds comes from a linear program over every joint that fits both tables, which HiGHS solves on counts.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import linprog

Stratum: TypeAlias = tuple[Hashable, ...]
Raw: TypeAlias = tuple[Hashable, ...]  # (decision or score,) or (decision or score, label), as the table has them
Group: TypeAlias = Hashable
Cell: TypeAlias = tuple[Stratum, Raw, Group]
Joint: TypeAlias = Mapping[Cell, float]
Ends: TypeAlias = tuple[float, float] | None
FloatArray: TypeAlias = npt.NDArray[np.float64]

STEMS = (
    *("selection", "true_positive", "false_positive", "true_negative", "false_negative"),
    *("positive_predictive", "negative_predictive", "accuracy", "base"),
)
UNCONDITIONAL = ("selection", "accuracy", "base")
ALIASES = {"demographic_disparity": "selection_difference", "disparate_impact": "selection_ratio"}
COUNT = 1e5  # HiGHS takes small masses for zero: its programs count a population of this size
TINY = 1e-9

# stem: (who is counted, among whom), by decision and true outcome
RULES: dict[str, tuple[Callable[[int, int], bool], Callable[[int, int], bool]]] = {
    "selection": (lambda d, y: d == 1, lambda d, y: True),
    "true_positive": (lambda d, y: d == 1, lambda d, y: y == 1),
    "false_positive": (lambda d, y: d == 1, lambda d, y: y == 0),
    "true_negative": (lambda d, y: d == 0, lambda d, y: y == 0),
    "false_negative": (lambda d, y: d == 0, lambda d, y: y == 1),
    "positive_predictive": (lambda d, y: y == 1, lambda d, y: d == 1),
    "negative_predictive": (lambda d, y: y == 0, lambda d, y: d == 0),
    "accuracy": (lambda d, y: d == y, lambda d, y: True),
    "base": (lambda d, y: y == 1, lambda d, y: True),
}


class UnsolvedError(Exception):
    """HiGHS cannot tell whether a program can be satisfied."""


@dataclass(frozen=True)
class Facts:
    """What two tables say, as plain dictionaries of cells; only the proportions of the weights matter.

    A score is a number; a decision is favourable where it is "yes", a label where it is "good".
    """

    internal: Mapping[tuple[Stratum, Raw], float]
    external: Mapping[tuple[Stratum, Group], float]
    population: str
    scored: bool
    labelled: bool

    @property
    def stems(self) -> tuple[str, ...]:
        """The rates that these facts have a meaning for."""
        return STEMS if self.labelled else ("selection",)

    @property
    def groups(self) -> list[Any]:
        """Groups that the external table has seen."""
        return sorted({g for (_, g), weight in self.external.items() if weight > 0})

    def sides(self) -> tuple[set[Stratum], set[Stratum]]:
        """Strata that the internal and the external table have seen."""
        return (
            {c for (c, _), weight in self.internal.items() if weight > 0},
            {c for (c, _), weight in self.external.items() if weight > 0},
        )

    @property
    def one_sided(self) -> set[Stratum]:
        """Strata of the audited population that only its own table has seen."""
        inside, outside = self.sides()
        return outside - inside if self.population == "external" else inside - outside

    @property
    def possible_groups(self) -> list[Any]:
        """Groups that can have mass in the audited population: where shares are unknown, people may be of any."""
        inside, outside = self.sides()
        anywhere = self.population == "external" or bool(self.one_sided)
        allowed = outside if anywhere else inside & outside
        return sorted({g for (c, g), weight in self.external.items() if weight > 0 and c in allowed})

    def everything(self) -> list[Raw]:
        """What an unknown outcome can be: its extreme values are enough, since rates are mixtures of them."""
        decisions: tuple[Hashable, ...] = (1.0, 0.0) if self.scored else ("yes", "no")
        return [(d, y) for d in decisions for y in ("good", "bad")] if self.labelled else [(d,) for d in decisions]


# -- values ------------------------------------------------------------------------------------------------------------


def chance(raw: Raw) -> float:
    """Return P(favourable decision)."""
    return float(raw[0]) if isinstance(raw[0], int | float) else float(raw[0] == "yes")


def parts(stem: str, raw: Raw) -> tuple[float, float]:
    """Return P(counted and among) and P(among) of one outcome."""
    counted, among = RULES[stem]
    label = -1 if len(raw) == 1 else int(raw[1] == "good")
    odds = [(1, chance(raw)), (0, 1.0 - chance(raw))]
    return (
        sum(p for d, p in odds if among(d, label) and counted(d, label)),
        sum(p for d, p in odds if among(d, label)),
    )


def rate_of(joint: Joint, stem: str, group: Group) -> float | None:
    """Return a group's rate in a joint; None where its condition has no mass."""
    pairs = [(mass, parts(stem, raw)) for (_, raw, g), mass in joint.items() if g == group]
    above = math.fsum(mass * part[0] for mass, part in pairs)
    below = math.fsum(mass * part[1] for mass, part in pairs)
    return above / below if below > 1e-14 * math.fsum(joint.values()) else None


def divide(above: float | None, below: float | None) -> float | None:
    """Return a quotient: infinite for x/0, None for 0/0."""
    if above is None or below is None or (below == 0 and above == 0):
        return None
    return math.inf if below == 0 else above / below


def compared(form: str, rates: Mapping[Any, float | None], group: Group, reference: Group) -> float | None:
    """Combine the rates of all groups."""
    some = [rate for rate in rates.values() if rate is not None]
    one, other = rates.get(group), rates.get(reference)
    match form:
        case "rate":
            return one
        case "difference":
            return None if one is None or other is None else one - other
        case "ratio":
            return divide(one, other)
        case "impact_ratio":
            return divide(one, max(some))
        case "parity_gap":
            return max(some) - min(some)
        case "parity_ratio":
            return divide(min(some), max(some))
    raise ValueError(form)


def split_name(metric: str) -> tuple[str, str]:
    """Return the stem and the form of a metric's name."""
    if metric in ("impact_ratio", "parity_gap", "parity_ratio"):
        return "selection", metric
    stem, _, form = ALIASES.get(metric, metric).rpartition("_")
    return stem, form


def value_of(metric: str, joint: Joint, groups: Iterable[Group], group: Group, reference: Group) -> float | None:
    """Return a metric of a joint, by definition."""
    stem, form = split_name(metric)
    return compared(form, {g: rate_of(joint, stem, g) for g in groups}, group, reference)


def misfit(joint: Joint, facts: Facts) -> float:
    """Return by how much a joint (total 1) misses what the two tables say of the audited population."""
    need = [(keys, total) for keys, total in requirements(facts)]
    gaps = [abs(math.fsum(joint.get(key, 0.0) for key in keys) - total) for keys, total in need]
    allowed = {key for keys, _ in need for key in keys}
    stray = math.fsum(mass for key, mass in joint.items() if key not in allowed)
    return max([stray, *gaps, -min(joint.values())])


# -- every joint that fits ---------------------------------------------------------------------------------------------


def _by_stratum(cells: Mapping[tuple[Stratum, Any], float]) -> dict[Stratum, dict[Any, float]]:
    total = math.fsum(cells.values())
    nested: dict[Stratum, dict[Any, float]] = defaultdict(dict)
    for (c, key), weight in cells.items():
        if weight > 0:
            nested[c][key] = weight / total
    return nested


def requirements(facts: Facts) -> list[tuple[list[Cell], float]]:
    """Return the sets of cells whose mass the tables fix, with that mass: the definition of docs/method.md, 1 and 5."""
    inner, outer = _by_stratum(facts.internal), _by_stratum(facts.external)
    rows: list[tuple[list[Cell], float]] = []
    for c in outer if facts.population == "external" else inner:
        outcomes, shares = inner.get(c), outer.get(c)
        mass = math.fsum((outer if facts.population == "external" else inner)[c].values())
        raws = list(outcomes) if outcomes else facts.everything()
        groups = list(shares) if shares else facts.groups
        if outcomes:
            whole = math.fsum(outcomes.values())
            rows += [([(c, raw, g) for g in groups], mass * outcomes[raw] / whole) for raw in raws]
        if shares:
            whole = math.fsum(shares.values())
            rows += [([(c, raw, g) for raw in raws], mass * shares[g] / whole) for g in groups]
    return rows


def independent(facts: Facts) -> dict[Cell, float]:
    """Return the joint, of the strata that both tables have seen, whose outcome and group are independent in each."""
    inner, outer = _by_stratum(facts.internal), _by_stratum(facts.external)
    joint: dict[Cell, float] = {}
    for c in inner.keys() & outer.keys():
        of_outcomes, of_groups = math.fsum(inner[c].values()), math.fsum(outer[c].values())
        mass = of_groups if facts.population == "external" else of_outcomes
        for raw, q in inner[c].items():
            for g, r in outer[c].items():
                joint[c, raw, g] = mass * (q / of_outcomes) * (r / of_groups)
    return joint


class Polytope:
    """Joints x ≥ 0 with A x = b, as counts."""

    def __init__(self, facts: Facts) -> None:
        rows = requirements(facts)
        self.cells = list(dict.fromkeys(key for keys, _ in rows for key in keys))
        place = {cell: at for at, cell in enumerate(self.cells)}
        indices = [place[key] for keys, _ in rows for key in keys]
        pointer = np.cumsum([0, *(len(keys) for keys, _ in rows)])
        self.rows = sparse.csr_array((np.ones(len(indices)), indices, pointer), shape=(len(rows), len(self.cells)))
        self.needs = COUNT * np.array([total for _, total in rows])
        self.groups = facts.possible_groups

    def mass(self, group: Group) -> FloatArray:
        """Return the functional that counts a group."""
        return np.array([float(g == group) for _, _, g in self.cells])

    def rate(self, stem: str, group: Group) -> tuple[FloatArray, FloatArray]:
        """Return the functionals whose quotient is a group's rate."""
        both = np.array([parts(stem, raw) if g == group else (0.0, 0.0) for _, raw, g in self.cells])
        return both[:, 0], both[:, 1]

    def least(
        self,
        objective: FloatArray,
        *,
        below: Sequence[FloatArray] = (),
        one: FloatArray | None = None,
        extra: int = 0,
    ) -> float | None:
        """Minimise a functional of the cells and of `extra` further variables; None if no joint allows it.

        Parameters
        ----------
        objective : array
        below : sequence of array
            Functionals that may not be positive.
        one : array, optional
            Charnes and Cooper: the joint is scaled so that this functional is `COUNT`.
        extra : int
        """
        answer = self._solve(objective, below, one, extra)
        if answer.status == 0:
            return float(answer.fun)
        return None if answer.status == 2 else -math.inf

    def _solve(self, objective: FloatArray, below: Sequence[FloatArray], one: FloatArray | None, extra: int) -> Any:
        rows, right, limits = self._with_columns(extra), self.needs, [np.asarray(row) for row in below]
        if one is not None:
            rows = sparse.hstack([rows, sparse.csr_array(-self.needs[:, None] / COUNT)])
            rows = sparse.vstack([rows, sparse.csr_array(np.append(one, 0.0)[None, :])])
            right = np.append(np.zeros(len(self.needs)), COUNT)
            limits = [np.append(row, 0.0) for row in limits]
            objective = np.append(objective, 0.0)
        for tolerance in (1e-9, 1e-7):
            answer = linprog(
                objective,
                A_eq=rows,
                b_eq=right,
                A_ub=sparse.csr_array(np.array(limits)) if limits else None,
                b_ub=np.zeros(len(limits)) if limits else None,
                method="highs",
                options={"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance},
            )
            if answer.status in (0, 2, 3):  # optimal, infeasible, unbounded
                return answer
        raise UnsolvedError(answer.message)

    def _with_columns(self, extra: int) -> Any:
        return sparse.hstack([self.rows, sparse.csr_array((self.rows.shape[0], extra))]) if extra else self.rows

    def _span(self, objective: FloatArray, one: FloatArray | None = None) -> tuple[float, float]:
        low, high = self.least(objective, one=one), self.least(-objective, one=one)
        assert low is not None
        assert high is not None
        return low, -high

    # -- ends ----------------------------------------------------------------------------------------------------------

    def condition(self, stem: str, group: Group) -> tuple[float, float]:
        """Return the least and greatest mass of a rate's condition."""
        low, high = self._span(self.rate(stem, group)[1])
        return low / COUNT, high / COUNT

    def rate_ends(self, stem: str, group: Group) -> Ends:
        """Return the ends of one group's rate; None where its condition never has mass."""
        counted, among = self.rate(stem, group)
        if self.condition(stem, group)[1] < TINY:
            return None
        low, high = self._span(counted, one=among)
        return low / COUNT, high / COUNT

    def rate_joint(self, stem: str, group: Group, *, upper: bool) -> dict[Cell, float]:
        """Return a joint in which one group's rate is at an end."""
        counted, among = self.rate(stem, group)
        answer = self._solve(-counted if upper else counted, (), among, 0)
        assert answer.status == 0, answer.message
        return {cell: mass / answer.x[-1] for cell, mass in zip(self.cells, answer.x[:-1], strict=True) if mass > 0}

    def level(self, stem: str, *, largest: bool) -> float:
        """Return the smallest possible largest rate (or the largest possible smallest) by bisection, any masses."""
        ends, sign = [0.0, 1.0], 1.0 if largest else -1.0
        rates = [self.rate(stem, g) for g in self.groups]
        for _ in range(40):
            middle = (ends[0] + ends[1]) / 2
            rows = [sign * (counted - middle * among) for counted, among in rates]
            possible = self.least(np.zeros(len(self.cells)), below=rows) is not None
            ends[1 if possible == largest else 0] = middle
        return (ends[0] + ends[1]) / 2

    def _per_head(self, stem: str, group: Group) -> FloatArray:
        low, high = self._span(self.mass(group))
        assert high - low < 1e-9 * COUNT, "the mass of the group is not fixed"
        return self.rate(stem, group)[0] / low

    def difference_ends(self, stem: str, a: Group, b: Group) -> tuple[float, float]:
        """Return the ends of a difference of rates among whole groups of fixed mass."""
        return self._span(self._per_head(stem, a) - self._per_head(stem, b))

    def ratio_ends(self, stem: str, a: Group, b: Group) -> Ends:
        """Return the ends of a ratio of rates among whole groups of fixed mass; x/0 is infinite, 0/0 left out."""
        first, second = self._per_head(stem, a), self._per_head(stem, b)
        if self._span(second)[1] < TINY:
            return None if self._span(first)[1] < TINY else (math.inf, math.inf)
        return self._span(first, one=COUNT * second)

    def gap_ends(self, stem: str) -> tuple[float, float]:
        """Return the ends of the largest less the smallest rate, the group masses being fixed."""
        heads = [COUNT * self._per_head(stem, g) for g in self.groups]
        rows = [np.append(head, [-1.0, 0.0]) for head in heads] + [np.append(-head, [0.0, 1.0]) for head in heads]
        low = self.least(np.append(np.zeros(len(self.cells)), [1.0, -1.0]), below=rows, extra=2)
        assert low is not None
        pairs = itertools.combinations(self.groups, 2)
        return low / COUNT, max(abs(end) for a, b in pairs for end in self.difference_ends(stem, a, b))

    def parity_ratio_ends(self, stem: str) -> Ends:
        """Return the ends of the smallest over the largest rate, the group masses being fixed."""
        ratios = [self.ratio_ends(stem, a, b) for a, b in itertools.permutations(self.groups, 2)]
        lows = [ends[0] for ends in ratios if ends is not None]
        return (min(lows), self._greatest_relative(stem, self.groups)) if lows else None

    def impact_ends(self, stem: str, group: Group) -> Ends:
        """Return the ends of a group's rate over the largest, the group masses being fixed."""
        ratios = [self.ratio_ends(stem, group, other) for other in self.groups if other != group]
        lows = [ends[0] for ends in ratios if ends is not None]
        possible = any(self._span(self._per_head(stem, other))[1] > TINY for other in self.groups)
        return (min([1.0, *lows]), self._greatest_relative(stem, [group])) if possible else None

    def _greatest_relative(self, stem: str, raised: Sequence[Group]) -> float:
        """Return the greatest s with every raised group's rate at least s times a level that no rate exceeds."""
        none = np.zeros(len(self.cells))
        rows = [np.append(-COUNT * self._per_head(stem, g), [COUNT, 0.0]) for g in raised]
        rows += [np.append(COUNT * self._per_head(stem, g), [0.0, -COUNT]) for g in self.groups]
        found = self.least(np.append(none, [-1.0, 0.0]), below=rows, one=np.append(none, [0.0, COUNT]), extra=2)
        assert found is not None
        return -found

    def pair_ends(self, stem: str, a: Group, b: Group, form: str, tolerance: float = 2e-6) -> tuple[float, float]:
        """Return the ends of a difference or ratio of any two rates, by a grid over the first, refined where needed."""
        if form == "ratio":
            below, above = (self._greatest(stem, *pair, _relative, tolerance) for pair in ((b, a), (a, b)))
            return 0.0 if math.isinf(below) else 1.0 / below if below > 0 else math.inf, above
        return tuple(  # type: ignore[return-value]
            sign * self._greatest(stem, *pair, lambda x, y: x - y, tolerance)
            for sign, pair in ((-1.0, (b, a)), (1.0, (a, b)))
        )

    def _greatest(
        self, stem: str, a: Group, b: Group, combine: Callable[[float, float], float], tolerance: float
    ) -> float:
        """Maximise combine(rate of a, rate of b): on a cell of the grid it is at most combine(top, ψ(bottom))."""
        span = self.rate_ends(stem, a)
        assert span is not None
        (above_a, below_a), (above_b, below_b) = self.rate(stem, a), self.rate(stem, b)

        def second(floor: float, before: float) -> float:
            try:
                found = self.least(above_b, below=[floor * below_a - above_a], one=below_b)
            except UnsolvedError:  # b's condition has next to no mass there; a lower floor has nothing larger
                return before
            return math.inf if found is None else found / COUNT

        start = second(span[0], 0.0)
        best, queue = combine(span[0], start), [(-math.inf, *span, start)]
        while queue and best < math.inf:
            top, low, high, least = heapq.heappop(queue)
            if -top <= best + tolerance * max(1.0, abs(best)) or 0 < high - low < 1e-8:
                return max(best, -top)
            for left, right in itertools.pairwise(np.linspace(low, high, 7).tolist()):
                least = second(left, least)
                if math.isfinite(least):
                    best = max(best, combine(left, least))
                    heapq.heappush(queue, (-combine(right, least), left, right, least))
        return best


def _relative(first: float, second: float) -> float:
    if second < TINY:
        return math.inf if first > TINY else 0.0
    return first / second
