"""How the width of an interval falls towards that of the bounds as the sample grows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fairbounds.errors import ProblemError
from fairbounds.plots.figure import Figure, compose
from fairbounds.plots.naming import about, metric_name, shown
from fairbounds.plots.panels import _chart, _Key, _with_legend
from fairbounds.plots.theme import LOOKS
from fairbounds.results import Audit, Finding, Label

__all__ = ["width_by_size"]

_WIDTH, _HEIGHT = 420, 260


def width_by_size(audits: Sequence[Audit], metric: str, group: Label | None = None, *, title: str = "") -> Figure:
    """Draw the widths of a finding's bounds and interval in audits of samples of several sizes.

    Parameters
    ----------
    audits : sequence of Audit
        Of the same question, each with an interval and with a known size of its internal table.
    metric : str
    group : optional
    title : str

    Returns
    -------
    Figure

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "b"] * 50, "ok": [1, 0, 1, 1] * 25}
    >>> external = {"job": ["a", "a", "b", "b"] * 50, "sex": ["F", "F", "F", "M"] * 50}
    >>> audit = fb.audit(internal, external, protected="sex", decision="ok", reference="F")
    >>> width_by_size([audit], "demographic_disparity").alt[:65]
    'Width of demographic disparity, M against F: 100 people: interval'
    """
    points = sorted(_point(audit, metric, group) for audit in audits)
    if not points:
        raise ProblemError("there is nothing to draw: give at least one audit")
    return compose([_panel(points, metric)], _told(points, audits[0].find(metric, group)), columns=1, title=title)


def _point(audit: Audit, metric: str, group: Label | None) -> tuple[float, float, float]:
    finding = audit.find(metric, group)
    origin = (audit.provenance.get("inputs") or {}).get("internal") or {}
    size = origin.get("sample_size")
    if size is None and origin.get("weight") is None:
        size = origin.get("rows")
    if size is None:
        raise ProblemError("the sample size of an internal table is not known; read it from rows or counts of people")
    if finding.interval is None:
        raise ProblemError(f"an audit has no interval for {metric!r}; compute intervals to compare their widths")
    width = finding.bounds.width
    sampled = finding.interval.upper - finding.interval.lower
    if width is None or not math.isfinite(width) or not math.isfinite(sampled):
        raise ProblemError(f"{metric!r} is unbounded or undefined in an audit, so it has no width to draw")
    return float(size), width, sampled


def _panel(points: Sequence[tuple[float, float, float]], metric: str) -> Any:
    import altair as alt

    top = 1.1 * max(sampled for _, _, sampled in points) or 1.0
    rows = [{"n": n, "bounds": width, "interval": sampled} for n, width, sampled in points]
    base = _chart(rows).encode(x=alt.X("n:Q", title="people in the internal sample", scale=alt.Scale(type="log")))
    layers = []
    for name, role in (("interval", LOOKS["first"]), ("bounds", LOOKS["second"])):
        y = alt.Y(f"{name}:Q", title=f"width of {metric_name(metric).lower()}", scale=alt.Scale(domain=[0, top]))
        line = base.mark_line(color=role.colour, strokeWidth=2.5, strokeDash=[1, 0] if name == "interval" else [6, 4])
        dot = base.mark_point(color=role.colour, shape=role.shape, filled=True, size=60, opacity=1)
        layers += [line.encode(y=y), dot.encode(y=y)]
    keys = [
        _Key("interval", LOOKS["first"].colour, (1, 0), LOOKS["first"].shape),
        _Key("bounds, which no sample size narrows", LOOKS["second"].colour, (6, 4), LOOKS["second"].shape),
    ]
    panel = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title="Width against sample size")
    return _with_legend(panel, keys, _WIDTH)


def _told(points: Sequence[tuple[float, float, float]], finding: Finding) -> str:
    said = "; ".join(f"{n:,.0f} people: interval {shown(wide)}, bounds {shown(narrow)}" for n, narrow, wide in points)
    name = metric_name(finding.metric)
    return f"Width of {name.lower()}, {about(finding.group, finding.reference)}: {said}."
