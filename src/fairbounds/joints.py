"""Joint distributions that an estimate stands on, to be sampled back into people with the user's own levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import whole_number
from fairbounds.tables import Table, Variable

__all__ = ["ClassJoint", "Joint", "MatchedJoint"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


class Joint(Protocol):
    """A distribution over variables of both tables."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What a person drawn has a level of."""
        ...

    def sample(self, n: int, rng: int | np.random.Generator = 0) -> Table:
        """Draw n people; the weight of a cell is the number of them."""
        ...


def _generator(n: int, rng: int | np.random.Generator) -> np.random.Generator:
    whole_number("the number of people", n)
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(whole_number("rng", rng, least=0))


@dataclass(frozen=True, eq=False)
class MatchedJoint:
    """Internal and external cells of a stratum put together independently of each other.

    Attributes
    ----------
    internal, external : Table
        With equal levels of the common variables.
    common : tuple of str
    internal_stratum, external_stratum : array of int
        Stratum of each cell, −1 for cells that take no part.
    stratum_mass : array, shape (C,)
        Sums to 1.

    Examples
    --------
    >>> from fairbounds import Problem, estimate
    >>> internal = Table.from_columns({"job": ["a", "a", "b"], "ok": [1, 0, 1]})
    >>> external = Table.from_columns({"job": ["a", "b", "b"], "sex": ["F", "F", "M"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="ok")
    >>> people = estimate(problem, method="independence").joint.sample(1000, rng=0)
    >>> people.names, people.total
    (('job', 'ok', 'sex'), 1000.0)
    """

    internal: Table
    external: Table
    common: tuple[str, ...]
    internal_stratum: IntArray
    external_stratum: IntArray
    stratum_mass: FloatArray

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The internal table's variables, then those that only the external table has."""
        return (*self.internal.variables, *(self.external[name] for name in self._others))

    @property
    def _others(self) -> list[str]:
        return [name for name in self.external.names if name not in self.common]

    def sample(self, n: int, rng: int | np.random.Generator = 0) -> Table:
        """Draw n people; the weight of a cell is the number of them."""
        generator = _generator(n, rng)
        stratum = np.repeat(np.arange(len(self.stratum_mass)), generator.multinomial(n, self.stratum_mass))
        inside = _drawn_within(self.internal.weights, self.internal_stratum, stratum, generator)
        outside = _drawn_within(self.external.weights, self.external_stratum, stratum, generator)
        axes = [self.external.axis(name) for name in self._others]
        codes = np.hstack([self.internal.codes[inside], self.external.codes[outside][:, axes]])
        return Table.from_codes(self.variables, codes)


def _drawn_within(
    weight: FloatArray, part: IntArray, wanted: IntArray, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw a cell of each wanted part with a chance in proportion to its weight."""
    cells = np.flatnonzero(part >= 0)
    cells = cells[np.argsort(part[cells], kind="stable")]
    sizes = np.bincount(part[cells], weights=weight[cells], minlength=int(wanted.max()) + 1)
    reach = np.cumsum(weight[cells] / sizes[part[cells]])  # one more with every part that has cells
    first = np.cumsum(sizes > 0) - 1.0
    last = np.searchsorted(part[cells], wanted, side="right") - 1  # rounding must not lead into the next part
    found = np.searchsorted(reach, first[wanted] + rng.random(len(wanted)), side="right")
    return cells[np.clip(found, np.searchsorted(part[cells], wanted), last)]


@dataclass(frozen=True, eq=False)
class ClassJoint:
    """Variables that are independent of each other within a hidden class.

    Attributes
    ----------
    variables : tuple of Variable
    class_weights : array, shape (K,)
    tables : tuple of array, shape (K, levels)
        p(level | class) of each variable.
    """

    variables: tuple[Variable, ...]
    class_weights: FloatArray
    tables: tuple[FloatArray, ...]

    def sample(self, n: int, rng: int | np.random.Generator = 0) -> Table:
        """Draw n people; the weight of a cell is the number of them."""
        generator = _generator(n, rng)
        chances = self.class_weights / self.class_weights.sum()
        member = np.repeat(np.arange(len(chances)), generator.multinomial(n, chances))
        codes = [_drawn_level(table, member, generator) for table in self.tables]
        return Table.from_codes(self.variables, np.column_stack(codes))


def _drawn_level(table: FloatArray, member: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw a level for each person from the row of their class."""
    classes, size = table.shape
    flat = table.ravel()
    part = np.where(flat > 0, np.repeat(np.arange(classes), size), -1)
    return np.asarray(_drawn_within(flat, part, member, rng) % size, dtype=np.int64)
