"""Dataframes of any library that narwhals knows, grouped by their own engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from fairbounds.errors import MissingDependencyError, SourceError, listed
from fairbounds.sources.base import (
    Cells,
    Coder,
    Column,
    MissingPolicy,
    Request,
    bad_weights,
    build,
    placed,
    repeated,
    to_level,
    unusable,
    weighed,
)
from fairbounds.tables import Table

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

__all__ = ["FrameSource", "wrapped"]

_KINDS = {
    "pandas": "pandas dataframe",
    "polars": "polars dataframe",
    "pyarrow": "pyarrow table",
    "duckdb": "DuckDB relation",
    "dask": "Dask dataframe",
    "ibis": "Ibis table",
    "pyspark": "PySpark dataframe",
    "pyspark[connect]": "PySpark dataframe",
}
_NO_LEVELS = ("List", "Array", "Struct", "Binary", "Duration", "Time")
_ENGINES = frozenset({"duckdb", "_duckdb", "polars", "pyarrow", "pyspark", "py4j", "ibis"})
_ROWS, _WEIGHT, _GOOD, _SQUARE = "n_rows", "weight", "n_good", "square"


class FrameSource:
    """A dataframe, lazy or not."""

    def __init__(self, data: object, role: str = "table") -> None:
        self._frame = wrapped(data, role)
        self.name = _kind(self._frame)
        self.place = placed(role, self.name)
        with _explained(self.place):
            self._schema = dict(self._frame.collect_schema())
        self.columns = tuple(self._schema)
        self.disclosure = None
        if twice := repeated(self._frame.columns):
            raise _named_twice(self.place, twice)

    def read(
        self,
        columns: Sequence[str],
        *,
        weight: str | None = None,
        missing: MissingPolicy = "error",
        numbers: Sequence[str] = (),
    ) -> Table:
        """Group in the frame's own engine and collect the cells only."""
        known, hint = self.columns, self.hint
        ask = Request(self.name, self.place, tuple(columns), weight, missing, tuple(numbers), known, hint)
        for name in ask.columns:
            if (kind := type(self._schema[name]).__name__) in _NO_LEVELS:
                raise unusable([name], self.place, f"values of type {kind}")
        return build(self._cells(ask), ask)

    @property
    def hint(self) -> str:
        """Name the index of a pandas frame, where a column that is not found often is."""
        names = getattr(getattr(self._frame.to_native(), "index", None), "names", None) or ()
        named = [name for name in names if name is not None]
        return f", and its index holds {listed(named)}: call reset_index() to make that a column" if named else ""

    def _cells(self, ask: Request) -> Cells:
        numeric = ask.weight is not None and self._schema[ask.weight].is_numeric()
        names = [*ask.columns, *([] if ask.weight is None or numeric else [ask.weight])]
        with _explained(self.place, names):
            found = _grouped(self._frame, names, ask.weight if numeric else None)
        rows = np.array(found[_ROWS], dtype=np.int64)
        self._check_rows(rows)
        coded = {name: _coded(name, found[f"k{at}"], self.place) for at, name in enumerate(names)}
        if ask.weight is None:
            return Cells(coded, rows.astype(np.float64), rows, rows.astype(np.float64))
        if not numeric:
            weights, squares = weighed(ask, coded.pop(ask.weight), rows)
            return Cells(coded, weights, rows, squares)
        n_bad = int(rows.sum()) - sum(int(good or 0) for good in found[_GOOD])
        if n_bad:
            with _explained(self.place):
                first = _first_bad_weight(self._frame, ask.weight)
            raise bad_weights(ask, first, n_bad)
        weights, squares = (np.array([float(value or 0) for value in found[name]]) for name in (_WEIGHT, _SQUARE))
        return Cells(coded, weights, rows, squares)

    def _check_rows(self, rows: np.ndarray[Any, Any]) -> None:
        """Hold grouping to account for every row: a lost group is the worst bug an audit can have."""
        shape = getattr(self._frame, "shape", None)
        if shape is not None and int(rows.sum()) != shape[0]:
            raise SourceError(f"grouping the {self.place} lost {shape[0] - int(rows.sum())} of {shape[0]} rows")


