"""Point estimates of a metric under a named assumption."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.extremes import extremes
from fairbounds.kernels.strata import BOTH
from fairbounds.levels import Level
from fairbounds.metrics import Metric, get
from fairbounds.problem import Problem
from fairbounds.results import Estimate

__all__ = ["Method", "estimate"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Method: TypeAlias = Literal["independence"]


def estimate(
    problem: Problem,
    metric: str | Metric,
    *,
    method: Method = "independence",
    group: Level = None,
    reference: Level = None,
) -> Estimate:
    """Estimate a metric under an assumption.

    Parameters
    ----------
    problem : Problem
    metric : str or Metric
    method : {"independence"}
        ``independence``: inside a stratum the outcome does not depend on the group ("marginal preservation").
    group, reference : optional
        As for `bound`.

    Returns
    -------
    Estimate
        Declared not to preserve the margins where some strata are seen in one table only: it says nothing about them.

    Examples
    --------
    >>> from fairbounds import Problem, Table
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 1]})
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "F"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok")
    >>> estimate(problem, "disparate_impact", group="M", reference="F").value
    0.6
    """
    if method not in get_args(Method):
        raise ProblemError(f"there is no estimate {method!r}; the methods are {', '.join(get_args(Method))}")
    chosen = get(metric)
    base = problem.reference if reference is None else problem.group_position(reference)
    at = None if chosen.all_groups else _position(problem, group, base)
    rates = _independence_rates(problem, chosen)
    complete = bool((problem.strata.side == BOTH).all())
    return Estimate(method, chosen.value(rates.tolist(), at, base), margin_preserving=complete)


def _position(problem: Problem, group: Level, base: int) -> int:
    if group is None and None not in problem.groups and len(problem.groups) == 2:
        return 1 - base
    return problem.group_position(group)


def _independence_rates(problem: Problem, metric: Metric) -> FloatArray:
    """Return Σ π r(g|c) P(counted|c) / Σ π r(g|c) P(among|c) over strata that both tables have seen; NaN for 0/0."""
    strata, ends = problem.strata, extremes(problem, metric.rate)
    stratum = strata.atom_stratum
    known = strata.side == BOTH
    per_stratum = [
        np.bincount(stratum, weights=value * strata.weight, minlength=len(known)) * known
        for value in (ends.counted, ends.among)
    ]
    counted, among = (strata.shares.T @ (strata.mass * value) for value in per_stratum)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(among > 0, counted / np.where(among > 0, among, 1.0), np.nan))
