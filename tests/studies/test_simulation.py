"""The simulated study: the paper's protocol, its figures, and what does not depend on the distortion."""

import json
import statistics
from dataclasses import asdict

import numpy as np
import protocol_by_hand as by_hand
import pytest
from scipy.stats import kstest

from fairbounds import Problem, Table, bound
from fairbounds.errors import ProblemError
from fairbounds.progress import listening
from fairbounds.studies.published import KL_BINS, SIMULATION
from fairbounds.studies.simulation import Scenarios, answer, distorted, draw_trials, sharp_ends
from fairbounds.studies.simulation_study import Summary, distortion_effect, repeat, simulate

POINTS = 12
ALMOST_NEVER = 1e-3


@pytest.fixture(scope="module")
def study():
    return simulate(trials=60, seed=10, points=POINTS)


def scenario(scenarios, n):
    """One scenario as the dictionaries of the transcription."""
    truth = by_hand.as_truth(scenarios.truth[n])
    internal = {(s, o): float(scenarios.internal[n, o, s]) for s in (0, 1) for o in (0, 1)}
    external = {(o, e): float(scenarios.external[n, o, e]) for o in (0, 1) for e in (0, 1)}
    return truth, by_hand.as_classifier(scenarios.score[n]), internal, external


def problem_of(internal, external, classifier, population="external"):
    inside, outside = list(internal.items()), list(external.items())
    return Problem.from_tables(
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
        population=population,
    )


@pytest.mark.parametrize("design", ["mirrored", "independent", "ordered"])
def test_every_answer_is_that_of_the_written_out_protocol(design):
    drawn = draw_trials(3, seed=11, design=design)
    scenarios = distorted(drawn)
    answers = answer(scenarios, POINTS, "paper")
    n = 0
    for t in range(3):
        truth, classifier = by_hand.as_truth(drawn.truth[t]), by_hand.as_classifier(drawn.score[t])
        for alpha in by_hand.ALPHAS:
            for beta in by_hand.BETAS:
                internal, external = by_hand.internal_of(truth, alpha, beta), by_hand.external_of(truth)
                joints = by_hand.feasible_joints(internal, external, POINTS)
                assert (scenarios.trial[n], scenarios.alpha[n], scenarios.beta[n]) == (t, alpha, beta)
                assert scenarios.kl[n] == pytest.approx(by_hand.kl(internal, external), abs=1e-14)
                assert answers.feasible[n] == len(joints)
                for metric, found in ((by_hand.di, answers.ratio), (by_hand.dd, answers.difference)):
                    values = [metric(joint, classifier) for joint in joints]
                    alone = metric(by_hand.independence(internal, external), classifier)
                    expected = [metric(truth, classifier), statistics.fmean(values), min(values), max(values), alone]
                    got = [found.true[n], found.mean[n], found.low[n], found.high[n], found.independence[n]]
                    assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)
                n += 1
    assert n == len(scenarios)


@pytest.mark.parametrize("population", ["external", "internal"])
def test_sharp_ends_are_those_of_bound(population):
    scenarios = distorted(draw_trials(4, seed=3))
    answers = answer(scenarios, 2, "tight", population)
    for n in range(0, len(scenarios), 7):
        _, classifier, internal, external = scenario(scenarios, n)
        problem = problem_of(internal, external, classifier, population)
        for name, found in (("disparate_impact", answers.ratio), ("demographic_disparity", answers.difference)):
            ends = bound(problem, name, group=0)
            assert [found.sharp_low[n], found.sharp_high[n]] == pytest.approx([ends.lower, ends.upper], rel=1e-9)


@pytest.mark.parametrize("empty", [0, 1])
def test_a_stratum_that_the_internal_table_lacks_may_favour_anyone(empty):
    scenarios = distorted(draw_trials(1, seed=8))
    internal = scenarios.internal.copy()
    internal[:, empty] = 0
    scenarios = Scenarios(**{**vars(scenarios), "internal": internal})
    answers = answer(scenarios, POINTS, "tight")
    _, classifier, inside, external = scenario(scenarios, 0)
    known = {cell: mass for cell, mass in inside.items() if mass > 0}
    ends = bound(problem_of(known, external, classifier), "demographic_disparity", group=0)
    found = answers.difference
    assert [found.sharp_low[0], found.sharp_high[0]] == pytest.approx([ends.lower, ends.upper])
    assert np.isnan([found.mean[0], found.low[0], found.independence[0]]).all()
    assert np.isinf(scenarios.kl).all()
    assert answers.feasible[0] == 0


