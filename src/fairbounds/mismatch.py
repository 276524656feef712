"""How well the two tables agree on the common variables, measured before any metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.origins import people_behind
from fairbounds.results import Mismatch, StratumMismatch
from fairbounds.tables import Table

__all__ = ["measure", "sample_size"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_WORST = 5


def sample_size(table: Table) -> float | None:
    """Return how many people drawn at random a table is worth, as found when it was read; ``None`` where unknown.

    Of a table that was not read from anywhere, weights that are whole numbers count people.

    Parameters
    ----------
    table : Table

    Returns
    -------
    float or None

    Examples
    --------
    >>> sample_size(Table.from_columns({"job": ["cook", "clerk"]}, [10, 5]))
    15.0
    >>> sample_size(Table.from_columns({"job": ["cook", "clerk"]}, [0.7, 0.3])) is None
    True
    """
    return people_behind(table.weights, table.origin)


def measure(
    internal: FloatArray,
    external: FloatArray,
    name: Callable[[int], str],
    sizes: tuple[float | None, float | None],
) -> Mismatch:
    """Compare the shares of the strata in the two tables.

    Parameters
    ----------
    internal, external : array, shape (strata,)
        Shares; each sums to 1.
    name : callable
        Gives a stratum, by position, as a person reads it.
    sizes : (float or None, float or None)
        Sample sizes of the internal and the external table.
    """
    seen = external > 0
    with np.errstate(divide="ignore"):
        kl = float(np.sum(external[seen] * np.log(external[seen] / internal[seen])))
    gap = np.abs(internal - external)
    worst = [at for at in np.argsort(-gap, kind="stable")[:_WORST] if gap[at] > 0]
    statistic = _g_statistic(internal, external, sizes)
    freedom = len(internal) - 1
    return Mismatch(
        kl=max(kl, 0.0),
        total_variation=float(gap.sum() / 2),
        g_statistic=statistic,
        degrees_of_freedom=None if statistic is None else freedom,
        p_value=None if statistic is None else _upper_tail(statistic, freedom),
        worst=tuple(StratumMismatch(name(int(at)), float(internal[at]), float(external[at])) for at in worst),
    )


def _g_statistic(internal: FloatArray, external: FloatArray, sizes: tuple[float | None, float | None]) -> float | None:
    if sizes[0] is None or sizes[1] is None or len(internal) < 2:
        return None
    counts = np.stack([internal * sizes[0], external * sizes[1]])
    pooled = counts.sum(axis=0) / counts.sum()
    expected = np.array([[sizes[0]], [sizes[1]]]) * pooled
    seen = counts > 0
    return max(0.0, 2 * math.fsum(counts[seen] * np.log(counts[seen] / expected[seen])))


def _upper_tail(statistic: float, freedom: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))
