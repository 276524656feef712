"""How far chains can be trusted: rank-normalised split R̂, bulk and tail effective sample size.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Rank-normalization, folding, and localization: an
improved R̂ for assessing convergence of MCMC, Bayesian Analysis 16, 667–718, https://doi.org/10.1214/20-BA1221.
Draws have shape (chains, n, quantities) and every function answers per quantity. A quantity that is not a number in
some draw has NaN for an answer. One that never changes has nothing to converge: R̂ = 1 and all draws effective.
Effective sizes end the sum of autocorrelations with the last pair that is positive, as the paper prints it; Stan and
arviz add the first term of the next pair, so theirs differ by some per cent where there are few draws a chain.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Diagnostics", "bulk_ess", "diagnose", "r_hat", "tail_ess"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Diagnostics(NamedTuple):
    """Three diagnostics of each quantity.

    Attributes
    ----------
    r_hat, bulk_ess, tail_ess : array, shape (quantities,)
    """

    r_hat: FloatArray
    bulk_ess: FloatArray
    tail_ess: FloatArray


def diagnose(draws: FloatArray) -> Diagnostics:
    """Return R̂ and both effective sample sizes of draws, shape (chains, n, quantities) with n ≥ 4."""
    return Diagnostics(r_hat(draws), bulk_ess(draws), tail_ess(draws))


def r_hat(draws: FloatArray) -> FloatArray:
    """Return the greater of the rank-normalised split R̂ of the draws and of their distances from the median.

    The distances show chains that agree in location but not in spread.
    """
    draws = _halves(draws)
    centre = np.median(draws, axis=(0, 1))
    with np.errstate(invalid="ignore"):
        folded = np.where(draws == centre, 0.0, np.abs(draws - centre))  # infinite draws may have an infinite median
    location, spread = (_plain_r_hat(_normal_scores(part)) for part in (draws, folded))
    return _settled(draws, np.maximum(location, spread), 1.0)


def bulk_ess(draws: FloatArray) -> FloatArray:
    """Return the effective sample size of the rank-normalised draws: for means and medians."""
    draws = _halves(draws)
    return _settled(draws, _ess(_normal_scores(draws)), _size(draws))


def tail_ess(draws: FloatArray) -> FloatArray:
    """Return the lesser of the effective sample sizes for the 5 % and the 95 % quantile."""
    draws = _halves(draws)
    sizes = []  # the quantile is one of the draws: between infinite ones there is nothing to interpolate
    for level in (0.05, 0.95):
        below = (draws <= np.quantile(draws, level, axis=(0, 1), method="inverted_cdf")).astype(np.float64)
        sizes.append(_settled(below, _ess(below), _size(draws)))
    return _settled(draws, np.minimum(*sizes), _size(draws))


def _halves(draws: FloatArray) -> FloatArray:
    """Make two chains of each, leaving out the middle draw of an odd number."""
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim != 3 or draws.shape[0] < 1 or draws.shape[1] < 4:
        raise ValueError(f"diagnostics need draws of shape (chains, at least 4, quantities), not {draws.shape}")
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _size(draws: FloatArray) -> float:
    return float(draws.shape[0] * draws.shape[1])


def _settled(draws: FloatArray, found: FloatArray, constant: float) -> FloatArray:
    """Put in what quantities that never change, or are not numbers, are said to have."""
    found = np.where(draws.min(axis=(0, 1)) == draws.max(axis=(0, 1)), constant, found)
    return np.where(np.isnan(draws).any(axis=(0, 1)), np.nan, found)


def _normal_scores(draws: FloatArray) -> FloatArray:
    """Replace draws by the normal quantiles of their ranks, average ranks for ties."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    flat = draws.reshape(-1, draws.shape[2])
    scores: FloatArray = ndtri((rankdata(flat, axis=0) - 3 / 8) / (len(flat) + 1 / 4))
    return scores.reshape(draws.shape)


def _variances(chains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Within-chain variance W and var⁺, which counts the chains' distance too."""
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    return within, (n - 1) / n * within + between


def _plain_r_hat(chains: FloatArray) -> FloatArray:
    """Square root of var⁺/W; infinite where chains that stand still differ."""
    within, both = _variances(chains)
    still = within <= 1e-24 * both  # but for rounding of the chains' means
    found: FloatArray = np.sqrt(both / np.where(still, 1.0, within))
    return np.where(still, np.where(both > 0, np.inf, 1.0), found)


def _ess(chains: FloatArray) -> FloatArray:
    """Effective sample size from the autocorrelations of several chains.

    Lags come in pairs, whose sums are positive and fall for a reversible chain; what follows the first that is not
    positive is noise (Geyer 1992, https://doi.org/10.1214/ss/1177011137).
    """
    size, n = _size(chains), chains.shape[1]
    within, both = _variances(chains)
    scale = np.where(both > 0, both, 1.0)
    correlation = 1.0 - (within - _autocovariance(chains) * (n / (n - 1))) / scale
    pairs = correlation[0 : n - 1 : 2] + correlation[1:n:2]
    pairs = np.where(np.logical_and.accumulate(pairs > 0, axis=0), pairs, 0.0)
    time = 2.0 * np.minimum.accumulate(pairs, axis=0).sum(axis=0) - 1.0
    found: FloatArray = size / np.maximum(time, 1.0 / np.log10(size))
    return found


def _autocovariance(chains: FloatArray) -> FloatArray:
    """Autocovariance at each lag, divided by n at every lag, averaged over chains, shape (n, quantities)."""
    from scipy.fft import irfft, next_fast_len, rfft

    n = chains.shape[1]
    length = next_fast_len(2 * n, real=True)
    spectrum = rfft(chains - chains.mean(axis=1, keepdims=True), n=length, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    covariance: FloatArray = irfft(power, n=length, axis=0)[:n] / n
    return covariance
