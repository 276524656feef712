"""Estimates and their joints: by hand, by enumeration, by identities, and by drawing people."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from oracles import value_of
from scipy import stats

import fairbounds as fb
from fairbounds import Estimate, Problem, Table, bound, estimate
from fairbounds.errors import ProblemError
from fairbounds.estimation import estimate_all
from fairbounds.joints import ClassJoint, MatchedJoint
from fairbounds.questions import Question

CHANCE = 0.001  # as in test_sampling


def tables(seed: int, *, strata: int = 3, labelled: bool = False, scored: bool = False) -> tuple[Table, Table]:
    """Random tables with an internal feature, an external one, and three groups."""
    rng = np.random.default_rng(seed)
    cells = list(itertools.product("pqrs"[:strata], "uv", [0, 1], [0, 1] if labelled else [0]))
    columns = {name: [cell[at] for cell in cells] for at, name in enumerate(("c", "i", "d", "y"))}
    if scored:
        known = {key: round(rng.random(), 2) for key in itertools.product("pqrs", "uv")}
        columns["d"] = [known[c, i] for c, i, _, _ in cells]
    if not labelled:
        del columns["y"]
    outside = list(itertools.product("pqrs"[:strata], "mn", "abk"))
    external = {name: [cell[at] for cell in outside] for at, name in enumerate(("c", "e", "g"))}
    return (
        Table.from_columns(columns, rng.integers(1, 50, len(cells))),
        Table.from_columns(external, rng.integers(1, 50, len(outside))),
    )


def problem(seed: int, **options: object) -> Problem:
    made = {name: options.pop(name) for name in ("strata", "labelled", "scored") if name in options}
    internal, external = tables(seed, **made)  # type: ignore[arg-type]
    roles = {"score": "d"} if made.get("scored") else {"decision": "d"}
    if made.get("labelled"):
        roles["label"] = "y"
    return Problem.from_tables(internal, external, protected="g", common=["c"], reference="b", **roles, **options)  # type: ignore[arg-type]


# -- independence ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("population", "expected"), [("external", 0.55 / 0.65), ("internal", 0.425 / 0.525)])
def test_independence_by_hand_in_both_directions(population: str, expected: float) -> None:
    """Favourable in x: 1/2, in z: 1/4 and share of F in x: 1/4 … worked out with pencil below."""
    internal = Table.from_columns({"c": ["x", "x", "z", "z"], "d": [1, 0, 1, 0]}, [15, 15, 7, 63])
    external = Table.from_columns({"c": ["x", "x", "z", "z"], "g": ["F", "M", "F", "M"]}, [30, 30, 10, 30])
    asked = Problem.from_tables(internal, external, protected="g", decision="d", reference="M", population=population)
    mass = {"x": 0.6, "z": 0.4} if population == "external" else {"x": 0.3, "z": 0.7}
    favourable, female = {"x": 0.5, "z": 0.1}, {"x": 0.5, "z": 0.25}
    rate = {
        group: sum(mass[c] * share(female[c]) * favourable[c] for c in "xz")
        / sum(mass[c] * share(female[c]) for c in "xz")
        for group, share in (("F", lambda f: f), ("M", lambda f: 1 - f))
    }
    assert estimate(asked).value == pytest.approx(rate["F"] / rate["M"], rel=1e-14)
    assert estimate(asked, "selection_rate", group="F").value == pytest.approx(rate["F"], rel=1e-14)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("scored", [False, True])
def test_people_drawn_from_independence_have_the_estimated_joint(scored: bool, labelled: bool) -> None:
    asked = problem(1, scored=scored, labelled=labelled)
    joint = estimate(asked, "selection_rate", group="a").joint
    assert isinstance(joint, MatchedJoint)
    people = joint.sample(50_000, rng=3)
    assert people.total == 50_000
    assert people.names == (*asked.internal.names, "e", "g")
    inner, outer = asked.internal.conditional(["c"]), asked.external.conditional(["c"])
    mass = {levels[0]: weight / asked.external.total for levels, weight in asked.external.marginal(["c"]).cells()}
    seen = dict(people.cells())
    expected, found = [], []
    for (own, q), (other, r) in itertools.product(inner.cells(), outer.cells()):
        if own[0] == other[0]:
            expected.append(mass[own[0]] * q * r * 50_000)
            found.append(seen.pop((*own, *other[1:]), 0.0))
    assert not seen
    assert sum(expected) == pytest.approx(50_000)
    assert stats.chisquare(found, expected).pvalue > CHANCE


def test_strata_of_one_side_are_left_out_and_nobody_is_drawn_from_them() -> None:
    internal = Table.from_columns({"c": ["x", "x", "w"], "d": [1, 0, 1]}, [1, 1, 2])
    external = Table.from_columns({"c": ["x", "x", "z"], "g": ["F", "M", "F"]}, [1, 1, 2])
    asked = Problem.from_tables(internal, external, protected="g", decision="d", reference="M")
    found = estimate(asked)
    assert not found.margin_preserving
    assert "left out" in found.note
    assert found.value == 1.0
    assert set(found.joint.sample(100).marginal(["c"]).to_columns()[0]["c"]) == {"x"}


def test_without_a_stratum_in_common_there_is_no_joint() -> None:
    internal = Table.from_columns({"c": ["x", "w"], "k": [1, 2], "d": [1, 0]})
    external = Table.from_columns({"c": ["x", "w"], "k": [2, 1], "g": ["F", "M"]})
    asked = Problem.from_tables(internal, external, protected="g", decision="d")
    found = estimate(asked)
    assert (found.value, found.joint) == (None, None)


# -- latent class ------------------------------------------------------------------------------------------------------


def enumerated(joint: ClassJoint) -> dict[tuple[object, ...], float]:
    """p of every combination of levels: Σ over classes of products, one at a time."""
    out = {}
    for codes in itertools.product(*(range(len(variable)) for variable in joint.variables)):
        total = 0.0
        for z, weight in enumerate(joint.class_weights):
            total += weight * math.prod(table[z, code] for table, code in zip(joint.tables, codes, strict=True))
        out[tuple(v.levels[code] for v, code in zip(joint.variables, codes, strict=True))] = total
    return out


@pytest.mark.parametrize("classes", [1, 2, 4])
@pytest.mark.parametrize("labelled", [False, True])
def test_the_metric_is_that_of_the_fitted_joint(labelled: bool, classes: int) -> None:
    asked = problem(classes, labelled=labelled)
    metrics = ["disparate_impact", "parity_gap", "impact_ratio"]
    metrics += ["true_positive_difference", "positive_predictive_ratio", "accuracy_rate"] if labelled else []
    questions = [Question.settle(asked, metric, group="a") for metric in metrics]
    found = estimate_all(asked, questions, method="latent_class", classes=classes, starts=4)
    names = [variable.name for variable in found[0].joint.variables]
    written = {}
    for levels, mass in enumerated(found[0].joint).items():
        person = dict(zip(names, levels, strict=True))
        raw = ("yes" if person["d"] else "no", *(["good" if person["y"] else "bad"] if labelled else []))
        written[levels, raw, person["g"]] = mass
    assert math.fsum(written.values()) == pytest.approx(1, abs=1e-12)
    for metric, estimated in zip(metrics, found, strict=True):
        assert estimated.value == pytest.approx(value_of(metric, written, ["a", "b", "k"], "a", "b"), rel=1e-10)
        assert not estimated.margin_preserving


def test_a_score_is_averaged_over_the_features_of_the_fitted_joint() -> None:
    """The score is a function of the features: the metric is its mean over the model's features, group by group."""
    asked = problem(2, scored=True)
    found = estimate(asked, "selection_rate", method="latent_class", group="a", classes=3, starts=4)
    score = {levels[:2]: float(levels[2]) for levels, _ in asked.internal.cells()}
    joint = {levels: mass for levels, mass in enumerated(found.joint).items() if levels[3] == "a"}
    assert [v.name for v in found.joint.variables] == ["c", "i", "e", "g"]
    wanted = math.fsum(mass * score[levels[0], levels[1]] for levels, mass in joint.items()) / math.fsum(joint.values())
    assert found.value == pytest.approx(wanted, rel=1e-10)


