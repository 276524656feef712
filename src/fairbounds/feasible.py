"""The joints that fit both tables, arranged for sampling: internal cells by groups inside every stratum.

A joint gives every internal cell's mass to the groups. Where both tables have seen a stratum, cells and groups have
fixed sums (a transportation polytope). Where the shares are unknown, each cell's mass may go to any groups; where the
outcome is unknown, each group's mass may have any outcome (docs/method.md, 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, whole_number
from fairbounds.kernels.strata import BOTH, EXTERNAL_ONLY, INTERNAL_ONLY
from fairbounds.metrics import event_indicators
from fairbounds.problem import Problem
from fairbounds.tables import Table, Variable

__all__ = ["Coordinates", "FeasibleSet", "free_parameters"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Coordinates: TypeAlias = Literal["internal", "outcome"]


@dataclass(frozen=True, eq=False)
class FeasibleSet:
    """C strata that both tables have seen, with A internal cells and G groups, and what is open elsewhere.

    Attributes
    ----------
    cells : Table
        The internal table's cells, in the order of the strata; weights are masses in the audited population.
    protected : Variable
        The groups.
    offsets : array of int, shape (C + 1,)
        Cells of stratum c are ``offsets[c]:offsets[c + 1]``.
    group_mass : array, shape (C, G)
    events : array, shape (A, E)
        P(event | cell), for `Rate.of_events`.
    unshared, unshared_events : array, shape (B,) and (B, E)
        Masses of cells that may go to any group (strata that the external table lacks), and their events.
    undecided : array, shape (D, G)
        Masses of groups that may have any outcome (strata that the internal table lacks).
    """

    cells: Table
    protected: Variable
    offsets: IntArray
    group_mass: FloatArray
    events: FloatArray
    unshared: FloatArray
    unshared_events: FloatArray
    undecided: FloatArray

    @classmethod
    def of(cls, problem: Problem, coordinates: Coordinates = "internal") -> FeasibleSet:
        """Arrange a problem.

        Parameters
        ----------
        problem : Problem
        coordinates : {"internal", "outcome"}
            Whether a cell is a combination of all internal variables, or of the common ones and the outcome alone.
        """
        if coordinates not in get_args(Coordinates):
            raise ProblemError(f"coordinates are 'internal' or 'outcome', not {coordinates!r}")
        table = problem.internal
        if coordinates == "outcome":
            table = table.marginal([*problem.common, *problem.outcome.columns])
        stratum, strata = problem.locate(table), problem.strata
        whole = np.bincount(stratum[stratum >= 0], table.weights[stratum >= 0], len(strata.mass))
        mass = np.where(stratum >= 0, table.weights * (strata.mass / np.where(whole > 0, whole, 1.0))[stratum], 0.0)
        events = event_indicators(*problem.outcome.atoms(table))
        side = np.where(stratum >= 0, strata.side[stratum], EXTERNAL_ONLY)
        order = np.flatnonzero(side == BOTH)
        order = order[np.argsort(stratum[order], kind="stable")]
        open_cells, known = side == INTERNAL_ONLY, strata.side == BOTH
        return cls(
            cells=Table(table.variables, table.codes[order], mass[order]),
            protected=Variable(problem.protected, problem.groups),
            offsets=np.concatenate([[0], np.cumsum(np.bincount(stratum[order], minlength=len(known))[known])]),
            group_mass=_fitted(strata.mass[known], strata.shares[known]),
            events=events[order],
            unshared=mass[open_cells],
            unshared_events=events[open_cells],
            undecided=strata.mass[strata.side == EXTERNAL_ONLY, None] * strata.shares[strata.side == EXTERNAL_ONLY],
        )

    @property
    def cell_mass(self) -> FloatArray:
        """Mass of each internal cell, shape (A,)."""
        return self.cells.weights

    @property
    def one_sided(self) -> bool:
        """Whether part of the audited population lies in strata that one table lacks."""
        return bool(len(self.unshared) or len(self.undecided))

    @property
    def free_by_stratum(self) -> IntArray:
        """Free entries of each stratum that both tables have seen, shape (C,)."""
        groups = (self.group_mass > 0).sum(axis=1)
        return np.asarray((np.diff(self.offsets) - 1) * (groups - 1), dtype=np.int64)

    @property
    def n_free(self) -> int:
        """Number of free parameters: how many numbers would have to be known to know the joint."""
        elsewhere = len(self.unshared) * (len(self.protected) - 1)
        outcomes = int((self.undecided > 0).sum()) * (int(self.events.shape[1]) - 1)
        return int(self.free_by_stratum.sum()) + elsewhere + outcomes

    def table(self, matrix: FloatArray) -> Table:
        """Write a joint, shape (A, G), in the user's own levels."""
        cell, group = np.nonzero(matrix > 0)
        codes = np.column_stack([self.cells.codes[cell], group])
        return Table((*self.cells.variables, self.protected), codes, matrix[cell, group])

    @property
    def binary(self) -> bool:
        """Whether there are two groups, at most two cells in each stratum, and nothing one-sided."""
        return not self.one_sided and len(self.protected) == 2 and int(np.diff(self.offsets).max()) <= 2

    def paired(self, of_cells: FloatArray) -> FloatArray:
        """Arrange numbers of the cells of a `binary` set, shape (A, ...), as (C, 2, ...); 0 for a cell that is not."""
        sizes = np.diff(self.offsets)
        stratum = np.repeat(np.arange(len(sizes)), sizes)
        out = np.zeros((len(sizes), 2, *of_cells.shape[1:]))
        out[stratum, np.arange(len(stratum)) - self.offsets[stratum]] = of_cells
        return out

    def unpaired(self, matrices: FloatArray) -> FloatArray:
        """Undo `paired` for joints of shape (..., C, 2, G): return (..., A, G)."""
        places = np.arange(2) < np.diff(self.offsets)[:, None]
        return matrices[..., places, :]


def _fitted(mass: FloatArray, shares: FloatArray) -> FloatArray:
    """Return group masses whose sums are those of the strata to the last digit."""
    groups = mass[:, None] * shares
    return np.asarray(groups * (mass / groups.sum(axis=1))[:, None])


def free_parameters(internal: int | Sequence[int], common: int | Sequence[int], external: int | Sequence[int]) -> int:
    """Count the free parameters of a joint of which only the two tables are known (docs/method.md, 9).

    Parameters
    ----------
    internal, common, external : int or sequence of int
        Numbers of levels of the variables that only the internal table has, that both have, and that only the
        external table has.

    Returns
    -------
    int
        The same for tables that agree on the common variables and for tables that do not: the disagreement is
        settled by keeping one table's shares of the strata, which are then known once, not twice.

    Examples
    --------
    >>> free_parameters(2, 2, 2), free_parameters(4, 2, 4), free_parameters([4, 5], [7, 2], [2, 5])
    (2, 18, 2394)
    """
    given = {"internal": internal, "common": common, "external": external}
    sizes = [
        math.prod(whole_number(f"every number of {role} levels", n) for n in _listed(levels))
        for role, levels in given.items()
    ]
    return sizes[1] * (sizes[0] - 1) * (sizes[2] - 1)


def _listed(levels: int | Sequence[int]) -> Sequence[int]:
    return levels if isinstance(levels, Sequence) else [levels]
