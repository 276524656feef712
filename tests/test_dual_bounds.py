"""Cross-fitted ends: against linear programs, against people listed one by one, and in repeated samples."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

from fairbounds.kernels.closed_form import part_extremes, phi
from fairbounds.kernels.combining import average_splits, interval, limits
from fairbounds.kernels.count_bootstrap import resampled_ends
from fairbounds.kernels.dual_bounds import DualEnds, averages_of_ends, default_splits, dual_ends
from fairbounds.kernels.dual_fitting import empty_ends, fit_duals, order_within
from fairbounds.kernels.dual_variance import covariance_of_ends
from fairbounds.kernels.fractional import rate_extremes
from fairbounds.kernels.halves import Halves, Outcomes, weigh
from fairbounds.kernels.polymatroid import all_subsets, extreme_of_extremes

NONE = np.zeros(0)


def seeds_of(seed, *shape):
    return np.random.default_rng(seed).integers(0, 2**64, shape, dtype=np.uint64)


def hard(mass, shares, q):
    """A population of decisions: offsets, counted, among, atoms, cells."""
    atoms = (mass[:, None] * np.stack([1 - q, q], axis=1)).ravel()
    return (
        np.arange(0, 2 * len(q) + 1, 2),
        np.tile([0.0, 1.0], len(q)),
        np.ones(2 * len(q)),
        atoms,
        mass[:, None] * shares,
    )


def labelled(seed, n_strata, n_groups, n_scores=3):
    """A population of scores with labels, for the true positive rate; every group has positives in any joint."""
    rng = np.random.default_rng(seed)
    mass, shares = rng.dirichlet(np.full(n_strata, 3.0)), rng.dirichlet(np.full(n_groups, 20.0), n_strata)
    score, label = rng.random(n_strata * 2 * n_scores), np.tile(np.repeat([0.0, 1.0], n_scores), n_strata)
    negative, positive = rng.dirichlet(np.full(n_scores, 2.0), (2, n_strata))
    atoms = (mass[:, None] * np.hstack([0.1 * negative, 0.9 * positive])).ravel()
    return np.arange(0, len(score) + 1, 2 * n_scores), score * label, label, atoms, mass[:, None] * shares


def samples(population, n_internal, n_external, tables, seed, census=False):
    rng = np.random.default_rng(seed)
    *_, atoms, cells = population
    inside = rng.multinomial(n_internal, atoms, size=tables).astype(float)
    if census:
        return inside, np.broadcast_to(cells * 1e6, (tables, *cells.shape)).copy()
    return inside, rng.multinomial(n_external, cells.ravel(), size=tables).reshape(tables, *cells.shape).astype(float)


def true_ends(population):
    offsets, counted, among, atoms, cells = population
    mass, stratum = cells.sum(axis=1), np.repeat(np.arange(len(cells)), np.diff(offsets))
    both = np.zeros(len(cells), dtype=np.int64)
    ends = rate_extremes(offsets, counted, among, atoms / mass[stratum], mass, cells / mass[:, None], both)
    return np.concatenate([ends[:, 0], ends[:, 1]])


def random_halves(rng, outcomes, n_strata, n_groups, by_external, census):
    """Counts in halves, some strata without rows in one half or in both."""
    inside = rng.poisson(2.0, (2, len(outcomes.counted))).astype(float)
    outside = rng.poisson(2.0, (2, n_strata, n_groups)).astype(float)
    empty, single = 0, 1
    conditional = inside if by_external else None
    if conditional is not None:
        inside[:, outcomes.offsets[empty] : outcomes.offsets[empty + 1]] = 0
        inside[:, outcomes.offsets[single] : outcomes.offsets[single + 1]] = 0
        inside[0, outcomes.offsets[single]] = 1
    elif not census:
        outside[:, empty] = 0
        outside[:, single] = 0
        outside[1, single, 0] = 1
    rows = np.add.reduceat(inside, outcomes.offsets[:-1], axis=1)
    if census:
        part = np.where(rows.sum(axis=0) > 0, rows[0] / np.maximum(rows.sum(axis=0), 1), 0.5)[:, None]
        whole = outside.sum(axis=0) + 1
        outside = np.stack([whole * part, whole * (1 - part)])
    inside_rows, outside_rows = (np.vstack([r, r.sum(axis=0)]) for r in (rows, outside.sum(axis=2)))
    halves = Halves(inside, outside, inside_rows, outside_rows, np.zeros((2, n_strata)), np.zeros((2, n_strata)))
    if by_external:
        weigh(outside_rows, inside_rows, census, halves.outside_weight, halves.inside_weight)
    else:
        weigh(inside_rows, outside_rows, census, halves.inside_weight, halves.outside_weight)
    return halves


def random_ends(rng, halves, n_groups, by_external):
    n_strata = halves.outside.shape[1]
    ends = empty_ends(n_strata, n_groups, 2 * n_groups)
    ends.dual[:, :, 0] = rng.random((2, n_strata, 2 * n_groups))
    ends.dual[:, :, 1] = rng.uniform(ends.dual[:, :, 0], 1)
    ends.lam[:] = rng.uniform(0.2, 0.8, 2 * n_groups)
    for c in np.flatnonzero((halves.inside_rows if by_external else halves.outside_rows)[2] == 0):
        ends.dual[:, c, 0] = (ends.sign > 0) * by_external
        ends.dual[:, c, 1] = 1.0 * by_external
    return ends


CASES = [(True, False), (False, False), (True, True), (False, True)]


@pytest.mark.parametrize(("by_external", "census"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_people_listed_one_by_one(seed, by_external, census):
    """Averages, covariance and third moments from every person's own contribution, whatever θ is."""
    rng = np.random.default_rng(seed)
    offsets, counted, among, _, _ = labelled(seed, 5, 3)
    outcomes = Outcomes(offsets, counted, among)
    halves = random_halves(rng, outcomes, 5, 3, by_external, census)
    ends = random_ends(rng, halves, 3, by_external)
    n = len(ends.sign)
    top, bottom, usual = np.empty(n), np.empty(n), np.empty(2 * n)
    averages_of_ends(outcomes, halves, ends, top, bottom, usual)
    covariance, moments = np.zeros((n, n)), np.zeros((3, n))
    covariance_of_ends(outcomes, halves, ends, usual, by_external, census, covariance, moments)
    expected = listed(outcomes, halves, ends, by_external, census)
    np.testing.assert_allclose(top, expected[0], atol=1e-12)
    np.testing.assert_allclose(bottom, expected[1], atol=1e-12)
    np.testing.assert_allclose(covariance, expected[2], atol=1e-12)
    np.testing.assert_allclose(moments, expected[3], atol=1e-12)