def test_combinations_that_the_internal_table_lacks_score_like_the_rest_of_their_class() -> None:
    """One class: whatever is unseen scores the mean of what is seen, weighed as the model weighs it."""
    internal = Table.from_columns({"c": ["x", "x", "z"], "i": ["u", "v", "u"], "f": [0.2, 0.6, 0.9]}, [1, 1, 2])
    external = Table.from_columns({"c": ["x", "z"], "g": ["F", "M"]}, [1, 3])
    asked = Problem.from_tables(internal, external, protected="g", score="f")
    found = estimate(asked, "selection_rate", method="latent_class", group="F", classes=1)
    x, u = 3 / 8, 3 / 4  # c is seen in both tables (1 + 1 of 4, 1 of 4), i in the internal one
    seen = {0.2: x * u, 0.6: x * (1 - u), 0.9: (1 - x) * u}
    assert found.value == pytest.approx(sum(f * p for f, p in seen.items()) / sum(seen.values()), rel=1e-9)
    assert "one class only" in found.note


def test_misfit_is_the_distance_from_the_tables() -> None:
    asked = problem(3)
    found = estimate(asked, "parity_gap", method="latent_class", classes=2, starts=4)
    joint = enumerated(found.joint)
    names = [variable.name for variable in found.joint.variables]
    for side, table in (
        ("internal", asked.internal.marginal(["c", "d"])),
        ("external", asked.external.marginal(["c", "g"])),
    ):
        axes = [names.index(name) for name in table.names]
        model: dict[tuple[object, ...], float] = {}
        for levels, mass in joint.items():
            key = tuple(levels[axis] for axis in axes)
            model[key] = model.get(key, 0.0) + mass
        seen = {levels: weight / table.total for levels, weight in table.cells()}
        distance = sum(abs(model.get(key, 0) - seen.get(key, 0)) for key in {*model, *seen}) / 2
        assert found.details["misfit"][side] == pytest.approx(distance, abs=1e-12)


