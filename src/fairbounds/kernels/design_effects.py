"""How much more (or less) the ends vary than those of a simple random sample, from what every row adds to them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.dual_bounds import DualEnds

__all__ = ["cluster_variance", "replicate_variance", "simple_variance", "stretched"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


def simple_variance(counts: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return the variance of each end from one table, its rows drawn one by one, shape (E,).

    Parameters
    ----------
    counts : array, shape (N,)
    deviations : array, shape (N, E)
        How far a row of each kind moves each end (`row_deviations`).
    """
    return np.asarray(counts @ np.square(deviations))


def cluster_variance(
    cluster: IntArray, kind: IntArray, counts: FloatArray, deviations: FloatArray, clusters: int
) -> FloatArray:
    """Return the variance of each end from a table whose rows were drawn in clusters, shape (E,).

    Parameters
    ----------
    cluster, kind : array of int, shape (M,)
        Of each entry: the cluster, and the row of `deviations`.
    counts : array, shape (M,)
    deviations : array, shape (N, E)
    clusters : int

    Examples
    --------
    >>> apart = np.array([[0.1], [-0.1]])
    >>> cluster_variance(np.array([0, 1]), np.array([0, 1]), np.array([2.0, 2.0]), apart, 2).round(3).tolist()
    [0.16]
    """
    moved = np.stack(
        [np.bincount(cluster, weights=counts * column[kind], minlength=clusters) for column in deviations.T], axis=1
    )
    return np.asarray(clusters / max(1, clusters - 1) * np.square(moved - moved.mean(axis=0)).sum(axis=0))


def replicate_variance(replicates: FloatArray, value: FloatArray, factor: float) -> FloatArray:
    """Return factor · Σ (replicate − value)² of each end, shape (E,).

    Parameters
    ----------
    replicates : array, shape (R, E)
    value : array, shape (E,)
        Of the full sample.
    factor : float
        4/R for successive differences, 1/R for balanced halves and the bootstrap, (R − 1)/R for a jackknife.
    """
    return np.asarray(factor * np.square(replicates - value).sum(axis=0))


def stretched(ends: DualEnds, factor: FloatArray) -> DualEnds:
    """Multiply the variance of each end, shape (B, E) or (E,); correlations stay.

    Examples
    --------
    >>> one = DualEnds(np.zeros((1, 1, 2)), np.full((1, 1, 2, 2), 0.5), np.zeros((1, 1, 3, 2)))
    >>> stretched(one, np.array([[4.0, 1.0]])).covariance[0, 0].tolist()
    [[2.0, 1.0], [1.0, 0.5]]
    """
    root = np.sqrt(factor)
    while root.ndim < ends.value.ndim:
        root = root[..., None, :]
    moments = ends.moments * np.stack([root**2, root**2, root**3], axis=-2)
    return ends._replace(covariance=ends.covariance * root[..., :, None] * root[..., None, :], moments=moments)