def test_ends_below_rounding_count_as_nothing():
    """A tie leaves 1e-17 of the second group's favourable mass: the ratio has no upper end, not one of 1e16."""
    rows, columns = np.array([[[0.1 + 0.2, 0.3], [0.2, 0.2]]]), np.array([[[0.3, 0.3], [0.4, 0.0]]])
    score = np.array([[[1.0, 0.0], [0.5, 0.5]]])
    assert 0 < rows[0, 0, 0] - columns[0, 0, 0] < 1e-16
    low, high = sharp_ends(rows, columns, score)
    assert low[1, 0] == 0
    assert [low[0, 0], high[0, 0], high[1, 0]] == pytest.approx([0.2, 0.5, 0.3])


def test_without_distortion_the_tables_are_the_truth_s_own():
    drawn = draw_trials(5, seed=1)
    scenarios = distorted(drawn)
    consistent = np.flatnonzero((scenarios.alpha == 1) & (scenarios.beta == 1))
    assert len(consistent) == 5
    for t, n in enumerate(consistent):
        truth = by_hand.as_truth(drawn.truth[t])
        internal = {(s, o): truth[s, o, 0] + truth[s, o, 1] for s in (0, 1) for o in (0, 1)}
        assert scenario(scenarios, n)[2] == pytest.approx(internal)
        assert scenario(scenarios, n)[3] == pytest.approx(by_hand.external_of(truth))
        assert 0 <= scenarios.kl[n] < 1e-15


def test_a_divergence_is_never_negative():
    scenarios = distorted(draw_trials(500, seed=0))
    consistent = (scenarios.alpha == 1) & (scenarios.beta == 1)
    assert scenarios.kl[consistent].min() == 0  # without the clip, rounding makes about half of them negative
    assert scenarios.kl[consistent].max() < 1e-15
    assert scenarios.kl[~consistent].min() > 1e-6


def test_distorted_tables_sum_to_one_and_keep_what_is_inside_strata():
    scenarios = distorted(draw_trials(20, seed=2))
    assert scenarios.internal.sum(axis=(1, 2)) == pytest.approx(np.ones(500))
    shares = (scenarios.internal / scenarios.internal.sum(axis=2, keepdims=True)).reshape(20, 25, 4)
    assert np.ptp(shares, axis=1).max() < 1e-15
    odds = scenarios.internal[:, 1].sum(axis=1) / scenarios.internal[:, 0].sum(axis=1)
    own = np.repeat(odds[4 * 5 :: 25], 25)  # α = 1, β = 1 is the twenty-first pair
    assert odds == pytest.approx(own * scenarios.beta / scenarios.alpha)


@pytest.mark.parametrize("concentration", [0.2, 1.0, 5.0])
def test_truths_have_the_moments_of_their_dirichlet(concentration):
    truth = draw_trials(20_000, seed=0, concentration=concentration).truth.reshape(-1, 8)
    variance = (1 / 8) * (7 / 8) / (8 * concentration + 1)
    assert truth.sum(axis=1) == pytest.approx(np.ones(20_000))
    assert np.abs(truth.mean(axis=0) - 1 / 8).max() < 4.5 * np.sqrt(variance / 20_000)
    assert truth.var(axis=0) == pytest.approx(np.full(8, variance), rel=0.1)


def test_designs_share_truths_and_differ_as_they_say():
    mirrored, independent, ordered = (draw_trials(4_000, 0, d) for d in ("mirrored", "independent", "ordered"))
    assert np.array_equal(mirrored.truth, independent.truth)
    assert np.array_equal(mirrored.truth, ordered.truth)
    assert mirrored.score.sum(axis=2) == pytest.approx(np.ones((4_000, 2)))
    assert (ordered.score[..., 1] >= ordered.score[..., 0]).all()
    assert np.array_equal(ordered.score, np.sort(mirrored.score, axis=2))
    for design in (mirrored, independent):
        for o in (0, 1):
            for s in (0, 1):
                assert kstest(design.score[:, o, s], "uniform").pvalue > ALMOST_NEVER
    correlation = np.corrcoef(independent.score.reshape(-1, 4).T) - np.eye(4)
    assert np.abs(correlation).max() < 4 / np.sqrt(4_000)
    assert abs(np.corrcoef(mirrored.score[:, 0, 0], mirrored.score[:, 1, 0])[0, 1]) < 4 / np.sqrt(4_000)


def test_tight_limits_reach_the_sharp_bounds_and_centre_the_difference():
    answers = answer(distorted(draw_trials(40, seed=6)), POINTS, "tight")
    assert (answers.feasible == POINTS**2).all()
    for metric in (answers.ratio, answers.difference):
        assert metric.low == pytest.approx(metric.sharp_low, rel=1e-9, abs=1e-12)
        assert metric.high == pytest.approx(metric.sharp_high, rel=1e-9, abs=1e-12)
        assert metric.in_grid.all()
    middle = (answers.difference.sharp_low + answers.difference.sharp_high) / 2
    assert answers.difference.mean == pytest.approx(middle, abs=1e-12)


