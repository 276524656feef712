"""What is drawn, before it is drawn: findings put in sections, in order, each section on one scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fairbounds.report.numbers import SAME
from fairbounds.results import Audit, Finding, Label

__all__ = ["Mark", "Scale", "Section", "Truth", "estimate_methods", "group_section", "is_ratio", "sections"]

Truth: TypeAlias = Mapping[tuple[str, Label | None], float]

_RATIOS = ("disparate_impact", "impact_ratio", "parity_ratio")
_MOST_TICKS = 6
_WIDEST_RATIO = 5.0
_USUAL_RATIO = 2.0


def is_ratio(metric: str, threshold: float | None = None) -> bool:
    """Whether parity is 1; a metric of the user's own is known by its threshold, which is 0 for differences."""
    if metric in _RATIOS or metric.endswith("_ratio"):
        return True
    return bool(threshold) and not metric.endswith("_difference")


@dataclass(frozen=True)
class Scale:
    """The axis that all bars of a section share.

    Attributes
    ----------
    low, high : float
    ticks : tuple of float
    limits : tuple of float
        The threshold, or both ends of the band around it.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    limits: tuple[float, ...] = ()

    def at(self, value: float) -> float:
        """Return where a value lies, from 0 (left) to 1; values beyond the scale lie at its ends."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def holds(self, value: float) -> bool:
        """Whether a value lies on the scale."""
        return self.low - SAME <= value <= self.high + SAME


@dataclass(frozen=True)
class Mark:
    """A point on a bar: an estimate, or the known value where `method` is ``None``."""

    method: str | None
    value: float


@dataclass(frozen=True)
class Section:
    """All findings of one metric against one reference.

    Attributes
    ----------
    metric : str
    reference : Label or None
    findings : tuple of Finding
        In the order in which they are shown.
    scale : Scale
    truth : mapping
        Known values by metric and group.
    """

    metric: str
    reference: Label | None
    findings: tuple[Finding, ...]
    scale: Scale
    truth: Truth

    def known(self, finding: Finding) -> float | None:
        """Return the known value of a finding, if there is one."""
        value = self.truth.get((finding.metric, finding.group))
        return None if value is None or math.isnan(value) else value

    def marks(self, finding: Finding) -> list[Mark]:
        """Return the points to mark on a finding's bar, the known value last."""
        marks = [Mark(entry.method, entry.value) for entry in finding.estimates if entry.value is not None]
        known = self.known(finding)
        return marks if known is None else [*marks, Mark(None, known)]

    @property
    def has_verdicts(self) -> bool:
        """Whether the metric is compared with a threshold."""
        return any(finding.verdict is not None for finding in self.findings)

    @property
    def goes_beyond(self) -> bool:
        """Whether some bounds do not fit on the scale."""
        ends = [(finding.bounds.lower, finding.bounds.upper) for finding in self.findings]
        return any(end is not None and not self.scale.holds(end) for pair in ends for end in pair)


def sections(audit: Audit, truth: Truth | None, most: int, reach: Mapping[str, float] | None = None) -> list[Section]:
    """Group the findings by metric and reference.

    Parameters
    ----------
    audit : Audit
    truth : mapping of (metric, group) to float or None
    most : int
        Beyond so many findings in a section, the most extreme come first.
    reach : mapping of metric to float, optional
        A value that the scale is to reach, where it would otherwise end because the bounds never do.
    """
    found: dict[tuple[str, Label | None], list[Finding]] = {}
    for finding in audit.findings:
        found.setdefault((finding.metric, finding.reference), []).append(finding)
    reached = reach or {}
    return [
        _section(entries, truth or {}, most, _extremity, reached.get(metric)) for (metric, _), entries in found.items()
    ]


def group_section(audit: Audit, truth: Truth | None, most: int) -> tuple[Section, dict[Label | None, float]]:
    """Return the groups' selection rates as a section, the largest first beyond `most`, and their shares."""
    shares: dict[Label | None, float] = {entry.group: entry.share for entry in audit.groups}
    rates = [Finding("selection_rate", entry.group, None, entry.selection_rate) for entry in audit.groups]
    return _section(rates, truth or {}, most, lambda finding: (-shares[finding.group],)), shares


def estimate_methods(sections_: Iterable[Section]) -> list[str]:
    """Return the estimates that occur, in order of first sight."""
    findings = (finding for section in sections_ for finding in section.findings)
    return list(dict.fromkeys(entry.method for finding in findings for entry in finding.estimates))


# -- order -------------------------------------------------------------------------------------------------------------

_Key: TypeAlias = Callable[[Finding], tuple[float, ...]]


def _section(findings: Sequence[Finding], truth: Truth, most: int, key: _Key, reach: float | None = None) -> Section:
    metric = findings[0].metric if findings else "selection_rate"
    reference = findings[0].reference if findings else None
    ordered = tuple(findings if len(findings) <= most else sorted(findings, key=key))
    return Section(metric, reference, ordered, _scale(metric, ordered, truth, reach), truth)


def _extremity(finding: Finding) -> tuple[float, ...]:
    """Sort findings shown to differ before open ones, and the furthest from parity first; undefined ones come last."""
    lower, upper = finding.bounds.lower, finding.bounds.upper
    if lower is None or upper is None:
        return (4.0, 0.0)
    rank = {None: 0.0, "within": 3.0, "undetermined": 2.0, "below": 1.0}
    if is_ratio(finding.metric, finding.threshold):
        return (rank.get(finding.verdict, 3.0), upper if finding.verdict == "below" else lower)
    furthest = max(abs(lower), abs(upper))
    return (rank.get(finding.verdict, 1.0), lower if finding.verdict is None else -furthest)


# -- scales ------------------------------------------------------------------------------------------------------------


def _scale(metric: str, findings: Sequence[Finding], truth: Truth, reach: float | None) -> Scale:
    limits = _limits(findings)
    lowest = _finite(finding.bounds.lower for finding in findings)
    values = [*limits, *lowest, *_finite(finding.bounds.upper for finding in findings)]
    sampled = [finding.interval for finding in findings if finding.interval is not None]
    values += _finite(end for interval in sampled for end in (interval.lower, interval.upper))
    values += _finite(entry.value for finding in findings for entry in finding.estimates)
    values += [*_finite(truth.get((metric, finding.group)) for finding in findings), *_finite([reach])]
    if metric.endswith("_rate") and all(0 <= value <= 1 for value in values):
        return Scale(0.0, 1.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
    if findings and is_ratio(metric, findings[0].threshold):
        widest = min(_WIDEST_RATIO, max([_USUAL_RATIO, *(1.5 * lower for lower in lowest), *_finite([reach])]))
        return _nice(0.0, min(widest, max([1.0, *values])), limits)
    return _nice(min([0.0, *values]), max([0.0, *values]), limits)


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _limits(findings: Sequence[Finding]) -> tuple[float, ...]:
    for finding in findings:
        if finding.threshold is not None:
            band = finding.threshold - finding.tolerance, finding.threshold + finding.tolerance
            return band if finding.tolerance else (finding.threshold,)
    return ()


def _nice(low: float, high: float, limits: tuple[float, ...]) -> Scale:
    """Widen a range to some six round ticks."""
    low, high = (low, high) if high - low > 1e-6 else (low - 0.1, high + 0.1)
    least = (high - low) / (_MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(step * at, 12) for at in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks, limits)
