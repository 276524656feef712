"""Where bounds lie against a threshold: shown below, shown above, or not determined by the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from fairbounds.errors import ProblemError
from fairbounds.metrics import Metric
from fairbounds.results import Bounds, Finding, Interval, Verdict

__all__ = ["Gate", "Policy", "Shown", "gate"]

Shown: TypeAlias = Literal["pass", "fail", "undetermined"]

_SHOWN_BY_DIFFERENCE: dict[Verdict, Shown] = {
    "within": "pass",
    "below": "fail",
    "above": "fail",
    "undetermined": "undetermined",
}

# Ends are sums of rounded products, so 0.24/0.30 may come out just under 0.8.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Policy:
    """Thresholds of ratios and differences.

    Attributes
    ----------
    threshold : float
        Ratios are compared with it; 0.8 is the four-fifths rule.
    tolerance : float
        Differences are compared with 0 ± tolerance.

    Examples
    --------
    >>> from fairbounds import metrics
    >>> Policy().verdict(metrics.get("disparate_impact"), Bounds("disparate_impact", "F", "M", 0.35, 0.75))
    'below'
    """

    threshold: float = 0.8
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        for name in ("threshold", "tolerance"):
            if not isinstance(getattr(self, name), int | float):
                raise ProblemError(f"the {name} must be a number, not {getattr(self, name)!r}")
        if not 0 < self.threshold <= 1:
            raise ProblemError(f"the threshold must be above 0 and at most 1, such as 0.8, not {self.threshold}")
        if not 0 <= self.tolerance < 1:
            raise ProblemError(f"the tolerance of differences must lie between 0 and 1, not {self.tolerance}")

    def limits(self, metric: Metric) -> tuple[float | None, float]:
        """Return the threshold and tolerance that a metric is compared with; plain rates have no threshold."""
        if metric.form == "rate":
            return None, 0.0
        return (self.threshold, 0.0) if metric.is_ratio else (0.0, self.tolerance)

    def verdict(self, metric: Metric, bounds: Bounds, interval: Interval | None = None) -> Verdict | None:
        """Return what the interval shows, or the bounds where there is none."""
        threshold, tolerance = self.limits(metric)
        if threshold is None:
            return None
        if bounds.lower is None or bounds.upper is None:
            return "undetermined"
        low, high = threshold - tolerance, threshold + tolerance
        shown = bounds if interval is None else interval
        lower, upper = shown.lower or 0.0, shown.upper or 0.0
        if metric.is_ratio:
            return _against(lower, upper, low)
        if upper < low - _ROUNDING:
            return "below"
        if lower > high + _ROUNDING:
            return "above"
        inside = lower >= low - _ROUNDING and upper <= high + _ROUNDING
        return "within" if inside else "undetermined"


@dataclass(frozen=True)
class Gate:
    """The one answer that a pipeline needs, and why.

    Attributes
    ----------
    result : {"pass", "fail", "undetermined"}
    judged : tuple of str
        What was found of each finding that counts.
    not_judged : tuple of str
        Findings with a verdict that does not count.
    """

    result: Shown
    judged: tuple[str, ...]
    not_judged: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"result": self.result, "judged": list(self.judged), "not_judged": list(self.not_judged)}


def gate(findings: Iterable[Finding]) -> Gate:
    """Judge findings together: every ratio must be ``above``, every difference with a tolerance ``within``.

    A ratio must hold both ways, lest a group left behind pass by being the reference. Differences without a tolerance
    do not count: hardly any bounds are exactly 0.
    """
    judged = [found for found in findings if found.threshold is not None]
    counted = [found for found in judged if found.threshold or found.tolerance]
    if not counted:
        raise ProblemError(
            "the gate has nothing to judge: ask for a ratio with --metric, or set a --tolerance above 0 for differences"
        )
    shown = {_shown(finding)[0] for finding in counted}
    return Gate(
        "fail" if "fail" in shown else "undetermined" if "undetermined" in shown else "pass",
        tuple(f"{_about(found)}: {_shown(found)[1]}" for found in counted),
        tuple(f"{_about(found)}: no tolerance was set" for found in judged if found not in counted),
    )


def _about(finding: Finding) -> str:
    group = "" if finding.group is None else f" of {finding.group!r}"
    return finding.metric + group + ("" if finding.reference is None else f" against {finding.reference!r}")


def _shown(finding: Finding) -> tuple[Shown, str]:
    limit = finding.threshold
    if not limit:
        shown = _SHOWN_BY_DIFFERENCE[finding.verdict or "undetermined"]
        return shown, f"{finding.verdict} {finding.threshold:g} ± {finding.tolerance:g}"
    lower, upper = finding.ends
    if lower is None or upper is None:
        return "undetermined", "not defined"
    if finding.verdict != "above":
        return ("fail" if finding.verdict == "below" else "undetermined"), f"{finding.verdict} {limit:g}"
    inverse = _against(1 / upper if upper else math.inf, 1 / lower if lower else math.inf, limit)
    if inverse == "above":
        return "pass", f"above {limit:g}, also seen from the other group"
    return ("fail" if inverse == "below" else "undetermined"), f"{inverse} {limit:g} when seen from the other group"


def _against(lower: float, upper: float, threshold: float) -> Verdict:
    if lower >= threshold - _ROUNDING:
        return "above"
    return "below" if upper < threshold - _ROUNDING else "undetermined"
