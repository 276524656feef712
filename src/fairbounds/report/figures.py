"""Figures of a report, and the tables behind them: everything that the template draws, in words and per cent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fairbounds.report.drawing import Drawn, Label, axis, drawn, limit_label
from fairbounds.report.layout import Section, Truth, estimate_methods, group_section
from fairbounds.report.numbers import percent, percent_of
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.sentences import (
    Said,
    badge,
    caveats,
    estimate_name,
    interval_sentences,
    metric_gloss,
    metric_title,
    section_title,
    sharpness,
    span,
    value,
    value_sentences,
    verdict,
)
from fairbounds.report.spelling import full_name, shortened, spelt
from fairbounds.results import Audit, Finding

__all__ = ["MOST_DRAWN", "Figure", "Row", "Shapes", "figure", "groups_figure", "level_of"]

MOST_DRAWN = 20
_LONGEST_DRAWN = 90

Shapes: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Row:
    """One finding: its bar, what is said below it, and its cells in the table."""

    label: str
    name: str
    share: str
    span: str
    summary: str
    bar: Drawn
    said: Said | None
    values: list[str]
    caveats: list[str]
    cells: list[str]


@dataclass(frozen=True)
class Figure:
    """All findings of one metric, as a figure and as a table."""

    ident: str
    title: str
    gloss: str
    sharpness: str
    caption: str
    axis: list[Label]
    limit: Label | None
    rows: list[Row]
    columns: list[str]
    note: str

    @property
    def drawn(self) -> list[Row]:
        """The rows that the figure has room for."""
        return self.rows[:MOST_DRAWN]


def figure(ident: str, section: Section, shapes: Shapes) -> Figure:
    """Lay out all findings of one metric."""
    title = section_title(section, spelt)
    known = any(section.known(finding) is not None for finding in section.findings)
    level = level_of(section.findings)
    sampled = [WORDS[key].format(level=level) for key in ("interval_from", "interval_to") if level]
    columns = [WORDS["lower"], WORDS["upper"], *sampled, *map(estimate_name, estimate_methods([section]))]
    columns += [WORDS["known"]] * known + [WORDS["verdict"]] * section.has_verdicts
    return Figure(
        ident,
        title,
        metric_gloss(section.metric),
        sharpness(section),
        SENTENCES["table"].format(title=title),
        axis(section.scale),
        limit_label(section),
        [_row(section, finding, shapes, known) for finding in section.findings],
        columns,
        _note(section, "figure_more"),
    )


def _note(section: Section, key: str) -> str:
    n = len(section.findings)
    return SENTENCES[key].format(shown=MOST_DRAWN, n=f"{n:,}") if n > MOST_DRAWN else ""


def _row(section: Section, finding: Finding, shapes: Shapes, known_shown: bool, share: str = "") -> Row:
    said, ends = verdict(finding, spelt), span(finding.bounds, *section.scale.limits)
    name = WORDS["all_groups"] if finding.group is None else full_name(finding.group)
    return Row(
        shortened(name, _LONGEST_DRAWN),
        name,
        share,
        ends,
        f"{metric_title(section.metric)}, {name}: {ends}",
        drawn(
            finding.bounds,
            section.marks(finding),
            section.scale,
            "plain" if said is None else said.tone,
            shapes,
            finding.interval,
        ),
        said,
        [*interval_sentences(finding, *section.scale.limits), *value_sentences(section, finding)],
        caveats(finding),
        _cells(section, finding, known_shown),
    )


def _cells(section: Section, finding: Finding, known_shown: bool) -> list[str]:
    limits, bounds, known = section.scale.limits, finding.bounds, section.known(finding)
    endless = bounds.upper == float("inf") and bounds.lower != bounds.upper
    cells = [value(bounds.lower, *limits), WORDS["no_limit"] if endless else value(bounds.upper, *limits)]
    if level_of(section.findings):
        interval = finding.interval
        ends = (None, None) if interval is None else (interval.lower, interval.upper)
        cells += [WORDS["not_given"] if end is None else _end(end, limits) for end in ends]
    cells += [_estimated(finding, method, limits) for method in estimate_methods([section])]
    if known_shown:
        cells.append(_known(finding, known, limits))
    return [*cells, badge(finding)] if section.has_verdicts else cells


def _end(end: float, limits: tuple[float, ...]) -> str:
    return WORDS["no_limit"] if end == float("inf") else value(end, *limits)


def level_of(findings: Iterable[Finding]) -> str:
    """Return the level of the intervals, or nothing where there are none.

    Parameters
    ----------
    findings : iterable of Finding
    """
    intervals = [finding.interval for finding in findings]
    return next((percent_of(interval.level) for interval in intervals if interval is not None), "")


def _estimated(finding: Finding, method: str, limits: tuple[float, ...]) -> str:
    asked = any(entry.method == method for entry in finding.estimates)
    return value(finding.estimate(method), *limits) if asked else WORDS["not_given"]


def _known(finding: Finding, known: float | None, limits: tuple[float, ...]) -> str:
    if known is None or finding.bounds.lower is None:
        return WORDS["not_given"] if known is None else value(known, *limits)
    return f"{value(known, *limits)} {WORDS['inside_short' if finding.bounds.contains(known) else 'outside_short']}"


def groups_figure(audit: Audit, truth: Truth | None) -> Figure:
    """Lay out the groups with their selection rates."""
    section, shares = group_section(audit, truth, MOST_DRAWN)
    known = any(section.known(finding) is not None for finding in section.findings)
    return Figure(
        "g",
        WORDS["groups"],
        "",
        sharpness(section),
        SENTENCES["groups_table"],
        axis(section.scale),
        None,
        [_row(section, finding, {}, known, percent(shares[finding.group])) for finding in section.findings],
        [WORDS["lower"], WORDS["upper"], *[WORDS["known"]] * known],
        _note(section, "figure_more_groups"),
    )
