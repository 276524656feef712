"""Bounds of a metric: closed form, search or separate ends, as the metric's structure allows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from fairbounds.attaining import attaining_joint, pair_program
from fairbounds.extremes import MOST_ENUMERATED, Extremes, extremes, levels, set_ends
from fairbounds.levels import Level
from fairbounds.metrics import Metric, quotient
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Bounds, Defined, End, label_of
from fairbounds.tables import Table

__all__ = ["answer", "bound", "bound_all"]

Ends: TypeAlias = tuple[float | None, float | None]

_ROUNDING = 1e-12

# A program of this size takes about a fifth of a second, a search some hundred of them.
_MOST_SEARCHED_ATOMS = 5_000


def bound(
    problem: Problem,
    metric: str | Metric,
    *,
    group: Level = None,
    reference: Level = None,
    search: bool = True,
) -> Bounds:
    """Return the least and greatest value of a metric over every joint that fits both tables.

    Parameters
    ----------
    problem : Problem
    metric : str or Metric
    group : optional
        Needed for metrics of one group; with two groups, by default the one that is not the reference.
    reference : optional
        By default the problem's.
    search : bool
        Whether to search where a pair of groups is not extreme together (conditional rates of scores), or where an
        impact ratio is among more than a dozen groups; otherwise the separate ends are returned, which are valid but
        may be loose.

    Returns
    -------
    Bounds

    Examples
    --------
    >>> from fairbounds import Problem, Table
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 1]})
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "F"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok")
    >>> ends = bound(problem, "selection_rate", group="M")
    >>> ends.lower, ends.upper
    (0.0, 1.0)
    """
    return answer(problem, Question.settle(problem, metric, group, reference), search=search)


def bound_all(
    problem: Problem, metric: str | Metric, *, reference: Level = None, search: bool = True
) -> tuple[Bounds, ...]:
    """Return the bounds of a metric for every group it is about: all, all but the reference, or none in particular."""
    return tuple(answer(problem, question, search=search) for question in Question.every(problem, metric, reference))


def answer(problem: Problem, question: Question, *, search: bool = True) -> Bounds:
    """Return the bounds of one metric for the groups it asks about."""
    metric, at, base = question.metric, question.group, question.reference
    if at is None:
        return _in_order(_compare_all(problem, metric))
    if base is not None:
        return _in_order(_pair(problem, metric, at, base, search))
    if metric.form == "rate":
        return _in_order(_one_rate(problem, metric, at))
    quick = not search and len(problem.groups) > MOST_ENUMERATED and problem.loose_mass == 0
    return _in_order(_against_many(problem, metric, at) if quick else _against_best(problem, metric, at))


def _in_order(bounds: Bounds) -> Bounds:
    """Where only one value is possible, let rounding not make the lower end the greater one."""
    if bounds.lower is None or bounds.upper is None or bounds.lower <= bounds.upper:
        return bounds
    middle = bounds.lower + (bounds.upper - bounds.lower) / 2
    assert bounds.lower - bounds.upper <= _ROUNDING * max(1.0, abs(middle))
    return replace(bounds, lower=middle, upper=middle)


def _one_rate(problem: Problem, metric: Metric, at: int) -> Bounds:
    ends = extremes(problem, metric.rate)
    low, high = (None if math.isnan(end[at]) else float(end[at]) for end in (ends.low, ends.high))
    return Bounds(
        metric.name,
        label_of(problem.groups[at]),
        None,
        low,
        high,
        defined=ends.defined[at],
        rebuild=_rebuilding(problem, metric, at, None),
    )


def _rebuilding(problem: Problem, metric: Metric, at: int | None, base: int | None) -> Callable[[End], Table]:
    return lambda end: attaining_joint(problem, metric, end, at, base)


def _pair(problem: Problem, metric: Metric, at: int, base: int, search: bool) -> Bounds:
    ends = extremes(problem, metric.rate)
    lower, upper = _separate_ends(metric, ends, at, base)
    defined: Defined = "always"
    if lower is None or upper is None:
        defined, lower, upper = "never", None, None
    elif "sometimes" in (ends.defined[at], ends.defined[base]) or _zero_over_zero(problem, metric, ends, at, base):
        defined = "sometimes"
    method, sharp = "closed form", True
    if not ends.together and lower is not None and upper is not None:
        method, sharp = "separate ends", False
        if search and len(ends.counted) <= _MOST_SEARCHED_ATOMS:
            lower, upper, sharp = _searched(problem, metric, ends, at, base)
            method = "search"
    return Bounds(
        metric.name,
        label_of(problem.groups[at]),
        label_of(problem.groups[base]),
        lower,
        upper,
        method,
        sharp,
        defined,
        rebuild=_rebuilding(problem, metric, at, base) if sharp else None,
    )


def _zero_over_zero(problem: Problem, metric: Metric, ends: Extremes, at: int, base: int) -> bool:
    """Whether some joint gives both groups of a ratio the rate 0."""
    if not metric.is_ratio or ends.low[at] > 0 or ends.low[base] > 0:
        return False
    pair = np.zeros((1, len(problem.groups)))
    pair[0, [at, base]] = 1.0
    least, _ = set_ends(problem, ends.counted, pair)
    nobody_else = len(problem.groups) == 2 and problem.loose_mass > 0
    return bool(least[0] == 0) and not nobody_else


def _separate_ends(metric: Metric, ends: Extremes, at: int, base: int) -> Ends:
    """Combine one group's least with the other's greatest; a ratio is never negative, so 0/0 leaves only 0 or x/0."""
    low_a, high_a, low_b, high_b = (float(end[group]) for group in (at, base) for end in (ends.low, ends.high))
    if any(map(math.isnan, (low_a, low_b))):
        return None, None
    if not metric.is_ratio:
        return low_a - high_b, high_a - low_b
    if high_b == 0:
        return (None, None) if high_a == 0 else (math.inf, math.inf)
    upper = quotient(high_a, low_b)
    return low_a / high_b, 0.0 if upper is None else upper


def _searched(problem: Problem, metric: Metric, ends: Extremes, at: int, base: int) -> tuple[float, float, bool]:
    """Return the certified ends, and whether the search closed on both."""
    upper = pair_program(problem, metric, ends, at, base)
    mirrored = pair_program(problem, metric, ends, base, at)
    closed = upper.closed and mirrored.closed
    if metric.is_ratio:
        return (1.0 / mirrored.certified if mirrored.certified > 0 else math.inf), upper.certified, closed
    return -mirrored.certified, upper.certified, closed


def _against_best(problem: Problem, metric: Metric, at: int) -> Bounds:
    """Impact ratio (docs/method.md, 4): greatest is HI(g)/(p(g)·M*), least the smallest of the pairwise ones."""
    ends, level = extremes(problem, metric.rate), levels(problem)
    others = np.arange(len(problem.groups)) != at
    most, highest = float(ends.high[others].max()), float(ends.high[at])
    if max(most, highest) == 0:
        return _all_groups_bounds(problem, metric, at, None, None)
    lower = 1.0 if most == 0 else min(1.0, float(ends.low[at]) / most)
    return _all_groups_bounds(problem, metric, at, lower, _share_of_level(highest, level.smallest_largest))


def _against_many(problem: Problem, metric: Metric, at: int) -> Bounds:
    """Impact ratio without M*, which takes seconds for hundreds of groups: no less than any rate's least, or all's."""
    ends, everyone = extremes(problem, metric.rate), np.ones((1, len(problem.groups)))
    overall = float(set_ends(problem, ends.counted, everyone)[0][0])
    if overall == 0:
        return _against_best(problem, metric, at)
    most, level = float(np.delete(ends.high, at).max()), max(float(ends.low.max()), overall)
    upper = _share_of_level(float(ends.high[at]), level)
    lower = 1.0 if most == 0 else min(1.0, float(ends.low[at]) / most)
    return Bounds(metric.name, label_of(problem.groups[at]), None, lower, upper, "separate ends", False)


def _compare_all(problem: Problem, metric: Metric) -> Bounds:
    """Gap and ratio of the extreme groups (docs/method.md, 4)."""
    ends, level = extremes(problem, metric.rate), levels(problem)
    if metric.form == "parity_gap":
        gap = level.smallest_largest - level.largest_smallest
        widest = max(_pairs(ends, lambda least, most: most - least))
        return _all_groups_bounds(problem, metric, None, gap if gap > _ROUNDING else 0.0, widest)
    if ends.high.max() == 0:
        return _all_groups_bounds(problem, metric, None, None, None)
    lower = min(_pairs(ends, lambda least, most: least / most if most > 0 else 1.0))
    upper = _share_of_level(level.largest_smallest, level.smallest_largest)
    return _all_groups_bounds(problem, metric, None, lower, upper)


def _share_of_level(rate: float, level: float) -> float:
    """Divide by M*; where that is 0 nobody need be selected, and a group that can be selected can be the only one."""
    if level == 0:
        return 1.0 if rate > 0 else 0.0
    return rate / level if rate / level < 1 - _ROUNDING else 1.0


def _pairs(ends: Extremes, combine: Callable[[float, float], float]) -> list[float]:
    """Combine the least rate of each group with the greatest rate among the others."""
    out = []
    for at in range(len(ends.low)):
        others = np.delete(ends.high, at)
        out.append(combine(float(ends.low[at]), float(others.max())))
    return out


def _all_groups_bounds(
    problem: Problem, metric: Metric, at: int | None, lower: float | None, upper: float | None
) -> Bounds:
    sharp = levels(problem).sharp
    defined: Defined = "always"
    if metric.is_ratio and levels(problem).smallest_largest == 0:
        defined = "never" if lower is None else "sometimes"
    return Bounds(
        metric.name,
        None if at is None else label_of(problem.groups[at]),
        None,
        lower,
        upper,
        "closed form" if sharp else "separate ends",
        sharp,
        defined,
        rebuild=_rebuilding(problem, metric, at, None) if sharp else None,
    )
