"""Latent class model of both tables (naive Bayes with a hidden class), and how far its answer is determined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.bounding import answer
from fairbounds.errors import ProblemError, whole_number
from fairbounds.estimation.choosing_classes import Criterion, Trial, choose, fitted
from fairbounds.estimation.group_events import GroupEvents
from fairbounds.estimation.latent_data import LatentData, Rows
from fairbounds.joints import ClassJoint
from fairbounds.kernels.latent_class import Fits, cell_probability
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Estimate
from fairbounds.seeds import stream

__all__ = ["LatentClass", "by_latent_class", "event_mass"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# A metric that moves by more than this between equally likely fits cannot be called known to one decimal.
_WIDE = 0.05


@dataclass(frozen=True)
class LatentClass:
    """How the model is fitted.

    Attributes
    ----------
    classes : "auto" or int
        Number of hidden classes; ``auto`` lets `criterion` choose.
    starts : int
        Random starts of EM; many optima of nearly equal likelihood are the rule.
    criterion : {"bic", "held_out"}
        Schwarz's criterion, or the likelihood of a fifth of the people left out of the fit.
    most_classes : int
        Greatest number of classes that ``auto`` tries.
    likelihood_tolerance : float
        Starts whose log-likelihood is at most this far below the best, in nats, count as equally likely.
    """

    classes: Literal["auto"] | int = "auto"
    starts: int = 16
    criterion: Criterion = "bic"
    most_classes: int = 12
    likelihood_tolerance: float = 2.0

    def __post_init__(self) -> None:
        if isinstance(self.classes, str) and self.classes != "auto":
            raise ProblemError(f"classes is 'auto' or a whole number of at least 1, not {self.classes!r}")
        for name in ("classes", "starts", "most_classes"):
            if getattr(self, name) != "auto":
                whole_number(name, getattr(self, name))
        if self.criterion not in get_args(Criterion):
            raise ProblemError(f"classes are chosen by 'bic' or 'held_out', not {self.criterion!r}")
        if not self.likelihood_tolerance >= 0:
            raise ProblemError(f"likelihood_tolerance is a number of at least 0, not {self.likelihood_tolerance}")


def by_latent_class(
    problem: Problem, questions: Sequence[Question], options: LatentClass, seed: int
) -> tuple[Estimate, ...]:
    """Fit the model to both tables and read each metric off it.

    The model need not reproduce either table, and the metric is that of the model: not of a population that keeps one
    of the tables.
    """
    data, rng = LatentData(problem), stream(seed, "latent class")
    if options.classes == "auto":
        trials, fits = choose(data, options.starts, options.most_classes, options.criterion, rng)
    else:
        trials, fits = (), fitted(data, int(options.classes), options.starts, rng)
    best = int(np.argmax(fits.log_likelihood))
    shared = _shared_details(data, fits, best, options, trials) | {"seed": seed}
    likely = fits.log_likelihood >= fits.log_likelihood[best] - options.likelihood_tolerance
    doubts = _doubts(fits, options, trials)
    mass = event_mass(data, fits)
    found = GroupEvents(mass[best], lambda: (mass[best], np.eye(mass.shape[2])))
    joint = ClassJoint(data.variables, fits.class_weights[best], _by_variable(fits, best))
    doubts.append(_misfit_in_words(shared["misfit"]))
    estimates = (_estimate(question, found, mass[likely], shared, joint, doubts) for question in questions)
    return tuple(_placed(problem, *each) for each in zip(questions, estimates, strict=True))


def _placed(problem: Problem, question: Question, found: Estimate) -> Estimate:
    """Say so where no population that fits both tables has the value."""
    bounds = answer(problem, question)
    if found.value is None or bounds.lower is None or bounds.contains(found.value):
        return found
    return replace(found, note=f"Outside the bounds, because the model does not fit both tables. {found.note}")


def _misfit_in_words(misfit: dict[str, float]) -> str:
    parts = " and ".join(f"{100 * part:.2g} % of the {role} table" for role, part in misfit.items())
    return f"The model misplaces {parts} (total variation)."


def _estimate(
    question: Question,
    found: GroupEvents,
    likely: FloatArray,
    shared: dict[str, Any],
    joint: ClassJoint,
    doubts: Sequence[str],
) -> Estimate:
    values = question.answers(question.metric.rate.of_events(likely))
    values = values[np.isfinite(values)]
    spread = [float(values.min()), float(values.max())] if values.size else None
    identified = spread is not None and spread[1] - spread[0] <= _WIDE and len(likely) > 1
    unsure = [] if identified else [_not_identified(spread, len(likely), shared["starts"])]
    return Estimate(
        "latent_class",
        found.value(question),
        margin_preserving=False,
        note=" ".join([*unsure, *doubts]),
        details=shared | {"spread": spread, "identified": identified},
        joint=joint,
        resampler=found.resampler(question, "latent_class"),
    )


def _not_identified(spread: list[float] | None, likely: int, starts: int) -> str:
    if spread is None:
        return "Not identified: the metric has no finite value at the fits that are equally likely."
    if likely == 1:
        return f"Not shown to be identified: only 1 of {starts} starts found this fit; ask for more starts."
    low, high = (f"{end:.3g}".replace("-", "−") for end in spread)
    return f"Not identified: {likely} equally likely fits give values from {low} to {high}."


def _doubts(fits: Fits, options: LatentClass, trials: Sequence[Trial]) -> list[str]:
    """Return what is to be known of the fit, whatever the metric."""
    classes = fits.class_weights.shape[1]
    said = []
    if classes == 1:
        said.append("There is one class only, so no variable depends on another and all groups fare alike.")
    if trials and classes == options.most_classes > 1:
        said.append(f"The criterion still improved at {classes} classes, the most that were tried.")
    if not fits.converged[int(np.argmax(fits.log_likelihood))]:
        said.append("EM had not converged when it was stopped.")
    return said


def event_mass(data: LatentData, fits: Fits) -> FloatArray:
    """Return p(group, event) of every start, shape (S, G, E)."""
    return np.asarray(np.einsum("sk,skg,ske->sge", fits.class_weights, data.groups(fits), data.events(fits)))


def _by_variable(fits: Fits, start: int) -> tuple[FloatArray, ...]:
    return tuple(np.split(fits.tables[start], fits.offsets[1:-1], axis=1))


def _shared_details(
    data: LatentData, fits: Fits, best: int, options: LatentClass, trials: Sequence[Trial]
) -> dict[str, Any]:
    gap = fits.log_likelihood[best] - fits.log_likelihood
    inside, outside = data.margins()
    return {
        "classes": int(fits.class_weights.shape[1]),
        "tried": [trial.to_dict() for trial in trials],
        "criterion": options.criterion if trials else None,
        "starts": options.starts,
        "starts_converged": int(fits.converged.sum()),
        "starts_equally_likely": int((gap <= options.likelihood_tolerance).sum()),
        "likelihood_tolerance": options.likelihood_tolerance,
        "log_likelihood": float(fits.log_likelihood[best]),
        "misfit": {"internal": _misfit(fits, best, inside), "external": _misfit(fits, best, outside)},
    }


def _misfit(fits: Fits, start: int, rows: Rows) -> float:
    """Return the total variation between a table and what the model makes of it, in [0, 1]."""
    model = cell_probability(fits, start, rows.codes, rows.columns)
    table = rows.counts / rows.counts.sum()
    elsewhere = max(0.0, 1.0 - float(model.sum()))  # where the table has nobody
    return float((np.abs(model - table).sum() + elsewhere) / 2)
