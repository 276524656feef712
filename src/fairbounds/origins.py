"""Where a table came from, and what was missing there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Missing", "Origin", "people_behind"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Missing:
    """What a source held where a value was missing.

    Attributes
    ----------
    column : str
    rows : int
        Rows without a value in this column.
    share : float
        Their part of the source's total weight, in [0, 1].
    """

    column: str
    rows: int
    share: float


@dataclass(frozen=True)
class Origin:
    """Where a table came from; travels with it into the report.

    Attributes
    ----------
    source : str
        File name or kind of dataframe, as the user knows it.
    rows : int
        Rows read, before any were dropped.
    weight : str or None
        Column that carried the weights.
    missing : tuple of Missing
        Columns with missing values.
    missing_policy : str
        ``error``, ``drop`` or ``level``.
    dropped_rows : int
        Rows left out for a missing value (policy ``drop``).
    dropped_share : float
        Their part of the total weight, in [0, 1].
    sha256 : str or None
        Hash of the file's bytes.
    sample_size : float or None
        How many people drawn at random the rows that were kept are worth (docs/method.md, 7): their number, the total
        of a table of counts, or Kish's effective size of weighted rows; ``None`` where that is not known.
    """

    source: str
    rows: int
    weight: str | None = None
    missing: tuple[Missing, ...] = ()
    missing_policy: str = "error"
    dropped_rows: int = 0
    dropped_share: float = 0.0
    sha256: str | None = None
    sample_size: float | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Origin:
        """Rebuild from ``dataclasses.asdict``."""
        return cls(**{**data, "missing": tuple(Missing(**entry) for entry in data["missing"])})


def people_behind(weights: FloatArray, origin: Origin | None) -> float | None:
    """Return the sample size that was found on reading; where none was, weights that are whole numbers count people."""
    if origin is not None and (origin.sample_size is not None or origin.weight is not None):
        return origin.sample_size
    return float(weights.sum()) if np.all(weights == np.round(weights)) else None
