"""Names that a user chose, made fit to stand in HTML text."""

from __future__ import annotations

import re
import unicodedata

from fairbounds.levels import show
from fairbounds.report.phrases import WORDS

__all__ = ["full_name", "shortened", "spelt"]

_LONGEST_QUOTED = 60
_STEERING = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"


def spelt(label: object) -> str:
    """Return a name for the middle of a sentence: shortened, and kept from turning the text around it."""
    text = " ".join(_STEERING.sub("", full_name(label)).split()) or WORDS["blank"]
    text = shortened(text, _LONGEST_QUOTED)
    turned = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)
    return f"{_ISOLATE}{text}{_END_ISOLATE}" if turned else text


def shortened(text: str, most: int) -> str:
    """Leave out the middle: names of combined groups often differ at the end only."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def full_name(label: object) -> str:
    """Return a name as it is, in words where there is nothing to see."""
    text = show(None) if label is None else str(label)
    return text if text.strip() else WORDS["blank"]
