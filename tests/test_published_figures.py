"""Figures for the paper's three data sets, computed independently of this project, to their six printed digits."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from oracles import value_of
from strategies import joint_of

from fairbounds.bounding import bound
from fairbounds.datasets import paper_view, split
from fairbounds.estimation import estimate
from fairbounds.problem import Problem


class Figures(NamedTuple):
    """True, sharp and estimated values of disparate impact (DI) and demographic disparity (DD)."""

    true_di: float
    true_dd: float
    sharp_di: tuple[float, float]
    sharp_dd: tuple[float, float]
    independence_di: float


FIGURES = {
    "german": Figures(0.950589, -0.035125, (0.892385, 1.099011), (-0.077930, 0.067243), 0.977368),
    "adult": Figures(0.418786, -0.177592, (0.350284, 0.746892), (-0.204124, -0.068353), 0.432349),
    "compas": Figures(1.227442, 0.094121, (0.979782, 1.385931), (-0.009629, 0.147350), 1.181738),
}
METRICS = ("disparate_impact", "demographic_disparity")
DIGITS = 0.5000001e-6

datasets = pytest.mark.parametrize("name", sorted(FIGURES))


def problem_of(name: str) -> Problem:
    view = paper_view(name)
    internal, external = split(name)
    return Problem.from_tables(
        internal, external, protected=view.protected, score="score", common=[view.common], reference=view.reference
    )


def truth_of(name: str) -> tuple[float | None, ...]:
    """Both metrics of the full table, which no auditor sees, by definition."""
    view = paper_view(name)
    full = view.scored().marginal([view.common, "score", view.protected]).rename({view.protected: "group"})
    joint = joint_of(full, (view.common,))
    groups = full["group"].levels
    return tuple(value_of(metric, joint, groups, view.group, view.reference) for metric in METRICS)


@datasets
def test_true_values(name: str) -> None:
    figures = FIGURES[name]
    assert truth_of(name) == pytest.approx((figures.true_di, figures.true_dd), abs=DIGITS)


@datasets
def test_sharp_bounds(name: str) -> None:
    problem, group = problem_of(name), paper_view(name).group
    for metric, wanted in zip(METRICS, FIGURES[name][2:4], strict=True):
        bounds = bound(problem, metric, group=group)
        assert (bounds.lower, bounds.upper) == pytest.approx(wanted, abs=DIGITS)
        assert (bounds.sharp, bounds.defined) == (True, "always")
        assert bounds.contains(dict(zip(METRICS, truth_of(name), strict=True))[metric] or 0.0)


@datasets
def test_the_population_does_not_matter_where_both_tables_are_of_one(name: str) -> None:
    internal, external = split(name)
    view = paper_view(name)
    problem = Problem.from_tables(
        internal,
        external,
        protected=view.protected,
        score="score",
        common=[view.common],
        reference=view.reference,
        population="internal",
    )
    bounds = bound(problem, "disparate_impact", group=view.group)
    assert (bounds.lower, bounds.upper) == pytest.approx(FIGURES[name].sharp_di, abs=DIGITS)
    assert problem.mismatch.total_variation == pytest.approx(0.0, abs=1e-12)


@datasets
def test_the_independence_estimate(name: str) -> None:
    found = estimate(problem_of(name), "disparate_impact", group=paper_view(name).group)
    assert found.value == pytest.approx(FIGURES[name].independence_di, abs=DIGITS)
    assert found.margin_preserving


@datasets
def test_both_ends_are_attained(name: str) -> None:
    view, problem = paper_view(name), problem_of(name)
    bounds = bound(problem, "disparate_impact", group=view.group)
    for end, wanted in zip(("lower", "upper"), FIGURES[name].sharp_di, strict=True):
        joint = joint_of(bounds.attained_by(end).rename({view.protected: "group"}), (view.common,))
        found = value_of("disparate_impact", joint, problem.groups, view.group, view.reference)
        assert found == pytest.approx(wanted, abs=DIGITS)
