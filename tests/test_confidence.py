"""Intervals of an audit: what they rest on, what they say, and that they follow how the rows were drawn."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import fairbounds as fb
from fairbounds import Interval, Problem, Table, bound, confidence
from fairbounds.errors import ProblemError
from fairbounds.inference import Sampling, count
from fairbounds.inference.designs import design_effect
from fairbounds.inference.estimate_errors import independence_errors, latent_class_errors
from fairbounds.kernels.combining import interval, median_interval
from fairbounds.kernels.dual_bounds import DualEnds
from fairbounds.kernels.fixed_duals import ends_of_tables, fixed_duals, row_deviations
from fairbounds.kernels.polymatroid import all_subsets
from fairbounds.questions import Question
from fairbounds.surveys import Clusters, Drawn, Replicates, Survey, replicate_factor

JOBS, GROUPS = "abc", "FM"
APPROVED, WOMEN = np.array([0.15, 0.45, 0.9]), np.array([0.95, 0.5, 0.05])


def tables(internal: int = 3000, external: int = 5000, seed: int | None = None) -> tuple[Table, Table]:
    """Three jobs of equal size; without a seed exactly the shares above."""
    yes, women = APPROVED / 3, WOMEN / 3
    inside, outside = np.stack([1 / 3 - yes, yes], axis=1).ravel(), np.stack([women, 1 / 3 - women], axis=1).ravel()
    counts = [np.round(inside * internal), np.round(outside * external)]
    if seed is not None:
        rng = np.random.default_rng(seed)
        counts = [rng.multinomial(internal, inside), rng.multinomial(external, outside)]
    jobs = [job for job in JOBS for _ in range(2)]
    return (
        Table.from_columns({"job": jobs, "ok": [0, 1] * 3}, counts[0]),
        Table.from_columns({"job": jobs, "sex": list(GROUPS) * 3}, counts[1]),
    )


def problem(*sizes: int, seed: int | None = None, **options: Any) -> Problem:
    return Problem.from_tables(*tables(*sizes, seed=seed), protected="sex", decision="ok", reference="M", **options)


def audit(**options: Any) -> fb.Audit:
    return fb.audit(*tables(), protected="sex", decision="ok", reference="M", **options)


# -- what an audit says ------------------------------------------------------------------------------------------------


def test_every_finding_has_an_interval_around_its_bounds_and_the_verdict_rests_on_it() -> None:
    found = audit(threshold=0.8).find("disparate_impact")
    inner, outer = found.bounds, found.interval
    assert outer is not None
    assert inner.lower is not None
    assert inner.upper is not None
    assert outer.set_lower <= outer.lower < inner.lower < inner.upper < outer.upper <= outer.set_upper
    between = (inner.upper + outer.upper) / 2  # the bounds lie below this, the interval does not
    assert between < 1
    assert audit(threshold=between).find("disparate_impact").verdict == "undetermined"
    assert audit(threshold=between, interval_method="none").find("disparate_impact").verdict == "below"


def test_the_gate_rests_on_the_interval_both_ways() -> None:
    for ahead, behind in (("M", "F"), ("F", "M")):
        roles: dict[str, Any] = {
            "protected": "sex",
            "decision": "ok",
            "reference": behind,
            "metrics": "disparate_impact",
        }
        found = fb.audit(*tables(), **roles).findings[0]
        ends = found.bounds.lower, found.bounds.upper
        assert None not in ends
        assert found.group == ahead
        just = 0.99 * min(ends[0], 1 / ends[1])  # type: ignore[operator]  # the bounds hold both ways, barely
        results = [
            fb.Policy(just).gate(fb.audit(*tables(), **roles, threshold=just, interval_method=how)).result
            for how in ("none", "cross_fitted")
        ]
        assert results == ["pass", "undetermined"]


def test_an_audit_with_intervals_is_stored_and_read_back() -> None:
    found = audit()
    assert fb.Audit.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_the_same_seed_gives_the_same_interval_and_another_one_a_similar_one() -> None:
    one, two, other = (audit(rng=seed).findings[0].interval for seed in (3, 3, 4))
    assert one == two
    assert one is not None
    assert other is not None
    assert (other.lower, other.upper) != (one.lower, one.upper)
    assert other.lower == pytest.approx(one.lower, abs=0.01)


def test_a_full_count_has_no_error_and_more_rows_have_less() -> None:
    sample, census, large = (
        confidence(problem(*sizes), "demographic_disparity", external_is_census=census)
        for sizes, census in (((3000, 1000), False), ((3000, 1000), True), ((300_000, 100_000), False))
    )
    widths = [found.upper - found.lower for found in (sample, census, large)]
    assert widths[0] > widths[1] > widths[2]


def test_width_falls_to_that_of_the_bounds_with_the_root_of_the_rows() -> None:
    beyond = []
    for people in (3_000, 300_000, 30_000_000):
        given = problem(people, people)
        found, bounds = confidence(given, "demographic_disparity"), bound(given, "demographic_disparity")
        assert bounds.width is not None
        beyond.append(found.upper - found.lower - bounds.width)
    slopes = np.diff(np.log10(beyond)) / 2
    np.testing.assert_allclose(slopes, -0.5, atol=0.05)


def test_without_a_sample_size_there_is_no_interval_and_a_warning_says_what_to_give() -> None:
    internal, _ = tables()
    weighted = Table.from_columns({"job": list("aabbcc"), "sex": list(GROUPS) * 3}, [0.3, 0.1, 0.2, 0.2, 0.1, 0.1])
    roles: dict[str, Any] = {"protected": "sex", "decision": "ok", "reference": "M"}
    found = fb.audit(internal, weighted, **roles)
    assert all(finding.interval is None for finding in found.findings)
    assert "--external-size (external_size=)" in " ".join(found.warnings)
    assert "--external-census" in " ".join(found.warnings)
    for given in ({"external_size": 500}, {"external_is_census": True}):
        assert all(finding.interval is not None for finding in fb.audit(internal, weighted, **roles, **given).findings)
    with pytest.raises(ProblemError, match="external table are no counts"):
        confidence(Problem.from_tables(internal, weighted, protected="sex", decision="ok"))


def test_rows_that_are_few_are_told_with_their_mass_and_the_median() -> None:
    internal = Table.from_columns({"job": list("aabbcc"), "ok": [0, 1] * 3}, [300, 200, 400, 100, 3, 2])
    found = fb.audit(internal, tables()[1], protected="sex", decision="ok", reference="M")
    [said] = [warning for warning in found.warnings if "fewer than" in warning]
    assert said.startswith("33.3% of the population lies in strata with fewer than 10 internal people (the median")
    assert "has 500" in said


def test_all_methods_agree_in_large_tables_and_the_exact_one_is_the_widest() -> None:
    given = problem(3_000_000, 3_000_000)
    inner = bound(given, "demographic_disparity")
    assert inner.lower is not None
    found = {
        method: confidence(given, "demographic_disparity", method=method)
        for method in ("cross_fitted", "bootstrap", "exact")
    }  # type: ignore[arg-type]
    assert found["exact"].lower < found["cross_fitted"].lower < inner.lower
    assert found["bootstrap"].lower == pytest.approx(found["cross_fitted"].lower, abs=2e-3)
    assert "tie" in found["bootstrap"].note


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"interval_method": "exakt"}, "cross_fitted, exact, bootstrap"),
        ({"internal_size": 0}, "1 or more"),
        ({"external_rounding": -5}, "above 0"),
        ({"combine_splits": "mean"}, "'average' or 'median'"),
        ({"interval_method": "exact", "metrics": ["disparate_impact"], "internal_size": 2999.5}, "counts of people"),
        ({"replicate_method": "sdrr"}, "sdr, brr"),
        ({"internal_cluster": "home"}, "has no column 'home'"),
        ({"external_replicates": ["w*"]}, "has no replicate weights"),
    ],
)
def test_bad_options_are_refused_in_words(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ProblemError, match=said):
        audit(**options)
    with pytest.raises(ProblemError, match=r"no option 'splitz'.*splits"):
        confidence(problem(), splitz=3)


# -- rounding ----------------------------------------------------------------------------------------------------------


def test_whatever_rounding_hid_the_interval_holds_the_bounds_of_the_counts_behind_it() -> None:
    """Counts rounded to 5: any that round to the published ones have their bounds within the interval."""
    rng = np.random.default_rng(0)
    internal, external = tables(600, 400)
    plain = confidence(problem(600, 400), "demographic_disparity")
    published = 5 * np.round(external.weights / 5)
    given = Problem.from_tables(
        internal, Table(external.variables, external.codes, published), protected="sex", decision="ok", reference="M"
    )
    sizes = {"internal_size": 1e9, "external_size": float(published.sum())}
    found = confidence(given, "demographic_disparity", external_is_census=True, external_rounding=5, **sizes)
    assert found.upper - found.lower > 0.01
    for _ in range(200):
        hidden = np.maximum(0, published + rng.uniform(-2.5, 2.5, len(published)))
        hidden_table = Table(external.variables, external.codes, hidden)
        truth = bound(
            Problem.from_tables(internal, hidden_table, protected="sex", decision="ok", reference="M"),
            "demographic_disparity",
        )
        assert truth.lower is not None
        assert truth.upper is not None
        assert found.lower <= truth.lower <= truth.upper <= found.upper
    wider = confidence(problem(600, 400), "demographic_disparity", external_rounding=5)
    assert wider.upper > plain.upper


# -- surveys -----------------------------------------------------------------------------------------------------------


def samples(given: Problem) -> tuple[Any, tuple[Any, Any]]:
    counts = count(given)
    rate = fb.metrics.get("disparate_impact").rate
    return counts, rate.coefficients(counts.score, counts.label)


@pytest.mark.parametrize("population", ["external", "internal"])
def test_a_row_moves_the_ends_as_far_as_its_deviation_says(population: Any) -> None:
    counts, coefficients = samples(problem(300, 500, population=population))
    sets = all_subsets(2)
    duals = fixed_duals(counts.offsets, *coefficients, counts.internal, counts.external, sets, population=population)
    ends = ends_of_tables(duals, counts.internal[None], counts.external[None], population)[0]
    np.testing.assert_allclose(ends, duals.rate, atol=1e-12)
    inside, outside = row_deviations(duals, counts.internal, counts.external, population)
    step = 1e-5
    for atom in range(len(counts.internal)):
        more = counts.internal.copy()
        more[atom] += step
        moved = ends_of_tables(duals, more[None], counts.external[None], population)[0]
        np.testing.assert_allclose((moved - ends) / step, inside[atom], atol=1e-7)
    for cell in np.ndindex(counts.external.shape):
        more = counts.external.copy()
        more[cell] += step
        moved = ends_of_tables(duals, counts.internal[None], more[None], population)[0]
        np.testing.assert_allclose((moved - ends) / step, outside[cell], atol=1e-7)


def test_fixed_duals_of_large_tables_are_the_bounds() -> None:
    given = problem(30_000, 30_000)
    counts, coefficients = samples(given)
    duals = fixed_duals(counts.offsets, *coefficients, counts.internal, counts.external)
    for at, group in enumerate(given.groups):
        found = bound(given, "selection_rate", group=group)
        assert duals.rate[[at, 2 + at]] == pytest.approx([found.lower, found.upper], abs=2e-5)


def test_everybody_twice_in_a_household_is_a_sample_half_as_large() -> None:
    given = problem(30_000, 1_000_000)
    counts, coefficients = samples(given)
    cell = np.repeat(np.arange(len(counts.internal)), counts.internal.astype(int))
    pairs = Survey(clusters=Clusters(np.arange(len(cell)) // 2, cell, np.ones(len(cell))))
    alone = Survey(clusters=Clusters(np.arange(len(cell)), cell, np.ones(len(cell))))
    for survey, expected in ((pairs, 2.0), (alone, 1.0)):
        effect = design_effect(counts, coefficients, None, "external", Sampling(survey=survey, external_is_census=True))
        np.testing.assert_allclose(effect, expected, rtol=0.02)
    wide, narrow = (
        confidence(given, "demographic_disparity", external_is_census=True, survey=survey) for survey in (pairs, alone)
    )
    inner = bound(given, "demographic_disparity")
    assert inner.lower is not None
    assert (inner.lower - wide.lower) / (inner.lower - narrow.lower) == pytest.approx(math.sqrt(2), abs=0.1)


@pytest.mark.parametrize(
    ("role", "method"), [("internal", "bootstrap"), ("external", "bootstrap"), ("external", "jackknife")]
)
def test_replicates_of_a_simple_random_sample_change_nothing(role: str, method: str) -> None:
    """Bootstrap replicates have the sample's own variance; so has a jackknife of random groups."""
    given = problem(3000, 5000)
    counts, coefficients = samples(given)
    own = getattr(counts, role)
    rng = np.random.default_rng(1)
    if method == "bootstrap":
        again = rng.multinomial(int(own.sum()), own.ravel() / own.sum(), size=3000).reshape(-1, *own.shape)
        factor = replicate_factor(method, 3000)
    else:  # a hundred random groups of people, each left out once
        people = rng.permutation(np.repeat(np.arange(own.size), own.ravel().astype(int)))
        parts = [np.bincount(part, minlength=own.size) for part in np.array_split(people, 500)]
        again = np.stack([(own.ravel() - part) * 500 / 499 for part in parts]).reshape(-1, *own.shape)
        factor = replicate_factor(method, 500)
    plan = Sampling(survey=Survey(**{role: Replicates(again, factor)}))
    effect = design_effect(counts, coefficients, None, "external", plan)
    np.testing.assert_allclose(effect, 1.0, atol=0.12)


