"""Draws of what is open in strata that one table lacks: every way to fill them equally likely."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.feasible import FeasibleSet

__all__ = ["open_event_mass"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_AT_ONCE = 2**22  # numbers, 32 MB


def open_event_mass(feasible: FeasibleSet, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Return the event masses of each group in one-sided strata, shape (*shape, G, E).

    A cell whose group is unknown is split between the groups, and a group whose outcome is unknown between the
    events, uniformly on the simplex.
    """
    n, n_groups, n_events = int(np.prod(shape)), len(feasible.protected), feasible.events.shape[1]
    total = np.zeros((n, n_groups, n_events))
    for first, last in _blocks(n, len(feasible.unshared) * n_groups):
        parts = _simplex(rng, (last - first, len(feasible.unshared), n_groups))
        cells = feasible.unshared[:, None] * feasible.unshared_events
        total[first:last] += np.einsum("nbg,be->nge", parts, cells)
    for first, last in _blocks(n, feasible.undecided.size * n_events):
        parts = _simplex(rng, (last - first, *feasible.undecided.shape, n_events))
        total[first:last] += np.einsum("ndge,dg->nge", parts, feasible.undecided)
    return total.reshape(*shape, n_groups, n_events)


def _blocks(n: int, numbers: int) -> list[tuple[int, int]]:
    """Cut n draws of some numbers each into blocks that fit into memory; none where there is nothing to draw."""
    if numbers == 0:
        return []
    step = max(1, _AT_ONCE // numbers)
    return [(first, min(n, first + step)) for first in range(0, n, step)]


def _simplex(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    parts = rng.standard_exponential(shape)
    return np.asarray(parts / parts.sum(axis=-1, keepdims=True))
