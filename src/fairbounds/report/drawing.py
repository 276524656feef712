"""Bars for HTML, as positions in per cent; the template turns them into SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairbounds.report.layout import Mark, Scale, Section
from fairbounds.report.numbers import SAME, exact
from fairbounds.report.phrases import SENTENCES
from fairbounds.report.sentences import Tone
from fairbounds.results import Bounds, Interval

__all__ = ["KNOWN", "SHAPES", "Drawn", "Label", "axis", "drawn", "limit_label", "shapes_of"]

# Outlines around the origin, some 12 units across; estimates take them in turn.
SHAPES = (
    "M0-7 7 0 0 7-7 0Z",
    "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0Z",
    "M-5-5H5V5H-5Z",
    "M0-7 6.5 5H-6.5Z",
    "M0 7 6.5-5H-6.5Z",
)
KNOWN = "M0-9 2.1-2.9 8.6-2.8 3.4 1.1 5.3 7.3 0 3.6-5.3 7.3-3.4 1.1-8.6-2.8-2.1-2.9Z"

_EDGE = 3.0
_THIN = 0.4
_TICK_DIGITS = 5


@dataclass(frozen=True)
class Drawn:
    """One bar.

    Attributes
    ----------
    start, width : str
        Of the stretch between the ends; empty where there is none.
    thin : bool
        Whether the stretch is too short to be seen without an outline.
    before, beyond : bool
        Whether it goes on beyond the scale, to the left and to the right.
    tone : str
    limits : tuple of str
    band : str
        Width of the band between the limits.
    marks : tuple of (str, str)
        Outline and place of each estimate.
    known : str
        Place of the known value, or nothing.
    interval : tuple of str
        Start and width of the sampling interval, and whether it ends on the scale (``yes`` or nothing) on the left and
        on the right; empty where there is none.
    """

    start: str
    width: str
    thin: bool
    before: bool
    beyond: bool
    tone: Tone
    limits: tuple[str, ...]
    band: str
    marks: tuple[tuple[str, str], ...]
    known: str
    interval: tuple[str, ...] = ()


@dataclass(frozen=True)
class Label:
    """A number on the axis, aligned so that it stays inside it."""

    at: str
    text: str
    align: str


def shapes_of(methods: Sequence[str]) -> dict[str, str]:
    """Give every estimate an outline."""
    return {method: SHAPES[min(at, len(SHAPES) - 1)] for at, method in enumerate(methods)}


def _place(value: float, scale: Scale) -> str:
    return f"{100 * scale.at(value):.2f}%"


def _width(lower: float, upper: float, scale: Scale) -> str:
    return f"{100 * (scale.at(upper) - scale.at(lower)):.2f}%"


def drawn(
    bounds: Bounds,
    marks: Sequence[Mark],
    scale: Scale,
    tone: Tone,
    shapes: Mapping[str, str],
    interval: Interval | None = None,
) -> Drawn:
    """Place one bar on its scale."""
    shown = [mark for mark in marks if math.isfinite(mark.value) and scale.holds(mark.value)]
    known = [_place(mark.value, scale) for mark in shown if mark.method is None]
    lower, upper = bounds.lower, bounds.upper
    start, width = ("", "") if lower is None or upper is None else (_place(lower, scale), _width(lower, upper, scale))
    return Drawn(
        start=start,
        width=width,
        thin=bool(width) and float(width.rstrip("%")) < _THIN,
        before=lower is not None and lower < scale.low - SAME,
        beyond=upper is not None and upper > scale.high + SAME,
        tone=tone,
        limits=tuple(_place(limit, scale) for limit in scale.limits),
        band=_width(scale.limits[0], scale.limits[-1], scale) if scale.limits else "",
        marks=tuple((shapes[mark.method], _place(mark.value, scale)) for mark in shown if mark.method is not None),
        known=known[0] if known else "",
        interval=() if interval is None or not start else _whisker(interval, scale),
    )


def _whisker(interval: Interval, scale: Scale) -> tuple[str, ...]:
    ends = "yes" if scale.holds(interval.lower) else "", "yes" if scale.holds(interval.upper) else ""
    return _place(interval.lower, scale), _width(interval.lower, interval.upper, scale), *ends


def axis(scale: Scale) -> list[Label]:
    """Return the ticks."""
    return [_label(100 * scale.at(tick), exact(tick, _TICK_DIGITS), _EDGE) for tick in scale.ticks]


def limit_label(section: Section) -> Label | None:
    """Return the name of the threshold, or of the band around it."""
    scale = section.scale
    if not scale.limits:
        return None
    said = SENTENCES["from_to"].format(low=exact(scale.limits[0]), high=exact(scale.limits[-1]))
    text = SENTENCES["threshold_label"].format(limits=said if len(scale.limits) > 1 else exact(scale.limits[0]))
    return _label(100 * sum(map(scale.at, scale.limits)) / len(scale.limits), text, 5 * _EDGE)


def _label(at: float, text: str, edge: float) -> Label:
    return Label(f"{at:.2f}%", text, "start" if at < edge else "end" if at > 100 - edge else "middle")
