"""Exact limits: Clopper and Pearson's against scipy, the ends against searches of the box, and their coverage."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from fairbounds.kernels.closed_form import part_extremes
from fairbounds.kernels.exact_boxes import clopper_pearson, exact_rate_ends


def test_limits_of_a_share_are_those_of_scipy():
    count, rows = np.arange(8.0), np.full(8, 7.0)
    low, high = clopper_pearson(count, rows, 0.02)
    expected = [binomtest(int(k), 7).proportion_ci(0.96, "exact") for k in count]
    np.testing.assert_allclose(low, [e.low for e in expected], atol=1e-10)
    np.testing.assert_allclose(high, [e.high for e in expected], atol=1e-10)
    assert clopper_pearson(np.array([3.0]), np.array([20.0]), 0.05)[1][0] == pytest.approx(beta.ppf(0.95, 4, 17))


def test_nothing_is_known_without_rows():
    low, high = clopper_pearson(np.zeros(2), np.zeros(2), 0.05)
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])


def rates_in_the_box(rng, counted, rest, rows, external, each, draws):
    """Greatest and least rates of joints that lie in the box, found by trial."""
    n_strata = len(external)
    boxes = [clopper_pearson(n, rows, each) for n in (counted, rest)]
    cells = clopper_pearson(external, external.sum(), each)
    inside = clopper_pearson(external.sum(axis=1), external.sum(), each)
    both = np.zeros(n_strata, dtype=np.int64)
    found = []
    for _ in range(draws):
        corner = rng.integers(0, 2, (2, n_strata))
        event, other = (np.where(at, *box[::-1]) for at, box in zip(corner, boxes, strict=True))
        if np.all(counted + rest == rows):
            other = 1 - event
        mix = np.where(rng.random(cells[0].shape) < 0.5, rng.integers(0, 2, cells[0].shape), rng.random(cells[0].shape))
        joint = cells[0] + mix * (cells[1] - cells[0])
        mass = joint.sum(axis=1)
        if np.all(event + other <= 1) and np.all((mass >= inside[0]) & (mass <= inside[1])):
            nl, nu, dl, du = part_extremes(event, other, 1 - event - other, mass, joint / mass[:, None], both).T
            found.append((nl / (nl + du), nu / (nu + dl)))
    return np.array(found)


@pytest.mark.parametrize("whole", [True, False])
def test_no_joint_in_the_box_goes_beyond(whole):
    rng = np.random.default_rng(3)
    rows = np.array([40.0, 25.0])
    counted = np.array([12.0, 15.0])
    rest = rows - counted if whole else np.array([10.0, 6.0])
    external = np.array([[30.0, 50.0], [25.0, 9.0]])
    tail = 0.05
    low, high = exact_rate_ends(counted, rest, rows, external, tail)
    limits = 2 * ((2 if whole else 4) + 2 * 2 + 2)
    found = rates_in_the_box(rng, counted, rest, rows, external, tail / limits, 4000)
    assert len(found) > 500
    assert np.all(found[:, 0] >= low - 1e-12)
    assert np.all(found[:, 1] <= high + 1e-12)
    # Not idly wide: trial comes near the limits.
    assert found[:, 0].min(axis=0) == pytest.approx(low, abs=0.12)
    assert found[:, 1].max(axis=0) == pytest.approx(high, abs=0.12)


def test_by_hand_one_stratum_and_a_census():
    """Shares 0.3 and 0.7 are certain: the first group may hold min(0.3, q) of the event."""
    count, rows = np.array([8.0]), np.array([40.0])
    external = np.array([[30.0, 70.0]])
    low, high = exact_rate_ends(count, rows - count, rows, external, 0.04, external_is_census=True)
    below, above = beta.ppf(0.01, 8, 33), beta.ppf(0.99, 9, 32)  # 4 limits share the error
    np.testing.assert_allclose(high, [min(0.3, above) / 0.3, min(0.7, above) / 0.7])
    np.testing.assert_allclose(low, [max(0, 0.3 + below - 1) / 0.3, max(0, 0.7 + below - 1) / 0.7])


def test_many_rows_leave_the_bounds():
    rng = np.random.default_rng(0)
    mass, shares, q, d = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(3), 4), *rng.uniform(0.1, 0.4, (2, 4))
    nl, nu, dl, du = part_extremes(q, d, 1 - q - d, mass, shares, np.zeros(4, dtype=np.int64)).T
    for population in ("external", "internal"):
        n = 1e10 * mass
        low, high = exact_rate_ends(q * n, d * n, n, n[:, None] * shares, 0.05, population=population)
        np.testing.assert_allclose(low, nl / (nl + du), atol=1e-3)
        np.testing.assert_allclose(high, nu / (nu + dl), atol=1e-3)


@pytest.mark.parametrize("population", ["external", "internal"])
def test_a_stratum_seen_on_one_side_is_open(population):
    counted, rest, rows = np.array([5.0, 0.0]), np.array([5.0, 0.0]), np.array([10.0, 0.0])
    external = np.array([[5.0, 5.0], [50.0, 50.0]])
    if population == "internal":
        counted, rest, rows = np.array([5.0, 60.0]), np.array([5.0, 40.0]), np.array([10.0, 100.0])
        external = np.array([[500.0, 500.0], [0.0, 0.0]])
    low, high = exact_rate_ends(counted, rest, rows, external, 0.05, population=population)
    assert np.all(low < 0.06)
    assert np.all(high > 0.94)


@pytest.mark.parametrize("population", ["external", "internal"])
def test_limits_hold_at_ties_and_in_tiny_tables(population):
    """Truth at the very end of the bounds, groups as large as the event, 25 rows each: never missed too often."""
    mass, shares, tail = np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.3, 0.7]]), 0.2
    q = shares[:, 0]
    nl, nu, _, _ = part_extremes(q, 1 - q, 0 * q, mass, shares, np.zeros(2, dtype=np.int64)).T
    group = mass @ shares
    rng = np.random.default_rng(5)
    missed = 0
    for _ in range(400):
        inside = rng.multinomial(25, (mass[:, None] * np.stack([q, 1 - q], axis=1)).ravel()).reshape(2, 2).astype(float)
        outside = rng.multinomial(25, (mass[:, None] * shares).ravel()).reshape(2, 2).astype(float)
        low, high = exact_rate_ends(
            inside[:, 0], inside[:, 1], inside.sum(axis=1), outside, tail, population=population
        )
        missed += bool(np.any(low > nl / group + 1e-12) or np.any(high < nu / group - 1e-12))
    assert missed / 400 <= tail
