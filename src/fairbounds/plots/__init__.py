"""Figures from plain numbers, drawn with altair and written without a browser (extra ``report``).

`panels` holds the parts, `figure` puts them together and turns them into SVG, PNG and PDF, `theme` holds their looks;
`showing` knows which figures a result has, each drawn by a ``_chart`` module of its own.
"""

from __future__ import annotations

from fairbounds.plots.figure import Figure, compose, require_drawing
from fairbounds.plots.panels import Band, Box, Dot, Mark, boxes, dots, histogram, scatter
from fairbounds.plots.size_chart import width_by_size
from fairbounds.plots.theme import LOOKS, Look, Role

__all__ = [
    "LOOKS",
    "Band",
    "Box",
    "Dot",
    "Figure",
    "Look",
    "Mark",
    "Role",
    "boxes",
    "compose",
    "dots",
    "histogram",
    "require_drawing",
    "scatter",
    "width_by_size",
]
