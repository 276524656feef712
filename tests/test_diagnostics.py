"""R̂ and effective sample sizes against slow transcriptions of the formulas in Vehtari et al. (2021)."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from fairbounds.kernels.diagnostics import bulk_ess, diagnose, r_hat, tail_ess


def halves(chains):
    """Split chains (lists of numbers), without the middle draw where the number is odd."""
    half = len(chains[0]) // 2
    return [list(chain[:half]) for chain in chains] + [list(chain[len(chain) - half :]) for chain in chains]


def mean(numbers):
    return math.fsum(numbers) / len(numbers)


def variance(numbers):
    return math.fsum((x - mean(numbers)) ** 2 for x in numbers) / (len(numbers) - 1)


def normal_scores(chains):
    """z = Φ⁻¹((r − 3/8) / (S + 1/4)), r the rank among all S draws, averaged over ties."""
    everything = [x for chain in chains for x in chain]
    size = len(everything)

    def score(x):
        rank = sum(y < x for y in everything) + (sum(y == x for y in everything) + 1) / 2
        return NormalDist().inv_cdf((rank - 3 / 8) / (size + 1 / 4))

    return [[score(x) for x in chain] for chain in chains]


def variance_estimates(chains):
    """W, and var⁺ = (N − 1)/N · W + B/N with B from the means of chains."""
    n, m = len(chains[0]), len(chains)
    means = [mean(chain) for chain in chains]
    between = n / (m - 1) * sum((x - mean(means)) ** 2 for x in means)
    within = mean([variance(chain) for chain in chains])
    return within, (n - 1) / n * within + between / n


def plain_r_hat(chains):
    within, both = variance_estimates(chains)
    return math.sqrt(both / within)


def autocorrelation(chain, lag):
    n, centre = len(chain), mean(chain)
    products = [(chain[k] - centre) * (chain[k + lag] - centre) for k in range(n - lag)]
    scale = math.fsum((x - centre) ** 2 for x in chain)
    return math.fsum(products) / scale if scale else 0.0  # counts for nothing: it is multiplied by the variance


def slow_ess(chains):
    """Combined autocorrelations, Geyer's initial positive and monotone sequence of pairs."""
    n, m = len(chains[0]), len(chains)
    within, both = variance_estimates(chains)
    if both == 0:
        return n * m

    def rho(lag):
        own = mean([variance(chain) * autocorrelation(chain, lag) for chain in chains])
        return 1 - (within - own) / both

    pairs = []
    for lag in range(0, n - 1, 2):
        pair = rho(lag) + rho(lag + 1)
        if pair <= 0:
            break
        pairs.append(min(pair, pairs[-1]) if pairs else pair)
    time = max(-1 + 2 * sum(pairs), 1 / math.log10(n * m))
    return n * m / time


def slow_r_hat(chains):
    chains = halves(chains)
    everything = sorted(x for chain in chains for x in chain)
    size = len(everything)
    median = (everything[(size - 1) // 2] + everything[size // 2]) / 2
    folded = [[abs(x - median) for x in chain] for chain in chains]
    return max(plain_r_hat(normal_scores(part)) for part in (chains, folded))


def slow_bulk_ess(chains):
    return slow_ess(normal_scores(halves(chains)))


def slow_tail_ess(chains):
    chains = halves(chains)
    everything = sorted(x for chain in chains for x in chain)

    def at(level):
        quantile = everything[math.ceil(level * len(everything)) - 1]
        return slow_ess([[float(x <= quantile) for x in chain] for chain in chains])

    return min(at(0.05), at(0.95))


def autoregressive(rng, chains, n, correlation):
    draws = np.empty((chains, n))
    draws[:, 0] = rng.standard_normal(chains)
    for k in range(1, n):
        step = rng.standard_normal(chains)
        draws[:, k] = correlation * draws[:, k - 1] + math.sqrt(1 - correlation**2) * step
    return draws


@pytest.mark.parametrize(("chains", "n"), [(1, 20), (3, 31), (4, 40)])
def test_as_in_the_paper(chains, n):
    rng = np.random.default_rng(chains)
    quantities = [
        rng.standard_normal((chains, n)),
        autoregressive(rng, chains, n, 0.7),
        autoregressive(rng, chains, n, -0.6),
        rng.standard_cauchy((chains, n)) + np.arange(chains)[:, None],
        rng.integers(0, 4, (chains, n)).astype(float),
        np.exp(3 * rng.standard_normal((chains, n))) * (1 + np.arange(chains)[:, None]),
    ]
    found = diagnose(np.stack(quantities, axis=2))
    np.testing.assert_allclose(found.r_hat, [slow_r_hat(q.tolist()) for q in quantities], rtol=1e-12)
    np.testing.assert_allclose(found.bulk_ess, [slow_bulk_ess(q.tolist()) for q in quantities], rtol=1e-10)
    np.testing.assert_allclose(found.tail_ess, [slow_tail_ess(q.tolist()) for q in quantities], rtol=1e-10)


def test_independent_draws_are_all_effective():
    found = diagnose(np.random.default_rng(1).standard_normal((8, 2000, 5)))
    np.testing.assert_allclose(found.bulk_ess, 16_000, rtol=0.1)
    np.testing.assert_allclose(found.tail_ess, 16_000, rtol=0.1)
    assert np.all(np.abs(found.r_hat - 1) < 0.003)


@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.9, -0.4])
def test_autoregression_has_the_known_size(correlation):
    draws = autoregressive(np.random.default_rng(2), 16, 5000, correlation)[:, :, None]
    known = draws.size * (1 - correlation) / (1 + correlation)
    np.testing.assert_allclose(bulk_ess(draws), known, rtol=0.1)


def test_chains_apart():
    rng = np.random.default_rng(3)
    located = rng.standard_normal((4, 1000)) + np.array([0, 0, 0, 1])[:, None]
    spread = rng.standard_normal((4, 1000)) * np.array([1, 1, 1, 3])[:, None]
    drifting = rng.standard_normal((4, 1000)) + np.linspace(0, 1.5, 1000)
    found = diagnose(np.stack([located, spread, drifting], axis=2))
    assert np.all(found.r_hat > 1.01)
    assert found.bulk_ess[0] < 50


def test_quantities_that_never_change():
    found = diagnose(np.full((4, 100, 2), 0.3))
    np.testing.assert_array_equal(found.r_hat, 1)
    np.testing.assert_array_equal(found.bulk_ess, 400)
    np.testing.assert_array_equal(found.tail_ess, 400)


def test_chains_that_stand_still_apart():
    found = diagnose(np.repeat(np.arange(4.0), 100).reshape(4, 100, 1) / 7)
    assert found.r_hat[0] == np.inf
    assert found.bulk_ess[0] < 10


def test_not_numbers_and_infinities():
    draws = np.random.default_rng(4).standard_normal((4, 100, 3))
    draws[0, 5, 0] = np.nan
    draws[:, ::9, 1] = np.inf
    found = np.array(diagnose(draws))
    assert np.isnan(found[:, 0]).all()
    assert np.isfinite(found[:, 1:]).all()


def test_ranks_only():
    draws = np.random.default_rng(5).standard_normal((4, 101, 2))
    np.testing.assert_allclose(bulk_ess(np.exp(draws)), bulk_ess(draws), rtol=1e-12)
    np.testing.assert_allclose(tail_ess(np.exp(draws)), tail_ess(draws), rtol=1e-12)


@pytest.mark.parametrize("shape", [(4, 3, 1), (4, 10), (0, 10, 1)])
def test_too_little(shape):
    with pytest.raises(ValueError, match="diagnostics need"):
        r_hat(np.zeros(shape))