def test_factors_are_those_of_the_handbooks() -> None:
    found = [replicate_factor(method, 80) for method in ("sdr", "brr", "jackknife", "bootstrap")]
    assert found == pytest.approx([4 / 80, 1 / 80, 79 / 80, 1 / 80])


def people_files(folder: Path) -> None:
    """Decisions by household; a census sample with two negative replicate weights among four."""
    rng = np.random.default_rng(5)
    rows = ["home,job,ok"]
    for home in range(300):
        job, first = int(rng.integers(3)), rng.random()
        rows += [
            f"{home},{JOBS[job]},{int((first if rng.random() < 0.9 else rng.random()) < APPROVED[job])}"
            for _ in range(3)
        ]
    (folder / "in.csv").write_text("\n".join(rows) + "\n")
    rows = ["job,sex,w,w1,w2,w3,w4"]
    for at in range(900):
        job = int(rng.integers(3))
        weight, other = 10 + at % 7, [round(30 * rng.random()) - 2 for _ in range(4)]
        rows.append(f"{JOBS[job]},{'F' if rng.random() < WOMEN[job] else 'M'},{weight}," + ",".join(map(str, other)))
    (folder / "out.csv").write_text("\n".join(rows) + "\n")


def test_clusters_and_replicates_are_read_from_files(tmp_path: Path) -> None:
    people_files(tmp_path)
    paths = str(tmp_path / "in.csv"), str(tmp_path / "out.csv")
    roles: dict[str, Any] = {"protected": "sex", "decision": "ok", "reference": "M", "external_weight": "w"}
    plain = fb.audit(*paths, **roles)
    homes = fb.audit(*paths, **roles, internal_cluster="home")
    drawn = fb.audit(*paths, **roles, external_replicates=["w*"])
    assert plain.provenance["columns"]["common"] == homes.provenance["columns"]["common"] == ["job"]
    widths = []
    for found in (plain, homes, drawn):
        interval_ = found.find("demographic_disparity").interval
        assert interval_ is not None
        assert found.find("demographic_disparity").bounds == plain.find("demographic_disparity").bounds
        widths.append(interval_.upper - interval_.lower)
    assert widths[1] > 1.01 * widths[0]
    assert widths[2] > 1.01 * widths[0]  # these replicates are far from the weights
    assert drawn.provenance["drawn"]["external_replicates"] == ["w*"]


