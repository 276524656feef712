"""The mean over the feasible set: every joint that fits both tables is taken to be equally likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fairbounds.feasible import Coordinates, FeasibleSet
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Draws, Estimate
from fairbounds.sampling import exact_mean, sample_all
from fairbounds.sampling.walking import Plan

__all__ = ["FeasibleMean", "by_feasible_mean"]


@dataclass(frozen=True)
class FeasibleMean:
    """How the mean is found where no formula gives it.

    Attributes
    ----------
    draws, chains : int
        Of the walk, as for `sample`.
    coordinates : {"internal", "outcome"}
        Which joints are equally likely, as for `sample`.
    """

    draws: int = 10_000
    chains: int = 256
    coordinates: Coordinates = "internal"


def by_feasible_mean(
    problem: Problem, questions: Sequence[Question], options: FeasibleMean, seed: int
) -> tuple[Estimate, ...]:
    """Return the mean of each metric, by formula if all have one and from one walk otherwise."""
    feasible = FeasibleSet.of(problem, options.coordinates)
    exact = [exact_mean(feasible, question) for question in questions]
    if all(value is not None for value in exact):
        return tuple(_from_formula(value, options) for value in exact)
    plan = Plan(options.draws, options.chains)
    drawn = sample_all(problem, questions, plan=plan, coordinates=options.coordinates, rng=seed)
    return tuple(_from_draws(draws, options) for draws in drawn)


def _from_formula(value: float | None, options: FeasibleMean) -> Estimate:
    note = "The mean is infinite: the reference's rate can be 0." if value == math.inf else ""
    return Estimate("feasible_mean", value, note=note, details={"exact": True, "coordinates": options.coordinates})


def _from_draws(draws: Draws, options: FeasibleMean) -> Estimate:
    if draws.exact_mean is not None:
        return _from_formula(draws.exact_mean, options)
    summary = draws.summary()
    kept = ("standard_error", "standard_deviation", "quantiles", "undefined_share", "diagnosis", "settings")
    details = {"exact": False, "coordinates": options.coordinates} | {name: summary[name] for name in kept}
    value = None if math.isnan(draws.mean) else draws.mean
    return Estimate("feasible_mean", value, note=" ".join(_caveats(draws)), details=details)


def _caveats(draws: Draws) -> list[str]:
    said = []
    if draws.diagnosis is not None and not draws.diagnosis.converged:
        said.append(
            f"The walk has not converged (R̂ {draws.diagnosis.r_hat:.3f}, {draws.diagnosis.bulk_ess:,.0f} effective "
            "draws): ask for more draws, or for coordinates='outcome'."
        )
    if draws.bounds is not None and draws.bounds.upper == math.inf:
        said.append("The metric is unbounded over the feasible set, so a mean may not exist: read the quantiles.")
    if draws.undefined_share:
        said.append(f"In {draws.undefined_share:.1%} of the joints the metric is 0/0; the mean is over the others.")
    return said
