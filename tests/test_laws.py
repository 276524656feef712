"""The laws that every engine obeys, over the whole catalogue and every engine, on random worlds.

Truth and oracles come from `oracles` alone. Large worlds come from seeded numpy, small ones, which shrink, from
hypothesis.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from oracles import (
    UNCONDITIONAL,
    Facts,
    Joint,
    Polytope,
    independent,
    misfit,
    parts,
    rate_of,
    split_name,
    value_of,
)
from strategies import SMALL, Sizes, World, fitting, joint_of, numpy_dice, problem_of, renamed, tables_of, world, worlds

from fairbounds.bounding import bound, bound_all
from fairbounds.errors import ProblemError
from fairbounds.estimation import estimate
from fairbounds.extremes import levels
from fairbounds.metrics import CATALOGUE
from fairbounds.problem import Problem
from fairbounds.results import Audit, Bounds, Estimate, Finding, GroupSummary, Mismatch, StrataSummary, StratumMismatch
from fairbounds.tables import Table

EXACT, SEARCHED = 1e-9, 2e-6  # how far a closed form, or a search that stops at 1e-7, may be off
SEARCH_MISFIT = 2e-7  # HiGHS meets a margin to 1e-7
shrinking = settings(
    max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


class Question(NamedTuple):
    """A metric of a world, with its groups where it has any."""

    metric: str
    group: Any
    reference: Any

    @property
    def roles(self) -> dict[str, Any]:
        return {"group": self.group, "reference": self.reference}


def searched(asked: World, metric: str) -> bool:
    """Whether a metric of a world takes many programs."""
    stem, form = split_name(metric)
    loose = asked.facts.population == "internal" and asked.facts.one_sided
    return asked.facts.scored and form in ("difference", "ratio") and (stem not in UNCONDITIONAL or bool(loose))


def questions(asked: World, seed: int = 0, *, slow: bool = False) -> Iterator[Question]:
    """Ask for every metric that the world has a meaning for, of a random pair of groups."""
    a, b = np.random.default_rng(seed).permutation(asked.groups)[:2].tolist()
    for metric in CATALOGUE:
        if split_name(metric)[0] in asked.facts.stems and searched(asked, metric) == slow:
            yield Question(metric, a, b)


def answer(asked: World, question: Question) -> Bounds:
    return ask(asked.problem, question)


def ask(problem: Problem, question: Question) -> Bounds:
    return bound(problem, question.metric, **question.roles)


def true_value(asked: World, question: Question, joint: Joint) -> float | None:
    return value_of(question.metric, joint, asked.groups, question.group, question.reference)


def near(found: float | None, wanted: float | None, tolerance: float = EXACT) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return found == wanted or abs(found - wanted) <= tolerance * max(1.0, abs(wanted))


def slack(bounds: Bounds) -> float:
    return SEARCHED if bounds.method == "search" else EXACT


@cache
def large(seed: int) -> World:
    return world(numpy_dice(seed))


@cache
def small(seed: int) -> World:
    return world(numpy_dice(10_000 + seed), SMALL)


@cache
def scored(seed: int) -> World:
    """Small worlds whose conditional rates of pairs take a search."""
    return world(numpy_dice(20_000 + seed), Sizes(3, 3, 8, 5), scored=True, labelled=True)


@cache
def wide(seed: int) -> World:
    """Worlds whose cells hold from one person to a hundred thousand."""
    return world(numpy_dice(60_000 + seed), Sizes(4, 5, 8, 6), spread=5)


@cache
def even(seed: int) -> World:
    """Worlds whose two tables agree on the common variables."""
    return world(numpy_dice(30_000 + seed), Sizes(4, 8, 12, 6), consistent=True)


def any_world(seed: int) -> World:
    return large(seed) if seed % 2 else small(seed)


def slow_question(asked: World, seed: int) -> Question:
    asks = list(questions(asked, seed, slow=True))
    return asks[seed % len(asks)]


# -- 1: the truth lies within the bounds -------------------------------------------------------------------------------


def within(bounds: Bounds, value: float) -> bool:
    return bounds.contains(value, slack(bounds) * (1.0 if math.isinf(value) else max(1.0, abs(value))))


def check_truth(asked: World, question: Question, joint: Joint) -> None:
    bounds, truth = answer(asked, question), true_value(asked, question, joint)
    assert bounds.defined != "always" if truth is None else within(bounds, truth), (question, bounds, truth)


@pytest.mark.parametrize("seed", range(80))
def test_truth_and_joints_that_fit_lie_within_the_bounds(seed: int) -> None:
    asked = any_world(seed)
    rng = np.random.default_rng(seed)
    others = [fitting(asked.facts, rng) for _ in range(2)]
    assert all(misfit(joint, asked.facts) < EXACT for joint in others)
    for question in questions(asked, seed):
        for joint in (asked.truth, *others):
            check_truth(asked, question, joint)


@pytest.mark.parametrize("seed", range(24))
def test_masses_of_every_size_lie_within_the_bounds_and_attain_them(seed: int) -> None:
    asked, rng = wide(seed), np.random.default_rng(seed)
    for question in questions(asked, seed):
        for joint in (asked.truth, fitting(asked.facts, rng)):
            check_truth(asked, question, joint)
        check_attained(asked, question)


@pytest.mark.parametrize("seed", range(12))
def test_truth_lies_within_the_bounds_of_more_groups_than_have_their_sets_listed(seed: int) -> None:
    dice, rng = numpy_dice(70_000 + seed), np.random.default_rng(seed)
    asked = world(dice, Sizes(16, 5, 5, 9), labelled=False, population=("internal", "external")[seed % 2])
    for question in questions(asked, seed):
        for joint in (asked.truth, fitting(asked.facts, rng)):
            check_truth(asked, question, joint)


@pytest.mark.parametrize("seed", range(24))
def test_truth_and_joints_that_fit_lie_within_the_bounds_of_a_search(seed: int) -> None:
    asked, rng = scored(seed), np.random.default_rng(seed)
    question = slow_question(asked, seed)
    for joint in (asked.truth, *(fitting(asked.facts, rng) for _ in range(20))):
        check_truth(asked, question, joint)


@shrinking
@given(worlds())
def test_truth_lies_within_the_bounds_of_worlds_that_shrink(asked: World) -> None:
    for question in questions(asked):
        check_truth(asked, question, asked.truth)


# -- 2: estimates fit both tables and lie within the bounds ------------------------------------------------------------


def check_estimate(asked: World, question: Question) -> None:
    """An estimate is the metric of the independent joint; where that joint fits both tables it is within the bounds."""
    found, joint = estimate(asked.problem, question.metric, **question.roles), independent(asked.facts)
    assert near(found.value, true_value(asked, question, joint)), (question, found)
    assert found.margin_preserving == (misfit(joint, asked.facts) < EXACT)
    if found.margin_preserving and found.value is not None:
        assert within(answer(asked, question), found.value), (question, answer(asked, question), found)


@pytest.mark.parametrize("seed", range(60))
def test_estimates_that_preserve_the_margins_lie_within_the_bounds(seed: int) -> None:
    asked = any_world(seed)
    for question in questions(asked, seed):
        if not unseen_group(asked):
            check_estimate(asked, question)


@pytest.mark.parametrize("seed", range(8))
def test_estimates_lie_within_the_bounds_of_a_search(seed: int) -> None:
    check_estimate(scored(seed), slow_question(scored(seed), seed))


@shrinking
@given(worlds(consistent=True))
def test_estimates_of_consistent_worlds_that_shrink_lie_within_the_bounds(asked: World) -> None:
    for question in questions(asked):
        check_estimate(asked, question)


def unseen_group(asked: World) -> bool:
    """Whether the outcome of a group is nowhere known, so that an estimate has nothing to say of it."""
    return {g for _, _, g in independent(asked.facts)} != set(asked.groups)


# -- 3: closed form = linear program -----------------------------------------------------------------------------------


def fixed_masses(asked: World) -> bool:
    return asked.facts.population == "external" or not asked.facts.one_sided


def agree(bounds: Bounds, ends: tuple[float, float] | None, tolerance: float = 1e-7) -> bool:
    if ends is None:
        return (bounds.lower, bounds.upper, bounds.defined) == (None, None, "never")
    return near(bounds.lower, ends[0], tolerance) and near(bounds.upper, ends[1], tolerance)


def lp_world(seed: int) -> tuple[World, Polytope, Question]:
    asked = any_world(1_000 + seed)
    return asked, Polytope(asked.facts), next(questions(asked, seed))


@pytest.mark.parametrize("seed", range(50))
def test_rates_and_where_they_are_defined_are_those_of_linear_programs(seed: int) -> None:
    asked, polytope, (_, group, _) = lp_world(seed)
    for stem in asked.facts.stems:
        bounds = bound(asked.problem, f"{stem}_rate", group=group)
        assert agree(bounds, polytope.rate_ends(stem, group)), (bounds, polytope.rate_ends(stem, group))
        least, greatest = polytope.condition(stem, group)
        assert bounds.defined == ("never" if greatest < 1e-12 else "sometimes" if least < 1e-12 else "always")


@pytest.mark.parametrize("seed", range(50))
def test_pairs_of_rates_among_whole_groups_are_those_of_linear_programs(seed: int) -> None:
    asked, polytope, (_, a, b) = lp_world(seed)
    for stem in UNCONDITIONAL if fixed_masses(asked) else ():
        if stem in asked.facts.stems:
            roles = {"group": a, "reference": b}
            difference, ratio = (bound(asked.problem, f"{stem}_{form}", **roles) for form in ("difference", "ratio"))
            assert agree(difference, polytope.difference_ends(stem, a, b))
            assert agree(ratio, polytope.ratio_ends(stem, a, b)), (ratio, polytope.ratio_ends(stem, a, b))


@pytest.mark.parametrize("seed", range(24))
def test_pairs_of_conditional_rates_are_those_of_a_grid_of_linear_programs(seed: int) -> None:
    """Hard decisions, where the separate ends are attained together, and scores, where they are not."""
    asked = scored(100 + seed) if seed % 3 else world(numpy_dice(seed), SMALL, scored=False, labelled=True)
    polytope = Polytope(asked.facts)
    asks = [q for slow in (True, False) for q in questions(asked, seed, slow=slow)]
    asks = [q for q in asks if split_name(q.metric)[1] == "difference" and split_name(q.metric)[0] not in UNCONDITIONAL]
    stem, a, b = split_name(asks[seed % len(asks)].metric)[0], asks[0].group, asks[0].reference
    if min(polytope.condition(stem, g)[1] for g in (a, b)) > 1e-12:
        form = "ratio" if seed % 2 else "difference"
        bounds = answer(asked, Question(f"{stem}_{form}", a, b))
        if bounds.lower is None:  # 0/0 always
            assert form == "ratio"
            assert (polytope.rate_ends(stem, a), polytope.rate_ends(stem, b)) == ((0.0, 0.0), (0.0, 0.0))
        else:
            assert agree(bounds, polytope.pair_ends(stem, a, b, form), 1e-5), polytope.pair_ends(stem, a, b, form)


def test_separate_ends_would_give_1_where_three_quarters_is_the_most() -> None:
    """The example of docs/method.md, 3: one stratum, two groups of half its mass, four atoms of a quarter."""
    atoms = [(1.0, "good"), (0.5, "good"), (0.0, "good"), (0.3, "bad")]
    facts = Facts({(("c",), raw): 1.0 for raw in atoms}, {(("c",), g): 2.0 for g in "ab"}, "external", True, True)
    problem = problem_of(facts, ("job",))
    bounds = bound(problem, "true_positive_difference", group="a", reference="b")
    loose = bound(problem, "true_positive_difference", group="a", reference="b", search=False)
    assert (bounds.lower, bounds.upper) == pytest.approx((-0.75, 0.75), abs=2e-7)
    assert (bounds.sharp, bounds.method) == (True, "search")
    assert (loose.lower, loose.upper) == (-1.0, 1.0)
    assert (loose.sharp, loose.method) == (False, "separate ends")
    assert Polytope(facts).pair_ends("true_positive", "a", "b", "difference") == pytest.approx((-0.75, 0.75), abs=5e-6)


@pytest.mark.parametrize("seed", range(50))
def test_gap_and_ratio_of_all_groups_are_those_of_linear_programs(seed: int) -> None:
    asked, polytope, (_, group, _) = lp_world(seed)
    if fixed_masses(asked):
        assert agree(bound(asked.problem, "parity_gap"), polytope.gap_ends("selection"))
        assert agree(bound(asked.problem, "parity_ratio"), polytope.parity_ratio_ends("selection"))
        assert agree(bound(asked.problem, "impact_ratio", group=group), polytope.impact_ends("selection", group))


@pytest.mark.parametrize("is_scored", [False, True])
def test_gap_of_fifteen_groups_is_that_of_a_linear_program(is_scored: bool) -> None:
    """More groups than have their sets listed one by one."""
    asked = world(numpy_dice(5), Sizes(2, 6, 5, 9), scored=is_scored, labelled=False, consistent=True)
    rng = np.random.default_rng(1)
    strata = {c for c, _ in asked.facts.internal}
    external = {(c, f"g{at:02}"): float(w) for c in strata for at, w in enumerate(rng.integers(0, 5, 15)) if w}
    facts = dataclasses.replace(asked.facts, external=external, population="external")
    problem, polytope = problem_of(facts, asked.names), Polytope(facts)
    assert len(problem.groups) == 15
    bounds = bound(problem, "parity_gap")
    least = polytope.level("selection", largest=True) - polytope.level("selection", largest=False)
    assert bounds.lower == pytest.approx(max(0.0, least), abs=1e-8)
    assert bounds.sharp
    joint = joint_of(bounds.attained_by("lower"), asked.names)
    assert misfit(joint, facts) < EXACT
    assert value_of("parity_gap", joint, problem.groups, None, None) == pytest.approx(bounds.lower, abs=EXACT)


@pytest.mark.parametrize("seed", range(20))
def test_levels_of_all_groups_are_those_of_bisection_even_where_shares_are_unknown(seed: int) -> None:
    asked = world(numpy_dice(40_000 + seed), Sizes(4, 5, 6, 9), labelled=False, population="internal", consistent=False)
    found, polytope = levels(asked.problem), Polytope(asked.facts)
    assert found.sharp == fixed_masses(asked)
    assert found.smallest_largest == pytest.approx(polytope.level("selection", largest=True), abs=1e-8)
    assert found.largest_smallest == pytest.approx(polytope.level("selection", largest=False), abs=1e-8)


# -- 4: more information never widens ----------------------------------------------------------------------------------


def inside(finer: Bounds, coarser: Bounds) -> bool:
    if finer.lower is None or finer.upper is None:
        return True
    return coarser.contains(finer.lower, slack(coarser)) and coarser.contains(finer.upper, slack(coarser))


@pytest.mark.parametrize("seed", range(50))
def test_merging_strata_of_consistent_tables_never_narrows(seed: int) -> None:
    asked = even(seed)
    strata = sorted({c for c, _ in asked.facts.internal})
    merged = {c: strata[at // 2] for at, c in enumerate(strata)} if seed % 2 else dict.fromkeys(strata, strata[0])
    coarser = regrouped(asked, lambda c: merged[c])
    for question in questions(asked, seed):
        assert inside(answer(asked, question), ask(coarser, question)), question


@pytest.mark.parametrize("seed", range(8))
def test_merging_strata_never_narrows_a_search(seed: int) -> None:
    asked = world(numpy_dice(50_000 + seed), Sizes(3, 3, 6, 5), scored=True, labelled=True, consistent=True)
    coarser, question = regrouped(asked, lambda c: ("one",) * len(c)), slow_question(asked, seed)
    assert inside(answer(asked, question), ask(coarser, question)), question


@pytest.mark.parametrize("seed", range(20))
def test_a_common_variable_left_out_never_narrows(seed: int) -> None:
    asked = even(seed)
    if len(asked.names) == 2:
        coarser = problem_of(asked.facts, asked.names, common=["town"])
        for question in questions(asked, seed):
            assert inside(answer(asked, question), ask(coarser, question)), question


@pytest.mark.parametrize("seed", range(20))
def test_the_two_populations_of_consistent_tables_are_one(seed: int) -> None:
    asked = even(seed)
    other = dataclasses.replace(
        asked.facts, population={"external": "internal"}.get(asked.facts.population, "external")
    )
    problem = problem_of(other, asked.names)
    for question in questions(asked, seed):
        check_same(answer(asked, question), ask(problem, question))


def regrouped(asked: World, stratum: Callable[[Any], Any]) -> Problem:
    """Merge strata, adding up what meets."""
    sums: list[dict[Any, float]] = [{}, {}]
    for total, cells in zip(sums, (asked.facts.internal, asked.facts.external), strict=True):
        for (c, key), weight in cells.items():
            total[stratum(c), key] = total.get((stratum(c), key), 0.0) + weight
    return problem_of(dataclasses.replace(asked.facts, internal=sums[0], external=sums[1]), asked.names)


# -- 5: order and names mean nothing; swapping two groups negates or inverts -------------------------------------------


def check_same(left: Bounds, right: Bounds) -> None:
    assert near(left.lower, right.lower, slack(left)), (left, right)
    assert near(left.upper, right.upper, slack(left)), (left, right)
    assert (left.defined, left.method, left.sharp) == (right.defined, right.method, right.sharp)


def shuffled(cells: dict[Any, float], rng: np.random.Generator) -> dict[Any, float]:
    keys = list(cells)
    return {keys[at]: 7.5 * cells[keys[at]] for at in rng.permutation(len(keys))}


def disguised(asked: World, seed: int) -> tuple[Problem, dict[Any, Any]]:
    """Shuffle and scale the cells, rename levels, groups and variables so that their order changes, turn columns."""
    rng = np.random.default_rng(seed)
    levels_ = sorted({level for c, _ in (*asked.facts.internal, *asked.facts.external) for level in c})
    names = dict(zip(levels_, (f"level {at}" for at in rng.permutation(len(levels_))), strict=True))
    groups = dict(zip(asked.facts.groups, (f"h{at}" for at in rng.permutation(len(asked.facts.groups))), strict=True))
    facts = renamed(asked.facts, lambda c: tuple(names[level] for level in c)[::-1], groups)
    facts = dataclasses.replace(
        facts, internal=shuffled(dict(facts.internal), rng), external=shuffled(dict(facts.external), rng)
    )
    return problem_of(facts, tuple(f"x{name}" for name in asked.names[::-1])), groups


@pytest.mark.parametrize("seed", range(50))
def test_names_and_order_mean_nothing(seed: int) -> None:
    asked = any_world(seed)
    problem, groups = disguised(asked, seed)
    for metric, a, b in questions(asked, seed):
        roles = {"group": groups[a], "reference": groups[b]}
        check_same(answer(asked, Question(metric, a, b)), bound(problem, metric, **roles))
        mine = estimate(asked.problem, metric, group=a, reference=b)
        theirs = estimate(problem, metric, **roles)
        if not unseen_group(asked):
            assert near(mine.value, theirs.value)


@pytest.mark.parametrize("seed", range(8))
def test_names_and_order_mean_nothing_to_a_search(seed: int) -> None:
    asked = scored(200 + seed)
    (metric, a, b), (problem, groups) = slow_question(asked, seed), disguised(asked, seed)
    check_same(answer(asked, Question(metric, a, b)), ask(problem, Question(metric, groups[a], groups[b])))


def check_swap(asked: World, question: Question) -> None:
    forth, back = answer(asked, question), answer(asked, Question(question.metric, *question[:0:-1]))
    if forth.lower is None or forth.upper is None:
        if CATALOGUE[question.metric].form == "difference":
            assert back.lower is None
        return  # a/b is never defined where b is always 0, and b/a may be
    if CATALOGUE[question.metric].form == "difference":
        assert near(forth.lower, -back.upper, slack(forth))
        assert near(forth.upper, -back.lower, slack(forth))
    elif back.lower is not None and back.upper is not None:
        assert near(forth.lower, inverse(back.upper), slack(forth) * 10), (forth, back)
        assert near(forth.upper, inverse(back.lower), slack(forth) * 10), (forth, back)


def inverse(ratio: float) -> float:
    return 0.0 if ratio == math.inf else math.inf if ratio == 0 else 1.0 / ratio


@pytest.mark.parametrize("seed", range(50))
def test_swapping_the_groups_negates_or_inverts(seed: int) -> None:
    asked = any_world(seed)
    for question in questions(asked, seed):
        if CATALOGUE[question.metric].pairwise:
            check_swap(asked, question)


@pytest.mark.parametrize("seed", range(8))
def test_swapping_the_groups_negates_or_inverts_a_search(seed: int) -> None:
    check_swap(scored(300 + seed), slow_question(scored(300 + seed), seed))


# -- 6: the joint that attains an end has exactly that metric ----------------------------------------------------------


def check_attained(asked: World, question: Question) -> None:
    bounds = answer(asked, question)
    if bounds.lower is None or bounds.upper is None or not bounds.sharp:
        return
    for end, wanted in (("lower", bounds.lower), ("upper", bounds.upper)):
        joint = joint_of(bounds.attained_by(end), asked.names)
        allowed = SEARCH_MISFIT if bounds.method == "search" else EXACT
        assert math.isclose(math.fsum(joint.values()), 1.0, abs_tol=allowed)
        assert misfit(joint, asked.facts) < allowed, (question, end)
        found = true_value(asked, question, joint)
        if found is None and bounds.defined == "sometimes" and CATALOGUE[question.metric].pairwise:
            check_approached(asked, question, joint, end, wanted)
        elif wanted == math.inf:
            assert found == math.inf
            assert rate_of(joint, split_name(question.metric)[0], question.reference) == 0
        else:
            assert near(found, wanted, slack(bounds)), (question, end, bounds, found)


def check_approached(asked: World, question: Question, joint: Joint, end: str, wanted: float) -> None:
    """Where a condition can lose its mass an end may be a supremum: joints next to this one come as near as wanted."""
    stem, _ = split_name(question.metric)
    polytope, mixed = Polytope(asked.facts), dict(joint)
    lost = {g for g in (question.group, question.reference) if rate_of(joint, stem, g) is None}
    if asked.facts.scored and len(lost) == 2:
        return  # a mixture with either group's best would spoil the other's
    for group in lost:
        best = polytope.rate_joint(stem, group, upper=(group == question.group) == (end == "upper"))
        condition = sum(mass * parts(stem, raw)[1] for (_, raw, g), mass in best.items() if g == group)
        for cell, mass in best.items():
            mixed[cell] = mixed.get(cell, 0.0) + 1e-10 / condition * mass
    found = true_value(asked, question, mixed)
    assert found is not None
    assert near(found, wanted, 1e-4) or (wanted == math.inf and found > 1e4), (question, end, wanted, found)


@pytest.mark.parametrize("seed", range(50))
def test_both_ends_are_attained(seed: int) -> None:
    asked = any_world(seed)
    for question in questions(asked, seed):
        check_attained(asked, question)


@pytest.mark.parametrize("seed", range(16))
def test_both_ends_of_a_search_are_attained(seed: int) -> None:
    check_attained(scored(400 + seed), slow_question(scored(400 + seed), seed))


@shrinking
@given(worlds())
def test_both_ends_are_attained_in_worlds_that_shrink(asked: World) -> None:
    for question in questions(asked):
        check_attained(asked, question)


@pytest.mark.parametrize("seed", range(20))
def test_attaining_joints_speak_the_users_language(seed: int) -> None:
    """Names, groups and known levels are the user's; the joint is a Table whose margins are the user's tables'."""
    asked = even(seed)
    internal, external = tables_of(asked.facts, asked.names)
    bounds = bound_all(asked.problem, "disparate_impact")[0]
    if bounds.lower is not None:
        joint = bounds.attained_by("lower")
        assert joint.names == (*internal.names, "group")
        check_margin(joint, internal)
        check_margin(joint, external)


