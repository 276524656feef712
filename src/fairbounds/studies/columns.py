"""Results as plain columns, ready for CSV and JSON: names to lists of equal length, ``None`` for no value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Columns", "columns_of_arrays", "columns_of_records"]

Columns: TypeAlias = dict[str, list[Any]]


def columns_of_records(records: Iterable[Mapping[str, Any]]) -> Columns:
    """Turn records with the same keys into columns.

    Examples
    --------
    >>> columns_of_records([{"n": 1, "mean": 0.5}, {"n": 0, "mean": float("nan")}])
    {'n': [1, 0], 'mean': [0.5, None]}
    """
    columns: Columns = {}
    for record in records:
        for name, value in record.items():
            columns.setdefault(name, []).append(_plain(value))
    return columns


def columns_of_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> Columns:
    """Turn arrays of one length into columns.

    Examples
    --------
    >>> columns_of_arrays({"trial": np.arange(2), "di": np.array([1.5, np.inf])})
    {'trial': [0, 1], 'di': [1.5, None]}
    """
    return {name: [_plain(value) for value in array.tolist()] for name, array in arrays.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
