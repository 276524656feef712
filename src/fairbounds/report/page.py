"""A page for a terminal: plain lines, and nothing that a name could turn into markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from fairbounds.levels import show
from fairbounds.report.bars import glyphs_for
from fairbounds.report.phrases import WORDS

__all__ = ["INDENT", "Page", "fitted"]

INDENT = 2
_WIDEST = 120
_NARROW = 64
_LONGEST_QUOTED = 40

_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_STEERING = re.compile(r"[\u061c\u200f\u202a-\u202e\u2066-\u2069]")
_LEFT_TO_RIGHT = "\u200e"
_PLAIN = {
    "…": "...",
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "±": "+/-",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "·": ".",
    "\u0302": "-hat",  # the circumflex of R̂
    _LEFT_TO_RIGHT: "",
}


class Page:
    """Writes lines that fit the console's width and encoding.

    Parameters
    ----------
    console : rich.console.Console
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.width = max(24, min(_WIDEST, console.width))
        self.glyphs = glyphs_for(console.encoding)

    @property
    def narrow(self) -> bool:
        """Whether a bar and its numbers need lines of their own."""
        return self.width < _NARROW

    def clean(self, text: str) -> str:
        """Replace what a terminal would obey, and what the encoding cannot carry."""
        text = _UNSHOWN.sub(" ", _STEERING.sub("", text))
        return "".join(char if self._carries(char) else _PLAIN.get(char, "?") for char in text)

    def _carries(self, char: str) -> bool:
        try:
            char.encode(self.console.encoding)
        except (UnicodeEncodeError, LookupError):
            return False
        return True

    def name(self, label: object, most: int = _LONGEST_QUOTED) -> str:
        """Return a name on one line, shortened to `most` characters' width."""
        text = self.clean(show(None) if label is None else str(label))
        text = " ".join(text.split()) or WORDS["blank"]
        if cell_len(text) > most:
            text = _shortened(text, most, self.clean("…"))
        if any(unicodedata.bidirectional(char) in ("R", "AL") for char in text):
            return f"{_LEFT_TO_RIGHT}{text}{_LEFT_TO_RIGHT}"
        return text

    def line(self, text: Text | str = "", indent: int = 0, hang: int = 0, first: str = "") -> None:
        """Print a paragraph, wrapped; `first` stands before its first line, the others hang below."""
        body = Text(self.clean(text)) if isinstance(text, str) else text
        room = max(10, self.width - indent - max(hang, cell_len(first)))
        for number, part in enumerate(body.wrap(self.console, room) or [Text()]):
            part.rstrip()
            lead = first if number == 0 else " " * max(hang, cell_len(first))
            self.exactly(Text(" " * indent + lead) + part)

    def exactly(self, text: Text) -> None:
        """Print one line as it is."""
        text.rstrip()
        self.console.print(text, no_wrap=True, overflow="ignore", crop=False, highlight=False)

    def blank(self) -> None:
        """Print an empty line."""
        self.exactly(Text())

    def heading(self, text: str) -> None:
        """Print a heading, an empty line before it."""
        self.blank()
        self.line(Text(self.clean(text).upper(), style="bold"))

    def bullets(self, items: Iterable[str], sign: str, style: str = "") -> None:
        """Print a list, each item after a sign."""
        for item in items:
            self.line(Text(self.clean(item), style=style), INDENT, first=f"{sign} ")

    def packed(self, items: Iterable[str]) -> None:
        """Print as many items on a line as fit whole."""
        line = ""
        for item in items:
            if line and cell_len(line) + cell_len(item) + 3 > self.width - INDENT:
                self.line(line, INDENT)
                line = ""
            line += f"   {item}" if line else item
        self.line(line, INDENT)

    def columns(self, rows: Sequence[Sequence[str]], room: int) -> None:
        """Print rows with the first column on the left and numbers on the right."""
        widths = [max(cell_len(row[at]) for row in rows) for at in range(len(rows[0]))]
        widths[0] = min(widths[0], max(10, room - sum(widths[1:]) - 2 * len(widths[1:])))
        for row in rows:
            cells = [fitted(self.name(row[0], widths[0]), widths[0])]
            cells += [" " * (width - cell_len(cell)) + cell for cell, width in zip(row[1:], widths[1:], strict=True)]
            self.exactly(Text(" " * INDENT + "  ".join(cells)))


def _shortened(text: str, most: int, dots: str) -> str:
    """Leave out the middle: names of combined groups often differ at the end only."""
    room = most - len(dots)
    tail = text[-(room // 2) :]
    while cell_len(tail) > room // 2:
        tail = tail[1:]
    return set_cell_size(text, room - cell_len(tail)).rstrip() + dots + tail.lstrip()


def fitted(text: str, width: int) -> str:
    """Fill a text up with spaces."""
    return text + " " * max(0, width - cell_len(text))
