"""An audit of embedded data whose truth is known."""

from __future__ import annotations

import numpy as np

from fairbounds import datasets
from fairbounds.metrics import get
from fairbounds.pipeline import audit
from fairbounds.results import Audit, Label
from fairbounds.tables import Table

__all__ = ["Truth", "audit_embedded"]

Truth = dict[tuple[str, Label | None], float]


def audit_embedded(name: str) -> tuple[Audit, Truth]:
    """Audit one of the embedded data sets as if the protected attribute were unknown.

    Parameters
    ----------
    name : {"adult", "compas", "german"}

    Returns
    -------
    audit : Audit
    truth : dict
        Metric name and group to the value in the whole table.

    Examples
    --------
    >>> found, truth = audit_embedded("german")
    >>> all(f.bounds.contains(truth[f.metric, f.group]) for f in found.findings)
    True
    """
    view = datasets.paper_view(name)
    internal, external = datasets.split(name)
    found = audit(internal, external, protected=view.protected, score="score", reference=view.reference)
    rates = _true_rates(view.scored(), view.protected)
    groups = list(rates)
    truth: Truth = {}
    for finding in found.findings:
        at = groups.index(finding.group) if finding.group is not None else None
        value = get(finding.metric).value(list(rates.values()), at, groups.index(view.reference))
        if value is not None:
            truth[finding.metric, finding.group] = value
    return found, truth


def _true_rates(whole: Table, protected: str) -> dict[object, float]:
    scores = np.array(whole["score"].levels, dtype=float)[whole.column("score")]
    group = whole.column(protected)
    selected = np.bincount(group, weights=whole.weights * scores)
    return dict(
        zip(whole[protected].levels, (selected / np.bincount(group, weights=whole.weights)).tolist(), strict=True)
    )
