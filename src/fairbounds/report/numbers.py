"""Numbers as a person reads them, rounded so that none seems to lie on the other side of a limit."""

from __future__ import annotations

import math

__all__ = ["SAME", "count", "exact", "number", "percent", "percent_of", "points", "side"]

# Ends are sums of rounded products: closer than this to a limit counts as equal to it, as it does for the verdict.
SAME = 1e-12

_MINUS = "−"
_MOST_DECIMALS = 15


def side(value: float, limit: float) -> int:
    """Return on which side of a limit a value lies: -1, 0 or 1."""
    return 0 if abs(value - limit) <= SAME else 1 if value > limit else -1


def number(value: float, *limits: float) -> str:
    """Write a finite number with three or four digits, or more where fewer would move it across a limit.

    Parameters
    ----------
    value : float
    *limits : float
        Values it is compared with.

    Examples
    --------
    >>> number(0.350284), number(0.7999), number(0.7999, 0.8), number(-0.0035126)
    ('0.350', '0.800', '0.7999', '−0.00351')
    """
    if abs(value - round(value)) <= SAME and abs(value) < 1e7:
        return exact(round(value))
    form, fewest = (",.{}f", _decimals(value)) if 1e-6 <= abs(value) < 1e7 else (".{}e", 2)
    for decimals in range(fewest, _MOST_DECIMALS + 1):
        text = format(value, form.format(decimals))
        if all(side(float(text.replace(",", "")), limit) == side(value, limit) for limit in limits):
            break
    return text.replace("-", _MINUS)


def _decimals(value: float) -> int:
    magnitude = math.floor(math.log10(abs(value)))
    return 3 if magnitude in (-1, 0) else max(2 - magnitude, 0)


def exact(value: float, digits: int = 12) -> str:
    """Write a number that a person chose as it was chosen.

    Examples
    --------
    >>> exact(0.8), exact(-0.05), exact(0.0)
    ('0.8', '−0.05', '0')
    """
    return f"{value + 0.0:.{digits}g}".replace("-", _MINUS)


def percent(share: float) -> str:
    """Write a share in [0, 1]; only an exact 0 or 1 is written 0% or 100%.

    Examples
    --------
    >>> percent(0.3314), percent(0.0), percent(0.0001), percent(0.9999)
    ('33.1%', '0%', '<0.1%', '>99.9%')
    """
    if abs(share) <= SAME:
        return "0%"
    if abs(share - 1) <= SAME:
        return "100%"
    return "<0.1%" if share < 0.0005 else ">99.9%" if share >= 0.9995 else f"{100 * share:.1f}%"


def percent_of(level: float) -> str:
    """Write a level of confidence.

    Examples
    --------
    >>> percent_of(0.95), percent_of(0.995)
    ('95%', '99.5%')
    """
    return f"{100 * level:.6g}%"


def points(difference: float) -> str:
    """Write a difference of two shares in percentage points, with its sign.

    Examples
    --------
    >>> points(0.021), points(-0.004), points(0.0)
    ('+2.1', '−0.4', '0.0')
    """
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", _MINUS)


def count(n: int, noun: str) -> str:
    """Write ``1 row`` and ``2,000 rows``.

    Examples
    --------
    >>> count(1, "row"), count(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