def check_margin(joint: Table, table: Table) -> None:
    ours, theirs = dict(joint.marginal(table.names).cells()), dict(table.cells())
    assert ours.keys() == theirs.keys()
    assert all(ours[key] == pytest.approx(theirs[key] / table.total, abs=EXACT) for key in ours)


# -- 7: from_dict(to_dict(x)) == x -------------------------------------------------------------------------------------


def through_json(data: Any) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


@pytest.mark.parametrize("seed", range(30))
def test_tables_survive_storage(seed: int) -> None:
    for table in tables_of(any_world(seed).facts, any_world(seed).names):
        assert Table.from_dict(table.to_dict()) == table
        assert Table.from_dict(through_json(table.to_dict())) == table


@pytest.mark.parametrize("seed", range(30))
def test_bounds_findings_and_audits_survive_storage(seed: int) -> None:
    asked = any_world(seed)
    findings = []
    for question in questions(asked, seed):
        bounds = answer(asked, question)
        roles = bounds.metric, bounds.group, bounds.reference
        assert Bounds.from_dict(through_json(bounds.to_dict()), *roles) == bounds
        value = estimate(asked.problem, question.metric, **question.roles)
        if value.value is None or not math.isnan(value.value):
            findings.append(Finding(*roles, bounds, (value, Estimate("other", None)), "below", 0.8, 0.1, "a note"))
            assert Finding.from_dict(through_json(findings[-1].to_dict())) == findings[-1]
    rates = bound_all(asked.problem, "selection_rate")
    audit = Audit(
        asked.facts.population,
        asked.problem.summary,
        asked.problem.mismatch,
        tuple(GroupSummary(rate.group, 0.5, rate) for rate in rates),
        tuple(findings),
        ("assumed",),
        ("beware",),
        {"source": "nowhere", "rows": [1, 2]},
    )
    assert Audit.from_dict(audit.to_dict()) == audit
    assert Audit.from_dict(through_json(audit.to_dict())) == audit


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds("disparate_impact", "F", "M", 0.5, math.inf),
        Bounds("disparate_impact", "F", "M", math.inf, math.inf, defined="sometimes"),
        Bounds("disparate_impact", "F", "M", None, None, defined="never"),
        Bounds("selection_rate", 3, None, 0.0, 1.0, "separate ends", sharp=False),
        Bounds("parity_gap", None, None, 0.0, 0.1 + 0.2, "search"),
    ],
)
def test_rare_bounds_survive_storage(bounds: Bounds) -> None:
    estimates = (Estimate("independence", math.inf, margin_preserving=False), Estimate("none", None))
    finding = Finding(bounds.metric, bounds.group, bounds.reference, bounds, estimates)
    assert Finding.from_dict(through_json(finding.to_dict())) == finding


