"""The studies of the feasible set on real data, against figures worked out elsewhere and loops over the cells."""

import importlib.util
import itertools
import json
import os
import statistics
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from fairbounds.datasets import load_adult, load_compas, load_german
from fairbounds.errors import ProblemError
from fairbounds.progress import listening
from fairbounds.studies.common_sets import SMALLEST_LEAF, common_sets
from fairbounds.studies.real_data import DATA, real_data
from fairbounds.studies.real_feasible import feasible_real
from fairbounds.studies.trees import grow

# DESIGN.md, section 7, worked out by a program that shares no code with this one.
FIGURES = {
    "german": {
        "DI": {"true": 0.950589, "lower": 0.892385, "upper": 1.099011, "independence": 0.977368},
        "DD": {"true": -0.035125, "lower": -0.077930, "upper": 0.067243},
    },
    "adult": {
        "DI": {"true": 0.418786, "lower": 0.350284, "upper": 0.746892, "independence": 0.432349},
        "DD": {"true": -0.177592, "lower": -0.204124, "upper": -0.068353},
    },
    "compas": {
        "DI": {"true": 1.227442, "lower": 0.979782, "upper": 1.385931, "independence": 1.181738},
        "DD": {"true": 0.094121, "lower": -0.009629, "upper": 0.147350},
    },
}

# The two internal levels and the groups of the three experiments, in words of the raw tables.
EXPERIMENTS = {
    "german": (
        load_german,
        lambda p: (p["employment-since"] in ("4 to <7 years", ">=7 years"), p["housing"] == "own"),
        lambda p: p["credit"] == "good",
        ("sex", "female", "male"),
    ),
    "adult": (
        load_adult,
        lambda p: (p["capital-gain"] == ">5000", p["marital-status"] == "married"),
        lambda p: p["income"] == ">50K",
        ("sex", "Female", "Male"),
    ),
    "compas": (
        load_compas,
        lambda p: (p["priors_count"] >= 5, p["score_text"] == "Low"),
        lambda p: p["two_year_recid"] == "yes",
        ("race", "African-American", "Caucasian"),
    ),
}


@pytest.fixture(scope="module")
def study():
    return feasible_real(points=20, starts=8)


@pytest.fixture(scope="module")
def sets():
    need_trees()
    return common_sets(largest=2, draws=1_000, names=["compas"])


def need_trees():
    if importlib.util.find_spec("sklearn") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("scikit-learn is not installed")


def people(table):
    for levels, weight in table.cells():
        yield dict(zip(table.names, levels, strict=True)), weight


def true_by_hand(name, hard):
    load, combination, good, (protected, group, reference) = EXPERIMENTS[name]
    total, favourable = Counter(), Counter()
    for person, weight in people(load()):
        total[combination(person)] += weight
        favourable[combination(person)] += weight * good(person)
    held, selected = Counter(), Counter()
    for person, weight in people(load()):
        score = favourable[combination(person)] / total[combination(person)]
        held[person[protected]] += weight
        selected[person[protected]] += weight * ((score >= 0.5) if hard else score)
    a, b = (selected[who] / held[who] for who in (group, reference))
    return {"DI": a / b, "DD": a - b}


def test_figures_worked_out_independently_are_met_to_every_digit(study):
    for name, metrics in FIGURES.items():
        for metric, figures in metrics.items():
            for figure, value in figures.items():
                assert round(getattr(study.answer(name, metric), figure), 6) == value, (name, metric, figure)


def test_they_stand_beside_ours_in_the_output(study):
    beside = study.beside_expected()
    assert len(beside["expected"]) == 21
    named = zip(beside["data"], beside["metric"], beside["figure"], beside["expected"], strict=True)
    assert all(FIGURES[data][metric][figure] == value for data, metric, figure, value in named)
    assert all(beside["agrees"])
    moved = replace(study, answers=tuple(replace(a, lower=a.lower + 1e-6) for a in study.answers))
    agrees = zip(beside["figure"], moved.beside_expected()["agrees"], strict=True)
    assert {figure for figure, agreed in agrees if not agreed} == {"lower"}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("prediction", ["scores", "decisions"])