def test_a_truth_outside_is_seen():
    answers = answer(distorted(draw_trials(1, seed=0)), POINTS)
    for shift in (-1.0, 1.0):
        metric = answers.difference._replace(true=answers.difference.true + shift)
        assert not metric.in_grid.any()
        assert not metric.in_sharp.any()


def test_a_flat_truth_is_uniform_in_what_the_tables_leave_open():
    """Why the mean over the feasible set is unbiased in this simulation: the prior of truths is the grid's own."""
    truth = draw_trials(4_000, seed=4).truth
    for o in (0, 1):
        row, column, free = truth[:, 0, o].sum(axis=1), truth[:, :, o, 0].sum(axis=1), truth[:, 0, o, 0]
        low, high = np.maximum(0, row + column - truth[:, :, o].sum(axis=(1, 2))), np.minimum(row, column)
        assert kstest((free - low) / (high - low), "uniform").pvalue > ALMOST_NEVER


def test_summaries_are_those_of_the_columns(study):
    rows = study.to_columns()
    n_rows = len(rows["trial"])
    assert {len(column) for column in rows.values()} == {n_rows} == {60 * 25}
    assert [s.kl_bin for s in study.summaries] == ["all", *KL_BINS] * 2
    for summary in study.summaries:
        wanted = [
            i
            for i in range(n_rows)
            if (not summary.filtered or rows["di_true"][i] <= 5)
            and summary.kl_bin in ("all", by_hand.kl_bin(rows["kl"][i]))
        ]
        assert (summary.scenarios, summary.joints) == (len(wanted), POINTS**2)
        assert summary.trials == len({rows["trial"][i] for i in wanted})
        assert summary.feasible_joints == pytest.approx(statistics.fmean(rows["feasible_joints"][i] for i in wanted))
        inside = dict.fromkeys(("", "sharp_"), 0)
        for kind in inside:
            inside[kind] = sum(
                all(
                    rows[f"{m}_{kind}low"][i] <= rows[f"{m}_true"][i] <= rows[f"{m}_{kind}high"][i]
                    for m in ("di", "dd")
                )
                for i in wanted
            )
        assert summary.grid_coverage == pytest.approx(inside[""] / len(wanted))
        assert summary.sharp_coverage == pytest.approx(inside["sharp_"] / len(wanted))
        for m in ("di", "dd"):
            for figure, plus, minus in (
                ("true_minus_mean", "true", "mean"),
                ("range", "high", "low"),
                ("sharp_range", "sharp_high", "sharp_low"),
            ):
                values = [rows[f"{m}_{plus}"][i] - rows[f"{m}_{minus}"][i] for i in wanted]
                assert getattr(summary, f"{m}_{figure}") == pytest.approx(statistics.fmean(values))
                assert getattr(summary, f"{m}_{figure}_sd") == pytest.approx(statistics.stdev(values))


def test_the_filter_drops_whole_trials_by_their_true_ratio(study):
    rows = study.to_columns()
    assert study.dropped == sum(di > 5 for di in rows["di_true"]) > 0
    assert study.dropped % 25 == 0
    assert rows["kept"] == [di <= 5 for di in rows["di_true"]]
    assert rows["kl_bin"] == [by_hand.kl_bin(value) for value in rows["kl"]]


@pytest.mark.parametrize(("value", "expected"), [(0.0, 0), (0.05, 0), (0.0500001, 1), (0.1, 1), (0.5, 4), (0.6, 5)])
def test_bins_are_closed_on_the_right(monkeypatch, value, expected):
    monkeypatch.setattr(Scenarios, "kl", property(lambda self: np.full(len(self), value)))
    assert set(simulate(trials=1, points=2).kl_bin.tolist()) == {expected}


def test_a_bin_without_scenarios_has_no_figures(monkeypatch):
    monkeypatch.setattr(Scenarios, "kl", property(lambda self: np.zeros(len(self))))
    study = simulate(trials=2, points=2)
    empty = study.summary("0.5+")
    assert (empty.scenarios, empty.trials) == (0, 0)
    assert np.isnan(empty.di_range)
    assert study.summary_columns()["di_range"][6] is None


def test_repeated_studies_are_single_ones_with_seeds_that_follow():
    told = []
    with listening(lambda task, part: told.append((task, part))):
        repeated = repeat(studies=3, trials=30, seed=7, points=POINTS, design="independent", limits="tight")
    for k, summaries in enumerate(repeated.studies):
        single = simulate(trials=30, seed=7 + k, points=POINTS, design="independent", limits="tight")
        assert [asdict(s) for s in summaries] == [pytest.approx(asdict(s), nan_ok=True) for s in single.summaries]
    values = [summaries[0].dd_range for summaries in repeated.studies]
    spread = repeated.spread("dd_range")
    assert (spread.mean, spread.sd, spread.studies) == (statistics.fmean(values), statistics.stdev(values), 3)
    unfiltered = [summaries[7].feasible_joints for summaries in repeated.studies]
    assert repeated.spread("feasible_joints", filtered=False).mean == statistics.fmean(unfiltered)
    assert told[0] == ("repeated simulation, independent draws", 0.0)
    assert told[-1] == ("repeated simulation, independent draws", 1.0)


