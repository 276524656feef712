"""The method appendix: what was done in this audit, and the works behind it."""

from __future__ import annotations

from collections.abc import Iterator

from fairbounds.report.phrases_method import PARAGRAPHS, REFERENCES
from fairbounds.results import Audit

__all__ = ["method_paragraphs", "method_references"]

_ALL_GROUPS = ("impact_ratio", "parity_ratio", "parity_gap")
_WHOLE_GROUP = ("selection", "base", "accuracy", "demographic_disparity", "disparate_impact", *_ALL_GROUPS)


def method_paragraphs(audit: Audit) -> list[str]:
    """Describe the methods that this audit used, and no others.

    Parameters
    ----------
    audit : Audit
    """
    return [PARAGRAPHS[key][0] for key in _keys(audit)]


def method_references(audit: Audit) -> list[str]:
    """Return the works that `method_paragraphs` rests on, each once, in order of first use."""
    cited = dict.fromkeys(work for key in _keys(audit) for work in PARAGRAPHS[key][1])
    return [REFERENCES[work] for work in cited]


def _keys(audit: Audit) -> Iterator[str]:
    metrics = {finding.metric for finding in audit.findings}
    methods = {entry.method for finding in audit.findings for entry in finding.estimates}
    yield from ("strata", "bounds")
    if (audit.provenance.get("columns") or {}).get("score"):
        yield "scores"
    if any(not metric.startswith(_WHOLE_GROUP) for metric in metrics):
        yield "conditional"
    if metrics.intersection(_ALL_GROUPS) or audit.classifications:
        yield "groups"
    if audit.strata.internal_only_mass or audit.strata.external_only_mass:
        yield "one_sided"
    sampled = {finding.interval.method for finding in audit.findings if finding.interval is not None}
    yield from (key for key in ("cross_fitted", "exact", "bootstrap") if key in sampled)
    yield from () if sampled else ("no_intervals",)
    yield from (key for key in ("independence", "latent_class", "feasible_mean") if key in methods)
    if methods.intersection(("weighted", "regression")):
        yield "regression"
    yield "verdict"