def test_the_truth_is_that_of_a_loop_over_people(study, name, prediction):
    expected = true_by_hand(name, prediction == "decisions")
    for metric, value in expected.items():
        answer = study.answer(name, metric, prediction)
        assert answer.true == pytest.approx(value, rel=1e-12)
        assert answer.lower - 1e-12 <= answer.true <= answer.upper + 1e-12


@pytest.mark.parametrize("name", DATA)
def test_the_exact_mean_is_that_of_a_fine_grid(name):
    study = feasible_real(points=400, starts=8, names=[name])
    for metric in ("DI", "DD"):
        grid, answer = study.grid(name, metric), study.answer(name, metric)
        # A grid with both ends gives them twice their weight: its error is of the order of width / points squared.
        assert answer.mean == pytest.approx(grid.mean, abs=(answer.upper - answer.lower) / 400)
        assert (grid.low, grid.high) == pytest.approx((answer.lower, answer.upper), rel=1e-12)
        assert grid.joints == grid.feasible == 400**2


def test_the_paper_s_limits_keep_part_of_their_joints_inside_the_bounds(study):
    for grid in study.grids:
        answer = study.answer(grid.data, grid.metric, grid.prediction)
        assert len(grid.values) == grid.feasible <= grid.joints == 400
        finite = grid.values[np.isfinite(grid.values)]
        assert finite.min() >= answer.lower - 1e-12
        assert finite.max() <= answer.upper + 1e-12
        counts, edges = grid.histogram(bins=7)
        assert sum(counts) == len(finite) == grid.feasible - grid.infinite
        assert len(edges) == 8
    assert {grid.data for grid in study.grids if grid.feasible < grid.joints} == {"adult", "compas"}


def test_hard_decisions_are_probabilities_of_at_least_one_half(study):
    german = study.answer("german", "DI", "decisions")  # everybody's probability is at least ½
    figures = (german.true, german.lower, german.upper, german.mean, german.independence, german.latent)
    assert figures == pytest.approx((1.0,) * 6, abs=1e-12)
    adult = study.answer("adult", "DI", "decisions")  # no man need have a favourable decision
    assert adult.upper == np.inf
    grid = study.grid("adult", "DI", "decisions")
    assert grid.infinite > 0
    assert grid.mean == np.inf
    at = study.grid_columns()["infinite"].index(grid.infinite)
    assert study.grid_columns()["mean"][at] is None
    assert np.isfinite(adult.mean)  # the mean over the feasible set is not that of the grid's joints


def test_the_latent_class_model_comes_with_its_spread(study):
    asked = [(a.data, a.prediction, a.metric, a.asked) for a in study.latent]
    assert asked == list(itertools.product(DATA, ("scores", "decisions"), ("DI", "DD"), ("auto", "2", "3", "4")))
    for found in study.latent:
        assert found.low <= found.value <= found.high
        assert found.asked in ("auto", str(found.classes))
        if found.classes == 1:
            assert found.value == pytest.approx(1.0 if found.metric == "DI" else 0.0, abs=1e-12)
        else:
            assert max(found.misfit_internal, found.misfit_external) < 1e-3  # two classes fit binary tables
    wide = next(a for a in study.latent if (a.data, a.metric, a.asked) == ("adult", "DI", "auto"))
    assert not wide.identified
    answer = study.answer("adult")
    assert (answer.latent, answer.latent_low, answer.latent_high) == (wide.value, wide.low, wide.high)


