"""Fairness metrics as data: group rates, combined by a difference, a ratio or a comparison of all groups.

A rate is P(A | B, group) with A ⊆ B events in (decision, label). Nothing here computes a bound: the engines read the
events.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, brief, nearest

__all__ = ["CATALOGUE", "RATES", "Form", "Metric", "Rate", "event_indicators", "get"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Event: TypeAlias = frozenset[tuple[int, int]]
Form: TypeAlias = Literal["rate", "difference", "ratio", "impact_ratio", "parity_gap", "parity_ratio"]

_EVERYTHING: Event = frozenset((decision, label) for decision in (0, 1) for label in (0, 1))


def _event(*, decision: int | None = None, label: int | None = None) -> Event:
    return frozenset(
        (d, y) for d, y in _EVERYTHING if (decision is None or d == decision) and (label is None or y == label)
    )


@dataclass(frozen=True)
class Rate:
    """P(counted | among, group), with events as sets of (decision, label) pairs of 0 and 1.

    Attributes
    ----------
    name : str
        Stem of the metric names, e.g. ``true_positive``.
    counted, among : frozenset of (int, int)
        The event counted, within the event it is counted among.
    words : str
        The rate as a sentence fragment.
    """

    name: str
    counted: Event
    among: Event
    words: str

    @property
    def needs_label(self) -> bool:
        """Whether the rate cannot be computed without the true outcome."""
        return any(
            {d for d, y in event if y == 0} != {d for d, y in event if y == 1} for event in (self.counted, self.among)
        )

    @property
    def unconditional(self) -> bool:
        """Whether the rate is counted among the whole group, so that its denominator is the group's mass."""
        return self.among == _EVERYTHING

    def coefficients(self, score: FloatArray, label: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Return P(counted | atom) and P(among | atom) for atoms of given score and label.

        Parameters
        ----------
        score : array, shape (atoms,)
            P(favourable decision); 0 or 1 for hard decisions.
        label : array of 0 and 1, shape (atoms,), or None
            Only rates that need it may not be given None.
        """
        self._check_label(label is not None)
        return _probability(self.counted, score, label), _probability(self.among, score, label)

    def _check_label(self, known: bool) -> None:
        if self.needs_label and not known:
            raise ProblemError(
                f"metric {self.name}_rate and its like need the true outcome; name its column with --label or label="
            )

    def of_events(self, mass: FloatArray) -> FloatArray:
        """Return the rate, NaN for 0/0, from the mass of every event.

        Parameters
        ----------
        mass : array, shape (..., 4) or (..., 2)
            Of decision 0 and 1 with label 0, then with label 1; or of decision 0 and 1 where there is no label.

        Returns
        -------
        array, shape (...)
        """
        return quotients(*self.split(mass))

    def split(self, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mass counted and the mass it is counted among, shapes (...), as `of_events` divides them."""
        self._check_label(mass.shape[-1] == 4)
        return _event_mass(self.counted, mass), _event_mass(self.among, mass)


def event_indicators(score: FloatArray, label: FloatArray | None) -> FloatArray:
    """Return P(event | atom) of atoms of given score and label, shape (atoms, events), for `Rate.of_events`."""
    decided = np.stack([1.0 - score, score], axis=1)
    if label is None:
        return decided
    return np.hstack([decided * (1.0 - label)[:, None], decided * label[:, None]])


def _event_mass(event: Event, mass: FloatArray) -> FloatArray:
    labels = (0, 1) if mass.shape[-1] == 4 else (0,)
    places = [2 * y + d for y in labels for d in (0, 1) if (d, y) in event]
    return np.asarray(mass[..., places].sum(axis=-1))


def _probability(event: Event, score: FloatArray, label: FloatArray | None) -> FloatArray:
    given = [_given_label(frozenset(d for d, y in event if y == value), score) for value in (0, 1)]
    if label is None:
        return given[0]
    return np.where(label == 1, given[1], given[0])


def _given_label(decisions: frozenset[int], score: FloatArray) -> FloatArray:
    """Return P(decision in `decisions`), exactly 1 for both together, which f + (1 − f) need not be when rounded."""
    match sorted(decisions):
        case [0, 1]:
            return np.ones_like(score)
        case [1]:
            return score
        case [0]:
            return 1.0 - score
        case _:
            return np.zeros_like(score)


@dataclass(frozen=True)
class Metric:
    """A rate and how the groups' rates are compared.

    Examples
    --------
    >>> get("disparate_impact").value([0.2, 0.5], group=0, reference=1)
    0.4
    """

    name: str
    rate: Rate
    form: Form

    @property
    def is_ratio(self) -> bool:
        """Whether parity is 1 (ratios) rather than 0 (differences)."""
        return self.form in ("ratio", "impact_ratio", "parity_ratio")

    @property
    def pairwise(self) -> bool:
        """Whether the metric compares a group with the reference."""
        return self.form in ("difference", "ratio")

    @property
    def all_groups(self) -> bool:
        """Whether the metric is one number for all groups."""
        return self.form in ("parity_gap", "parity_ratio")

    def value(
        self, rates: Sequence[float] | FloatArray, group: int | None = None, reference: int | None = None
    ) -> float | None:
        """Return the metric for known rates; ``None`` where it is undefined (0/0), infinite where only x/0.

        Parameters
        ----------
        rates : sequence of float
            One per group; NaN where the group's condition has no mass.
        group, reference : int, optional
            Positions in `rates`, as the form needs them.
        """
        found = float(self.values(np.asarray(rates, dtype=np.float64), group, reference))
        return None if math.isnan(found) else found

    def values(self, rates: FloatArray, group: int | None = None, reference: int | None = None) -> FloatArray:
        """Return the metric for many sets of rates at once, NaN where it is undefined.

        Parameters
        ----------
        rates : array, shape (..., G)
        group, reference : int, optional

        Returns
        -------
        array, shape (...)
        """
        match self.form:
            case "rate":
                return rates[..., _given(group)]
            case "difference":
                return rates[..., _given(group)] - rates[..., _given(reference)]
            case "ratio":
                return quotients(rates[..., _given(group)], rates[..., _given(reference)])
            case "impact_ratio":
                return quotients(rates[..., _given(group)], rates.max(axis=-1))
            case "parity_gap":
                return np.asarray(rates.max(axis=-1) - rates.min(axis=-1))
            case "parity_ratio":
                return quotients(rates.min(axis=-1), rates.max(axis=-1))


def _given(position: int | None) -> int:
    if position is None:
        raise ProblemError("this metric compares two groups; name the reference")
    return position


def quotients(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; x/0 is infinite, and 0/0 is NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.asarray(above) / np.asarray(below))


def quotient(above: float, below: float) -> float | None:
    """Divide; x/0 is infinite, and 0/0 is no number."""
    if math.isnan(above) or math.isnan(below):
        return None
    if below == 0:
        return math.inf if above > 0 else None
    return above / below


_CORRECT: Event = frozenset({(0, 0), (1, 1)})

RATES: dict[str, Rate] = {
    rate.name: rate
    for rate in (
        Rate("selection", _event(decision=1), _EVERYTHING, "share given the favourable decision"),
        Rate(
            "true_positive",
            _event(decision=1, label=1),
            _event(label=1),
            "share given the favourable decision among those with the favourable true outcome",
        ),
        Rate(
            "false_positive",
            _event(decision=1, label=0),
            _event(label=0),
            "share given the favourable decision among those with the unfavourable true outcome",
        ),
        Rate(
            "true_negative",
            _event(decision=0, label=0),
            _event(label=0),
            "share given the unfavourable decision among those with the unfavourable true outcome",
        ),
        Rate(
            "false_negative",
            _event(decision=0, label=1),
            _event(label=1),
            "share given the unfavourable decision among those with the favourable true outcome",
        ),
        Rate(
            "positive_predictive",
            _event(decision=1, label=1),
            _event(decision=1),
            "share with the favourable true outcome among those given the favourable decision",
        ),
        Rate(
            "negative_predictive",
            _event(decision=0, label=0),
            _event(decision=0),
            "share with the unfavourable true outcome among those given the unfavourable decision",
        ),
        Rate("accuracy", _CORRECT, _EVERYTHING, "share whose decision agrees with the true outcome"),
        Rate("base", _event(label=1), _EVERYTHING, "share with the favourable true outcome"),
    )
}


def _catalogue() -> dict[str, Metric]:
    forms: tuple[Form, ...] = ("rate", "difference", "ratio")
    entries = [Metric(f"{stem}_{form}", rate, form) for stem, rate in RATES.items() for form in forms]
    selection = RATES["selection"]
    entries += [
        Metric("demographic_disparity", selection, "difference"),
        Metric("disparate_impact", selection, "ratio"),
        Metric("impact_ratio", selection, "impact_ratio"),
        Metric("parity_gap", selection, "parity_gap"),
        Metric("parity_ratio", selection, "parity_ratio"),
    ]
    return {metric.name: metric for metric in entries}


CATALOGUE: dict[str, Metric] = _catalogue()


def get(metric: str | Metric) -> Metric:
    """Return a metric of the catalogue by name; a `Metric` of your own passes through.

    Examples
    --------
    >>> get("true_positive_difference").rate.words
    'share given the favourable decision among those with the favourable true outcome'
    """
    if isinstance(metric, Metric):
        return metric
    if metric not in CATALOGUE:
        others = [name for name in CATALOGUE if name.rpartition("_")[0] not in RATES or CATALOGUE[name].form == name]
        known = f"{', '.join(map(repr, others))}, and _rate, _difference and _ratio after each of {', '.join(RATES)}"
        raise ProblemError(f"there is no metric {brief(metric)}{nearest(metric, CATALOGUE)}; there are {known}")
    return CATALOGUE[metric]
