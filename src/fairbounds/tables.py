"""Named axes over observed cells: the one data type that every engine reads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import TableError, listed, nearest
from fairbounds.levels import Level, decode, encode, factorise, interval_labels, number, show
from fairbounds.origins import Origin

__all__ = ["Table", "Variable", "distinct_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

PRODUCT_SIGN = " × "
_MAX_KEY = 2**62


@dataclass(frozen=True)
class Variable:
    """A named axis and its levels, in the user's own spelling and type.

    Examples
    --------
    >>> sex = Variable("sex", ("Female", "Male"))
    >>> sex.code("Male")
    1
    """

    name: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise TableError(f"a variable needs a name of at least one character, not {self.name!r}")
        if len(self._index) < len(self.levels):
            repeated = sorted({show(level) for level in self.levels if self.levels.count(level) > 1})
            raise TableError(f"variable {self.name!r} lists a level twice: {listed(repeated)}")

    @cached_property
    def _index(self) -> dict[Level, int]:
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def _printed(self) -> dict[str, int]:
        """A command line can only pass text, so ``"1"`` names the integer 1 where no level is the text ``"1"``."""
        return {show(level): code for code, level in reversed(list(enumerate(self.levels)))}

    def __len__(self) -> int:
        return len(self.levels)

    def code(self, level: Level) -> int:
        """Return the position of a level, or raise a `TableError` that names the nearest one."""
        if level in self._index:
            return self._index[level]
        if show(level) in self._printed:
            return self._printed[show(level)]
        raise TableError(
            f"{self.name!r} has no level {level!r}{nearest(level, self.levels)}; "
            f"its levels are {listed(show(known) for known in self.levels)}"
        )


def _read_only(array: npt.ArrayLike, dtype: type) -> Any:
    copied: npt.NDArray[Any] = np.array(array, dtype=dtype, order="C")
    copied.flags.writeable = False
    return copied


def distinct_rows(codes: IntArray, sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of `codes` in lexicographic order, and each row's position among them."""
    if math.prod(max(size, 1) for size in sizes) < _MAX_KEY:
        key = np.zeros(len(codes), dtype=np.int64)
        for axis, size in enumerate(sizes):
            key = key * size + codes[:, axis]
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return codes[first], inverse
    distinct, inverse = np.unique(codes, axis=0, return_inverse=True)
    return distinct, inverse.reshape(-1)


def _checked_weights(weights: Sequence[float] | npt.NDArray[Any], n_rows: int) -> FloatArray:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n_rows,):
        raise TableError(f"{array.size} weights were given for {n_rows} rows")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise TableError(f"weights must be finite and not negative; row {row + 1} has {array[row]}")
    return array


