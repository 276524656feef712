"""Two tables of counts, each in two random halves, and what a row of either half weighs."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled
from fairbounds.kernels.folds import halve

__all__ = ["Halves", "Outcomes", "empty_halves", "split", "weigh"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
SeedArray: TypeAlias = npt.NDArray[np.uint64]


class Outcomes(NamedTuple):
    """What the outcome atoms count for.

    Attributes
    ----------
    offsets : array of int, shape (C + 1,)
    counted, among : array, shape (A,)
    """

    offsets: IntArray
    counted: FloatArray
    among: FloatArray


class Halves(NamedTuple):
    """Counts in either half; a third entry of the rows holds both halves together.

    Attributes
    ----------
    inside : array, shape (2, A)
    outside : array, shape (2, C, G)
    inside_rows, outside_rows : array, shape (3, C)
    inside_weight, outside_weight : array, shape (2, C)
    """

    inside: FloatArray
    outside: FloatArray
    inside_rows: FloatArray
    outside_rows: FloatArray
    inside_weight: FloatArray
    outside_weight: FloatArray


def empty_halves(n_atoms: int, n_strata: int, n_groups: int) -> Halves:
    """Return room for the halves of a table."""
    return Halves(
        np.zeros((2, n_atoms)),
        np.zeros((2, n_strata, n_groups)),
        np.zeros((3, n_strata)),
        np.zeros((3, n_strata)),
        np.zeros((2, n_strata)),
        np.zeros((2, n_strata)),
    )


@compiled
def split(
    offsets: IntArray,
    internal: FloatArray,
    external: FloatArray,
    by_external: bool,
    census: bool,
    stream: SeedArray,
    drawn: FloatArray,
    halves: Halves,
) -> None:
    """Write random halves; a census is not halved but shared out as the internal rows are.

    `drawn` is the first half of the internal rows, or empty for one to be drawn.
    """
    for c in range(len(external)):
        start, stop = offsets[c], offsets[c + 1]
        if len(drawn) > 0:
            halves.inside[0, start:stop] = drawn[start:stop]
        else:
            halve(internal[start:stop], stream, halves.inside[0, start:stop])
        halves.inside[1, start:stop] = internal[start:stop] - halves.inside[0, start:stop]
        rows, total = np.sum(halves.inside[0, start:stop]), np.sum(internal[start:stop])
        halves.inside_rows[0, c], halves.inside_rows[1, c], halves.inside_rows[2, c] = rows, total - rows, total
        if census:
            halves.outside[0, c] = external[c] * (rows / total if total > 0.0 else 0.5)
        else:
            halve(external[c], stream, halves.outside[0, c])
        halves.outside[1, c] = external[c] - halves.outside[0, c]
        rows, total = np.sum(halves.outside[0, c]), np.sum(external[c])
        halves.outside_rows[0, c], halves.outside_rows[1, c], halves.outside_rows[2, c] = rows, total - rows, total
    if by_external:
        weigh(halves.outside_rows, halves.inside_rows, census, halves.outside_weight, halves.inside_weight)
    else:
        weigh(halves.inside_rows, halves.outside_rows, census, halves.inside_weight, halves.outside_weight)


@compiled
def weigh(
    margin_rows: FloatArray, within_rows: FloatArray, census: bool, margin: FloatArray, within: FloatArray
) -> None:
    """Write the weight of a row of either table in either half of each stratum.

    The table of the audited population says what strata weigh. Of the other only what it says within a stratum is
    used: there each of its rows counts the same, so a half counts by how many of these rows it has, and the rows
    of the first table are weighted to match. Where that table has a single row, it is in either half by a coin.
    """
    total = np.sum(margin_rows[2])
    for c in range(margin_rows.shape[1]):
        rows = within_rows[2, c]
        for k in range(2):
            matched = 1.0
            if rows > 0.0 and not census:
                both = margin_rows[0, c] > 0.0 and margin_rows[1, c] > 0.0
                expected = margin_rows[k, c] / margin_rows[2, c] if both else 0.5
                matched = within_rows[k, c] / rows / expected
            margin[k, c] = matched / total
            within[k, c] = margin_rows[2, c] / total / rows if rows > 0.0 else 0.0
