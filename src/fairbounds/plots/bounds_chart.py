"""Bounds, intervals, estimates and thresholds of findings, one row for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairbounds.plots.figure import Figure, compose
from fairbounds.plots.naming import METHOD_NAMES, about, metric_name, role_of, short, shown, told
from fairbounds.plots.panels import Mark, _chart, _extent, _Key, _key_of, _lines, _row_axis, _scale, _with_legend
from fairbounds.plots.theme import FILL_DEEP, INK, LOOKS, PAPER, SOFT
from fairbounds.results import Estimate, Finding, Interval, Label

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["draw_bounds", "draw_estimate", "draw_interval"]

_WIDTH, _ROW = 460, 30
_MOST_ROWS = 40
_MOST_TOLD = 12
_WIDEST_RATIO = 5.0


def draw_bounds(findings: Sequence[Finding], *, title: str = "") -> Figure:
    """Draw findings, a panel for each metric and reference.

    Parameters
    ----------
    findings : sequence of Finding
        Beyond forty in a panel the first are drawn, and the panel says so.
    title : str

    Examples
    --------
    >>> from fairbounds.results import Bounds
    >>> ends = Bounds("disparate_impact", "F", "M", 0.35, math.inf)
    >>> draw_bounds([Finding("disparate_impact", "F", "M", ends, (), "undetermined", 0.8)]).alt
    'Disparate impact. F against M: bounds 0.35 to unbounded. Threshold 0.8.'
    """
    sections: dict[tuple[str, Label | None], list[Finding]] = {}
    for finding in findings:
        sections.setdefault((finding.metric, finding.reference), []).append(finding)
    panels = [_panel(metric, reference, found) for (metric, reference), found in sections.items()]
    told_all = " ".join(_told(metric, found) for (metric, _), found in sections.items())
    return compose(panels or [_nothing()], told_all or "There are no findings.", columns=1, title=title)


def _nothing() -> Panel:
    empty: Panel = _chart([{"text": "no findings"}]).mark_text(color=INK).encode(text="text:N")
    return empty


def _told(metric: str, findings: Sequence[Finding]) -> str:
    lines = [told(finding) for finding in findings[:_MOST_TOLD]]
    if len(findings) > _MOST_TOLD:
        lines.append(f"and {len(findings) - _MOST_TOLD} more")
    limit = f" Threshold {_limits(findings)}." if _limits(findings) else ""
    return f"{metric_name(metric)}. {'; '.join(lines)}.{limit}"


def _limits(findings: Sequence[Finding]) -> str:
    return " to ".join(shown(value) for value in _band(findings))


def _band(findings: Sequence[Finding]) -> tuple[float, ...]:
    for finding in findings:
        if finding.threshold is not None:
            low, high = finding.threshold - finding.tolerance, finding.threshold + finding.tolerance
            return (low, high) if finding.tolerance else (low,)
    return ()


def _panel(metric: str, reference: Label | None, findings: Sequence[Finding]) -> Panel:
    import altair as alt

    drawn = findings[:_MOST_ROWS]
    domain = _domain(drawn)
    place = alt.X("low:Q", title=metric_name(metric).lower(), scale=_scale(domain))
    rows = [_row(at, finding, domain) for at, finding in enumerate(drawn)]
    names = [short("all groups" if finding.group is None else finding.group) for finding in drawn]
    layers: list[Any] = [*_sampled(rows, names), *_ranges(rows, names, place), *_lines(_marks(findings))]
    layers += _points(drawn, names, domain)
    head = metric_name(metric) + ("" if reference is None else f" against {short(reference)}")
    if len(findings) > len(drawn):
        head += f" (the first {len(drawn)} of {len(findings)})"
    panel = alt.layer(*layers).properties(width=_WIDTH, height=_ROW * len(drawn), title=head)
    return _with_legend(panel, _keys(findings, rows), _WIDTH)


def _domain(findings: Sequence[Finding]) -> list[float]:
    """Return a scale that holds all finite ends; a ratio's goes no further than five, or its lowest end."""
    pairs = [(finding.bounds.lower, finding.bounds.upper) for finding in findings]
    pairs += [(entry.interval.lower, entry.interval.upper) for entry in findings if entry.interval is not None]
    values = [entry.value for finding in findings for entry in finding.estimates]
    finite = [v for v in (*(end for pair in pairs for end in pair), *values) if v is not None and math.isfinite(v)]
    ends = [*finite, *_band(findings)] or [0.0, 1.0]
    lows = [low for low, _ in pairs if low is not None and math.isfinite(low)]
    if _is_ratio(findings[0]):
        most = max([_WIDEST_RATIO, *(1.2 * low for low in lows)])
        unbounded = any(high == math.inf for _, high in pairs)
        return _extent([0.0, 1.0, min(most, max(2.0 if unbounded else 1.0, *ends))])
    return _extent([*ends, 0.0, 1.0] if findings[0].metric.endswith("_rate") else [*ends, 0.0])


