"""The parts that figures are made of: each takes plain numbers and returns one altair chart, no larger than its bins.

Colours, dashes and shapes are written on every mark rather than left to scales, and each panel names its marks below
itself, where the names cover nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from fairbounds.plots.theme import BAND, FILL, FILL_DEEP, INK, LOOKS, SOFT, Role

if TYPE_CHECKING:
    import altair as alt

    Panel: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart

__all__ = ["Band", "Box", "Dot", "Mark", "boxes", "dots", "histogram", "scatter"]

_WIDTH, _HEIGHT = 360, 250
_ROW, _SLOT = 26, 11  # pixels for a row, and between the dots in it
_HEADROOM = 1.07  # of a scale over the highest mark, so that no label stands out above and pushes the title up
_KEY, _KEY_LINE = 30, 19  # pixels for a sign of the legend, and for its line


class Mark(NamedTuple):
    """Values at which a line crosses a panel.

    Attributes
    ----------
    label : str
        In the legend, with the number.
    role : str
        Its look.
    values : tuple of float
    spread : tuple of float, optional
        Two ends of a shaded stretch around them.
    """

    label: str
    role: Role
    values: tuple[float, ...]
    spread: tuple[float, float] | None = None


class Box(NamedTuple):
    """What is shown of the values of one category.

    Attributes
    ----------
    category : str
    quantiles : tuple of float
        5, 25, 50, 75 and 95 per cent, none below 0.
    mean : float
    """

    category: str
    quantiles: tuple[float, float, float, float, float]
    mean: float


class Band(NamedTuple):
    """A stretch between two values, named in the legend."""

    label: str
    low: float
    high: float


class Dot(NamedTuple):
    """One value of a row.

    Attributes
    ----------
    row : str
    label : str
        In the legend.
    role : str
        Its look.
    value : float or None
        Without it only the stretch is drawn.
    low, high : float or None
        Ends of a stretch around it.
    """

    row: str
    label: str
    role: Role
    value: float | None
    low: float | None = None
    high: float | None = None


def histogram(
    counts: Sequence[float], edges: Sequence[float], *, title: str, x: str, y: str, marks: Sequence[Mark] = ()
) -> Panel:
    """Draw counted values, and lines across them.

    Parameters
    ----------
    counts : sequence of float, length n
    edges : sequence of float, length n + 1
    title, x, y : str
        Of the panel and of its axes.
    marks : sequence of Mark

    Examples
    --------
    >>> panel = histogram([1, 3], [0, 1, 2], title="DI", x="ratio", y="joints", marks=[Mark("truth", "truth", (1.5,))])
    >>> [layer["mark"]["type"] for layer in panel.to_dict()["vconcat"][0]["layer"]]
    ['rect', 'rule']
    """
    import altair as alt

    pairs = zip(edges[:-1], edges[1:], counts, strict=True)
    rows = [{"from": left, "to": right, "count": n, "zero": 0} for left, right, n in pairs if n]
    place = alt.X("from:Q", title=x, scale=_scale(_extent(edges, marks)))
    bars = _chart(rows).mark_rect(color=FILL, stroke=FILL_DEEP, strokeWidth=0.5)
    height = alt.Y("count:Q", title=y, scale=_scale([0.0, _HEADROOM * max(counts)]))
    bars = bars.encode(x=place, x2="to:Q", y=height, y2="zero:Q")
    drawn = alt.layer(bars, *_lines(marks)).properties(width=_WIDTH, height=_HEIGHT, title=title)
    return _with_legend(drawn, [_key_of(mark) for mark in marks])


def scatter(x: Sequence[float], y: Sequence[float], *, title: str, x_title: str, y_title: str, diagonal: str) -> Panel:
    """Draw pairs of values on equal scales, and the line on which both are the same.

    Examples
    --------
    >>> panel = scatter([0.5, 1], [0.6, 0.9], title="DI", x_title="truth", y_title="mean", diagonal="truth = mean")
    >>> [layer["mark"]["type"] for layer in panel.to_dict()["vconcat"][0]["layer"]]
    ['point', 'line']
    """
    import altair as alt

    low, high = min(*x, *y), max(*x, *y)
    scale, side = _scale(_extent([low, high], room=0.05)), _HEIGHT + 60
    axes = {"x": alt.X("x:Q", title=x_title, scale=scale), "y": alt.Y("y:Q", title=y_title, scale=scale)}
    look = LOOKS["first"]
    points = _chart({"x": a, "y": b} for a, b in zip(x, y, strict=True))
    cloud = points.mark_point(filled=True, size=16, opacity=0.45, color=look.colour).encode(**axes)
    line = _chart([{"x": low, "y": low}, {"x": high, "y": high}])
    line = line.mark_line(color=INK, strokeWidth=1.5, strokeDash=[6, 4]).encode(**axes)
    drawn = alt.layer(cloud, line).properties(width=side, height=side, title=title)
    return _with_legend(drawn, [_Key(diagonal, INK, (6, 4), None)], side)


def boxes(values: Sequence[Box], *, title: str, x: str, y: str, mean: str, band: Band | None = None) -> Panel:
    """Draw the quantiles and the mean of several categories, and a stretch to compare the means with.

    Examples
    --------
    >>> panel = boxes([Box("0 to 1", (0.1, 0.2, 0.3, 0.4, 0.9), 0.35)], title="DI", x="KL", y="range", mean="mean")
    >>> [layer["mark"]["type"] for layer in panel.to_dict()["vconcat"][0]["layer"]]
    ['rule', 'bar', 'tick', 'point']
    """
    import altair as alt

    names, look = ("p5", "p25", "p50", "p75", "p95"), LOOKS["second"]
    rows = [{"category": b.category, "mean": b.mean, **dict(zip(names, b.quantiles, strict=True))} for b in values]
    data = _chart(rows).encode(x=alt.X("category:N", title=x, sort=None, axis=alt.Axis(labelAngle=0)))
    scale = _scale([0.0, _HEADROOM * max(box.quantiles[-1] for box in values)])
    layers: list[Any] = [
        data.mark_rule(color=SOFT, strokeWidth=1.5).encode(y=alt.Y("p5:Q", title=y, scale=scale), y2="p95:Q"),
        data.mark_bar(color=FILL, stroke=FILL_DEEP, size=30).encode(y="p25:Q", y2="p75:Q"),
        data.mark_tick(color=INK, thickness=2, size=30).encode(y="p50:Q"),
    ]
    keys = [
        _Key("5 % to 95 % of the scenarios", SOFT, (1, 0), None),
        _Key("middle half and median", FILL, None, "square"),
        _Key(mean, look.colour, None, "diamond"),
    ]
    if band is not None:
        stretch = _chart([band._asdict()]).mark_rect(opacity=0.6, color=BAND)
        layers.append(stretch.encode(y="low:Q", y2="high:Q"))
        keys.append(_Key(band.label, BAND, None, "square"))
    points = data.mark_point(filled=True, size=70, shape="diamond", opacity=1, color=look.colour)
    layers.append(points.encode(y="mean:Q"))
    return _with_legend(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=title), keys)


def dots(
    values: Sequence[Dot],
    *,
    title: str,
    x: str,
    marks: Sequence[Mark] = (),
    named: bool = True,
    width: int = _WIDTH,
    row: int = _ROW,
    zero: bool = False,
    dodge: bool = True,
    legend: bool = True,
) -> Panel:
    """Draw one row for each name, with one or several values in it.

    Parameters
    ----------
    values : sequence of Dot
        Rows and labels keep the order in which they first come.
    title, x : str
    marks : sequence of Mark
        Lines across all rows.
    named : bool
        Whether the rows are named at the left; a panel to the right of another with the same rows need not.
    width, row : int
        Pixels of the panel and of each row.
    zero : bool
        Whether the scale starts at 0.
    dodge : bool
        Whether values of one row stand one below the other.
    legend : bool
        Whether the marks are named; a panel above another with the same marks need not.

    Examples
    --------
    >>> panel = dots([Dot("n = 100", "mean", "first", 0.2, 0.1, 0.3)], title="Error", x="DI")
    >>> [layer["mark"]["type"] for layer in panel.to_dict()["vconcat"][0]["layer"]]
    ['rule', 'point']
    """
    import altair as alt

    rows = list(dict.fromkeys(dot.row for dot in values))
    roles = {dot.label: dot.role for dot in values}
    ends = [end for dot in values for end in (dot.value, dot.low, dot.high) if end is not None]
    extent = _extent(ends, marks)
    place = alt.X("low:Q", title=x, scale=_scale([min(0.0, extent[0]), extent[1]] if zero else extent))
    layers, slot = _lines(marks), min(_SLOT / row, 1 / (len(roles) + 0.5))
    for at, (label, role) in enumerate(roles.items()):
        offset = (at - (len(roles) - 1) / 2) * slot if dodge else 0.0
        mine = _chart({**dot._asdict(), "at": rows.index(dot.row) + offset} for dot in values if dot.label == label)
        stretch, point = _dot_marks(mine.encode(y=_row_axis(rows, named)), role)
        layers += [stretch.encode(x=place, x2="high:Q"), point.encode(x="value:Q")]
    drawn = alt.layer(*layers).properties(width=width, height=row * len(rows), title=title)
    keys = [*_keys_of(values), *(_key_of(mark) for mark in marks)]
    return _with_legend(drawn, keys if legend else [], width)


def _row_axis(rows: Sequence[str], named: bool) -> alt.Y:
    """Return an axis with one named place for each row, the first on top."""
    import altair as alt

    names = f"{json.dumps(list(rows))}[datum.value]"
    axis = alt.Axis(
        title=None,
        values=list(range(len(rows))),
        labels=named,
        labelExpr=names,
        ticks=False,
        domain=False,
        labelPadding=8,
    )
    return alt.Y("at:Q", axis=axis, scale=alt.Scale(domain=[len(rows) - 0.5, -0.5], nice=False, zero=False))


def _dot_marks(chart: alt.Chart, role: Role) -> tuple[alt.Chart, alt.Chart]:
    look = LOOKS[role]
    return (
        chart.mark_rule(color=look.colour, strokeWidth=2.5, opacity=0.75),
        chart.mark_point(color=look.colour, shape=look.shape, filled=True, size=50, opacity=1),
    )


def _chart(rows: Iterable[dict[str, Any]]) -> alt.Chart:
    import altair as alt

    return alt.Chart(alt.InlineData(values=list(rows)))


def _scale(domain: Sequence[float]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=list(domain), zero=False, nice=False)


def _extent(values: Sequence[float], marks: Sequence[Mark] = (), room: float = 0.03) -> list[float]:
    """Return ends of a scale that hold everything, and a little room for what lies at them."""
    ends = [*values, *(value for mark in marks for value in (*mark.values, *(mark.spread or ())))]
    low, high = min(ends), max(ends)
    beyond = room * (high - low) or 0.5
    return [low - beyond, high + beyond]


def _lines(marks: Sequence[Mark]) -> list[alt.Chart]:
    """Return vertical lines, after the shaded stretches that must not cover them."""
    shaded, lines = [], []
    for mark in marks:
        look = LOOKS[mark.role]
        if mark.spread is not None:
            ends = _chart([{"low": mark.spread[0], "high": mark.spread[1]}])
            shaded.append(ends.mark_rect(opacity=0.18, color=look.colour).encode(x="low:Q", x2="high:Q"))
        rules = _chart({"at": value} for value in mark.values)
        rules = rules.mark_rule(strokeWidth=2.5, color=look.colour, strokeDash=list(look.dash))
        lines.append(rules.encode(x="at:Q"))
    return [*shaded, *lines]


class _Key(NamedTuple):
    """A sign of the legend: a line, a point, or both."""

    label: str
    colour: str
    dash: tuple[int, ...] | None
    shape: str | None


def _key_of(mark: Mark) -> _Key:
    return _Key(mark.label, LOOKS[mark.role].colour, LOOKS[mark.role].dash, None)


def _keys_of(values: Sequence[Dot]) -> list[_Key]:
    """Return a line where a label has stretches, and a point where it has values."""
    keys = []
    for label, role in {dot.label: dot.role for dot in values}.items():
        mine, look = [dot for dot in values if dot.label == label], LOOKS[role]
        dash = (1, 0) if any(dot.low is not None for dot in mine) else None
        keys.append(_Key(label, look.colour, dash, look.shape if any(dot.value is not None for dot in mine) else None))
    return keys


def _with_legend(drawn: Panel, keys: Sequence[_Key], width: int = _WIDTH) -> Panel:
    """Name the marks below a panel, a line each."""
    import altair as alt

    if not keys:
        return drawn
    scale, layers = alt.Scale(domain=[0, width], nice=False), []
    for at, key in enumerate(keys):
        here = _chart([{"from": 0, "to": _KEY, "middle": _KEY / 2, "text": _KEY + 8, "y": at, "label": key.label}])
        here = here.encode(y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[len(keys) - 0.5, -0.5], nice=False)))
        if key.dash is not None:
            rule = here.mark_rule(strokeWidth=2.5, color=key.colour, strokeDash=list(key.dash))
            layers.append(rule.encode(x=alt.X("from:Q", axis=None, scale=scale), x2="to:Q"))
        if key.shape is not None:
            point = here.mark_point(filled=True, size=90, opacity=1, color=key.colour, shape=key.shape)
            layers.append(point.encode(x=alt.X("middle:Q", axis=None, scale=scale)))
        words = here.mark_text(align="left", baseline="middle", fontSize=12, color=INK)
        layers.append(words.encode(x=alt.X("text:Q", axis=None, scale=scale), text="label:N"))
    legend = alt.layer(*layers).properties(width=width, height=_KEY_LINE * len(keys))
    return alt.vconcat(drawn, legend, spacing=14)