def planted(n: int, seed: int) -> tuple[Table, Table, float]:
    """People of two very different classes, seen in two tables, and the disparate impact of the model behind them."""
    rng = np.random.default_rng(seed)
    of_first = {"d": 0.85, "i": 0.9, "j": 0.1, "c": 0.8, "k": 0.2, "e": 0.9, "g": 0.7}
    of_second = {"d": 0.15, "i": 0.2, "j": 0.8, "c": 0.1, "k": 0.9, "e": 0.15, "g": 0.2}
    chance = {name: np.array([of_first[name], of_second[name]]) for name in of_first}
    member = (rng.random(2 * n) < 0.4).astype(int)
    people = {name: (rng.random(2 * n) < p[member]).astype(int).tolist() for name, p in chance.items()}
    internal = Table.from_columns({name: people[name][:n] for name in ("c", "k", "i", "j", "d")})
    external = Table.from_columns({name: people[name][n:] for name in ("c", "k", "e", "g")})
    weights = np.array([0.6, 0.4])
    rate = [np.sum(weights * chance["d"] * p) / np.sum(weights * p) for p in (chance["g"], 1 - chance["g"])]
    return internal, external, float(rate[0] / rate[1])


@pytest.mark.parametrize("criterion", ["bic", "held_out"])
def test_a_planted_model_is_found_and_said_to_be_identified(criterion: str) -> None:
    internal, external, truth = planted(20_000, 0)
    asked = Problem.from_tables(internal, external, protected="g", decision="d", reference=0)
    found = estimate(asked, "disparate_impact", method="latent_class", group=1, criterion=criterion, most_classes=5)
    assert found.value == pytest.approx(truth, rel=0.05)
    assert found.details["classes"] == 2
    assert found.details["identified"]
    assert re.fullmatch(r"The model misplaces 0\.\d+ % of the internal table and 0\.\d+ % of .*", found.note)
    assert [trial["classes"] for trial in found.details["tried"]] == list(range(1, len(found.details["tried"]) + 1))
    assert all((trial["held_out"] is not None) == (criterion == "held_out") for trial in found.details["tried"])