def _is_ratio(finding: Finding) -> bool:
    return finding.metric.endswith("_ratio") or finding.metric == "disparate_impact"


def _row(at: int, finding: Finding, domain: Sequence[float]) -> dict[str, Any]:
    """Return one finding with its ends kept on the scale, and whether they go beyond."""
    ends = {"low": finding.bounds.lower, "high": finding.bounds.upper}
    if finding.interval is not None:
        ends |= {"least": finding.interval.lower, "most": finding.interval.upper}
    held = {name: None if end is None else min(max(end, domain[0]), domain[1]) for name, end in ends.items()}
    beyond = finding.bounds.upper is not None and finding.bounds.upper > domain[1]
    return {"at": at, "beyond": beyond, "label": about(finding.group, finding.reference), **held}


def _ranges(rows: Sequence[dict[str, Any]], names: Sequence[str], place: Any) -> list[Any]:
    """Draw the bounds as bars, with an arrow where they go on."""
    known = [row for row in rows if row["low"] is not None]
    axis = _row_axis(names, True)
    base = _chart(known or rows[:1]).encode(y=axis)
    bars = base.mark_bar(color=FILL_DEEP, stroke=INK, strokeWidth=1, height=12).encode(x=place, x2="high:Q")
    arrows = _chart([row for row in known if row["beyond"]]).encode(y=axis)
    arrows = arrows.mark_point(shape="triangle-right", filled=True, color=INK, size=110, opacity=1).encode(x="high:Q")
    unknown = _chart([{**row, "place": 0.0, "text": "not defined"} for row in rows if row["low"] is None])
    words = unknown.mark_text(align="left", color=SOFT, fontSize=12).encode(y=axis, x="place:Q", text="text:N")
    return [bars, arrows, words]


