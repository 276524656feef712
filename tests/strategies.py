"""Random worlds: two tables and what is true behind them, from numpy (many, large) or hypothesis (they shrink)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st
from oracles import Cell, Facts, Group, Joint, Raw, Stratum, requirements

from fairbounds.problem import Problem
from fairbounds.tables import Table


class Dice(Protocol):
    """Where a random world gets its numbers from."""

    def __call__(self, low: int, high: int) -> int:
        """Return a whole number between the two, both included."""
        ...


def numpy_dice(seed: int) -> Dice:
    rng = np.random.default_rng(seed)
    return lambda low, high: int(rng.integers(low, high + 1))


@dataclass(frozen=True)
class Sizes:
    """How large a world may be."""

    groups: int = 6
    strata: int = 10
    outcomes: int = 20
    weight: int = 9


SMALL = Sizes(groups=3, strata=3, outcomes=4, weight=4)


@dataclass(frozen=True)
class World:
    """Two tables and, where they were taken from one, the joint table behind them.

    Attributes
    ----------
    facts : Facts
    truth : dict or None
        Weights of the audited population.
    names : tuple of str
        The common variables.
    """

    facts: Facts
    names: tuple[str, ...]
    truth: Joint | None = None
    consistent: bool = False
    problem: Problem = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "problem", problem_of(self.facts, self.names))

    @property
    def groups(self) -> list[Any]:
        return self.facts.possible_groups

    def __repr__(self) -> str:
        return (
            f"World({self.facts.population}, internal={dict(self.facts.internal)}, "
            f"external={dict(self.facts.external)}, truth={self.truth})"
        )


def tables_of(facts: Facts, names: tuple[str, ...]) -> tuple[Table, Table]:
    """Write facts as the tables that a user would have; both levels of an outcome are always known."""
    raws = [*facts.internal, *((next(iter(facts.internal))[0], raw) for raw in facts.everything())]
    weights = [*facts.internal.values(), *(0.0 for _ in facts.everything())]
    internal = {name: [c[at] for c, _ in raws] for at, name in enumerate(names)}
    internal["outcome"] = [raw[0] for _, raw in raws]
    if facts.labelled:
        internal["truth"] = [raw[1] for _, raw in raws]
    external = {name: [c[at] for c, _ in facts.external] for at, name in enumerate(names)}
    external["group"] = [g for _, g in facts.external]
    return Table.from_columns(internal, weights), Table.from_columns(external, list(facts.external.values()))


def problem_of(facts: Facts, names: tuple[str, ...], **options: Any) -> Problem:
    internal, external = tables_of(facts, names)
    roles: dict[str, Any] = {"score": "outcome"} if facts.scored else {"decision": "outcome", "favourable": "yes"}
    if facts.labelled:
        roles |= {"label": "truth", "positive": "good"}
    return Problem.from_tables(
        internal, external, protected="group", population=facts.population, **(roles | {"common": names} | options)
    )


def joint_of(table: Table, names: tuple[str, ...]) -> dict[Cell, float]:
    """Read a joint table back into cells."""
    assert table.names[: len(names)] == names
    assert table.names[-1] == "group"
    return {(levels[: len(names)], levels[len(names) : -1], levels[-1]): weight for levels, weight in table.cells()}


# -- making worlds -----------------------------------------------------------------------------------------------------


def world(
    dice: Dice,
    sizes: Sizes = Sizes(),
    *,
    scored: bool | None = None,
    labelled: bool | None = None,
    population: str | None = None,
    consistent: bool | None = None,
    one_sided: bool = True,
    spread: int = 0,
) -> World:
    """Draw a joint table of small counts with many zeros and ties, and take two tables from it.

    With a spread, counts are multiplied by powers of ten. A world that is not consistent weighs the strata of the
    other population anew, some with nothing, and adds strata that the audited population lacks.
    """
    scored = bool(dice(0, 1)) if scored is None else scored
    labelled = bool(dice(0, 1)) if labelled is None else labelled
    population = ("external", "internal")[dice(0, 1)] if population is None else population
    consistent = dice(0, 2) == 0 if consistent is None else consistent
    names, strata = _strata(dice, sizes)
    groups = [f"g{at}" for at in range(dice(2, sizes.groups))]
    raws = _raws(dice, sizes, scored, labelled)
    counts = _counts(dice, sizes, strata, raws, groups)
    truth = {cell: weight * 10.0 ** dice(0, spread) for cell, weight in counts.items() if weight}
    inner, outer = _sum(truth, lambda c, raw, g: (c, raw)), _sum(truth, lambda c, raw, g: (c, g))
    if not consistent:
        factor = {c: dice(0, 3) if one_sided else dice(1, 3) for c in strata}
        factor[strata[0]] = max(1, factor[strata[0]])  # the two groups that every world has are known
        if population == "external":
            inner = {key: weight * factor[key[0]] for key, weight in inner.items() if factor[key[0]]}
        else:
            outer = {key: weight * factor[key[0]] for key, weight in outer.items() if factor[key[0]]}
        inner, outer = _with_strangers(dice, names, raws, groups, population, inner, outer)
    facts = Facts(inner, outer, population, scored, labelled)
    return World(facts, names, truth, consistent)


def _strata(dice: Dice, sizes: Sizes) -> tuple[tuple[str, ...], list[Stratum]]:
    n_strata, n_names = dice(1, sizes.strata), dice(1, 2)
    width = dice(1, 3)
    if n_names == 1:
        return ("job",), [(f"job {at}",) for at in range(n_strata)]
    return ("job", "town"), [(f"job {at % width}", f"town {at // width}") for at in range(n_strata)]


def _raws(dice: Dice, sizes: Sizes, scored: bool, labelled: bool) -> list[Raw]:
    if scored:
        n = dice(2, max(2, sizes.outcomes // (1 + labelled)))
        scores = [float(dice(0, 4)) / 4 if dice(0, 1) else dice(0, 1000) / 1000 for _ in range(n)]
        firsts: list[Hashable] = list(dict.fromkeys(scores))
    else:
        firsts = ["yes", "no", "wait"][: dice(2, 3)]
    return [(first, label) for first in firsts for label in ("good", "bad")] if labelled else [(f,) for f in firsts]


def _counts(dice: Dice, sizes: Sizes, strata: list[Stratum], raws: list[Raw], groups: list[str]) -> dict[Cell, float]:
    """Fill cells, sparsely in some strata; the first stratum has two groups, and none is empty."""
    counts: dict[Cell, float] = {}
    for at, c in enumerate(strata):
        busy = dice(0, 3)
        for g in groups:
            for raw in raws:
                counts[c, raw, g] = dice(1, sizes.weight) if dice(0, 3) <= busy else 0
        if at == 0:
            for g in groups[:2]:
                counts[c, raws[dice(0, len(raws) - 1)], g] += 1
        elif not any(counts[c, raw, g] for raw in raws for g in groups):
            counts[c, raws[0], groups[dice(0, len(groups) - 1)]] = 1
    return counts


def _sum(joint: Joint, key: Callable[..., Any]) -> dict[Any, float]:
    sums: dict[Any, float] = {}
    for (c, raw, g), weight in joint.items():
        sums[key(c, raw, g)] = sums.get(key(c, raw, g), 0.0) + weight
    return sums


def _with_strangers(
    dice: Dice,
    names: tuple[str, ...],
    raws: list[Raw],
    groups: list[str],
    population: str,
    inner: dict[tuple[Stratum, Raw], float],
    outer: dict[tuple[Stratum, Group], float],
) -> tuple[dict[tuple[Stratum, Raw], float], dict[tuple[Stratum, Group], float]]:
    """Add strata that the audited population lacks."""
    for at in range(dice(0, 2)):
        c = (f"job {90 + at}", "town 90")[: len(names)]
        if population == "external":
            inner = inner | {(c, raws[dice(0, len(raws) - 1)]): float(dice(1, 9))}
        else:
            outer = outer | {(c, groups[dice(0, len(groups) - 1)]): float(dice(1, 9))}
    return inner, outer


@st.composite
def worlds(draw: Any, sizes: Sizes = SMALL, **options: Any) -> World:
    """Worlds that shrink."""
    return world(lambda low, high: draw(st.integers(low, high)), sizes, **options)


# -- joints that fit ---------------------------------------------------------------------------------------------------


def fitting(facts: Facts, rng: np.random.Generator) -> dict[Cell, float]:
    """Return a joint that fits both tables: corners of every stratum's polytope, mixed, or a corner itself."""
    mix = 1.0 if rng.random() < 0.5 else rng.random()
    joint: dict[Cell, float] = {}
    for part, weight in ((_corner(facts, rng), mix), (_corner(facts, rng), 1.0 - mix)):
        for cell, mass in part.items():
            joint[cell] = joint.get(cell, 0.0) + weight * mass
    return {cell: mass for cell, mass in joint.items() if mass > 0}


def _corner(facts: Facts, rng: np.random.Generator) -> dict[Cell, float]:
    """Fill cells in random order, each as full as the two tables let it be."""
    left = [[set(keys), total] for keys, total in requirements(facts)]
    rows: dict[Cell, list[list[Any]]] = {}
    for row in left:
        for cell in row[0]:
            rows.setdefault(cell, []).append(row)
    cells = list(rows)
    joint: dict[Cell, float] = {}
    for at in rng.permutation(len(cells)):
        cell = cells[at]
        taken = min(row[1] for row in rows[cell])
        if taken > 0:
            joint[cell] = taken
            for row in rows[cell]:
                row[1] -= taken
    assert math.isclose(math.fsum(joint.values()), 1.0, abs_tol=1e-9)
    return joint


def renamed(facts: Facts, stratum: Callable[[Stratum], Stratum], group: Mapping[Any, Any] | None = None) -> Facts:
    """Give strata and groups other names."""
    mapping = group or {}
    return replace(
        facts,
        internal={(stratum(c), raw): weight for (c, raw), weight in facts.internal.items()},
        external={(stratum(c), mapping.get(g, g)): weight for (c, g), weight in facts.external.items()},
    )
