"""Selection rates and impact ratios of each protected column by itself and of all together, as regulators ask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from fairbounds.combining import Combined
from fairbounds.errors import ProblemError
from fairbounds.metrics import get
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Classification, Finding

__all__ = ["classify"]

# From a problem and its questions to the findings, one for each question.
Answering: TypeAlias = Callable[[Problem, Sequence[Question]], tuple[Finding, ...]]


def classify(combined: Combined, findings_of: Answering) -> tuple[Classification, ...]:
    """Divide the audited population by each protected column, and by all of them.

    Parameters
    ----------
    combined : Combined
    findings_of : callable
        Answers questions about a problem.

    Returns
    -------
    tuple of Classification
        Single columns first; the last one has the groups of the audit.
    """
    protected, found = combined.read.protected, []
    for column in protected if len(protected) > 1 else ():
        problem = _by(combined, column)
        if problem is not None:
            found.append(_classified(problem, (column,), findings_of))
    return (*found, _classified(combined.problem, tuple(protected), findings_of))


def _by(combined: Combined, column: str) -> Problem | None:
    """Return the problem with one protected column, or nothing where it does not divide the audited population."""
    read, roles, whole = combined.read, combined.roles, combined.problem
    try:
        return Problem.from_tables(
            read.internal,
            read.external,
            protected=column,
            decision=read.decision,
            favourable=whole.outcome.favourable,
            label=roles.label,
            positive=whole.outcome.positive,
            score=read.score,
            common=whole.common,
            population=whole.population,
            unmatched=roles.unmatched,
            features=(),
        )
    except ProblemError:  # a single level, which the combined groups cannot have
        return None


def _classified(problem: Problem, columns: tuple[str, ...], findings_of: Answering) -> Classification:
    questions = [
        Question.about(problem, get(metric), at, problem.reference)
        for metric in ("selection_rate", "impact_ratio")
        for at in range(len(problem.groups))
    ]
    found = findings_of(problem, questions)
    rates, ratios = found[: len(problem.groups)], found[len(problem.groups) :]
    return Classification.of(columns, tuple(np.asarray(problem.group_mass).tolist()), rates, ratios)
