"""The report of an audit for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from fairbounds.report.layout import Section, Truth, estimate_methods, group_section, sections
from fairbounds.report.numbers import percent, points
from fairbounds.report.opening import opening
from fairbounds.report.page import INDENT, Page
from fairbounds.report.parts import MOST_SHOWN, Rows, close, facts, head, legend, more, title, warnings_pointer
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.tables_said import agreement
from fairbounds.results import Audit, StratumMismatch

__all__ = ["MOST_SHOWN", "print_audit"]


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
    page = Page(console)
    found = sections(audit, truth, MOST_SHOWN)
    title(page, SENTENCES["title"])
    page.line(" ".join(opening(audit, found, page.name)))
    warnings_pointer(page, audit)
    facts(page, audit)
    _agreement(page, audit)
    _groups(page, audit, truth)
    _findings(page, found)
    close(page, audit)


def _agreement(page: Page, audit: Audit) -> None:
    page.heading(WORDS["agreement"])
    for sentence in agreement(audit.mismatch, audit.strata):
        page.line(sentence, INDENT, hang=2)
    if audit.mismatch.worst:
        page.blank()
        page.line(f"{SENTENCES['worst']}.", INDENT)
        _worst(page, audit.mismatch.worst)


def _worst(page: Page, worst: Sequence[StratumMismatch]) -> None:
    if page.narrow:
        said = SENTENCES["worst_one"]
        for entry in worst:
            shares = {"internal": percent(entry.internal), "external": percent(entry.external)}
            page.line(said.format(stratum=page.name(entry.stratum), **shares), INDENT, hang=2)
        return
    names = [WORDS["stratum"], WORDS["internal"], WORDS["external"], WORDS["points"]]
    rows = [
        [entry.stratum, percent(entry.internal), percent(entry.external), points(entry.internal - entry.external)]
        for entry in worst
    ]
    page.columns([[page.clean(cell) for cell in row] for row in (names, *rows)], page.width - INDENT)


def _groups(page: Page, audit: Audit, truth: Truth | None) -> None:
    page.heading(WORDS["groups"])
    page.line(SENTENCES["groups_about"], INDENT)
    section, shares = group_section(audit, truth, MOST_SHOWN)
    rows = Rows(page, section, [percent(shares[finding.group]) for finding in section.findings[:MOST_SHOWN]])
    rows.axis()
    for at in range(len(rows.shown)):
        rows.bar(at, {})
    more(page, section, "more_groups")


def _findings(page: Page, found: list[Section]) -> None:
    page.heading(WORDS["findings"])
    if not found:
        page.line(SENTENCES["no_findings"], INDENT)
        return
    signs = page.glyphs.signs(estimate_methods(found))
    legend(page, found, signs)
    for section in found:
        head(page, section)
        rows = Rows(page, section)
        rows.axis()
        for at, finding in enumerate(rows.shown):
            rows.bar(at, signs)
            rows.judge(finding)
        more(page, section, "more")
