"""Pairs of rates, the width of each stratum and the categories of regulators, against linear programs and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles import Polytope
from strategies import Sizes, fitting, numpy_dice, problem_of, world

import fairbounds as fb
from fairbounds.bounding import bound, bound_all
from fairbounds.errors import ProblemError
from fairbounds.openness import stratum_widths
from fairbounds.regions import region, regions
from fairbounds.results import Audit

SEEDS = range(24)
DIRECTIONS = [(math.cos(turn), math.sin(turn)) for turn in np.linspace(0, 2 * math.pi, 14)[:-1]]


def known(seed: int):
    """Return a world in which every group's size is known, and its problem."""
    made = world(numpy_dice(seed), Sizes(), population="external")
    return made, problem_of(made.facts, made.names)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_region_reaches_as_far_as_a_linear_program_in_every_direction(seed: int) -> None:
    made, problem = known(seed)
    reference = problem.groups[problem.reference]
    polytope = Polytope(made.facts)
    for rate in ("selection", "base", "accuracy") if made.facts.labelled else ("selection",):
        for group in [level for level in problem.groups if level != reference]:
            corners = np.array(region(problem, group, rate=rate).corners)
            rates = [
                polytope.rate(rate, name)[0] / (problem.group_mass[problem.groups.index(name)] * 1e5)
                for name in (reference, group)
            ]
            for along in DIRECTIONS:
                furthest = polytope.least(-(along[0] * rates[0] + along[1] * rates[1]))
                assert furthest is not None
                assert (corners @ along).max() == pytest.approx(-furthest, abs=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_joint_that_fits_has_its_rates_in_the_region_and_the_corners_give_the_bounds(seed: int) -> None:
    made, problem = known(seed)
    joint = fitting(made.facts, np.random.default_rng(seed))
    from oracles import rate_of

    for found in regions(problem):
        pair = rate_of(joint, "selection", found.reference), rate_of(joint, "selection", found.group)
        assert found.contains(*pair, tolerance=1e-6)
        ends = bound(problem, "demographic_disparity", group=found.group)
        gaps = [group - reference for reference, group in found.corners]
        assert (min(gaps), max(gaps)) == pytest.approx((ends.lower, ends.upper), abs=1e-9)
        assert found.meets(1.0) == (ends.lower <= 1e-12 and ends.upper >= -1e-12)


def test_two_groups_share_a_fixed_total_so_their_region_is_a_line() -> None:
    problem = fb.Problem.from_tables(
        fb.Table.from_columns({"job": ["a", "a"], "ok": ["yes", "no"]}, [3, 7]),
        fb.Table.from_columns({"job": ["a", "a"], "sex": ["F", "M"]}, [1, 1]),
        protected="sex",
        decision="ok",
        reference="M",
    )
    found = region(problem, "F")
    assert np.allclose(found.corners, [(0.6, 0.0), (0.0, 0.6)])  # three of ten, five of each: none or all of them
    assert found.contains(0.3, 0.3)
    assert not found.contains(0.3, 0.31)
    assert not found.contains(0.7, -0.1)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_parts_of_the_strata_add_up_to_the_width(seed: int) -> None:
    _, problem = known(seed)
    for most in (1, 100):
        parts = stratum_widths(problem, most)
        assert sum(part.mass for part in parts) == pytest.approx(1)
        assert (parts[-1].stratum is None) == (len(problem.strata.mass) > most)
        for at, group in enumerate(problem.groups):
            width = bound(problem, "selection_rate", group=group).width
            assert sum(part.widths[at] for part in parts) == pytest.approx(width, abs=1e-9)


def test_a_stratum_leaves_open_what_frechet_leaves_open() -> None:
    internal = fb.Table.from_columns({"job": ["a", "a", "b", "b"], "ok": ["yes", "no"] * 2}, [3, 7, 9, 1])
    external = fb.Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M"] * 2}, [2, 8, 5, 5])
    problem = fb.Problem.from_tables(internal, external, protected="sex", decision="ok")
    parts = {part.stratum: part.widths[problem.groups.index("F")] for part in stratum_widths(problem)}
    # p(F) = 7/20. In a, of F's 2 between 0 and 2 are favoured; in b, of 5 between 4 and 5.
    assert parts == pytest.approx({"job=a": 2 / 7, "job=b": 1 / 7})


def test_sizes_that_are_not_known_leave_no_region() -> None:
    internal = fb.Table.from_columns({"job": ["a", "a", "b"], "ok": ["yes", "no", "yes"]})
    external = fb.Table.from_columns({"job": ["a", "a"], "sex": ["F", "M"]})
    problem = fb.Problem.from_tables(internal, external, protected="sex", decision="ok", population="internal")
    assert regions(problem) == ()
    assert stratum_widths(problem) == ()
    with pytest.raises(ProblemError, match="sizes are not known"):
        region(problem, "F", reference="M")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"reference": "F"}, "group and reference are both 'F'"), ({"rate": "true_positive"}, "among the whole group")],
)
def test_a_region_that_makes_no_sense_is_refused(options: dict[str, str], message: str) -> None:
    internal = fb.Table.from_columns({"job": ["a", "a"], "ok": ["yes", "no"]})
    external = fb.Table.from_columns({"job": ["a", "a"], "sex": ["F", "M"]})
    problem = fb.Problem.from_tables(internal, external, protected="sex", decision="ok", reference="M")
    with pytest.raises(ProblemError, match=message):
        region(problem, "F", **options)


