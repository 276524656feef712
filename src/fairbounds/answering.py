"""What an audit is asked for, answered on a problem: bounds, estimates and a verdict for every metric and group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from fairbounds.bounding import answer, bound_all
from fairbounds.classifying import classify
from fairbounds.combining import Combined, several
from fairbounds.estimation import Method, estimate_all
from fairbounds.extremes import MOST_ENUMERATED
from fairbounds.inference import Inferred, IntervalMethod, Sampling, infer, settled_plan
from fairbounds.metrics import Metric, get
from fairbounds.openness import stratum_widths
from fairbounds.problem import Problem
from fairbounds.questions import Question
from fairbounds.regions import regions
from fairbounds.results import (
    Audit,
    Bounds,
    Classification,
    Estimate,
    Finding,
    GroupSummary,
    Interval,
    Region,
    label_of,
)
from fairbounds.seeds import Rng, settled_seed
from fairbounds.verdicts import Policy
from fairbounds.wording import assumptions, one_table, warnings

__all__ = ["Asked", "default_metrics"]


def default_metrics(problem: Problem) -> list[Metric]:
    """Return the metrics of an audit that names none: the paper's two, error rates with a label, all groups if many."""
    names = ["disparate_impact", "demographic_disparity"]
    if problem.label is not None:
        names += ["true_positive_difference", "false_positive_difference", "positive_predictive_difference"]
    if len(problem.groups) > 2:
        names += ["impact_ratio", "parity_ratio", "parity_gap"]
    return [get(name) for name in names]


class Asked:
    """What an audit is asked for, beside the roles of the columns."""

    def __init__(
        self,
        metrics: Sequence[str | Metric] | None = None,
        methods: Sequence[Method] = ("independence",),
        threshold: float = 0.8,
        tolerance: float = 0.0,
        confidence: float = 0.95,
        rng: Rng = None,
        interval_method: IntervalMethod | Literal["none"] = "cross_fitted",
        combine_splits: Literal["average", "median"] = "median",
        **sampling: Any,
    ) -> None:
        self.policy = Policy(threshold, tolerance)
        plan = settled_plan(
            confidence,
            "cross_fitted" if interval_method == "none" else interval_method,
            combine=combine_splits,
            **sampling,
        )
        self.plan = None if interval_method == "none" else plan
        self.confidence, self.seed = confidence, settled_seed(rng)
        self.chosen_metrics = tuple(dict.fromkeys(get(metric) for metric in several(metrics) or ()))
        self.chosen_methods = tuple(dict.fromkeys(several(methods) or ()))

    def questions(self, problem: Problem) -> list[Question]:
        """Return every metric for every group it is about."""
        metrics = self.chosen_metrics or default_metrics(problem)
        return [question for metric in metrics for question in Question.every(problem, metric)]

    def audit(self, combined: Combined) -> Audit:
        """Answer all questions."""
        problem = combined.problem
        settings = {
            "policy": {"threshold": self.policy.threshold, "tolerance": self.policy.tolerance},
            "metrics": [metric.name for metric in self.chosen_metrics] or "default",
            "methods": list(self.chosen_methods),
            "confidence": self.confidence,
            "intervals": None if self.plan is None else self.plan.to_dict(),
            "seed": self.seed,
        }
        plan = self.plan if self.plan is None else replace(self.plan, survey=combined.survey)
        findings, inferred = self._answered(problem, self.questions(problem), self.chosen_methods, plan)
        classifications = classify(combined, lambda part, asked: self._categories(combined, part, asked))
        return Audit(
            population=problem.population,
            strata=problem.summary,
            mismatch=problem.mismatch,
            groups=_groups(problem),
            findings=findings,
            assumptions=assumptions(problem, self.chosen_methods, inferred.assumption),
            warnings=(*combined.read.notes, *one_table(combined.one_table), *warnings(problem), *inferred.warnings),
            provenance=combined.provenance() | settings,
            classifications=classifications,
            widths=stratum_widths(problem),
            regions=_with_estimates(regions(problem), classifications[-1]),
        )

    def _categories(self, combined: Combined, problem: Problem, questions: Sequence[Question]) -> tuple[Finding, ...]:
        """Answer what regulators ask, with the one estimate that costs nothing; what takes long must be asked for."""
        cheap = [method for method in self.chosen_methods if method == "independence"]
        search = "impact_ratio" in {question.metric.name for question in self.questions(problem)}
        search = search or len(problem.groups) <= MOST_ENUMERATED
        plan = self.plan
        if plan is not None and problem is combined.problem:
            plan = replace(plan, survey=combined.survey)
        elif combined.survey is not None:  # replicates were read for the combined groups
            plan = None
        return self._answered(problem, questions, cheap, plan if search else None, search=search)[0]

    def _answered(
        self,
        problem: Problem,
        questions: Sequence[Question],
        methods: Sequence[Method],
        plan: Sampling | None,
        *,
        search: bool = True,
    ) -> tuple[tuple[Finding, ...], Inferred]:
        bounds = [answer(problem, question, search=search) for question in questions]
        estimates = [estimate_all(problem, questions, method=method, rng=self.seed) for method in methods]
        inferred = infer(problem, questions, bounds, estimates, plan, self.seed)
        found = tuple(
            _finding(
                question.metric,
                bounds[at],
                inferred.intervals[at],
                tuple(entries[at] for entries in inferred.estimates),
                self.policy,
            )
            for at, question in enumerate(questions)
        )
        return found, inferred


def _groups(problem: Problem) -> tuple[GroupSummary, ...]:
    known = problem.group_mass
    rates = bound_all(problem, "selection_rate")
    return tuple(
        GroupSummary(label_of(group), float(mass), rate)
        for group, mass, rate in zip(problem.groups, known, rates, strict=True)
    )


def _with_estimates(found: tuple[Region, ...], groups: Classification) -> tuple[Region, ...]:
    """Put the estimates of both rates beside the region of their pairs."""
    rates = {entry.level: entry.selection_rate for entry in groups.categories}
    made = []
    for entry in found:
        pairs = {
            method.method: (rates[entry.reference].estimate(method.method), method.value)
            for method in rates[entry.group].estimates
        }
        both = {name: (x, y) for name, (x, y) in pairs.items() if x is not None and y is not None}
        made.append(replace(entry, estimates=both))
    return tuple(made)


def _finding(
    metric: Metric, bounds: Bounds, interval: Interval | None, estimates: tuple[Estimate, ...], policy: Policy
) -> Finding:
    threshold, tolerance = policy.limits(metric)
    return Finding(
        metric.name,
        bounds.group,
        bounds.reference,
        bounds,
        estimates,
        policy.verdict(metric, bounds, interval),
        threshold,
        tolerance,
        _note(metric, bounds, interval, policy),
        interval,
    )


def _note(metric: Metric, bounds: Bounds, interval: Interval | None, policy: Policy) -> str:
    if bounds.defined == "never":
        return "The metric is not defined: its condition has no mass, whatever the joint."
    said = []
    if bounds.defined == "sometimes":
        said.append(
            "In some populations that fit both tables the metric is 0/0 and has no value; the bounds cover the others."
        )
    lower = bounds.lower if interval is None else interval.lower
    if metric.form == "ratio" and lower is not None and lower > 1 / policy.threshold:
        said.append(f"Seen the other way round, the reference is shown to be below {policy.threshold:g}.")
    if not bounds.sharp:
        said.append("The bounds are valid but may be wider than need be.")
    return " ".join(said)
