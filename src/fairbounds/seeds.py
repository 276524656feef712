"""One seed from whatever the caller gave, and independent streams from one seed."""

from __future__ import annotations

import numpy as np

from fairbounds.errors import ProblemError

__all__ = ["Rng", "settled_seed", "stream"]

Rng = int | np.random.Generator | None


def settled_seed(rng: Rng) -> int:
    """Return the seed to use and to record; ``None`` is 0, and a generator is asked for one.

    Examples
    --------
    >>> settled_seed(None), settled_seed(7)
    (0, 7)
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if rng is None:
        return 0
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise ProblemError(f"a seed is a whole number of at least 0 or a numpy Generator, not {rng!r}")
    return int(rng)


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return a generator that no other purpose shares."""
    return np.random.default_rng([seed, *purpose.encode()])
