"""Options that hold more than a word: COLUMN=VALUE, maps of levels, edges of intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from fairbounds.errors import SourceError

if TYPE_CHECKING:
    from fairbounds.levels import Level

__all__ = ["pairs", "read_edges", "read_maps"]


def pairs(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Split COLUMN=VALUE options."""
    found = {}
    for value in values:
        column, sign, rest = value.partition("=")
        if not sign or not column or not rest:
            raise click.BadParameter(f"{value!r} is not of the form {parameter.metavar}", context, parameter)
        if column in found:
            raise click.BadParameter(f"column {column!r} is given twice", context, parameter)
        found[column] = rest
    return found


def read_maps(paths: Mapping[str, str]) -> dict[str, dict[Level, Level]]:
    """Read the recode map of each column: a CSV of two columns, old and new level, with or without that header."""
    return {column: _read_map(path) for column, path in paths.items()}


def read_edges(texts: Mapping[str, str]) -> dict[str, list[float]]:
    """Read the inner edges of each column's intervals."""
    return {column: _edges(column, text) for column, text in texts.items()}


def _read_map(typed: str) -> dict[Level, Level]:
    import csv

    from fairbounds.sources.paths import guarded, locate

    [path, *others] = locate(typed, "recode map")
    if others:
        raise SourceError(f"the recode map {typed!r} is a pattern that several files match; name one")
    with guarded(f"recode map {typed!r}"), path.open(encoding="utf-8-sig", newline="") as file:
        try:
            lines = file.readlines()
            readings = [list(csv.reader(lines, delimiter=sign)) for sign in ",;\t"]
        except (UnicodeDecodeError, csv.Error):
            raise SourceError(f"the recode map {typed!r} is not CSV in UTF-8; save it as that") from None
    numbered = [[(number, row) for number, row in enumerate(rows, start=1) if row] for rows in readings]
    return _mapping(typed, next((rows for rows in numbered if all(len(row) == 2 for _, row in rows)), numbered[0]))


def _mapping(typed: str, rows: list[tuple[int, list[str]]]) -> dict[Level, Level]:
    found: dict[Level, Level] = {}
    for number, row in rows:
        if len(row) != 2:
            raise SourceError(f"the recode map {typed!r} needs two columns (old,new); line {number} has {len(row)}")
        old, new = row
        if number == 1 and (old.strip().casefold(), new.strip().casefold()) == ("old", "new"):
            continue
        if not new.strip():
            raise SourceError(f"line {number} of the recode map {typed!r} gives {old!r} an empty new level; write one")
        if found.setdefault(old, new) != new:
            raise SourceError(f"the recode map {typed!r} sends {old!r} both to {found[old]!r} and to {new!r}")
    if not found:
        raise SourceError(f"the recode map {typed!r} is empty; give it lines of old,new")
    return found


def _edges(column: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SourceError(f"--bin {column}={text} needs numbers separated by commas, such as {column}=25,60") from None
