"""Plug-in ends on resampled tables: the plain bootstrap, on counts.

Its percentiles are no confidence limits where a group is as large as an event or rows are few: the ends are sums of
minima, biased inwards there, and resampling repeats the bias (docs/method.md). It is here to be compared with.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.closed_form import phi
from fairbounds.kernels.compiling import compiled

__all__ = ["resampled_ends"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# Counts held at once, some 64 MB.
_AT_ONCE = 2**23


def resampled_ends(
    offsets: IntArray,
    value: FloatArray,
    internal: FloatArray,
    external: FloatArray,
    sets: FloatArray,
    draws: int,
    rng: np.random.Generator,
    *,
    population: Literal["external", "internal"] = "external",
    external_is_census: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest rates of sets of groups in multinomial resamples of both tables.

    Parameters
    ----------
    offsets : array of int, shape (C + 1,)
    value : array, shape (A,)
        P(counted | atom), of a rate of whole groups.
    internal : array, shape (A,)
        Rows of each atom.
    external : array, shape (C, G)
        Rows of each group.
    sets : array of 0 and 1, shape (K, G)
    draws : int
    rng : Generator
    population : {"external", "internal"}
    external_is_census : bool

    Returns
    -------
    low, high : array, shape (draws, K)
        NaN where a set has no mass in a resample. Strata that one table lacks in a resample are open to the worst case.

    Examples
    --------
    >>> low, high = resampled_ends(np.array([0, 2]), np.array([0.0, 1.0]), np.array([50.0, 50.0]),
    ...     np.array([[80.0, 20.0]]), np.eye(2), 100, np.random.default_rng(0))
    >>> low.shape, bool((low <= high).all())
    ((100, 2), True)
    """
    low, high = np.empty((draws, len(sets))), np.empty((draws, len(sets)))
    step = max(1, _AT_ONCE // (len(internal) + external.size))
    for begin in range(0, draws, step):
        stop = min(draws, begin + step)
        inside = _resampled(internal, stop - begin, rng)
        whole = np.broadcast_to(external.ravel(), (stop - begin, external.size))
        outside = (
            np.array(whole, dtype=float) if external_is_census else _resampled(external.ravel(), stop - begin, rng)
        )
        _ends(
            np.ascontiguousarray(offsets, dtype=np.int64),
            np.ascontiguousarray(value, dtype=np.float64),
            inside,
            outside.reshape(-1, *external.shape),
            np.ascontiguousarray(sets, dtype=np.float64),
            population == "external",
            low[begin:stop],
            high[begin:stop],
        )
    return low, high


def _resampled(counts: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    return rng.multinomial(round(float(counts.sum())), counts / counts.sum(), size=draws).astype(np.float64)


@compiled
def _ends(
    offsets: IntArray,
    value: FloatArray,
    internal: FloatArray,
    external: FloatArray,
    sets: FloatArray,
    by_external: bool,
    low: FloatArray,
    high: FloatArray,
) -> None:
    n_strata, n_groups = external.shape[1:]
    mass, shares, side = np.empty(n_strata), np.zeros((n_strata, n_groups)), np.zeros(n_strata, dtype=np.int64)
    weight = np.zeros(internal.shape[1])
    for d in range(len(internal)):
        inside_total, outside_total = np.sum(internal[d]), np.sum(external[d])
        for c in range(n_strata):
            atoms = slice(offsets[c], offsets[c + 1])
            inside, outside = np.sum(internal[d, atoms]), np.sum(external[d, c])
            mass[c] = outside / outside_total if by_external else inside / inside_total
            side[c] = 2 if inside <= 0.0 else 1 if outside <= 0.0 else 0
            weight[atoms] = internal[d, atoms] / max(inside, 1.0)
            shares[c] = external[d, c] / max(outside, 1.0)
        low[d], high[d] = phi(offsets, value, weight, mass, shares, side, sets)
        _to_rates(offsets, value, weight, mass, shares, side, sets, low[d], high[d])


@compiled
def _to_rates(
    offsets: IntArray,
    value: FloatArray,
    weight: FloatArray,
    mass: FloatArray,
    shares: FloatArray,
    side: IntArray,
    sets: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Divide by the sets' masses; where shares are unknown a set may hold the best or the worst people, or no one."""
    held = mass @ shares
    for k in range(len(sets)):
        group = np.sum(sets[k] * held)
        top, most, bottom, least = high[k], group, low[k], group
        for c in range(len(mass)):
            if side[c] == 1:
                for j in range(offsets[c], offsets[c + 1]):
                    top += mass[c] * weight[j] * value[j]
                    most += mass[c] * weight[j] * value[j]
                    least += mass[c] * weight[j] * (1.0 - value[j])
        low[k] = bottom / least if least > 0.0 else np.nan
        high[k] = top / most if most > 0.0 else np.nan
