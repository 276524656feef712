"""What every source shares: the request, the coding of levels, and the policies for weights and missing values."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from fairbounds.errors import SourceError, listed, nearest
from fairbounds.levels import Level, factorise, show
from fairbounds.origins import Disclosure, Missing, Origin
from fairbounds.tables import Table, Variable, distinct_rows

__all__ = [
    "Cells",
    "Coder",
    "Column",
    "MissingPolicy",
    "Request",
    "Source",
    "bad_weights",
    "build",
    "counted",
    "placed",
    "repeated",
    "to_level",
    "weighed",
]

MissingPolicy: TypeAlias = Literal["error", "drop", "level"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Column: TypeAlias = tuple[Sequence[Level], IntArray]
"""Levels (repeats allowed) and, for every cell, the position of its level."""


@runtime_checkable
class Source(Protocol):
    """Anything a `Table` can be read from.

    Attributes
    ----------
    name : str
        What the user knows it as: a file name, or for example ``pandas dataframe``.
    columns : tuple of str
        Column names, known without reading the data.
    """

    @property
    def name(self) -> str:
        """What the user knows it as."""

    @property
    def place(self) -> str:
        """What messages call it: its role and its name."""

    @property
    def hint(self) -> str:
        """What to add to a message about a column that it lacks; often nothing."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in the source's order."""

    @property
    def disclosure(self) -> Disclosure | None:
        """How its counts were altered, and which column they are, if it declares that."""

    def read(
        self,
        columns: Sequence[str],
        *,
        weight: str | None = None,
        missing: MissingPolicy = "error",
        numbers: Sequence[str] = (),
    ) -> Table:
        """Reduce the source to the cells of some columns; see `fairbounds.read_table` for the parameters."""


def placed(role: str, what: str) -> str:
    """Say which source a message is about; the role ``table`` goes without saying."""
    return what if role == "table" else f"{role} {what}"


def counted(n: int, noun: str) -> str:
    """Write ``1 row`` and ``2,000 rows``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, in order of first sight."""
    counts: dict[str, int] = defaultdict(int)
    for name in names:
        counts[name] += 1
    return [name for name, count in counts.items() if count > 1]


# -- what is asked for -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Request:
    """What `Source.read` was asked for, checked against the source's columns."""

    source: str
    place: str
    columns: tuple[str, ...]
    weight: str | None
    missing: MissingPolicy
    numbers: tuple[str, ...]
    known: tuple[str, ...]
    hint: str = ""
    disclosure: Disclosure | None = None

    def __post_init__(self) -> None:
        policies = get_args(MissingPolicy)
        if self.missing not in policies:
            raise SourceError(f"missing must be {listed(policies)}, not {self.missing!r}")
        if not self.columns:
            raise SourceError(f"no column of {self.place} was asked for; it has {listed(self.known)}")
        self._check_repeats()
        self._check_declared()
        for name in (*self.columns, *self.numbers, *([] if self.weight is None else [self.weight])):
            if name not in self.known:
                raise SourceError(
                    f"{self.place} has no column {name!r}{nearest(name, self.known)}; "
                    f"its columns are {listed(self.known, most=12)}{self.hint}"
                )

    def _check_declared(self) -> None:
        declared = self.disclosure
        if declared is not None and self.weight != declared.count:
            raise SourceError(
                f"{self.place} declares that its counts are in {declared.count!r}; name no other weight than that, not "
                f"{self.weight!r}"
            )

    def _check_repeats(self) -> None:
        if twice := repeated(self.columns):
            raise SourceError(f"{listed(twice)} was asked for twice from {self.place}; name each column once")
        if self.weight in self.columns:
            raise SourceError(f"{self.weight!r} of {self.place} cannot be both the weight and a variable")
        if stray := [name for name in self.numbers if name not in self.columns]:
            raise SourceError(f"{listed(stray)} of {self.place} is to be read as numbers but was not asked for")


# -- coding levels -----------------------------------------------------------------------------------------------------


def to_level(value: Any, column: str, place: str) -> Level:
    """Turn a value of a dataframe library into a level; NaN, NaT and NA are missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, (float, decimal.Decimal)) and value != value:  # noqa: PLR0124  NaN alone differs from itself
        return None
    if isinstance(value, dt.datetime) and hasattr(value, "to_pydatetime"):
        return value.to_pydatetime(warn=False)  # type: ignore[no-any-return]
    if isinstance(value, (str, int, float, decimal.Decimal, dt.date)):
        return value
    if isinstance(value, uuid.UUID) or type(value).__name__ in {"Interval", "Period"}:
        return str(value)
    raise unusable([column], place, f"{type(value).__name__} values such as {value!r}")


def unusable(columns: Sequence[str], place: str, holding: str) -> SourceError:
    """Say that a column's type makes no levels."""
    return SourceError(
        f"{listed(columns)} of {place} holds {holding}; a level must be text, a number, true/false or a date"
    )


