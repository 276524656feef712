"""Counts as files that say what was done to them: CSV, Parquet or JSON, whole or not at all."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fairbounds.errors import SourceError
from fairbounds.levels import Level, show
from fairbounds.sources.declaring import JSON_KEY, MARK, PARQUET_KEY, as_text
from fairbounds.sources.desk import desk, quoted
from fairbounds.sources.disclosing import Counts
from fairbounds.sources.writing import check_names, columns_of, execute, identifier, replacing

__all__ = ["COUNT_ENDINGS", "write_counts"]

COUNT_ENDINGS = (".csv", ".parquet", ".json", ".jsonl", ".ndjson")


def write_counts(counts: Counts, path: str | Path) -> None:
    """Write counts with the declaration that an audit finds by itself.

    Parameters
    ----------
    counts : Counts
    path : str or Path
        Ends in ``.csv``, ``.parquet``, ``.json`` (an array) or ``.jsonl`` (a line each). A file of that name is
        replaced once the new one is whole.

    Examples
    --------
    >>> import tempfile
    >>> from fairbounds import Table, read_table
    >>> from fairbounds.sources.disclosing import disclose
    >>> table = Table.from_columns({"job": ["cook", "clerk"]}, [12, 3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counts(disclose(table, suppress_below=5), Path(folder, "counts.csv"))
    ...     print(Path(folder, "counts.csv").read_text(), read_table(Path(folder, "counts.csv")).to_columns())
    # fairbounds/counts/1 count=n suppress_below=5
    job,n
    clerk,
    cook,12
     ({'job': ['clerk', 'cook']}, [2.5, 12.0])
    """
    ending = Path(path).suffix.casefold()
    if ending not in COUNT_ENDINGS:
        raise SourceError(
            f"counts are written as CSV, Parquet or JSON: {str(path)!r} must end in {', '.join(COUNT_ENDINGS)}"
        )
    check_names([*(variable.name for variable in counts.variables), counts.disclosure.count])
    with replacing(path) as unfinished:
        if ending == ".parquet":
            _write_parquet(counts, unfinished)
        elif ending == ".csv":
            _write_csv(counts, unfinished)
        else:
            _write_json(counts, unfinished, array=ending == ".json")


def _rows(counts: Counts) -> Iterator[tuple[list[Level], int | float | None]]:
    for codes, count in zip(counts.codes.tolist(), counts.counts.tolist(), strict=True):
        levels = [variable.levels[code] for variable, code in zip(counts.variables, codes, strict=True)]
        yield levels, _number(count)


def _number(count: float) -> int | float | None:
    """Return a count as a file has it; nothing where it was suppressed."""
    if count != count:  # noqa: PLR0124
        return None
    return int(count) if count == int(count) else count


def _write_csv(counts: Counts, path: Path) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        file.write(f"{MARK}{as_text(counts.disclosure)}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(variable.name for variable in counts.variables), counts.disclosure.count])
        for levels, count in _rows(counts):
            writer.writerow(
                [*("" if level is None else show(level) for level in levels), "" if count is None else count]
            )


def _write_json(counts: Counts, path: Path, *, array: bool) -> None:
    """Write objects, the first of which is the declaration."""
    names = [*(variable.name for variable in counts.variables), counts.disclosure.count]
    objects: list[Any] = [{JSON_KEY: as_text(counts.disclosure)}]
    for levels, count in _rows(counts):
        objects.append(dict(zip(names, [*map(_plain, levels), count], strict=True)))
    lines = [json.dumps(entry, ensure_ascii=False) for entry in objects]
    text = "[\n" + ",\n".join(lines) + "\n]\n" if array else "".join(f"{line}\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="")


def _plain(level: Level) -> str | int | float | None:
    return level if level is None or isinstance(level, str | int | float) else show(level)


def _write_parquet(counts: Counts, path: Path) -> None:
    columns, levels = columns_of(counts.variables, as_text=False)
    codes = {f"c{axis}": counts.codes[:, axis].astype(np.int32) for axis in range(len(counts.variables))}
    whole = all(count is None or isinstance(count, int) for _, count in _rows(counts))
    suppressed = np.isnan(counts.counts)
    count = f"CASE WHEN suppressed THEN NULL ELSE n::{'BIGINT' if whole else 'DOUBLE'} END"
    columns.append(f"{count} AS {identifier(counts.disclosure.count)}")
    metadata = f"KV_METADATA {{{quoted(PARQUET_KEY)}: {quoted(as_text(counts.disclosure))}}}"
    with desk() as at:
        rows = {**codes, "n": np.where(suppressed, 0.0, counts.counts), "suppressed": suppressed}
        at.connection.register("people", rows)
        target = quoted(os.fspath(path))
        execute(at, f"COPY (SELECT {', '.join(columns)} FROM people) TO {target} (FORMAT parquet, {metadata})", levels)