def test_the_paper_s_adult_example_is_not_identified_and_says_so() -> None:
    internal, external = fb.datasets.split("adult")
    asked = Problem.from_tables(internal, external, protected="sex", score="score", reference="Male")
    found = estimate(asked, method="latent_class", starts=32)
    low, high = found.details["spread"]
    ends = bound(asked, "disparate_impact")
    assert ends.lower - 1e-4 < low < high < ends.upper + 1e-4  # the fits reproduce both tables to 1e-6
    assert high - low > 0.05
    assert found.note.startswith("Not identified")


def test_weights_are_no_sample_size() -> None:
    """Expansion weights: the criterion counts the rows behind them, so that a hundredfold weight changes nothing."""
    internal, external, _ = planted(400, 1)
    rows, weights = internal.to_columns()
    origin = fb.read_table({**rows, "w": weights}, weight="w").origin
    values = []
    for factor in (1.0, 100.5):
        weighted = Table(internal.variables, internal.codes, internal.weights * factor, origin)
        asked = Problem.from_tables(weighted, external, protected="g", decision="d", reference=0)
        values.append(estimate(asked, "parity_gap", method="latent_class", classes=2).details["log_likelihood"])
    assert values[1] < 0
    assert values[1] > 2 * values[0]


@pytest.mark.parametrize("seed", range(3))
def test_people_drawn_from_the_latent_classes_have_the_fitted_joint(seed: int) -> None:
    asked = problem(seed)
    joint = estimate(asked, "parity_gap", method="latent_class", classes=3, starts=4, rng=seed).joint
    people = dict(joint.sample(60_000, rng=seed).cells())
    expected = {levels: 60_000 * mass for levels, mass in enumerated(joint).items()}
    likely = [levels for levels, count in expected.items() if count >= 5]
    found = [people.get(levels, 0.0) for levels in likely]
    rest = 60_000 - sum(found), 60_000 - sum(expected[levels] for levels in likely)
    pairs = [*zip(found, [expected[levels] for levels in likely], strict=True), *([rest] if rest[1] > 1e-6 else [])]
    found, wanted = zip(*pairs, strict=True)
    assert stats.chisquare(found, np.array(wanted) * (sum(found) / sum(wanted))).pvalue > CHANCE


def test_levels_keep_their_type_and_the_seed_settles_everything() -> None:
    internal, external, _ = planted(500, 2)
    asked = Problem.from_tables(internal, external, protected="g", decision="d", reference=0)
    runs = [
        estimate(asked, "disparate_impact", method="latent_class", group=1, classes=2, rng=seed) for seed in (4, 4, 5)
    ]
    assert runs[0] == runs[1]
    assert runs[0].details["seed"] == 4 != runs[2].details["seed"]
    people = runs[0].joint.sample(100, rng=1)
    assert people == runs[1].joint.sample(100, rng=1)
    assert people["d"].levels == (0, 1)


