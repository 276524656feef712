"""The weighted and the regression estimator, which bracket the truth under a sign assumption.

H. Elzayn, E. Black, P. Vossler, N. Jo, J. Goldin, D. E. Ho (2023), Estimating and implementing conventional fairness
metrics with probabilistic protected features, arXiv:2310.01679: with b the probability of belonging to the group, B
belonging to it and Y the outcome, the weighted difference is too small by E[Cov(Y, B | b)]/Var(B) and the regression
difference too large by E[Cov(Y, b | B)]/Var(b). Here b is the group's share in the stratum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.estimation.independence import independent_events
from fairbounds.kernels.strata import BOTH
from fairbounds.metrics import Rate
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.results import Estimate

__all__ = ["by_regression", "by_weighting"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_BRACKET = (
    "For a difference of two groups, 'weighted' and 'regression' lie on either side of the truth if, first, within "
    "strata the outcome and the group go together (covariance of one sign) and, second, within groups the outcome and "
    "the group's share in the stratum go together with the same sign; with opposite signs both err the same way."
)
_NO_BRACKET = (
    "With more than two groups 'weighted' and 'regression' are two estimates: no signs of covariances make them lie on "
    "either side of the truth."
)


def by_weighting(problem: Problem, questions: Sequence[Question]) -> tuple[Estimate, ...]:
    """Weigh each stratum's outcome by the group's share there: the number is that of independence."""
    found, assumption = independent_events(problem), _assumption(problem)
    complete = bool((problem.strata.side == BOTH).all())
    return tuple(
        Estimate(
            "weighted",
            found.value(question),
            margin_preserving=complete,
            note="Equal to the independence estimate; beside 'regression' because the two belong together.",
            details={"assumption": assumption},
        )
        for question in questions
    )


def by_regression(problem: Problem, questions: Sequence[Question]) -> tuple[Estimate, ...]:
    """Regress the strata's rates on the groups' shares, and read the rate of each group off the fit.

    Right if each group has one rate in all strata (Goodman 1953). Nothing is clipped: a rate below 0 or above 1 shows
    that it is not.
    """
    rates = {rate: _fitted_rates(problem, rate) for rate in dict.fromkeys(q.metric.rate for q in questions)}
    return tuple(_estimate(problem, question, rates[question.metric.rate]) for question in questions)


def _assumption(problem: Problem) -> str:
    return _BRACKET if len(problem.groups) == 2 else _NO_BRACKET


def _estimate(problem: Problem, question: Question, rates: FloatArray | None) -> Estimate:
    details: dict[str, object] = {"assumption": _assumption(problem)}
    if rates is None:
        why = "the groups' shares vary too little between strata"
        if len(problem.strata.mass) < len(problem.groups):
            why = f"there are fewer strata ({len(problem.strata.mass)}) than groups ({len(problem.groups)}), too few"
        note = f"Not defined: {why} to tell their rates apart."
        return Estimate("regression", None, margin_preserving=False, note=note, details=details)
    details["rates"] = dict(zip(map(str, problem.groups), rates.tolist(), strict=True))
    outside = bool((rates < 0).any() or (rates > 1).any())
    note = "A fitted rate lies outside [0, 1]: the groups' rates are not the same in all strata." if outside else ""
    return Estimate("regression", question.answer(rates), margin_preserving=False, note=note, details=details)


def _fitted_rates(problem: Problem, rate: Rate) -> FloatArray | None:
    """Return the weighted least-squares rates of all groups, ``None`` where they are not determined."""
    strata = problem.strata
    counted, among = rate.coefficients(problem.score, problem.label)
    event, condition = (
        np.bincount(strata.atom_stratum, weights=value * strata.weight, minlength=len(strata.mass))
        for value in (counted, among)
    )
    seen = (strata.side == BOTH) & (condition > 0)
    root = np.sqrt(strata.mass * condition)[seen]
    shares = strata.shares[seen]
    found, _, rank, _ = np.linalg.lstsq(root[:, None] * shares, root * (event / np.where(seen, condition, 1.0))[seen])
    return np.asarray(found) if rank == shares.shape[1] else None
