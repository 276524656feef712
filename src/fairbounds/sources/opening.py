"""One door for every kind of source."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from fairbounds.sources.base import MissingPolicy, Source
from fairbounds.tables import Table

__all__ = ["open_source", "read_table"]


def open_source(source: object, role: str = "table") -> Source:
    """Open a file, a dataframe or a table without reading its rows.

    Parameters
    ----------
    source : path, dataframe, Table, mapping of columns or list of rows
        A path may be a pattern such as ``data/part-*.csv``. CSV (any delimiter, gzip, UTF-8 or UTF-16), Parquet,
        Arrow/Feather and JSON lines are read; so is every dataframe that narwhals knows: pandas, polars, pyarrow,
        DuckDB relations, PySpark, Dask, Ibis.
    role : str
        ``internal`` or ``external``; only used in messages.

    Returns
    -------
    Source
        With `name`, `columns` and `read`.

    Examples
    --------
    >>> open_source({"sex": ["F", "M"], "job": ["cook", "clerk"]}).columns
    ('sex', 'job')
    """
    if isinstance(source, Table):
        from fairbounds.sources.memory import TableSource

        return TableSource(source, role)
    if isinstance(source, (str, os.PathLike)):
        from fairbounds.sources.files import FileSource

        return FileSource.open(os.fsdecode(source), role)
    if isinstance(source, (Mapping, list, tuple)):
        from fairbounds.sources.memory import ColumnsSource

        return ColumnsSource(source, role)
    from fairbounds.sources.frames import FrameSource

    return FrameSource(source, role)


def read_table(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    missing: MissingPolicy = "error",
    numbers: Sequence[str] = (),
) -> Table:
    """Read a file or dataframe into a `Table`: rows, weighted rows, or a table of counts.

    Parameters
    ----------
    source : path, dataframe, Table, mapping of columns or list of rows
        See `open_source`.
    columns : sequence of str, optional
        By default all but the weight.
    weight : str, optional
        Column of weights or counts; by default every row counts once.
    missing : {"error", "drop", "level"}
        What to do with rows that lack a value: refuse, leave them out, or keep missing as a level of its own. The
        table's `origin` says how many there were in any case.
    numbers : sequence of str
        Columns whose text is to be read as numbers.

    Returns
    -------
    Table
        Levels keep the spelling and type they have in the source; everything in a CSV file is text.

    Examples
    --------
    >>> counts = {"job": ["cook", "cook", "clerk"], "sex": ["F", "M", "F"], "n": [10, 5, 7]}
    >>> read_table(counts, columns=["job"], weight="n").to_columns()
    ({'job': ['clerk', 'cook']}, [7.0, 15.0])
    """
    opened = open_source(source)
    if columns is None:
        declared = opened.disclosure
        columns = [name for name in opened.columns if name != (weight if declared is None else declared.count)]
    return opened.read(columns, weight=weight, missing=missing, numbers=numbers)