def listed(outcomes, halves, ends, by_external, census):
    """One entry a person (or a part of one, in a census): stratum, how many, values of (top, bottom) and weight."""
    offsets, counted, among = outcomes
    n_strata, n_groups = halves.outside.shape[1:]
    inside, outside = [], []
    for c, k in itertools.product(range(n_strata), range(2)):
        a, b = ends.dual[k, c]
        for j in range(offsets[c], offsets[c + 1]):
            u, v = counted[j] - a, among[j] - b
            taken = ends.sign * (u - ends.lam * v) > 0
            inside.append((c, halves.inside[k, j], u * taken, v * taken, halves.inside_weight[k, c]))
        for g in range(n_groups):
            mine = ends.member[k, :, g]
            outside.append((c, halves.outside[k, c, g], a * mine, b * mine, halves.outside_weight[k, c]))
    top = sum(w * n * u for _, n, u, _, w in inside + outside)
    bottom = sum(w * n * v for _, n, _, v, w in inside + outside)
    near, far = (inside, outside) if by_external else (outside, inside)
    people = sum(n for _, n, *_ in far)
    # Each person's own value of (top − λ·bottom, bottom), and its mean in the stratum.
    value = [np.concatenate([u - ends.lam * v, v]) for _, _, u, v, _ in near]
    count, stratum = np.array([n for _, n, *_ in near]), np.array([c for c, *_ in near])
    overall = np.average(value, axis=0, weights=count)
    covariance, third = np.zeros((2 * len(ends.lam), 2 * len(ends.lam))), np.zeros(2 * len(ends.lam))
    mean = np.zeros((n_strata, 2 * len(ends.lam)))
    for c in range(n_strata):
        at, rows = np.flatnonzero(stratum == c), count[stratum == c].sum()
        if rows == 0:
            continue
        values = np.array(value)[at]
        mean[c] = np.average(values, axis=0, weights=count[at])
        mass = sum(n for d, n, *_ in far if d == c) / people
        if census and not by_external:
            continue
        apart = values - (overall if rows == 1 else mean[c])
        covariance += mass**2 / rows * (count[at, None] * apart).T @ apart / max(1, rows - 1)
        third += (mass / rows) ** 3 * (count[at, None] * apart**3).sum(axis=0)
    if not (census and by_external):
        own = [np.concatenate([u - ends.lam * v, v]) * w * people + mean[c] for c, _, u, v, w in far]
        often = np.array([n for _, n, *_ in far])
        covariance += np.cov(np.array(own).T, fweights=often.astype(int)) / people
        apart = np.array(own) - np.average(own, axis=0, weights=often)
        third += (often[:, None] * apart**3).sum(axis=0) / people**3
    e = np.arange(len(ends.lam))
    moments = np.array([covariance[e, e + len(e)], covariance[e + len(e), e + len(e)], third[e]])
    return top, bottom, covariance[np.ix_(e, e)], moments


