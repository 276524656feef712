"""How every figure looks: the one place for colours, dashes and type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["BAND", "FILL", "FILL_DEEP", "INK", "LOOKS", "PAPER", "SOFT", "Look", "Role", "config"]

PAPER = "#ffffff"
INK = "#1b1f24"
SOFT = "#59636e"
GRID = "#e4e7eb"
FILL = "#d3dae2"
FILL_DEEP = "#8a97a6"
BAND = "#f3c98b"

# Ships with vl-convert, so that a figure has the same bytes on every machine; where it is absent Arial has its widths.
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

Role: TypeAlias = Literal[
    "truth", "independence", "latent_class", "feasible_mean", "bounds", "threshold", "first", "second", "third"
]


class Look(NamedTuple):
    """How one kind of value is drawn: never by its colour alone.

    Attributes
    ----------
    colour : str
    dash : tuple of int
        Pixels drawn and left out in turn.
    shape : str
        Of a point.
    """

    colour: str
    dash: tuple[int, ...]
    shape: str


# Told apart with any colour vision, and each at least 3 to 1 against paper (tests/plots/test_figures.py).
LOOKS: Mapping[Role, Look] = {
    "truth": Look("#cc3311", (1, 0), "diamond"),
    "latent_class": Look("#0077bb", (8, 3), "circle"),
    "independence": Look("#117733", (3, 2), "square"),
    "feasible_mean": Look("#7b2d8b", (8, 3, 2, 3), "triangle-up"),
    "bounds": Look(INK, (1, 0), "stroke"),
    "threshold": Look(SOFT, (2, 4), "cross"),
    # Of series that are none of the above.
    "first": Look("#33658a", (1, 0), "circle"),
    "second": Look("#b0413e", (1, 0), "diamond"),
    "third": Look(SOFT, (1, 0), "square"),
}


def config() -> dict[str, Any]:
    """Return the theme as Vega-Lite takes it.

    Examples
    --------
    >>> config()["background"]
    '#ffffff'
    """
    return {
        "aria": False,  # the whole drawing has one text; a label on every mark would be noise
        "background": PAPER,
        "font": _FONT,
        "padding": 12,
        "axis": {
            "domainColor": SOFT,
            "gridColor": GRID,
            "labelColor": INK,
            "labelFlush": False,
            "labelFontSize": 12,
            "labelLimit": 400,
            "tickColor": SOFT,
            "titleColor": INK,
            "titleFontSize": 13,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "axisXQuantitative": {"tickCount": 6},
        "concat": {"spacing": 36},
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": INK,
            "fontSize": 14,
            "fontWeight": "bold",
            "offset": 10,
        },
        "view": {"stroke": None},
    }
