"""Parquet, JSON lines and Arrow files as relations of DuckDB."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

from fairbounds.errors import MissingDependencyError, SourceError, listed
from fairbounds.sources.base import repeated
from fairbounds.sources.csvfile import CsvFile
from fairbounds.sources.declaring import JSON_KEY, PARQUET_KEY
from fairbounds.sources.desk import Desk, desk, quoted, quoted_path
from fairbounds.sources.paths import Peek, guarded, open_bytes

__all__ = ["ArrowFile", "DataFile", "JsonFile", "ParquetFile", "recognise"]


class DataFile(Protocol):
    """One file that DuckDB can be made to read."""

    @property
    def path(self) -> Path:
        """Where it is."""

    @property
    def place(self) -> str:
        """What messages call it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns, by position."""

    @property
    def compressed(self) -> bool:
        """Whether the whole file is packed by gzip."""

    @property
    def declared(self) -> str | None:
        """What a file of counts says of itself."""

    def relation(self, desk: Desk) -> str:
        """Return SQL for the file's rows, its columns named c0, c1, and so on."""

    def check(self) -> None:
        """Raise a `SourceError` that explains why DuckDB cannot read the file, if the reason can be found."""


def recognise(peeked: Peek, place: str) -> DataFile:
    """Return the file in its format, its columns known."""
    if peeked.format == "csv":
        return CsvFile.of(peeked, place)
    kinds: dict[str, type[ParquetFile | JsonFile | ArrowFile]] = {
        "parquet": ParquetFile,
        "json": JsonFile,
        "arrow": ArrowFile,
    }
    return kinds[peeked.format].of(peeked, place)


def _checked(columns: tuple[str, ...], place: str) -> tuple[str, ...]:
    if twice := repeated(columns):
        raise SourceError(f"{place} has the column {listed(twice)} more than once; rename one")
    return columns


def _aliases(columns: tuple[str, ...]) -> str:
    return ", ".join(f"c{at}" for at in range(len(columns)))


@dataclass(frozen=True)
class ParquetFile:
    """A Parquet file; its levels keep their types."""

    path: Path
    place: str
    columns: tuple[str, ...]
    declared: str | None = None
    compressed: bool = False

    @classmethod
    def of(cls, peeked: Peek, place: str) -> ParquetFile:
        """Read the names of the columns; DuckDB's own would be changed where they differ in case only."""
        import duckdb

        with desk() as at:
            path = quoted_path(peeked.path)
            query = f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({path})"
            said = f"SELECT decode(value) FROM parquet_kv_metadata({path}) WHERE decode(key) = {quoted(PARQUET_KEY)}"
            try:
                fields = at.connection.execute(query).fetchall()
                declared = at.connection.execute(said).fetchone()
            except duckdb.Error as error:
                raise damaged(place, "Parquet", error) from error
        columns = _checked(tuple(_top_level(fields)), place)
        return cls(peeked.path, place, columns, None if declared is None else declared[0])

    def relation(self, desk: Desk) -> str:  # noqa: ARG002
        """Return SQL for the file's rows, its columns named c0, c1, and so on."""
        reader = f"read_parquet({quoted_path(self.path)}, hive_partitioning = false)"
        return f"{reader} AS t({_aliases(self.columns)})"

    def check(self) -> None:
        """Nothing more can be said than that it is damaged."""


def _top_level(fields: list[tuple[str, int]]) -> list[str]:
    """Pick the columns from a schema listed depth first, its root in front."""
    names, at = [], 1
    while at < len(fields):
        names.append(fields[at][0])
        inside = 1
        while inside:
            inside += fields[at][1] - 1
            at += 1
    return names


