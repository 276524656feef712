"""A report as blocks, written as Markdown and as one HTML file: what is said stands in one place."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import TypeAlias

from fairbounds.plots import Figure
from fairbounds.studies.columns import Columns

__all__ = [
    "Block",
    "Bullets",
    "Code",
    "Grid",
    "Heading",
    "Illustration",
    "Paragraph",
    "Places",
    "as_html",
    "as_markdown",
]

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_CODE = re.compile(r"`(.+?)`")
_NUMBER = re.compile(r"^[−+<>~]?[\d.,]+( ?%)?( (±|to) [−\d.,]+( ?%)?)*$|^–$")


@dataclass(frozen=True)
class Heading:
    """A title; 1 is the document's."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Running text; ``**bold**`` and `` `code` `` are understood."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Lines for a shell."""

    text: str


@dataclass(frozen=True)
class Grid:
    """A table, its cells as they are shown."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Illustration:
    """A figure, its caption and the data behind it.

    Attributes
    ----------
    name : str
        Of its files.
    figure : Figure
    caption : str
    data : Columns
        Exactly what is drawn.
    """

    name: str
    figure: Figure
    caption: str
    data: Columns


Block: TypeAlias = Heading | Paragraph | Bullets | Code | Grid | Illustration


# -- Markdown ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Places:
    """Where a page in Markdown finds what belongs to it.

    Attributes
    ----------
    figures : str
        Folder of the figures.
    data : str, optional
        Folder of the data behind them; without it they are not linked.
    fold : int, optional
        Rows of the longest table that is shown unasked.
    """

    figures: str = "figures"
    data: str | None = "data"
    fold: int | None = None


def as_markdown(blocks: Sequence[Block], places: Places | None = None) -> str:
    r"""Write blocks as Markdown, figures as links to ``figures/NAME.svg``.

    Examples
    --------
    >>> print(as_markdown([Heading(2, "Width"), Grid("By bin", ("bin", "P(a|b)"), (("0 to 1", "0.5"),))]), end="")
    ## Width
    <BLANKLINE>
    By bin:
    <BLANKLINE>
    | bin | P(a\|b) |
    |:---|---:|
    | 0 to 1 | 0.5 |
    """
    return "\n\n".join(_markdown(block, places or Places()) for block in blocks) + "\n"


def _markdown(block: Block, places: Places) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Bullets(items):
            return "\n".join(f"- {item}" for item in items)
        case Code(text):
            return f"```sh\n{text}\n```"
        case Grid():
            return _markdown_grid(block, places.fold)
        case Illustration(name=name, figure=figure, caption=caption):
            data = f" Data: [{name}.csv]({places.data}/{name}.csv)." if places.data else ""
            return f"![{_one_line(figure.alt)}]({places.figures}/{name}.svg)\n\n*{caption}*{data}"


def _markdown_grid(grid: Grid, fold: int | None) -> str:
    signs = ["---:" if right else ":---" for right in _on_the_right(grid)]
    table = "\n".join([_row(grid.header), "|" + "|".join(signs) + "|", *map(_row, grid.rows)])
    if fold is None or len(grid.rows) <= fold:
        return f"{grid.caption}:\n\n{table}"
    caption = html.escape(grid.caption, quote=False)
    return f"<details>\n<summary>{caption} ({len(grid.rows)} rows)</summary>\n\n{table}\n\n</details>"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("[", "(").replace("]", ")")


def _on_the_right(grid: Grid) -> list[bool]:
    """Tell which columns are numbers, all of them; the first names its rows."""
    return [at > 0 and all(_NUMBER.match(row[at]) for row in grid.rows) for at in range(len(grid.header))]


# -- HTML --------------------------------------------------------------------------------------------------------------


def as_html(blocks: Sequence[Block], title: str) -> str:
    """Write blocks as one HTML page that needs no other file: figures are inside it.

    Examples
    --------
    >>> page = as_html([Paragraph("**a** < `b`")], "Title")
    >>> "<p><strong>a</strong> &lt; <code>b</code></p>" in page
    True
    """
    shell = Template(files(__package__).joinpath("page.html").read_text(encoding="utf-8"))
    return shell.substitute(title=html.escape(title), body="\n".join(map(_html, blocks)))


def _html(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f'<h{level} id="{_anchor(text)}">{_inline(text)}</h{level}>'
        case Paragraph(text):
            return f"<p>{_inline(text)}</p>"
        case Bullets(items):
            return "<ul>\n" + "\n".join(f"<li>{_inline(item)}</li>" for item in items) + "\n</ul>"
        case Code(text):
            return f"<pre><code>{html.escape(text)}</code></pre>"
        case Grid():
            return _html_grid(block)
        case Illustration(name=name, figure=figure, caption=caption):
            source = base64.b64encode(figure.svg.encode()).decode()
            image = f'<img alt="{html.escape(figure.alt)}" src="data:image/svg+xml;base64,{source}">'
            link = f'Data: <a href="data/{name}.csv">{name}.csv</a>.'
            return f"<figure>\n{image}\n<figcaption>{_inline(caption)} {link}</figcaption>\n</figure>"


def _html_grid(grid: Grid) -> str:
    sides = [' class="n"' if right else "" for right in _on_the_right(grid)]
    head = "".join(f'<th scope="col"{side}>{_inline(cell)}</th>' for side, cell in zip(sides, grid.header, strict=True))
    body = "\n".join(_html_row(row, sides) for row in grid.rows)
    label = html.escape(grid.caption)
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{label}">\n<table>\n'
        f"<caption>{_inline(grid.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )


def _html_row(row: Sequence[str], sides: Sequence[str]) -> str:
    first = f'<th scope="row"{sides[0]}>{_inline(row[0])}</th>'
    cells = zip(sides[1:], row[1:], strict=True)
    return f"<tr>{first}{''.join(f'<td{side}>{_inline(cell)}</td>' for side, cell in cells)}</tr>"


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<strong>\1</strong>", html.escape(text, quote=False)))


def _anchor(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")
