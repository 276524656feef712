"""Bars made of characters: [lower, upper] against the threshold, with marks; and histograms that stand over them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.report.layout import Mark, Scale
from fairbounds.report.numbers import SAME, exact
from fairbounds.results import Bounds

__all__ = ["ASCII", "BLOCKS", "Cell", "Glyphs", "axis", "bar", "glyphs_for", "histogram"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Role: TypeAlias = Literal["track", "bounds", "limit", "mark", "known"]


_LINES = 4


@dataclass(frozen=True)
class Glyphs:
    """The characters of a bar."""

    track: str
    bounds: str
    limit: str
    crossed: str
    beyond: str
    before: str
    known: str
    several: str
    marks: str
    heights: str

    def mark(self, position: int) -> str:
        """Return the character of an estimate by its position among the methods."""
        return self.marks[min(position, len(self.marks) - 1)]

    def signs(self, methods: Sequence[str]) -> dict[str, str]:
        """Give every estimate a character."""
        return {method: self.mark(position) for position, method in enumerate(methods)}


BLOCKS = Glyphs("·", "━", "│", "┿", "▶", "◀", "★", "◈", "◆●■▲▼", "▁▂▃▄▅▆▇█")
ASCII = Glyphs(".", "=", "|", "|", ">", "<", "T", "&", "ox%+@", ".:#")


def glyphs_for(encoding: str) -> Glyphs:
    """Return block characters where the encoding can carry them, else ASCII."""
    try:
        "".join(vars(BLOCKS).values()).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


@dataclass(frozen=True)
class Cell:
    """One character of a bar and what it stands for."""

    char: str
    role: Role


def bar(
    bounds: Bounds, marks: Sequence[Mark], scale: Scale, width: int, glyphs: Glyphs, signs: Mapping[str, str]
) -> list[Cell]:
    """Draw one bar.

    Parameters
    ----------
    bounds : Bounds
    marks : sequence of Mark
    scale : Scale
    width : int
        Characters.
    glyphs : Glyphs
    signs : mapping
        Estimate to its character.
    """
    cells = [Cell(glyphs.track, "track")] * width
    for limit in scale.limits:
        cells[_place(limit, scale, width)] = Cell(glyphs.limit, "limit")
    first, last = _fill(cells, bounds, scale, glyphs)
    for mark in marks:
        if scale.holds(mark.value):
            _put(cells, mark, _within(mark.value, bounds, scale, width, first, last), glyphs, signs)
    return cells


def _place(value: float, scale: Scale, width: int) -> int:
    return min(width - 1, int(scale.at(value) * width + SAME))


def histogram(values: FloatArray, bounds: Bounds, scale: Scale, width: int, glyphs: Glyphs) -> list[str]:
    """Draw how often values occur, over the bar of the bounds that they lie within.

    Parameters
    ----------
    values : array, shape (n,)
        Those beyond the scale are left out.
    bounds : Bounds
    scale : Scale
    width : int
        Characters.
    glyphs : Glyphs

    Returns
    -------
    list of str
        Lines from the top down. Whatever occurs is seen: a column that is not empty is at least one step high.
    """
    shown = values[(values >= scale.low - SAME) & (values <= scale.high + SAME)]
    if not shown.size or bounds.lower is None or bounds.upper is None:
        return []
    place = ((shown - scale.low) / (scale.high - scale.low) * width + SAME).astype(np.int64)
    counts = np.bincount(place.clip(*_clear_of_limits(bounds.lower, bounds.upper, scale, width)), minlength=width)
    steps = len(glyphs.heights)
    tall = np.ceil(counts / counts.max() * (_LINES * steps)).astype(np.int64)
    columns = " " + glyphs.heights
    return [
        "".join(columns[step] for step in (tall - line * steps).clip(0, steps).tolist()).rstrip()
        for line in reversed(range(_LINES))
    ]


def _fill(cells: list[Cell], bounds: Bounds, scale: Scale, glyphs: Glyphs) -> tuple[int, int]:
    """Draw the stretch between the ends and return its first and last cell."""
    if bounds.lower is None or bounds.upper is None:
        return 0, -1
    width = len(cells)
    first, last = _clear_of_limits(bounds.lower, bounds.upper, scale, width)
    for at in range(first, last + 1):
        crossed = cells[at].role == "limit"
        cells[at] = Cell(glyphs.crossed if crossed else glyphs.bounds, "bounds")
    if bounds.upper > scale.high + SAME:
        cells[width - 1] = Cell(glyphs.beyond, "bounds")
    if bounds.lower < scale.low - SAME:
        cells[0] = Cell(glyphs.before, "bounds")
    return first, last


def _clear_of_limits(lower: float, upper: float, scale: Scale, width: int) -> tuple[int, int]:
    """Place both ends, keeping those that lie beside a limit out of its cell."""
    first, last = (_place(end, scale, width) for end in (lower, upper))
    for limit in scale.limits:
        at = _place(limit, scale, width)
        if upper < limit - SAME:
            last = min(last, max(0, at - 1))
            first = min(first, last)
        if lower > limit + SAME:
            first = max(first, min(width - 1, at + 1))
            last = max(last, first)
    return first, last


def _within(value: float, bounds: Bounds, scale: Scale, width: int, first: int, last: int) -> int:
    """Place a mark: inside the drawn bounds if, and only if, it lies inside the bounds, where there is room."""
    at = _place(value, scale, width)
    if bounds.contains(value):
        return min(max(at, first), last)
    if first <= at <= last and bounds.upper is not None and math.isfinite(bounds.upper):
        return min(width - 1, last + 1) if value > bounds.upper else max(0, first - 1)
    return at


def _put(cells: list[Cell], mark: Mark, at: int, glyphs: Glyphs, signs: Mapping[str, str]) -> None:
    taken = cells[at].role in ("mark", "known")
    char = glyphs.known if mark.method is None else signs.get(mark.method, glyphs.mark(0))
    cells[at] = Cell(glyphs.several if taken else char, "known" if mark.method is None else "mark")


def axis(scale: Scale, width: int) -> str:
    """Write the limits, parity and the ends of the scale above their places; where two would touch, the first wins."""
    line = [" "] * width
    for value in (*scale.limits, scale.low, scale.high, *(tick for tick in scale.ticks if tick in (0, 1))):
        label = exact(value)
        start = min(max(0, _place(value, scale, width) - len(label) // 2), max(0, width - len(label)))
        room = line[max(0, start - 1) : start + len(label) + 1]
        if all(char == " " for char in room):
            line[start : start + len(label)] = label
    return "".join(line).rstrip()
