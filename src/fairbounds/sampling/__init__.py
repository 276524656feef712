"""The distribution of a metric over the joints that fit both tables, every joint equally likely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from fairbounds.bounding import answer
from fairbounds.errors import ProblemError
from fairbounds.feasible import Coordinates, FeasibleSet
from fairbounds.kernels.grid import Limits
from fairbounds.levels import Level
from fairbounds.metrics import Metric
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Draws
from fairbounds.sampling.exact import exact_mean
from fairbounds.sampling.gridding import on_grid
from fairbounds.sampling.walking import Plan, Start, by_walk
from fairbounds.seeds import Rng, settled_seed

__all__ = ["Limits", "Method", "Plan", "exact_mean", "sample", "sample_all"]

Method: TypeAlias = Literal["walk", "grid"]


def sample(
    problem: Problem,
    metric: str | Metric | None = None,
    *,
    method: Method = "walk",
    group: Level = None,
    reference: Level = None,
    draws: int = 10_000,
    chains: int = 256,
    effective: int | None = None,
    start: Start = "vertex",
    points: int = 100,
    limits: Limits = "tight",
    coordinates: Coordinates = "internal",
    rng: Rng = None,
) -> Draws:
    """Draw joints that fit both tables, and return the metric of each.

    Parameters
    ----------
    problem : Problem
    metric : str or Metric, optional
        By default ``disparate_impact``; ``parity_ratio`` where there are more than two groups and none is named.
    method : {"walk", "grid"}
        ``walk`` draws uniformly from all joints, for any number of cells, strata and groups. ``grid`` takes equally
        spaced values of every free parameter, as the paper does: for two groups and two cells in each of a few strata.
    group, reference : optional
        As for `bound`.
    draws : int
        Joints that a walk is to return, at least.
    chains : int
        Independent chains that they come from; fewer where their joints would not fit into memory.
    effective : int, optional
        Effective draws that the walk is to reach, in bulk and tails; by default half of `draws`, at most 4,000.
    start : {"vertex", "independence"}
        Where the chains begin: each at another random vertex of the feasible set, or all at the independence joint.
    points : int
        Values of each free parameter of a grid.
    limits : {"tight", "paper"}
        Grid over the values that some joint has, or over the paper's looser limits, joints with a negative entry left
        out.
    coordinates : {"internal", "outcome"}
        Which joints are equally likely: those of all internal variables with the group, or those of the common
        variables and the outcome alone. The answer depends on it (docs/method.md, 9).
    rng : int or numpy.random.Generator, optional
        Seed; 0 by default. The same seed gives the same draws.

    Returns
    -------
    Draws
        With the bounds they lie within and, where a formula gives it, the exact mean.

    Examples
    --------
    >>> from fairbounds import Problem, Table
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 0]}, [80, 20, 30, 70])
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "M"]}, [70, 30, 50, 50])
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok", reference="M")
    >>> walked, gridded = sample(problem), sample(problem, method="grid")
    >>> len(gridded), round(gridded.mean, 2), abs(walked.mean - walked.exact_mean) < 4 * walked.standard_error
    (10000, 1.67, True)
    """
    question = Question.settle(problem, metric, group, reference)
    plan = Plan(draws, chains, effective, start)
    return sample_all(
        problem, [question], method=method, plan=plan, points=points, limits=limits, coordinates=coordinates, rng=rng
    )[0]


def sample_all(
    problem: Problem,
    questions: Sequence[Question],
    *,
    method: Method = "walk",
    plan: Plan | None = None,
    points: int = 100,
    limits: Limits = "tight",
    coordinates: Coordinates = "internal",
    rng: Rng = None,
) -> tuple[Draws, ...]:
    """Return the draws of several metrics from the same joints."""
    if method not in get_args(Method):
        raise ProblemError(f"there is no sampling method {method!r}; there are {', '.join(get_args(Method))}")
    feasible = FeasibleSet.of(problem, coordinates)
    bounds = [answer(problem, question) for question in questions]
    if method == "grid":
        return on_grid(feasible, questions, bounds, points, limits)
    return by_walk(feasible, questions, bounds, plan or Plan(), settled_seed(rng))
