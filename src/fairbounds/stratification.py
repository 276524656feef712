"""One list of strata over both tables, and what each table weighs in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.kernels.strata import BOTH, EXTERNAL_ONLY, INTERNAL_ONLY
from fairbounds.levels import show
from fairbounds.tables import Table, distinct_rows

__all__ = ["Stratification"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


class Stratification:
    """Every combination of common levels that either table has seen.

    Parameters
    ----------
    internal, external : Table
        With equal levels of the common variables.
    common : sequence of str

    Attributes
    ----------
    codes : array of int, shape (S, common variables)
    internal_mass, external_mass : array, shape (S,)
        Shares of each table; each sums to 1.
    """

    def __init__(self, internal: Table, external: Table, common: Sequence[str]) -> None:
        self._names = tuple(common)
        self._levels = [internal[name].levels for name in common]
        self._sizes = [len(levels) for levels in self._levels]
        ours, theirs = internal.grouped(common)[0], external.grouped(common)[0]
        self.codes, _ = distinct_rows(np.vstack([ours, theirs]), self._sizes)
        self.internal_mass = self._mass(internal)
        self.external_mass = self._mass(external)

    def _mass(self, table: Table) -> FloatArray:
        return np.bincount(self.locate(table), weights=table.weights, minlength=len(self.codes)) / table.total

    def locate(self, table: Table) -> IntArray:
        """Return the stratum of each cell."""
        own = table.codes[:, [table.axis(name) for name in self._names]]
        _, position = distinct_rows(np.vstack([self.codes, own]), self._sizes)
        return position[len(self.codes) :]

    @property
    def side(self) -> IntArray:
        """Which table has seen each stratum."""
        side = np.full(len(self.codes), BOTH, dtype=np.int64)
        side[self.external_mass == 0] = INTERNAL_ONLY
        side[self.internal_mass == 0] = EXTERNAL_ONLY
        return side

    def name(self, stratum: int) -> str:
        """Return a stratum as a person reads it."""
        codes = self.codes[stratum].tolist()
        return ", ".join(
            f"{name}={show(levels[code])}" for name, levels, code in zip(self._names, self._levels, codes, strict=True)
        )

    def refuse_one_sided(self) -> None:
        """Raise a `ProblemError` if a stratum is seen in one table only."""
        for side, table, mass in (
            (INTERNAL_ONLY, "internal", self.internal_mass),
            (EXTERNAL_ONLY, "external", self.external_mass),
        ):
            found = np.flatnonzero(self.side == side)
            if len(found):
                worst = int(found[np.argmax(mass[found])])
                found_ones = "1 stratum is" if len(found) == 1 else f"{len(found)} strata are"
                raise ProblemError(
                    f"{found_ones} seen in the {table} table only, "
                    f"{mass[found].sum():.2%} of its mass, the largest {self.name(worst)!r}; "
                    "allow them with --unmatched warn"
                )
