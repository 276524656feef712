"""Draws over the feasible set: both engines against loops by hand, rejection, formulas and the laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from oracles import Joint, divide, misfit, value_of
from scipy import stats
from strategies import Sizes, World, joint_of, numpy_dice, world

from fairbounds import Draws, Problem, Table, bound, estimate, free_parameters, sample
from fairbounds.errors import ProblemError
from fairbounds.feasible import FeasibleSet
from fairbounds.questions import Question
from fairbounds.results import Bounds
from fairbounds.sampling import Plan, sample_all, walking
from fairbounds.sampling.exact import exact_mean

CHANCE = 0.001  # a test of distributions fails by chance this often; seeds are fixed, so it fails always or never
TWO_CELLS = Sizes(groups=2, strata=2, outcomes=2)


def binary_problem(seed: int, strata: int = 2, *, scored: bool = False, floor: float = 0.05) -> Problem:
    """Random tables with two internal cells a stratum and two groups; with a floor, no rate can be 0."""
    rng = np.random.default_rng(seed)
    names = [f"c{at}" for at in range(strata)]
    outcome = rng.uniform(0.05, 0.95, 2 * strata) if scored else [1.0, 0.0] * strata
    share = rng.uniform(0.1, 0.9, strata)
    inner = np.stack([share, 1 - share], axis=1).ravel() * np.repeat(rng.uniform(1, 9, strata), 2)
    of_a = rng.uniform(0.1, 0.9, strata)
    of_a[0] = min(of_a[0], share[0] - floor) if share[0] > 0.3 else of_a[0]
    outer = np.stack([of_a, 1 - of_a], axis=1).ravel() * np.repeat(rng.uniform(1, 9, strata), 2)
    internal = Table.from_columns({"c": np.repeat(names, 2), "f": list(outcome)}, inner)
    external = Table.from_columns({"c": np.repeat(names, 2), "g": ["a", "b"] * strata}, outer)
    return Problem.from_tables(internal, external, protected="g", score="f", reference="b")


def cells(table: Table) -> Joint:
    return joint_of(table, ("c",))


def rate(joint: Joint, group: str) -> float:
    held = [(mass, float(raw[0])) for (_, raw, g), mass in joint.items() if g == group]
    return math.fsum(mass * f for mass, f in held) / math.fsum(mass for mass, _ in held)


# -- the laws ----------------------------------------------------------------------------------------------------------


def asked_metrics(asked: World) -> list[str]:
    stems = ["true_positive", "positive_predictive", "accuracy"] if asked.facts.labelled else []
    some = ["disparate_impact", "demographic_disparity", "selection_rate", "impact_ratio", "parity_gap", "parity_ratio"]
    return [*some, *(f"{stem}_{form}" for stem in stems for form in ("rate", "difference", "ratio"))]


def questions(asked: World) -> list[Question]:
    return [Question.every(asked.problem, metric)[0] for metric in asked_metrics(asked)]


def check_within(draws: Draws) -> None:
    assert draws.bounds is not None
    low, high = draws.bounds.lower, draws.bounds.upper
    if low is None or high is None:
        assert not draws.defined.size, draws
        return
    slack = 1e-9 * max(1.0, abs(low))
    assert draws.minimum >= low - slack, draws
    assert draws.maximum <= high + 1e-9 * max(1.0, high if math.isfinite(high) else 1.0), draws


@pytest.mark.parametrize("seed", range(40))
def test_every_draw_of_a_walk_lies_within_the_bounds(seed: int) -> None:
    """Any number of groups, strata and outcomes, with zeros, ties, labels, scores and strata seen on one side."""
    asked = world(numpy_dice(seed), Sizes(groups=4, strata=5, outcomes=6))
    for draws in sample_all(asked.problem, questions(asked), plan=Plan(64, 8, 1), rng=seed):
        check_within(draws)


@pytest.mark.parametrize("seed", range(24))
def test_every_joint_of_a_walk_fits_both_tables_and_has_its_metric(seed: int) -> None:
    asked = world(numpy_dice(seed), Sizes(groups=4, strata=5, outcomes=6), one_sided=False, consistent=seed % 2 == 0)
    found = sample_all(asked.problem, questions(asked), plan=Plan(64, 8, 1), rng=seed)
    if any(draws.joints is None for draws in found):
        assert asked.facts.one_sided
        return
    for draws in found:
        for lane, table in enumerate(draws.joints):
            joint = joint_of(table, asked.names)
            assert misfit(joint, asked.facts) < 1e-12
            wanted = value_of(draws.metric, joint, asked.groups, draws.group, draws.reference)
            value = draws.values[lane, -1]
            assert math.isnan(value) if wanted is None else value == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("limits", ["tight", "paper"])
@pytest.mark.parametrize("seed", range(20))
def test_a_grid_is_a_loop_over_the_joints_of_its_free_values(seed: int, limits: str) -> None:
    """Appendix A by hand: every pair of free values, the other entries by subtraction, what is negative left out."""
    problem = binary_problem(seed, scored=seed % 2 == 0)
    draws = sample(problem, "disparate_impact", method="grid", points=7, limits=limits)
    rows = {c: [] for c in ("c0", "c1")}
    for (c, f), weight in problem.internal.cells():
        rows[c].append((f, weight))
    outer = {levels: weight / problem.external.total for levels, weight in problem.external.cells()}
    wanted = []
    choices = []
    for c, cell in rows.items():
        a, b = outer[c, "a"], outer[c, "b"]
        whole = sum(weight for _, weight in cell)
        first, second = (weight / whole * (a + b) for _, weight in cell)
        low, high = (max(0.0, first - b), min(first, a)) if limits == "tight" else (0.0, min(first, a))
        values = [low + (high - low) * k / 6 for k in range(7)]
        matrices = [((x, first - x), (a - x, second - a + x)) for x in values]
        choices.append([m for m in matrices if min(min(row) for row in m) >= -1e-12])
    for joint in itertools.product(*choices):
        selected = [0.0, 0.0]
        for c, matrix in zip(rows, joint, strict=True):
            for (f, _), masses in zip(rows[c], matrix, strict=True):
                selected = [total + f * mass for total, mass in zip(selected, masses, strict=True)]
        p = [sum(outer[c, g] for c in rows) for g in "ab"]
        rates = [0.0 if mass < 1e-15 else mass / share for mass, share in zip(selected, p, strict=True)]
        wanted.append(divide(*rates))
    np.testing.assert_allclose(draws.values[0], wanted, rtol=1e-10)
    assert draws.settings["feasible"] == len(wanted) == len(draws.joints)
    check_within(draws)


def two_by_two(seed: int) -> World:
    return world(numpy_dice(seed), TWO_CELLS, consistent=True, scored=False, labelled=False)


BINARY = [seed for seed in range(40) if FeasibleSet.of(two_by_two(seed).problem).binary][:12]


@pytest.mark.parametrize("seed", BINARY)
def test_the_joints_of_a_grid_fit_both_tables_and_come_one_by_one_or_together(seed: int) -> None:
    asked = two_by_two(seed)
    draws = sample(asked.problem, "selection_rate", method="grid", group=asked.groups[0], points=4)
    together = draws.joints.to_array()
    assert len(together) == len(draws.joints) == len(draws)
    for table, matrix, value in zip(draws.joints, together, draws.values[0], strict=True):
        joint = joint_of(table, asked.names)
        assert misfit(joint, asked.facts) < 1e-12
        assert math.fsum(joint.values()) == pytest.approx(matrix.sum(), abs=1e-12)
        assert value_of("selection_rate", joint, asked.groups, draws.group, None) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("method", ["walk", "grid"])
def test_draws_are_stored_and_read_back(method: str) -> None:
    problem = binary_problem(3)
    draws = sample(problem, "disparate_impact", method=method, draws=64, points=5)
    assert Draws.from_dict(draws.to_dict()) == draws
    odd = Draws("selection_ratio", "F", "M", "walk", np.array([[0.5, np.inf], [np.nan, 0.0]]), exact_mean=np.inf)
    assert Draws.from_dict(odd.to_dict()) == odd


# -- uniform -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_on_a_segment_the_draws_are_uniform(seed: int) -> None:
    """One stratum, two cells, two groups: one free number, uniform between Fréchet's bounds."""
    problem = binary_problem(seed, 1)
    ends = bound(problem, "selection_rate", group="a")
    draws = sample(problem, "selection_rate", group="a", draws=20_000, rng=seed)
    placed = (draws.values.ravel() - ends.lower) / (ends.upper - ends.lower)
    assert stats.kstest(placed, "uniform").pvalue > CHANCE


