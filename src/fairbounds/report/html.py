"""The report as one HTML file that needs no network and no script."""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from jinja2 import Environment, StrictUndefined, Template

from fairbounds.errors import SourceError
from fairbounds.levels import show
from fairbounds.report.drawing import KNOWN, Drawn, Label, axis, drawn, limit_label, shapes_of
from fairbounds.report.layout import Section, Truth, estimate_methods, group_section, sections
from fairbounds.report.numbers import percent, points
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.sentences import (
    Said,
    agreement,
    answer,
    badge,
    caveats,
    combined,
    estimate_legend,
    estimate_name,
    footnotes,
    metric_gloss,
    metric_title,
    section_title,
    sharpness,
    span,
    value,
    value_sentences,
    verdict,
    warning_count,
)
from fairbounds.results import Audit, Finding

__all__ = ["MOST_DRAWN", "render_html", "write_html"]

MOST_DRAWN = 20
_LONGEST_QUOTED = 60
_LONGEST_DRAWN = 90

# Characters that HTML forbids and that a name may hold all the same.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_STEERING = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"

Shapes: TypeAlias = Mapping[str, str]


def render_html(audit: Audit, *, truth: Truth | None = None, title: str = SENTENCES["title"]) -> str:
    """Return an audit as one self-contained HTML page; the same audit gives the same bytes.

    Parameters
    ----------
    audit : Audit
    truth : mapping of (metric, group) to float, optional
        Known values, marked in the figures and compared with the bounds in words.
    title : str

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "a", "b"], "ok": [1, 0, 1]}
    >>> external = {"job": ["a", "b", "b"], "sex": ["F", "F", "M"]}
    >>> page = render_html(fb.audit(internal, external, protected="sex", decision="ok"), title="Loans & sex")
    >>> page[:15], "<h1>Loans &amp; sex</h1>" in page
    ('<!doctype html>', True)
    """
    found = sections(audit, truth, MOST_DRAWN)
    shapes = shapes_of(estimate_methods(found))
    page = _template().render(
        title=title,
        words=WORDS,
        sentences=SENTENCES,
        audit=audit,
        answer=answer(audit, found, _name),
        warnings_note=_warnings_note(audit),
        legend=_legend(found, shapes),
        footnotes=footnotes(found),
        figures=[_figure(f"f{at}", section, shapes) for at, section in enumerate(found, start=1)],
        groups=_groups(audit, truth),
        combined=combined(audit, _name),
        agreement=agreement(audit.mismatch, audit.strata),
        worst=_worst(audit),
        provenance=list(_flat(audit.provenance)),
        known_shape=KNOWN,
    )
    return _FORBIDDEN.sub("\ufffd", page)


@cache
def _template() -> Template:
    source = files(__package__).joinpath("template.html.j2").read_text(encoding="utf-8")
    world = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return world.from_string(source)


def _name(label: object) -> str:
    """Return a name for the middle of a sentence: shortened, and kept from turning the text around it."""
    text = " ".join(_STEERING.sub("", _full(label)).split()) or WORDS["blank"]
    text = _shortened(text, _LONGEST_QUOTED)
    turned = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if turned else text


