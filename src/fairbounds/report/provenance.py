"""What is needed to repeat an audit, laid out for a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairbounds.report.phrases import WORDS
from fairbounds.report.repeating import as_toml, call
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


def to_repeat(audit: Audit) -> list[tuple[str, str]]:
    """Return what repeats the audit, each with its heading: command and spec of the command line, or the call."""
    known = audit.provenance
    if "repeat" in known:
        repeat = known["repeat"]
        return [(WORDS["command"], str(repeat["command"])), (WORDS["spec"], as_toml(repeat["spec"]))]
    return [(WORDS["call"], call(audit.population, known))] if known.get("columns") else []


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
