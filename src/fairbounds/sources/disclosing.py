"""Counts made fit to be handed over: small ones suppressed, all rounded, or noise added; and what that did to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import MissingDependencyError, SourceError, listed
from fairbounds.origins import Disclosure
from fairbounds.tables import Table, Variable

__all__ = ["Counts", "disclose", "noise_within"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_MOST_NOISED = 1_000_000
_MISSES = 0.001  # part of the files in which some count is moved by more than they say


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of combinations of levels, as they are handed over.

    Attributes
    ----------
    variables : tuple of Variable
    codes : array of int, shape (cells, variables)
    counts : array, shape (cells,)
        NaN where suppressed.
    disclosure : Disclosure
        What was done to them.
    """

    variables: tuple[Variable, ...]
    codes: IntArray
    counts: FloatArray
    disclosure: Disclosure

    @property
    def suppressed(self) -> int:
        """How many counts were left out."""
        return int(np.isnan(self.counts).sum())


def disclose(
    table: Table,
    count: str = "n",
    *,
    suppress_below: int | None = None,
    round_to: int | None = None,
    epsilon: float | None = None,
) -> Counts:
    """Alter counts before they are handed over.

    Parameters
    ----------
    table : Table
        Its weights are the counts.
    count : str
        What the column of counts is to be called.
    suppress_below : int, optional
        Leave out counts from 1 to one less than this.
    round_to : int, optional
        Round the others to multiples of this.
    epsilon : float, optional
        Add discrete Laplace noise for differential privacy, one person more or less; to every combination of levels,
        also those that nobody has. Not together with the other two. The levels themselves are not protected.

    Returns
    -------
    Counts

    Examples
    --------
    >>> table = Table.from_columns({"job": ["cook", "clerk", "clown"]}, [12, 3, 41])
    >>> disclose(table, suppress_below=5, round_to=10).counts
    array([nan, 40., 10.])
    """
    _check(table, count, suppress_below, round_to, epsilon)
    _refuse_altered(table)
    if epsilon is not None:
        return _noised(table, count, epsilon)
    counts = table.weights.copy()
    if suppress_below is not None:
        counts[counts < suppress_below] = np.nan
    if round_to is not None:
        counts = round_to * np.floor((counts + round_to / 2) / round_to)
    return Counts(table.variables, table.codes, counts, Disclosure(count, suppress_below, round_to))


def _check(table: Table, count: str, suppress_below: int | None, round_to: int | None, epsilon: float | None) -> None:
    if not count or count in table.names:
        raise SourceError(f"the counts cannot be called {count!r}, as a column is; give them a name with --count")
    if epsilon is not None and (suppress_below is not None or round_to is not None):
        raise SourceError("--epsilon goes alone: noise hides small counts, and rounding on top would only add error")
    for flag, least in (("--suppress-below", suppress_below), ("--round-to", round_to)):
        if least is not None and least < 2:
            raise SourceError(f"{flag} {least} alters nothing; give 2 or more")
    if epsilon is not None and not (math.isfinite(epsilon) and epsilon > 0):
        raise SourceError(f"--epsilon must be a number above 0, such as 1, not {epsilon:g}")
    altered = suppress_below is not None or round_to is not None or epsilon is not None
    if altered and not np.array_equal(table.weights, np.round(table.weights)):
        raise SourceError(
            "the weights are not whole numbers, so they do not say how many people are behind a cell, and nothing can "
            "be suppressed, rounded or hidden by noise; tabulate rows, or whole counts"
        )


def _refuse_altered(table: Table) -> None:
    """Refuse counts that were altered before: a new file would pass them off for true ones."""
    origin = table.origin
    if origin is not None and origin.disclosure is not None and not origin.disclosure.is_exact:
        raise SourceError(
            f"the counts of {origin.source!r} were altered before, as it declares, and a table of them would not say "
            "by how much; tabulate the rows that they were made from"
        )


# -- differential privacy ----------------------------------------------------------------------------------------------


def _noised(table: Table, count: str, epsilon: float) -> Counts:
    codes, counts = _all_combinations(table)
    noisy = np.maximum(_laplace(counts.astype(np.int64), epsilon), 0)
    scale = 1 / epsilon
    declared = Disclosure(count, epsilon=epsilon, scale=scale, noise_within=noise_within(scale, len(counts)))
    return Counts(table.variables, codes, noisy.astype(np.float64), declared)


def _all_combinations(table: Table) -> tuple[IntArray, FloatArray]:
    """Return every combination of levels and its count: which combinations occur must not show."""
    size = math.prod(table.sizes)
    if size > _MOST_NOISED:
        raise SourceError(
            f"noise must be added to every combination of {listed(table.names)}, and there are {size:,}; take fewer "
            "columns, or columns with fewer levels"
        )
    codes = np.stack(np.unravel_index(np.arange(size), table.sizes), axis=1).astype(np.int64)
    counts = np.zeros(size)
    counts[np.ravel_multi_index(tuple(table.codes.T), table.sizes)] = table.weights
    return codes, counts


def _laplace(counts: IntArray, epsilon: float) -> IntArray:
    """Add noise from the operating system's randomness: a seed would take the privacy away."""
    try:
        import opendp.prelude as dp
    except ModuleNotFoundError:
        raise MissingDependencyError.extra("opendp", "privacy", "differential privacy (--epsilon)") from None
    dp.enable_features("contrib")
    space: Any = (dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int))
    make: Any = dp.m.make_laplace
    noise = make(*space, scale=1 / epsilon)
    if noise.map(1) > epsilon * (1 + 1e-9):
        raise SourceError(f"--epsilon {epsilon:g} cannot be kept: OpenDP spends {noise.map(1):g}; give another")
    return np.asarray(noise(counts.tolist()), dtype=np.int64)


def noise_within(scale: float, cells: int) -> int:
    """Return the least w such that discrete Laplace noise moves none of the cells by more, in 999 files of 1,000.

    With a = exp(−1/scale), P(|noise| > w) = 2 a^(w+1) / (1 + a) for one cell; the union bound does the rest.

    Examples
    --------
    >>> noise_within(scale=1.0, cells=1)
    7
    """
    a = math.exp(-1 / scale)
    most = _MISSES / cells * (1 + a) / 2
    return max(1, math.ceil(-scale * math.log(most)) - 1)