def test_an_infinite_divergence_survives_storage() -> None:
    mismatch = Mismatch(math.inf, 0.25, 3.5, 4, 0.01, (StratumMismatch("job=a", 0.0, 0.25),))
    audit = Audit("internal", StrataSummary(3, 0.0, 0.25), mismatch, (), ())
    assert Audit.from_dict(through_json(audit.to_dict())) == audit


def test_only_an_audit_is_read_as_one() -> None:
    with pytest.raises(ProblemError, match="not a stored audit"):
        Audit.from_dict({"schema": "fairbounds/audit/0"})


def test_stored_bounds_say_that_they_rebuild_nothing() -> None:
    with pytest.raises(ProblemError, match="no joint can be rebuilt"):
        Bounds("disparate_impact", "F", "M", 0.5, 1.5).attained_by("lower")


# -- corner cases that were wrong once ---------------------------------------------------------------------------------

A, B, C = ("a",), ("b",), ("c",)


def asked_of(internal: Any, external: Any, population: str = "external") -> World:
    raws = [raw for _, raw in internal]
    is_scored = any(isinstance(raw[0], float) for raw in raws)
    return World(Facts(internal, external, population, is_scored, any(len(raw) == 2 for raw in raws)), ("job",))


def both(*strata: Any) -> dict[Any, float]:
    return {(c, g): 1.0 for c in strata for g in "FM"}


