"""What moved between two audits, and what may have moved it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from fairbounds.results.naming import Label

__all__ = ["COMPARISON_SCHEMA", "Cause", "CauseKind", "Comparison", "Move"]

COMPARISON_SCHEMA = "fairbounds/compare/1"

CauseKind: TypeAlias = Literal["data", "settings", "version"]
Plain: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True)
class Cause:
    """Something that was not the same when the two audits were made.

    Attributes
    ----------
    kind : {"data", "settings", "version"}
    what : str
        As in the provenance, its keys joined by dots, such as ``inputs.internal.sha256``.
    old, new : optional
        JSON-ready; ``None`` where one of the audits does not say.
    """

    kind: CauseKind
    what: str
    old: Any
    new: Any


@dataclass(frozen=True)
class Move:
    """A number or word that is another one in the new audit.

    Attributes
    ----------
    metric : str or None
        ``None`` for what is about both tables, such as their mismatch.
    group, reference : str, int, float, bool or None
    what : str
        As in the audit's JSON, its keys joined by dots, such as ``bounds.lower``; ``finding`` where a whole finding
        came or went.
    old, new : optional
        ``None`` for an unbounded end, and for what one of the audits does not have.
    why : tuple of str
        The kinds of causes that can have moved it; none where nothing on record can.
    """

    metric: str | None
    group: Label | None
    reference: Label | None
    what: str
    old: Plain
    new: Plain
    why: tuple[CauseKind, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Two audits, side by side.

    Attributes
    ----------
    causes : tuple of Cause
    moves : tuple of Move
    """

    causes: tuple[Cause, ...]
    moves: tuple[Move, ...]

    @property
    def verdicts(self) -> tuple[Move, ...]:
        """The verdicts that changed, came or went."""
        return tuple(move for move in self.moves if move.what == "verdict")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the schema ``fairbounds/compare/1``."""
        return {
            "schema": COMPARISON_SCHEMA,
            "same": not self.moves,
            "verdicts_changed": len(self.verdicts),
            "causes": [asdict(cause) for cause in self.causes],
            "moves": [{**asdict(move), "why": list(move.why)} for move in self.moves],
        }
