"""From two sources to an `Audit`, in one call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from typing import Any, Literal, TypeVar, cast

import numpy as np

from fairbounds.bounding import bound_all
from fairbounds.errors import ProblemError
from fairbounds.estimation import Method, estimate
from fairbounds.extremes import prepare
from fairbounds.intake import Bins, Intake, Model, Reading, Recode
from fairbounds.levels import Level, show
from fairbounds.matching import Unmatched
from fairbounds.metrics import Metric, get
from fairbounds.origins import Origin
from fairbounds.problem import Population, Problem
from fairbounds.results import Audit, Bounds, Finding, GroupSummary, label_of
from fairbounds.sources import MissingPolicy, open_source
from fairbounds.tables import Table
from fairbounds.verdicts import Policy
from fairbounds.wording import assumptions, warnings

__all__ = ["audit", "default_metrics"]

T = TypeVar("T")

_MANY_LEVELS = 1000


def audit(
    internal: object,
    external: object,
    *,
    protected: str | Sequence[str],
    decision: str | None = None,
    favourable: Level = None,
    label: str | None = None,
    positive: Level = None,
    score: str | None = None,
    predict: object | None = None,
    features: Sequence[str] | None = None,
    common: Sequence[str] | None = None,
    reference: Level = None,
    population: Population = "external",
    internal_weight: str | None = None,
    external_weight: str | None = None,
    metrics: Sequence[str | Metric] | None = None,
    methods: Sequence[Method] = ("independence",),
    threshold: float = 0.8,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
    recode: Recode | None = None,
    bins: Bins | None = None,
    missing: MissingPolicy = "error",
    unmatched: Unmatched = "warn",
    one_stratum: Literal["allow", "error"] = "allow",
) -> Audit:
    """Combine internal and external data and say what the fairness metrics can be.

    Parameters
    ----------
    internal, external : path, dataframe or Table
        Internal: features and decisions, without the protected attribute. External: common variables and the
        protected attribute. A path may be a pattern; any dataframe that narwhals knows will do.
    protected : str or sequence of str
        Column of the external data; several are combined, e.g. sex × race.
    decision : str, optional
        Column of the internal data with the model's decision.
    favourable : optional
        Its level that people want; may be left out for 0/1, no/yes and the like.
    label : str, optional
        Column of the internal data with the true outcome.
    positive : optional
        Favourable level of the label; by default that of the decision.
    score : str, optional
        Column with P(favourable decision), in place of a decision.
    predict : callable or fitted model, optional
        A black box asked once per distinct row of features, in place of a decision or score.
    features : sequence of str, optional
        What the black box reads; by default every internal column but the label and the weight.
    common : sequence of str, optional
        Variables of both tables that link them; by default all columns that both have.
    reference : optional
        Group that the others are compared with; by default the largest.
    population : {"external", "internal"}
        Whose fairness is audited.
    internal_weight, external_weight : str, optional
        Columns of weights or counts.
    metrics : sequence of str, optional
        Names of the catalogue; by default `default_metrics`.
    methods : sequence of str
        Estimates to put beside the bounds.
    threshold, tolerance : float
        Ratios are compared with the threshold, differences with 0 ± tolerance.
    confidence : float
        Level for sampling intervals. No interval is computed yet: findings carry none, and the level is recorded only.
    rng : int or numpy.random.Generator, optional
        Seed for what is random. Nothing is yet: an integer is recorded only.
    recode : mapping, optional
        Column to a mapping of old to new levels, applied wherever the column is.
    bins : mapping, optional
        Column of numbers to the inner edges of intervals.
    missing : {"error", "drop", "level"}
        What to do with missing values.
    unmatched : {"warn", "error"}
        What to do with levels and strata that one table lacks.
    one_stratum : {"allow", "error"}
        Whether common variables that never vary are accepted.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal, external = fb.datasets.split("adult")
    >>> result = fb.audit(internal, external, protected="sex", score="score", reference="Male")
    >>> found = result.find("disparate_impact", "Female")
    >>> round(found.bounds.lower, 4), round(found.bounds.upper, 4), found.verdict
    (0.3503, 0.7469, 'below')
    """
    policy = Policy(threshold, tolerance)
    if not 0 < confidence < 1:
        raise ProblemError(f"confidence must lie between 0 and 1, not {confidence}")
    chosen = [get(metric) for metric in _several(metrics) or ()]
    if one_stratum not in ("allow", "error"):
        raise ProblemError(f"one_stratum is 'allow' or 'error', not {one_stratum!r}")
    if features is not None and predict is None:
        raise ProblemError("features= are what a model reads; give the model with predict=")
    intake = Intake(
        open_source(internal, "internal"),
        open_source(external, "external"),
        _several(protected) or (),
        decision,
        score,
        label,
        _several(common),
        internal_weight,
        external_weight,
        missing,
        None if predict is None else Model(predict, _several(features), favourable, internal),
    )
    with _meanwhile(prepare):
        read = intake.read(recode or {}, bins or {})
    _refuse_identifiers(read.internal, intake.linking(), "common")
    _refuse_identifiers(read.external, intake.protected, "protected")
    problem = Problem.from_tables(
        read.internal,
        read.external,
        protected=intake.protected,
        decision=read.decision,
        favourable=favourable,
        label=label,
        positive=positive,
        score=read.score,
        common=intake.linking(),
        reference=reference,
        population=population,
        unmatched=unmatched,
    )
    if one_stratum == "error":
        _refuse_one_stratum(problem)
    settings = {
        "metrics": [metric.name for metric in chosen] or "default",
        "methods": list(_several(methods) or ()),
        "recode": {
            name: {show(old): show(new) for old, new in pairs.items()} for name, pairs in (recode or {}).items()
        },
        "bins": {name: list(edges) for name, edges in (bins or {}).items()},
        "missing": missing,
        "unmatched": unmatched,
        "confidence": confidence,
        "seed": rng if isinstance(rng, int) else None,
    }
    return Audit(
        population=population,
        strata=problem.summary,
        mismatch=problem.mismatch,
        groups=_groups(problem),
        findings=_findings(problem, chosen or default_metrics(problem), _several(methods) or (), policy),
        assumptions=assumptions(problem),
        warnings=(*read.notes, *warnings(problem)),
        provenance=_provenance(problem, read, policy) | settings,
    )


def _several(names: Sequence[T] | None) -> tuple[T, ...] | None:
    """Take one name for a list of one: text is a sequence of letters, which nobody means."""
    return None if names is None else cast("tuple[T, ...]", (names,)) if isinstance(names, str) else tuple(names)


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Work in a thread: reading a file leaves the interpreter free."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def default_metrics(problem: Problem) -> list[Metric]:
    """Return the metrics of an audit that names none: the paper's two, error rates with a label, all groups if many."""
    names = ["disparate_impact", "demographic_disparity"]
    if problem.label is not None:
        names += ["true_positive_difference", "false_positive_difference", "positive_predictive_difference"]
    if len(problem.groups) > 2:
        names += ["impact_ratio", "parity_ratio", "parity_gap"]
    return [get(name) for name in names]


