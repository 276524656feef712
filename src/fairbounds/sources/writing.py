"""Tables as files of one row per person, written through DuckDB, whole or not at all."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fairbounds.errors import SourceError
from fairbounds.levels import Level, show
from fairbounds.sources.desk import Desk, desk, quoted
from fairbounds.tables import Table, Variable

__all__ = [
    "ENDINGS",
    "check_names",
    "columns_of",
    "execute",
    "identifier",
    "replacing",
    "write_people",
    "write_text",
]

ENDINGS = (".parquet", ".csv", ".csv.gz")

_CHUNK_BYTES = 1 << 20
_GZIP_LEVEL = 3
_INTEGERS = range(-(2**63), 2**63)
_MOST_DIGITS = 38  # of a decimal that DuckDB can hold


def write_people(table: Table, path: str | Path, *, rng: np.random.Generator | None = None) -> None:
    """Write one row per person, with the levels and types that the table has.

    Parameters
    ----------
    table : Table
        Its weights are numbers of people.
    path : str or Path
        Ends in ``.parquet``, ``.csv`` or ``.csv.gz``. A file of that name is replaced once the new one is whole.
    rng : numpy.random.Generator, optional
        Puts the people in a random order; without it they come cell by cell.

    Examples
    --------
    >>> import tempfile
    >>> from fairbounds import read_table
    >>> table = Table.from_columns({"job": ["cook", "clerk"], "age": [30, 40]}, [2, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_people(table, Path(folder, "people.parquet"))
    ...     read_table(Path(folder, "people.parquet")).to_columns()
    ({'job': ['clerk', 'cook'], 'age': [40, 30]}, [1.0, 2.0])
    """
    ending = _ending(path)
    check_names(table.names)
    position = np.repeat(np.arange(table.n_cells), _people(table))
    if rng is not None:
        rng.shuffle(position)
    with replacing(path) as unfinished, desk() as at:
        if ending == ".parquet":
            _copy(table, position, at, unfinished, "FORMAT parquet")
        elif ending == ".csv":
            _copy(table, position, at, unfinished, "FORMAT csv, HEADER")
        else:
            plain = at.new_path(".csv")
            _copy(table, position, at, plain, "FORMAT csv, HEADER")
            _compress(plain, unfinished)


def _ending(path: str | Path) -> str:
    name = Path(path).name.casefold()
    for ending in ENDINGS:
        if name.endswith(ending) and name != ending:
            return ending
    raise SourceError(f"people are written as Parquet or CSV: {str(path)!r} must end in {', '.join(ENDINGS)}")


def check_names(names: Sequence[str]) -> None:
    """Refuse names that a database would take for one."""
    folded: dict[str, str] = {}
    for name in names:
        twin = folded.setdefault(name.casefold(), name)
        if twin != name:
            raise SourceError(f"columns {twin!r} and {name!r} differ in capitals only; rename one to write them")


def _people(table: Table) -> npt.NDArray[np.int64]:
    whole = np.rint(table.weights).astype(np.int64)
    if not np.array_equal(whole, table.weights):
        raise SourceError("only whole people can be written, one a row: the weights of the table must be whole numbers")
    return whole


def _compress(plain: Path, target: Path) -> None:
    """Pack a file; three times as fast as DuckDB does it, and the same people give the same bytes."""
    with (
        plain.open("rb") as source,
        target.open("xb") as file,
        gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed,
    ):
        shutil.copyfileobj(source, packed, _CHUNK_BYTES)


# -- through DuckDB ----------------------------------------------------------------------------------------------------


def _copy(table: Table, position: npt.NDArray[np.int64], at: Desk, path: Path, form: str) -> None:
    """Hand DuckDB one small column of codes per variable; it looks up the levels while it writes."""
    codes = {f"c{axis}": table.codes[:, axis].astype(np.int32)[position] for axis in range(len(table.variables))}
    columns, levels = columns_of(table.variables, as_text="csv" in form)  # in text a level keeps its spelling
    at.connection.register("people", codes)
    query = f"COPY (SELECT {', '.join(columns)} FROM people) TO {quoted(os.fspath(path))} ({form})"
    execute(at, query, levels)


def columns_of(variables: Sequence[Variable], *, as_text: bool) -> tuple[list[str], list[list[Level]]]:
    """Return SQL that looks up the levels of columns of codes c0, c1, and so on, and the levels, its parameters."""
    types = ["VARCHAR" if as_text else _type(variable.levels) for variable in variables]
    columns = [
        f"(?::{type_}[])[c{axis} + 1] AS {identifier(variable.name)}"
        for axis, (variable, type_) in enumerate(zip(variables, types, strict=True))
    ]
    return columns, [_plain(variable.levels, type_) for variable, type_ in zip(variables, types, strict=True)]


def execute(at: Desk, query: str, values: list[list[Level]]) -> None:
    """Run a query in a thread: DuckDB looks at the keyboard only when it is done."""
    import duckdb

    with suppress(duckdb.CatalogException):  # before DuckDB 1.5 there is no such setting, and no need of it
        at.connection.execute("SET async_threads = 0")  # or a query that writes and is interrupted may wait forever
    with ThreadPoolExecutor(max_workers=1) as pool:
        task = pool.submit(at.connection.execute, query, values)
        try:
            task.result()
        except duckdb.Error as error:
            raise OSError(next(iter(str(error).strip().splitlines()), type(error).__name__)) from error
        except BaseException:
            at.connection.interrupt()
            raise


def identifier(name: str) -> str:
    """Write the name of a column as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _plain(levels: Sequence[Level], type_: str) -> list[Level]:
    """Return the levels as DuckDB takes them for the type of the column."""
    if type_ != "VARCHAR":
        return list(levels)
    return [None if level is None else show(level) for level in levels]


def _type(levels: Sequence[Level]) -> str:
    """Return the SQL type that holds all levels as they are; text where there is none."""
    present = [level for level in levels if level is not None]
    kinds = {type(level) for level in present}
    if len(kinds) != 1:
        return "VARCHAR"
    kind = kinds.pop()
    if kind is int:
        return "BIGINT" if all(level in _INTEGERS for level in present) else "VARCHAR"
    if kind is decimal.Decimal:
        return _decimal([level for level in present if isinstance(level, decimal.Decimal)])
    if kind is dt.datetime:
        zoned = {level.tzinfo is not None for level in present if isinstance(level, dt.datetime)}
        return "VARCHAR" if len(zoned) > 1 else "TIMESTAMPTZ" if zoned.pop() else "TIMESTAMP"
    return {bool: "BOOLEAN", float: "DOUBLE", dt.date: "DATE"}.get(kind, "VARCHAR")


def _decimal(levels: Sequence[decimal.Decimal]) -> str:
    """Return the narrowest type that holds all of these numbers exactly."""
    parts = [(len(digits), exponent) for _, digits, exponent in map(decimal.Decimal.as_tuple, levels)]
    known = [(digits, exponent) for digits, exponent in parts if isinstance(exponent, int)]
    if len(known) < len(parts):  # infinite
        return "VARCHAR"
    scale = max(max(0, -exponent) for _, exponent in known)
    width = scale + max(max(1, digits + exponent) for digits, exponent in known)
    return f"DECIMAL({width}, {scale})" if width <= _MOST_DIGITS else "VARCHAR"


# -- whole or not at all -----------------------------------------------------------------------------------------------


def write_text(text: str, path: str | Path) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give the name of a new file beside the one to be written, which it becomes at the end; failing that, it goes."""
    try:
        with _renamed(Path(os.path.realpath(path)), path) as unfinished:
            yield unfinished
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"{str(path)!r} cannot be written: {reason}; nothing was written") from None


@contextmanager
def _renamed(target: Path, path: str | Path) -> Iterator[Path]:
    if target.is_dir():
        raise SourceError(f"{str(path)!r} cannot be written: that is a folder; name a file")
    if not target.parent.is_dir():
        raise SourceError(
            f"{str(path)!r} cannot be written: there is no folder {str(target.parent)!r}; create it first"
        )
    if target.exists() and not target.is_file():
        raise SourceError(f"{str(path)!r} cannot be written: it is no regular file; give another name")
    unfinished = target.with_name(f".fairbounds-{secrets.token_hex(6)}.tmp")
    try:
        yield unfinished
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
