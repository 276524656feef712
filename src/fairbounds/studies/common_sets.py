"""All categories of the real data, and every plausible set of common variables: what more of them do to the width.

The classifier is the same for all sets of one data set, and so is the truth: a tree on every attribute but the
protected one. Whatever is not common is internal. Both tables are margins of the same people, so nothing but the set of
common variables differs. A set may single people out: `SetResult.group_known` says how well it gives away the group.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.bounding import bound
from fairbounds.errors import ProblemError
from fairbounds.estimation import estimate
from fairbounds.feasible import Coordinates
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.questions import Question
from fairbounds.results import Draws
from fairbounds.sampling import Plan, sample_all
from fairbounds.seeds import settled_seed, stream
from fairbounds.studies.columns import Columns, columns_of_records
from fairbounds.studies.real_data import DATA, RealData, real_data
from fairbounds.studies.real_feasible import METRICS, PREDICTIONS, Prediction, predicted, rates, true_value
from fairbounds.studies.trees import grow
from fairbounds.tables import Table

__all__ = ["RULE", "SMALLEST_LEAF", "CommonSetStudy", "SetResult", "WalkResult", "common_sets"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

SMALLEST_LEAF = 0.01

RULE = (
    "{sets} of the attributes that a census, a labour force survey or (COMPAS) a court's statistics publish by the "
    "protected attribute, one by one if not together. Attributes that state the group (the marital status of the "
    "German data) are left out. All other attributes are internal, and the classifier, one tree for all sets of a "
    "data set with at least 1 % of the people in each leaf, uses all of either kind."
)


@dataclass(frozen=True)
class SetResult:
    """One metric with one set of common variables.

    Attributes
    ----------
    data : str
    common : tuple of str
    strata : int
    people_in_median_stratum : float
        People in the stratum of the median person.
    group_known : float
        Share of people whose group the best guess from the common variables gets right; `group_guessed` of them are
        right without any.
    group_guessed : float
    prediction, metric : str
    true, lower, upper, width, independence : float
    mean : float or None
        Over all joints of the common variables, the outcome and the group, every joint equally likely: by formula for
        decisions, none for scores.
    """

    data: str
    common: tuple[str, ...]
    strata: int
    people_in_median_stratum: float
    group_known: float
    group_guessed: float
    prediction: Prediction
    metric: str
    true: float
    lower: float
    upper: float
    width: float
    independence: float
    mean: float | None


@dataclass(frozen=True)
class WalkResult:
    """A metric over the feasible set of the paper's common variable, all categories kept; scores.

    Attributes
    ----------
    data : str
    common : str
    coordinates : {"internal", "outcome"}
        Which joints are equally likely: those of every internal attribute with the group, or those of the common
        variable and the score alone.
    metric : str
    free_parameters : int
    true, lower, upper, independence : float
    mean, standard_error, sd, low, high, q025, q975 : float
        Of the draws.
    r_hat, effective : float
    converged : bool
    """

    data: str
    common: str
    coordinates: Coordinates
    metric: str
    free_parameters: int
    true: float
    lower: float
    upper: float
    independence: float
    mean: float
    standard_error: float
    sd: float
    low: float
    high: float
    q025: float
    q975: float
    r_hat: float
    effective: float
    converged: bool


@dataclass(frozen=True)
class CommonSetStudy:
    """Results by data set, set of common variables, prediction and metric, in this order.

    Attributes
    ----------
    seed, draws : int
    largest : int
        Most common variables in a set.
    plausible : dict of str to tuple of str
        Attributes of which the sets were made.
    rule : str
        How they were chosen, in words.
    results : tuple of SetResult
    walks : tuple of WalkResult
    """

    seed: int
    largest: int
    draws: int
    plausible: dict[str, tuple[str, ...]]
    rule: str
    results: tuple[SetResult, ...]
    walks: tuple[WalkResult, ...]

    def to_columns(self) -> Columns:
        """Return one row per result, the names of a set joined by ``+``."""
        return columns_of_records(asdict(found) | {"common": _joined(found.common)} for found in self.results)

    def walk_columns(self) -> Columns:
        """Return one row per walk and metric."""
        return columns_of_records(asdict(found) for found in self.walks)

    def by_size(self) -> Columns:
        """Return one row per data set, prediction, metric and size of the set: how wide, and the narrowest set."""
        return columns_of_records(_of_one_size(rows) for rows in self._by_size())

    def _by_size(self) -> Iterator[list[SetResult]]:
        groups: dict[tuple[Any, ...], list[SetResult]] = {}
        for found in self.results:
            groups.setdefault((found.data, found.prediction, found.metric, len(found.common)), []).append(found)
        yield from groups.values()

    def result(
        self, data: str, common: Sequence[str], metric: str = "DI", prediction: Prediction = "scores"
    ) -> SetResult:
        """Return the result of one set, in any order."""
        for found in self.results:
            roles = (found.data, set(found.common), found.metric, found.prediction)
            if roles == (data, set(common), metric, prediction):
                return found
        raise ProblemError(f"no result for {data!r} with {_joined(common)}, {metric!r} and {prediction!r}")


def common_sets(
    seed: int = 0, largest: int | None = None, draws: int = 10_000, names: Sequence[str] = DATA
) -> CommonSetStudy:
    """Bound both metrics with every plausible set of common variables.

    Parameters
    ----------
    seed : int
        Of the tree, between equally good splits, and of the walk.
    largest : int, optional
        Most common variables in a set; by default there is no limit.
    draws : int
        Of each walk.
    names : sequence of str

    Examples
    --------
    >>> study = common_sets(largest=1, draws=1000, names=["compas"])
    >>> coarse, fine = (study.result("compas", [name]).width for name in ("sex", "priors_count"))
    >>> len(study.results), fine < coarse
    (24, True)
    """
    plausible = {name: real_data(name).plausible for name in names}
    sets_of = {name: _subsets(found, largest) for name, found in plausible.items()}
    results: list[SetResult] = []
    walks: list[WalkResult] = []
    for k, (name, sets) in enumerate(sets_of.items()):
        data = real_data(name)
        scored = _scored(data, int(stream(seed, f"tree of {name}").integers(2**32)))
        for j, common in enumerate(sets):
            report("common variables", (k + 0.5 * j / len(sets)) / len(names))
            results.extend(_results(data, scored, common))
        walks.extend(_walks(data, scored, draws, settled_seed(stream(seed, f"walk of {name}"))))
    report("common variables", 1.0)
    rule = RULE.format(sets="Every set" if largest is None else f"Every set of up to {largest}")
    most = max(len(common) for sets in sets_of.values() for common in sets)
    return CommonSetStudy(seed, most, draws, plausible, rule, tuple(results), tuple(walks))


def _joined(names: Sequence[str]) -> str:
    return " + ".join(names)


def _subsets(names: Sequence[str], largest: int | None) -> list[tuple[str, ...]]:
    sizes = range(1, (len(names) if largest is None else largest) + 1)
    return [chosen for size in sizes for chosen in itertools.combinations(names, size)]


def _scored(data: RealData, seed: int) -> dict[Prediction, Table]:
    """Return the whole table with the variable ``prediction``, as score and as decision."""
    tree = grow(data.table, data.features, data.label, data.favourable, smallest_leaf=SMALLEST_LEAF, seed=seed)
    score = tree.score[tree.leaf(data.table)]
    return {kind: data.table.with_variable("prediction", predicted(score, kind)) for kind in PREDICTIONS}


def _problem(data: RealData, table: Table, internal: Sequence[str], common: Sequence[str]) -> Problem:
    return Problem.from_tables(
        table.marginal([*common, *(name for name in internal if name not in common), "prediction"]),
        table.marginal([*common, data.protected]),
        protected=data.protected,
        score="prediction",
        common=common,
        reference=data.reference,
    )


def _results(data: RealData, scored: dict[Prediction, Table], common: tuple[str, ...]) -> Iterator[SetResult]:
    for prediction, table in scored.items():
        problem = _problem(data, table, [], common)
        for metric, name in METRICS.items():
            ends = bound(problem, name, group=data.group)
            lower, upper, mean = _number(ends.lower), _number(ends.upper), None
            if prediction == "decisions":
                mean = _estimate(problem, name, data, "feasible_mean", coordinates="outcome")
            yield SetResult(
                data=data.name,
                common=common,
                **_strata(problem, table.total),
                prediction=prediction,
                metric=metric,
                true=_true(data, table, metric),
                lower=lower,
                upper=upper,
                width=upper - lower,
                independence=_estimate(problem, name, data, "independence"),
                mean=mean,
            )


def _strata(problem: Problem, people: float) -> dict[str, Any]:
    """Describe the strata: how many, how large, and how well they give away the group."""
    shares, mass = problem.strata.shares, problem.strata.mass
    order = np.argsort(mass)
    median = order[np.searchsorted(np.cumsum(mass[order]), 0.5)]
    return {
        "strata": len(mass),
        "people_in_median_stratum": float(mass[median] * people),
        "group_known": float(mass @ shares.max(axis=1)),
        "group_guessed": float((mass @ shares).max()),
    }


def _true(data: RealData, table: Table, metric: str) -> float:
    outcome = np.array(table["prediction"].levels, dtype=np.float64)[table.column("prediction")]
    return true_value(metric, rates(table, outcome, data.protected), data.group, data.reference)


def _estimate(problem: Problem, name: str, data: RealData, method: Any, **options: Any) -> float:
    return _number(estimate(problem, name, method=method, group=data.group, **options).value)


def _walks(data: RealData, scored: dict[Prediction, Table], draws: int, seed: int) -> Iterator[WalkResult]:
    table = scored["scores"]
    problem = _problem(data, table, data.features, [data.common])
    questions = [Question.settle(problem, name, data.group) for name in METRICS.values()]
    for coordinates in get_args(Coordinates):
        walked = sample_all(problem, questions, plan=Plan(draws), coordinates=coordinates, rng=seed)
        for metric, drawn in zip(METRICS, walked, strict=True):
            independence = _estimate(problem, METRICS[metric], data, "independence")
            yield _walked(data, coordinates, metric, _true(data, table, metric), independence, drawn)


def _walked(
    data: RealData, coordinates: Coordinates, metric: str, true: float, independence: float, drawn: Draws
) -> WalkResult:
    bounds, diagnosis, error = drawn.bounds, drawn.diagnosis, drawn.standard_error
    assert bounds is not None
    assert diagnosis is not None
    return WalkResult(
        data=data.name,
        common=data.common,
        coordinates=coordinates,
        metric=metric,
        free_parameters=drawn.settings["free_parameters"],
        true=true,
        lower=_number(bounds.lower),
        upper=_number(bounds.upper),
        independence=independence,
        mean=drawn.mean,
        standard_error=_number(error),
        sd=drawn.standard_deviation,
        low=drawn.minimum,
        high=drawn.maximum,
        q025=drawn.quantile(0.025),
        q975=drawn.quantile(0.975),
        r_hat=diagnosis.r_hat,
        effective=min(diagnosis.bulk_ess, diagnosis.tail_ess),
        converged=diagnosis.converged,
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _of_one_size(rows: list[SetResult]) -> dict[str, Any]:
    first, widths = rows[0], [found.width for found in rows]
    narrowest = min(rows, key=lambda found: found.width)
    known = [found.group_known for found in rows]
    return {
        "data": first.data,
        "prediction": first.prediction,
        "metric": first.metric,
        "size": len(first.common),
        "sets": len(rows),
        "least_width": min(widths),
        "median_width": float(np.median(widths)),
        "greatest_width": max(widths),
        "least_group_known": min(known),
        "median_group_known": float(np.median(known)),
        "greatest_group_known": max(known),
        "narrowest": _joined(narrowest.common),
        "narrowest_group_known": narrowest.group_known,
        "narrowest_people_in_median_stratum": narrowest.people_in_median_stratum,
    }
