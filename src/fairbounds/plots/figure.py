"""A figure: panels beside each other, an alternative text, and its files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from fairbounds.errors import MissingDependencyError, SourceError, brief, listed
from fairbounds.plots.theme import config

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["Figure", "compose", "require_drawing"]

_PIXELS = 2  # of a PNG for each of the SVG, so that it is sharp in print
_PLACE = re.compile(r' (?:d|transform)="[^"]*"')
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_KINDS = (".svg", ".png", ".pdf")
_CLIP = re.compile(r"\b(clip|gradient)(_?)(\d+)\b")


def require_drawing() -> None:
    """Say what to install where figures cannot be drawn, before any work is lost."""
    for module, package in (("altair", "altair"), ("vl_convert", "vl-convert-python")):
        if find_spec(module) is None:
            raise MissingDependencyError.extra(package, "report", "drawing figures")


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawing and what it shows in words.

    Attributes
    ----------
    spec : dict
        Vega-Lite.
    alt : str
        What somebody who cannot see it should know, with the numbers.
    """

    spec: dict[str, Any]
    alt: str

    @cached_property
    def svg(self) -> str:
        """The drawing as SVG; the same figure gives the same text."""
        import altair as alt
        import vl_convert

        version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
        drawn: str = vl_convert.vegalite_to_svg(self.spec, vl_version=version)
        return _described(_rounded(_renumbered(drawn)), self.alt)

    @cached_property
    def png(self) -> bytes:
        """The drawing as PNG, two pixels for one of the SVG."""
        import vl_convert

        drawn: bytes = vl_convert.svg_to_png(self.svg, scale=_PIXELS)
        return drawn

    @cached_property
    def pdf(self) -> bytes:
        """The drawing as PDF, with its text as text."""
        import vl_convert

        drawn: bytes = vl_convert.svg_to_pdf(self.svg)
        return drawn

    def save(self, path: str | Path) -> None:
        """Write the drawing as its name ends: ``.svg``, ``.png`` or ``.pdf``.

        Parameters
        ----------
        path : str or Path
        """
        target = Path(path)
        kind = target.suffix.lower()
        if kind not in _KINDS:
            raise SourceError(f"a figure is written as {listed(_KINDS)}, not as {brief(kind or target.name)}")
        data = self.svg.encode() if kind == ".svg" else self.png if kind == ".png" else self.pdf
        try:
            target.write_bytes(data)
        except OSError as error:
            raise SourceError(f"the figure cannot be written to {str(path)!r}: {error.strerror}") from None

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.svg


def compose(panels: Sequence[Panel], alt_text: str, *, columns: int = 2, title: str = "") -> Figure:
    """Put panels beside each other, each with scales of its own.

    Parameters
    ----------
    panels : sequence of altair charts
    alt_text : str
    columns : int
        Panels in a row.
    title : str

    Examples
    --------
    >>> from fairbounds.plots.panels import histogram
    >>> panel = histogram([1, 3], [0.0, 0.5, 1.0], title="DI", x="error", y="scenarios")
    >>> compose([panel], "Three of four errors exceed 0.5.").svg[:4]
    '<svg'
    """
    import altair as alt

    words = {"title": title} if title else {}
    whole = alt.concat(*panels, columns=columns, **words)
    return Figure({**whole.to_dict(), "config": config()}, alt_text)


def _renumbered(svg: str) -> str:
    """Count clips from 1, because the renderer counts on from whatever it drew before."""
    seen: dict[str, str] = {}
    return _CLIP.sub(lambda found: seen.setdefault(found[0], f"{found[1]}{found[2]}{len(seen) + 1}"), svg)


def _rounded(svg: str) -> str:
    """Write places to a hundredth of a pixel, which nobody sees and which halves a cloud of points."""
    return _PLACE.sub(lambda place: _LONG.sub(lambda found: f"{float(found[0]):.2f}", place[0]), svg)


def _described(svg: str, text: str) -> str:
    return svg.replace("<svg ", f'<svg role="img" aria-label={quoteattr(text)} ', 1)
