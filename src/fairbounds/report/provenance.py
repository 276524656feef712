"""What is needed to repeat an audit, laid out for a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.repeating import call, command
from fairbounds.report.sentences import value
from fairbounds.results import Audit

__all__ = ["content", "files_read", "flat", "to_repeat"]


def files_read(provenance: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return what was read, a row for each table: role, source, rows, weights, worth as a sample, hash."""
    inputs = provenance.get("inputs") or {}
    return [
        (
            WORDS[f"{role}_table"],
            content(origin.get("source")),
            content(origin.get("rows")),
            WORDS["each_once"] if origin.get("weight") is None else content(origin["weight"]),
            content(origin.get("sample_size")),
            content(origin.get("sha256")),
        )
        for role, origin in ((role, inputs.get(role)) for role in ("internal", "external"))
        if origin
    ]


def to_repeat(audit: Audit) -> list[tuple[str, str, str]]:
    """Return what repeats the audit: a heading, the text to copy, and a note."""
    known = audit.provenance
    if not known.get("columns"):
        return []
    line = command(audit.population, known)
    if line is None:
        found = [(WORDS["call"], call(audit.population, known), SENTENCES["repeat_python"])]
    else:
        found = [(WORDS["command"], line, SENTENCES["repeat_recode"] if known.get("recode") else "")]
    return [*found, (WORDS["spec"], str(known["spec"]), "")] if known.get("spec") else found


def flat(data: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested provenance as lines of item and content."""
    inner: list[tuple[object, object]] = []
    if isinstance(data, Mapping):
        inner = list(data.items())
    elif isinstance(data, list | tuple) and any(isinstance(entry, Mapping | list | tuple) for entry in data):
        inner = list(enumerate(data, start=1))
    if inner:
        for key, entry in inner:
            yield from flat(entry, f"{path} › {key}" if path else str(key))
    elif path:
        yield path, content(data)


def content(data: object) -> str:
    """Write what provenance holds."""
    if isinstance(data, list | tuple):
        return ", ".join(map(content, data)) or WORDS["not_given"]
    if data is None or data == {}:
        return WORDS["not_given"]
    if isinstance(data, bool):
        return WORDS["yes" if data else "no"]
    if isinstance(data, float) and data.is_integer() and abs(data) < 1e15:
        return f"{data:,.0f}"
    if isinstance(data, float):
        return f"{data:.12g}" if abs(data) < float("inf") else value(data)
    return f"{data:,}" if isinstance(data, int) else str(data)