def rejected(problem: Problem, n: int, seed: int) -> list[Joint]:
    """Joints of one stratum drawn uniformly: free entries from a box, kept where no entry is negative."""
    rng = np.random.default_rng(seed)
    [c] = {levels[0] for levels, _ in problem.internal.cells()}
    raws = [(levels[1:], weight / problem.internal.total) for levels, weight in problem.internal.cells()]
    groups = [(levels[1], weight / problem.external.total) for levels, weight in problem.external.cells()]
    r, g = np.array([mass for _, mass in raws]), np.array([mass for _, mass in groups])
    found: list[Joint] = []
    while len(found) < n:
        inner = rng.random((20_000, len(r) - 1, len(g) - 1)) * np.minimum(r[:-1, None], g[None, :-1])
        full = np.zeros((20_000, len(r), len(g)))
        full[:, :-1, :-1] = inner
        full[:, :-1, -1] = r[:-1] - inner.sum(axis=2)
        full[:, -1, :] = g - full[:, :-1].sum(axis=1)
        places = list(itertools.product(enumerate(raws), enumerate(groups)))
        for matrix in full[(full >= 0).all(axis=(1, 2))][: n - len(found)]:
            found.append({(c, raw, group): matrix[i, j] for (i, (raw, _)), (j, (group, _)) in places})
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_draws_as_rejection_does(seed: int) -> None:
    """Three cells, three groups, a label: several metrics have the distribution that rejection gives."""
    rng = np.random.default_rng(seed)
    rows = {"c": ["x"] * 4, "d": ["yes", "yes", "no", "no"], "y": ["good", "bad", "good", "bad"]}
    internal = Table.from_columns(rows, rng.dirichlet(np.full(4, 4.0)))
    external = Table.from_columns({"c": ["x"] * 3, "g": ["a", "b", "k"]}, rng.dirichlet(np.full(3, 4.0)))
    problem = Problem.from_tables(
        internal, external, protected="g", decision="d", favourable="yes", label="y", positive="good", reference="b"
    )
    metrics = ["selection_rate", "disparate_impact", "true_positive_rate", "accuracy_difference", "parity_ratio"]
    asked = [Question.settle(problem, metric, group="a") for metric in metrics]
    oracle = rejected(problem, 3000, seed)
    for draws in sample_all(problem, asked, plan=Plan(4096, 256), rng=seed):
        wanted = [value_of(draws.metric, joint, ["a", "b", "k"], "a", "b") for joint in oracle]
        known = np.array([math.nan if value is None else value for value in wanted])
        assert stats.ks_2samp(draws.values[:, ::2].ravel(), known).pvalue > CHANCE, draws.metric
        assert draws.diagnosis.converged


