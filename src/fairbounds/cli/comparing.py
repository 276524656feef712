"""``fairbounds compare``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from fairbounds.cli.printing import print_json, printing
from fairbounds.errors import ProblemError, SourceError, brief

if TYPE_CHECKING:
    from fairbounds.results import Audit, Comparison, Move

__all__ = ["compare"]

_KINDS = {"data": "the data changed", "settings": "the settings changed", "version": "fairbounds changed"}


@click.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--fail-on",
    type=click.Choice(["verdict", "any"]),
    help="Exit 1 if a verdict moved, or if anything did. Default: exit 0 whatever moved.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For a person, or for a program.",
)
def compare(old: str, new: str, fail_on: str | None, format_: str) -> int:
    """Say what moved from the audit OLD to the audit NEW, and why: data, settings or version.

    Both are what fairbounds audit --format json printed.
    """
    from fairbounds.comparing import compare as run

    found = run(_stored(old, "old"), _stored(new, "new"))
    with printing():
        if format_ == "json":
            print_json(found.to_dict())
        else:
            for line in _lines(found):
                click.echo(line)
    moved = {"verdict": found.verdicts, "any": found.moves, None: ()}[fail_on]
    return int(bool(moved))


def _stored(path: str, role: str) -> Audit:
    """Read an audit that was printed as JSON."""
    from fairbounds.results import Audit
    from fairbounds.sources.paths import guarded, locate

    [file, *others] = locate(path, f"{role} audit")
    if others:
        raise SourceError(f"{path!r} is a pattern that several files match; name one audit")
    with guarded(f"the {role} audit {path!r}"):
        try:
            data: Any = json.loads(file.read_bytes().decode("utf-8-sig"))
        except ValueError:
            raise SourceError(
                f"the {role} audit {path!r} is not JSON; make it with: fairbounds audit … --format json > {file.name}"
            ) from None
    if isinstance(data, dict) and isinstance(data.get("audit"), dict):  # what explore printed
        data = data["audit"]
    if not isinstance(data, dict):
        raise SourceError(f"the {role} audit {path!r} holds {brief(data)}, not the object that fairbounds audit prints")
    try:
        return Audit.from_dict(data)
    except ProblemError as error:
        raise SourceError(f"the {role} audit {path!r} cannot be compared: {error}") from None


# -- in words ----------------------------------------------------------------------------------------------------------


def _lines(found: Comparison) -> Iterator[str]:
    if not found.moves:
        yield "Nothing moved: the two audits say the same."
    yield from _causes(found)
    if found.verdicts:
        yield "\nVERDICTS"
        yield from map(_line, found.verdicts)
    others = [move for move in found.moves if move.what != "verdict"]
    if others:
        yield "\nWHAT ELSE MOVED" if found.verdicts else "\nWHAT MOVED (no verdict did)"
        yield from map(_line, others)


def _causes(found: Comparison) -> Iterator[str]:
    kinds = list(dict.fromkeys(cause.kind for cause in found.causes))
    if not kinds:
        if found.moves:
            yield "No change of data, settings or version is on record: the tables may have come without a file."
        return
    yield f"\nWHY: {'; '.join(_KINDS[kind] for kind in kinds)}" if found.moves else "\nWHAT CHANGED WITHOUT EFFECT"
    for cause in found.causes:
        yield f"  - {cause.what}: {_value(cause.old)} -> {_value(cause.new)}"
    if len(kinds) > 1 and found.moves:
        yield "  Several things changed at once: to tell them apart, repeat the old audit with one change at a time."


def _line(move: Move) -> str:
    about = "both tables" if move.metric is None else move.metric
    group = "" if move.group is None else f" of {move.group!r}" if move.metric else f", group {move.group!r}"
    against = "" if move.reference is None else f" against {move.reference!r}"
    why = f" ({', '.join(move.why)})" if move.why else " (nothing on record explains it)"
    if move.what == "finding":
        return f"  - {about}{group}{against}: {'came' if move.old is None else 'went'}{why}"
    return f"  - {about}{group}{against}, {move.what}: {_end(move, move.old)} -> {_end(move, move.new)}{why}"


def _end(move: Move, value: object) -> str:
    unbounded = value is None and move.what in ("bounds.lower", "bounds.upper", "interval.lower", "interval.upper")
    return "unbounded" if unbounded else _value(value)


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else value if isinstance(value, str) and value.isidentifier() else brief(value)