def test_the_most_classes_tried_and_a_lonely_start_are_said() -> None:
    internal, external = tables(5, strata=4)
    asked = Problem.from_tables(internal, external, protected="g", decision="d", common=["c"])
    forced = estimate(asked, "parity_gap", method="latent_class", classes=2, starts=1)
    assert "only 1 of 1 starts" in forced.note
    rich, _, _ = planted(5_000, 3)
    other = planted(5_000, 3)[1]
    asked = Problem.from_tables(rich, other, protected="g", decision="d", reference=0)
    assert "still improved at 2 classes" in estimate(asked, "parity_gap", method="latent_class", most_classes=2).note


# -- the mean over the feasible set ------------------------------------------------------------------------------------


def test_the_feasible_mean_is_exact_where_a_formula_is_and_drawn_elsewhere() -> None:
    internal, external = fb.datasets.split("german")
    asked = Problem.from_tables(internal, external, protected="sex", score="score", reference="male")
    exact = estimate(asked, method="feasible_mean")
    assert exact.details["exact"]
    drawn = estimate(problem(4), "disparate_impact", method="feasible_mean", group="a")
    assert not drawn.details["exact"]
    walked = fb.sample(problem(4), "disparate_impact", group="a")
    assert drawn.value == walked.mean
    assert drawn.details["standard_error"] == walked.standard_error


def test_an_infinite_mean_is_infinite_and_a_mean_of_draws_without_an_upper_end_is_doubted() -> None:
    internal = Table.from_columns({"c": ["x", "x"], "d": [1, 0]}, [1, 4])
    external = Table.from_columns({"c": ["x", "x"], "g": ["F", "M"]}, [1, 1])
    asked = Problem.from_tables(internal, external, protected="g", decision="d", reference="M")
    found = estimate(asked, method="feasible_mean")
    assert found.value == math.inf
    assert Estimate.from_dict(found.to_dict()) == found
    three = Table.from_columns({"c": ["x"] * 3, "g": ["F", "M", "K"]}, [1, 1, 1])
    asked = Problem.from_tables(internal, three, protected="g", decision="d", reference="M")
    assert "may not exist" in estimate(asked, "disparate_impact", group="F", method="feasible_mean").note


# -- weighted and regression -------------------------------------------------------------------------------------------


