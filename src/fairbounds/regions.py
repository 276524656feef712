"""The pairs of rates that two groups can have together, exactly (docs/method.md, 4)."""

from __future__ import annotations

import numpy as np

from fairbounds.errors import ProblemError
from fairbounds.extremes import extremes, set_ends
from fairbounds.levels import Level
from fairbounds.metrics import RATES, Rate
from fairbounds.problem import Problem
from fairbounds.results import Region, label_of

__all__ = ["region", "regions"]

_ROUNDING = 1e-12


def region(problem: Problem, group: Level, *, reference: Level = None, rate: str = "selection") -> Region:
    """Return every pair of rates that some joint fitting both tables gives to a group and the reference.

    The masses that sets of groups can hold are the base polytope of Φ; two of its coordinates range over the polygon
    that the ends of each group and of both together leave.

    Parameters
    ----------
    problem : Problem
    group : level
    reference : optional
        By default the problem's.
    rate : {"selection", "base", "accuracy"}
        A rate among the whole group; the others depend on two masses each and have no polygon.

    Returns
    -------
    Region

    Examples
    --------
    >>> from fairbounds import Problem, Table
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 1]})
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "F"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok", reference="F")
    >>> [[round(x, 3), round(y, 3)] for x, y in region(problem, "M").corners]
    [[1.0, 0.0], [0.667, 1.0]]
    """
    base = problem.reference if reference is None else problem.group_position(reference)
    at = problem.group_position(group)
    if at == base:
        raise ProblemError(f"group and reference are both {problem.groups[base]!r}; compare two different groups")
    if rate not in RATES or not RATES[rate].unconditional:
        known = ", ".join(repr(name) for name, entry in RATES.items() if entry.unconditional)
        raise ProblemError(f"a region needs a rate among the whole group, one of {known}, not {rate!r}")
    if problem.loose_mass > 0:
        raise ProblemError(
            "the groups' sizes are not known, because some strata are in the internal table only, so their rates have "
            "no exact region; audit the external population, or leave these strata out"
        )
    return _regions(problem, RATES[rate], [at], base)[0]


def regions(problem: Problem, rate: str = "selection") -> tuple[Region, ...]:
    """Return the region of every group with the problem's reference, none where sizes of groups are not known."""
    if problem.loose_mass > 0:
        return ()
    others = [at for at in range(len(problem.groups)) if at != problem.reference]
    return _regions(problem, RATES[rate], others, problem.reference)


def _regions(problem: Problem, rate: Rate, groups: list[int], base: int) -> tuple[Region, ...]:
    from fairbounds.kernels.regions import pair_polygon

    single, alone = np.eye(len(problem.groups)), [base, *groups]
    sets = np.vstack([single[alone], single[groups] + single[base]])
    low, high = set_ends(problem, extremes(problem, rate).counted, sets)
    mass, n = problem.group_mass, len(groups)
    found = []
    for place, at in enumerate(groups):
        picked = [0, 1 + place, 1 + n + place]
        corners = pair_polygon(low[picked], high[picked], _ROUNDING) / mass[[base, at]]
        names = label_of(problem.groups[at]), label_of(problem.groups[base])
        pairs = tuple((float(x), float(y)) for x, y in np.clip(corners, 0.0, 1.0))
        found.append(Region(f"{rate.name}_rate", *names, pairs))
    return tuple(found)