def test_a_search_copes_with_a_condition_that_can_vanish() -> None:
    atoms = [(0.0, "good"), (0.5, "good"), (1.0, "good")]
    asked = asked_of({**{(A, raw): 1.0 for raw in atoms}, (A, (0.5, "bad")): 3.0}, both(A))
    bounds = bound(asked.problem, "true_positive_difference", group="F", reference="M")
    assert agree(bounds, Polytope(asked.facts).pair_ends("true_positive", "F", "M", "difference"), 1e-5)


@pytest.mark.parametrize("metric", ["impact_ratio", "parity_ratio"])
def test_only_people_of_unknown_outcome_can_be_selected(metric: str) -> None:
    asked = asked_of({(A, ("no",)): 1.0}, both(A, B))
    bounds = bound(asked.problem, metric, group="F")
    assert (bounds.lower, bounds.upper, bounds.defined) == (0.0, 1.0, "sometimes")


def test_people_of_unknown_group_may_be_of_a_group_that_is_known_elsewhere_only() -> None:
    """Internal population: X is known in stratum b only, where nobody was decided on, so all of c may be X."""
    asked = asked_of(
        {(A, (1.0,)): 1.0, (A, (0.0,)): 1.0, (C, (0.5,)): 2.0}, {**both(A), (B, "X"): 1.0}, population="internal"
    )
    joint = {(A, (1.0,), "F"): 0.25, (A, (0.0,), "M"): 0.25, (C, (0.5,), "X"): 0.5}
    assert misfit(joint, asked.facts) < EXACT
    assert value_of("selection_difference", joint, "FM", "F", "M") == 1.0
    assert bound(asked.problem, "selection_difference", group="F", reference="M").contains(1.0, SEARCHED)


