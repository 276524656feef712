"""The report for a terminal: plain lines, bars of characters, and nothing that a name could turn into markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from fairbounds.levels import show
from fairbounds.report.bars import Cell, axis, bar, glyphs_for
from fairbounds.report.layout import Section, Truth, estimate_methods, group_section, sections
from fairbounds.report.numbers import percent, points
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.sentences import (
    agreement,
    answer,
    caveats,
    combined,
    estimate_legend,
    estimate_sentence,
    metric_gloss,
    section_title,
    sharpness,
    span,
    truth_sentence,
    verdict,
    warning_count,
)
from fairbounds.results import Audit, Finding, StratumMismatch

__all__ = ["MOST_SHOWN", "print_audit"]

MOST_SHOWN = 10
_WIDEST = 120
_NARROW = 64
_NAME_PART = 0.32
_LONGEST_QUOTED = 40
_INDENT = 2

_TONES = {"differs": "bold red", "meets": "bold cyan", "open": "bold yellow", "plain": "blue"}
_ROLES = {"track": "dim", "limit": "bold", "mark": "bold", "known": "bold magenta"}

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
    _LEFT_TO_RIGHT: "",
}


def print_audit(audit: Audit, console: Console, *, truth: Truth | None = None) -> None:
    """Print an audit for a reader at a terminal.

    Parameters
    ----------
    audit : Audit
    console : rich.console.Console
    truth : mapping of (metric, group) to float, optional
        Known values, marked in the bars and compared with the bounds in words.

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "a", "b"], "ok": [1, 0, 1]}
    >>> external = {"job": ["a", "b", "b"], "sex": ["F", "F", "M"]}
    >>> print_audit(fb.audit(internal, external, protected="sex", decision="ok"), Console(width=80))
    ... # doctest: +ELLIPSIS
    FAIRNESS AUDIT
    ...
    """
    page = _Page(console)
    found = sections(audit, truth, MOST_SHOWN)
    _opening(page, audit, found)
    _combination(page, audit)
    _groups(page, audit, truth)
    _findings(page, found)
    page.heading(WORDS["assumptions"])
    page.bullets(audit.assumptions or [SENTENCES["no_assumptions"]], "-")
    if audit.warnings:
        page.heading(f"{WORDS['warnings']} ({len(audit.warnings)})")
        page.bullets(audit.warnings, "!", "yellow")


# -- the page ----------------------------------------------------------------------------------------------------------


class _Page:
    """Writes lines that fit the console's width and encoding."""

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

    def heading(self, text: str) -> None:
        self.exactly(Text())
        self.line(Text(self.clean(text).upper(), style="bold"))

    def bullets(self, items: Iterable[str], sign: str, style: str = "") -> None:
        for item in items:
            self.line(Text(self.clean(item), style=style), _INDENT, first=f"{sign} ")

    def packed(self, items: Iterable[str]) -> None:
        """Print as many items on a line as fit whole."""
        line = ""
        for item in items:
            if line and cell_len(line) + cell_len(item) + 3 > self.width - _INDENT:
                self.line(line, _INDENT)
                line = ""
            line += f"   {item}" if line else item
        self.line(line, _INDENT)

    def columns(self, rows: Sequence[Sequence[str]], room: int) -> None:
        """Print rows with the first column on the left and numbers on the right."""
        widths = [max(cell_len(row[at]) for row in rows) for at in range(len(rows[0]))]
        widths[0] = min(widths[0], max(10, room - sum(widths[1:]) - 2 * len(widths[1:])))
        for row in rows:
            cells = [_fitted(self.name(row[0], widths[0]), widths[0])]
            cells += [" " * (width - cell_len(cell)) + cell for cell, width in zip(row[1:], widths[1:], strict=True)]
            self.exactly(Text(" " * _INDENT + "  ".join(cells)))


