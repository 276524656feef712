"""Where a table came from, and what was missing there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import SourceError

__all__ = ["DISCLOSURE", "Disclosure", "Missing", "Origin", "people_behind"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

DISCLOSURE = "fairbounds/counts/1"  # what a file of counts begins its declaration with


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
class Disclosure:
    """How counts were altered before they were handed over: what a file of counts declares, and what became of it.

    Every combination that such a file lists has at least one person, unless noise was added.

    Attributes
    ----------
    count : str
        Column of the counts.
    suppress_below : int or None
        Counts from 1 to one less than this were left empty.
    round_to : int or None
        All other counts were rounded to multiples of this.
    epsilon, scale : float or None
        Budget of differential privacy, and the scale of the discrete Laplace noise that was added to each count.
    noise_within : int or None
        No count was moved by more than this, in 999 files of 1,000; negative counts were set to 0.
    suppressed_cells : int
        Cells without a count that were read.
    off_by : float
        People by which a cell of the table that was read may be off, at most.

    Examples
    --------
    >>> declared = Disclosure("n", suppress_below=5, round_to=10)
    >>> declared.reading(None), declared.reading(40)
    ((2.5, 1.5), (40.0, 5.0))
    >>> Disclosure("n", round_to=5).reading(0)  # somebody was there: one person or two
    (1.5, 0.5)
    """

    count: str
    suppress_below: int | None = None
    round_to: int | None = None
    epsilon: float | None = None
    scale: float | None = None
    noise_within: int | None = None
    suppressed_cells: int = 0
    off_by: float = 0.0

    def reading(self, count: float | None) -> tuple[float, float]:
        """Return what a count is read as, and by how much that may be off; ``None`` is a count left empty.

        An empty count and a 0 are read as the middle of the counts that they may stand for.
        """
        if count is None:
            if self.suppress_below is None:
                raise SourceError("a count is missing although none was suppressed")
            return _middle(1, self.suppress_below - 1)
        if self.round_to is None:
            return float(count), float(self.noise_within or 0)
        return _middle(1, self.round_to // 2) if count == 0 else (float(count), self.round_to / 2)

    @property
    def rounding(self) -> float:
        """The unit of rounding that moves a cell as far as this may have."""
        return 2.0 * self.off_by

    @property
    def is_exact(self) -> bool:
        """Whether all counts are what they were."""
        return self.suppress_below is None and self.round_to is None and self.epsilon is None


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
    disclosure : Disclosure or None
        How the counts were altered before they were handed over, if the file says.
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
    disclosure: Disclosure | None = None

    def merged(self, cells: int) -> Origin:
        """Return the origin of a table in which up to so many cells have become one, and their errors with them."""
        if self.disclosure is None or cells == 1:
            return self
        return replace(self, disclosure=replace(self.disclosure, off_by=self.disclosure.off_by * cells))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Origin:
        """Rebuild from ``dataclasses.asdict``."""
        missing = tuple(Missing(**entry) for entry in data["missing"])
        altered = data.get("disclosure")
        return cls(**{**data, "missing": missing, "disclosure": None if altered is None else Disclosure(**altered)})


def _middle(least: int, most: int) -> tuple[float, float]:
    most = max(least, most)
    return (least + most) / 2, (most - least) / 2


def people_behind(weights: FloatArray, origin: Origin | None) -> float | None:
    """Return the sample size that was found on reading; where none was, weights that are whole numbers count people."""
    if origin is not None and (origin.sample_size is not None or origin.weight is not None):
        return origin.sample_size
    return float(weights.sum()) if np.all(weights == np.round(weights)) else None