def test_replicates_are_the_sums_by_cell_whatever_their_sign(tmp_path: Path) -> None:
    from fairbounds.combining import Roles, combine

    people_files(tmp_path)
    roles = Roles(
        "sex", decision="ok", external_weight="w", external_replicates=["w2", "w1"], recode={"job": {"a": "A"}}
    )
    found = combine(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), roles, keep_features=False)
    assert found.survey is not None
    assert found.survey.external is not None
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    assert any(row[4].startswith("-") for row in rows)
    for at, column in ((0, 4), (1, 3)):
        for stratum, job in enumerate("abc"):  # "A" comes first too
            for group, sex in enumerate(GROUPS):
                by_hand = sum(int(row[column]) for row in rows if row[0] == job and row[1] == sex)
                assert found.survey.external.tables[at, stratum, group] == by_hand


def test_replicates_follow_combined_groups_and_rows_left_out() -> None:
    from fairbounds.combining import Roles, combine

    internal = {"job": ["a", "a", "b", "b", None], "ok": [0, 1, 0, 1, 1]}
    external = {
        "job": ["a", "a", "b", "b", None, "a"],
        "sex": ["F", "M", "F", "M", "F", "F"],
        "age": ["old", "young", "old", "young", "old", "old"],
        "w": [4, 5, 6, 7, 8, 9],
        "r1": [1.5, -1, 2, 3, 100, 0.5],
        "r2": [4, 4, 4, 4, 100, 4],
    }
    roles = Roles(
        ("sex", "age"), decision="ok", external_weight="w", external_replicates="r*", missing="drop", common=["job"]
    )
    found = combine(internal, external, roles, keep_features=False)
    assert found.survey is not None
    assert found.survey.external is not None
    assert found.problem.groups == ("F × old", "M × young")
    # Jobs by groups; the row without a job is left out of the replicates as of the table.
    assert found.survey.external.tables.tolist() == [[[2.0, -1.0], [2.0, 3.0]], [[8.0, 4.0], [4.0, 4.0]]]
    assert found.survey.external.factor == 2.0
    external["r1"][0] = None  # type: ignore[index, call-overload]
    with pytest.raises(ProblemError, match=r"'r1' of .* lacks a value in some rows"):
        combine(internal, external, roles, keep_features=False)