class Coder:
    """Gives the values of one column codes as they arrive."""

    def __init__(self, column: str, place: str) -> None:
        self._column, self._place = column, place
        self._index: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
        self._parts: list[IntArray] = []

    def add(self, values: Collection[Any]) -> None:
        """Take the next values."""
        try:
            codes = np.fromiter(map(self._index.__getitem__, values), dtype=np.int64, count=len(values))
        except TypeError:
            odd = next(value for value in values if type(value).__hash__ is None)
            raise unusable([self._column], self._place, f"{type(odd).__name__} values such as {odd!r}") from None
        self._parts.append(codes)

    def column(self) -> Column:
        """Return the distinct levels and one code per value."""
        codes = np.concatenate(self._parts) if self._parts else np.empty(0, dtype=np.int64)
        return [to_level(value, self._column, self._place) for value in self._index], codes


@dataclass(frozen=True)
class Cells:
    """What a source hands over: coded columns, and the weight, rows and sum of squared weights of every cell.

    Cells may repeat, and missing values are among the levels. Of counts that were altered, `off_by` is how far the
    weight of a cell may be off, and `suppressed` how many of its rows had no count.
    """

    columns: Mapping[str, Column]
    weights: FloatArray
    rows: IntArray
    squares: FloatArray
    off_by: FloatArray | None = None
    suppressed: FloatArray | None = None

    def kept(self, mask: npt.NDArray[np.bool_]) -> Cells:
        """Return some of the cells."""
        columns = {name: (levels, codes[mask]) for name, (levels, codes) in self.columns.items()}
        altered = (None if part is None else part[mask] for part in (self.off_by, self.suppressed))
        return Cells(columns, self.weights[mask], self.rows[mask], self.squares[mask], *altered)


# -- weights -----------------------------------------------------------------------------------------------------------


def bad_weights(ask: Request, first: Any, n_bad: int) -> SourceError:
    """Say which weight is not one, given the first of them as it was found."""
    missing = first is None or first != first  # noqa: PLR0124
    found = "no value" if missing else repr(first) if isinstance(first, str) else f"{first}"
    way_out = (
        "write 0 there or leave the row out" if missing else "weights must be finite numbers that are not negative"
    )
    return SourceError(
        f"weight column {ask.weight!r} of {ask.place} has {counted(n_bad, 'row')} without a usable weight, "
        f"the first with {found}; {way_out}"
    )