def program(counted, among, weight, share, lam, sign):
    """Greatest (or least) Σ (counted − λ·among)·held over ways to fill a share of a stratum: a linear program."""
    gain = -sign * (counted - lam * among)
    answer = linprog(gain, A_eq=[np.ones(len(gain))], b_eq=[share], bounds=[(0, w) for w in weight])
    assert answer.status == 0
    return -sign * answer.fun


@pytest.mark.parametrize("seed", range(6))
def test_duality(seed):
    """Any θ gives no less than the linear program (no more, for a least rate), and the θ of a large half gives it."""
    rng = np.random.default_rng(seed)
    offsets, counted, among, atoms, cells = labelled(seed, 4, 3)
    outcomes = Outcomes(offsets, counted, among)
    exact = 1e6
    half_in, half_out = np.stack([atoms, atoms]) * exact / 2, np.stack([cells, cells]) * exact / 2
    rows = np.add.reduceat(half_in, offsets[:-1], axis=1)
    in_rows, out_rows = np.vstack([rows, 2 * rows[:1]]), np.vstack([rows, 2 * rows[:1]])
    halves = Halves(half_in, half_out, in_rows, out_rows, np.zeros((2, 4)), np.zeros((2, 4)))
    weigh(out_rows, in_rows, False, halves.outside_weight, halves.inside_weight)
    ends = random_ends(rng, halves, 3, True)
    mass = cells.sum(axis=1)
    best = np.array(
        [
            sum(
                mass[c]
                * program(
                    counted[offsets[c] : offsets[c + 1]],
                    among[offsets[c] : offsets[c + 1]],
                    atoms[offsets[c] : offsets[c + 1]] / mass[c],
                    cells[c, e % 3] / mass[c],
                    ends.lam[e],
                    ends.sign[e],
                )
                for c in range(4)
            )
            for e in range(6)
        ]
    )
    top, bottom, usual = np.empty(6), np.empty(6), np.empty(12)
    averages_of_ends(outcomes, halves, ends, top, bottom, usual)
    assert np.all(ends.sign * (top - ends.lam * bottom - best) > 1e-4)  # a random θ is not the best one
    order = np.empty((6, len(counted)), dtype=np.int64)
    for e in range(6):
        order_within(offsets, counted - ends.lam[e] * among, order[e])
    for half in range(2):
        fit_duals(half, outcomes, order, np.argsort(0.5 * among - counted), halves, True, False, ends)
    averages_of_ends(outcomes, halves, ends, top, bottom, usual)
    np.testing.assert_allclose(top - ends.lam * bottom, best, atol=1e-5)