@dataclass(frozen=True, eq=False)
class Table:
    """Weights on the observed cells of named variables, never a dense product.

    Build one with `Table.from_columns`, or read one with `fairbounds.read_table`.

    Parameters
    ----------
    variables : tuple of Variable
    codes : array of int, shape (cells, variables)
        Position of each cell's level within its variable; every row distinct.
    weights : array of float, shape (cells,)
        Counts or weights; positive and finite.
    origin : Origin, optional
        Where the table came from.

    Examples
    --------
    >>> table = Table.from_columns({"job": ["clerk", "clerk", "cook"], "sex": ["F", "M", "F"]})
    >>> table.marginal(["job"]).to_columns()
    ({'job': ['clerk', 'cook']}, [2.0, 1.0])
    """

    variables: tuple[Variable, ...]
    codes: IntArray
    weights: FloatArray
    origin: Origin | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(self.variables))
        object.__setattr__(self, "codes", _read_only(self.codes, np.int64))
        object.__setattr__(self, "weights", _read_only(self.weights, np.float64))
        self._check_names()
        self._check_cells()

    def _check_names(self) -> None:
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise TableError(f"a table cannot have two variables named {listed(repeated)}; rename one of them")

    def _check_cells(self) -> None:
        shape = (len(self.weights), len(self.variables))
        if self.weights.ndim != 1 or self.codes.shape != shape:
            raise TableError(f"codes have shape {self.codes.shape}; {shape} is needed (cells × variables)")
        if len(self.weights) == 0:
            raise TableError("the table is empty: no cell has any weight")
        if not np.all(np.isfinite(self.weights) & (self.weights > 0)):
            bad = self.weights[~(np.isfinite(self.weights) & (self.weights > 0))][0]
            raise TableError(f"a cell has weight {bad}; weights must be positive and finite")
        if not np.isfinite(self.total):
            raise TableError("the weights add up to more than a number can hold; divide them all by the same number")
        for axis, variable in enumerate(self.variables):
            column = self.codes[:, axis]
            if column.min() < 0 or column.max() >= len(variable):
                raise TableError(f"{variable.name!r} has a code outside its {len(variable)} levels")
        if len(distinct_rows(self.codes, self.sizes)[0]) < len(self.codes):
            raise TableError("a cell is listed twice; build the table with Table.from_columns, which adds them up")

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, Sequence[Any] | npt.NDArray[Any]],
        weights: Sequence[float] | npt.NDArray[Any] | None = None,
        *,
        origin: Origin | None = None,
    ) -> Table:
        """Add up rows or cells given as columns.

        Parameters
        ----------
        columns : mapping of str to sequence
            One sequence of levels per variable; ``None`` and NaN are the missing level.
        weights : sequence of float, optional
            One weight per row, zero allowed; by default every row counts once.
        origin : Origin, optional

        Returns
        -------
        Table
            One cell per combination that has weight; all levels are kept.

        Examples
        --------
        >>> Table.from_columns({"sex": ["F", "M", "F"]}, [2, 5, 1]).total
        8.0
        """
        lengths = {name: len(values) for name, values in columns.items()}
        if not lengths:
            raise TableError("a table needs at least one column")
        n_rows = next(iter(lengths.values()))
        if set(lengths.values()) != {n_rows}:
            raise TableError(f"columns have different lengths: {lengths}")
        weight = np.ones(n_rows) if weights is None else _checked_weights(weights, n_rows)
        factors = [factorise(values) for values in columns.values()]
        variables = tuple(Variable(name, levels) for name, (levels, _) in zip(columns, factors, strict=True))
        codes = np.column_stack([codes for _, codes in factors]) if n_rows else np.empty((0, len(factors)), np.int64)
        return cls._aggregated(variables, codes, weight, origin)

    @classmethod
    def from_codes(cls, variables: Sequence[Variable], codes: IntArray, weights: FloatArray | None = None) -> Table:
        """Add up rows given as positions of levels.

        Parameters
        ----------
        variables : sequence of Variable
        codes : array of int, shape (rows, variables)
        weights : array, shape (rows,), optional
            By default every row counts once.

        Examples
        --------
        >>> sex = Variable("sex", ("F", "M"))
        >>> Table.from_codes([sex], np.array([[1], [0], [1]])).to_columns()
        ({'sex': ['F', 'M']}, [1.0, 2.0])
        """
        weight = np.ones(len(codes)) if weights is None else _checked_weights(weights, len(codes))
        return cls._aggregated(tuple(variables), np.asarray(codes, dtype=np.int64), weight, None)

    @classmethod
    def _aggregated(
        cls, variables: tuple[Variable, ...], codes: IntArray, weights: FloatArray, origin: Origin | None
    ) -> Table:
        cells, inverse = distinct_rows(codes, [len(variable) for variable in variables])
        total = np.bincount(inverse, weights=weights, minlength=len(cells)).astype(np.float64)
        occupied = total > 0
        if origin is not None and origin.disclosure is not None:
            origin = origin.merged(int(np.bincount(inverse).max(initial=1)))
        return cls(variables, cells[occupied], total[occupied], origin)

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, in order."""
        return tuple(variable.name for variable in self.variables)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of levels of each variable, in order."""
        return tuple(len(variable) for variable in self.variables)

    @property
    def n_cells(self) -> int:
        """Number of observed cells."""
        return len(self.weights)

    @property
    def total(self) -> float:
        """Sum of the weights."""
        with np.errstate(over="ignore"):
            return float(self.weights.sum())

    def __getitem__(self, name: str) -> Variable:
        return self.variables[self.axis(name)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.origin == other.origin
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.weights, other.weights)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        axes = ", ".join(f"{variable.name}: {len(variable)}" for variable in self.variables)
        return f"Table({axes}; {self.n_cells} cells, total {self.total:g})"

    def axis(self, name: str) -> int:
        """Return the position of a variable, or raise a `TableError` that names the nearest one."""
        if name not in self.names:
            raise TableError(f"no variable {name!r}{nearest(name, self.names)}; the table has {listed(self.names)}")
        return self.names.index(name)

    def column(self, name: str) -> IntArray:
        """Return the codes of one variable, one per cell."""
        return self.codes[:, self.axis(name)]

    def cells(self) -> Iterator[tuple[tuple[Level, ...], float]]:
        """Iterate over ``(levels, weight)``."""
        for codes, weight in zip(self.codes.tolist(), self.weights.tolist(), strict=True):
            yield tuple(variable.levels[code] for variable, code in zip(self.variables, codes, strict=True)), weight

    def to_columns(self) -> tuple[dict[str, list[Level]], list[float]]:
        """Return the levels of every cell by variable, and the weights."""
        columns = {
            variable.name: [variable.levels[code] for code in self.codes[:, axis].tolist()]
            for axis, variable in enumerate(self.variables)
        }
        return columns, self.weights.tolist()

    def grouped(self, names: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the distinct combinations of some variables (as codes) and each cell's position among them."""
        axes = [self.axis(name) for name in names]
        return distinct_rows(self.codes[:, axes], [self.sizes[axis] for axis in axes])

    # -- the six operations ----------------------------------------------------------------------------------------

    def marginal(self, names: Sequence[str]) -> Table:
        """Add the weights up over every variable not named; also puts the named ones in that order."""
        axes = [self.axis(name) for name in names]
        variables = tuple(self.variables[axis] for axis in axes)
        return Table._aggregated(variables, self.codes[:, axes], self.weights, self.origin)

    def conditional(self, given: Sequence[str]) -> Table:
        """Divide each weight by the weight of its combination of the given variables.

        Examples
        --------
        >>> table = Table.from_columns({"job": ["a", "a", "b"], "sex": ["F", "M", "F"]}, [1, 3, 5])
        >>> table.conditional(["job"]).weights.tolist()
        [0.25, 0.75, 1.0]
        """
        combinations, position = self.grouped(given)
        totals = np.bincount(position, weights=self.weights, minlength=len(combinations))
        return replace(self, weights=self.weights / totals[position])

    def recode(self, name: str, mapping: Mapping[Level, Level]) -> Table:
        """Replace levels of one variable; several may become one, and levels not mentioned stay.

        Parameters
        ----------
        name : str
        mapping : mapping
            Old level to new level. A key that is no level of the variable is an error.

        Examples
        --------
        >>> table = Table.from_columns({"race": ["black", "asian", "white"]})
        >>> table.recode("race", {"black": "other", "asian": "other"})["race"].levels
        ('other', 'white')
        """
        variable = self[name]
        replaced = {variable.code(old): new for old, new in mapping.items()}
        return self._relabelled(name, [replaced.get(code, level) for code, level in enumerate(variable.levels)])

    def bin(self, name: str, edges: Sequence[float], labels: Sequence[str] | None = None) -> Table:
        """Turn a variable of numbers into intervals, each closed on the left.

        Parameters
        ----------
        name : str
        edges : sequence of float
            Increasing inner edges: ``[25, 60]`` makes *below 25*, *25 to below 60*, *60 and above*.
        labels : sequence of str, optional
            One per interval (one more than edges).

        Examples
        --------
        >>> Table.from_columns({"age": [19, 25, 71]}).bin("age", [25, 60])["age"].levels
        ('<25', '25 to <60', '>=60')
        """
        names = interval_labels(name, edges) if labels is None else list(labels)
        if len(names) != len(edges) + 1:
            raise TableError(f"{len(edges)} edges make {len(edges) + 1} intervals of {name!r}, not {len(names)} labels")
        numbers = [number(name, level) for level in self[name].levels]
        place = np.searchsorted(np.asarray(edges, dtype=float), [0 if n is None else n for n in numbers], side="right")
        return self._relabelled(
            name, [None if n is None else names[at] for n, at in zip(numbers, place, strict=True)], order=names
        )

    def _relabelled(self, name: str, levels: list[Level], order: Sequence[Level] | None = None) -> Table:
        """Give each old code a new level; merge cells that meet."""
        distinct = tuple(dict.fromkeys(levels))
        if order is not None:
            distinct = tuple(level for level in (*order, None) if level in distinct)
        variable = Variable(name, distinct)
        codes = self.codes.copy()
        axis = self.axis(name)
        position = [variable.code(level) for level in levels]
        codes[:, axis] = np.array(position, dtype=np.int64)[codes[:, axis]]
        variables = (*self.variables[:axis], variable, *self.variables[axis + 1 :])
        return Table._aggregated(variables, codes, self.weights, self.origin)

    def align(self, other: Table, names: Sequence[str]) -> tuple[Table, Table]:
        """Give both tables the same levels, in the same order, for the named variables.

        Levels are the union, this table's first; nothing is matched but by equality and nothing is lost.
        """
        left, right = self, other
        for name in names:
            union = tuple(dict.fromkeys((*left[name].levels, *right[name].levels)))
            left, right = left._with_levels(name, union), right._with_levels(name, union)
        return left, right

    def _with_levels(self, name: str, levels: tuple[Level, ...]) -> Table:
        axis = self.axis(name)
        variable = Variable(name, levels)
        position = [variable.code(level) for level in self[name].levels]
        codes = self.codes.copy()
        codes[:, axis] = np.array(position, dtype=np.int64)[codes[:, axis]]
        return replace(self, variables=(*self.variables[:axis], variable, *self.variables[axis + 1 :]), codes=codes)

    def product(self, names: Sequence[str], into: str | None = None) -> Table:
        """Combine variables into one, with readable levels such as ``Female × Black``.

        Parameters
        ----------
        names : sequence of str
        into : str, optional
            Name of the combined variable; by default the names joined by ``×``.
        """
        if len(names) == 1 and into in (None, names[0]):
            return self
        combinations, position = self.grouped(names)
        parts = [self[name].levels for name in names]
        levels = [
            PRODUCT_SIGN.join(show(levels[code]) for levels, code in zip(parts, row, strict=True))
            for row in combinations.tolist()
        ]
        combined = Variable(into or PRODUCT_SIGN.join(names), tuple(levels))
        first = min(self.axis(name) for name in names)
        kept = [axis for axis, name in enumerate(self.names) if name not in names]
        before = sum(axis < first for axis in kept)
        variables = [self.variables[axis] for axis in kept]
        variables.insert(before, combined)
        codes = np.insert(self.codes[:, kept], before, position, axis=1)
        return replace(self, variables=tuple(variables), codes=codes)

    def reorder(self, names: Sequence[str]) -> Table:
        """Put the variables in another order; all of them must be named."""
        if sorted(names) != sorted(self.names):
            raise TableError(f"reorder needs each of {listed(self.names)} once, not {listed(names)}")
        axes = [self.axis(name) for name in names]
        return replace(self, variables=tuple(self.variables[axis] for axis in axes), codes=self.codes[:, axes])

    def rename(self, names: Mapping[str, str]) -> Table:
        """Give variables new names."""
        for name in names:
            self.axis(name)
        renamed = tuple(Variable(names.get(old.name, old.name), old.levels) for old in self.variables)
        return replace(self, variables=renamed)

    def with_variable(self, name: str, values: Sequence[Any] | npt.NDArray[Any]) -> Table:
        """Add a variable that is a function of the cell, given as one value per cell."""
        levels, codes = factorise(values)
        if len(codes) != self.n_cells:
            raise TableError(f"{len(codes)} values were given for the {self.n_cells} cells of {name!r}")
        variables = (*self.variables, Variable(name, levels))
        return replace(self, variables=variables, codes=np.column_stack([self.codes, codes]))

    # -- storing ---------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON-ready data; `from_dict` gives an equal one back."""
        return {
            "variables": [{"name": v.name, "levels": [encode(level) for level in v.levels]} for v in self.variables],
            "codes": self.codes.tolist(),
            "weights": self.weights.tolist(),
            "origin": None if self.origin is None else asdict(self.origin),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Table:
        """Rebuild a table from `to_dict`."""
        variables = tuple(
            Variable(entry["name"], tuple(decode(level) for level in entry["levels"])) for entry in data["variables"]
        )
        origin = data.get("origin")
        return cls(variables, data["codes"], data["weights"], None if origin is None else Origin.from_dict(origin))
