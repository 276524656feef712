"""Levels: the values of a variable, in the user's own spelling and type."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import TableError

__all__ = ["Level", "decode", "encode", "factorise", "interval_labels", "number", "show"]

Level: TypeAlias = str | int | float | bool | dt.date | decimal.Decimal | None

IntArray: TypeAlias = npt.NDArray[np.int64]

MISSING_LABEL = "(missing)"


def show(level: Level) -> str:
    """Return a level as a person reads it.

    Examples
    --------
    >>> show("White"), show(3), show(None)
    ('White', '3', '(missing)')
    """
    return MISSING_LABEL if level is None else str(level)


def factorise(values: Sequence[Any] | npt.NDArray[Any]) -> tuple[tuple[Level, ...], IntArray]:
    """Return sorted distinct levels and codes; mixed types that do not sort keep the order of first sight."""
    array = np.asarray(values) if not isinstance(values, np.ndarray) else values
    if array.dtype.kind in "iufb" and not (array.dtype.kind == "f" and np.isnan(array).any()):
        distinct, codes = np.unique(array, return_inverse=True)
        return tuple(distinct.tolist()), codes.reshape(-1)
    plain = [_plain(value) for value in (values.tolist() if isinstance(values, np.ndarray) else values)]
    seen = dict.fromkeys(plain)
    levels = _sorted_levels(seen)
    position = {level: code for code, level in enumerate(levels)}
    return levels, np.array([position[value] for value in plain], dtype=np.int64)


def _plain(value: Any) -> Level:
    """Turn a numpy scalar or NaN into the Python value that a level is."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if not isinstance(value, Level):
        raise TableError(f"a level must be text, a number, a date or missing, not {value!r} ({type(value).__name__})")
    return value


def _sorted_levels(levels: Iterable[Level]) -> tuple[Level, ...]:
    present = [level for level in levels if level is not None]
    absent = [level for level in levels if level is None]
    try:
        return (*sorted(present), *absent)
    except TypeError:
        return (*sorted(present, key=lambda level: (type(level).__name__, str(level))), *absent)


def number(name: str, level: Level) -> float | None:
    """Read a level as a number; text such as ``"38"`` counts, a missing level stays missing."""
    if level is None:
        return None
    try:
        value = float(level)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TableError(f"{name!r} cannot be binned: its level {level!r} is not a number") from None
    if math.isnan(value):
        raise TableError(f"{name!r} cannot be binned: its level {level!r} is not a number")
    return value


def interval_labels(name: str, edges: Sequence[float]) -> list[str]:
    """Write intervals closed on the left: ``<25``, ``25 to <60``, ``>=60``."""
    if (
        not edges
        or not all(map(math.isfinite, edges))
        or any(later <= earlier for earlier, later in itertools.pairwise(edges))
    ):
        raise TableError(f"bins of {name!r} need increasing edges, not {list(edges)}")
    inner = [f"{low:g} to <{high:g}" for low, high in itertools.pairwise(edges)]
    return [f"<{edges[0]:g}", *inner, f">={edges[-1]:g}"]


def encode(level: Level) -> Any:
    """Turn a level into JSON-ready data; JSON has no dates or decimals, so those carry a tag."""
    if isinstance(level, dt.datetime):
        return {"datetime": level.isoformat()}
    if isinstance(level, dt.date):
        return {"date": level.isoformat()}
    if isinstance(level, decimal.Decimal):
        return {"decimal": str(level)}
    return level


def decode(data: Any) -> Level:
    """Undo `encode`."""
    if not isinstance(data, dict):
        return data  # type: ignore[no-any-return]
    if "datetime" in data:
        return dt.datetime.fromisoformat(data["datetime"])
    if "date" in data:
        return dt.date.fromisoformat(data["date"])
    return decimal.Decimal(data["decimal"])
