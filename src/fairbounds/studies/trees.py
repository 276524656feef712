"""Decision trees on tables: grown by scikit-learn, then read as boxes of levels.

A leaf is reached by some levels of each variable, so what a joint in which the variables are independent given a class
puts into it is a product, and no person need be drawn to know it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import MissingDependencyError
from fairbounds.joints import ClassJoint
from fairbounds.levels import Level
from fairbounds.tables import Table, Variable

__all__ = ["Tree", "grow"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted classifier of levels.

    Attributes
    ----------
    variables : tuple of Variable
        The features.
    score : array, shape (L,)
        P(favourable label) in each leaf.
    boxes : tuple of array of bool, each of shape (L, levels)
        Levels of each variable that lead to the leaf.
    model : sklearn.tree.DecisionTreeClassifier
    """

    variables: tuple[Variable, ...]
    score: FloatArray
    boxes: tuple[BoolArray, ...]
    model: Any

    @property
    def decision(self) -> FloatArray:
        """1 in leaves whose score is at least ½, otherwise 0."""
        return np.asarray(self.score >= 0.5, dtype=np.float64)

    def leaf(self, table: Table) -> IntArray:
        """Return the leaf of each cell of a table that has the features."""
        names = [variable.name for variable in self.variables]
        rows, position = table.grouped(names)
        nodes = self.model.apply(_numbers(self.variables, rows))
        leaves = np.flatnonzero(self.model.tree_.children_left < 0)
        return np.asarray(np.searchsorted(leaves, nodes), dtype=np.int64)[position]

    def leaf_chances(self, joint: ClassJoint) -> FloatArray:
        """Return P(leaf | class), shape (K, L)."""
        at = {variable.name: k for k, variable in enumerate(joint.variables)}
        chances = np.ones((len(joint.class_weights), len(self.score)))
        for variable, box in zip(self.variables, self.boxes, strict=True):
            chances *= joint.tables[at[variable.name]] @ box.T
        return chances


def grow(
    table: Table,
    features: Sequence[str],
    label: str,
    favourable: Level,
    *,
    depth: int | None = None,
    smallest_leaf: float = 0.0,
    seed: int = 0,
) -> Tree:
    """Fit a decision tree to a table of counts.

    Parameters
    ----------
    table : Table
    features : sequence of str
        A feature whose levels are all numbers is split at thresholds, any other by one level against the rest.
    label : str
    favourable : Level
        Level of the label whose probability is the score.
    depth : int, optional
        By default leaves are split until they are pure or alike.
    smallest_leaf : float
        Least share of the people in a leaf.
    seed : int
        Decides between splits that are equally good.

    Examples
    --------
    >>> from fairbounds.studies.real_data import real_data
    >>> german = real_data("german")
    >>> tree = grow(german.table, ["housing", "job"], german.label, "good", depth=1)
    >>> tree.score.round(3).tolist(), tree.boxes[0].tolist()
    ([0.603, 0.739], [[False, True, True], [True, False, False]])
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingDependencyError.extra("scikit-learn", "studies", "A decision tree") from None
    counts = table.marginal([*features, label])
    variables = counts.variables[:-1]
    model = DecisionTreeClassifier(max_depth=depth, min_weight_fraction_leaf=smallest_leaf, random_state=seed)
    target = counts.column(label) == counts[label].code(favourable)
    model.fit(_numbers(variables, counts.codes[:, :-1]), target, sample_weight=counts.weights)
    leaves = model.tree_.children_left < 0
    chances = model.tree_.value[leaves, 0, :]
    # Where all people have one label, the tree knows no other; scikit-learn before 1.3 kept counts, not shares.
    score = (chances * model.classes_).sum(axis=1) / chances.sum(axis=1)
    boxes = _boxes(model.tree_, variables)
    return Tree(variables, score, tuple(box[leaves] for box in boxes), model)


def _coding(variable: Variable) -> FloatArray:
    """Return the numbers that stand for each level, shape (levels, columns)."""
    if all(isinstance(level, int | float) and not isinstance(level, bool) for level in variable.levels):
        return np.array(variable.levels, dtype=np.float64)[:, None]
    return np.eye(len(variable))


def _numbers(variables: Sequence[Variable], codes: IntArray) -> FloatArray:
    return np.hstack([_coding(variable)[column] for variable, column in zip(variables, codes.T, strict=True)])


def _boxes(tree: Any, variables: Sequence[Variable]) -> list[BoolArray]:
    """Return the levels of each variable that lead to each node; children come after their parents."""
    codings = [_coding(variable) for variable in variables]
    owner = [(v, column) for v, coding in enumerate(codings) for column in range(coding.shape[1])]
    boxes = [np.ones((tree.node_count, len(variable)), dtype=np.bool_) for variable in variables]
    for node in np.flatnonzero(tree.children_left >= 0).tolist():
        v, column = owner[tree.feature[node]]
        left, right = tree.children_left[node], tree.children_right[node]
        for box in boxes:
            box[[left, right]] = box[node]
        small = codings[v][:, column] <= tree.threshold[node]
        boxes[v][left] &= small
        boxes[v][right] &= ~small
    return boxes
