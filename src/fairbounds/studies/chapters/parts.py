"""A chapter of the report, and how it writes numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairbounds.report.numbers import percent
from fairbounds.studies.columns import Columns
from fairbounds.studies.document import Block, Grid, Illustration

__all__ = [
    "DATA_NAMES",
    "METRIC_NAMES",
    "METRIC_TITLES",
    "Chapter",
    "decimal",
    "finite",
    "give_or_take",
    "listed",
    "rounding",
    "rows_of",
    "share",
    "span",
    "times",
]

DATA_NAMES = {"german": "German", "adult": "Adult", "compas": "COMPAS"}
METRIC_NAMES = {"DI": "disparate impact (DI)", "DD": "demographic disparity (DD)"}
METRIC_TITLES = {metric: name[0].upper() + name[1:] for metric, name in METRIC_NAMES.items()}
_NO_VALUE = "–"


@dataclass(frozen=True, eq=False)
class Chapter:
    """What is said of one study.

    Attributes
    ----------
    title : str
    plainly : tuple of str
        What the reader must know, each with the figures that show it.
    beside : tuple of Grid
        Our figures beside published ones.
    blocks : tuple of Block
        Everything else, with the figures.
    choices : tuple of (str, str)
        Topic and choice, where the paper leaves one open.
    tables : dict of str to Columns
        To be written as CSV, those behind figures aside.
    summary : dict
        JSON-ready: this chapter's part of ``summary.json``.
    """

    title: str
    plainly: tuple[str, ...]
    beside: tuple[Grid, ...]
    blocks: tuple[Block, ...]
    choices: tuple[tuple[str, str], ...] = ()
    tables: dict[str, Columns] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)

    @property
    def illustrations(self) -> tuple[Illustration, ...]:
        """The figures, in their order."""
        return tuple(block for block in self.blocks if isinstance(block, Illustration))


def decimal(value: float | None, digits: int = 3) -> str:
    """Write a number with fixed decimals.

    Examples
    --------
    >>> decimal(-0.0104), decimal(5974.2, 0), decimal(None), decimal(-0.0001)
    ('−0.010', '5,974', '–', '0.000')
    """
    if value is None or not math.isfinite(value):
        return _NO_VALUE
    text = f"{value:,.{digits}f}"
    return text.lstrip("-") if not text.strip("-0.,") else text.replace("-", "−")


def give_or_take(value: float | None, spread: float | None, digits: int = 3) -> str:
    """Write a number and its spread.

    Examples
    --------
    >>> give_or_take(0.1, 0.02), give_or_take(0.1, None)
    ('0.100 ± 0.020', '0.100')
    """
    text = decimal(spread, digits)
    return decimal(value, digits) if text == _NO_VALUE else f"{decimal(value, digits)} ± {text}"


def span(low: float | None, high: float | None, digits: int = 3) -> str:
    """Write a range; once where both ends read the same.

    Examples
    --------
    >>> span(1.67, 1.91, 2), span(0.5, 0.5), span(0.2, float("inf"))
    ('1.67 to 1.91', '0.500', '0.200 to no limit')
    """
    first, last = decimal(low, digits), "no limit" if high == math.inf else decimal(high, digits)
    return first if first == last else f"{first} to {last}"


def share(value: float | None) -> str:
    """Write a share in [0, 1] in per cent.

    Examples
    --------
    >>> share(0.99956), share(1.0), share(0.7047)
    ('99.96 %', '100 %', '70.5 %')
    """
    if value is None or not math.isfinite(value):
        return _NO_VALUE
    if 0.995 <= value < 1 and f"{100 * value:.2f}" != "100.00":
        return f"{100 * value:.2f} %"
    return percent(value).replace("%", " %")


def rounding(value: float) -> str:
    """Write how small a difference is.

    Examples
    --------
    >>> rounding(4.1e-14), rounding(0.0)
    ('4e-14', '0')
    """
    return f"{value:.0e}" if value else "0"


def times(number: int, noun: str) -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> times(1, "study"), times(1000, "trial")
    ('1 study', '1,000 trials')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def rows_of(columns: Columns, names: Sequence[str] | None = None) -> Iterable[dict[str, Any]]:
    """Yield the rows of some columns, by name.

    Examples
    --------
    >>> list(rows_of({"a": [1, 2], "b": [3, 4]}, ["b"]))
    [{'b': 3}, {'b': 4}]
    """
    chosen = list(columns) if names is None else list(names)
    for values in zip(*(columns[name] for name in chosen), strict=True):
        yield dict(zip(chosen, values, strict=True))


def listed(items: Sequence[str], mark: str = ", ") -> str:
    """Write a list in a sentence.

    Examples
    --------
    >>> listed(["German", "Adult", "COMPAS"]), listed([])
    ('German, Adult and COMPAS', 'none')
    """
    if len(items) < 2 or mark != ", ":
        return mark.join(items) or "none"
    return f"{', '.join(items[:-1])} and {items[-1]}"


def finite(value: float) -> float | None:
    """Return what JSON can hold.

    Examples
    --------
    >>> finite(0.5), finite(float("inf"))
    (0.5, None)
    """
    return value if math.isfinite(value) else None
