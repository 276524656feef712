"""Where bounds lie against a threshold: shown below, shown above, or not determined by the data."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from fairbounds.errors import ProblemError
from fairbounds.metrics import Metric, get
from fairbounds.results import Audit, Bounds, Finding, Interval, Label, Verdict

__all__ = ["Check", "Gate", "Policy", "Shown"]

Shown: TypeAlias = Literal["pass", "fail", "undetermined"]

_SHOWN_BY_DIFFERENCE: dict[Verdict, Shown] = {
    "within": "pass",
    "below": "fail",
    "above": "fail",
    "undetermined": "undetermined",
}

_CODES: dict[Shown, int] = {"pass": 0, "fail": 1, "undetermined": 3}

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
    undetermined : {"pass", "fail"} or None
        What the gate takes an undetermined answer for; ``None`` leaves it one of its own.

    Examples
    --------
    >>> from fairbounds import metrics
    >>> Policy().verdict(metrics.get("disparate_impact"), Bounds("disparate_impact", "F", "M", 0.35, 0.75))
    'below'
    """

    threshold: float = 0.8
    tolerance: float = 0.0
    undetermined: Literal["pass", "fail"] | None = None

    def __post_init__(self) -> None:
        for name in ("threshold", "tolerance"):
            if not isinstance(getattr(self, name), int | float):
                raise ProblemError(f"the {name} must be a number, not {getattr(self, name)!r}")
        if not 0 < self.threshold <= 1:
            raise ProblemError(f"the threshold must be above 0 and at most 1, such as 0.8, not {self.threshold}")
        if not 0 <= self.tolerance < 1:
            raise ProblemError(f"the tolerance of differences must lie between 0 and 1, not {self.tolerance}")
        if self.undetermined not in (None, "pass", "fail"):
            raise ProblemError(f"an undetermined gate counts as 'pass' or 'fail', not {self.undetermined!r}")

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

    def gate(self, audit: Audit) -> Gate:
        """Judge the findings of an audit together: the one answer that a pipeline needs.

        Every ratio must be ``above``, every difference with a tolerance ``within``. A ratio must hold both ways, lest a
        group left behind pass by being the reference. Differences without a tolerance do not count: hardly any bounds
        are exactly 0.

        Examples
        --------
        >>> import fairbounds as fb
        >>> internal = {"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 0]}
        >>> external = {"job": ["a", "a", "b", "b"], "sex": ["F", "M", "F", "M"]}
        >>> audit = fb.audit(internal, external, protected="sex", decision="ok", reference="M")
        >>> gate = Policy(undetermined="fail").gate(audit)
        >>> gate.result, gate.exit_code
        ('undetermined', 1)
        """
        judged = [found for found in audit.findings if found.threshold is not None]
        for found in judged:
            self._refuse_other_limits(found)
        counted = [found for found in judged if found.threshold or found.tolerance]
        if not counted:
            raise ProblemError(
                "the gate has nothing to judge: ask for a ratio with --metric, or set a --tolerance above 0 for "
                "differences"
            )
        left_out = (f"{_about(found)}: no tolerance was set" for found in judged if found not in counted)
        return Gate(tuple(map(_check, counted)), tuple(left_out), self.undetermined)

    def _refuse_other_limits(self, finding: Finding) -> None:
        """Refuse findings that were judged by other limits: there would be two answers to one question."""
        limits = self.limits(get(finding.metric))
        if limits != (finding.threshold, finding.tolerance):
            raise ProblemError(
                f"{_about(finding)} was audited against {finding.threshold:g} ± {finding.tolerance:g}, but the policy "
                f"says {limits[0] or 0:g} ± {limits[1]:g}; audit with the threshold and tolerance of the policy"
            )


@dataclass(frozen=True)
class Check:
    """What the gate made of one finding.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
    shown : {"pass", "fail", "undetermined"}
    why : str
        In words.
    """

    metric: str
    group: Label | None
    reference: Label | None
    shown: Shown
    why: str

    @property
    def about(self) -> str:
        """The metric and whom it is about."""
        group = "" if self.group is None else f" of {self.group!r}"
        return self.metric + group + ("" if self.reference is None else f" against {self.reference!r}")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True)
class Gate:
    """The one answer that a pipeline needs, and why.

    Attributes
    ----------
    checks : tuple of Check
        One for each finding that counts.
    not_judged : tuple of str
        Findings with a verdict that does not count.
    undetermined : {"pass", "fail"} or None
        What an undetermined answer is taken for.
    """

    checks: tuple[Check, ...]
    not_judged: tuple[str, ...] = ()
    undetermined: Literal["pass", "fail"] | None = None

    @property
    def result(self) -> Shown:
        """What was shown of all checks together; one that fails is enough."""
        shown = {check.shown for check in self.checks}
        return "fail" if "fail" in shown else "undetermined" if "undetermined" in shown else "pass"

    @property
    def exit_code(self) -> int:
        """0 where the gate lets pass, 1 where it does not, 3 where that is left open."""
        return _CODES[self.counted_as(self.result)]

    @property
    def judged(self) -> tuple[str, ...]:
        """The checks in words."""
        return tuple(f"{check.about}: {check.why}" for check in self.checks)

    def counted_as(self, shown: Shown) -> Shown:
        """Return what an answer counts as: undetermined ones count as the policy says."""
        return self.undetermined if shown == "undetermined" and self.undetermined is not None else shown

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "result": self.result,
            "undetermined_counts_as": self.undetermined,
            "exit_code": self.exit_code,
            "judged": list(self.judged),
            "not_judged": list(self.not_judged),
            "checks": [check.to_dict() for check in self.checks],
        }


def _check(finding: Finding) -> Check:
    return Check(finding.metric, finding.group, finding.reference, *_shown(finding))


def _about(finding: Finding) -> str:
    return Check(finding.metric, finding.group, finding.reference, "undetermined", "").about


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
    if finding.reference is None:  # against the most favoured group there is no other way round
        return "pass", f"above {limit:g}"
    inverse = _against(1 / upper if upper else math.inf, 1 / lower if lower else math.inf, limit)
    if inverse == "above":
        return "pass", f"above {limit:g}, also seen from the other group"
    return ("fail" if inverse == "below" else "undetermined"), f"{inverse} {limit:g} when seen from the other group"


def _against(lower: float, upper: float, threshold: float) -> Verdict:
    if lower >= threshold - _ROUNDING:
        return "above"
    return "below" if upper < threshold - _ROUNDING else "undetermined"
