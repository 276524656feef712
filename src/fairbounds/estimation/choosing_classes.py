"""How many hidden classes: by Schwarz's criterion, or by the likelihood of people left out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.estimation.latent_data import LatentData, Rows
from fairbounds.kernels.latent_class import Fits, bic, fit, log_likelihood, n_parameters
from fairbounds.progress import report
from fairbounds.results.naming import json_number

__all__ = ["Criterion", "Trial", "choose", "fit_rows", "fitted"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Criterion: TypeAlias = Literal["bic", "held_out"]

_DOING = "Fitting latent classes"
_PATIENCE = 2  # numbers of classes in a row that may be worse than the best before the search ends
_LEFT_OUT = 0.2


@dataclass(frozen=True)
class Trial:
    """One number of classes and how well it did.

    Attributes
    ----------
    classes : int
    log_likelihood : float
        Of the best start.
    bic : float
        Schwarz's criterion; less is better.
    held_out : float or None
        Log-likelihood of the people left out; ``None`` where it was not asked for, −∞ where the model holds one of
        them for impossible.
    """

    classes: int
    log_likelihood: float
    bic: float
    held_out: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return asdict(self) | {"held_out": json_number(self.held_out)}

    @property
    def loss(self) -> float:
        """What is to be made small."""
        return self.bic if self.held_out is None else -self.held_out


def fitted(data: LatentData, classes: int, starts: int, rng: np.random.Generator) -> Fits:
    """Fit one number of classes to all people."""
    return fit_rows(data, data.rows(), classes, starts, rng, partial(report, _DOING))


def choose(
    data: LatentData, starts: int, most: int, criterion: Criterion, rng: np.random.Generator
) -> tuple[tuple[Trial, ...], Fits]:
    """Try 1, 2, … classes until two in a row are no better; return all trials and the best fit."""
    halves = _split(data.rows(), rng) if criterion == "held_out" else None
    trials: list[Trial] = []
    best: tuple[float, Fits] | None = None
    for classes in range(1, most + 1):
        told = partial(_told, classes, most)
        fits = fit_rows(data, data.rows(), classes, starts, rng, told)
        trials.append(_trial(data, fits, halves, starts, rng, told))
        if best is None or trials[-1].loss < best[0]:
            best = trials[-1].loss, fits
        if min(trial.loss for trial in trials[-_PATIENCE:]) > best[0]:
            break
    report(_DOING, 1.0)
    assert best is not None
    return tuple(trials), best[1]


def _told(classes: int, most: int, part: float) -> None:
    """Count every number of classes alike."""
    report(_DOING, (classes - 1 + min(part, 0.99)) / most)


def _trial(
    data: LatentData,
    fits: Fits,
    halves: tuple[tuple[Rows, Rows], tuple[Rows, Rows]] | None,
    starts: int,
    rng: np.random.Generator,
    told: Callable[[float], None],
) -> Trial:
    classes, top = fits.class_weights.shape[1], float(fits.log_likelihood.max())
    loss = bic(top, n_parameters(data.sizes, classes), data.people)
    if halves is None:
        return Trial(classes, top, loss, None)
    kept, left = halves
    others = fit_rows(data, kept, classes, starts, rng, told)
    start = int(np.argmax(others.log_likelihood))
    with np.errstate(divide="ignore"):
        held_out = math.fsum(log_likelihood(others, start, *rows) for rows in left)
    return Trial(classes, top, loss, held_out)


def fit_rows(
    data: LatentData,
    rows: tuple[Rows, Rows],
    classes: int,
    starts: int,
    rng: np.random.Generator,
    told: Callable[[float], None] | None = None,
) -> Fits:
    """Fit to the rows of both tables given."""
    inside, outside = rows
    return fit(
        inside.codes,
        inside.counts,
        outside.codes,
        outside.counts,
        data.sizes,
        inside.columns,
        outside.columns,
        classes,
        rng,
        starts,
        told=told,
    )


def _split(rows: tuple[Rows, Rows], rng: np.random.Generator) -> tuple[tuple[Rows, Rows], tuple[Rows, Rows]]:
    """Leave out a fifth of the people of both tables."""
    parts = [_split_one(table, rng) for table in rows]
    return (parts[0][0], parts[1][0]), (parts[0][1], parts[1][1])


def _split_one(rows: Rows, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Draw people where counts are whole numbers; otherwise whole cells go to one side or the other."""
    if np.all(rows.counts == np.round(rows.counts)):
        whole = rows.counts.astype(np.int64)
        taken = rng.multivariate_hypergeometric(whole, round(_LEFT_OUT * int(whole.sum())), method="marginals")
    else:
        taken = np.where(rng.random(len(rows.counts)) < _LEFT_OUT, rows.counts, 0.0)
    left_out = taken.astype(np.float64)
    return rows._replace(counts=rows.counts - left_out), rows._replace(counts=left_out)
