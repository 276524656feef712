"""The arrays that every bound reads: what is known inside each stratum, and of which tables."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BOTH", "EXTERNAL_ONLY", "INTERNAL_ONLY", "Atoms", "StrataArrays", "atoms_of"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

BOTH: Final = 0
INTERNAL_ONLY: Final = 1
EXTERNAL_ONLY: Final = 2


class StrataArrays(NamedTuple):
    """C strata, G groups, A outcome atoms in all; atoms of stratum c are ``offsets[c]:offsets[c + 1]``.

    Attributes
    ----------
    mass : array, shape (C,)
        Weight of each stratum in the audited population; sums to 1.
    shares : array, shape (C, G)
        P(group | stratum); rows sum to 1, rows of internal-only strata are 0.
    side : array of int, shape (C,)
        `BOTH`, `INTERNAL_ONLY` (shares unknown) or `EXTERNAL_ONLY` (outcome unknown, no atoms).
    offsets : array of int, shape (C + 1,)
    weight : array, shape (A,)
        P(atom | stratum); sums to 1 in each stratum that has atoms.
    """

    mass: FloatArray
    shares: FloatArray
    side: IntArray
    offsets: IntArray
    weight: FloatArray

    @property
    def certain_group_mass(self) -> FloatArray:
        """Mass of each group, internal-only strata aside, shape (G,)."""
        return self.mass @ self.shares

    @property
    def atom_stratum(self) -> IntArray:
        """Stratum of each atom, shape (A,)."""
        return np.repeat(np.arange(len(self.mass)), np.diff(self.offsets))

    @property
    def atom_mass(self) -> FloatArray:
        """Mass of each atom in the audited population, shape (A,)."""
        return self.weight * self.mass[self.atom_stratum]


class Atoms(NamedTuple):
    """Outcome atoms as a linear program sees them, those of unknown outcomes included.

    An outcome that is unknown (external-only strata) becomes atoms without a limit: counted, among but not counted,
    and, for a conditional rate, neither.

    Attributes
    ----------
    counted, among : array, shape (N,)
    stratum : array of int, shape (N,)
    mass : array, shape (N,)
        Infinite where the outcome is unknown.
    """

    counted: FloatArray
    among: FloatArray
    stratum: IntArray
    mass: FloatArray


def atoms_of(strata: StrataArrays, counted: FloatArray, among: FloatArray) -> Atoms:
    """Return the known atoms, then those of each stratum of unknown outcome."""
    unknown = np.flatnonzero(strata.side == EXTERNAL_ONLY)
    made = np.array([(1.0, 1.0), (0.0, 1.0), (0.0, 0.0)][: 3 if np.any(among < 1) else 2])
    return Atoms(
        np.concatenate([counted, np.tile(made[:, 0], len(unknown))]),
        np.concatenate([among, np.tile(made[:, 1], len(unknown))]),
        np.concatenate([strata.atom_stratum, np.repeat(unknown, len(made))]),
        np.concatenate([strata.atom_mass, np.full(len(unknown) * len(made), np.inf)]),
    )
