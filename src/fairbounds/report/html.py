"""The report as one HTML file that needs no network and no script."""

from __future__ import annotations

import datetime as dt
import os
import re
import secrets
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template

from fairbounds.errors import SourceError
from fairbounds.report.appendix import method_paragraphs, method_references
from fairbounds.report.drawing import KNOWN, shapes_of
from fairbounds.report.figures import MOST_DRAWN, Shapes, figure, groups_figure, level_of
from fairbounds.report.layout import Section, Truth, estimate_methods, sections
from fairbounds.report.numbers import percent, points
from fairbounds.report.opening import opening
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.provenance import content, files_read, flat, to_repeat
from fairbounds.report.regulators import regulator_views
from fairbounds.report.sentences import estimate_legend, footnotes, warning_count
from fairbounds.report.spelling import full_name, spelt
from fairbounds.report.tables_said import agreement, combined
from fairbounds.results import Audit

__all__ = ["MOST_DRAWN", "render_html", "write_html"]

# Characters that HTML forbids and that a name may hold all the same.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def render_html(
    audit: Audit, *, truth: Truth | None = None, title: str = SENTENCES["title"], date: dt.date | None = None
) -> str:
    """Return an audit as one self-contained HTML page; the same audit gives the same bytes.

    Parameters
    ----------
    audit : Audit
    truth : mapping of (metric, group) to float, optional
        Known values, marked in the figures and compared with the bounds in words.
    title : str
    date : date, optional
        Of the report, on a line of its own; by default there is no such line.

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
        written=_written(audit, date),
        answer=opening(audit, found, spelt),
        warnings_note=_warnings_note(audit),
        legend=_legend(found, shapes),
        footnotes=footnotes(found),
        figures=[figure(f"f{at}", section, shapes) for at, section in enumerate(found, start=1)],
        groups=groups_figure(audit, truth),
        combined=combined(audit, spelt),
        agreement=agreement(audit.mismatch, audit.strata),
        worst=_worst(audit),
        open_strata=_open_strata(audit),
        regulators=regulator_views(audit, spelt, WORDS["assumptions"], WORDS["openness"]),
        method=method_paragraphs(audit),
        references=method_references(audit),
        files=files_read(audit.provenance),
        repeat=to_repeat(audit),
        provenance=list(flat({key: entry for key, entry in audit.provenance.items() if key != "repeat"})),
        known_shape=KNOWN,
    )
    return _FORBIDDEN.sub("\ufffd", page)


@cache
def _template() -> Template:
    source = files(__package__).joinpath("template.html.j2").read_text(encoding="utf-8")
    world = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return world.from_string(source)


def _warnings_note(audit: Audit) -> str:
    if not audit.warnings:
        return ""
    key = "one_warning_note" if len(audit.warnings) == 1 else "warnings_note"
    return SENTENCES[key].format(warnings=warning_count(audit))


def _written(audit: Audit, date: dt.date | None) -> dict[str, str]:
    """Return the line that says when and by what the report was written, in parts."""
    version = audit.provenance.get("fairbounds")
    said = SENTENCES["written_undated" if date is None else "written"]
    by = WORDS["not_recorded"] if version is None else content(version)
    before, _, after = said.format(date="\n", version=by).partition("\n")
    return {"before": before, "date": "" if date is None else date.isoformat(), "after": after}


def _open_strata(audit: Audit) -> list[tuple[str, str, str]]:
    """Return the strata that leave most open, their share of the population and their part of all that is open."""
    shares = [entry.share for entry in audit.groups]
    held = [sum(s * w for s, w in zip(shares, entry.widths, strict=True)) for entry in audit.widths]
    total = sum(held)
    return [
        (
            WORDS["other_strata"] if entry.stratum is None else full_name(entry.stratum),
            percent(entry.mass),
            percent(part),
        )
        for entry, part in ((e, h / total if total else 0.0) for e, h in zip(audit.widths, held, strict=True))
        if part > 0
    ]


def _worst(audit: Audit) -> list[tuple[str, ...]]:
    return [
        (
            full_name(entry.stratum),
            percent(entry.internal),
            percent(entry.external),
            points(entry.internal - entry.external),
        )
        for entry in audit.mismatch.worst
    ]


def _legend(found: list[Section], shapes: Shapes) -> dict[str, object]:
    """Return which signs occur."""
    findings = [(section, finding) for section in found for finding in section.findings]
    return {
        "open": any(finding.verdict == "undetermined" for _, finding in findings),
        "interval": level_of(finding for _, finding in findings),
        "threshold": any(section.scale.limits for section in found),
        "marks": [(shape, estimate_legend(method)) for method, shape in shapes.items()],
        "error": any("standard_error" in entry.details for _, finding in findings for entry in finding.estimates),
        "known": any(section.known(finding) is not None for section, finding in findings),
        "beyond": any(section.goes_beyond for section in found),
    }


# -- the file ----------------------------------------------------------------------------------------------------------


def write_html(
    audit: Audit,
    path: str | Path,
    *,
    truth: Truth | None = None,
    title: str = SENTENCES["title"],
    date: dt.date | None = None,
) -> None:
    """Write `render_html` to a file, whole or not at all.

    Parameters
    ----------
    audit : Audit
    path : str or Path
    truth, title
        As for `render_html`.
    date : date, optional
        By default today's, in UTC, or that of the environment variable ``SOURCE_DATE_EPOCH``.
    """
    data = render_html(audit, truth=truth, title=title, date=date or _today()).encode("utf-8")
    try:
        _write(data, Path(os.path.realpath(path)), path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"the report cannot be written to {str(path)!r}: {reason}; nothing was written") from None


def _today() -> dt.date:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch.isdecimal() else dt.datetime.now(dt.UTC)
    return moment.date()


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