def test_which_joints_are_equally_likely_matters() -> None:
    """Four internal cells, two of them favourable: uniform over the joints of the cells is not uniform over outcomes.

    Of the two masses that make up a group's selected mass, most joints have some of each; the sum piles up in the
    middle, while the outcome alone is uniform.
    """
    columns = {"c": ["x"] * 4, "job": ["p", "q", "p", "q"], "d": [1, 1, 0, 0]}
    internal = Table.from_columns(columns, [0.25] * 4)
    external = Table.from_columns({"c": ["x", "x"], "g": ["a", "b"]}, [0.5, 0.5])
    problem = Problem.from_tables(internal, external, protected="g", decision="d")
    fine = sample(problem, "selection_rate", group="a", draws=20_000)
    coarse = sample(problem, "selection_rate", group="a", draws=20_000, coordinates="outcome")
    assert fine.bounds == coarse.bounds
    assert fine.mean == pytest.approx(0.5, abs=0.01) == coarse.mean
    assert coarse.standard_deviation == pytest.approx(1 / math.sqrt(12), rel=0.02)
    # x = a₁ + a₂ and ½ − x = a₃ + a₄ with aᵢ ≤ ¼: with t = 4x − 1, the density of t is ∝ (1 − |t|)², the variance 1/10.
    assert fine.standard_deviation == pytest.approx(math.sqrt(1 / 10) / 2, rel=0.02)


