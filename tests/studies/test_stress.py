"""The stress test: each way to be wrong is what it says, and what it does is counted right."""

import json
import statistics

import numpy as np
import protocol_by_hand as by_hand
import pytest
from scipy.stats import rankdata

from fairbounds import Problem, Table, bound
from fairbounds.errors import ProblemError
from fairbounds.progress import listening
from fairbounds.studies.simulation import distorted, draw_trials
from fairbounds.studies.stress import SETTINGS, Setting, stress, stressed

POINTS = 10
BASE = Setting("none", 0.0)


def dictionaries(scenarios, n):
    truth = by_hand.as_truth(scenarios.truth[n])
    internal = {(s, o): float(scenarios.internal[n, o, s]) for s in (0, 1) for o in (0, 1)}
    external = {(o, e): float(scenarios.external[n, o, e]) for o in (0, 1) for e in (0, 1)}
    return truth, by_hand.as_classifier(scenarios.score[n]), internal, external


def sharp(internal, external, classifier, metric):
    inside, outside = list(internal.items()), list(external.items())
    problem = Problem.from_tables(
        Table.from_columns(
            {"o": [o for (_, o), _ in inside], "score": [classifier[cell] for cell, _ in inside]},
            [mass for _, mass in inside],
        ),
        Table.from_columns(
            {"o": [o for (o, _), _ in outside], "e": [e for (_, e), _ in outside]}, [mass for _, mass in outside]
        ),
        protected="e",
        score="score",
        reference=1,
    )
    return bound(problem, metric, group=0)


def shares(table):
    return table[..., 1] / table.sum(axis=2)


@pytest.mark.parametrize("family", ["internal shift", "external shift", "internal odds", "external odds"])
def test_a_wrong_table_is_wrong_inside_strata_only(family):
    side, how = family.split()
    other = "external" if side == "internal" else "internal"
    size = 0.15 if how == "shift" else 3.0
    right, wrong = (stressed(setting, 40, seed=2) for setting in (BASE, Setting(family, size)))
    for name in ("truth", "score", "alpha", "beta", other):
        assert np.array_equal(getattr(wrong, name), getattr(right, name))
    before, after = getattr(right, side), getattr(wrong, side)
    assert after.sum(axis=2) == pytest.approx(before.sum(axis=2), rel=1e-14)
    assert wrong.kl == pytest.approx(right.kl, abs=1e-14)
    if how == "shift":
        expected = [[min(1.0, share + size) for share in pair] for pair in shares(before)]
        assert any(share == 1.0 for pair in expected for share in pair)
    else:
        expected = [[1 / (1 + (1 - share) / share / size) for share in pair] for pair in shares(before)]
    assert shares(after) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    "setting",
    [
        Setting("internal shift", 0.0),
        Setting("external shift", 0.0),
        Setting("internal odds", 1.0),
        Setting("external odds", 1.0),
        Setting("association", 1.0),
        Setting("concentration", 1.0),
    ],
)
def test_size_nothing_is_the_paper_s_protocol(setting):
    scenarios, protocol = stressed(setting, 10, seed=3), distorted(draw_trials(10, seed=3))
    for name in ("truth", "score", "internal", "external"):
        assert getattr(scenarios, name) == pytest.approx(getattr(protocol, name), rel=1e-14)


def test_a_concentration_is_that_of_the_truths():
    scenarios = stressed(Setting("concentration", 0.2), 10, seed=3)
    assert np.array_equal(scenarios.truth, distorted(draw_trials(10, seed=3, concentration=0.2)).truth)


def test_an_association_multiplies_the_odds_ratio_in_each_stratum():
    plain, tied = (stressed(Setting("association", size, "ordered"), 30, seed=4).truth[::25] for size in (1.0, 7.0))
    assert tied.sum(axis=(1, 2, 3)) == pytest.approx(np.ones(30))
    for o in (0, 1):
        ratio = [
            truth[:, 0, o, 0] * truth[:, 1, o, 1] / (truth[:, 0, o, 1] * truth[:, 1, o, 0]) for truth in (plain, tied)
        ]
        assert ratio[1] == pytest.approx(7 * ratio[0])


def test_samples_are_counts_around_their_tables():
    people, trials = 200, 40
    drawn, tables = stressed(Setting("sample", people), trials, seed=5), distorted(draw_trials(trials, seed=5))
    for name in ("internal", "external"):
        counts, expected = getattr(drawn, name) * people, getattr(tables, name)
        assert counts == pytest.approx(np.round(counts), abs=1e-9)
        assert counts.sum(axis=(1, 2)) == pytest.approx(np.full(25 * trials, people))
        z = (counts - people * expected) / np.sqrt(people * expected * (1 - expected))
        assert abs(z.mean()) < 0.1
        assert z.std() == pytest.approx(1.0, abs=0.1)
        assert len({tuple(row) for row in counts.reshape(trials, 25, 4)[0]}) > 1  # drawn anew in each scenario
    assert np.array_equal(drawn.internal, stressed(Setting("sample", people), trials, seed=5).internal)