@pytest.mark.parametrize("population", ["external", "internal"])
@pytest.mark.parametrize("kind", ["selection", "true positive by score"])
def test_large_tables_give_the_bounds(kind, population):
    rng = np.random.default_rng(4)
    if kind == "selection":
        many = hard(rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(4), 6), rng.random(6))
    else:
        many = labelled(4, 6, 4)
    inside, outside = samples(many, 10**8, 10**8, 1, 0)
    found = dual_ends(*many[:3], inside, outside, seeds_of(0, 1, 2), population=population)
    np.testing.assert_allclose(found.value[0], np.tile(true_ends(many), (2, 1)), atol=2e-3)
    assert np.all(np.diagonal(found.covariance, axis1=2, axis2=3) < 1e-6)


def test_levels_of_all_groups():
    rng = np.random.default_rng(8)
    many = hard(rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4), 3), np.array([0.9, 0.1, 0.85]))
    offsets, counted, _, atoms, cells = many
    mass, sets = cells.sum(axis=1), all_subsets(4)
    weight = atoms / np.repeat(mass, 2)
    low, high = phi(offsets, counted, weight, mass, cells / mass[:, None], np.zeros(3, dtype=np.int64), sets)
    expected = extreme_of_extremes(sets, low, high, cells.sum(axis=0), NONE, NONE)
    assert expected[0] > expected[1] + 0.01  # M* and m* are not just the overall rate
    inside, outside = samples(many, 10**7, 10**7, 1, 0)
    found = dual_ends(*many[:3], inside, outside, seeds_of(0, 1, 1), sets)
    np.testing.assert_allclose(found.value[0, 0, -2:], expected, atol=3e-3)
    with pytest.raises(ValueError, match="whole groups"):
        dual_ends(offsets, counted, counted, inside, outside, seeds_of(0, 1, 1), sets)


@pytest.mark.parametrize(("population", "census"), [("external", False), ("internal", False), ("external", True)])
@pytest.mark.parametrize("kind", ["selection", "true positive by score"])
def test_standard_errors_are_those_of_repeated_samples(kind, population, census):
    rng = np.random.default_rng(2)
    if kind == "selection":
        many = hard(
            rng.dirichlet(np.full(4, 5.0)), rng.dirichlet(np.full(3, 4.0), 4), np.array([0.15, 0.8, 0.72, 0.92])
        )
    else:
        many = labelled(7, 3, 2)
    inside, outside = samples(many, 60_000, 40_000, 2000, 1, census)
    found = dual_ends(
        *many[:3], inside, outside, seeds_of(0, 2000, 1), population=population, external_is_census=census
    )
    spread = np.cov(found.value[:, 0].T)
    claimed = found.covariance.mean(axis=(0, 1))
    moving = np.diag(spread) > 1e-8
    assert moving.sum() >= 3
    np.testing.assert_allclose(np.sqrt(np.diag(claimed)[moving]), np.sqrt(np.diag(spread)[moving]), rtol=0.06)
    scale = np.sqrt(np.outer(np.diag(spread), np.diag(spread)))[np.ix_(moving, moving)]
    np.testing.assert_allclose(
        claimed[np.ix_(moving, moving)] / scale, spread[np.ix_(moving, moving)] / scale, atol=0.1
    )


def test_a_stratum_without_rows_is_open():
    """By hand: the first stratum (mass 0.4, shares 0.25 and 0.75) was never seen internally, the second is all 1."""
    offsets, outside = np.array([0, 0, 1]), np.array([[[100.0, 300.0], [300.0, 300.0]]])
    found = dual_ends(offsets, np.ones(1), np.ones(1), np.array([[50.0]]), outside, seeds_of(0, 1, 20))
    np.testing.assert_allclose(average_splits(found).value[0], [0.75, 0.5, 1.0, 1.0], atol=1e-12)


def test_a_stratum_of_unknown_shares_is_open():
    """By hand: half the people are in a stratum that the external table lacks, half of them favoured."""
    offsets, outside = np.array([0, 2, 3]), np.array([[[0.0, 0.0], [100.0, 100.0]]])
    inside = np.array([[500.0, 500.0, 1000.0]])
    found = dual_ends(
        offsets, np.array([0.0, 1.0, 1.0]), np.ones(3), inside, outside, seeds_of(0, 1, 9), population="internal"
    )
    # Least: 0.25 favoured among 0.25 + 0.25 who may all be unfavoured; greatest: everyone favoured.
    np.testing.assert_allclose(average_splits(found).value[0], [0.5, 0.5, 1.0, 1.0], atol=0.03)


