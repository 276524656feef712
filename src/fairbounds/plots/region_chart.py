"""Pairs of rates that two groups can have together, with the lines of parity and of the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairbounds.plots.figure import Figure, compose
from fairbounds.plots.naming import METHOD_NAMES, metric_name, role_of, short, shown
from fairbounds.plots.panels import _chart, _Key, _scale, _with_legend
from fairbounds.plots.theme import FILL, INK, LOOKS
from fairbounds.results import Region

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["draw_region"]

_SIDE = 300
_EDGE = LOOKS["first"].colour
_MOST = 12


def draw_region(regions: Sequence[Region], threshold: float | None = None, *, title: str = "") -> Figure:
    """Draw the exact region of each group's rate with that of the reference.

    Parameters
    ----------
    regions : sequence of Region
        Beyond twelve the first are drawn.
    threshold : float, optional
        Ratio to mark on both sides of parity, such as 0.8.
    title : str

    Examples
    --------
    >>> draw_region([Region("selection_rate", "F", "M", ((0.9, 0.2), (0.5, 0.6)))], 0.8).alt
    'Selection rates of M and F together: (0.9, 0.2), (0.5, 0.6). Parity is possible.'
    """
    drawn = regions[:_MOST]
    said = " ".join(map(_told, drawn)) + (f" And {len(regions) - _MOST} more." if len(regions) > _MOST else "")
    panels = [_panel(region, threshold) for region in drawn]
    if not panels:
        empty = _chart([{"text": "no region: the groups' sizes are not known"}]).mark_text(color=INK)
        panels, said = [empty.encode(text="text:N")], "No region: the groups' sizes are not known."
    return compose(panels, said, title=title)


def _told(region: Region) -> str:
    corners = ", ".join(f"({shown(x)}, {shown(y)})" for x, y in region.corners)
    parity = "possible" if region.meets(1.0) else "not possible"
    name = metric_name(region.rate) + "s"
    return f"{name} of {short(region.reference)} and {short(region.group)} together: {corners}. Parity is {parity}."


def _panel(region: Region, threshold: float | None) -> Panel:
    import altair as alt

    scale = _scale([0.0, 1.0])
    kind = metric_name(region.rate).lower()
    x = alt.X("x:Q", title=f"{kind} of {short(region.reference)}", scale=scale)
    y = alt.Y("y:Q", title=f"{kind} of {short(region.group)}", scale=scale)
    layers: list[Any] = [_outline(region).encode(x=x, y=y, order="order:O")]
    lines = _lines(threshold)
    for label, slope, dash in lines:
        end = {"x": 1.0, "y": slope} if slope <= 1 else {"x": 1 / slope, "y": 1.0}
        line = _chart([{"x": 0.0, "y": 0.0, "label": label}, {**end, "label": label}])
        layers.append(line.mark_line(color=INK, strokeWidth=1.5, strokeDash=list(dash)).encode(x=x, y=y))
    layers.append(_spots(region.corners).encode(x=x, y=y))
    layers += [layer.encode(x=x, y=y) for layer in _estimates(region)]
    panel = alt.layer(*layers).properties(width=_SIDE, height=_SIDE, title=f"{short(region.group)}")
    return _with_legend(panel, _keys(region, threshold), _SIDE)


def _lines(threshold: float | None) -> list[tuple[str, float, tuple[int, ...]]]:
    found: list[tuple[str, float, tuple[int, ...]]] = [("parity", 1.0, (1, 0))]
    if threshold is not None and threshold != 1:
        found += [("threshold", threshold, (2, 4)), ("threshold", 1 / threshold, (2, 4))]
    return found


def _outline(region: Region) -> Any:
    """Draw the polygon, or a line where two groups share a fixed total."""
    closed = [*region.corners, region.corners[0]]
    rows = [{"x": x, "y": y, "order": at} for at, (x, y) in enumerate(closed)]
    if len(region.corners) < 3:
        return _chart(rows).mark_line(color=_EDGE, strokeWidth=4)
    return _chart(rows).mark_line(color=_EDGE, strokeWidth=2, fill=FILL, fillOpacity=0.8)


def _spots(corners: Sequence[tuple[float, float]]) -> Any:
    return _chart([{"x": x, "y": y} for x, y in corners]).mark_point(filled=True, color=_EDGE, size=28, opacity=1)


def _estimates(region: Region) -> list[Any]:
    methods = list(region.estimates)
    found = []
    for method, (x, y) in region.estimates.items():
        look = LOOKS[role_of(method, methods)]
        chart = _chart([{"x": x, "y": y}])
        found.append(chart.mark_point(filled=True, size=85, opacity=1, color=look.colour, shape=look.shape))
    return found


def _keys(region: Region, threshold: float | None) -> list[_Key]:
    line = len(region.corners) < 3
    what = "every pair of rates that fits both tables"
    keys = [_Key(what, _EDGE, (1, 0), None) if line else _Key(what, FILL, None, "square")]
    keys.append(_Key("parity: equal rates", INK, (1, 0), None))
    if threshold is not None and threshold != 1:
        keys.append(_Key(f"one rate {threshold:g} times the other", INK, (2, 4), None))
    methods = list(region.estimates)
    looks = [(method, LOOKS[role_of(method, methods)]) for method in methods]
    return [*keys, *(_Key(f"{METHOD_NAMES.get(m, m)} estimate", look.colour, None, look.shape) for m, look in looks)]
