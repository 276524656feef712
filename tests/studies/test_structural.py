"""The structural experiment: the tree, the parts and every figure against loops over people."""

import importlib.util
import itertools
import json
import math
import os
import statistics
import sys

import numpy as np
import pytest

from fairbounds import Table
from fairbounds.errors import MissingDependencyError, ProblemError
from fairbounds.joints import ClassJoint
from fairbounds.progress import listening
from fairbounds.studies.real_data import DATA, real_data
from fairbounds.studies.structural import CHOICES, structural
from fairbounds.studies.structural_split import Split, dealt
from fairbounds.studies.trees import grow

if importlib.util.find_spec("sklearn") is None:
    if os.environ.get("CI"):
        pytest.fail("scikit-learn is not installed", pytrace=False)
    pytest.skip("scikit-learn is not installed", allow_module_level=True)

RNG = np.random.default_rng(0)


def people(table):
    """List every person of a table of counts."""
    return [
        dict(zip(table.names, levels, strict=True)) for levels, weight in table.cells() for _ in range(round(weight))
    ]


def made_up(n=400):
    """Make people with three features, one of numbers, and a label that depends on them."""
    colour, size = RNG.choice(["red", "green", "blue"], n), RNG.integers(0, 7, n)
    old = RNG.choice(["no", "yes"], n)
    chance = 0.15 + 0.5 * (colour == "red") * (size > 3) + 0.25 * (old == "yes") * (size < 2)
    label = np.where(RNG.random(n) < chance, "good", "bad")
    return Table.from_columns(
        {"colour": colour.tolist(), "size": size.tolist(), "old": old.tolist(), "label": label.tolist()}
    )


MADE_UP = made_up()
FEATURES = ("colour", "size", "old")


@pytest.fixture(scope="module")
def split():
    data = real_data("compas")
    return Split(data, dealt(data.table, np.random.default_rng(3)), 0, "test")


@pytest.fixture(scope="module")
def study():
    return structural(splits=3, seed=5, bootstraps=60, classes=(1, 3), depths=(4, None), starts=8, names=["german"])


# -- trees -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 3, None])
def test_every_combination_of_levels_is_in_the_box_of_its_leaf_and_in_no_other(depth):
    tree = grow(MADE_UP, FEATURES, "label", "good", depth=depth)
    combinations = list(itertools.product(*(variable.levels for variable in tree.variables)))
    table = Table.from_columns(dict(zip(FEATURES, map(list, zip(*combinations, strict=True)), strict=True)))
    leaf = tree.leaf(table)
    for cell, (levels, _) in enumerate(table.cells()):
        places = [variable.code(level) for variable, level in zip(tree.variables, levels, strict=True)]
        inside = [
            all(box[at, place] for box, place in zip(tree.boxes, places, strict=True)) for at in range(len(tree.score))
        ]
        assert np.flatnonzero(inside).tolist() == [leaf[cell]]


def test_a_fully_grown_tree_scores_every_combination_by_its_mean():
    tree = grow(MADE_UP, FEATURES, "label", "good")
    good, total = {}, {}
    for person in people(MADE_UP):
        key = tuple(person[name] for name in FEATURES)
        total[key] = total.get(key, 0) + 1
        good[key] = good.get(key, 0) + (person["label"] == "good")
    score = tree.score[tree.leaf(MADE_UP)]
    for (levels, _), own in zip(MADE_UP.cells(), score.tolist(), strict=True):
        assert own == pytest.approx(good[levels[:3]] / total[levels[:3]], abs=1e-12)


def test_one_split_is_the_one_of_least_weighted_impurity():
    """Gini's impurity of all splits by hand: one level against the rest, or numbers up to a threshold."""
    everybody = people(MADE_UP)

    def impurity(part):
        share = sum(person["label"] == "good" for person in part) / len(part)
        return len(part) * 2 * share * (1 - share)

    def halves(name, left):
        return [[p for p in everybody if (p[name] in left) == side] for side in (True, False)]

    splits = [("size", tuple(range(least + 1))) for least in range(6)]
    splits += [(name, (level,)) for name in ("colour", "old") for level in MADE_UP[name].levels]
    name, left = min(splits, key=lambda split: sum(map(impurity, halves(*split))))
    tree = grow(MADE_UP, FEATURES, "label", "good", depth=1)
    at = [variable.name for variable in tree.variables].index(name)
    sides = [
        {level for level, inside in zip(MADE_UP[name].levels, box, strict=True) if inside} for box in tree.boxes[at]
    ]
    assert set(left) in sides
    expected = [sum(p["label"] == "good" for p in part) / len(part) for part in halves(name, left)]
    assert tree.score[sides.index(set(left))] == pytest.approx(expected[0])
    assert sorted(tree.score) == pytest.approx(sorted(expected))