# -- what needs no sampling --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize("metric", ["disparate_impact", "demographic_disparity", "selection_rate"])
@pytest.mark.parametrize("strata", [1, 2, 6])
def test_a_walk_meets_the_exact_mean(strata: int, metric: str, scored: bool) -> None:
    problem = binary_problem(strata, strata, scored=scored)
    draws = sample(problem, metric, group="a", draws=20_000, rng=strata)
    if draws.exact_mean == math.inf:
        assert draws.bounds.upper == math.inf
        return
    assert abs(draws.mean - draws.exact_mean) < 4 * draws.standard_error


@pytest.mark.parametrize("seed", range(6))
def test_a_fine_grid_meets_the_exact_mean(seed: int) -> None:
    problem = binary_problem(seed, scored=True)
    draws = sample(problem, "disparate_impact", method="grid", points=400)
    assert draws.mean == pytest.approx(draws.exact_mean, rel=2e-2 / 4)


@pytest.mark.parametrize("metric", ["demographic_disparity", "selection_rate"])
def test_the_exact_mean_of_what_is_linear_is_the_middle_of_its_bounds(metric: str) -> None:
    problem = binary_problem(7, 5)
    question = Question.settle(problem, metric, group="a")
    ends = bound(problem, metric, group="a")
    found = exact_mean(FeasibleSet.of(problem), question)
    assert found == pytest.approx((ends.lower + ends.upper) / 2, abs=1e-12)


def test_no_formula_where_there_is_none() -> None:
    asked = world(numpy_dice(1), Sizes(groups=4, strata=2, outcomes=4), one_sided=False)
    assert all(exact_mean(FeasibleSet.of(asked.problem), question) is None for question in questions(asked))


# -- strata seen on one side -------------------------------------------------------------------------------------------


def test_unknown_shares_are_split_evenly_on_the_average() -> None:
    """Internal only: the cell may go to any group, each split equally likely."""
    internal = Table.from_columns({"c": ["x", "x", "z"], "d": [1, 0, 1]}, [3, 3, 4])
    external = Table.from_columns({"c": ["x", "x"], "g": ["a", "b"]}, [1, 1])
    problem = Problem.from_tables(internal, external, protected="g", decision="d", population="internal")
    draws = sample(problem, "selection_rate", group="a", draws=4000)
    rng = np.random.default_rng(0)
    x, z = rng.random(200_000) * 0.3, rng.random(200_000) * 0.4  # selected of stratum x, and of stratum z
    wanted = (x + z) / (0.3 + z)
    assert stats.ks_2samp(draws.values.ravel(), wanted).pvalue > CHANCE
    assert draws.joints is None


def test_unknown_outcomes_are_anything() -> None:
    """External only: a group's outcome there is uniform."""
    internal = Table.from_columns({"c": ["x", "x"], "d": [1, 0]}, [1, 1])
    external = Table.from_columns({"c": ["x", "x", "z"], "g": ["a", "b", "a"]}, [3, 3, 4])
    problem = Problem.from_tables(internal, external, protected="g", decision="d")
    draws = sample(problem, "selection_rate", group="a", draws=4000)
    rng = np.random.default_rng(0)
    wanted = (rng.random(200_000) * 0.3 + rng.random(200_000) * 0.4) / 0.7
    assert stats.ks_2samp(draws.values.ravel(), wanted).pvalue > CHANCE