def test_columns_are_plain_and_the_same_seed_gives_the_same_ones(study):
    again = feasible_real(points=20, starts=8)
    for made in ("to_columns", "grid_columns", "histogram_columns", "latent_columns", "beside_expected"):
        columns = getattr(study, made)()
        assert len({len(values) for values in columns.values()}) == 1
        assert json.dumps(columns, allow_nan=False) == json.dumps(getattr(again, made)())
    other = feasible_real(seed=1, points=20, starts=8)
    assert other.latent_columns() != study.latent_columns()
    assert other.grid_columns() == study.grid_columns()


def test_unknown_names_are_refused(study):
    with pytest.raises(ProblemError, match=r"no real data 'adlut' \(did you mean 'adult'\?\)"):
        real_data("adlut")
    for ask in (study.answer, study.grid):
        with pytest.raises(ProblemError, match="'EO'"):
            ask("adult", "EO")


@pytest.mark.parametrize("name", DATA)
def test_every_attribute_has_one_place(name):
    data = real_data(name)
    others = {data.protected, data.label, *data.telling}
    assert set(data.features).isdisjoint(others)
    assert {*data.features, *others} == set(data.table.names)
    assert set(data.plausible) <= set(data.features)
    assert set(data.internal) & set(data.external) == {data.common}
    assert {*data.internal, *data.external, data.label} == set(data.table.names)


@pytest.mark.parametrize("name", DATA)
def test_only_what_is_said_to_state_the_group_does(name):
    data, groups = real_data(name), defaultdict(set)
    for person, _ in people(data.table):
        for attribute in (*data.features, *data.telling):
            groups[attribute, person[attribute]].add(person[data.protected])
    stating = {attribute for attribute, _ in groups} - {
        attribute for (attribute, _), who in groups.items() if len(who) > 1
    }
    assert stating == set(data.telling)


# -- sets of common variables ------------------------------------------------------------------------------------------


def compas_tree():
    """Grow the tree of the study with seed 0."""
    data, seed = real_data("compas"), int(np.random.default_rng([0, *b"tree of compas"]).integers(2**32))
    return data, grow(data.table, data.features, data.label, data.favourable, smallest_leaf=SMALLEST_LEAF, seed=seed)


def test_the_sets_are_all_of_the_plausible_attributes(sets):
    expected = {s for size in (1, 2) for s in itertools.combinations(real_data("compas").plausible, size)}
    assert {found.common for found in sets.results} == expected
    assert len(sets.results) == 4 * len(expected)
    assert sets.rule.startswith("Every set of up to 2 ")


def test_one_classifier_and_one_truth_for_all_sets(sets):
    for prediction, metric in itertools.product(("scores", "decisions"), ("DI", "DD")):
        same = [f for f in sets.results if (f.prediction, f.metric) == (prediction, metric)]
        assert len({found.true for found in same}) == 1
        for found in same:
            assert found.lower <= found.true <= found.upper
            assert found.lower <= found.independence <= found.upper
            assert found.width == found.upper - found.lower
            assert (found.mean is None) == (prediction == "scores")
            assert found.mean is None or found.lower < found.mean < found.upper


def test_leaves_hold_at_least_one_per_cent():
    need_trees()
    data, tree = compas_tree()
    held = np.bincount(tree.leaf(data.table), data.table.weights)
    assert held.min() >= 0.01 * data.table.total
    assert len(held) > 30


def test_more_common_variables_never_widen(sets):
    compared = 0
    for small, large in itertools.permutations(sets.results, 2):
        if (small.metric, small.prediction) == (large.metric, large.prediction) and set(small.common) < set(
            large.common
        ):
            compared += 1
            assert small.lower <= large.lower + 1e-12
            assert large.upper <= small.upper + 1e-12
            assert large.group_known >= small.group_known - 1e-12
    assert compared == 4 * 30


