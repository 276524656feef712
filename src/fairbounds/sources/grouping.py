"""The one query: GROUP BY the columns asked for, with the weight and the number of rows of every cell."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairbounds.errors import SourceError
from fairbounds.levels import Level
from fairbounds.origins import Disclosure
from fairbounds.sources.base import Cells, Coder, Column, Request, bad_weights, unusable
from fairbounds.sources.desk import Desk
from fairbounds.sources.formats import DataFile

__all__ = ["grouped"]

_FETCHED_ROWS = 50_000
_GOOD = "(w >= 0 AND w < 'infinity'::DOUBLE)"
_NUMBER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\)|BOOLEAN")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class _Reader:
    """How a column type becomes levels: an SQL expression, and what is done to each distinct value it gives."""

    types: re.Pattern[str]
    expression: str
    decode: Callable[[Any], Any] | None = None


_READERS = (
    _Reader(_NUMBER, "{0}"),
    _Reader(re.compile(r'VARCHAR|DATE|TIMESTAMP(_S|_MS|_NS)?|"NULL"'), "{0}"),
    _Reader(re.compile(r"ENUM\(.*\)|UUID", re.DOTALL), "CAST({0} AS VARCHAR)"),
    _Reader(re.compile("TIMESTAMP WITH TIME ZONE"), "epoch_us({0})", lambda us: _EPOCH + dt.timedelta(microseconds=us)),
    _Reader(re.compile("JSON"), "CAST({0} AS VARCHAR)", json.loads),
)


@dataclass(frozen=True)
class _Part:
    """One file within the query."""

    file: DataFile
    relation: str
    types: Sequence[str]

    def column(self, name: str) -> str:
        return f"c{self.file.columns.index(name)}"

    def type(self, name: str) -> str:
        return self.types[self.file.columns.index(name)]

    def number(self, name: str) -> str:
        """Return what is to be cast; a bare column of text would fail, https://github.com/duckdb/duckdb/issues/23818."""
        template = {"VARCHAR": "nullif({0}, '')", "JSON": "json_extract_string({0}, '$')"}.get(self.type(name), "{0}")
        return template.format(self.column(name))


def grouped(ask: Request, desk: Desk, relations: Sequence[tuple[DataFile, str]]) -> Cells:
    """Return the cells of all files together; one pass over the data."""
    parts = [_Part(file, relation, desk.types(relation)) for file, relation in relations]
    readers = [_reader(name, parts, ask) for name in ask.columns]
    if ask.weight is not None:
        _check_weight_type(ask, parts)
    keys = [f"k{at}" for at in range(len(readers))]
    rows = " UNION ALL ".join(_rows(part, ask, readers) for part in parts)
    bad, squares = f"count(*) FILTER ({_GOOD} IS NOT TRUE)", "coalesce(sum(w * w), 0)"
    weights = f", coalesce(fsum(w), 0), {bad}, {squares}" if ask.weight is not None else ""
    if ask.disclosure is not None:
        weights += ", sum(off_by), count(*) FILTER (empty)"
    coders, sums = _fetched(desk, f"SELECT count(*){weights}, {', '.join(keys)} FROM ({rows}) GROUP BY ALL", ask)
    n_rows = sums[0].astype(np.int64)
    columns = {
        name: _decoded(name, coder.column(), reader, ask)
        for name, coder, reader in zip(ask.columns, coders, readers, strict=True)
    }
    if ask.weight is not None and (n_bad := int(sums[2].sum())):
        raise bad_weights(ask, _first_bad_weight(ask, desk, parts), n_bad)
    return Cells(columns, *((sums[0], n_rows, sums[0]) if ask.weight is None else (sums[1], n_rows, *sums[3:])))


def _reader(name: str, parts: Sequence[_Part], ask: Request) -> _Reader:
    first, type_ = parts[0], parts[0].type(name)
    for part in parts[1:]:
        if part.type(name) != type_:
            raise SourceError(
                f"{name!r} is {type_} in {first.file.place} but {part.type(name)} in {part.file.place}; "
                f"write it with one type"
            )
    for reader in _READERS:
        if reader.types.fullmatch(type_):
            return reader
    raise unusable([name], ask.place, f"values of type {type_}")