def _sampled(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[Any]:
    """Draw the intervals as lines with ends, behind the bars."""
    sampled = [row for row in rows if row.get("least") is not None and row["low"] is not None]
    if not sampled:
        return []
    base = _chart(sampled).encode(y=_row_axis(names, True))
    line = base.mark_rule(color=INK, strokeWidth=2).encode(x="least:Q", x2="most:Q")
    ends = [base.mark_tick(color=INK, thickness=2, size=16).encode(x=f"{end}:Q") for end in ("least", "most")]
    return [line, *ends]


def _points(findings: Sequence[Finding], names: Sequence[str], domain: Sequence[float]) -> list[Any]:
    methods = _methods(findings)
    layers = []
    for method in methods:
        look = LOOKS[role_of(method, methods)]
        values = [
            {"at": at, "value": finding.estimate(method)}
            for at, finding in enumerate(findings)
            if _holds(finding.estimate(method), domain)
        ]
        points = _chart(values).encode(y=_row_axis(names, True))
        points = points.mark_point(size=80, opacity=1, fill=look.colour, stroke=PAPER, strokeWidth=1, shape=look.shape)
        layers.append(points.encode(x="value:Q"))
    return layers


def _holds(value: float | None, domain: Sequence[float]) -> bool:
    return value is not None and domain[0] <= value <= domain[1]


def _methods(findings: Sequence[Finding]) -> list[str]:
    return list(dict.fromkeys(entry.method for finding in findings for entry in finding.estimates))


def _marks(findings: Sequence[Finding]) -> list[Mark]:
    band = _band(findings)
    return [Mark(f"threshold {_limits(findings)}", "threshold", band)] if band else []


def _keys(findings: Sequence[Finding], rows: Sequence[dict[str, Any]]) -> list[_Key]:
    keys = [_Key("bounds: no value outside them fits both tables", FILL_DEEP, None, "square")]
    levels = [entry.interval.level for entry in findings if entry.interval is not None]
    if levels:
        keys.append(_Key(f"{100 * levels[0]:.6g}% interval: the bounds with sampling error", INK, (1, 0), None))
    if any(row["beyond"] for row in rows):
        keys.append(_Key("goes on beyond the scale", INK, None, "triangle-right"))
    methods = _methods(findings)
    looks = [(method, LOOKS[role_of(method, methods)]) for method in methods]
    keys += [_Key(f"{METHOD_NAMES.get(name, name)} estimate", look.colour, None, look.shape) for name, look in looks]
    return [*keys, *map(_key_of, _marks(findings))]


def draw_interval(interval: Interval, *, title: str = "") -> Figure:
    """Draw an interval by itself: the ends for the metric, and the ends for the whole set behind them.

    Parameters
    ----------
    interval : Interval
    title : str

    Examples
    --------
    >>> draw_interval(Interval("disparate_impact", "F", "M", 0.33, 0.77, 0.32, 0.78, 0.95)).alt
    'Disparate impact. F against M: 95% interval 0.33 to 0.77; for all possible values 0.32 to 0.78.'
    """
    import altair as alt

    level = f"{100 * interval.level:.6g}%"
    ends = (interval.lower, interval.upper, interval.set_lower, interval.set_upper)
    finite = [end for end in ends if math.isfinite(end)]
    domain = _extent([*finite, *([2.0 * max(finite, default=1.0)] if len(finite) < 4 else [])] or [0.0, 1.0])
    held = [min(max(end, domain[0]), domain[1]) for end in ends]
    row = {"at": 0, "low": held[0], "high": held[1], "least": held[2], "most": held[3]}
    names = [about(interval.group, interval.reference)]
    base = _chart([row]).encode(y=_row_axis(names, True))
    place = alt.X("least:Q", title=metric_name(interval.metric).lower(), scale=_scale(domain))
    whole = base.mark_rule(color=SOFT, strokeWidth=2, strokeDash=[4, 3]).encode(x=place, x2="most:Q")
    metric = base.mark_rule(color=INK, strokeWidth=5).encode(x="low:Q", x2="high:Q")
    keys = [_Key(f"{level} interval", INK, (1, 0), None), _Key("for all possible values at once", SOFT, (4, 3), None)]
    panel = alt.layer(whole, metric).properties(width=_WIDTH, height=_ROW, title=metric_name(interval.metric))
    said = f"{names[0]}: {level} interval {shown(ends[0])} to {shown(ends[1])}"
    whole_set = f"for all possible values {shown(ends[2])} to {shown(ends[3])}"
    text = f"{metric_name(interval.metric)}. {said}; {whole_set}."
    return compose([_with_legend(panel, keys, _WIDTH)], text, columns=1, title=title)


def draw_estimate(estimate: Estimate, *, title: str = "") -> Figure:
    """Draw an estimate by itself, with the range of equally likely fits where it has one.

    Parameters
    ----------
    estimate : Estimate
    title : str

    Examples
    --------
    >>> draw_estimate(Estimate("independence", 0.43)).alt
    'Independence estimate: 0.43.'
    """
    import altair as alt

    name = METHOD_NAMES.get(estimate.method, estimate.method)
    value = estimate.value
    finite = value is not None and math.isfinite(value)
    look = LOOKS[role_of(estimate.method, [estimate.method])]
    domain = _extent([0.0, 1.0, value] if finite and value is not None else [0.0, 1.0])
    place = alt.X("value:Q", title="value", scale=_scale(domain))
    base = _chart([{"at": 0, "value": value}] if finite else []).encode(y=_row_axis([name], True))
    point = base.mark_point(filled=True, size=90, opacity=1, color=look.colour, shape=look.shape).encode(x=place)
    panel = point.properties(width=_WIDTH, height=_ROW, title=f"{name[:1].upper()}{name[1:]} estimate {shown(value)}")
    note = f" {estimate.note}" if estimate.note else ""
    return compose([panel], f"{name[:1].upper()}{name[1:]} estimate: {shown(value)}.{note}", columns=1, title=title)
