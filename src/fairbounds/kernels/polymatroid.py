"""All groups at once: the vector (p(g)·rate_g)_g ranges over the base polytope of Φ (docs/method.md, 4).

With least and greatest integrals LO(S), HI(S) of sets of groups of mass p(S), the smallest possible largest rate is
M* = max LO(S)/p(S) and the largest possible smallest rate is m* = min HI(S)/p(S). Strata whose shares are unknown add
to the mass as well as to the integral: there M* is the root of LO(S) − M·p(S) − Σ w (M − f)₊, and alike for m*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["all_subsets", "extreme_of_extremes", "level_by_vertices"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def all_subsets(n_groups: int) -> FloatArray:
    """Return the 2^G − 1 sets of groups as rows of 0 and 1, the set of all groups last."""
    numbers = np.arange(1, 2**n_groups)
    return ((numbers[:, None] >> np.arange(n_groups)) & 1).astype(np.float64)


def extreme_of_extremes(
    subsets: FloatArray,
    low: FloatArray,
    high: FloatArray,
    group_mass: FloatArray,
    loose_value: FloatArray,
    loose_mass: FloatArray,
) -> tuple[float, float]:
    """Return M* and m*: the smallest possible largest rate and the largest possible smallest rate.

    Parameters
    ----------
    subsets : array of 0 and 1, shape (K, G)
        With a row for all groups; fewer than all subsets give bounds on M* from below and on m* from above.
    low, high : array, shape (K,)
        LO and HI of each set, strata of unknown shares aside.
    group_mass : array, shape (G,)
        Mass of each group, strata of unknown shares aside.
    loose_value, loose_mass : array, shape (L,)
        Scores and masses of the atoms in strata of unknown shares.
    """
    inside = subsets @ group_mass
    whole = subsets.all(axis=1)
    integral = float(loose_value @ loose_mass)
    overall = (float(low[whole][0]) + integral) / (float(inside[whole][0]) + float(loose_mass.sum()))
    largest = [_root(low_s, p, loose_value, loose_mass) for low_s, p in zip(low[~whole], inside[~whole], strict=True)]
    # Exchanging favourable and unfavourable turns a smallest rate into a largest one.
    smallest = [
        1.0 - _root(p - high_s, p, 1.0 - loose_value, loose_mass)
        for high_s, p in zip(high[~whole], inside[~whole], strict=True)
    ]
    overall_high = (float(high[whole][0]) + integral) / (float(inside[whole][0]) + float(loose_mass.sum()))
    return max([overall, *largest]), min([overall_high, *smallest])


def _root(need: float, mass: float, value: FloatArray, weight: FloatArray) -> float:
    """Solve M·mass + Σ weight·(M − value)₊ = need for M ≥ 0, the left side increasing and piecewise linear."""
    if need <= 0:
        return 0.0
    order = np.argsort(value)
    knots, added = value[order], np.concatenate(([0.0], np.cumsum(weight[order])))
    removed = np.concatenate(([0.0], np.cumsum(weight[order] * value[order])))
    reached = knots * (mass + added[:-1]) - removed[:-1]
    piece = int(np.searchsorted(reached, need))
    return float((need + removed[piece]) / (mass + added[piece]))


def level_by_vertices(
    lowest: Callable[[FloatArray], FloatArray], group_mass: FloatArray, tolerance: float = 1e-10
) -> tuple[float, float]:
    """Return a bracket of M* = min over x of max_g x_g / p_g, by column generation over the vertices of the polytope.

    Beyond a dozen groups the subsets are too many to list. The master program mixes vertices; the pricing step asks
    for the vertex that is lowest for the master's prices, a greedy walk along a chain of sets.

    Parameters
    ----------
    lowest : callable
        Maps prices, shape (G,), to the vertex x, shape (G,), with the least price.
    group_mass : array, shape (G,)
    tolerance : float
        Width at which the bracket is good enough.
    """
    from scipy.optimize import linprog

    from fairbounds.errors import SolverError

    vertices = [lowest(np.ones_like(group_mass))]
    floor = 0.0
    while True:
        rates = np.array(vertices).T / group_mass[:, None]
        n = rates.shape[1]
        answer = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.hstack([rates, -np.ones((len(group_mass), 1))]),
            b_ub=np.zeros(len(group_mass)),
            A_eq=np.append(np.ones(n), 0.0)[None, :],
            b_eq=[1.0],
            method="highs",
        )
        if answer.status != 0:
            raise SolverError(f"the level of all groups was not found: {answer.message}")
        prices = -answer.ineqlin.marginals / group_mass
        vertex = lowest(prices)
        floor = max(floor, float(prices @ vertex))
        if answer.fun - floor <= tolerance or any(np.array_equal(vertex, known) for known in vertices):
            return floor, float(answer.fun)
        vertices.append(vertex)
