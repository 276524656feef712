"""Both tables as the latent class kernel reads them: variables, codes and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.latent_class import Fits, level_probabilities
from fairbounds.metrics import event_indicators
from fairbounds.mismatch import sample_size
from fairbounds.problem import Problem
from fairbounds.tables import Table, Variable

__all__ = ["LatentData", "Rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """Distinct rows of one table: levels of some variables, and how many people have them.

    Attributes
    ----------
    codes : array of int, shape (N, W)
    counts : array, shape (N,)
    columns : array of int, shape (W,)
        Which of the model's variables the columns are.
    """

    codes: IntArray
    counts: FloatArray
    columns: IntArray


@dataclass(frozen=True, eq=False)
class LatentData:
    """The two tables of a problem, with their weights scaled to the people behind them.

    A decision is a variable of the model. A score is not: it is what the features make of a person, so a class has the
    mean score of the people in it (docs/method.md, 11).
    """

    problem: Problem

    @cached_property
    def _inside(self) -> Table:
        problem, outcome = self.problem, self.problem.outcome
        kept = [name for name in problem.internal.names if not (outcome.is_score and name == outcome.column)]
        return _as_people(problem.internal.marginal(kept), problem.internal)

    @cached_property
    def _outside(self) -> Table:
        return _as_people(self.problem.external, self.problem.external)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Internal variables, then those that only the external table has."""
        return (*self._inside.variables, *(v for v in self._outside.variables if v.name not in self.problem.common))

    @property
    def sizes(self) -> IntArray:
        """Number of levels of each variable."""
        return np.array([len(variable) for variable in self.variables], dtype=np.int64)

    @property
    def people(self) -> float:
        """How many people both tables count together."""
        return self._inside.total + self._outside.total

    def rows(self) -> tuple[Rows, Rows]:
        """Return both tables over all their variables."""
        return self._of(self._inside), self._of(self._outside)

    def margins(self) -> tuple[Rows, Rows]:
        """Return strata × outcome (for a score: × features) of the internal, strata × group of the external table."""
        problem = self.problem
        own = self._inside
        if not problem.outcome.is_score:
            own = own.marginal([*problem.common, *problem.outcome.columns])
        return self._of(own), self._of(self._outside.marginal([*problem.common, problem.protected]))

    def groups(self, fits: Fits) -> FloatArray:
        """Return P(group | class) of the groups that the audited population has, shape (S, K, G)."""
        at = self._position(self.problem.protected)
        codes = [self.variables[at].code(group) for group in self.problem.groups]
        return np.asarray(fits.tables[..., fits.offsets[at] + np.array(codes)])

    def events(self, fits: Fits) -> FloatArray:
        """Return P(event | class), as `Rate.of_events` orders events, shape (S, K, E)."""
        if self.problem.outcome.is_score:
            return self._events_of_cells(fits)
        outcome = self.problem.outcome
        chosen = self._level(fits, outcome.column, outcome.favourable)
        decided = np.stack([1.0 - chosen, chosen], axis=-1)
        if outcome.label is None:
            return decided
        good = self._level(fits, outcome.label, outcome.positive)[..., None]
        return np.concatenate([decided * (1.0 - good), decided * good], axis=-1)

    def _events_of_cells(self, fits: Fits) -> FloatArray:
        """Average over the internal cells; combinations that the table lacks score like the rest of their class."""
        table, rows = self.problem.internal, self._of(self._inside)
        _, position = table.grouped(self._inside.names)
        summed = np.zeros((len(rows.codes), 2 if self.problem.outcome.label is None else 4))
        np.add.at(summed, position, table.weights[:, None] * event_indicators(*self.problem.outcome.atoms(table)))
        events = summed / summed.sum(axis=1, keepdims=True)
        chance = level_probabilities(fits, rows.codes, rows.columns)
        return np.asarray((chance @ events) / chance.sum(axis=-1, keepdims=True))

    def _level(self, fits: Fits, name: str, level: object) -> FloatArray:
        at = self._position(name)
        levels: Sequence[object] = self.variables[at].levels
        return np.asarray(fits.tables[..., fits.offsets[at] + levels.index(level)])

    def _position(self, name: str) -> int:
        return [variable.name for variable in self.variables].index(name)

    def _of(self, table: Table) -> Rows:
        columns = np.array([self._position(name) for name in table.names], dtype=np.int64)
        return Rows(table.codes, table.weights, columns)


def _as_people(table: Table, counted: Table) -> Table:
    """Scale weights to the number of people (or rows) behind them: expansion weights are not a sample size."""
    size = sample_size(counted)
    if size is None or size == table.total:
        return table
    return Table(table.variables, table.codes, table.weights * (size / table.total), table.origin)
