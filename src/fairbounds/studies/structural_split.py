"""One split of the structural experiment: people dealt to three parts, a tree, and DI of every estimated joint.

No person is drawn one by one. The share of the people in each group and leaf follows from an estimated joint without
error (`fairbounds.studies.trees`), and a sample of people is one multinomial over these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.estimation import estimate
from fairbounds.joints import ClassJoint
from fairbounds.kernels.latent_class import bic, n_parameters
from fairbounds.kernels.resampling import resampled_events
from fairbounds.problem import Problem
from fairbounds.seeds import settled_seed, stream
from fairbounds.studies.real_data import RealData
from fairbounds.studies.real_feasible import Prediction, predicted
from fairbounds.studies.trees import Tree, grow
from fairbounds.tables import Table

__all__ = ["LatentFit", "Method", "Parts", "Sampled", "Split", "dealt"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Method: TypeAlias = Literal["latent", "marginal", "floor"]

_TEST_SHARE = 0.3


class Parts(NamedTuple):
    """Parts of a data set that share nobody."""

    test: Table
    classifier: Table
    estimation: Table


class LatentFit(NamedTuple):
    """A latent class model of both tables, and whether it has the least BIC of those tried."""

    classes: int
    chosen: bool
    joint: ClassJoint


class Sampled(NamedTuple):
    """DI in samples of people from one estimated joint, shape (draws,); not finite where the reference has nothing."""

    method: Method
    classes: int | None
    chosen: bool
    values: FloatArray


def dealt(table: Table, rng: np.random.Generator) -> Parts:
    """Deal people to the parts: 30 % are the test part, and the rest is halved.

    Parameters
    ----------
    table : Table
        Weights count people.
    rng : numpy.random.Generator

    Examples
    --------
    >>> from fairbounds.studies.real_data import real_data
    >>> parts = dealt(real_data("german").table, np.random.default_rng(0))
    >>> [part.total for part in parts]
    [300.0, 350.0, 350.0]
    """
    people = table.weights.astype(np.int64)
    test = rng.multivariate_hypergeometric(people, round(_TEST_SHARE * int(people.sum())), method="marginals")
    rest = people - test
    half = rng.multivariate_hypergeometric(rest, int(rest.sum()) // 2, method="marginals")
    counts = (test, half, rest - half)
    return Parts(*(Table.from_codes(table.variables, table.codes, part.astype(np.float64)) for part in counts))


@dataclass(frozen=True, eq=False)
class Split:
    """A data set dealt once.

    Attributes
    ----------
    data : RealData
    parts : Parts
    seed : int
    purpose : str
        What the seed is for; no other split shares it.

    Examples
    --------
    >>> from fairbounds.studies.real_data import real_data
    >>> german = real_data("german")
    >>> split = Split(german, dealt(german.table, np.random.default_rng(0)), 0, "example")
    >>> tree, fits = split.tree(depth=3), split.latent([2], starts=8)
    >>> [(found.method, len(found.values)) for found in split.samples(tree, "scores", fits, bootstraps=50)]
    [('latent', 50), ('marginal', 50), ('floor', 50)]
    """

    data: RealData
    parts: Parts
    seed: int
    purpose: str

    def tree(self, depth: int | None) -> Tree:
        """Grow the classifier."""
        data, seed = self.data, int(self._stream("tree").integers(2**32))
        return grow(self.parts.classifier, data.internal, data.label, data.favourable, depth=depth, seed=seed)

    def latent(self, classes: Sequence[int], starts: int) -> tuple[LatentFit, ...]:
        """Fit the latent class model with each number of classes."""
        fits = [(k, *self._fitted(k, starts)) for k in classes]
        least = min(loss for _, loss, _ in fits)
        return tuple(LatentFit(k, loss == least, joint) for k, loss, joint in fits)

    def true(self, tree: Tree, prediction: Prediction) -> float:
        """Return DI of the test part."""
        events = _events(tree, prediction)
        return float(self._ratio((self._held(self.parts.test, tree) @ events)[None])[0])

    def samples(
        self, tree: Tree, prediction: Prediction, fits: Sequence[LatentFit], bootstraps: int
    ) -> Iterator[Sampled]:
        """Draw samples of people, as many in each as the test part has, from every estimated joint."""
        for fit in fits:
            mass = self._of_classes(fit.joint, tree)
            yield Sampled("latent", fit.classes, fit.chosen, self._resampled(mass, tree, prediction, bootstraps))
        yield Sampled("marginal", None, True, self._marginal(tree, prediction, bootstraps))
        mass = self._held(self.parts.estimation, tree)
        yield Sampled("floor", None, True, self._resampled(mass, tree, prediction, bootstraps))

    def _stream(self, what: str) -> np.random.Generator:
        return stream(self.seed, f"{self.purpose}, {what}")

    @property
    def _people(self) -> int:
        return round(self.parts.test.total)

    def _problem(self, outcome: FloatArray) -> Problem:
        """Make both tables of the estimation part, with an outcome in each of its cells."""
        data, part = self.data, self.parts.estimation
        return Problem.from_tables(
            part.with_variable("prediction", outcome).marginal([*data.internal, "prediction"]),
            part.marginal(data.external),
            protected=data.protected,
            score="prediction",
            common=[data.common],
            reference=data.reference,
        )

    def _fitted(self, classes: int, starts: int) -> tuple[float, ClassJoint]:
        """Return BIC and the joint. A score plays no part in the model, so any will do."""
        problem = self._problem(np.zeros(self.parts.estimation.n_cells))
        seed = settled_seed(self._stream(f"{classes} classes"))
        fit = estimate(
            problem, "demographic_disparity", method="latent_class", rng=seed, classes=classes, starts=starts
        )
        assert isinstance(fit.joint, ClassJoint)
        parameters = n_parameters(np.array([len(variable) for variable in fit.joint.variables]), classes)
        people = problem.internal.total + problem.external.total
        return bic(fit.details["log_likelihood"], parameters, people), fit.joint

    def _of_classes(self, joint: ClassJoint, tree: Tree) -> FloatArray:
        """Return the share of the people in each group and leaf, shape (G, L)."""
        names = [variable.name for variable in joint.variables]
        groups = joint.tables[names.index(self.data.protected)]
        return np.asarray((joint.class_weights[:, None] * groups).T @ tree.leaf_chances(joint))

    def _held(self, part: Table, tree: Tree) -> FloatArray:
        """Return the same of the people of a part."""
        held = np.zeros((len(part[self.data.protected]), len(tree.score)))
        np.add.at(held, (part.column(self.data.protected), tree.leaf(part)), part.weights / part.total)
        return held

    def _marginal(self, tree: Tree, prediction: Prediction, bootstraps: int) -> FloatArray:
        outcome = predicted(tree.score, prediction)[tree.leaf(self.parts.estimation)]
        found = estimate(self._problem(outcome), "disparate_impact", group=self.data.group)
        seed = settled_seed(self._stream("marginal preservation"))
        return np.asarray(found.resample(self._people, bootstraps, seed).values[0])

    def _resampled(self, mass: FloatArray, tree: Tree, prediction: Prediction, bootstraps: int) -> FloatArray:
        events = _events(tree, prediction)
        return self._ratio(resampled_events(mass, events, self._people, bootstraps, self._stream("samples")))

    def _ratio(self, events: FloatArray) -> FloatArray:
        """Return DI from masses of unfavourable and favourable decisions, shape (draws, G, 2)."""
        protected = self.parts.test[self.data.protected]
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = events[..., 1] / events.sum(axis=2)
            ratio = rates[:, protected.code(self.data.group)] / rates[:, protected.code(self.data.reference)]
        return np.asarray(ratio)


def _events(tree: Tree, prediction: Prediction) -> FloatArray:
    """Return the chances of an unfavourable and a favourable decision in each leaf, shape (L, 2)."""
    favourable = predicted(tree.score, prediction)
    return np.column_stack([1 - favourable, favourable])