def test_the_text_names_both_readings(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    from fairbounds.report.sentences import value
    from fairbounds.report.text import print_audit

    found = audit(confidence=0.9)
    print_audit(found, Console(width=200))
    printed, interval_ = " ".join(capsys.readouterr().out.split()), found.find("disparate_impact").interval
    assert interval_ is not None
    assert (
        f"With sampling error: {value(interval_.lower, 0.8)} to {value(interval_.upper, 0.8)} (90% interval; for the"
        in printed
    )
    assert f"{value(interval_.set_lower, 0.8)} to {value(interval_.set_upper, 0.8)})." in printed
    assert "with 90% confidence for each comparison" in printed
    between = (found.find("disparate_impact").bounds.upper + interval_.upper) / 2  # type: ignore[operator]
    print_audit(audit(threshold=between, confidence=0.9), Console(width=200))
    assert "Undetermined: the bounds settle it, but sampling error could move them across" in " ".join(
        capsys.readouterr().out.split()
    )


def test_the_weight_itself_is_no_replicate() -> None:
    drawn = Drawn(external_replicates=("PWGTP*",))
    assert drawn.replicates("external", ["PWGTP", "PWGTP1", "PWGTP80"], "PWGTP", "it") == ("PWGTP1", "PWGTP80")
    assert not drawn.holds("PWGTP", "PWGTP")
    assert drawn.holds("PWGTP7")


def test_other_methods_refuse_surveys() -> None:
    with pytest.raises(ProblemError, match="need the method cross_fitted"):
        Sampling(method="exact", survey=Survey())


# -- the median of splits ----------------------------------------------------------------------------------------------


def test_the_median_rule_keeps_a_value_that_half_of_the_splits_keep_at_half_the_error() -> None:
    values = np.array([0.1, 0.2, 0.35])
    ends = DualEnds(
        np.stack([values, values, values + 0.3, values + 0.3], axis=1)[None],
        np.broadcast_to(0.0004 * np.eye(4), (1, 3, 4, 4)),
        np.zeros((1, 3, 3, 4)),
    )
    lower, upper = median_interval(ends, "rate", 2, 0, 1, 0.9, "set")
    # Twice the median p-value is the error at the limits; by hand, from the middle split's two one-sided tests.
    for limit, end, sign in ((lower[0], 0.2, 1), (upper[0], 0.5, -1)):
        assert 2 * 2 * norm.sf(sign * (end - limit) / 0.02) == pytest.approx(0.1, abs=1e-9)
    two = DualEnds(ends.value[:, :2], ends.covariance[:, :2], ends.moments[:, :2])
    z = norm.isf(0.025)
    assert [float(limit[0]) for limit in median_interval(two, "rate", 2, 0, 1, 0.9, "set")] == pytest.approx(
        [0.1 - z * 0.02, 0.5 + z * 0.02]
    )
    assert interval(two._replace(value=two.value[:, :, :]), "rate", 2, 0, 1, 0.95, "set")[0].shape == (1, 2)


def test_the_median_rule_is_an_option_and_the_wider_one() -> None:
    average, median = (confidence(problem(), "demographic_disparity", combine=how) for how in ("average", "median"))
    assert median.lower < average.lower
    assert median.details["combine"] == "median"


# -- standard errors of estimates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("population", ["external", "internal"])
@pytest.mark.parametrize("metric", ["demographic_disparity", "disparate_impact"])
def test_the_error_of_the_independence_estimate_is_that_of_repeated_samples(metric: str, population: Any) -> None:
    given = problem(population=population)
    [question] = Question.every(given, metric)
    [claimed] = independence_errors(given, [question], Sampling())
    assert claimed is not None
    values = [fb.estimate(problem(seed=seed, population=population), metric).value for seed in range(600)]
    assert claimed == pytest.approx(float(np.std(np.array(values, dtype=float))), rel=0.12)
    [internal_only] = independence_errors(given, [question], Sampling(external_is_census=True))
    assert internal_only is not None
    assert internal_only < claimed


def test_the_error_of_an_audit_is_that_of_its_problem() -> None:
    given = problem()
    [claimed] = independence_errors(given, Question.every(given, "demographic_disparity"), Sampling())
    assert audit().find("demographic_disparity").estimates[0].details["standard_error"] == claimed


def test_an_estimate_that_is_not_finite_has_no_error() -> None:
    internal = Table.from_columns({"job": ["a", "b"], "ok": [0, 1]}, [50, 50])
    external = Table.from_columns({"job": ["a", "b"], "sex": ["M", "F"]}, [50, 50])
    given = Problem.from_tables(internal, external, protected="sex", decision="ok", reference="M")
    assert independence_errors(given, Question.every(given, "disparate_impact"), Sampling()) == (None,)


def test_the_latent_class_estimate_has_a_standard_error_that_falls_with_the_rows() -> None:
    errors = []
    for sizes in ((600, 600), (60_000, 60_000)):
        given = problem(*sizes)
        [question] = Question.every(given, "demographic_disparity")
        errors += latent_class_errors(given, [question], Sampling(), 2, 0, draws=8, starts=2)
    assert errors[1] < errors[0] < 1


# -- the record --------------------------------------------------------------------------------------------------------


def test_an_interval_without_upper_limit_is_null_in_json_and_read_back() -> None:
    found = Interval("disparate_impact", "F", "M", 0.3, math.inf, 0.2, math.inf, 0.95)
    assert found.to_dict()["upper"] is None
    assert Interval.from_dict(found.to_dict(), "disparate_impact", "F", "M") == found


def test_whole_numbers_taken_for_weights_are_told() -> None:
    """A table of counts by age too, of which the audit reads job and sex: 40 rows are 4 cells of 400 people."""
    internal = {"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 0], "n": [80, 20, 30, 70]}
    ages = [(job, sex, age) for job in "ab" for sex in "FM" for age in range(10)]
    external = {
        "job": [job for job, _, _ in ages],
        "sex": [sex for _, sex, _ in ages],
        "age": [age for _, _, age in ages],
        "n": [1 + 2 * age for _, _, age in ages],
    }
    asked: dict[str, Any] = {"protected": "sex", "decision": "ok", "internal_weight": "n", "external_weight": "n"}
    taken, told = (fb.audit(internal, external, **asked, **size) for size in ({}, {"external_size": 400}))
    assert any("if they count people, give --external-size 400." in said for said in taken.warnings)
    assert not any("if they count people" in said for said in told.warnings)
