"""Results as dataframes, in whichever library the user has."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

from fairbounds.errors import MissingDependencyError, ProblemError, listed

__all__ = ["LIBRARIES", "Columns", "to_frame"]

Columns: TypeAlias = Mapping[str, Sequence[Any]]

LIBRARIES = ("polars", "pandas", "pyarrow")


def to_frame(columns: Columns, library: str | None = None) -> Any:
    """Make a dataframe of columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        Numbers, truth values, text or ``None``; a column of several kinds becomes text.
    library : {"polars", "pandas", "pyarrow"}, optional
        By default the one that is imported already, or else the first that is installed, in this order.

    Examples
    --------
    >>> to_frame({"group": ["F", "M"], "lower": [0.5, None]}, "pandas").shape
    (2, 2)
    """
    import narwhals.stable.v2 as nw

    kinds = {"text": nw.String, "truth": nw.Boolean, "whole": nw.Int64, "number": nw.Float64}
    typed = {name: _typed(values) for name, values in columns.items()}
    schema = {name: kinds[kind]() for name, (kind, _) in typed.items()}
    data = {name: values for name, (_, values) in typed.items()}
    return nw.from_dict(data, schema, backend=_chosen(library)).to_native()


def _chosen(library: str | None) -> Any:
    """Settle which library is meant, and that it is there."""
    if library is not None and library not in LIBRARIES:
        raise ProblemError(f"there are dataframes of {listed(LIBRARIES)}, not of {library!r}")
    order = LIBRARIES if library is None else (library,)
    found = [name for name in order if name in sys.modules] or [name for name in order if find_spec(name)]
    if not found:
        raise MissingDependencyError.extra(order[0], order[0], "to_frame()")
    return found[0]


def _typed(values: Sequence[Any]) -> tuple[str, list[Any]]:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "truth", list(values)
    if kinds == {int}:
        whole = None not in values  # pandas has no missing whole number that every version reads
        return ("whole" if whole else "number"), list(values)
    if kinds and kinds <= {int, float}:
        return "number", [None if value is None else float(value) for value in values]
    return "text", [None if value is None else str(value) for value in values]
