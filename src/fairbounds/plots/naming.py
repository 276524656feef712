"""Words and numbers on figures."""

from __future__ import annotations

import math
import re

from fairbounds.plots.theme import LOOKS, Role
from fairbounds.results import Finding, Label

__all__ = ["METHOD_NAMES", "about", "metric_name", "role_of", "short", "shown"]

METHOD_NAMES = {
    "independence": "independence",
    "latent_class": "latent class",
    "feasible_mean": "feasible mean",
    "weighted": "weighted",
    "regression": "regression",
}
_OTHERS: tuple[Role, ...] = ("first", "second", "third")
_LONGEST = 42
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def metric_name(metric: str) -> str:
    """Write a metric's name.

    Examples
    --------
    >>> metric_name("true_positive_difference")
    'True positive difference'
    """
    text = metric.replace("_", " ")
    return text[:1].upper() + text[1:]


def short(name: object) -> str:
    """Return a name on one line, without its middle if it is long."""
    text = " ".join(_CONTROL.sub(" ", str(name)).split()) or "(blank)"
    half = (_LONGEST - 1) // 2
    return text if len(text) <= _LONGEST else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def about(group: Label | None, reference: Label | None) -> str:
    """Name the groups of a finding."""
    if group is None:
        return "all groups"
    return short(group) if reference is None else f"{short(group)} against {short(reference)}"


def shown(value: float | None) -> str:
    """Write a value with four digits.

    Examples
    --------
    >>> shown(0.35028), shown(None), shown(math.inf)
    ('0.3503', 'not defined', 'unbounded')
    """
    if value is None or math.isnan(value):
        return "not defined"
    return "unbounded" if math.isinf(value) else f"{value:.4g}".replace("-", "−")


def role_of(method: str, others: list[str]) -> Role:
    """Return the look of an estimate; methods without one of their own take the spare ones in turn."""
    if method in LOOKS:
        return method  # type: ignore[return-value]
    return _OTHERS[others.index(method) % len(_OTHERS)]


def told(finding: Finding) -> str:
    """Say a finding with its numbers."""
    ends = f"bounds {shown(finding.bounds.lower)} to {shown(finding.bounds.upper)}"
    if finding.bounds.lower is None:
        ends = "not defined"
    sampled = ""
    if finding.interval is not None:
        level, low, high = finding.interval.level, finding.interval.lower, finding.interval.upper
        sampled = f", {100 * level:.6g}% interval {shown(low)} to {shown(high)}"
    values = "".join(
        f", {METHOD_NAMES.get(entry.method, entry.method)} {shown(entry.value)}" for entry in finding.estimates
    )
    return f"{about(finding.group, finding.reference)}: {ends}{sampled}{values}"
