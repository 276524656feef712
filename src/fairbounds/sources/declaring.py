"""What a file of counts says of itself: which column they are, and how they were altered before they were handed over.

A CSV file says it in its first line, after a ``#``; Parquet in its metadata; JSON in a first object of its own.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any
from urllib.parse import quote, unquote

from fairbounds.errors import SourceError, brief
from fairbounds.origins import DISCLOSURE, Disclosure

__all__ = ["JSON_KEY", "MARK", "PARQUET_KEY", "as_text", "parse"]

MARK = f"# {DISCLOSURE} "
PARQUET_KEY = DISCLOSURE
JSON_KEY = DISCLOSURE

_WHOLE = ("suppress_below", "round_to", "noise_within")
_POSITIVE = ("epsilon", "scale")


def as_text(disclosure: Disclosure) -> str:
    """Write a declaration on one line, without quotation marks or signs that part the columns of a file.

    Examples
    --------
    >>> as_text(Disclosure("number of people", suppress_below=5))
    'count=number%20of%20people suppress_below=5'
    """
    found = asdict(disclosure)
    numbers = [f"{key}={found[key]!r}" for key in (*_WHOLE, *_POSITIVE) if found[key] is not None]
    return " ".join([f"count={quote(disclosure.count, safe='')}", *numbers])


def parse(text: str, place: str) -> Disclosure:
    """Read a declaration, or say what is wrong with it.

    Examples
    --------
    >>> parse("count=n round_to=5", "file 'counts.csv'").round_to
    5
    """
    said: dict[str, Any] = {}
    for word in text.split():
        key, sign, value = word.partition("=")
        if not sign or key in said or key not in ("count", *_WHOLE, *_POSITIVE):
            raise _bad(place, f"says {brief(word)}, which this version of fairbounds does not know")
        said[key] = unquote(value) if key == "count" else _number(key, value, place)
    if not said.get("count"):
        raise _bad(place, "does not name the column of the counts, such as count=n")
    return Disclosure(**said)


def _number(key: str, text: str, place: str) -> float:
    try:
        value = int(text) if key in _WHOLE else float(text)
    except ValueError:
        value = -1
    least = 2 if key in ("suppress_below", "round_to") else 0
    if not (math.isfinite(value) and value > 0 and value >= least):
        raise _bad(place, f"gives {key!r} as {brief(text)}, not as a number {'of at least 2' if least else 'above 0'}")
    return value


def _bad(place: str, fault: str) -> SourceError:
    return SourceError(f"the declaration of counts in {place} {fault}; make the file again with fairbounds tabulate")