def test_scores_in_a_stratum_of_unknown_shares():
    """Against Dinkelbach's iteration on the same table: whom a group may have there depends on its own rate."""
    rng = np.random.default_rng(5)
    offsets, score, ones = np.array([0, 4, 8, 12]), rng.random(12), np.ones(12)
    mass, shares = np.array([0.5, 0.3, 0.2]), np.array([[0.6, 0.4], [0.3, 0.7], [0.0, 0.0]])
    weight = rng.dirichlet(np.ones(4), 3).ravel()
    expected = rate_extremes(offsets, score, ones, weight, mass, shares, np.array([0, 0, 1]))
    people = 1e8
    inside = np.round(people * weight * np.repeat(mass, 4))[None]
    found = dual_ends(
        offsets, score, ones, inside, people * (mass[:, None] * shares)[None], seeds_of(0, 1, 1), population="internal"
    )
    np.testing.assert_allclose(found.value[0, 0], np.concatenate([expected[:, 0], expected[:, 1]]), atol=1e-3)


def test_a_condition_that_never_holds_leaves_everything_open():
    offsets, outside = np.array([0, 2]), np.array([[[30.0, 70.0]]])
    found = dual_ends(offsets, np.zeros(2), np.zeros(2), np.array([[50.0, 50.0]]), outside, seeds_of(0, 1, 3))
    ends = average_splits(found)
    assert ends.value.tolist() == [[0, 0, 1, 1]]
    assert [float(x[0]) for x in interval(ends, "difference", 2, 0, 1, 0.95)] == [-1, 1]


def test_groups_in_another_order_change_nothing_but_their_order():
    many = labelled(1, 3, 2)
    inside, outside = samples(many, 10**6, 10**6, 1, 0)
    one = average_splits(dual_ends(*many[:3], inside, outside, seeds_of(0, 1, 5)))
    two = average_splits(dual_ends(*many[:3], inside, outside[:, :, ::-1], seeds_of(1, 1, 5)))
    np.testing.assert_allclose(one.value, two.value[:, [1, 0, 3, 2]], atol=3e-3)


