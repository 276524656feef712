"""Point estimates of a metric, each under a named assumption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

from fairbounds.errors import ProblemError, nearest
from fairbounds.estimation.covariance import by_regression, by_weighting
from fairbounds.estimation.feasible_mean import FeasibleMean, by_feasible_mean
from fairbounds.estimation.independence import by_independence
from fairbounds.estimation.latent_class import LatentClass, by_latent_class
from fairbounds.levels import Level
from fairbounds.metrics import Metric
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Estimate
from fairbounds.seeds import Rng, settled_seed

__all__ = ["FeasibleMean", "LatentClass", "Method", "estimate", "estimate_all", "needs_features"]

Method: TypeAlias = Literal["independence", "latent_class", "feasible_mean", "weighted", "regression"]
Engine: TypeAlias = Callable[..., tuple[Estimate, ...]]

# How each method answers, and the record of its options, if it has any.
_ENGINES: dict[str, tuple[Engine, type | None]] = {
    "independence": (by_independence, None),
    "latent_class": (by_latent_class, LatentClass),
    "feasible_mean": (by_feasible_mean, FeasibleMean),
    "weighted": (by_weighting, None),
    "regression": (by_regression, None),
}


def estimate(
    problem: Problem,
    metric: str | Metric | None = None,
    *,
    method: Method = "independence",
    group: Level = None,
    reference: Level = None,
    rng: Rng = None,
    **options: Any,
) -> Estimate:
    """Estimate a metric under an assumption.

    Parameters
    ----------
    problem : Problem
    metric : str or Metric, optional
        By default ``disparate_impact``; ``parity_ratio`` where there are more than two groups and none is named.
    method : {"independence", "latent_class", "feasible_mean", "weighted", "regression"}
        ``independence``: inside a stratum the outcome does not depend on the group ("marginal preservation").
        ``latent_class``: all variables are independent given a hidden class; see `LatentClass` for its options.
        ``feasible_mean``: every joint that fits both tables is equally likely; see `FeasibleMean`.
        ``weighted`` and ``regression``: the two estimators of Elzayn et al. (2023), which bracket the truth under a
        sign assumption that their notes state.
    group, reference : optional
        As for `bound`.
    rng : int or numpy.random.Generator, optional
        Seed of the methods that are random; 0 by default.
    **options
        Fields of the method's record of options, e.g. ``classes=3``.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from fairbounds import Problem, Table
    >>> internal = Table.from_columns({"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 1]})
    >>> external = Table.from_columns({"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "F"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok")
    >>> estimate(problem, "disparate_impact", group="M", reference="F").value
    0.6
    """
    question = Question.settle(problem, metric, group, reference)
    return estimate_all(problem, [question], method=method, rng=rng, **options)[0]


def estimate_all(
    problem: Problem, questions: Sequence[Question], *, method: Method, rng: Rng = None, **options: Any
) -> tuple[Estimate, ...]:
    """Estimate several metrics from one fit or one set of draws."""
    if method not in get_args(Method):
        raise ProblemError(
            f"there is no estimate {method!r}{nearest(method, get_args(Method))}; "
            f"the methods are {', '.join(get_args(Method))}"
        )
    engine, record = _ENGINES[method]
    if record is None:
        if options:
            raise ProblemError(f"the estimate {method!r} has no options, but was given {', '.join(options)}")
        return engine(problem, questions)
    unknown = [name for name in options if name not in record.__annotations__]
    if unknown:
        raise ProblemError(
            f"the estimate {method!r} has no option {unknown[0]!r}{nearest(unknown[0], record.__annotations__)}; "
            f"it has {', '.join(record.__annotations__)}"
        )
    return engine(problem, questions, record(**options), settled_seed(rng))


def needs_features(method: str) -> bool:
    """Whether a method looks at more of the tables than the common variables, the outcome and the groups."""
    return method in ("latent_class", "feasible_mean")