def wrapped(data: Any, role: str) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Take any dataframe, its column names made text."""
    import narwhals.stable.v2 as nw

    if type(data).__module__.partition(".")[0] == "narwhals":
        data = nw.to_native(data, pass_through=True)
    what = f"the {role}" if role == "table" else f"the {role} table"
    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(_text_names(data, role))
    except TypeError:
        kind = f"{type(data).__module__}.{type(data).__qualname__}".removeprefix("builtins.")
        raise SourceError(f"{what} must be a path, a dataframe or a fairbounds Table, not {kind}") from None
    except nw.exceptions.DuplicateError:
        names = data.column_names if hasattr(data, "column_names") else list(data.columns)
        raise _named_twice(f"{what}, a {type(data).__name__},", repeated(map(str, names))) from None
    return frame


def _named_twice(place: str, names: Sequence[str]) -> SourceError:
    return SourceError(f"{place} has the column {listed(names)} more than once; rename one")


def _text_names(data: Any, role: str) -> Any:
    """Give a pandas frame whose columns are numbered names of text."""
    names: Any = getattr(data, "columns", None) if hasattr(type(data), "set_axis") else None
    if not hasattr(names, "nlevels"):
        return data
    if names.nlevels > 1:
        raise SourceError(f"the {placed(role, 'dataframe')} has column names of several levels; join them into one")
    if all(isinstance(name, str) for name in names):
        return data
    return data.set_axis([str(name) for name in names], axis="columns")


def _kind(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> str:
    kind = str(frame.implementation)
    return _KINDS.get(kind, f"{kind} dataframe")


@contextmanager
def _explained(place: str, names: Sequence[str] = ()) -> Iterator[None]:
    """Turn what a dataframe engine says while it computes into a `SourceError`."""
    import narwhals.stable.v2 as nw

    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingDependencyError.extra(package, package, f"reading a {place}") from error
    except nw.exceptions.NarwhalsError as error:
        raise _not_computed(place, error) from error
    except Exception as error:
        if isinstance(error, TypeError) and "unhashable" in str(error):  # pandas, of objects such as lists
            raise unusable(names, place, f"values that cannot be grouped by, {error}") from error
        if type(error).__module__.partition(".")[0] in _ENGINES:
            raise _not_computed(place, error) from error
        raise


def _not_computed(place: str, error: Exception) -> SourceError:
    first = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return SourceError(f"the {place} cannot be computed by its own engine: {first.rstrip('.')}")


def _grouped(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Sequence[str], weight: str | None
) -> dict[str, list[Any]]:
    """Group by the named columns, renamed k0, k1, … lest they meet the names of the sums."""
    import narwhals.stable.v2 as nw

    keys = {f"k{at}": name for at, name in enumerate(names)}
    picked = [nw.col(name).alias(key) for key, name in keys.items()]
    sums = [nw.len().alias(_ROWS)]
    if weight is not None:
        value = nw.col(weight).cast(nw.Float64)
        picked += [value.alias(_WEIGHT), ((value >= 0) & (value < float("inf"))).cast(nw.Int64).alias(_GOOD)]
        picked += [(value * value).alias(_SQUARE)]
        sums += [nw.col(name).sum() for name in (_WEIGHT, _GOOD, _SQUARE)]
    return _collected(frame.select(*picked).group_by(*keys).agg(*sums))


def _collected(frame: Any) -> dict[str, list[Any]]:
    import narwhals.stable.v2 as nw

    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_duckdb():  # DuckDB hands rows to Python itself; narwhals would need pyarrow
            relation = frame.to_native()
            rows = relation.fetchall()
            columns = list(zip(*rows, strict=True)) or [()] * len(relation.columns)
            return {name: list(values) for name, values in zip(relation.columns, columns, strict=True)}
        frame = frame.collect()
    return {name: frame[name].to_list() for name in frame.columns}


def _coded(name: str, values: list[Any], place: str) -> Column:
    coder = Coder(name, place)
    coder.add(values)
    return coder.column()


def _first_bad_weight(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], weight: str) -> Any:
    import narwhals.stable.v2 as nw

    value = nw.col(weight).cast(nw.Float64)
    bad = value.is_null() | ~((value >= 0) & (value < float("inf")))
    found = _collected(frame.select(value.alias(_WEIGHT), bad.alias("bad")).filter(nw.col("bad")).head(1))
    return to_level(found[_WEIGHT][0], weight, "the frame")
