"""What can go wrong, as one tree.

::

    FairboundsError
    ├── SourceError             a file or dataframe cannot be read as asked
    ├── TableError              names, levels or weights that do not make a table
    ├── ProblemError            two tables that do not make an audit
    │   └── InfeasibleError     no joint distribution fits both
    ├── SolverError             a solver did not reach an optimum: ours to mend, never a number
    └── MissingDependencyError  an optional package is not installed

Every message says what is wrong with which value, where, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Integral

__all__ = [
    "FairboundsError",
    "InfeasibleError",
    "MissingDependencyError",
    "ProblemError",
    "SolverError",
    "SourceError",
    "TableError",
    "brief",
    "listed",
    "nearest",
    "whole_number",
]


class FairboundsError(Exception):
    """Base of every error that fairbounds raises on purpose."""


class SourceError(FairboundsError):
    """A file or dataframe cannot be read as asked."""


class TableError(FairboundsError):
    """Names, levels or weights do not make a table."""


class ProblemError(FairboundsError):
    """Two tables and the roles given to their columns do not make an audit."""


class InfeasibleError(ProblemError):
    """No joint distribution fits the tables."""


class SolverError(FairboundsError):
    """A solver stopped with any status other than optimal."""


class MissingDependencyError(FairboundsError):
    """An optional package is needed and absent."""

    @classmethod
    def extra(cls, package: str, extra: str, purpose: str) -> MissingDependencyError:
        """Name the package, what it is for, and the line that installs it."""
        return cls(f"{purpose} needs {package}; install it with: pip install 'fairbounds[{extra}]'")


def whole_number(name: str, value: object, least: int = 1) -> int:
    """Return a whole number, or say that it is none.

    Examples
    --------
    >>> whole_number("points", 100, least=2)
    100
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ProblemError(f"{name} is a whole number of at least {least}, not {brief(value)}")
    return int(value)


def nearest(name: object, options: Iterable[object]) -> str:
    """Return `` (did you mean 'x'?)`` for the closest option, or an empty string.

    Examples
    --------
    >>> nearest("ethnicty", ["region", "ethnicity"])
    " (did you mean 'ethnicity'?)"
    """
    folded = {str(option).casefold(): str(option) for option in options}
    close = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    return f" (did you mean {brief(folded[close[0]])}?)" if close else ""


def brief(item: object, most: int = 60) -> str:
    """Quote a value for a message, cut in the middle if it is long.

    Examples
    --------
    >>> brief("x" * 99, most=9)
    "'xxxx…xxx'"
    """
    text = repr(item)
    if len(text) <= most + 2:
        return text
    return f"{text[: most // 2 + 1]}…{text[-(most // 2) :]}"


def listed(items: Iterable[object], most: int = 6) -> str:
    """Write a list for a message, shortened after `most` items.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = [brief(item) for item in items]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return ", ".join(names)