# -- categories --------------------------------------------------------------------------------------------------------

INTERNAL = {"job": ["a", "a", "b", "b"], "ok": ["yes", "no"] * 2, "n": [30, 70, 90, 10]}
EXTERNAL = {
    "job": ["a"] * 4 + ["b"] * 4,
    "sex": ["F", "F", "M", "M"] * 2,
    "race": ["X", "Y"] * 4,
    "people": [10, 10, 40, 40, 10, 40, 49, 1],
}


@pytest.fixture(scope="module")
def both() -> Audit:
    return audited(["sex", "race"])


def audited(protected: list[str]) -> Audit:
    weights = {"internal_weight": "n", "external_weight": "people"}
    return fb.audit(INTERNAL, EXTERNAL, protected=protected, decision="ok", favourable="yes", **weights)


def test_each_column_and_their_intersection_are_classified(both: Audit) -> None:
    assert [entry.name for entry in both.classifications] == ["sex", "race", "sex × race"]
    assert [category.level for category in both.classifications[-1].categories] == [e.group for e in both.groups]
    assert all(sum(c.share for c in entry.categories) == pytest.approx(1) for entry in both.classifications)
    assert [entry.name for entry in audited(["sex"]).classifications] == ["sex"]


def test_a_column_within_an_intersection_is_what_it_is_by_itself(both: Audit) -> None:
    for entry, alone in zip(both.classifications, (audited(["sex"]), audited(["race"])), strict=False):
        for one, other in zip(entry.categories, alone.classifications[0].categories, strict=True):
            for name in ("selection_rate", "impact_ratio"):
                found, expected = getattr(one, name), getattr(other, name)
                assert found.bounds == expected.bounds
                assert found.estimate("independence") == pytest.approx(expected.estimate("independence"))
            assert one.share == pytest.approx(other.share)


def test_a_shortfall_by_hand() -> None:
    women, men = audited(["sex"]).classifications[0].categories
    # F: 20 of 100 in a, 50 of 100 in b; favoured are 0 to 20 of a's 30 and 40 to 50 of b's 90.
    rates = women.selection_rate.bounds, men.selection_rate.bounds
    assert [(end.lower, end.upper) for end in rates] == [
        pytest.approx((40 / 70, 1)),
        pytest.approx((50 / 130, 80 / 130)),
    ]
    assert (women.shortfall_lower, women.shortfall_upper) == pytest.approx((0, 80 / 130 - 40 / 70))
    assert (men.shortfall_lower, men.shortfall_upper) == pytest.approx((0, 1 - 50 / 130))
    assert women.impact_ratio.bounds.lower == pytest.approx((40 / 70) / (80 / 130))


def test_a_column_with_one_level_is_left_out() -> None:
    one = {**EXTERNAL, "country": ["UK"] * 8}
    weights = {"internal_weight": "n", "external_weight": "people"}
    found = fb.audit(INTERNAL, one, protected=["sex", "country"], decision="ok", favourable="yes", **weights)
    assert [entry.name for entry in found.classifications] == ["sex", "sex × country"]


def test_impact_ratios_among_many_groups_are_valid_without_a_search() -> None:
    dice = np.random.default_rng(3)
    groups = [f"g{at}" for at in range(14)]
    cells = [(job, group) for job in "abc" for group in groups]
    external = fb.Table.from_columns(
        {"job": [job for job, _ in cells], "race": [group for _, group in cells]}, dice.integers(1, 50, len(cells))
    )
    internal = fb.Table.from_columns({"job": list("aabbcc"), "ok": ["yes", "no"] * 3}, [9, 1, 5, 5, 7, 3])
    problem = fb.Problem.from_tables(internal, external, protected="race", decision="ok", favourable="yes")
    for quick, sharp in zip(
        bound_all(problem, "impact_ratio", search=False), bound_all(problem, "impact_ratio"), strict=True
    ):
        assert (quick.sharp, sharp.sharp) == (False, True)
        assert quick.lower == pytest.approx(sharp.lower)
        assert sharp.upper - 1e-12 <= quick.upper <= 1
    few = fb.audit(internal, external, protected="race", decision="ok", favourable="yes", metrics=["disparate_impact"])
    assert all(not entry.impact_ratio.bounds.sharp for entry in few.classifications[0].categories)
    asked = fb.audit(internal, external, protected="race", decision="ok", favourable="yes", metrics=["impact_ratio"])
    assert all(entry.impact_ratio.bounds.sharp for entry in asked.classifications[0].categories)


def test_they_are_stored_and_read_back(both: Audit) -> None:
    assert both.regions
    assert both.widths
    assert Audit.from_dict(both.to_dict()) == both
    old = {key: value for key, value in both.to_dict().items() if key not in ("classifications", "widths", "regions")}
    assert Audit.from_dict(old).findings == both.findings