def test_an_estimate_that_is_undefined_is_none() -> None:
    asked = asked_of({(A, ("yes",)): 1.0}, {**both(A), (B, "X"): 1.0})
    assert estimate(asked.problem, "parity_gap").value is None


@pytest.mark.parametrize(
    ("first", "stem", "end"),
    [(0.5, "true_positive", "upper"), (0.5, "false_positive", "lower"), ("yes", "true_positive", "lower")],
)
def test_the_end_of_a_rate_is_attained_where_its_condition_has_mass(first: Any, stem: str, end: Any) -> None:
    asked = asked_of({(A, (first, "good")): 1.0, (A, (first, "bad")): 1.0}, both(A))
    bounds = bound(asked.problem, f"{stem}_rate", group="F")
    assert bounds.lower == bounds.upper
    assert rate_of(joint_of(bounds.attained_by(end), asked.names), stem, "F") == bounds.lower


def test_scores_that_hardly_differ_are_equalised_all_the_same() -> None:
    """A program in which one person more counts for less than the solver's tolerance stops short of its optimum."""
    internal = {(A, (0.28,)): 1.0, (A, (0.285,)): 3.0, (A, (0.29,)): 5.0}
    asked = asked_of(internal, {(A, "F"): 7.0, (A, "M"): 2.0, (A, "X"): 4.0})
    for metric, end in (("parity_gap", "lower"), ("parity_ratio", "upper"), ("impact_ratio", "upper")):
        bounds = bound(asked.problem, metric, group="F")
        joint = joint_of(bounds.attained_by(end), asked.names)
        wanted = bounds.lower if end == "lower" else bounds.upper
        assert near(value_of(metric, joint, "FMX", "F", None), wanted), metric