def tied(n_strata, seed=0):
    """Every stratum at a tie, the group as large as the event: U of the first is 1, L of the second 0."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.3, 0.7, n_strata)
    return hard(rng.dirichlet(np.full(n_strata, 9.0)), np.stack([share, 1 - share], axis=1), share)


@pytest.mark.parametrize(("n_strata", "people"), [(2, 2000), (20, 2000), (200, 300)])
def test_ties_and_empty_cells_are_covered_where_the_bootstrap_is_not(n_strata, people):
    many, tables = tied(n_strata), 1200
    truth = true_ends(many)
    inside, outside = samples(many, people, people, tables, 3)
    ends = average_splits(dual_ends(*many[:3], inside, outside, seeds_of(1, tables, default_splits(n_strata))))
    for tail in (0.1, 0.05, 0.025):
        lower, upper = limits(ends, "difference", 2, 0, 1, tail)
        slack = 0.005 + 2.5 * np.sqrt(tail / tables)
        # `limits` are kept within [−1, 1], where the truth is: ask the unclipped ends instead.
        gap = ends.value[:, 2] - ends.value[:, 1]
        spread = ends.covariance[:, 2, 2] + ends.covariance[:, 1, 1] - 2 * ends.covariance[:, 2, 1]
        assert np.mean(gap + norm.isf(tail) * np.sqrt(spread) >= truth[2] - truth[1]) >= 1 - tail - slack
        assert np.mean(lower <= truth[0] - truth[3]) >= 1 - tail - slack
        assert np.all(upper >= lower)
    rng = np.random.default_rng(0)
    hit = []
    for table in range(40):
        low, high = resampled_ends(*many[:2], inside[table], outside[table], np.eye(2), 200, rng)
        hit.append(np.nanquantile(high[:, 0] - low[:, 1], 0.975) >= truth[2] - truth[1])
    assert np.mean(hit) < 0.1


@pytest.mark.parametrize("often", [0.002, 0.01, 0.03])
def test_what_was_hardly_or_never_seen_is_allowed_for(often):
    """Some 0.6, 3 or 9 favoured among 300: where none is seen, the plain standard error is 0."""
    share = np.array([[0.4, 0.6], [0.5, 0.5]])
    many, tables = hard(np.array([0.5, 0.5]), share, np.array([often, often])), 4000
    inside, outside = samples(many, 300, 300, tables, 11)
    ends = average_splits(dual_ends(*many[:3], inside, outside, seeds_of(1, tables, 5)))
    for tail in (0.1, 0.05, 0.025):
        upper = limits(ends, "rate", 2, 0, 1, tail)[1]
        assert np.mean(upper >= true_ends(many)[2]) >= 1 - tail - 0.015
    mirrored = (*many[:1], 1 - many[1], *many[2:])
    ends = average_splits(dual_ends(*mirrored[:3], inside, outside, seeds_of(1, tables, 5)))
    for tail in (0.1, 0.05, 0.025):
        lower = limits(ends, "rate", 2, 0, 1, tail)[0]
        assert np.mean(lower <= true_ends(mirrored)[0]) >= 1 - tail - 0.015


def ends_of(values, deviations, correlation=0.0, groups=2):
    values, sd = np.array(values, dtype=float), np.array(deviations, dtype=float)
    matrix = np.outer(sd, sd) * np.where(np.eye(len(sd)) == 1, 1.0, correlation)
    return DualEnds(values[None], matrix[None], np.zeros((1, 3, len(sd))))


def test_limits_of_rates_and_differences_by_hand():
    ends = ends_of([0.2, 0.4, 0.5, 0.7], [0.01, 0.02, 0.03, 0.04], 0.5)
    z = norm.isf(0.05)
    low, high = limits(ends, "rate", 2, 0, 1, 0.05)
    assert (low[0], high[0]) == pytest.approx((0.2 - z * 0.01, 0.5 + z * 0.03))
    low, high = limits(ends, "difference", 2, 0, 1, 0.05)
    assert low[0] == pytest.approx(0.2 - 0.7 - z * np.sqrt(0.01**2 + 0.04**2 - 0.01 * 0.04))
    assert high[0] == pytest.approx(0.5 - 0.4 + z * np.sqrt(0.03**2 + 0.02**2 - 0.03 * 0.02))


def test_limits_of_ratios_solve_the_test_they_invert():
    ends, z = ends_of([0.2, 0.4, 0.5, 0.7], [0.01, 0.02, 0.03, 0.04], 0.5), norm.isf(0.05)
    low, high = (float(x[0]) for x in limits(ends, "ratio", 2, 0, 1, 0.05))
    for t, x, y, sx, sy, sign in ((high, 0.5, 0.4, 0.03, 0.02, -1), (low, 0.2, 0.7, 0.01, 0.04, 1)):
        sd = np.sqrt(sx**2 + t**2 * sy**2 - t * sx * sy)
        assert x - t * y == pytest.approx(sign * z * sd)
    near_zero = ends_of([0.2, 0.01, 0.5, 0.7], [0.01, 0.02, 0.03, 0.04])
    assert limits(near_zero, "ratio", 2, 0, 1, 0.05)[1][0] == np.inf


def test_the_test_of_a_rate_is_inverted():
    """The variance at the limit itself, v − 2δc + δ²w, is that of the test."""
    ends = ends_of([0.3, 0.3, 0.6, 0.6], [0.05] * 4)
    ends.moments[:, 0], ends.moments[:, 1] = 0.001, 0.01
    z = norm.isf(0.025)
    low, high = (float(x[0]) for x in limits(ends, "rate", 2, 0, 1, 0.025))
    for delta in (low - 0.3, high - 0.6):
        assert abs(delta) == pytest.approx(z * np.sqrt(0.05**2 - 2 * delta * 0.001 + delta**2 * 0.01))
    ends.moments[:, 1] = 1.0  # a denominator that may be 0
    assert [float(x[0]) for x in limits(ends, "rate", 2, 0, 1, 0.025)] == [0, 1]


def test_skewness_moves_a_limit_out_and_never_in():
    plain, skew = ends_of([0.3, 0.3, 0.6, 0.6], [0.05] * 4), ends_of([0.3, 0.3, 0.6, 0.6], [0.05] * 4)
    skew.moments[:, 2] = -0.8 * 0.05**3
    one, two = (limits(ends, "rate", 2, 0, 1, 0.05) for ends in (plain, skew))
    z = norm.isf(0.05)
    assert two[0][0] == pytest.approx(one[0][0] - 0.8 * 0.05 * (1 + 2 * z**2) / 6)
    assert two[1][0] == one[1][0]


def test_the_two_readings():
    z1, z2 = norm.isf(0.05), norm.isf(0.025)
    wide = ends_of([0.2, 0.2, 0.8, 0.8], [0.01] * 4)
    assert interval(wide, "rate", 2, 0, 1, 0.95)[0][0] == pytest.approx(0.2 - z1 * 0.01, abs=1e-6)
    assert interval(wide, "rate", 2, 0, 1, 0.95, "set")[0][0] == pytest.approx(0.2 - z2 * 0.01)
    point = ends_of([0.5, 0.5, 0.5, 0.5], [0.01] * 4)
    low, high = interval(point, "rate", 2, 0, 1, 0.95)
    assert (low[0], high[0]) == pytest.approx((0.5 - z2 * 0.01, 0.5 + z2 * 0.01), abs=1e-6)
    # In between: Φ(z + width) − Φ(−z) = 0.95, the width in standard errors and one less than estimated.
    some = ends_of([0.5, 0.5, 0.516, 0.516], [0.01] * 4)
    z = (0.5 - interval(some, "rate", 2, 0, 1, 0.95)[0][0]) / 0.01
    assert norm.cdf(z + 0.6) - norm.cdf(-z) == pytest.approx(0.95, abs=1e-6)


def test_forms_of_all_groups_are_the_extreme_pairs():
    rng = np.random.default_rng(0)
    low = rng.uniform(0.1, 0.3, 3)
    values = np.concatenate([low, low + 0.3, [0.45, 0.35]])
    ends = ends_of(values, np.full(8, 0.02), 0.2, groups=3)
    pairs = list(itertools.permutations(range(3), 2))
    differences = [limits(ends, "difference", 3, a, b, 0.05) for a, b in pairs]
    ratios = {(a, b): limits(ends, "ratio", 3, a, b, 0.05)[0][0] for a, b in pairs}
    least, greatest = limits(ends, "parity_gap", 3, 0, 0, 0.05)
    assert greatest[0] == max(float(high[0]) for _, high in differences)
    assert least[0] == pytest.approx(0.1 - norm.isf(0.05) * 0.02 * np.sqrt(2 * 0.8))
    assert limits(ends, "parity_ratio", 3, 0, 0, 0.05)[0][0] == min(ratios.values())
    assert limits(ends, "impact_ratio", 3, 1, 0, 0.05)[0][0] == min(ratios[1, 0], ratios[1, 2])
    t = float(limits(ends, "parity_ratio", 3, 0, 0, 0.05)[1][0])
    assert 0.35 - t * 0.45 == pytest.approx(-norm.isf(0.05) * 0.02 * np.sqrt(1 + t**2 - 0.4 * t))


@pytest.mark.parametrize("population", ["external", "internal"])
def test_resamples_scatter_around_the_bounds(population):
    rng = np.random.default_rng(6)
    many = hard(rng.dirichlet(np.full(3, 4.0)), rng.dirichlet(np.full(2, 4.0), 3), np.array([0.05, 0.95, 0.9]))
    offsets, counted, _, atoms, cells = many
    low, high = resampled_ends(
        offsets, counted, atoms * 40_000, cells * 40_000, np.eye(2), 500, rng, population=population
    )
    mass = cells.sum(axis=1)
    nl, nu, _, _ = part_extremes(
        np.array([0.05, 0.95, 0.9]),
        np.array([0.95, 0.05, 0.1]),
        np.zeros(3),
        mass,
        cells / mass[:, None],
        np.zeros(3, dtype=np.int64),
    ).T
    np.testing.assert_allclose(low.mean(axis=0), nl / cells.sum(axis=0), atol=2e-3)
    np.testing.assert_allclose(high.mean(axis=0), nu / cells.sum(axis=0), atol=2e-3)
    assert np.all(low.std(axis=0) < 0.02)