def test_one_seed_gives_the_same_figures_and_another_does_not(study):
    again = simulate(trials=60, seed=10, points=POINTS)
    assert again.to_columns() == study.to_columns()
    assert simulate(trials=60, seed=11, points=POINTS).to_columns() != study.to_columns()


def test_figures_of_the_design_and_of_the_paper_are_met():
    """DESIGN section 7 (independent of this code) within 4 standard errors; the paper's one study within 4 sd."""
    studies = 8
    repeated = repeat(studies)
    expected = {
        "feasible_joints": 5974.0,
        "di_true_minus_mean": -0.008,
        "di_true_minus_mean_sd": 0.397,
        "dd_true_minus_mean": -0.001,
        "dd_true_minus_mean_sd": 0.150,
        "di_range": 1.686,
        "dd_range": 0.559,
        "dd_range_sd": 0.303,
        "grid_coverage": 0.9994,
    }
    for figure, value in expected.items():
        spread = repeated.spread(figure)
        assert abs(spread.mean - value) < 4 * spread.sd / np.sqrt(studies), figure
    assert 40 < repeated.spread("feasible_joints").sd < 200  # 99 over forty studies
    sharp = repeated.spread("sharp_coverage")
    assert (sharp.mean, sharp.sd) == (1.0, 0.0)
    beside = repeated.beside_paper()
    assert beside["figure"] == [published.figure for published in SIMULATION]
    assert max(abs(a) for a in beside["low_apart_in_sd"] + beside["high_apart_in_sd"]) < 4


def test_the_paper_s_bins_are_compared_with_the_least_and_greatest_of_each_study():
    repeated = repeat(studies=3, trials=30, points=POINTS)
    beside = repeated.beside_paper()
    at = next(i for i, low in enumerate(beside["low"]) if low == 1.67)
    least = [min(s.di_range for s in study[1:7]) for study in repeated.studies]
    greatest = [max(s.di_range for s in study[1:7]) for study in repeated.studies]
    assert beside["own_low"][at] == pytest.approx(statistics.fmean(least))
    assert beside["own_high_sd"][at] == pytest.approx(statistics.stdev(greatest))
    assert beside["low_apart_in_sd"][at] == pytest.approx((1.67 - statistics.fmean(least)) / statistics.stdev(least))


def test_distortions_change_nothing_but_what_looks_at_the_internal_strata():
    effect = distortion_effect(trials=20, seed=1, points=POINTS)
    assert set(effect.same) >= {"feasible_joints", "di_mean", "dd_sharp_low", "di_independence"}
    assert effect.same["feasible_joints"] == 0
    assert max(effect.same.values()) < 1e-11
    inside = {f"internal population: {name}" for name in effect.same}
    assert set(effect.different) == {"kl", "p_i(o=1)"} | inside
    assert all(effect.different[name] > 0.01 for name in ("kl", "p_i(o=1)", "internal population: di_mean"))
    assert len(effect.to_columns()["figure"]) == len(effect.same) + len(effect.different)


def test_the_effect_is_the_greatest_over_pairs_of_distortions_of_one_trial():
    effect = distortion_effect(trials=2, seed=1, points=POINTS)
    kl = distorted(draw_trials(2, seed=1)).kl
    pairs = [abs(kl[i] - kl[j]) for t in (0, 25) for i in range(t, t + 25) for j in range(t, t + 25)]
    assert effect.different["kl"] == pytest.approx(max(pairs))


def test_columns_are_plain(study):
    repeated = repeat(studies=2, trials=2, points=2)
    for columns in (study.to_columns(), study.summary_columns(), repeated.to_columns(), repeated.spread_columns()):
        assert len({len(column) for column in columns.values()}) == 1
        json.dumps(columns, allow_nan=False)
    assert list(study.summary_columns()) == list(Summary.__dataclass_fields__)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draw_trials(1, 0, "mirror"), "unknown design 'mirror'"),
        (lambda: simulate(trials=0), "at least 1 trial"),
        (lambda: simulate(trials=1, concentration=0.0), "concentration above 0"),
        (lambda: simulate(trials=1, points=2).summary("0-0.05"), "no bin '0-0.05'"),
        (lambda: repeat(studies=1, trials=1), "at least 2 studies"),
        (lambda: repeat(studies=2, trials=1, points=2).spread("range"), "no figure 'range'"),
    ],
)
def test_what_cannot_be_is_refused(call, words):
    with pytest.raises(ProblemError, match=words):
        call()
