"""The query that counts in a warehouse, for whoever may not take the rows out of it: ANSI SQL, every name quoted."""

from __future__ import annotations

from collections.abc import Sequence

from fairbounds.errors import SourceError
from fairbounds.origins import Disclosure
from fairbounds.sources.declaring import MARK, as_text

__all__ = ["counting_query"]


def counting_query(
    table: str,
    columns: Sequence[str],
    declared: Disclosure,
    *,
    weight: str | None = None,
    drop_missing: bool = False,
) -> str:
    """Write the query that makes a file of counts, and the line that declares what was done to them.

    Parameters
    ----------
    table : str
        Name of the table; dots part it from its schema.
    columns : sequence of str
    declared : Disclosure
        Without noise, which a query cannot add.
    weight : str, optional
        Column of counts to add up; by default rows are counted.
    drop_missing : bool
        Whether rows without a value are left out.

    Examples
    --------
    >>> print(counting_query("loans", ["job"], Disclosure("n", suppress_below=5)))
    -- Save the result as CSV, with this line above the names of the columns:
    -- # fairbounds/counts/1 count=n suppress_below=5
    SELECT "job",
           CASE WHEN COUNT(*) < 5 THEN NULL ELSE COUNT(*) END AS "n"
    FROM "loans"
    GROUP BY "job"
    ORDER BY "job";
    """
    if not all(table.split(".")) or not table:
        raise SourceError(f"{table!r} is no name of a table; write it as table or schema.table")
    names = [_quoted(name) for name in columns]
    total = "COUNT(*)" if weight is None else f"SUM({_quoted(weight)})"
    where = f"WHERE {' AND '.join(f'{name} IS NOT NULL' for name in names)}\n" if drop_missing else ""
    positive = "" if weight is None else f"HAVING {total} > 0\n"
    return (
        "-- Save the result as CSV, with this line above the names of the columns:\n"
        f"-- {MARK}{as_text(declared)}\n"
        f"SELECT {', '.join(names)},\n"
        f"       {_altered(total, declared)} AS {_quoted(declared.count)}\n"
        f"FROM {'.'.join(map(_quoted, table.split('.')))}\n"
        f"{where}GROUP BY {', '.join(names)}\n{positive}ORDER BY {', '.join(names)};"
    )


def _altered(total: str, declared: Disclosure) -> str:
    shown = total
    if declared.round_to is not None:
        unit = declared.round_to
        shown = f"{unit} * FLOOR(({total} + {unit / 2}) / {float(unit)})"
    if declared.suppress_below is None:
        return shown
    return f"CASE WHEN {total} < {declared.suppress_below} THEN NULL ELSE {shown} END"


def _quoted(name: str) -> str:
    if "\0" in name or not name:
        raise SourceError(f"{name!r} is no name of a column or table")
    return '"' + name.replace('"', '""') + '"'