def _shortened(text: str, most: int, dots: str) -> str:
    """Leave out the middle: names of combined groups often differ at the end only."""
    room = most - len(dots)
    tail = text[-(room // 2) :]
    while cell_len(tail) > room // 2:
        tail = tail[1:]
    return set_cell_size(text, room - cell_len(tail)).rstrip() + dots + tail.lstrip()


def _fitted(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


# -- the parts ---------------------------------------------------------------------------------------------------------


def _opening(page: _Page, audit: Audit, found: list[Section]) -> None:
    page.exactly(Text(page.clean(SENTENCES["title"]).upper(), style="bold"))
    page.exactly(Text())
    page.line(" ".join(answer(audit, found, page.name)))
    page.exactly(Text())
    if audit.warnings:
        pointer = SENTENCES["warnings_pointer"].format(warnings=warning_count(audit))
        page.line(Text(page.clean(pointer), style="bold yellow"), first="! ")
    else:
        page.line(f"{warning_count(audit)}.")


def _combination(page: _Page, audit: Audit) -> None:
    page.heading(WORDS["combined"])
    facts = combined(audit, page.name)
    width = max(cell_len(term) for term, _ in facts) + 2
    for term, description in facts:
        if page.narrow:
            page.line(f"{term}: {description}", _INDENT, hang=2)
        else:
            page.line(description, _INDENT, first=_fitted(term, width))
    page.heading(WORDS["agreement"])
    for sentence in agreement(audit.mismatch, audit.strata):
        page.line(sentence, _INDENT, hang=2)
    if audit.mismatch.worst:
        page.exactly(Text())
        page.line(f"{SENTENCES['worst']}.", _INDENT)
        _worst(page, audit.mismatch.worst)


def _worst(page: _Page, worst: Sequence[StratumMismatch]) -> None:
    if page.narrow:
        said = SENTENCES["worst_one"]
        for entry in worst:
            shares = {"internal": percent(entry.internal), "external": percent(entry.external)}
            page.line(said.format(stratum=page.name(entry.stratum), **shares), _INDENT, hang=2)
        return
    head = [WORDS["stratum"], WORDS["internal"], WORDS["external"], WORDS["points"]]
    rows = [
        [entry.stratum, percent(entry.internal), percent(entry.external), points(entry.internal - entry.external)]
        for entry in worst
    ]
    page.columns([[page.clean(cell) for cell in row] for row in (head, *rows)], page.width - _INDENT)


def _groups(page: _Page, audit: Audit, truth: Truth | None) -> None:
    page.heading(WORDS["groups"])
    page.line(SENTENCES["groups_about"], _INDENT)
    section, shares = group_section(audit, truth, MOST_SHOWN)
    shown = section.findings[:MOST_SHOWN]
    _rows(page, section, shown, {}, [percent(shares[finding.group]) for finding in shown], spoken=False)
    _more(page, section, "more_groups")


def _findings(page: _Page, found: list[Section]) -> None:
    page.heading(WORDS["findings"])
    if not found:
        page.line(SENTENCES["no_findings"], _INDENT)
        return
    signs = {method: page.glyphs.mark(position) for position, method in enumerate(estimate_methods(found))}
    _legend(page, found, signs)
    for section in found:
        page.exactly(Text())
        gloss = metric_gloss(section.metric)
        title = section_title(section, page.name) + (f" ({gloss})" if gloss else "")
        page.line(Text(page.clean(title), style="bold"), _INDENT)
        page.line(sharpness(section), _INDENT)
        _rows(page, section, section.findings[:MOST_SHOWN], signs, [], spoken=True)
        _more(page, section, "more")


def _legend(page: _Page, found: list[Section], signs: dict[str, str]) -> None:
    glyphs = page.glyphs
    entries = [(glyphs.bounds * 3, SENTENCES["legend_bounds"]), (glyphs.limit, SENTENCES["legend_threshold"])]
    entries += [(sign, page.clean(estimate_legend(method))) for method, sign in signs.items()]
    known = any(section.known(finding) is not None for section in found for finding in section.findings)
    entries += [(glyphs.known, SENTENCES["legend_known"])] * known
    entries += [(glyphs.several, SENTENCES["legend_several"])] * (known or len(signs) > 1)
    entries += [(glyphs.beyond, SENTENCES["legend_beyond"])] * any(section.goes_beyond for section in found)
    page.packed([f"{sign} {meaning}" for sign, meaning in entries])


def _more(page: _Page, section: Section, key: str) -> None:
    if len(section.findings) > MOST_SHOWN:
        page.line(SENTENCES[key].format(n=f"{len(section.findings) - MOST_SHOWN:,}"), _INDENT)


# -- bars --------------------------------------------------------------------------------------------------------------


def _rows(
    page: _Page, section: Section, shown: Sequence[Finding], signs: dict[str, str], shares: list[str], *, spoken: bool
) -> None:
    """Print one bar per finding on a common scale, with its numbers beside it and its sentences below."""
    limits = section.scale.limits
    longest = page.width - 2 * _INDENT if page.narrow else int(_NAME_PART * page.width)
    names = [
        page.name(WORDS["all_groups"] if finding.group is None else finding.group, longest - 7 * bool(shares))
        for finding in shown
    ]
    if shares:
        widest = max(map(cell_len, names))
        names = [f"{_fitted(name, widest)}  {share:>5}" for name, share in zip(names, shares, strict=True)]
    spans = [page.clean(span(finding.bounds, *limits)) for finding in shown]
    left = 0 if page.narrow else max([cell_len(name) for name in names], default=0) + 2
    right = 0 if page.narrow else max([cell_len(text) for text in spans], default=0) + 2
    width = max(10, page.width - _INDENT - left - right)
    page.exactly(Text(" " * (_INDENT + left) + page.clean(axis(section.scale, width))))
    for finding, name, ends in zip(shown, names, spans, strict=True):
        said = verdict(finding, page.name)
        style = _TONES["plain" if said is None else said.tone]
        drawn = _drawn(bar(finding.bounds, section.marks(finding), section.scale, width, page.glyphs, signs), style)
        _print_row(page, name, drawn, ends, left)
        if spoken:
            _sentences(page, section, finding)


def _print_row(page: _Page, name: str, drawn: Text, ends: str, left: int) -> None:
    margin = " " * _INDENT
    if page.narrow:
        page.exactly(Text(margin + name))
        page.exactly(Text(margin) + drawn)
        page.exactly(Text(margin + ends))
    else:
        page.exactly(Text(margin + _fitted(name, left)) + drawn + Text(f"  {ends}"))


def _drawn(cells: Iterable[Cell], style: str) -> Text:
    return Text.assemble(*((cell.char, _ROLES.get(cell.role, style)) for cell in cells))


def _sentences(page: _Page, section: Section, finding: Finding) -> None:
    limits, indent = section.scale.limits, 2 * _INDENT
    said = verdict(finding, page.name)
    if said is not None:
        body = Text.assemble((page.clean(said.lead), _TONES[said.tone]), page.clean(f": {said.body}."))
        page.line(body, indent, hang=2)
    known = section.known(finding)
    values = [estimate_sentence(entry, *limits) for entry in finding.estimates]
    values += [] if known is None else [truth_sentence(finding, known, *limits)]
    for sentence in (" ".join(values), *caveats(finding)):
        if sentence:
            page.line(sentence, indent, hang=2)