@dataclass(frozen=True)
class JsonFile:
    """A file of JSON objects, one per line or in one array; every level keeps its JSON type."""

    path: Path
    place: str
    columns: tuple[str, ...]
    compressed: bool
    is_array: bool
    declared: str | None = None

    @classmethod
    def of(cls, peeked: Peek, place: str) -> JsonFile:
        """Read the keys of the first objects."""
        import duckdb

        is_array = peeked.text.lstrip().startswith("[")
        if peeked.encoding != "utf-8":
            raise SourceError(f"{place} is JSON in {peeked.encoding.upper()}; save it as UTF-8")
        declared = _declared(peeked.text)
        file = cls(peeked.path, place, (), peeked.compressed, is_array, declared)
        query = f"SELECT unnest(json_keys(json)) FROM (FROM {file._objects()} LIMIT 20000)"
        with desk() as at:
            try:
                keys = dict.fromkeys(row[0] for row in at.connection.execute(query).fetchall())
            except duckdb.Error as error:
                file.check()
                raise damaged(place, "JSON", error) from error
        if not keys:
            file.check()
            raise SourceError(f"{place} holds no JSON objects with keys; write one object per row")
        return cls(peeked.path, place, tuple(keys), peeked.compressed, is_array, declared)

    def _objects(self) -> str:
        kind = "array" if self.is_array else "newline_delimited"
        compression = "gzip" if self.compressed else "uncompressed"
        objects = f"read_json_objects({quoted_path(self.path)}, format = '{kind}', compression = '{compression}')"
        if self.declared is None:
            return objects
        return f"(FROM {objects} WHERE json_keys(json) IS DISTINCT FROM [{quoted(JSON_KEY)}])"

    def relation(self, desk: Desk) -> str:  # noqa: ARG002
        """Return SQL for the file's rows, its columns named c0, c1, and so on."""
        pointers = ["/" + name.replace("~", "~0").replace("/", "~1") for name in self.columns]
        picked = ", ".join(f"json_extract(json, {quoted(pointer)}) AS c{at}" for at, pointer in enumerate(pointers))
        # json_extract gives NULL for what is no object, which would pass for a missing value.
        row = "CASE json_type(json) WHEN 'OBJECT' THEN json ELSE error('a row is not an object') END"
        return f"(SELECT {picked} FROM (SELECT {row} AS json FROM {self._objects()}))"

    def check(self) -> None:
        """Find the first line that is no JSON object."""
        with guarded(self.place), open_bytes(self.path, self.compressed) as lines:
            try:
                rows = enumerate(json.load(lines), start=1) if self.is_array else _parsed(lines)
                for line, row in rows:
                    if not isinstance(row, dict):
                        self._fail("row" if self.is_array else "line", line, f"is {json.dumps(row)}, not an object")
            except json.JSONDecodeError as error:
                self._fail("line", getattr(error, "line", error.lineno), f"is not JSON: {error.msg}")
            except UnicodeDecodeError:
                raise SourceError(f"{self.place} is not UTF-8 text; save it as UTF-8") from None

    def _fail(self, unit: str, at: int, fault: str) -> NoReturn:
        raise SourceError(f"{unit} {at:,} of {self.place} {fault}; write one JSON object per line") from None


def _declared(text: str) -> str | None:
    """Return what the first object says where it is a declaration and nothing else."""
    start = text.lstrip("\ufeff[ \t\r\n")
    if JSON_KEY not in start[:40]:
        return None
    try:
        first, _ = json.JSONDecoder().raw_decode(start)
    except json.JSONDecodeError:
        return None
    return str(first[JSON_KEY]) if isinstance(first, dict) and list(first) == [JSON_KEY] else None


def _parsed(lines: Any) -> Any:
    for line, text in enumerate(lines, start=1):
        if text.strip():
            try:
                yield line, json.loads(text)
            except json.JSONDecodeError as error:
                error.line = line  # type: ignore[attr-defined]
                raise


@dataclass(frozen=True)
class ArrowFile:
    """An Arrow or Feather file, read by pyarrow: DuckDB would have to download an extension."""

    path: Path
    place: str
    columns: tuple[str, ...]
    compressed: bool = False
    declared: str | None = None

    @classmethod
    def of(cls, peeked: Peek, place: str) -> ArrowFile:
        """Read the names of the columns."""
        data = _arrow_data(peeked.path, place)
        return cls(peeked.path, place, _checked(tuple(data.schema.names), place))

    def relation(self, desk: Desk) -> str:
        """Return SQL for the file's rows, its columns named c0, c1, and so on; only those used are decoded."""
        name = desk.register(_arrow_data(self.path, self.place))
        return f"{name} AS t({_aliases(self.columns)})"

    def check(self) -> None:
        """Nothing more can be said than that it is damaged."""


def _arrow_data(path: Path, place: str) -> Any:
    """Open an Arrow file as a data set, or an Arrow stream as a table."""
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ModuleNotFoundError:
        raise MissingDependencyError.extra("pyarrow", "arrow", f"reading {place}") from None
    with path.open("rb") as file:
        is_stream = file.read(6) != b"ARROW1"
    try:
        if is_stream:
            with pa.ipc.open_stream(path.read_bytes()) as stream:
                return stream.read_all()
        return ds.dataset(path, format="ipc")
    except (pa.ArrowException, OSError) as error:
        raise damaged(place, "Arrow", error) from error


def damaged(place: str, what: str, error: Exception) -> SourceError:
    """Say that a file cannot be read, and what the reading library found."""
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return SourceError(f"{place} cannot be read as {what} and may be damaged: {first.rstrip(' .:')}")
