"""What the pages for a terminal have in common: facts, legend, bars with their numbers and sentences, and the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text

from fairbounds.report.bars import Cell, axis, bar
from fairbounds.report.layout import Section
from fairbounds.report.page import INDENT, Page, fitted
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.sentences import (
    caveats,
    estimate_legend,
    footnotes,
    interval_sentences,
    metric_gloss,
    section_title,
    sharpness,
    span,
    value_sentences,
    verdict,
    warning_count,
)
from fairbounds.report.tables_said import combined
from fairbounds.results import Audit, Finding

__all__ = ["MOST_SHOWN", "Rows", "close", "facts", "head", "legend", "more", "say", "title", "warnings_pointer"]

MOST_SHOWN = 10
_NAME_PART = 0.32

_TONES = {"differs": "bold red", "meets": "bold cyan", "open": "bold yellow", "plain": "blue"}
_ROLES = {"track": "dim", "limit": "bold", "mark": "bold", "known": "bold magenta"}


def title(page: Page, text: str) -> None:
    """Print the first line."""
    page.line(Text(page.clean(text).upper(), style="bold"))
    page.blank()


def warnings_pointer(page: Page, audit: Audit) -> None:
    """Say at the beginning how many warnings stand at the end."""
    page.blank()
    if audit.warnings:
        pointer = SENTENCES["warnings_pointer"].format(warnings=warning_count(audit))
        page.line(Text(page.clean(pointer), style="bold yellow"), first="! ")
    else:
        page.line(f"{warning_count(audit)}.")


def facts(page: Page, audit: Audit) -> None:
    """Print what was combined."""
    page.heading(WORDS["combined"])
    said = combined(audit, page.name)
    width = max(cell_len(term) for term, _ in said) + 2
    for term, description in said:
        if page.narrow:
            page.line(f"{term}: {description}", INDENT, hang=2)
        else:
            page.line(description, INDENT, first=fitted(term, width))


def legend(page: Page, found: Sequence[Section], signs: Mapping[str, str]) -> None:
    """Explain the signs that occur, and what estimates assume of each other."""
    glyphs = page.glyphs
    entries = [(glyphs.bounds * 3, SENTENCES["legend_bounds"]), (glyphs.limit, SENTENCES["legend_threshold"])]
    entries += [(sign, page.clean(estimate_legend(method))) for method, sign in signs.items()]
    listed = (estimate for section in found for finding in section.findings for estimate in finding.estimates)
    entries += [("±", SENTENCES["legend_error"])] * any("standard_error" in entry.details for entry in listed)
    known = any(section.known(finding) is not None for section in found for finding in section.findings)
    entries += [(glyphs.known, SENTENCES["legend_known"])] * known
    entries += [(glyphs.several, SENTENCES["legend_several"])] * (known or len(signs) > 1)
    entries += [(glyphs.beyond, SENTENCES["legend_beyond"])] * any(section.goes_beyond for section in found)
    page.packed([f"{sign} {meaning}" for sign, meaning in entries])
    for note in footnotes(found):
        page.line(note, INDENT)


def head(page: Page, section: Section) -> None:
    """Name a section's metric, and say whether its bounds are the true ends."""
    page.blank()
    gloss = metric_gloss(section.metric)
    named = section_title(section, page.name) + (f" ({gloss})" if gloss else "")
    page.line(Text(page.clean(named), style="bold"), INDENT)
    page.line(sharpness(section), INDENT)


def more(page: Page, section: Section, key: str) -> None:
    """Say how many findings were left out."""
    if len(section.findings) > MOST_SHOWN:
        page.line(SENTENCES[key].format(n=f"{len(section.findings) - MOST_SHOWN:,}"), INDENT)


def close(page: Page, audit: Audit) -> None:
    """Print the assumptions and the warnings in full."""
    page.heading(WORDS["assumptions"])
    page.bullets(audit.assumptions or [SENTENCES["no_assumptions"]], "-")
    if audit.warnings:
        page.heading(f"{WORDS['warnings']} ({len(audit.warnings)})")
        page.bullets(audit.warnings, "!", "yellow")


def say(page: Page, sentences: Iterable[str]) -> None:
    """Print sentences below a bar, each a paragraph of its own."""
    for sentence in sentences:
        page.line(sentence, 2 * INDENT, hang=2)


class Rows:
    """The findings of a section one below the other, on a common scale.

    Parameters
    ----------
    page : Page
    section : Section
    shares : sequence of str
        Shown beside the names, one for each finding, or none.

    Attributes
    ----------
    width : int
        Characters of a bar.
    """

    def __init__(self, page: Page, section: Section, shares: Sequence[str] = ()) -> None:
        self._page, self._section = page, section
        self.shown = section.findings[:MOST_SHOWN]
        self._names = self._labels(shares)
        self._spans = [page.clean(span(finding.bounds, *section.scale.limits)) for finding in self.shown]
        self._left = 0 if page.narrow else max([cell_len(name) for name in self._names], default=0) + 2
        right = 0 if page.narrow else max([cell_len(text) for text in self._spans], default=0) + 2
        self.width = max(10, page.width - INDENT - self._left - right)

    def _labels(self, shares: Sequence[str]) -> list[str]:
        page = self._page
        longest = page.width - 2 * INDENT if page.narrow else int(_NAME_PART * page.width)
        names = [
            page.name(WORDS["all_groups"] if finding.group is None else finding.group, longest - 7 * bool(shares))
            for finding in self.shown
        ]
        if not shares:
            return names
        widest = max(map(cell_len, names), default=0)
        return [f"{fitted(name, widest)}  {share:>5}" for name, share in zip(names, shares, strict=True)]

    def axis(self) -> None:
        """Print the numbers of the scale."""
        self.above(Text(self._page.clean(axis(self._section.scale, self.width))))

    def above(self, text: Text) -> None:
        """Print a line that stands over the bars."""
        self._page.exactly(Text(" " * (INDENT + self._left)) + text)

    def bar(self, at: int, signs: Mapping[str, str]) -> None:
        """Print the bar of one finding with its name and its ends."""
        page, section, finding, margin = self._page, self._section, self.shown[at], Text(" " * INDENT)
        cells = bar(finding.bounds, section.marks(finding), section.scale, self.width, page.glyphs, signs)
        drawn = _drawn(cells, self.style(finding))
        if page.narrow:
            page.exactly(margin + self._names[at])
            page.exactly(margin + drawn)
            page.exactly(margin + self._spans[at])
        else:
            page.exactly(margin + fitted(self._names[at], self._left) + drawn + f"  {self._spans[at]}")

    def style(self, finding: Finding) -> str:
        """Return the colour of a finding's verdict."""
        said = verdict(finding, self._page.name)
        return _TONES["plain" if said is None else said.tone]

    def judge(self, finding: Finding) -> None:
        """Print a finding's verdict, estimates and caveats."""
        page, said = self._page, verdict(finding, self._page.name)
        if said is not None:
            body = Text.assemble((page.clean(said.lead), _TONES[said.tone]), page.clean(f": {said.body}."))
            page.line(body, 2 * INDENT, hang=2)
        limits = self._section.scale.limits
        said_more = (*interval_sentences(finding, *limits), *value_sentences(self._section, finding))
        say(page, (*said_more, *caveats(finding)))


def _drawn(cells: Iterable[Cell], style: str) -> Text:
    return Text.assemble(*((cell.char, _ROLES.get(cell.role, style)) for cell in cells))
