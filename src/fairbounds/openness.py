"""Which strata make the bounds of the selection rates wide."""

from __future__ import annotations

import numpy as np

from fairbounds.extremes import extremes
from fairbounds.levels import show
from fairbounds.metrics import RATES
from fairbounds.problem import Problem
from fairbounds.results import StratumWidth

__all__ = ["stratum_widths"]

_MOST = 12


def stratum_widths(problem: Problem, most: int = _MOST) -> tuple[StratumWidth, ...]:
    """Return the strata that leave most open, the widest first, and all others together at the end.

    The width of a group's selection rate is a sum over strata, so that each has its part in it. Where the sizes of
    groups are not known (strata in the internal table only) it is no such sum, and nothing is returned.

    Parameters
    ----------
    problem : Problem
    most : int
        Strata to name.

    Returns
    -------
    tuple of StratumWidth

    Examples
    --------
    >>> from fairbounds import Problem, Table
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 1]})
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "F"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok")
    >>> [(entry.stratum, entry.widths[1]) for entry in stratum_widths(problem)]
    [('job=a', 1.0), ('job=b', 0.0)]
    """
    from fairbounds.kernels.regions import open_mass

    if problem.loose_mass > 0:
        return ()
    strata = problem.strata
    value = extremes(problem, RATES["selection"]).counted
    held = open_mass(strata.offsets, value, strata.weight, strata.mass, strata.shares, strata.side)
    width = held / problem.group_mass
    order = np.argsort(-held.sum(axis=1), kind="stable")
    named, rest = (order, order[:0]) if len(order) <= most else (order[:most], order[most:])
    found = [
        StratumWidth(_name(problem, at), float(strata.mass[at]), tuple(width[at].tolist())) for at in named.tolist()
    ]
    if len(rest):
        found.append(StratumWidth(None, float(strata.mass[rest].sum()), tuple(width[rest].sum(axis=0).tolist())))
    return tuple(found)


def _name(problem: Problem, stratum: int) -> str:
    codes = zip(problem.common, problem.stratum_codes[stratum].tolist(), strict=True)
    return ", ".join(f"{name}={show(problem.internal[name].levels[code])}" for name, code in codes)
