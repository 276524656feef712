"""How results name groups and write numbers."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from fairbounds.levels import Level, show

__all__ = ["Defined", "End", "Label", "Verdict", "in_words", "json_number", "label_of"]

Label: TypeAlias = str | int | float | bool
Defined: TypeAlias = Literal["always", "sometimes", "never"]
End: TypeAlias = Literal["lower", "upper"]
Verdict: TypeAlias = Literal["below", "above", "within", "undetermined"]


def label_of(level: Level) -> Label:
    """Return a level as results carry it: as the user wrote it, dates and the missing level in words."""
    return level if isinstance(level, str | int | float) else show(level)


def json_number(value: float | None) -> float | None:
    """Return what JSON can hold: an unbounded end and no number at all are both null."""
    return None if value is None or not math.isfinite(value) else value


def in_words(value: float | None) -> str:
    """Write a value with four digits."""
    return "undefined" if value is None else f"{value:.4g}"
