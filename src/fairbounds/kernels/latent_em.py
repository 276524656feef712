"""EM steps of the latent class model, for several starts side by side (docs/method.md, 11).

How a step is fast. The variables of a table are split into two blocks of few distinct patterns. With A and B the
probabilities of the patterns given the class, row (a, b) has f = Σ_z A[a, z] B[b, z]; the counts expected of pattern a
are A[a, z] Σ_b (n/f) B[b, z], and alike for b. That is four operations a row and class however many variables there
are, no exponential, and one logarithm a row. Probabilities are taken relative to the frequencies of the levels, which
keeps f near 1; rows whose f is too small all the same are worked out in logarithms. Starts run in `LANES` lanes next to
each other in memory, for vector instructions; a lane whose start has converged takes the next.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.compiling import compiled
from fairbounds.kernels.squarem import Track, advance, begin

__all__ = ["CHUNK", "LANES", "SAFE", "Ascent", "Model", "Side", "climb", "new_ascent", "step"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Eight: TypeAlias = tuple[float, float, float, float, float, float, float, float]
U = np.uint64  # numba asks of a signed index whether it counts from the end, which keeps vector instructions away

LANES = 8
CHUNK = 256  # rows whose f stays in the cache between the passes
SAFE = 1e100  # no product of a pattern exceeds it; rows of f below its inverse are left to logarithms
_ONES: Eight = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
_ZEROS: Eight = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_DIED_OUT = 1e-250  # expected count of a class below which dividing by it means nothing
_ROUNDING = 1e-11  # of a sum of logarithms, relative to its terms
_LN2 = 0.6931471805599453
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # of √½ as a float64


class Side(NamedTuple):
    """The N distinct rows of one table; a place is a row of the stacked tables, 0 being the class weights.

    Attributes
    ----------
    places : array of int, shape (N, W)
        Where each variable's level stands.
    counts : array, shape (N,)
    first_places, second_places : array of int, shape (P, width of the block)
        The distinct patterns of the two blocks of variables.
    first, second : array of int, shape (N,)
        Pattern of each row in either block; rows are sorted by both.
    """

    places: IntArray
    counts: FloatArray
    first_places: IntArray
    second_places: IntArray
    first: IntArray
    second: IntArray


class Model(NamedTuple):
    """Both sides, and what every step needs to know of the variables.

    Attributes
    ----------
    internal, external : Side
    bounds : array of int, shape (V + 2,)
        Rows ``bounds[i]:bounds[i + 1]`` of a point are one distribution: the class weights, then each variable.
    inverse : array, shape (1 + T,)
        One over the frequency of each level, or a power of it where products of many would overflow.
    frequency : array, shape (1 + T,)
    baseline : float
        Log-likelihood were all variables independent and of probability 1/inverse, which the steps leave out.
    """

    internal: Side
    external: Side
    bounds: IntArray
    inverse: FloatArray
    frequency: FloatArray
    baseline: float


class Ascent(NamedTuple):
    """Where all starts are on their way, so that a climb can be broken off and gone on with.

    Attributes
    ----------
    value, iterations, converged : array, shape (S,)
        Of each start.
    point : array, shape (D, LANES)
    owner : array of int, shape (LANES,)
        The start that a lane runs; −1 for none.
    turn : array of int, shape (2,)
        Starts handed out, and starts running.
    """

    value: FloatArray
    iterations: IntArray
    converged: npt.NDArray[np.bool_]
    point: FloatArray
    owner: IntArray
    turn: IntArray


def new_ascent(points: FloatArray) -> Ascent:
    """Return the ascent before its first step, from points of shape (S, 1 + T, K)."""
    starts, n, classes = points.shape
    counts, found = np.zeros(starts, np.int64), np.zeros(starts, np.bool_)
    lanes = np.full(LANES, -1, np.int64)
    return Ascent(np.zeros(starts), counts, found, np.empty((n * classes, LANES)), lanes, np.zeros(2, np.int64))


@compiled
def _load(x: FloatArray, i: np.uint64) -> Eight:
    return x[i], x[i + U(1)], x[i + U(2)], x[i + U(3)], x[i + U(4)], x[i + U(5)], x[i + U(6)], x[i + U(7)]


@compiled
def _store(x: FloatArray, i: np.uint64, v: Eight) -> None:
    x[i], x[i + U(1)], x[i + U(2)], x[i + U(3)] = v[0], v[1], v[2], v[3]
    x[i + U(4)], x[i + U(5)], x[i + U(6)], x[i + U(7)] = v[4], v[5], v[6], v[7]


@compiled
def _plus_product(c: Eight, a: Eight, b: Eight) -> Eight:
    c0, c1, c2, c3 = c[0] + a[0] * b[0], c[1] + a[1] * b[1], c[2] + a[2] * b[2], c[3] + a[3] * b[3]
    c4, c5, c6, c7 = c[4] + a[4] * b[4], c[5] + a[5] * b[5], c[6] + a[6] * b[6], c[7] + a[7] * b[7]
    return c0, c1, c2, c3, c4, c5, c6, c7


@compiled
def _products(places: IntArray, from_weights: bool, scaled: FloatArray, width: int, out: FloatArray) -> None:
    """Write Π p(level | class) of each pattern, times p(class) or not."""
    n, columns = places.shape
    for row in range(n):
        for z in range(0, width, LANES):
            value = _load(scaled, U(z)) if from_weights else _ONES
            for column in range(columns):
                value = _plus_product(_ZEROS, value, _load(scaled, U(places[row, column] * width + z)))
            _store(out, U(row * width + z), value)


@compiled
def _collect(
    places: IntArray, weights_too: bool, product: FloatArray, gathered: FloatArray, width: int, totals: FloatArray
) -> None:
    """Add what each pattern is expected to count to the levels that it is made of."""
    n, columns = places.shape
    for row in range(n):
        for z in range(0, width, LANES):
            a, b = _load(product, U(row * width + z)), _load(gathered, U(row * width + z))
            if weights_too:
                _store(totals, U(z), _plus_product(_load(totals, U(z)), a, b))
            for column in range(columns):
                to = U(places[row, column] * width + z)
                _store(totals, to, _plus_product(_load(totals, to), a, b))


@compiled
def _expect(
    side: Side,
    scaled: FloatArray,
    width: int,
    totals: FloatArray,
    value: FloatArray,
    first: FloatArray,
    second: FloatArray,
    first_sum: FloatArray,
    second_sum: FloatArray,
    f: FloatArray,
) -> None:
    """E-step on one side: add the expected counts to `totals` and the log-likelihoods to `value`."""
    _products(side.first_places, True, scaled, width, first)
    _products(side.second_places, False, scaled, width, second)
    first_sum[: len(side.first_places) * width] = 0.0
    second_sum[: len(side.second_places) * width] = 0.0
    bits, mantissa, log, share = f.view(np.int64), np.empty(len(f)), np.empty(len(f)), np.empty(len(f))
    mantissa_bits = mantissa.view(np.int64)
    for begin_row in range(0, len(side.counts), CHUNK):
        rows = min(CHUNK, len(side.counts) - begin_row)
        least = np.inf
        for j in range(rows):
            a, b = U(side.first[begin_row + j] * width), U(side.second[begin_row + j] * width)
            total = _ZEROS
            for z in range(0, width, LANES):
                total = _plus_product(total, _load(first, a + U(z)), _load(second, b + U(z)))
            _store(f, U(j * LANES), total)
        for i in range(rows * LANES):
            share[i] = 1.0 / f[i]
            least = min(least, f[i])
        if not least > 1.0 / SAFE:
            _by_logarithms(side, begin_row, rows, scaled, width, totals, value, f, share)
        # log f = e·log 2 + 2 artanh((m − 1)/(m + 1)) with f = m·2^e and m near 1: unlike the library's, a vector loop.
        for i in range(rows * LANES):
            exponent = (bits[i] - _SQRT_HALF_BITS) >> 52
            mantissa_bits[i] = bits[i] - (exponent << 52)
            log[i] = exponent
        for i in range(rows * LANES):
            q = (mantissa[i] - 1.0) / (mantissa[i] + 1.0)
            y = q * q
            tail = 1 / 13 + y * (1 / 15 + y * (1 / 17 + y / 19))
            tail = 1 / 3 + y * (1 / 5 + y * (1 / 7 + y * (1 / 9 + y * (1 / 11 + y * tail))))
            log[i] = _LN2 * log[i] + 2.0 * q * (1.0 + y * tail)
        found = _load(value, U(0))
        for j in range(rows):
            n = side.counts[begin_row + j]
            counts = (n, n, n, n, n, n, n, n)
            found = _plus_product(found, counts, _load(log, U(j * LANES)))
            weight = _plus_product(_ZEROS, counts, _load(share, U(j * LANES)))
            a, b = U(side.first[begin_row + j] * width), U(side.second[begin_row + j] * width)
            for z in range(0, width, LANES):
                mine, other = _load(first, a + U(z)), _load(second, b + U(z))
                _store(first_sum, a + U(z), _plus_product(_load(first_sum, a + U(z)), weight, other))
                _store(second_sum, b + U(z), _plus_product(_load(second_sum, b + U(z)), weight, mine))
        _store(value, U(0), found)
    _collect(side.first_places, True, first, first_sum, width, totals)
    _collect(side.second_places, False, second, second_sum, width, totals)


@compiled
def _by_logarithms(
    side: Side,
    begin_row: int,
    rows: int,
    scaled: FloatArray,
    width: int,
    totals: FloatArray,
    value: FloatArray,
    f: FloatArray,
    share: FloatArray,
) -> None:
    """Work out the rows whose f is too small, and leave f = 1 and no share, so that nothing is counted twice."""
    joint = np.empty(width // LANES)
    for i in range(rows * LANES):
        if f[i] > 1.0 / SAFE:
            continue
        row, lane, top, total = begin_row + i // LANES, i % LANES, -np.inf, 0.0
        for z in range(len(joint)):
            joint[z] = np.log(scaled[z * LANES + lane])
            for place in side.places[row]:
                joint[z] += np.log(scaled[place * width + z * LANES + lane])
            top = max(top, joint[z])
        f[i], share[i] = 1.0, 0.0
        if top == -np.inf:  # the model holds the row for impossible: it counts for no class
            value[lane] = top
            continue
        for z in range(len(joint)):
            joint[z] = np.exp(joint[z] - top)
            total += joint[z]
        value[lane] += side.counts[row] * (top + np.log(total))
        for z in range(len(joint)):
            expected = side.counts[row] * joint[z] / total
            totals[z * LANES + lane] += expected
            for place in side.places[row]:
                totals[place * width + z * LANES + lane] += expected


@compiled
def step(
    model: Model,
    point: FloatArray,
    image: FloatArray,
    first: FloatArray,
    second: FloatArray,
    first_sum: FloatArray,
    second_sum: FloatArray,
    f: FloatArray,
) -> FloatArray:
    """Take one EM step in every lane, from `point` to `image`, and return the values of `point`."""
    n, width = point.shape
    scaled, totals, value = np.empty(n * width), np.zeros(n * width), np.zeros(LANES)
    for row in range(n):
        for i in range(width):
            scaled[row * width + i] = point[row, i] * model.inverse[row]
    _expect(model.internal, scaled, width, totals, value, first, second, first_sum, second_sum, f)
    _expect(model.external, scaled, width, totals, value, first, second, first_sum, second_sum, f)
    _maximise(model.bounds, point, totals.reshape(n, width), image)
    return value


@compiled
def _maximise(bounds: IntArray, point: FloatArray, totals: FloatArray, image: FloatArray) -> None:
    """M-step: expected counts over their sum; a class that has died out keeps the tables it had."""
    width = point.shape[1]
    people = np.zeros(LANES)
    for i in range(width):
        people[i % LANES] += totals[0, i]
    for i in range(width):
        image[0, i] = totals[0, i] / people[i % LANES]
    for variable in range(1, len(bounds) - 1):
        low, high = bounds[variable], bounds[variable + 1]
        for i in range(width):
            total = 0.0
            for row in range(low, high):
                total += totals[row, i]
            for row in range(low, high):
                image[row, i] = totals[row, i] / total if total > _DIED_OUT else point[row, i]


@compiled
def _copy_row(points: FloatArray, start: int, lanes: FloatArray, lane: int, into_lane: bool) -> None:
    """Copy a start into a lane, or back."""
    classes = points.shape[2]
    for d in range(len(lanes)):
        if into_lane:
            lanes[d, lane] = points[start, d // classes, d % classes]
        else:
            points[start, d // classes, d % classes] = lanes[d, lane]


@compiled
def climb(
    model: Model,
    points: FloatArray,
    tolerance: float,
    most: int,
    accelerate: bool,
    simplex: IntArray,
    track: Track,
    ascent: Ascent,
    steps: int,
    first: FloatArray,
    second: FloatArray,
    first_sum: FloatArray,
    second_sum: FloatArray,
    f: FloatArray,
) -> tuple[bool, float]:
    """Run the starts, LANES at a time, for some steps, and write where each ends over where it began.

    Returns whether all have ended, and by how much a value fell that should not have (0 if none).
    """
    starts, n, classes = points.shape
    value, iterations, converged, point, owner, turn = ascent
    image = np.empty((n, classes * LANES))
    people = np.sum(model.internal.counts) + np.sum(model.external.counts)
    for _ in range(steps):
        for lane in range(LANES):
            if owner[lane] < 0 and turn[0] < starts + LANES:
                # Past the last start a lane repeats it, and nobody reads what it finds.
                _copy_row(points, min(turn[0], starts - 1), point, lane, True)
                begin(track, lane)
                owner[lane] = turn[0] if turn[0] < starts else -1
                turn[1] += turn[0] < starts
                turn[0] += 1
        if turn[1] == 0:
            return True, 0.0
        now = step(model, point.reshape(n, -1), image, first, second, first_sum, second_sum, f)
        for lane in range(LANES):
            start = owner[lane]
            if start < 0:
                continue
            iterations[start] += 1
            started, gain = advance(track, lane, now[lane], point, image.reshape(-1, LANES), simplex, accelerate)
            if gain < -_ROUNDING * (people + abs(now[lane])):
                return True, -gain
            converged[start] = started and gain <= tolerance * abs(now[lane] + model.baseline)
            if converged[start] or iterations[start] >= most:
                _copy_row(points, start, track.base, lane, False)
                value[start] = track.before[lane]
                owner[lane] = -1
                turn[1] -= 1
    return False, 0.0
