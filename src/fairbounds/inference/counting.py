"""Both tables as samples: how many people of each kind were seen in every stratum."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.inference.plan import Sampling
from fairbounds.mismatch import sample_size
from fairbounds.problem import Problem
from fairbounds.stratification import Stratification
from fairbounds.tables import Table

__all__ = ["SampleCounts", "count", "unknown_size"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_MANY = 1e9


class SampleCounts(NamedTuple):
    """C strata that either table has seen, A outcome atoms, G groups.

    Attributes
    ----------
    offsets : array of int, shape (C + 1,)
        Atoms of stratum c are ``offsets[c]:offsets[c + 1]``; none in strata that the internal table lacks.
    score : array, shape (A,)
    label : array of 0 and 1, shape (A,), or None
    internal : array, shape (A,)
        People, or what weighted people are worth.
    external : array, shape (C, G)
    """

    offsets: IntArray
    score: FloatArray
    label: FloatArray | None
    internal: FloatArray
    external: FloatArray

    @property
    def internal_rows(self) -> FloatArray:
        """Internal people in each stratum, shape (C,)."""
        return np.bincount(self.stratum, weights=self.internal, minlength=len(self.external)).astype(float)

    @property
    def stratum(self) -> IntArray:
        """Stratum of each atom, shape (A,)."""
        return np.repeat(np.arange(len(self.external)), np.diff(self.offsets))

    def per_stratum(self, value: FloatArray) -> FloatArray:
        """Add up a value of the atoms over the people of each stratum, shape (C,)."""
        return np.bincount(self.stratum, weights=value * self.internal, minlength=len(self.external)).astype(float)


def count(problem: Problem, plan: Sampling | None = None) -> SampleCounts:
    """Return the people seen, weighted tables scaled to what they are worth.

    Parameters
    ----------
    problem : Problem
    plan : Sampling, optional
        Sample sizes; by default those found on reading (docs/method.md, 7).

    Returns
    -------
    SampleCounts
    """
    plan = plan or Sampling()
    unknown = unknown_size(problem, plan)
    if unknown is not None:
        raise ProblemError(unknown)
    strata = Stratification(problem.internal, problem.external, problem.common)
    atoms = problem.internal.marginal([*problem.common, *problem.outcome.columns])
    score, label = problem.outcome.atoms(atoms)
    groups = [problem.external[problem.protected].code(group) for group in problem.groups]
    external = np.zeros((len(strata.codes), len(problem.external[problem.protected])))
    cells = (strata.locate(problem.external), problem.external.column(problem.protected))
    np.add.at(external, cells, _people(problem.external, _external_size(problem, plan)))
    return SampleCounts(
        offsets=np.concatenate([[0], np.cumsum(np.bincount(strata.locate(atoms), minlength=len(strata.codes)))]),
        score=score,
        label=label,
        internal=_people(atoms, plan.internal_size or sample_size(problem.internal) or 0.0),
        external=np.ascontiguousarray(external[:, groups]),
    )


def unknown_size(problem: Problem, plan: Sampling) -> str | None:
    """Say which sample size is not known and how to give it, or nothing."""
    given = {"internal": plan.internal_size, "external": plan.external_size}
    for role, table in (("internal", problem.internal), ("external", problem.external)):
        full = role == "external" and plan.external_is_census
        if not full and given[role] is None and sample_size(table) is None:
            flags = f"--{role}-size ({role}_size=)"
            census = "" if role == "internal" else ", or say that it is a full count with --external-census"
            return (
                f"the weights of the {role} table are no counts, so its sample size is not known; give it with "
                f"{flags}{census}"
            )
    return None


def _external_size(problem: Problem, plan: Sampling) -> float:
    """Return the size of the external sample; how much a full count adds up to does not matter."""
    return plan.external_size or sample_size(problem.external) or _MANY


def _people(table: Table, size: float) -> FloatArray:
    """Scale a table's weights to the size of the sample."""
    return np.asarray(table.weights * (size / table.total))
