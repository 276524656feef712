"""The paper's three experiments on real data: what the metric can be, and is likely to be, over the feasible set.

Two internal variables of two levels, a decision tree on both, and one protected attribute of two levels; the tree's
probabilities are scores, or decisions where they reach ½. The audited population is the external one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.bounding import bound
from fairbounds.datasets import PaperView, paper_view
from fairbounds.errors import ProblemError
from fairbounds.estimation import estimate
from fairbounds.kernels.grid import Limits
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.results import Estimate
from fairbounds.sampling import sample
from fairbounds.seeds import stream
from fairbounds.studies.columns import Columns, columns_of_records
from fairbounds.studies.published import EXPECTED, Expected
from fairbounds.studies.real_data import DATA
from fairbounds.tables import Table

__all__ = [
    "METRICS",
    "PREDICTIONS",
    "FeasibleAnswer",
    "GridDistribution",
    "LatentAnswer",
    "Prediction",
    "RealFeasibleStudy",
    "feasible_real",
    "predicted",
    "rates",
    "true_value",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Prediction: TypeAlias = Literal["scores", "decisions"]

METRICS = {"DI": "disparate_impact", "DD": "demographic_disparity"}
PREDICTIONS: tuple[Prediction, ...] = get_args(Prediction)

_CLASSES: tuple[Literal["auto"] | int, ...] = ("auto", 2, 3, 4)
_DIGITS = 6


@dataclass(frozen=True)
class FeasibleAnswer:
    """One metric of one data set: the truth, and what the two tables say of it.

    Attributes
    ----------
    data, prediction, metric, group, reference : str
    true : float
    lower, upper : float
        Sharp bounds.
    mean : float
        Over the feasible set, every joint equally likely, by formula.
    independence : float
        Estimate under independence given the common variable.
    latent : float
        Estimate of the latent class model with `latent_classes` classes, chosen by Schwarz's criterion.
    latent_classes : int
    latent_low, latent_high : float
        Over the starts that are equally likely.
    latent_identified : bool
        Whether these agree.
    """

    data: str
    prediction: Prediction
    metric: str
    group: str
    reference: str
    true: float
    lower: float
    upper: float
    mean: float
    independence: float
    latent: float
    latent_classes: int
    latent_low: float
    latent_high: float
    latent_identified: bool


@dataclass(frozen=True)
class LatentAnswer:
    """One metric under the latent class model, by number of classes.

    Attributes
    ----------
    data, prediction, metric : str
    asked : str
        The number of classes asked for, or ``auto``.
    classes : int
    value, low, high : float
        At the best start, and over those that are equally likely.
    starts, equally_likely : int
    identified : bool
    log_likelihood : float
    misfit_internal, misfit_external : float
        Total variation between a table and what the model makes of it.
    """

    data: str
    prediction: Prediction
    metric: str
    asked: str
    classes: int
    value: float
    low: float
    high: float
    starts: int
    equally_likely: int
    identified: bool
    log_likelihood: float
    misfit_internal: float
    misfit_external: float


@dataclass(frozen=True, eq=False)
class GridDistribution:
    """A metric on the feasible joints of a grid.

    Attributes
    ----------
    data, prediction, metric : str
    limits : {"paper", "tight"}
        As in `fairbounds.sampling.sample`.
    joints, feasible : int
        Before and after joints with a negative entry are left out.
    infinite : int
        Joints in which the reference has nothing, so that the ratio is infinite; so is the mean then.
    mean, sd, low, high : float
    values : array, shape (feasible,)
    """

    data: str
    prediction: Prediction
    metric: str
    limits: Limits
    joints: int
    feasible: int
    infinite: int
    mean: float
    sd: float
    low: float
    high: float
    values: FloatArray

    def histogram(self, bins: int = 40) -> tuple[list[int], list[float]]:
        """Return how many joints of finite value lie in each of some equal intervals, and the edges of these."""
        counts, edges = np.histogram(self.values[np.isfinite(self.values)], bins)
        return counts.tolist(), edges.tolist()


@dataclass(frozen=True, eq=False)
class RealFeasibleStudy:
    """Answers by data set, prediction and metric, in this order.

    Attributes
    ----------
    seed, points, starts : int
    answers : tuple of FeasibleAnswer
    grids : tuple of GridDistribution
    latent : tuple of LatentAnswer
    """

    seed: int
    points: int
    starts: int
    answers: tuple[FeasibleAnswer, ...]
    grids: tuple[GridDistribution, ...]
    latent: tuple[LatentAnswer, ...]

    def answer(self, data: str, metric: str = "DI", prediction: Prediction = "scores") -> FeasibleAnswer:
        """Return one answer."""
        for found in self.answers:
            if (found.data, found.metric, found.prediction) == (data, metric, prediction):
                return found
        raise ProblemError(f"no answer for {data!r}, {metric!r} and {prediction!r}")

    def grid(
        self, data: str, metric: str = "DI", prediction: Prediction = "scores", limits: Limits = "tight"
    ) -> GridDistribution:
        """Return one grid."""
        for found in self.grids:
            if (found.data, found.metric, found.prediction, found.limits) == (data, metric, prediction, limits):
                return found
        raise ProblemError(f"no grid for {data!r}, {metric!r}, {prediction!r} and {limits!r}")

    def to_columns(self) -> Columns:
        """Return one row per answer."""
        return columns_of_records(asdict(answer) for answer in self.answers)

    def latent_columns(self) -> Columns:
        """Return one row per answer and number of classes."""
        return columns_of_records(asdict(answer) for answer in self.latent)

    def grid_columns(self) -> Columns:
        """Return one row per grid."""
        return columns_of_records(_without_values(grid) for grid in self.grids)

    def histogram_columns(self, bins: int = 40) -> Columns:
        """Return one row per grid and interval."""
        return columns_of_records(row for grid in self.grids for row in _intervals(grid, bins))

    def beside_expected(self) -> Columns:
        """Return figures worked out independently beside ours, which `agrees` compares to six decimals."""
        known = {answer.data for answer in self.answers}
        return columns_of_records(self._beside(expected) for expected in EXPECTED if expected.data in known)

    def _beside(self, expected: Expected) -> dict[str, Any]:
        own = getattr(self.answer(expected.data, expected.metric), expected.figure)
        names = {"data": expected.data, "metric": expected.metric, "figure": expected.figure}
        return names | {"expected": expected.value, "own": own, "agrees": round(own, _DIGITS) == expected.value}


def feasible_real(seed: int = 0, points: int = 100, starts: int = 16, names: Sequence[str] = DATA) -> RealFeasibleStudy:
    """Run the three experiments.

    Parameters
    ----------
    seed : int
        Of the latent class model's starts; nothing else is random.
    points : int
        Values of each of the two free parameters of a grid.
    starts : int
        Of the latent class model.
    names : sequence of str

    Examples
    --------
    >>> study = feasible_real(points=10, starts=8, names=["adult"])
    >>> answer = study.answer("adult")
    >>> round(answer.lower, 3), round(answer.true, 3), round(answer.mean, 3), round(answer.upper, 3)
    (0.35, 0.419, 0.537, 0.747)
    """
    answers: list[FeasibleAnswer] = []
    grids: list[GridDistribution] = []
    latent: list[LatentAnswer] = []
    for k, (name, prediction) in enumerate((name, prediction) for name in names for prediction in PREDICTIONS):
        report("real data", k / (len(names) * len(PREDICTIONS)))
        view, table = _predicted_view(name, prediction)
        problem = _problem(view, table)
        for metric in METRICS:
            fits = list(_latent(name, prediction, metric, problem, view, starts, seed))
            latent.extend(fits)
            answers.append(_answer(prediction, metric, problem, view, table, fits[0]))
            grids.extend(_grids(name, prediction, metric, problem, view, points))
    report("real data", 1.0)
    return RealFeasibleStudy(seed, points, starts, tuple(answers), tuple(grids), tuple(latent))


def predicted(score: FloatArray, prediction: Prediction) -> FloatArray:
    """Return the scores, or 1 where a score is at least ½ and 0 elsewhere."""
    return score if prediction == "scores" else np.asarray(score >= 0.5, dtype=np.float64)


def rates(table: Table, outcome: FloatArray, protected: str) -> dict[Any, float]:
    """Return the mean outcome of each group, given the outcome of each cell."""
    groups, size = table.column(protected), len(table[protected])
    mass, favourable = (np.bincount(groups, weights, size) for weights in (table.weights, table.weights * outcome))
    return {level: float(favourable[k] / mass[k]) for k, level in enumerate(table[protected].levels) if mass[k] > 0}


def true_value(metric: str, rate: dict[Any, float], group: Any, reference: Any) -> float:
    """Return DI or DD of two groups, from their rates."""
    return rate[group] / rate[reference] if metric == "DI" else rate[group] - rate[reference]


def _predicted_view(name: str, prediction: Prediction) -> tuple[PaperView, Table]:
    """Return an experiment and its table with the variable ``prediction``."""
    view = paper_view(name)
    table = view.scored()
    score = np.array(table["score"].levels, dtype=np.float64)[table.column("score")]
    kept = table.marginal([name for name in table.names if name != "score"])
    return view, kept.with_variable("prediction", predicted(score, prediction))


def _problem(view: PaperView, table: Table) -> Problem:
    return Problem.from_tables(
        table.marginal([view.internal, view.common, "prediction"]),
        table.marginal([view.common, view.protected]),
        protected=view.protected,
        score="prediction",
        reference=view.reference,
    )


def _answer(
    prediction: Prediction, metric: str, problem: Problem, view: PaperView, table: Table, fit: LatentAnswer
) -> FeasibleAnswer:
    name = METRICS[metric]
    outcome = np.array(table["prediction"].levels, dtype=np.float64)[table.column("prediction")]
    ends = bound(problem, name, group=view.group)
    mean, independence = (
        _number(estimate(problem, name, method=method, group=view.group))
        for method in ("feasible_mean", "independence")
    )
    assert ends.lower is not None
    assert ends.upper is not None
    return FeasibleAnswer(
        data=fit.data,
        prediction=prediction,
        metric=metric,
        group=str(view.group),
        reference=str(view.reference),
        true=true_value(metric, rates(table, outcome, view.protected), view.group, view.reference),
        lower=ends.lower,
        upper=ends.upper,
        mean=mean,
        independence=independence,
        latent=fit.value,
        latent_classes=fit.classes,
        latent_low=fit.low,
        latent_high=fit.high,
        latent_identified=fit.identified,
    )


def _latent(
    data: str, prediction: Prediction, metric: str, problem: Problem, view: PaperView, starts: int, seed: int
) -> Iterator[LatentAnswer]:
    for asked in _CLASSES:
        found = estimate(
            problem,
            METRICS[metric],
            method="latent_class",
            group=view.group,
            rng=stream(seed, f"{data}, {asked} classes"),
            classes=asked,
            starts=starts,
        )
        low, high = found.details["spread"] or (np.nan, np.nan)
        yield LatentAnswer(
            data=data,
            prediction=prediction,
            metric=metric,
            asked=str(asked),
            classes=found.details["classes"],
            value=_number(found),
            low=low,
            high=high,
            starts=starts,
            equally_likely=found.details["starts_equally_likely"],
            identified=found.details["identified"],
            log_likelihood=found.details["log_likelihood"],
            misfit_internal=found.details["misfit"]["internal"],
            misfit_external=found.details["misfit"]["external"],
        )


def _number(found: Estimate) -> float:
    return np.nan if found.value is None else found.value


def _grids(
    data: str, prediction: Prediction, metric: str, problem: Problem, view: PaperView, points: int
) -> Iterator[GridDistribution]:
    for limits in get_args(Limits):
        drawn = sample(problem, METRICS[metric], method="grid", group=view.group, points=points, limits=limits)
        values = drawn.values[0]
        figures = drawn.mean, drawn.standard_deviation, drawn.minimum, drawn.maximum
        counts = drawn.settings["joints"], drawn.settings["feasible"], int(np.isinf(values).sum())
        yield GridDistribution(data, prediction, metric, limits, *counts, *figures, values)


def _without_values(grid: GridDistribution) -> dict[str, Any]:
    record = asdict(grid)
    del record["values"]
    return record


def _intervals(grid: GridDistribution, bins: int) -> Iterator[dict[str, Any]]:
    counts, edges = grid.histogram(bins)
    names = {name: getattr(grid, name) for name in ("data", "prediction", "metric", "limits")}
    for count, left, right in zip(counts, edges[:-1], edges[1:], strict=True):
        yield names | {"left": left, "right": right, "count": count}