@pytest.mark.parametrize(
    "setting",
    [
        Setting("internal shift", 0.2),
        Setting("external odds", 4.0),
        Setting("sample", 300.0),
        Setting("association", 5.0, "ordered"),
        Setting("concentration", 0.5),
    ],
)
def test_figures_are_those_of_bound_and_of_joints_written_out(setting):
    trials, seed = 3, 6
    result = stress(trials, seed, POINTS, [setting]).results[0]
    scenarios = stressed(setting, trials, seed)
    covered, errors, widths, dropped, unknown = [], [], [], 0, 0
    for n in range(len(scenarios)):
        truth, classifier, internal, external = dictionaries(scenarios, n)
        true = {
            "disparate_impact": by_hand.di(truth, classifier),
            "demographic_disparity": by_hand.dd(truth, classifier),
        }
        if true["disparate_impact"] > 5:
            dropped += 1
            continue
        ends = {metric: sharp(internal, external, classifier, metric) for metric in true}
        covered.append([e.lower <= true[m] <= e.upper for m, e in ends.items()])
        widths.append([e.upper - e.lower for e in ends.values()])
        if not all(internal[0, o] + internal[1, o] > 0 for o in (0, 1)):
            unknown += 1
            continue
        alone = by_hand.independence(internal, external)
        middle = sum((ends["demographic_disparity"].lower, ends["demographic_disparity"].upper)) / 2
        errors.append(
            [
                true["disparate_impact"] - by_hand.di(alone, classifier),
                true["demographic_disparity"] - by_hand.dd(alone, classifier),
                true["demographic_disparity"] - middle,
            ]
        )
    assert (result.scenarios, result.dropped) == (len(covered), dropped)
    assert result.coverage == pytest.approx(statistics.fmean(map(all, covered)))
    found = [result.di_coverage, result.dd_coverage]
    assert found == pytest.approx([statistics.fmean(column) for column in zip(*covered, strict=True)])
    found = [result.di_independence_error, result.dd_independence_error, result.dd_mean_error]
    assert found == pytest.approx([statistics.fmean(column) for column in zip(*errors, strict=True)])
    found = [
        result.di_independence_error_absolute,
        result.dd_independence_error_absolute,
        result.dd_mean_error_absolute,
    ]
    assert found == pytest.approx([statistics.fmean(map(abs, column)) for column in zip(*errors, strict=True)])
    means = [statistics.fmean(column) for column in zip(*widths, strict=True)]
    assert [result.di_range, result.dd_range] == pytest.approx(means)
    assert (result.undefined, result.unbounded) == (unknown / len(covered), 0.0)


def test_the_mean_over_the_feasible_set_is_that_of_uniform_joints():
    """DI of the mean, by drawing the two free entries uniformly between their ends."""
    setting = Setting("internal odds", 2.0)
    scenarios, rng, errors = stressed(setting, 2, seed=9), np.random.default_rng(0), []
    for n in (0, 25):
        truth, classifier, internal, external = dictionaries(scenarios, n)
        values = []
        ends = []
        for o in (0, 1):
            row = internal[0, o] / (internal[0, o] + internal[1, o]) * (external[o, 0] + external[o, 1])
            ends.append((max(0.0, row - external[o, 1]), min(row, external[o, 0])))
        for c, k in rng.uniform(*np.array(ends).T, size=(20_000, 2)):
            values.append(by_hand.di(by_hand.joint_of(internal, external, c, k), classifier))
        errors.append(by_hand.di(truth, classifier) - statistics.fmean(values))
    result = stress(2, 9, 400, [setting]).results[0]
    assert result.di_mean_error == pytest.approx(statistics.fmean(errors), abs=0.01)


def test_errors_of_one_trial_are_one_observation():
    trials = 40
    result = stress(trials, 1, POINTS, [BASE]).results[0]
    scenarios = stressed(BASE, trials, 1)
    errors = []
    for n in range(0, len(scenarios), 25):
        truth, classifier, internal, external = dictionaries(scenarios, n)
        if by_hand.di(truth, classifier) <= 5:
            errors.append(
                by_hand.dd(truth, classifier) - by_hand.dd(by_hand.independence(internal, external), classifier)
            )
    assert result.dd_independence_error == pytest.approx(statistics.fmean(errors))
    assert result.dd_independence_error_se == pytest.approx(statistics.stdev(errors) / len(errors) ** 0.5)