def covariance(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    weights = weights / weights.sum()
    return float(weights @ (x * y) - (weights @ x) * (weights @ y))


@pytest.mark.parametrize("seed", range(12))
def test_the_two_estimators_miss_the_truth_by_the_covariances_of_elzayn(seed: int) -> None:
    """Weighted = truth − E[Cov(Y,B|b)]/Var(B), regression = truth + E[Cov(Y,b|B)]/Var(b), by sums over a joint."""
    rng = np.random.default_rng(seed)
    strata = 5
    p = rng.dirichlet(np.ones(4 * strata)).reshape(strata, 2, 2)  # stratum, B, Y
    names = [f"c{at}" for at in range(strata)]
    inner = {"c": np.repeat(names, 2), "d": [0, 1] * strata}
    outer = {"c": np.repeat(names, 2), "g": ["other", "B"] * strata}
    asked = Problem.from_tables(
        Table.from_columns(inner, p.sum(axis=1).ravel()),
        Table.from_columns(outer, p.sum(axis=2).ravel()),
        protected="g",
        decision="d",
        reference="other",
    )
    b = p.sum(axis=2)[:, 1] / p.sum(axis=(1, 2))
    weight = p.ravel()
    of_b = np.broadcast_to(b[:, None, None], p.shape).ravel()
    member = np.broadcast_to(np.arange(2)[None, :, None], p.shape).ravel()
    outcome = np.broadcast_to(np.arange(2)[None, None, :], p.shape).ravel()
    rate = p[:, :, 1].sum(axis=0) / p.sum(axis=(0, 2))
    truth = rate[1] - rate[0]
    within_strata = sum(
        p[c].sum() * covariance(p[c].ravel(), outcome[:4].astype(float), member[:4].astype(float))
        for c in range(strata)
    )
    within_groups = sum(
        weight[member == k].sum() * covariance(weight[member == k], outcome[member == k], of_b[member == k])
        for k in (0, 1)
    )
    weighted, regression = (
        estimate(asked, "demographic_disparity", method=method).value for method in ("weighted", "regression")
    )
    assert weighted == pytest.approx(truth - within_strata / covariance(weight, member, member), abs=1e-12)
    assert regression == pytest.approx(truth + within_groups / covariance(weight, of_b, of_b), abs=1e-9)
    if within_strata >= 0 and within_groups >= 0:
        assert weighted - 1e-12 <= truth <= regression + 1e-9


def test_regression_finds_rates_that_are_the_same_everywhere_and_names_what_it_cannot_find() -> None:
    rates = {"a": 0.2, "b": 0.5, "k": 0.9}
    shares = {"p": (0.5, 0.3, 0.2), "q": (0.1, 0.1, 0.8), "r": (0.2, 0.6, 0.2)}
    inner = {
        (c, d): sum(s * (r if d else 1 - r) for s, r in zip(shares[c], rates.values(), strict=True))
        for c in "pqr"
        for d in (0, 1)
    }
    outer = {(c, g): s for c in "pqr" for g, s in zip(rates, shares[c], strict=True)}
    internal = Table.from_columns({"c": [c for c, _ in inner], "d": [d for _, d in inner]}, list(inner.values()))
    external = Table.from_columns({"c": [c for c, _ in outer], "g": [g for _, g in outer]}, list(outer.values()))
    asked = Problem.from_tables(internal, external, protected="g", decision="d", reference="b")
    found = estimate(asked, "impact_ratio", method="regression", group="a")
    assert found.value == pytest.approx(0.2 / 0.9, rel=1e-9)
    assert found.details["rates"] == pytest.approx(rates, rel=1e-9)
    two = Problem.from_tables(
        internal,
        external.recode("c", {"r": "q"}),
        protected="g",
        decision="d",
        reference="b",
        common=["c"],
        unmatched="warn",
    )
    unknown = estimate(two, "impact_ratio", method="regression", group="a")
    assert unknown.value is None
    assert "Not defined" in unknown.note


def test_a_regression_outside_the_unit_interval_is_not_clipped() -> None:
    internal, external = fb.datasets.split("adult")
    asked = Problem.from_tables(internal, external, protected="sex", score="score", reference="Male")
    found = estimate(asked, method="regression")
    assert found.value < 0
    assert "outside [0, 1]" in found.note


# -- samples of people -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["independence", "latent_class"])
@pytest.mark.parametrize("labelled", [False, True])
def test_bootstrapped_metrics_are_those_of_people_drawn_one_sample_at_a_time(method: str, labelled: bool) -> None:
    asked = problem(6, labelled=labelled)
    metric = "true_positive_difference" if labelled else "demographic_disparity"
    options = {"classes": 2, "starts": 4} if method == "latent_class" else {}
    found = estimate(asked, metric, method=method, group="a", **options)
    at_once = found.resample(400, draws=4000, rng=1)
    assert at_once.method == "resample"
    one_by_one = []
    for seed in range(300):
        people: dict[object, float] = {}
        drawn = found.joint.sample(400, rng=seed)
        for levels, weight in drawn.cells():
            person = dict(zip(drawn.names, levels, strict=True))
            raw = ("yes" if person["d"] else "no", *(["good" if person["y"] else "bad"] if labelled else []))
            key = (levels, raw, person["g"])
            people[key] = people.get(key, 0.0) + weight / 400
        value = value_of(metric, people, ["a", "b", "k"], "a", "b")  # type: ignore[arg-type]
        one_by_one.append(math.nan if value is None else value)
    assert stats.ks_2samp(at_once.values.ravel(), one_by_one).pvalue > CHANCE
    assert abs(at_once.mean - found.value) < 6 * at_once.standard_error + 0.02
    assert found.resample(400, 5, 1).values.tobytes() == found.resample(400, 5, 1).values.tobytes()


def test_many_atoms_are_resampled_as_few() -> None:
    """A rate of 0.3 among 250 people of the group: mean and variance are binomial."""
    internal = Table.from_columns({"c": ["x", "x"], "d": [1, 0]}, [3, 7])
    external = Table.from_columns({"c": ["x", "x"], "g": ["F", "M"]}, [1, 3])
    asked = Problem.from_tables(internal, external, protected="g", decision="d")
    draws = estimate(asked, "selection_rate", group="F").resample(1000, 20_000)
    assert draws.mean == pytest.approx(0.3, abs=4 * draws.standard_error)
    assert draws.standard_deviation == pytest.approx(math.sqrt(0.21 / 250), rel=0.03)


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "independent"}, "did you mean 'independence'"),
        ({"classes": 3}, "'independence' has no options, but was given classes"),
        ({"method": "latent_class", "class": 3}, "no option 'class' .did you mean 'classes'"),
        ({"method": "latent_class", "classes": 0}, "classes is a whole number of at least 1, not 0"),
        ({"method": "latent_class", "classes": "many"}, "classes is 'auto' or a whole number"),
        ({"method": "latent_class", "classes": True}, "classes is a whole number of at least 1, not True"),
        ({"method": "latent_class", "criterion": "aic"}, "'bic' or 'held_out', not 'aic'"),
        ({"method": "latent_class", "starts": 0}, "starts is a whole number of at least 1, not 0"),
        ({"method": "latent_class", "starts": "3"}, "starts is a whole number of at least 1, not '3'"),
        ({"method": "latent_class", "likelihood_tolerance": math.nan}, "likelihood_tolerance is a number"),
        ({"method": "feasible_mean", "draws": 0}, "draws is a whole number of at least 1, not 0"),
        ({"method": "feasible_mean", "coordinates": "cells"}, "'internal' or 'outcome'"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        estimate(problem(0), "parity_gap", **options)  # type: ignore[arg-type]


def test_what_has_no_joint_says_so() -> None:
    found = estimate(problem(0), "parity_gap", method="regression")
    with pytest.raises(ProblemError, match="'regression' has no joint distribution"):
        found.resample(100)
    with pytest.raises(ProblemError, match="rows is a whole number of at least 1, not 0"):
        estimate(problem(0), "parity_gap").resample(0)
    with pytest.raises(ProblemError, match="number of people is a whole number of at least 1, not 0"):
        estimate(problem(0), "parity_gap").joint.sample(0)
    with pytest.raises(ProblemError, match="rng is a whole number of at least 0, not 'x'"):
        estimate(problem(0), "parity_gap").joint.sample(5, "x")  # type: ignore[arg-type]


def test_a_bracket_is_promised_for_two_groups_only() -> None:
    """With three, both covariances of both groups may have the signs asked for, and the truth lie outside."""
    shown = []
    for groups in (["F", "M"], ["a", "b", "c"]):
        outside = {"c": [c for c in "xyz" for _ in groups], "g": groups * 3}
        internal = Table.from_columns({"c": list("xxyyzz"), "d": [0, 1] * 3}, [3, 1, 2, 2, 1, 3])
        external = Table.from_columns(outside, np.arange(1.0, 3 * len(groups) + 1) ** 1.5)
        asked = Problem.from_tables(internal, external, protected="g", decision="d")
        for method in ("weighted", "regression"):
            found = estimate(asked, "selection_difference", method=method, group=groups[0], reference=groups[1])
            shown.append("either side of the truth if" in found.details["assumption"])
    assert shown == [True, True, False, False]


@pytest.mark.parametrize("method", ["independence", "latent_class", "feasible_mean", "weighted", "regression"])
def test_estimates_are_stored_and_read_back(method: str) -> None:
    found = estimate(problem(7), "parity_gap", method=method)  # type: ignore[arg-type]
    assert Estimate.from_dict(found.to_dict()) == found