def test_the_end_of_a_rate_is_attained_whatever_the_rounding() -> None:
    internal = {(A, ("yes", "good")): 3.0, (A, ("yes", "bad")): 1.0, (A, ("no", "good")): 2.0}
    asked = asked_of(internal, {(A, "F"): 5.0, (A, "M"): 1.0})
    bounds = bound(asked.problem, "true_negative_rate", group="F")
    assert (bounds.lower, bounds.upper) == (0.0, 0.0)
    assert rate_of(joint_of(bounds.attained_by("upper"), asked.names), "true_negative", "F") == 0.0


@pytest.mark.parametrize(("group", "reference"), [("F", "M"), ("M", "F")])
def test_a_ratio_that_is_always_infinite_or_0_is_attained_where_it_is_defined(group: str, reference: str) -> None:
    """Nobody of M can be selected; F may be selected or not, and 0/0 is no ratio."""
    internal = {(A, ("yes",)): 1.0, (A, ("no",)): 1.0, (B, ("no",)): 1.0}
    asked = asked_of(internal, {(A, "F"): 1.0, (A, "X"): 1.0, (B, "M"): 1.0})
    bounds = bound(asked.problem, "selection_ratio", group=group, reference=reference)
    assert bounds.lower == bounds.upper == (math.inf if group == "F" else 0.0)
    for end in ("lower", "upper"):
        joint = joint_of(bounds.attained_by(end), asked.names)
        assert value_of("selection_ratio", joint, "FMX", group, reference) == bounds.lower