def weighed(ask: Request, column: Column, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each cell, and its sum of squares, where the weight is one of the columns grouped by."""
    levels, codes = column
    values = np.array([_float(level) for level in levels], dtype=np.float64)
    usable = np.isfinite(values) & (values >= 0)
    if not usable.all():
        first = levels[int(codes[~usable[codes]][0])]
        raise bad_weights(ask, first, int(rows[~usable[codes]].sum()))
    each = values[codes]
    with np.errstate(over="ignore"):
        return np.asarray(each * rows, dtype=np.float64), np.asarray(each**2 * rows, dtype=np.float64)


def _float(level: Level) -> float:
    """Read a level as a number; NaN where it is none or missing."""
    if isinstance(level, str) and "_" in level:  # float() would take 1_000, which no other tool does
        return float("nan")
    try:
        return float(level)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


# -- from cells to a table ---------------------------------------------------------------------------------------------


def build(cells: Cells, ask: Request, sha256: str | None = None) -> Table:
    """Check the weights, convert numbers, apply the policy for missing values, and add the cells up."""
    n_rows, total = _totals(cells, ask)
    columns = {
        name: _numbers(name, column, cells.rows, ask) if name in ask.numbers else column
        for name, column in cells.columns.items()
    }
    cells = replace(cells, columns=columns)
    gaps = {name: gap for name, column in columns.items() if (gap := _gaps(column)).any()}
    missing = tuple(Missing(name, *_extent(cells, gap, total)) for name, gap in gaps.items())
    dropped = (0, 0.0)
    if missing and ask.missing == "error":
        raise _missing_error(missing, ask)
    if missing and ask.missing == "drop":
        lost = np.logical_or.reduce(list(gaps.values()))
        dropped = _extent(cells, lost, total)
        cells = _without(cells, lost, missing, ask)
    origin = Origin(ask.source, n_rows, ask.weight, missing, ask.missing, *dropped, sha256)
    return _table(cells, replace(origin, disclosure=ask.disclosure))


def _totals(cells: Cells, ask: Request) -> tuple[int, float]:
    """Return the number of rows and the total weight, neither of which may be nothing."""
    with np.errstate(over="ignore"):
        n_rows, total = int(cells.rows.sum()), float(cells.weights.sum())
    if n_rows == 0:
        raise SourceError(f"{ask.place} has columns but no rows; there is nothing to audit")
    if not np.isfinite(total):
        raise SourceError(
            f"weight column {ask.weight!r} of {ask.place} adds up to more than a number can hold; "
            "divide it by a constant"
        )
    if total == 0:
        raise SourceError(f"weight column {ask.weight!r} of {ask.place} is zero in all of its {counted(n_rows, 'row')}")
    return n_rows, total


def _extent(cells: Cells, mask: npt.NDArray[np.bool_], total: float) -> tuple[int, float]:
    """Return the rows of some cells, and their part of the total weight."""
    return int(cells.rows[mask].sum()), float(cells.weights[mask].sum()) / total


def _gaps(column: Column) -> npt.NDArray[np.bool_]:
    levels, codes = column
    return np.array([level is None for level in levels], dtype=bool)[codes]


def _without(cells: Cells, lost: npt.NDArray[np.bool_], missing: Sequence[Missing], ask: Request) -> Cells:
    kept = cells.kept(~lost)
    if not kept.weights.sum() > 0:
        columns = listed(gap.column for gap in missing)
        raise SourceError(f"no row of {ask.place} is left once those without a value in {columns} are dropped")
    return kept


def _missing_error(missing: Sequence[Missing], ask: Request) -> SourceError:
    where = ", ".join(f"{gap.column!r} in {counted(gap.rows, 'row')} ({gap.share:.2%})" for gap in missing)
    return SourceError(
        f'{ask.place} has missing values: {where}; leave these rows out with --missing drop (missing="drop"), '
        f'or keep them as a level of their own with --missing level (missing="level")'
    )


def _numbers(name: str, column: Column, rows: IntArray, ask: Request) -> Column:
    levels, codes = column
    values = [None if level is None else _float(level) for level in levels]
    nan = np.array([value is not None and value != value for value in values], dtype=bool)  # noqa: PLR0124
    said_nan = [isinstance(level, str) and level.strip().casefold() == "nan" for level in levels]
    bad = nan & ~np.array(said_nan, dtype=bool)
    if bad.any():
        count = np.bincount(codes, weights=rows, minlength=len(levels))
        found = [f"{show(levels[at])!r} in {counted(int(count[at]), 'row')}" for at in np.flatnonzero(bad).tolist()]
        more = f" and {counted(len(found) - 5, 'more value')}" if len(found) > 5 else ""
        raise SourceError(f"{name!r} of {ask.place} must hold numbers, but has {', '.join(found[:5])}{more}")
    return [None if value is None or value != value else value for value in values], codes  # noqa: PLR0124


def _table(cells: Cells, origin: Origin) -> Table:
    """Sort the levels, merge those that are equal, and add up the cells that meet."""
    known: dict[str, tuple[Level, ...]] = {}
    codes: dict[str, IntArray] = {}
    for name, (levels, code) in cells.columns.items():
        known[name], position = factorise(levels)
        codes[name] = position[code]
    coded = Table.from_columns(codes, cells.weights)
    origin = replace(
        origin,
        sample_size=_sample_size(codes, cells, coded, origin),
        disclosure=_disclosed(codes, cells, origin.disclosure),
    )
    variables = tuple(
        Variable(variable.name, tuple(known[variable.name][int(code)] for code in variable.levels))  # type: ignore[arg-type]
        for variable in coded.variables
    )
    return Table(variables, coded.codes, coded.weights, origin)


def _disclosed(codes: Mapping[str, IntArray], cells: Cells, declared: Disclosure | None) -> Disclosure | None:
    """Add what was read to what was declared: cells that meet may be off by all of their parts together.

    Cells that noise left without anybody are no cells of the table; by how much they are off falls to the others.
    """
    if declared is None or cells.off_by is None or cells.suppressed is None:
        return declared
    _, cell = distinct_rows(np.column_stack(list(codes.values())), [int(code.max()) + 1 for code in codes.values()])
    off = np.bincount(cell, weights=cells.off_by)
    occupied = np.bincount(cell, weights=cells.weights) > 0
    off_by = float(max(off.max(), off.sum() / occupied.sum()))
    return replace(declared, suppressed_cells=int(cells.suppressed.sum()), off_by=off_by)


def _sample_size(codes: Mapping[str, IntArray], cells: Cells, coded: Table, origin: Origin) -> float | None:
    """Return how many people drawn at random the rows are worth (docs/method.md, 7)."""
    if origin.weight is None:
        return float(cells.rows.sum())
    if origin.disclosure is not None:
        return coded.total
    with np.errstate(over="ignore", under="ignore"):
        squares, squared = float(cells.squares.sum()), coded.weights**2
    if not 0 < squares < np.inf:
        return None
    whole = bool(np.all(cells.weights == np.round(cells.weights)))
    # One row a cell, rows without weight aside: the sum of squares is then the square of the sum.
    if whole and np.allclose(Table.from_columns(codes, cells.squares).weights, squared, rtol=1e-12, atol=0):
        return coded.total
    return coded.total / squares * coded.total
