"""Latent class model (naive Bayes with a hidden class) fitted by EM to two tables that share some variables.

Given the class z the variables are independent. A row of either table sees its own variables only, so it has
probability Σ_z p(z) Π_{v seen} p(x_v | z), and EM raises Σ count·log of it over both tables at once (Dempster, Laird &
Rubin 1977; the model is that of Ramineni et al. 2025, appendix C). Only the class links variables that no table sees
together, and very different models can be equally likely: every start is returned, not the best alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, SolverError
from fairbounds.kernels.latent_em import CHUNK, LANES, SAFE, Ascent, Model, Side, climb, new_ascent, step
from fairbounds.kernels.squarem import new_track

__all__ = [
    "Fits",
    "Step",
    "bic",
    "cell_probability",
    "class_posterior",
    "em_step",
    "fit",
    "level_probabilities",
    "log_likelihood",
    "n_parameters",
    "row_log_likelihood",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_PIECE = 0.2


class Fits(NamedTuple):
    """One fitted model per start; T is the number of levels of all variables together.

    Attributes
    ----------
    class_weights : array, shape (S, K)
    tables : array, shape (S, K, T)
        p(level | class), variable after variable.
    offsets : array of int, shape (V + 1,)
        Variable v has the columns ``offsets[v]:offsets[v + 1]`` of `tables`.
    log_likelihood : array, shape (S,)
        Σ weight·count·log p(row) over both tables.
    iterations : array of int, shape (S,)
        EM steps computed, those of rejected extrapolations included.
    converged : array of bool, shape (S,)
    """

    class_weights: FloatArray
    tables: FloatArray
    offsets: IntArray
    log_likelihood: FloatArray
    iterations: IntArray
    converged: npt.NDArray[np.bool_]


class Step(NamedTuple):
    """What one EM step makes of a model, and the log-likelihood of the model it started from."""

    class_weights: FloatArray
    tables: FloatArray
    log_likelihood: float


def fit(
    internal_codes: IntArray,
    internal_counts: FloatArray,
    external_codes: IntArray,
    external_counts: FloatArray,
    sizes: IntArray,
    internal_columns: IntArray,
    external_columns: IntArray,
    classes: int,
    rng: np.random.Generator,
    starts: int = 20,
    tolerance: float = 1e-9,
    most: int = 2000,
    *,
    internal_weight: float = 1.0,
    external_weight: float = 1.0,
    accelerate: bool = True,
    told: Callable[[float], None] | None = None,
) -> Fits:
    """Fit the model from many random starts (docs/method.md, 11).

    Parameters
    ----------
    internal_codes, external_codes : array of int, shape (N, W)
        Levels of the variables that the table sees.
    internal_counts, external_counts : array, shape (N,)
        People in each row; any numbers ≥ 0.
    sizes : array of int, shape (V,)
        Number of levels of each variable of the model.
    internal_columns, external_columns : array of int, shape (W,)
        Which of the V variables the columns of codes are.
    classes, starts : int
    rng : Generator
    tolerance : float
        A start is done when a cycle changes its mean log-likelihood by no more than this share.
    most : int
        EM steps after which a start is left as it is, not converged.
    internal_weight, external_weight : float
        Multiply the counts of a table.
    accelerate : bool
        Extrapolate by SQUAREM; False is plain EM.
    told : callable, optional
        Called now and then with the part of the starts that have ended; what it raises ends the fit.
    """
    internal = (internal_codes, internal_counts, internal_columns, internal_weight)
    model = _model(sizes, internal, (external_codes, external_counts, external_columns, external_weight))
    points = _random_points(model, classes, starts, rng)
    ascent = new_ascent(points)
    # An int for a tolerance would be compiled for again.
    fell = _climb_in_pieces(model, points, ascent, float(tolerance), most, accelerate, told)
    if fell > 0.0:
        raise SolverError(f"the likelihood of a latent class model fell by {fell:.3g} in an EM step; it never should")
    tables = np.ascontiguousarray(points[:, 1:].transpose(0, 2, 1))
    value = ascent.value + model.baseline
    return Fits(points[:, 0].copy(), tables, model.bounds[1:] - 1, value, ascent.iterations, ascent.converged)


def _climb_in_pieces(
    model: Model,
    points: FloatArray,
    ascent: Ascent,
    tolerance: float,
    most: int,
    accelerate: bool,
    told: Callable[[float], None] | None,
) -> float:
    """Climb in pieces of about `_PIECE` seconds: compiled code hears no interrupt, and nothing else can run."""
    classes = points.shape[2]
    track = new_track(len(model.inverse) * classes, LANES)
    simplexes, workspace = _simplexes(model, classes), _workspace(model, classes * LANES)
    steps, done = 8, False
    while not done:
        began = perf_counter()
        done, fell = climb(model, points, tolerance, most, accelerate, simplexes, track, ascent, steps, *workspace)
        elapsed = perf_counter() - began
        steps = max(1, 2 * steps if elapsed < _PIECE / 2 else steps // 2 if elapsed > _PIECE else steps)
        if told is not None:
            told(1.0 if done else (min(ascent.turn[0], len(points)) - ascent.turn[1]) / len(points))
    return fell


def em_step(
    internal_codes: IntArray,
    internal_counts: FloatArray,
    external_codes: IntArray,
    external_counts: FloatArray,
    sizes: IntArray,
    internal_columns: IntArray,
    external_columns: IntArray,
    class_weights: FloatArray,
    tables: FloatArray,
    *,
    internal_weight: float = 1.0,
    external_weight: float = 1.0,
) -> Step:
    """Take one EM step from the model with `class_weights`, shape (K,), and `tables`, shape (K, T)."""
    internal = (internal_codes, internal_counts, internal_columns, internal_weight)
    model = _model(sizes, internal, (external_codes, external_counts, external_columns, external_weight))
    one = np.concatenate([class_weights[None, :], tables.T])
    point = np.repeat(one[:, :, None], LANES, axis=2).reshape(len(one), -1)
    image = np.empty_like(point)
    value = step(model, point, image, *_workspace(model, point.shape[1]))
    moved = image.reshape(len(one), -1, LANES)[:, :, 0]
    return Step(moved[0].copy(), moved[1:].T.copy(), float(value[0]) + model.baseline)


def row_log_likelihood(fits: Fits, start: int, codes: IntArray, columns: IntArray) -> FloatArray:
    """Return log p of each row of levels `codes`, shape (M, W), of the variables `columns`; −∞ where impossible."""
    top, inside = _joint_with_class(fits, start, codes, columns)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(inside.sum(axis=1)))


def log_likelihood(fits: Fits, start: int, codes: IntArray, counts: FloatArray, columns: IntArray) -> float:
    """Return Σ count·log p(row), of rows fitted or held out; −∞ where a row has a level that the fit never saw."""
    seen = counts > 0
    return float(counts[seen] @ row_log_likelihood(fits, start, codes[seen], columns))


def cell_probability(fits: Fits, start: int, codes: IntArray, columns: IntArray) -> FloatArray:
    """Return p of each combination of levels `codes`, shape (M, W), of the variables `columns`, others summed out."""
    return np.asarray(np.exp(row_log_likelihood(fits, start, codes, columns)))


def class_posterior(fits: Fits, start: int, codes: IntArray, columns: IntArray) -> FloatArray:
    """Return p(class | row), shape (M, K); NaN for rows that the model holds for impossible."""
    _, inside = _joint_with_class(fits, start, codes, columns)
    with np.errstate(invalid="ignore"):
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def level_probabilities(fits: Fits, codes: IntArray, columns: IntArray) -> FloatArray:
    """Return p(row | class) of each row of levels `codes`, shape (M, W), at every start, shape (S, K, M)."""
    places = np.asarray(codes, np.int64) + fits.offsets[np.asarray(columns, np.int64)]
    out = np.ones((*fits.class_weights.shape, len(places)))
    for column in places.T:
        out *= fits.tables[:, :, column]
    return out


def n_parameters(sizes: IntArray, classes: int) -> int:
    """Count the free parameters: K − 1 class weights, and K times one less than the levels of each variable."""
    return classes - 1 + classes * int(np.sum(np.asarray(sizes) - 1))


def bic(log_likelihood: float, parameters: int, n_rows: float) -> float:
    """Return Schwarz's criterion −2·log-likelihood + parameters·log(n_rows), to be made small."""
    return float(-2.0 * log_likelihood + parameters * np.log(n_rows))


