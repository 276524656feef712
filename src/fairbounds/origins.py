"""Where a table came from, and what was missing there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Missing", "Origin"]


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
    """

    source: str
    rows: int
    weight: str | None = None
    missing: tuple[Missing, ...] = ()
    missing_policy: str = "error"
    dropped_rows: int = 0
    dropped_share: float = 0.0
    sha256: str | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Origin:
        """Rebuild from ``dataclasses.asdict``."""
        return cls(**{**data, "missing": tuple(Missing(**entry) for entry in data["missing"])})