# -- how it walks ------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bytes() -> None:
    problem = binary_problem(0)
    one, same, other = (sample(problem, draws=512, rng=seed) for seed in (5, np.int64(5), 6))
    assert one.values.tobytes() == same.values.tobytes() != other.values.tobytes()
    assert one.settings["seed"] == 5
    assert sample(problem, draws=512) == sample(problem, draws=512, rng=0)


@pytest.mark.parametrize("start", ["vertex", "independence"])
def test_wherever_it_starts_it_ends_alike(start: str) -> None:
    asked = world(numpy_dice(2), Sizes(groups=4, strata=4, outcomes=8), one_sided=False, consistent=True)
    draws = sample(asked.problem, "parity_gap", start=start, draws=4000, rng=1)
    assert draws.diagnosis.converged
    assert draws.settings["start"] == start
    other = sample(asked.problem, "parity_gap", draws=4000, rng=2)
    assert stats.ks_2samp(draws.values[:, ::4].ravel(), other.values[:, ::4].ravel()).pvalue > CHANCE


def slow_problem() -> Problem:
    n, rng = 100, np.random.default_rng(0)
    columns = {"c": ["x"] * n, "i": list(range(n)), "d": [0, 1] * (n // 2)}
    internal = Table.from_columns(columns, rng.exponential(size=n))
    external = Table.from_columns({"c": ["x"] * 30, "g": list(range(30))}, list(range(1, 31)))
    return Problem.from_tables(internal, external, protected="g", decision="d", reference=0)


def test_a_walk_that_may_not_go_on_says_that_it_has_not_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "_MOST_SWAPS", 1)
    draws = sample(slow_problem(), "disparate_impact", group=1, draws=4096, effective=4096)
    assert not draws.diagnosis.converged
    assert draws.settings["sweeps_per_draw"] == 1
    found = estimate(slow_problem(), "disparate_impact", group=1, method="feasible_mean", draws=4096)
    assert "has not converged" in found.note


def test_it_walks_on_until_enough_draws_are_effective() -> None:
    """Many cells mix slowly: a sweep a draw is not enough, and the walk finds out."""
    draws = sample(slow_problem(), "disparate_impact", group=1, draws=4096, effective=4096)
    assert draws.diagnosis.converged
    assert min(draws.diagnosis.bulk_ess, draws.diagnosis.tail_ess) >= 4096
    assert draws.settings["sweeps_per_draw"] > 1


def test_chains_are_fewer_where_they_would_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "_MOST_ENTRIES", 100)
    draws = sample(binary_problem(0), draws=200)
    assert draws.settings["chains"] == 100 // 8
    assert len(draws) >= 200


def test_long_walks_are_cut_into_steps_that_give_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = world(numpy_dice(2), Sizes(groups=4, strata=4, outcomes=8), one_sided=False, consistent=True)
    whole = sample(asked.problem, "parity_gap", draws=4000, rng=1)
    monkeypatch.setattr(walking, "_AT_ONCE", 2_000)
    pieces = sample(asked.problem, "parity_gap", draws=4000, rng=1)
    assert pieces.diagnosis.converged
    assert stats.ks_2samp(whole.values[:, ::4].ravel(), pieces.values[:, ::4].ravel()).pvalue > CHANCE


# -- counting and refusing ---------------------------------------------------------------------------------------------


APPENDIX_B = [((2,), (2,), (2,)), ((3, 2), (2,), (2, 2)), ((2, 2), (3,), (4,)), ((5,), (2, 2), (3,))]


@pytest.mark.parametrize("sizes", APPENDIX_B)
def test_free_parameters_are_what_the_two_tables_leave(sizes: tuple[tuple[int, ...], ...]) -> None:
    """Appendix B: unknowns of the joint less the rank of the equations; tables that agree or not, case 1 and 2."""
    i, c, e = (math.prod(part) for part in sizes)
    joint = np.arange(i * c * e).reshape(i, c, e)
    rows = [np.isin(np.arange(joint.size), joint[a, b]) for a in range(i) for b in range(c)]
    rows += [np.isin(np.arange(joint.size), joint[:, b, g]) for b in range(c) for g in range(e)]
    assert free_parameters(*sizes) == joint.size - np.linalg.matrix_rank(np.array(rows, dtype=float))


