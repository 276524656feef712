"""Exact means against the closed sum in high precision, against simulation, and in the limiting cases."""

import itertools
from decimal import Decimal, localcontext

import numpy as np
import pytest

from fairbounds.kernels.exact_means import exact_means


def problem(seed, n_strata):
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.ones(n_strata))
    favourable, first = rng.uniform(0.05, 0.95, (2, n_strata))
    rows = np.stack([mass * favourable, mass * (1 - favourable)], axis=1)
    return rows, np.stack([mass * first, mass * (1 - first)], axis=1)


def limits(rows, columns):
    """Fréchet's bounds of the second group's favourable mass, stratum by stratum."""
    low = np.maximum(0, rows[:, 0] + columns[:, 1] - rows.sum(axis=1))
    return low, np.minimum(rows[:, 0], columns[:, 1])


def mean_inverse_by_closed_sum(base, widths):
    """E[1/(base + Σ w U)] = Σ_S (−1)^(k−|S|) x_S^(k−1) log x_S / ((k−1)! ∏ w): cancels, hence 80 digits."""
    with localcontext() as context:
        context.prec = 80
        base, widths = Decimal(base), [Decimal(float(w)) for w in widths]
        total = Decimal(0)
        for chosen in itertools.product((0, 1), repeat=len(widths)):
            at = base + sum((w for w, taken in zip(widths, chosen, strict=True) if taken), Decimal(0))
            if at > 0:
                total += (-1) ** (len(widths) - sum(chosen)) * at ** (len(widths) - 1) * at.ln()
        for k, w in enumerate(widths):
            total /= w * max(k, 1)
        return float(total)


@pytest.mark.parametrize("n_strata", [1, 2, 3, 6, 10])
@pytest.mark.parametrize("seed", range(4))
def test_ratio_is_the_closed_sum(seed, n_strata):
    rows, columns = problem(seed, n_strata)
    rows[0], columns[0] = rows[0].sum() * np.array([0.7, 0.3]), columns[0].sum() * np.array([0.35, 0.65])
    low, high = limits(rows, columns)
    inverse = mean_inverse_by_closed_sum(float(low.sum()), high - low)
    first, second = columns.sum(axis=0)
    found = exact_means(rows, columns)
    assert found.ratio_is == "finite"
    assert found.ratio == pytest.approx(second / first * (rows[:, 0].sum() * inverse - 1), rel=1e-11)


@pytest.mark.parametrize("widths", [(0.1, 0.2), (0.3, 1e-9), (0.2, 1e-6, 1e-12), (1e-3, 0.1, 0.2, 1e-8)])
def test_second_rate_may_be_zero(widths):
    """Widths of very different sizes and no base: the integrand reaches over many powers of ten."""
    widths = np.array(widths)
    rest = 1 - 2.5 * widths.sum()
    rows = np.concatenate([np.stack([widths, 1.5 * widths], axis=1), [[rest, 0.0]]])
    columns = np.concatenate([np.stack([1.4 * widths, 1.1 * widths], axis=1), [[rest, 0.0]]])
    low, high = limits(rows, columns)
    assert low.sum() == 0
    favourable, (first, second) = rows[:, 0].sum(), columns.sum(axis=0)
    expected = second / first * (favourable * mean_inverse_by_closed_sum(0.0, widths) - 1)
    np.testing.assert_allclose(high[:-1], widths)
    assert exact_means(rows, columns).ratio == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_strata", [2, 5, 40])
def test_against_simulation(n_strata):
    rows, columns = problem(n_strata, n_strata)
    low, high = limits(rows, columns)
    first, second = columns.sum(axis=0)
    mine = (low + (high - low) * np.random.default_rng(0).random((200_000, n_strata))).sum(axis=1)
    other = rows[:, 0].sum() - mine
    found = exact_means(rows, columns)
    for simulated, exact in (
        (other / first - mine / second, found.difference),
        (other / first / (mine / second), found.ratio),
    ):
        assert abs(simulated.mean() - exact) < 4 * simulated.std() / np.sqrt(len(simulated))


