"""How the rows of a table were drawn, beyond their weights: replicate weights and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, listed

__all__ = ["Clusters", "Drawn", "ReplicateMethod", "Replicates", "Survey", "replicate_factor"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
ReplicateMethod: TypeAlias = Literal["sdr", "brr", "jackknife", "bootstrap"]


def replicate_factor(method: str, replicates: int) -> float:
    """Return what the sum of squared deviations of the replicates is multiplied by.

    Parameters
    ----------
    method : {"sdr", "brr", "jackknife", "bootstrap"}
        Successive differences (the American Community Survey), balanced repeated replication, delete-one jackknife.
    replicates : int

    Examples
    --------
    >>> replicate_factor("sdr", 80)
    0.05
    """
    if method not in get_args(ReplicateMethod):
        raise ProblemError(f"replicate weights are {', '.join(get_args(ReplicateMethod))}, not {method!r}")
    return {"sdr": 4.0, "brr": 1.0, "bootstrap": 1.0, "jackknife": replicates - 1.0}[method] / replicates


@dataclass(frozen=True)
class Drawn:
    """Columns that say how the rows were drawn; a replicate may be a pattern such as ``PWGTP*``.

    Attributes
    ----------
    internal_cluster : str or None
    internal_replicates, external_replicates : tuple of str
    replicate_method : {"sdr", "brr", "jackknife", "bootstrap"}
    replicate_factor : float or None
        In place of the method's own.

    Examples
    --------
    >>> drawn = Drawn(external_replicates=("PWGTP*",))
    >>> drawn.replicates("external", ["SEX", "PWGTP", "PWGTP1", "PWGTP2"], "PWGTP", "file 'pums.csv'")
    ('PWGTP1', 'PWGTP2')
    """

    internal_cluster: str | None = None
    internal_replicates: tuple[str, ...] = ()
    external_replicates: tuple[str, ...] = ()
    replicate_method: str = "sdr"
    replicate_factor: float | None = None

    def __post_init__(self) -> None:
        replicate_factor(self.replicate_method, 1)
        if self.replicate_factor is not None and not self.replicate_factor > 0:
            raise ProblemError(f"the factor of replicate weights is a number above 0, not {self.replicate_factor}")

    def __bool__(self) -> bool:
        return bool(self.internal_cluster or self.internal_replicates or self.external_replicates)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {name: list(held) if isinstance(held, tuple) else held for name, held in asdict(self).items()}

    def holds(self, name: str, weight: str | None = None) -> bool:
        """Whether a column is one of these, so that it links nothing and is no feature."""
        patterns = (*self.internal_replicates, *self.external_replicates)
        return name == self.internal_cluster or any(fnmatchcase(name, at) and name != weight for at in patterns)

    def replicates(self, role: str, columns: Sequence[str], weight: str | None, place: str) -> tuple[str, ...]:
        """Return the replicate weights of one source, patterns spelt out; the weight itself is no replicate."""
        asked = self.internal_replicates if role == "internal" else self.external_replicates
        found: list[str] = []
        for pattern in asked:
            held = [name for name in columns if fnmatchcase(name, pattern) and name != weight]
            if not held:
                raise ProblemError(f"{place} has no replicate weights {pattern!r}; its columns are {listed(columns)}")
            found += held
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class Clusters:
    """People of the internal table who were drawn, or decided on, together.

    Attributes
    ----------
    cluster, cell : array of int, shape (M,)
        Which cluster, and which outcome atom of which stratum (`SampleCounts`).
    weight : array, shape (M,)
    """

    cluster: IntArray
    cell: IntArray
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class Replicates:
    """A table, weighted again and again.

    Attributes
    ----------
    tables : array, shape (R, A) or (R, C, G)
        As the counts of `SampleCounts`.
    factor : float
        Of the sum of squared deviations.
    """

    tables: FloatArray
    factor: float


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of both tables; nothing for rows that were drawn one by one."""

    clusters: Clusters | None = None
    internal: Replicates | None = None
    external: Replicates | None = None