def test_counts_weigh_as_people_do():
    from sklearn.tree import DecisionTreeClassifier

    everybody = people(MADE_UP)
    rows = [[*(p["colour"] == c for c in MADE_UP["colour"].levels), p["size"], p["old"] == "yes"] for p in everybody]
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(rows, [p["label"] == "good" for p in everybody])
    tree = grow(MADE_UP, FEATURES, "label", "good", depth=3)
    table = Table.from_columns({name: [p[name] for p in everybody] for name in FEATURES}).marginal(FEATURES)
    own = {levels: tree.score[leaf] for (levels, _), leaf in zip(table.cells(), tree.leaf(table), strict=True)}
    expected = model.predict_proba(rows)[:, 1]
    for person, value in zip(everybody, expected.tolist(), strict=True):
        assert own[tuple(person[name] for name in FEATURES)] == pytest.approx(value)


def test_a_tree_of_one_outcome_knows_no_other():
    table = Table.from_columns({"a": ["x", "y"], "label": ["bad", "bad"]})
    for favourable, score in (("bad", 1.0), ("good", 0.0)):
        known = (
            table if favourable == "bad" else Table.from_columns({"a": ["x", "y"], "label": ["bad", "good"]}, [1, 0])
        )
        tree = grow(known, ["a"], "label", favourable)
        assert tree.score.tolist() == [score]
        assert tree.decision.tolist() == [score]


def test_leaves_of_a_class_joint_against_a_sum_over_all_combinations():
    tree = grow(MADE_UP, FEATURES, "label", "good")
    variables = (MADE_UP["size"], *(MADE_UP[name] for name in ("old", "label", "colour")))  # in another order
    tables = tuple(RNG.dirichlet(np.ones(len(variable)), 2) for variable in variables)
    joint = ClassJoint(variables, np.array([0.4, 0.6]), tables)
    expected = np.zeros((2, len(tree.score)))
    for size, old, colour in itertools.product(*(range(len(MADE_UP[name])) for name in ("size", "old", "colour"))):
        levels = {"colour": [MADE_UP["colour"].levels[colour]], "size": [MADE_UP["size"].levels[size]]}
        person = Table.from_columns(levels | {"old": [MADE_UP["old"].levels[old]]})
        codes = np.array([[MADE_UP[name].code(person[name].levels[0]) for name in FEATURES]])
        leaf = tree.leaf(Table.from_codes(tree.variables, codes))[0]
        expected[:, leaf] += tables[0][:, size] * tables[1][:, old] * tables[3][:, colour]
    assert tree.leaf_chances(joint) == pytest.approx(expected, abs=1e-14)
    assert expected.sum(axis=1) == pytest.approx([1.0, 1.0])


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'fairbounds\[studies\]'"):
        grow(MADE_UP, FEATURES, "label", "good")


