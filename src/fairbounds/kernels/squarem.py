"""Squared extrapolation of EM (Varadhan & Roland 2008), for several runs side by side, that never lowers the value.

A cycle starts at x0 with its images x1 = M(x0) and x2 = M(x1). With r = x1 − x0 and v = x2 − x1 − r it tries
x0 − 2a·r + a²·v, a = −‖r‖/‖v‖ (their step S3); a = −1 is x2 itself. Where the value there is below that of x1, the run
goes on from x2, as EM without acceleration would. Longer steps are allowed only once shorter ones have succeeded.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled

__all__ = ["Track", "advance", "begin", "new_track"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_START, _IMAGE, _TRIAL = 0, 1, 2  # what the point of a run is: x0, x1 or the extrapolation


class Track(NamedTuple):
    """What each of L runs remembers between steps; a point is a column of D numbers.

    Attributes
    ----------
    base, plain : array, shape (D, L)
        x0 of the cycle, and x2, to which a failed trial goes back.
    phase : array of int, shape (L,)
    value : array, shape (L,)
        Of the last point accepted.
    before : array, shape (L,)
        Of the last x0; a cycle that gains too little on it is the last.
    longest : array, shape (L,)
        Greatest step −a allowed.
    """

    base: FloatArray
    plain: FloatArray
    phase: IntArray
    value: FloatArray
    before: FloatArray
    longest: FloatArray


def new_track(size: int, lanes: int) -> Track:
    """Return the memory of `lanes` runs over points of `size` numbers."""
    base, plain = np.zeros((size, lanes)), np.zeros((size, lanes))
    return Track(base, plain, np.zeros(lanes, np.int64), np.zeros(lanes), np.zeros(lanes), np.zeros(lanes))


@compiled
def begin(track: Track, lane: int) -> None:
    """Forget what the lane ran before."""
    track.phase[lane] = _START
    track.value[lane] = -np.inf
    track.before[lane] = -np.inf
    track.longest[lane] = 1.0


@compiled
def advance(
    track: Track, lane: int, value: float, point: FloatArray, image: FloatArray, simplex: IntArray, accelerate: bool
) -> tuple[bool, float]:
    """Take note of a point's value and image, and write the next point of the lane over it.

    Parameters
    ----------
    track : Track
    lane : int
    value : float
        Of the lane's point.
    point, image : array, shape (D, L)
        The points, and what EM makes of them.
    simplex : array of int, shape (D,)
        Numbers with the same mark are probabilities that sum to 1; the last mark is the greatest.
    accelerate : bool

    Returns
    -------
    started : bool
        Whether the point became the x0 of a cycle.
    gain : float
        Its value less that of the last x0, or, of any other point, less that of the point before.
    """
    phase = track.phase[lane]
    gain = value - track.value[lane]
    if phase == _TRIAL and not gain >= 0.0:
        _copy(track.plain, point, lane)
        track.phase[lane] = _START
        track.longest[lane] = max(1.0, 0.25 * track.longest[lane])
        return False, 0.0
    track.value[lane] = value
    if phase == _IMAGE:
        _copy(image, track.plain, lane)
        track.phase[lane] = _extrapolate(track, lane, point, simplex)
        return False, gain
    if gain >= 0.0:  # a fall is reported against the point just before
        gain = value - track.before[lane]
    track.before[lane] = value
    _copy(point, track.base, lane)
    _copy(image, point, lane)
    track.phase[lane] = _IMAGE if accelerate else _START
    return True, gain


@compiled
def _copy(source: FloatArray, target: FloatArray, lane: int) -> None:
    """Copy one lane. A loop, because numba takes seconds to compile the assignment of a slice."""
    for d in range(len(source)):
        target[d, lane] = source[d, lane]


@compiled
def _extrapolate(track: Track, lane: int, point: FloatArray, simplex: IntArray) -> int:
    """Write the trial over x1 and return the phase it is in."""
    first, second = 0.0, 0.0
    for d in range(len(simplex)):
        r = point[d, lane] - track.base[d, lane]
        v = track.plain[d, lane] - point[d, lane] - r
        first += r * r
        second += v * v
    longest = track.longest[lane]
    step = longest if first >= second * longest * longest else np.sqrt(first / second)
    if step >= longest:
        track.longest[lane] = 4.0 * longest
    if step <= 1.0:
        _copy(track.plain, point, lane)
        return _START
    total = np.zeros(simplex[-1] + 1)
    for d in range(len(simplex)):
        r = point[d, lane] - track.base[d, lane]
        v = track.plain[d, lane] - point[d, lane] - r
        aimed = track.base[d, lane] + 2.0 * step * r + step * step * v
        # Probabilities on their way to zero may shrink tenfold at once, but not arrive: EM could never leave zero.
        point[d, lane] = max(aimed, 0.1 * track.plain[d, lane])
        total[simplex[d]] += point[d, lane]
    for d in range(len(simplex)):
        point[d, lane] /= total[simplex[d]]
    return _TRIAL
