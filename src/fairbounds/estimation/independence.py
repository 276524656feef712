"""Marginal preservation: inside a stratum the outcome does not depend on the group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.estimation.group_events import GroupEvents, atoms_of_strata
from fairbounds.joints import MatchedJoint
from fairbounds.kernels.strata import BOTH
from fairbounds.metrics import event_indicators
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Estimate

__all__ = ["by_independence", "independent_events"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


def by_independence(problem: Problem, questions: Sequence[Question]) -> tuple[Estimate, ...]:
    """Estimate metrics from p(c, g, outcome) = π(c)·r(g|c)·q(outcome|c).

    With the problem's population ``external`` this keeps the external table as it is and takes p(outcome | c) from
    the internal one; with ``internal``, the other way round. Declared not to preserve the margins where some strata
    are seen in one table only: it says nothing about them.
    """
    found, joint = independent_events(problem), _joint(problem)
    complete = bool((problem.strata.side == BOTH).all())
    note = "" if complete else "Strata seen in one table only are left out."
    return tuple(
        Estimate(
            "independence",
            found.value(question),
            margin_preserving=complete,
            note=note,
            joint=joint,
            resampler=found.resampler(question, "independence"),
        )
        for question in questions
    )


def independent_events(problem: Problem) -> GroupEvents:
    """Return Σ π(c) r(g|c) P(event|c) over strata that both tables have seen."""
    strata = problem.strata
    events = event_indicators(problem.score, problem.label)
    stratum, known = strata.atom_stratum, strata.side == BOTH
    by_stratum = np.stack(
        [np.bincount(stratum, weights=column * strata.weight, minlength=len(known)) for column in events.T], axis=1
    )
    groups = np.where(known, strata.mass, 0.0)[:, None] * strata.shares
    return GroupEvents(groups.T @ by_stratum, lambda: atoms_of_strata(problem, groups, events))


def _joint(problem: Problem) -> MatchedJoint | None:
    """Put together the full tables, so that people have every internal and external variable."""
    known = problem.strata.side == BOTH
    mass = np.where(known, problem.strata.mass, 0.0)
    if not known.any():
        return None
    inside, outside = (_located(problem.locate(table), known) for table in (problem.internal, problem.external))
    return MatchedJoint(problem.internal, problem.external, problem.common, inside, outside, mass / mass.sum())


def _located(stratum: IntArray, known: npt.NDArray[np.bool_]) -> IntArray:
    return np.where((stratum >= 0) & known[stratum], stratum, -1)