def _shortened(text: str, most: int) -> str:
    """Leave out the middle: names of combined groups often differ at the end only."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def _full(label: object) -> str:
    text = show(None) if label is None else str(label)
    return text if text.strip() else WORDS["blank"]


def _warnings_note(audit: Audit) -> str:
    if not audit.warnings:
        return ""
    key = "one_warning_note" if len(audit.warnings) == 1 else "warnings_note"
    return SENTENCES[key].format(warnings=warning_count(audit))


def _worst(audit: Audit) -> list[tuple[str, ...]]:
    return [
        (
            _full(entry.stratum),
            percent(entry.internal),
            percent(entry.external),
            points(entry.internal - entry.external),
        )
        for entry in audit.mismatch.worst
    ]


# -- figures and the tables behind them --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
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
class _Figure:
    """All findings of one metric, as a figure and as a table."""

    ident: str
    title: str
    gloss: str
    sharpness: str
    caption: str
    axis: list[Label]
    limit: Label | None
    rows: list[_Row]
    columns: list[str]
    note: str

    @property
    def drawn(self) -> list[_Row]:
        """The rows that the figure has room for."""
        return self.rows[:MOST_DRAWN]


def _figure(ident: str, section: Section, shapes: Shapes) -> _Figure:
    title = section_title(section, _name)
    known = any(section.known(finding) is not None for finding in section.findings)
    columns = [WORDS["lower"], WORDS["upper"], *map(estimate_name, estimate_methods([section]))]
    columns += [WORDS["known"]] * known + [WORDS["verdict"]] * section.has_verdicts
    return _Figure(
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


def _row(section: Section, finding: Finding, shapes: Shapes, known_shown: bool, share: str = "") -> _Row:
    said, ends = verdict(finding, _name), span(finding.bounds, *section.scale.limits)
    name = WORDS["all_groups"] if finding.group is None else _full(finding.group)
    return _Row(
        _shortened(name, _LONGEST_DRAWN),
        name,
        share,
        ends,
        f"{metric_title(section.metric)}, {name}: {ends}",
        drawn(finding.bounds, section.marks(finding), section.scale, "plain" if said is None else said.tone, shapes),
        said,
        value_sentences(section, finding),
        caveats(finding),
        _cells(section, finding, known_shown),
    )


def _cells(section: Section, finding: Finding, known_shown: bool) -> list[str]:
    limits, bounds, known = section.scale.limits, finding.bounds, section.known(finding)
    endless = bounds.upper == float("inf") and bounds.lower != bounds.upper
    cells = [value(bounds.lower, *limits), WORDS["no_limit"] if endless else value(bounds.upper, *limits)]
    cells += [_estimated(finding, method, limits) for method in estimate_methods([section])]
    if known_shown:
        cells.append(_known(finding, known, limits))
    return [*cells, badge(finding)] if section.has_verdicts else cells


def _estimated(finding: Finding, method: str, limits: tuple[float, ...]) -> str:
    asked = any(entry.method == method for entry in finding.estimates)
    return value(finding.estimate(method), *limits) if asked else WORDS["not_given"]


def _known(finding: Finding, known: float | None, limits: tuple[float, ...]) -> str:
    if known is None or finding.bounds.lower is None:
        return WORDS["not_given"] if known is None else value(known, *limits)
    return f"{value(known, *limits)} {WORDS['inside_short' if finding.bounds.contains(known) else 'outside_short']}"


def _groups(audit: Audit, truth: Truth | None) -> _Figure:
    section, shares = group_section(audit, truth, MOST_DRAWN)
    known = any(section.known(finding) is not None for finding in section.findings)
    return _Figure(
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


def _legend(found: list[Section], shapes: Shapes) -> dict[str, object]:
    """Return which signs occur."""
    findings = [(section, finding) for section in found for finding in section.findings]
    return {
        "open": any(finding.verdict == "undetermined" for _, finding in findings),
        "threshold": any(section.scale.limits for section in found),
        "marks": [(shape, estimate_legend(method)) for method, shape in shapes.items()],
        "known": any(section.known(finding) is not None for section, finding in findings),
        "beyond": any(section.goes_beyond for section in found),
    }


# -- provenance --------------------------------------------------------------------------------------------------------


def _flat(data: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested provenance as lines of item and content."""
    inner: list[tuple[object, object]] = []
    if isinstance(data, Mapping):
        inner = list(data.items())
    elif isinstance(data, list | tuple) and any(isinstance(entry, Mapping | list | tuple) for entry in data):
        inner = list(enumerate(data, start=1))
    if inner:
        for key, entry in inner:
            yield from _flat(entry, f"{path} › {key}" if path else str(key))
    elif path:
        yield path, _content(data)


def _content(data: object) -> str:
    if isinstance(data, list | tuple):
        return ", ".join(map(_content, data)) or WORDS["not_given"]
    if data is None or data == {}:
        return WORDS["not_given"]
    if isinstance(data, bool):
        return WORDS["yes" if data else "no"]
    if isinstance(data, float):
        return f"{data:.12g}" if abs(data) < float("inf") else value(data)
    return f"{data:,}" if isinstance(data, int) else str(data)


# -- the file ----------------------------------------------------------------------------------------------------------


def write_html(audit: Audit, path: str | Path, *, truth: Truth | None = None, title: str = SENTENCES["title"]) -> None:
    """Write `render_html` to a file, whole or not at all.

    Parameters
    ----------
    audit : Audit
    path : str or Path
    truth, title
        As for `render_html`.
    """
    data = render_html(audit, truth=truth, title=title).encode("utf-8")
    try:
        _write(data, Path(os.path.realpath(path)), path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"the report cannot be written to {str(path)!r}: {reason}; nothing was written") from None


def _write(data: bytes, target: Path, path: str | Path) -> None:
    if target.is_dir():
        raise SourceError(f"the report cannot be written to {str(path)!r}: that is a folder; name a file")
    if not target.parent.is_dir():
        raise SourceError(
            f"the report cannot be written to {str(path)!r}: there is no folder {str(target.parent)!r}; create it first"
        )
    if target.exists() and not target.is_file():  # a device or pipe must be written to, not replaced
        target.write_bytes(data)
        return
    beside = target.with_name(f".fairbounds-{secrets.token_hex(6)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