def test_a_feasible_set_counts_its_own_free_parameters() -> None:
    levels = {"c": 2, "i": 4}
    cells_of = list(itertools.product(range(levels["c"]), range(levels["i"])))
    columns = {"c": [c for c, _ in cells_of], "i": [i for _, i in cells_of], "d": [i % 2 for _, i in cells_of]}
    internal = Table.from_columns(columns)
    external = Table.from_columns({"c": [0] * 4 + [1] * 4, "g": list("abkl") * 2})
    problem = Problem.from_tables(internal, external, protected="g", decision="d")
    assert FeasibleSet.of(problem).n_free == free_parameters(4, 2, 4) == 18


def test_a_hopeless_grid_is_refused_with_its_size() -> None:
    cells_of = list(itertools.product("pq", range(4)))
    internal = Table.from_columns({"c": [c for c, _ in cells_of], "i": [i for _, i in cells_of], "d": [0, 1] * 4})
    external = Table.from_columns({"c": ["p"] * 4 + ["q"] * 4, "g": list("abkl") * 2})
    problem = Problem.from_tables(internal, external, protected="g", decision="d")
    with pytest.raises(ProblemError, match=r"18 free parameters would have 100\^18 joints.*method='walk'"):
        sample(problem, "parity_gap", method="grid")
    many = binary_problem(0, 6)
    with pytest.raises(ProblemError, match=r"6 free parameters\) would have 100\^6 joints.*method='walk'"):
        sample(many, method="grid")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lattice"}, "no sampling method 'lattice'"),
        ({"draws": 0}, "draws is a whole number of at least 1, not 0"),
        ({"chains": 0}, "chains is a whole number of at least 1, not 0"),
        ({"start": "middle"}, "'vertex' or 'independence'"),
        ({"coordinates": "all"}, "'internal' or 'outcome'"),
        ({"method": "grid", "points": 1}, "points is a whole number of at least 2, not 1"),
        ({"method": "grid", "points": 2.5}, "points is a whole number of at least 2, not 2.5"),
        ({"method": "grid", "limits": "loose"}, "'tight' or 'paper', not 'loose'"),
        ({"rng": -1}, "a seed is a whole number"),
        ({"rng": "x"}, "a seed is a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        sample(binary_problem(0), **options)  # type: ignore[arg-type]


def test_an_infinite_mean_has_no_standard_error() -> None:
    """One stratum, half of it women: the men's rate is uniform on [0, 1], and 1/U has no mean."""
    internal = Table.from_columns({"c": ["x", "x"], "d": [0, 1]}, [3, 3])
    external = Table.from_columns({"c": ["x", "x"], "g": ["F", "M"]}, [3, 3])
    draws = sample(Problem.from_tables(internal, external, protected="g", decision="d", reference="M"), draws=500)
    assert draws.exact_mean == math.inf
    assert draws.standard_error is None
    assert draws.summary()["infinite_mean"] is True
    assert draws.summary()["exact_mean"] is None


def test_all_joints_of_a_grid_at_once_are_those_one_by_one() -> None:
    joints = sample(binary_problem(3), method="grid", points=7).joints
    assert joints is not None
    at_once = joints.to_array()
    assert len(at_once) == len(joints) == 49
    for one, matrix in zip(joints, at_once, strict=True):
        assert np.array_equal(np.sort(one.weights), np.sort(matrix[matrix > 0]))


def test_a_draws_object_sums_up() -> None:
    values = np.array([[0.1, 0.2, 0.3, np.nan], [0.4, 0.5, 0.6, np.inf]])
    draws = Draws("disparate_impact", "F", "M", "walk", values, Bounds("disparate_impact", "F", "M", 0.0, 1.0))
    assert draws.share_below(0.35) == 3 / 7
    assert draws.undefined_share == 1 / 8
    assert (draws.mean, draws.standard_deviation, draws.maximum) == (math.inf,) * 3
    assert draws.quantile(0.5) == 0.4
    assert draws.summary(0.8)["infinite_share"] == 1 / 7
    assert draws.summary(0.8)["mean"] is None
