"""Samples of people from a joint distribution, drawn as counts: one multinomial a sample, never a row."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["resampled_events"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Counts held at once, some 64 MB.
_AT_ONCE = 2**23


def resampled_events(
    mass: FloatArray, events: FloatArray, people: int, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return the event masses of each group in samples of people.

    Parameters
    ----------
    mass : array, shape (G, A)
        Mass of each group in each outcome atom; sums to 1 over both.
    events : array, shape (A, E)
        P(event | atom).
    people : int
        In each sample.
    draws : int
    rng : Generator

    Returns
    -------
    array, shape (draws, G, E)
        Shares of the sample.
    """
    kinds, kind = np.unique(events, axis=0, return_inverse=True)
    merged = np.zeros((len(mass), len(kinds)))
    np.add.at(merged.T, kind.reshape(-1), mass.T)
    chances = merged.ravel() / merged.sum()
    step = max(1, _AT_ONCE // len(chances))
    parts = []
    for begin in range(0, draws, step):
        counts = rng.multinomial(people, chances, size=min(step, draws - begin))
        parts.append(counts.reshape(-1, *merged.shape) @ kinds / people)
    return np.concatenate(parts)