def _check_weight_type(ask: Request, parts: Sequence[_Part]) -> None:
    assert ask.weight is not None
    for part in parts:
        type_ = part.type(ask.weight)
        if not _NUMBER.fullmatch(type_) and type_ not in {"VARCHAR", "JSON", '"NULL"'}:
            raise SourceError(f"weight column {ask.weight!r} of {part.file.place} holds {type_}, not numbers")


def _rows(part: _Part, ask: Request, readers: Sequence[_Reader]) -> str:
    columns = [
        f"{reader.expression.format(part.column(name))} AS k{at}"
        for at, (name, reader) in enumerate(zip(ask.columns, readers, strict=True))
    ]
    if ask.weight is not None:
        columns.append(f"TRY_CAST({part.number(ask.weight)} AS DOUBLE) AS w")
        if ask.disclosure is not None:
            columns.append(f"{part.number(ask.weight)} IS NULL AS empty")
    rows = f"SELECT {', '.join(columns)} FROM {part.relation}"
    return rows if ask.disclosure is None else _read_as_declared(rows, ask.disclosure)


def _read_as_declared(rows: str, declared: Disclosure) -> str:
    """Put what a count is read as in place of it, and by how much that may be off beside it."""
    cases = [("w = 0", declared.reading(0.0))]
    if declared.suppress_below is not None:
        cases.insert(0, ("empty", declared.reading(None)))
    value, off = (" ".join(f"WHEN {when} THEN {found[at]!r}" for when, found in cases) for at in (0, 1))
    usual = declared.reading(1.0)[1]
    return f"SELECT * REPLACE (CASE {value} ELSE w END AS w), CASE {off} ELSE {usual!r} END AS off_by FROM ({rows})"


def _fetched(desk: Desk, query: str, ask: Request) -> tuple[list[Coder], list[np.ndarray[Any, Any]]]:
    """Run the query and code its keys batch by batch, so that only codes are kept."""
    coders = [Coder(name, ask.place) for name in ask.columns]
    n_sums = 1 if ask.weight is None else 4 if ask.disclosure is None else 6
    sums: list[list[np.ndarray[Any, Any]]] = [[np.empty(0)] for _ in range(n_sums)]
    cursor = desk.connection.execute(query)
    while batch := cursor.fetchmany(_FETCHED_ROWS):
        columns = list(zip(*batch, strict=True))
        for total, values in zip(sums, columns[:n_sums], strict=True):
            total.append(np.array(values, dtype=np.float64))
        for coder, values in zip(coders, columns[n_sums:], strict=True):
            coder.add(values)
    return coders, [np.concatenate(total) for total in sums]


def _first_bad_weight(ask: Request, desk: Desk, parts: Sequence[_Part]) -> Any:
    assert ask.weight is not None
    for part in parts:
        number = part.number(ask.weight)
        rows = f"SELECT {number} AS found, TRY_CAST({number} AS DOUBLE) AS w FROM {part.relation}"
        first = desk.connection.execute(f"SELECT found FROM ({rows}) WHERE {_GOOD} IS NOT TRUE LIMIT 1").fetchall()
        if first:
            return first[0][0]
    return None


def _decoded(name: str, column: Column, reader: _Reader, ask: Request) -> Column:
    if reader.decode is None:
        return column
    levels, codes = column
    values = [None if level is None else reader.decode(level) for level in levels]
    for value in values:
        if isinstance(value, (dict, list)):
            raise unusable([name], ask.place, f"{'objects' if isinstance(value, dict) else 'lists'} such as {value!r}")
    return _alike(values), codes


def _alike(values: list[Level]) -> list[Level]:
    """Write 1 as 1.0 where it stands beside 0.5, as every typed format does."""
    present = {type(value) for value in values if value is not None}
    return [None if value is None else float(value) for value in values] if present == {int, float} else values  # type: ignore[arg-type]