def test_many_strata():
    """With 500 strata 1/T hardly varies: the mean lies where its expansion around the midpoints says."""
    rows, columns = problem(1, 500)
    low, high = limits(rows, columns)
    middle, spread = (low + high).sum() / 2, ((high - low) ** 2).sum() / 12
    first, second = columns.sum(axis=0)
    inverse = 1 / middle + spread / middle**3 + 3 * spread**2 / middle**5
    expected = second / first * (rows[:, 0].sum() * inverse - 1)
    found = exact_means(rows, columns)
    assert found.ratio == pytest.approx(expected, rel=1e-7)
    midpoints = second / first * (rows[:, 0].sum() / middle - 1)
    assert found.ratio > midpoints


def test_no_width_no_spread():
    """Every stratum all of one outcome or all of one group: a single joint fits."""
    rows = np.array([[0.3, 0.0], [0.0, 0.2], [0.1, 0.4]])
    columns = np.array([[0.1, 0.2], [0.15, 0.05], [0.5, 0.0]])
    found = exact_means(rows, columns)
    assert found.difference == pytest.approx(0.2 / 0.75 - 0.2 / 0.25, rel=1e-14)
    assert found.ratio == pytest.approx(0.2 / 0.75 / (0.2 / 0.25), rel=1e-14)


def test_swapping_the_groups_negates_the_difference():
    rows, columns = problem(3, 7)
    assert exact_means(rows, columns).difference == pytest.approx(-exact_means(rows, columns[:, ::-1]).difference)


@pytest.mark.parametrize(
    ("rows", "columns", "ratio", "ratio_is"),
    [
        ([[0.2, 0.8]], [[0.5, 0.5]], np.inf, "infinite"),  # 1/U has no mean
        ([[0.5, 0.0], [0.0, 0.5]], [[0.5, 0.0], [0.2, 0.3]], np.inf, "infinite"),  # the second rate is 0
        ([[0.0, 1.0]], [[0.5, 0.5]], None, "undefined"),  # no one is favoured
    ],
)
def test_ratio_without_a_mean(rows, columns, ratio, ratio_is):
    found = exact_means(np.array(rows), np.array(columns))
    assert (found.ratio, found.ratio_is) == (ratio, ratio_is)
    assert np.isfinite(found.difference)


@pytest.mark.parametrize("columns", [[[1.0, 0.0]], [[0.0, 1.0]]])
def test_group_without_mass(columns):
    assert exact_means(np.array([[0.3, 0.7]]), np.array(columns)) == (None, None, "undefined")


@pytest.mark.parametrize("n_strata", [1, 3, 8])
def test_scores_against_simulation(n_strata):
    """Cells of any score: the group's part of the first cell is uniform, and carries its score."""
    rng = np.random.default_rng(n_strata)
    rows, columns = problem(n_strata, n_strata)
    value = rng.uniform(0.05, 1, (n_strata, 2))
    low, high = limits(rows, columns)
    part = low + (high - low) * rng.random((200_000, n_strata))
    mine = (value[:, 0] * part + value[:, 1] * (columns[:, 1] - part)).sum(axis=1)
    other = (rows * value).sum() - mine
    first, second = columns.sum(axis=0)
    found = exact_means(rows, columns, value)
    for simulated, exact in (
        (other / first - mine / second, found.difference),
        (other / first / (mine / second), found.ratio),
    ):
        assert abs(simulated.mean() - exact) < 4 * simulated.std() / np.sqrt(len(simulated)) + 1e-12


def test_equal_scores_leave_nothing_open():
    rows, columns = problem(5, 4)
    found = exact_means(rows, columns, np.full((4, 2), 0.3))
    assert (found.difference, found.ratio) == (pytest.approx(0, abs=1e-15), pytest.approx(1, rel=1e-13))
