"""Tables, and columns or rows given as plain Python lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairbounds.errors import SourceError
from fairbounds.levels import Level
from fairbounds.origins import Origin, people_behind
from fairbounds.sources.base import Cells, Coder, MissingPolicy, Request, build, placed, weighed
from fairbounds.tables import Table, Variable

__all__ = ["ColumnsSource", "TableSource"]


class TableSource:
    """A `Table` that is already there."""

    def __init__(self, table: Table, role: str = "table") -> None:
        self._table = table
        self.name = "Table" if table.origin is None else table.origin.source
        self.place = placed(role, "Table" if table.origin is None else f"Table from {self.name!r}")
        self.columns = table.names
        self.hint = "; a Table carries its own weights"
        self.disclosure = None  # read already

    def read(
        self,
        columns: Sequence[str],
        *,
        weight: str | None = None,
        missing: MissingPolicy = "error",
        numbers: Sequence[str] = (),
    ) -> Table:
        """Return the marginal over some variables; its weights are the table's own."""
        if weight is not None:
            raise SourceError(f"{self.place} carries its own weights; leave out the weight column {weight!r}")
        ask = Request(self.name, self.place, tuple(columns), None, missing, tuple(numbers), self.columns)
        coded = {name: (self._table[name].levels, self._table.column(name)) for name in ask.columns}
        weights, one = self._table.weights, np.ones(self._table.n_cells, dtype=np.int64)
        read = build(Cells(coded, weights, one, one.astype(np.float64)), ask)
        return replace(self._in_order(read, ask), origin=self._origin(read))

    def _in_order(self, read: Table, ask: Request) -> Table:
        """Put the levels back in the table's own order, which need not be sorted (bins, for one, are not)."""
        variables, codes = [], read.codes.copy()
        for axis, variable in enumerate(read.variables):
            levels: tuple[Level, ...] = variable.levels
            if variable.name not in ask.numbers:
                own = self._table[variable.name].levels
                levels = tuple(level for level in own if level is not None or None in variable.levels)
            position = {level: code for code, level in enumerate(levels)}
            moved = np.array([position[level] for level in variable.levels], dtype=np.int64)
            codes[:, axis] = moved[codes[:, axis]]
            variables.append(Variable(variable.name, levels))
        return replace(read, variables=tuple(variables), codes=codes).marginal(ask.columns)

    def _origin(self, read: Table) -> Origin | None:
        """Keep what is known of the first reading; where values are missing, this table's cells are what was read."""
        before, now = self._table.marginal(read.names).origin, read.origin
        if now is None or (before is not None and not now.missing):
            return before
        size = people_behind(self._table.weights, before)
        now = replace(now, sample_size=None if size is None else size * (1.0 - now.dropped_share))
        if before is None:
            return now
        return replace(now, weight=before.weight, sha256=before.sha256, disclosure=before.disclosure)


class ColumnsSource:
    """A mapping of columns, or a list of rows that are mappings."""

    def __init__(self, data: Mapping[str, Any] | Sequence[Any], role: str = "table") -> None:
        is_mapping = isinstance(data, Mapping)
        self.name = "dict of columns" if is_mapping else "list of rows"
        self.place = placed(role, self.name)
        self.hint = ""
        self.disclosure = None
        self._data = self._columns(data) if isinstance(data, Mapping) else self._turned(data)
        self.columns = tuple(self._data)

    def _columns(self, data: Mapping[str, Any]) -> dict[str, list[Any]]:
        for name, values in data.items():
            if not isinstance(name, str) or not name:
                raise SourceError(f"{self.place} needs names of at least one character for its columns, not {name!r}")
            if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
                raise SourceError(f"{name!r} of {self.place} must be a list of values, not {values!r}")
        columns = {name: list(values) for name, values in data.items()}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) != 1:
            found = ", ".join(f"{name!r} {len(values)}" for name, values in columns.items())
            raise SourceError(f"the columns of {self.place} must be equally long, not {found or 'absent'}")
        return columns

    def _turned(self, rows: Sequence[Any]) -> dict[str, list[Any]]:
        for at, row in enumerate(rows, start=1):
            if not isinstance(row, Mapping):
                raise SourceError(f"{self.place} must hold dicts, but row {at} is {row!r} ({type(row).__name__})")
        names = dict.fromkeys(name for row in rows for name in row)
        if not names:
            raise SourceError(f"{self.place} is empty; there is nothing to audit")
        return self._columns({name: [row.get(name) for row in rows] for name in names})

    def read(
        self,
        columns: Sequence[str],
        *,
        weight: str | None = None,
        missing: MissingPolicy = "error",
        numbers: Sequence[str] = (),
    ) -> Table:
        """Add the rows up."""
        ask = Request(self.name, self.place, tuple(columns), weight, missing, tuple(numbers), self.columns)
        coded = {}
        for name in (*ask.columns, *([] if weight is None else [weight])):
            coder = Coder(name, self.place)
            coder.add(self._data[name])
            coded[name] = coder.column()
        rows = np.ones(len(self._data[ask.columns[0]]), dtype=np.int64)
        one = rows.astype(np.float64)
        weights, squares = (one, one) if weight is None else weighed(ask, coded.pop(weight), rows)
        return build(Cells(coded, weights, rows, squares), ask)
