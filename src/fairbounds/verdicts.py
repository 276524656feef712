"""Where bounds lie against a threshold: shown below, shown above, or not determined by the data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairbounds.errors import ProblemError
from fairbounds.metrics import Metric
from fairbounds.results import Bounds, Finding, Verdict

__all__ = ["Policy", "Shown", "gate"]

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
        if not 0 < self.threshold <= 1:
            raise ProblemError(f"the threshold must be above 0 and at most 1, such as 0.8, not {self.threshold}")
        if not 0 <= self.tolerance < 1:
            raise ProblemError(f"the tolerance of differences must lie between 0 and 1, not {self.tolerance}")

    def limits(self, metric: Metric) -> tuple[float | None, float]:
        """Return the threshold and tolerance that a metric is compared with; plain rates have no threshold."""
        if metric.form == "rate":
            return None, 0.0
        return (self.threshold, 0.0) if metric.is_ratio else (0.0, self.tolerance)

    def verdict(self, metric: Metric, bounds: Bounds) -> Verdict | None:
        """Return what the bounds show."""
        threshold, tolerance = self.limits(metric)
        if threshold is None:
            return None
        if bounds.lower is None or bounds.upper is None:
            return "undetermined"
        low, high = threshold - tolerance, threshold + tolerance
        if metric.is_ratio:
            return _against(bounds.lower, bounds.upper, low)
        if bounds.upper < low - _ROUNDING:
            return "below"
        if bounds.lower > high + _ROUNDING:
            return "above"
        inside = bounds.lower >= low - _ROUNDING and bounds.upper <= high + _ROUNDING
        return "within" if inside else "undetermined"


def gate(findings: Iterable[Finding]) -> Shown:
    """Return whether findings are shown to pass: every ratio ``above``, every difference with a tolerance ``within``.

    A ratio must hold both ways, lest a group left behind pass by being the reference. Differences without a tolerance
    do not count: hardly any bounds are exactly 0.
    """
    counted = [found for found in findings if found.threshold is not None and (found.threshold or found.tolerance)]
    if not counted:
        raise ProblemError(
            "the gate has nothing to judge: ask for a ratio with --metric, or set a --tolerance for differences"
        )
    shown = {_shown(finding) for finding in counted}
    return "fail" if "fail" in shown else "undetermined" if "undetermined" in shown else "pass"


def _shown(finding: Finding) -> Shown:
    if not finding.threshold:
        return _SHOWN_BY_DIFFERENCE[finding.verdict or "undetermined"]
    lower, upper = finding.bounds.lower, finding.bounds.upper
    if lower is None or upper is None:
        return "undetermined"
    inverse = _against(1 / upper if upper else math.inf, 1 / lower if lower else math.inf, finding.threshold)
    shown = {finding.verdict, inverse}
    return "fail" if "below" in shown else "pass" if shown == {"above"} else "undetermined"


def _against(lower: float, upper: float, threshold: float) -> Verdict:
    if lower >= threshold - _ROUNDING:
        return "above"
    return "below" if upper < threshold - _ROUNDING else "undetermined"
