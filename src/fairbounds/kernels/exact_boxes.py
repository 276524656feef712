"""Limits of rates that hold exactly in samples of any size: a box of exact limits, pushed through the closed forms.

Every share that the ends of docs/method.md, 2 are made of gets Clopper and Pearson's limits (1934,
https://doi.org/10.1093/biomet/26.4.404), the error split evenly over all of them, so that all hold together. The ends
move one way with each share, or turn where the group is as large as the event: what is furthest out in the box is
known.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["clopper_pearson", "exact_rate_ends"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Box: TypeAlias = tuple[FloatArray, FloatArray]


def clopper_pearson(count: FloatArray, rows: FloatArray, tail: float) -> Box:
    """Return exact limits of shares, each wrong with probability at most `tail`; 0 and 1 where there are no rows.

    Parameters
    ----------
    count, rows : array
        `count` of `rows`, broadcast together.
    tail : float

    Examples
    --------
    >>> low, high = clopper_pearson(np.array([0.0, 5.0]), np.array([10.0, 10.0]), 0.025)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    from scipy.special import betaincinv

    count, rows = np.broadcast_arrays(np.asarray(count, dtype=float), np.asarray(rows, dtype=float))
    low, high = np.zeros(count.shape), np.ones(count.shape)
    some, short = count > 0, count < rows
    low[some] = betaincinv(count[some], rows[some] - count[some] + 1.0, tail)
    high[short] = betaincinv(count[short] + 1.0, rows[short] - count[short], 1.0 - tail)
    return low, high


def exact_rate_ends(
    counted: FloatArray,
    rest: FloatArray,
    rows: FloatArray,
    external: FloatArray,
    tail: float,
    *,
    population: Literal["external", "internal"] = "external",
    external_is_census: bool = False,
) -> Box:
    """Return limits of every group's least and greatest rate that all hold with probability 1 − `tail` or more.

    Parameters
    ----------
    counted, rest : array, shape (C,)
        Internal rows of each stratum in the event counted, and among but not counted (hard decisions only).
    rows : array, shape (C,)
        Internal rows of each stratum; 0 where there are none.
    external : array, shape (C, G)
        External rows of each group.
    tail : float
        Error of all limits together: the differences and ratios of the returned ends are covered too.
    population : {"external", "internal"}
    external_is_census : bool

    Returns
    -------
    low, high : array, shape (G,)

    Examples
    --------
    >>> groups = np.array([[30.0, 70.0]])
    >>> low, high = exact_rate_ends(np.array([40.0]), np.array([60.0]), np.array([100.0]), groups, 0.05)
    >>> bool((low <= [0.0, 1 / 7]).all() and (high >= [1.0, 4 / 7]).all())
    True
    """
    each = tail / _how_many(external, bool(np.all(counted + rest == rows)), external_is_census)
    event, other, group = _boxes(counted, rest, rows, external, each, population, external_is_census)
    return 1.0 - _greatest(other, group), _greatest(event, group)


def _how_many(external: FloatArray, whole: bool, census: bool) -> int:
    """Count the one-sided limits: two of each event's share, of each group's, and of the stratum's mass."""
    n_strata, n_groups = int(external.shape[0]), int(external.shape[1])
    return n_strata * ((2 if whole else 4) + (0 if census else 2 * n_groups) + 2)


def _boxes(
    counted: FloatArray,
    rest: FloatArray,
    rows: FloatArray,
    external: FloatArray,
    tail: float,
    population: Literal["external", "internal"],
    census: bool,
) -> tuple[Box, Box, Box]:
    """Return limits of the mass of either event and, shape (C, G), of each group in each stratum.

    Of an event there are its greatest mass and the greatest mass of what is not the other event.
    """
    people, size = external.sum(), rows.sum()
    inside = external.sum(axis=1)
    if population == "internal":
        most_counted, most_rest = (clopper_pearson(n, size, tail)[1] for n in (counted, rest))
        not_rest, not_counted = (clopper_pearson(rows - n, size, tail)[1] for n in (rest, counted))
        least, most = clopper_pearson(rows, size, tail)
        share_low, share_high = _shares(external, inside[:, None], tail, census)
        unknown = inside[:, None] == 0
        share_low, share_high = np.where(unknown, 0.0, share_low), np.where(unknown, 1.0, share_high)
        group = (least[:, None] * share_low, most[:, None] * share_high)
    else:
        _, mass = _shares(inside, people, tail, census)
        (rest_low, rest_high), (counted_low, counted_high) = (clopper_pearson(n, rows, tail) for n in (rest, counted))
        most_counted, most_rest = mass * counted_high, mass * rest_high
        not_rest, not_counted = mass * (1.0 - rest_low), mass * (1.0 - counted_low)
        group = _shares(external, people, tail, census)
    return (most_counted, not_rest), (most_rest, not_counted), group


def _shares(count: FloatArray, total: FloatArray, tail: float, census: bool) -> Box:
    if census:
        share = count / np.maximum(total, 1.0)
        return share, share
    return clopper_pearson(count, total, tail)


def _greatest(event: Box, group: Box) -> FloatArray:
    """Return the greatest rate of each group in the box.

    A group as large as the event holds all of it and nothing else; a larger one holds more of the rest, a smaller one
    less of the event. So its size is that of the event, or the nearest that the box allows.
    """
    most, beyond = event[0][:, None], event[1][:, None]
    size = np.clip(most, *group)
    held = np.minimum(size, most).sum(axis=0)
    forced = np.maximum(0.0, size - np.maximum(beyond, most)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(held > 0, held / (held + forced), 0.0)