def _joint_with_class(fits: Fits, start: int, codes: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return p(row, class) as the logarithm of a scale, shape (M,), and what remains, shape (M, K)."""
    places = np.asarray(codes, np.int64) + fits.offsets[np.asarray(columns, np.int64)]
    with np.errstate(divide="ignore"):
        logs = np.log(fits.tables[start]).T
        joint = np.repeat(np.log(fits.class_weights[start])[None, :], len(places), axis=0)
    for column in places.T:
        joint += logs[column]
    top = joint.max(axis=1)
    top[np.isneginf(top)] = 0.0
    return top, np.exp(joint - top[:, None])


def _model(sizes: IntArray, *tables: tuple[IntArray, FloatArray, IntArray, float]) -> Model:
    """Arrange two tables, each codes, counts, columns and weight, for the compiled steps."""
    bounds = np.concatenate([[0, 1], 1 + np.cumsum(sizes)]).astype(np.int64)
    sides = [_side(bounds, *table) for table in tables]
    seen = np.zeros(bounds[-1])
    for side in sides:
        for column in side.places.T:
            seen += np.bincount(column, side.counts, len(seen))
    frequency = np.ones(len(seen))
    for variable in range(len(bounds) - 2):
        low, high = bounds[variable + 1], bounds[variable + 2]
        if not seen[low:high].sum() > 0:
            raise ProblemError(f"variable {variable} of the latent class model is seen in neither table: leave it out")
        frequency[low:high] = seen[low:high] / seen[low:high].sum()
    known = frequency > 0
    logs = np.log(frequency, out=np.zeros_like(frequency), where=known)
    logs *= min(1.0, np.log(SAFE) / max(_greatest_product(side, -logs) for side in sides))
    return Model(sides[0], sides[1], bounds, np.where(known, np.exp(-logs), 0.0), frequency, float(seen @ logs))


def _greatest_product(side: Side, logs: FloatArray) -> float:
    """Return the logarithm of the greatest product that a pattern of the side can have."""
    patterns = (side.first_places, side.second_places)
    return max(1e-300, *(float(logs[places].sum(axis=1).max(initial=0.0)) for places in patterns))


def _side(bounds: IntArray, codes: IntArray, counts: FloatArray, columns: IntArray, weight: float) -> Side:
    """Merge equal rows, drop those that count nothing, and split the variables into two blocks."""
    columns, counts = np.asarray(columns, np.int64), np.asarray(counts, np.float64) * weight
    codes = np.asarray(codes, np.int64).reshape(len(counts), len(columns))
    sizes = np.diff(bounds)[1:][columns]
    if np.any((codes < 0) | (codes >= sizes)):
        raise ProblemError("a table has a level code outside its variable's number of levels")
    codes, counts = codes[counts > 0], counts[counts > 0]
    blocks, keys = _blocks(codes, sizes)
    both = keys[0] * (1 + keys[1].max(initial=0)) + keys[1]
    _, kept, group = np.unique(both, return_index=True, return_inverse=True)
    merged = np.bincount(group.reshape(-1), counts, len(kept)).astype(np.float64)
    places = np.ascontiguousarray(codes + bounds[1:-1][columns])
    first, second = (
        np.ascontiguousarray(places[np.unique(key, return_index=True)[1]][:, block])
        for block, key in zip(blocks, keys, strict=True)
    )
    return Side(places[kept], merged, first, second, keys[0][kept], keys[1][kept])


def _blocks(codes: IntArray, sizes: IntArray) -> tuple[list[list[int]], list[IntArray]]:
    """Deal the columns, largest first, to the block whose distinct patterns it makes cost least.

    Returns the columns of each block and, for each row, the number of its pattern there.
    """
    blocks: list[list[int]] = [[], []]
    keys = [np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)]
    patterns = [1, 1]
    for column in np.argsort(-sizes, kind="stable"):
        costs, finer = [], []
        for b in (0, 1):
            distinct, key = np.unique(keys[b] * sizes[column] + codes[:, column], return_inverse=True)
            costs.append(len(distinct) * (2 + len(blocks[b])) + patterns[1 - b] * (1 + len(blocks[1 - b])))
            finer.append((len(distinct), key.reshape(-1).astype(np.int64)))
        b = int(costs[1] < costs[0])
        blocks[b].append(int(column))
        patterns[b], keys[b] = finer[b]
    return blocks, keys


def _random_points(model: Model, classes: int, starts: int, rng: np.random.Generator) -> FloatArray:
    """Return starts, shape (S, 1 + T, K): the frequencies times exponential noise, so that unseen levels stay at 0."""
    noise = rng.standard_exponential((starts, len(model.frequency), classes))
    points: FloatArray = model.frequency[:, None] * noise
    points[:, 0] /= points[:, 0].sum(axis=1, keepdims=True)
    for low, high in itertools.pairwise(model.bounds[1:]):
        points[:, low:high] /= points[:, low:high].sum(axis=1, keepdims=True)
    return points


def _simplexes(model: Model, classes: int) -> IntArray:
    """Mark the numbers of a point that sum to 1 together, for `advance`."""
    marks = np.repeat(np.arange(len(model.bounds) - 1), np.diff(model.bounds))
    each = marks[:, None] * classes + np.arange(classes)
    each[0] = 0
    return np.asarray(each.ravel(), np.int64)


def _workspace(model: Model, width: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the arrays that every step writes over; making them anew would cost as much as a step on small tables."""
    first = max(len(model.internal.first_places), len(model.external.first_places)) * width
    second = max(len(model.internal.second_places), len(model.external.second_places)) * width
    return np.empty(first), np.empty(second), np.empty(first), np.empty(second), np.empty(CHUNK * LANES)