def test_strata_and_bounds_of_decisions_by_hand(sets):
    """Fréchet's ends of hard decisions, summed over strata in a loop."""
    need_trees()
    data, tree = compas_tree()
    chosen = tree.score[tree.leaf(data.table)] >= 0.5
    common, group, reference = ("age_cat", "score_text"), "African-American", "Caucasian"
    size, selected, held = Counter(), Counter(), Counter()
    for (person, weight), yes in zip(people(data.table), chosen.tolist(), strict=True):
        stratum = tuple(person[name] for name in common)
        size[stratum] += weight
        selected[stratum] += weight * yes
        held[stratum, person["race"]] += weight
    least, most, whole = Counter(), Counter(), Counter()
    for stratum, n in size.items():
        for who in (group, reference):
            whole[who] += held[stratum, who]
            most[who] += min(held[stratum, who], selected[stratum])
            least[who] += max(0.0, held[stratum, who] + selected[stratum] - n)
    found = sets.result("compas", common[::-1], "DI", "decisions")
    low, high = ({who: end[who] / whole[who] for who in whole} for end in (least, most))
    assert found.lower == pytest.approx(low[group] / high[reference], rel=1e-12)
    assert found.upper == pytest.approx(high[group] / low[reference], rel=1e-12)
    alone = {who: sum(held[c, who] * selected[c] / n for c, n in size.items()) / whole[who] for who in whole}
    assert found.independence == pytest.approx(alone[group] / alone[reference], rel=1e-12)
    assert found.strata == len(size) == 9
    known = sum(max(held[c, group], held[c, reference]) for c in size) / sum(size.values())
    assert found.group_known == pytest.approx(known, rel=1e-12)
    assert found.group_guessed == pytest.approx(3175 / 5278, rel=1e-12)
    everyone = sorted(n for n in size.values() for _ in range(int(n)))
    assert found.people_in_median_stratum == pytest.approx(statistics.median_low(everyone))


def test_widths_by_size(sets):
    columns = sets.by_size()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert [(row["prediction"], row["metric"], row["size"]) for row in rows] == [
        (prediction, metric, size)
        for size in (1, 2)
        for prediction in ("scores", "decisions")
        for metric in ("DI", "DD")
    ]
    row = next(row for row in rows if (row["prediction"], row["metric"], row["size"]) == ("scores", "DD", 2))
    same = [f for f in sets.results if (f.prediction, f.metric, len(f.common)) == ("scores", "DD", 2)]
    widths = [found.width for found in same]
    assert row["sets"] == len(same) == 15
    assert (row["least_width"], row["median_width"], row["greatest_width"]) == (
        min(widths),
        statistics.median(widths),
        max(widths),
    )
    assert sets.result("compas", row["narrowest"].split(" + "), "DD").width == min(widths)


def test_walks_stay_within_the_bounds_and_say_whether_they_converged(sets):
    assert [(w.coordinates, w.metric) for w in sets.walks] == list(
        itertools.product(("internal", "outcome"), ("DI", "DD"))
    )
    for found in sets.walks:
        same = sets.result("compas", ["score_text"], found.metric)
        assert (found.lower, found.upper, found.true) == pytest.approx((same.lower, same.upper, same.true), rel=1e-12)
        assert found.independence == pytest.approx(same.independence, rel=1e-12)
        assert found.lower < found.low < found.q025 < found.mean < found.q975 < found.high < found.upper
        assert found.converged
        assert found.r_hat < 1.01
        assert found.standard_error == pytest.approx(found.sd / found.effective**0.5, rel=0.5)
    inside, outcome = sets.walks[0], sets.walks[2]
    assert inside.free_parameters > outcome.free_parameters
    assert inside.sd < outcome.sd  # the more cells, the closer all joints are to each other


def test_the_study_reports_how_far_it_is_and_repeats_itself(sets):
    heard = []
    with listening(lambda task, part: heard.append((task, part))):
        again = common_sets(largest=2, draws=1_000, names=["compas"])
    assert again == sets
    own = [part for task, part in heard if task == "common variables"]
    assert own == sorted(own)
    assert own[-1] == 1.0
    for columns in (sets.to_columns(), sets.walk_columns(), sets.by_size()):
        assert len({len(values) for values in columns.values()}) == 1
        json.dumps(columns, allow_nan=False)