def test_the_divergence_s_correlations_are_of_ranks():
    trials, setting = 20, Setting("internal shift", 0.2)
    result = stress(trials, 2, POINTS, [setting]).results[0]
    scenarios = stressed(setting, trials, 2)
    kl, missed, error = [], [], []
    for n in range(len(scenarios)):
        truth, classifier, internal, external = dictionaries(scenarios, n)
        if by_hand.di(truth, classifier) > 5:
            continue
        inside = []
        for metric, name in ((by_hand.di, "disparate_impact"), (by_hand.dd, "demographic_disparity")):
            ends, true = sharp(internal, external, classifier, name), metric(truth, classifier)
            inside.append(ends.lower <= true <= ends.upper)
        kl.append(by_hand.kl(internal, external))
        missed.append(not all(inside))
        error.append(abs(true - (ends.lower + ends.upper) / 2))
    assert 0 < sum(missed) < len(missed)
    ranks = rankdata(np.round(kl, 12))
    assert result.kl == pytest.approx(statistics.fmean(kl))
    assert result.kl_missed == pytest.approx(statistics.fmean(k for k, m in zip(kl, missed, strict=True) if m))
    assert result.kl_covered == pytest.approx(statistics.fmean(k for k, m in zip(kl, missed, strict=True) if not m))
    assert result.kl_missed_correlation == pytest.approx(np.corrcoef(ranks, missed)[0, 1], abs=1e-3)
    assert result.kl_error_correlation == pytest.approx(np.corrcoef(ranks, error)[0, 1], abs=1e-3)


def test_what_a_sample_has_not_seen_is_counted_and_not_filled_in():
    """Ten people leave strata empty: no estimate there, and bounds of DI without an upper end."""
    result = stress(50, 0, POINTS, [Setting("sample", 10.0)]).results[0]
    scenarios = stressed(Setting("sample", 10.0), 50, 0)
    needed = scenarios.external.sum(axis=2) > 0
    lacks = (needed & (scenarios.internal.sum(axis=2) == 0)).any(axis=1) | (scenarios.external.sum(axis=1) == 0).any(
        axis=1
    )
    kept = scenarios.true_rates[:, 0] <= 5 * scenarios.true_rates[:, 1]
    assert result.undefined == pytest.approx(lacks[kept].mean())
    assert 0.1 < result.undefined < 1
    assert result.unbounded > 0
    assert np.isfinite([result.di_range, result.di_mean_error, result.kl]).all()


def test_the_damage_grows_while_the_divergence_stays():
    sizes = {"internal shift": (0.05, 0.2), "internal odds": (1.5, 4.0), "external shift": (0.05, 0.2)}
    settings = [BASE, *(Setting(family, size) for family, pair in sizes.items() for size in pair)]
    test = stress(300, 0, 20, settings)
    clean = test.result("none", 0.0)
    assert clean.coverage == 1.0
    assert np.isnan(clean.kl_missed)
    assert np.isnan(clean.kl_missed_correlation)
    for family, (little, much) in sizes.items():
        first, second = test.result(family, little), test.result(family, much)
        assert second.coverage + 4 * second.coverage_se < first.coverage < 1.0
        for result in (first, second):
            assert result.kl == pytest.approx(clean.kl, abs=1e-12)
            assert abs(result.kl_missed_correlation) < 0.1
            assert abs(result.kl_error_correlation) < 0.1


def test_larger_samples_are_covered_more_often():
    test = stress(200, 0, 10, [Setting("sample", n) for n in (100.0, 1_000.0, 10_000.0)])
    coverage = [result.coverage for result in test.results]
    assert coverage == sorted(coverage)
    assert coverage[0] < 0.95
    assert coverage[2] > 0.99


def test_an_association_biases_estimates_but_not_bounds():
    test = stress(300, 0, 20, [Setting("association", size, "ordered") for size in (1.0, 20.0)])
    none, strong = test.results
    assert none.coverage == strong.coverage == 1.0
    assert abs(none.dd_independence_error) < 4 * none.dd_independence_error_se
    assert strong.dd_independence_error < -10 * strong.dd_independence_error_se
    assert strong.dd_mean_error < -10 * strong.dd_mean_error_se


def test_all_settings_run_and_are_told_and_written():
    told = []
    with listening(lambda task, part: told.append(part)):
        test = stress(4, 0, 4)
    columns = test.to_columns()
    assert list(zip(columns["family"], columns["size"], strict=True)) == [(s.family, s.size) for s in SETTINGS]
    json.dumps(columns, allow_nan=False)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert told == sorted(told)
    with pytest.raises(ProblemError, match="no setting 'sample' of size 7"):
        test.result("sample", 7)