def _refuse_identifiers(table: Table, names: Sequence[str], role: str) -> None:
    """Refuse a variable with hardly two rows a level: it is a name or number of persons, by mistake."""
    rows = table.total if table.origin is None else table.origin.rows
    for name in names:
        n_levels = len(np.unique(table.column(name)))
        if n_levels > _MANY_LEVELS and n_levels > rows / 2:
            way_out = "leave it out by naming the others with --common, or cut its levels into bins"
            if role == "protected":
                way_out = "name the column with the groups as --protected"
            raise ProblemError(
                f"{role} variable {name!r} looks like an identifier: {n_levels} levels in {rows:g} rows; {way_out}"
            )


def _refuse_one_stratum(problem: Problem) -> None:
    if len(problem.strata.mass) == 1:
        only = ", ".join(
            f"{name}={show(problem.internal[name].levels[code])}"
            for name, code in zip(problem.common, problem.stratum_codes[0].tolist(), strict=True)
        )
        raise ProblemError(
            f"the common variables never vary in the audited population ({only}), so they link nothing; add a common "
            "variable, or accept the widest bounds with --one-stratum allow"
        )


def _groups(problem: Problem) -> tuple[GroupSummary, ...]:
    known = problem.group_mass
    rates = bound_all(problem, "selection_rate")
    return tuple(
        GroupSummary(label_of(group), float(mass), rate)
        for group, mass, rate in zip(problem.groups, known, rates, strict=True)
    )


def _findings(
    problem: Problem, metrics: Sequence[Metric], methods: Sequence[Method], policy: Policy
) -> tuple[Finding, ...]:
    return tuple(
        _finding(problem, metric, bounds, methods, policy)
        for metric in dict.fromkeys(metrics)
        for bounds in bound_all(problem, metric)
    )


def _finding(problem: Problem, metric: Metric, bounds: Bounds, methods: Sequence[Method], policy: Policy) -> Finding:
    threshold, tolerance = policy.limits(metric)
    estimates = tuple(
        estimate(problem, metric, method=method, group=None if metric.all_groups else bounds.group)
        for method in dict.fromkeys(methods)
    )
    return Finding(
        metric.name,
        bounds.group,
        bounds.reference,
        bounds,
        estimates,
        policy.verdict(metric, bounds),
        threshold,
        tolerance,
        _note(metric, bounds, policy),
    )


def _note(metric: Metric, bounds: Bounds, policy: Policy) -> str:
    if bounds.defined == "never":
        return "The metric is not defined: its condition has no mass, whatever the joint."
    said = []
    if bounds.defined == "sometimes":
        said.append(
            "In some populations that fit both tables the metric is 0/0 and has no value; the bounds cover the others."
        )
    if metric.form == "ratio" and bounds.lower is not None and bounds.lower > 1 / policy.threshold:
        said.append(f"Seen the other way round, the reference is shown to be below {policy.threshold:g}.")
    if not bounds.sharp:
        said.append("The bounds are valid but may be wider than need be.")
    return " ".join(said)


def _provenance(problem: Problem, read: Reading, policy: Policy) -> dict[str, Any]:
    outcome = problem.outcome
    return {
        "fairbounds": version("fairbounds"),
        "inputs": {"internal": _as_json(read.internal.origin), "external": _as_json(read.external.origin)},
        "columns": {
            "common": list(problem.common),
            "protected": list(read.protected),
            "decision": read.decision,
            "score": read.score,
            "label": outcome.label,
        },
        "favourable": None if outcome.is_score else label_of(outcome.favourable),
        "reference": label_of(problem.groups[problem.reference]),
        "policy": {"threshold": policy.threshold, "tolerance": policy.tolerance},
    }


def _as_json(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {**asdict(origin), "missing": [asdict(entry) for entry in origin.missing]}