# -- one split ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
def test_people_are_dealt_to_parts_that_share_nobody(name):
    table = real_data(name).table
    parts = dealt(table, np.random.default_rng(1))
    n = table.total
    assert [part.total for part in parts] == [round(0.3 * n), (n - round(0.3 * n)) // 2, -((n - round(0.3 * n)) // -2)]
    together = {}
    for part in parts:
        assert part.variables == table.variables
        for levels, weight in part.cells():
            together[levels] = together.get(levels, 0) + weight
    assert together == dict(table.cells())


def test_the_parts_look_alike():
    table = real_data("adult").table
    for part in dealt(table, np.random.default_rng(1)):
        share = part.weights[part.column("sex") == 0].sum() / part.total
        assert share == pytest.approx(14_695 / 45_222, abs=4 * math.sqrt(0.325 * 0.675 / part.total))


def test_the_classifier_sees_the_internal_attributes_only(split):
    names = ("score_text", "juv_crime", "priors_count", "c_charge_degree", "v_score_text")
    assert tuple(variable.name for variable in split.tree(None).variables) == names


def ratio(table, tree, prediction):
    """DI of the people of a table, one by one."""
    held, chosen = {}, {}
    leaf = tree.leaf(table)
    for (levels, weight), at in zip(table.cells(), leaf, strict=True):
        race, score = levels[table.axis("race")], tree.score[at]
        held[race] = held.get(race, 0) + weight
        chosen[race] = chosen.get(race, 0) + weight * (score if prediction == "scores" else score >= 0.5)
    rate = {race: chosen[race] / held[race] for race in held}
    return rate["African-American"] / rate["Caucasian"]


def within_chance(values, expected):
    """Whether the mean of ratios is what is expected, the bias of a ratio of noisy rates allowed for."""
    sd = values.std(ddof=1)
    return abs(values.mean() - expected) < 4 * sd / math.sqrt(len(values)) + sd**2 / expected


@pytest.mark.parametrize("prediction", ["scores", "decisions"])
def test_the_truth_is_that_of_the_test_part(split, prediction):
    tree = split.tree(4)
    assert split.true(tree, prediction) == pytest.approx(ratio(split.parts.test, tree, prediction), rel=1e-12)


@pytest.mark.parametrize("prediction", ["scores", "decisions"])
def test_the_floor_is_the_true_joint_of_the_estimation_part(split, prediction):
    tree = split.tree(4)
    *_, floor = split.samples(tree, prediction, [], bootstraps=500)
    assert floor.method == "floor"
    assert within_chance(floor.values, ratio(split.parts.estimation, tree, prediction))


def test_the_floor_is_nothing_where_the_estimation_part_is_the_test_part():
    data = real_data("adult")
    parts = dealt(data.table, np.random.default_rng(0))
    same = Split(data, parts._replace(estimation=parts.test), 0, "same")
    tree = same.tree(5)
    *_, floor = same.samples(tree, "scores", [], bootstraps=2_000)
    assert abs(floor.values.mean() - same.true(tree, "scores")) < 4 * floor.values.std() / math.sqrt(2_000)
    assert floor.values.std() < 0.02


@pytest.mark.parametrize("prediction", ["scores", "decisions"])
def test_marginal_preservation_in_a_loop_over_strata(split, prediction):
    tree, part = split.tree(4), split.parts.estimation
    marginal, _ = split.samples(tree, prediction, [], bootstraps=500)
    assert marginal.method == "marginal"
    size, chosen, held, whole = {}, {}, {}, {}
    for (levels, weight), at in zip(part.cells(), tree.leaf(part), strict=True):
        score, race = levels[part.axis("score_text")], levels[part.axis("race")]
        value = tree.score[at] if prediction == "scores" else float(tree.score[at] >= 0.5)
        size[score] = size.get(score, 0) + weight
        chosen[score] = chosen.get(score, 0) + weight * value
        held[score, race] = held.get((score, race), 0) + weight
        whole[race] = whole.get(race, 0) + weight
    rate = {race: sum(held[c, race] * chosen[c] / size[c] for c in size) / whole[race] for race in whole}
    assert within_chance(marginal.values, rate["African-American"] / rate["Caucasian"])


@pytest.mark.parametrize("prediction", ["scores", "decisions"])
def test_the_latent_joint_against_people_drawn_from_it(split, prediction):
    tree, fits = split.tree(None), split.latent([3], starts=8)
    sampled = next(iter(split.samples(tree, prediction, fits, bootstraps=500)))
    assert (sampled.method, sampled.classes, sampled.chosen) == ("latent", 3, True)
    drawn = [ratio(fits[0].joint.sample(20_000, seed), tree, prediction) for seed in range(20)]
    error = statistics.stdev(drawn) / math.sqrt(20)
    slack = sampled.values.std() ** 2 / sampled.values.mean()
    expected = statistics.fmean(drawn)
    assert abs(sampled.values.mean() - expected) < 4 * math.hypot(error, sampled.values.std() / math.sqrt(500)) + slack


def test_samples_have_as_many_people_as_the_test_part(split):
    """The spread of log DI follows from the numbers of people in the groups."""
    tree, part = split.tree(4), split.parts.estimation
    *_, floor = split.samples(tree, "decisions", [], bootstraps=4_000)
    variance = 0.0
    for race in ("African-American", "Caucasian"):
        mine = part.column("race") == part["race"].code(race)
        share = part.weights[mine].sum() / part.total
        rate = (part.weights * (tree.score[tree.leaf(part)] >= 0.5))[mine].sum() / part.weights[mine].sum()
        variance += (1 - rate) / (rate * share * split.parts.test.total)
    assert np.log(floor.values).std() == pytest.approx(math.sqrt(variance), rel=0.05)


def test_the_chosen_number_of_classes_has_the_least_bic(split):
    fits = split.latent([1, 2, 3, 6], starts=8)
    part, data = split.parts.estimation, split.data
    losses = []
    for fit in fits:
        names = [variable.name for variable in fit.joint.variables]
        total = 0.0
        for seen in (data.internal, data.external):
            for levels, weight in part.marginal(seen).cells():
                product = fit.joint.class_weights.copy()
                for name, level in zip(seen, levels, strict=True):
                    product *= fit.joint.tables[names.index(name)][:, part[name].code(level)]
                total += weight * math.log(product.sum())
        free = fit.classes - 1 + fit.classes * sum(len(variable) - 1 for variable in fit.joint.variables)
        losses.append(-2 * total + free * math.log(2 * part.total))
    assert [fit.chosen for fit in fits] == [loss == min(losses) for loss in losses]
    assert set(names) == {*data.internal, *data.external}


def test_one_class_makes_all_groups_fare_alike(split):
    tree, fits = split.tree(None), split.latent([1], starts=8)
    sampled = next(iter(split.samples(tree, "scores", fits, bootstraps=500)))
    assert within_chance(sampled.values, 1.0)


# -- the study ---------------------------------------------------------------------------------------------------------


def test_results_are_complete_and_their_errors_right(study):
    keys = [(r.split, r.depth, r.prediction, r.method, r.classes) for r in study.results]
    methods = [("latent", 1), ("latent", 3), ("marginal", None), ("floor", None)]
    expected = itertools.product(range(3), (4, None), ("scores", "decisions"), methods)
    assert keys == [(split, depth, prediction, *method) for split, depth, prediction, method in expected]
    for found in study.results:
        assert found.signed == found.true - found.estimated
        assert found.error == abs(found.signed)
        assert found.undefined == 0
    assert len({r.true for r in study.results}) > 3


def test_summaries_are_means_over_splits(study):
    for depth, prediction in itertools.product((4, None), ("scores", "decisions")):
        same = [r for r in study.results if (r.depth, r.prediction) == (depth, prediction)]
        for method, classes in (("marginal", None), ("floor", None), ("latent", 1), ("latent", 3), ("latent", None)):
            mine = [r for r in same if r.method == method and (r.classes == classes if classes else r.chosen)]
            found = study.summary("german", method, prediction, depth, classes)
            assert found.splits == len(mine) == 3
            assert found.mean == pytest.approx(statistics.fmean(r.error for r in mine))
            assert found.sd == pytest.approx(statistics.stdev(r.error for r in mine))
            assert found.bias == pytest.approx(statistics.fmean(r.true - r.estimated for r in mine))
            assert found.bias_sd == pytest.approx(statistics.stdev(r.true - r.estimated for r in mine))
            assert found.true == pytest.approx(statistics.fmean(r.true for r in mine))
            assert found.estimated == pytest.approx(statistics.fmean(r.estimated for r in mine))


def test_the_paper_s_figures_stand_beside_the_headline(study):
    beside = study.beside_paper()
    assert (beside["data"], beside["method"]) == (["german"] * 2, ["latent", "marginal"])
    assert beside["paper"] == [0.190, 0.178]
    headline = [study.summary("german", method, "decisions", depth=4) for method in ("latent", "marginal", "floor")]
    assert beside["own"] == [headline[0].mean, headline[1].mean]
    assert beside["own_sd"] == [headline[0].sd, headline[1].sd]
    assert beside["floor"] == [headline[2].mean] * 2
    with pytest.raises(ProblemError, match="no summary for 'adult'"):
        study.summary("adult", "latent")


def test_choices_are_listed_once(study):
    assert study.choices == CHOICES
    assert len(set(study.choice_columns()["topic"])) == len(CHOICES) >= 12
    assert {"K", "depth", "encoding", "split", "repetitions"} <= set(study.choice_columns()["topic"])


def test_the_same_seed_gives_the_same_study(study):
    def run(seed):
        return structural(
            splits=3, seed=seed, bootstraps=60, classes=(1, 3), depths=(4, None), starts=8, names=["german"]
        )

    heard = []
    with listening(lambda task, part: heard.append((task, part))):
        again = run(5)
    assert again == study
    own = [part for task, part in heard if task == "structural estimates"]
    assert own == [0, 1 / 3, 2 / 3, 1.0]
    assert run(6).results[0].true != study.results[0].true
    for columns in (study.to_columns(), study.summary_columns(), study.beside_paper(), study.choice_columns()):
        assert len({len(values) for values in columns.values()}) == 1
        json.dumps(columns, allow_nan=False)
    assert set(study.to_columns()["depth"]) == {4, "full"}
    assert {
        c for m, c in zip(*(study.summary_columns()[k] for k in ("method", "classes")), strict=True) if m == "latent"
    } == {
        "BIC",
        1,
        3,
    }


def test_more_splits_change_none_of_the_earlier_ones(study):
    fewer = structural(splits=1, seed=5, bootstraps=60, classes=(1, 3), depths=(4, None), starts=8, names=["german"])
    assert fewer.results == study.results[: len(fewer.results)]
    assert fewer.summary_columns()["sd"][0] is None


@pytest.mark.parametrize("wrong", [{"splits": 0}, {"bootstraps": 0}, {"classes": ()}, {"depths": ()}])
def test_nothing_to_do_is_refused(wrong):
    with pytest.raises(ProblemError, match="at least one split"):
        structural(**({"splits": 1, "names": ["german"]} | wrong))
