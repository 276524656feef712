"""How often intervals hold the truth in repeated samples, and how wide they are beside those of an oracle.

The truth is any value between the true bounds, since any is that of some population with these two tables; an interval
is at its worst where the truth is one of the two ends, so that is what is counted. The oracle knows the best θ of every
stratum, which no sample tells: its ends are plain averages, and their standard deviation over the samples is known.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.combining import average_splits, critical, interval, limits, median_interval
from fairbounds.kernels.count_bootstrap import resampled_ends
from fairbounds.kernels.design_effects import cluster_variance, simple_variance, stretched
from fairbounds.kernels.dual_bounds import DualEnds, default_splits, dual_ends
from fairbounds.kernels.exact_boxes import exact_rate_ends
from fairbounds.kernels.fixed_duals import ends_of_tables, fixed_duals, row_deviations
from fairbounds.kernels.folds import cluster_halves
from fairbounds.progress import report
from fairbounds.studies.coverage_designs import DESIGNS, Asked, Design, Samples, draw

__all__ = ["LEVELS", "METHODS", "Coverage", "Study", "coverage_study"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Limits: TypeAlias = tuple[FloatArray, FloatArray]
Method: TypeAlias = Literal["cross-fitted", "median of splits", "exact boxes", "bootstrap"]

LEVELS = (0.9, 0.95)
METHODS: tuple[Method, ...] = ("cross-fitted", "median of splits", "exact boxes", "bootstrap")

_AT_ONCE = 250
_FEW = 10
_BOOTSTRAP_TABLES, _BOOTSTRAP_DRAWS = 1000, 200


@dataclass(frozen=True)
class Coverage:
    """What one method does in one design for one metric at one level.

    Attributes
    ----------
    design : Design
    asked : Asked
    method : str
    level : float
    tables : int
    metric, whole : float
        How often the metric, where it is hardest to cover, and the whole set lay in their intervals.
    width, oracle : float
        Median width of the interval for the metric, and of the oracle's.
    bounds : float
        Width of the true bounds.
    """

    design: Design
    asked: Asked
    method: Method
    level: float
    tables: int
    metric: float
    whole: float
    width: float
    oracle: float
    bounds: float

    @property
    def error(self) -> float:
        """Standard error of the coverage of the metric."""
        return float(np.sqrt(max(self.metric * (1 - self.metric), 0.25 / self.tables) / self.tables))


@dataclass(frozen=True)
class Study:
    """All results, and what they were made with."""

    found: tuple[Coverage, ...]
    tables: int
    seed: int

    def of(self, method: Method) -> list[Coverage]:
        """Return the results of one method."""
        return [found for found in self.found if found.method == method]


def coverage_study(
    tables: int = 2000,
    seed: int = 0,
    designs: Sequence[Design] = DESIGNS,
    methods: Sequence[Method] = METHODS,
    workers: int | None = None,
) -> Study:
    """Draw tables again and again, and count how often the intervals hold the truth.

    Parameters
    ----------
    tables : int
        Pairs of tables drawn in each design.
    seed : int
    designs : sequence of Design
    methods : sequence of str
    workers : int, optional
        Processes; by default as many as there are processors.

    Returns
    -------
    Study
        The same for any number of workers.
    """
    tasks = [(design, at, seed, min(_AT_ONCE, tables - at), tuple(methods)) for design in designs
             for at in range(0, tables, _AT_ONCE)]  # fmt: skip
    parts: dict[tuple[Design, int], _Part] = {}
    for part in _worked(_run, tasks, workers or os.cpu_count() or 1):
        parts[part.design, part.begin] = part
        report("Drawing tables and covering the truth", len(parts) / len(tasks))
    found = []
    for design in designs:
        own = [parts[design, at] for at in range(0, tables, _AT_ONCE)]
        found += [result for method in methods for result in _summarised(design, method, own)]
    return Study(tuple(found), tables, seed)


_Task: TypeAlias = tuple[Design, int, int, int, tuple[Method, ...]]


def _worked(function: Callable[[_Task], _Part], tasks: Sequence[_Task], workers: int) -> Iterator[_Part]:
    if workers == 1:
        yield from map(function, tasks)
        return
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        # The longest first, so that no worker is left alone with one at the end.
        ordered = sorted(tasks, key=lambda task: -task[0].strata * task[0].groups)
        for done in as_completed([pool.submit(function, task) for task in ordered]):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, eq=False)
class _Part:
    """Limits in some of the tables: by method, metric and level those of the metric and of the set; and the oracle."""

    design: Design
    begin: int
    found: dict[tuple[Method, Asked, float], tuple[Limits, Limits]]
    oracle: dict[Asked, Limits]


def _run(task: _Task) -> _Part:
    design, begin, seed, tables, methods = task
    truth = design.truth
    rng = np.random.default_rng([seed, DESIGNS.index(design) if design in DESIGNS else 999, begin])
    samples = draw(design, tables, rng)
    found: dict[tuple[Method, Asked, float], tuple[Limits, Limits]] = {}
    if {"cross-fitted", "median of splits"} & set(methods):
        splits = rng.integers(0, 2**64, (tables, default_splits(design.strata)), dtype=np.uint64)
        together = _halves(design, samples, splits.shape[1], rng) if design.cluster > 1 else None
        ends = dual_ends(
            truth.offsets, truth.counted, truth.among, samples.internal, samples.external, splits, truth.sets,
            population=design.population, external_is_census=design.census, first_halves=together,
        )  # fmt: skip
        if design.cluster > 1:
            ends = _for_clusters(design, samples, ends)
        found |= _intervals(design, ends, methods)
    if "exact boxes" in methods and _is_small(design):
        found |= _exact(design, samples)
    if "bootstrap" in methods and begin < _BOOTSTRAP_TABLES:
        found |= _bootstrap(design, samples, rng)
    return _Part(design, begin, found, _oracle(design, samples))


def _intervals(
    design: Design, ends: DualEnds, methods: Sequence[Method]
) -> dict[tuple[Method, Asked, float], tuple[Limits, Limits]]:
    mean, found = average_splits(ends), {}
    for asked in design.asked:
        roles = asked.form, design.groups, asked.group, asked.reference
        for level in LEVELS:
            if "cross-fitted" in methods:
                found["cross-fitted", asked, level] = (
                    interval(mean, *roles, level, "metric"), interval(mean, *roles, level, "set")
                )  # fmt: skip
            if "median of splits" in methods:
                found["median of splits", asked, level] = (
                    median_interval(ends, *roles, level, "metric"), median_interval(ends, *roles, level, "set")
                )  # fmt: skip
    return found  # type: ignore[return-value]


def _halves(design: Design, samples: Samples, splits: int, rng: np.random.Generator) -> FloatArray:
    """Draw halves that keep households together."""
    homes, cells = samples.clusters.shape[1], len(design.truth.atoms)
    home = np.repeat(np.arange(homes), design.cluster)
    ones = np.ones(len(home))
    return np.stack([cluster_halves(home, kind.ravel(), ones, cells, splits, rng) for kind in samples.clusters])


def _for_clusters(design: Design, samples: Samples, ends: DualEnds) -> DualEnds:
    """Stretch the variances by what drawing in households does, as `fairbounds.confidence` does."""
    truth, homes = design.truth, samples.clusters.shape[1]
    cluster = np.repeat(np.arange(homes), design.cluster)
    factors = []
    for inside, outside, kind in zip(samples.internal, samples.external, samples.clusters, strict=True):
        duals = fixed_duals(
            truth.offsets, truth.counted, truth.among, inside, outside, truth.sets, population=design.population
        )
        own, other = row_deviations(duals, inside, outside, design.population)
        rest = simple_variance(outside.ravel(), other.reshape(-1, own.shape[1]))
        simple = simple_variance(inside, own)
        drawn = cluster_variance(cluster, kind.ravel(), np.ones(kind.size), own, homes)
        factors.append((np.maximum(simple, drawn) + rest) / np.maximum(simple + rest, 1e-300))
    return stretched(ends, np.maximum(np.array(factors), 1e-12))


def _is_small(design: Design) -> bool:
    """Whether exact limits are worth a look: hard decisions of people drawn one by one, in few strata."""
    return design.strata <= _FEW and design.kind != "score" and not design.spread and design.cluster == 1


def _exact(design: Design, samples: Samples) -> dict[tuple[Method, Asked, float], tuple[Limits, Limits]]:
    truth, found = design.truth, {}
    event, rest = truth.counted, truth.among - truth.counted
    shape = (len(samples.internal), design.strata, -1)
    counted, missed, rows = (
        (samples.internal * value).reshape(shape).sum(axis=2) for value in (event, rest, np.ones_like(event))
    )
    for level in LEVELS:
        ends = np.array([
            np.concatenate(exact_rate_ends(*table, 1 - level, population=design.population))
            for table in zip(counted, missed, rows, samples.external, strict=True)
        ])  # fmt: skip
        exact = DualEnds(ends, np.zeros((*ends.shape, ends.shape[1])), np.zeros((len(ends), 3, ends.shape[1])))
        for asked in design.asked:
            both = limits(exact, asked.form, design.groups, asked.group, asked.reference, 0.5)
            found["exact boxes", asked, level] = both, both
    return found  # type: ignore[return-value]


def _bootstrap(
    design: Design, samples: Samples, rng: np.random.Generator
) -> dict[tuple[Method, Asked, float], tuple[Limits, Limits]]:
    """Take percentiles of the plug-in bounds of a metric over resamples of each pair of tables."""
    drawn = [_resampled(design, *pair, rng) for pair in zip(samples.internal, samples.external, strict=True)]
    ends = np.stack(drawn)  # (tables, draws, ends)
    n = ends.shape[-1]
    exact = DualEnds(ends, np.zeros((*ends.shape, n)), np.zeros((*ends.shape[:2], 3, n)))
    found = {}
    for asked in design.asked:
        lower, upper = limits(exact, asked.form, design.groups, asked.group, asked.reference, 0.5)
        for level in LEVELS:
            found["bootstrap", asked, level] = (
                _percentiles(lower, upper, 1 - level), _percentiles(lower, upper, (1 - level) / 2)
            )  # fmt: skip
    return found  # type: ignore[return-value]


def _percentiles(lower: FloatArray, upper: FloatArray, tail: float) -> Limits:
    low, high = np.nan_to_num(lower, nan=0.0), np.nan_to_num(upper, nan=np.inf, posinf=np.inf)
    return (
        np.quantile(low, tail, axis=1, method="inverted_cdf"),
        np.quantile(high, 1 - tail, axis=1, method="inverted_cdf"),
    )


def _resampled(design: Design, inside: FloatArray, outside: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return the plug-in ends of every group's rate in resamples of one pair of tables, shape (draws, E)."""
    truth = design.truth
    if design.kind in ("true positive", "precision"):
        return _conditional(inside, outside, rng)
    singles = np.eye(design.groups)
    sets = singles if truth.sets is None else np.vstack([singles, truth.sets])
    low, high = resampled_ends(
        truth.offsets, truth.counted, inside, outside, sets, _BOOTSTRAP_DRAWS, rng,
        population=design.population, external_is_census=design.census,
    )  # fmt: skip
    own = [low[:, : design.groups], high[:, : design.groups]]
    if truth.sets is not None:
        own += [low.max(axis=1, keepdims=True), high.min(axis=1, keepdims=True)]
    return np.concatenate(own, axis=1)


def _conditional(inside: FloatArray, outside: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Do the same for rates of hard events among a condition, by the closed form of docs/method.md, 2."""
    rows, people = round(inside.sum()), round(outside.sum())
    drawn = rng.multinomial(rows, inside / inside.sum(), size=_BOOTSTRAP_DRAWS).reshape(_BOOTSTRAP_DRAWS, -1, 3)
    groups = rng.multinomial(people, outside.ravel() / outside.sum(), size=_BOOTSTRAP_DRAWS)
    groups = groups.reshape(_BOOTSTRAP_DRAWS, *outside.shape)
    here = groups.sum(axis=2, keepdims=True)
    share = groups / np.maximum(here, 1)
    rest, counted = (drawn[:, :, [k]] / np.maximum(drawn.sum(axis=2, keepdims=True), 1) for k in (1, 2))
    most, least = ((here * np.minimum(share, q)).sum(axis=1) for q in (counted, rest))
    few, none = ((here * np.maximum(0.0, share + q - 1)).sum(axis=1) for q in (counted, rest))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.concatenate([few / (few + least), most / (most + none)], axis=1)
    return np.asarray(np.nan_to_num(ends, nan=0.5))


def _oracle(design: Design, samples: Samples) -> dict[Asked, Limits]:
    """Return the ends of each metric with the θ that is best for the population, in each pair of tables."""
    truth, many = design.truth, 1e9
    duals = fixed_duals(
        truth.offsets, truth.counted, truth.among, truth.atoms * many, truth.cells * many, truth.sets,
        population=design.population,
    )  # fmt: skip
    ends = ends_of_tables(duals, samples.internal, samples.external, design.population)
    n = ends.shape[-1]
    exact = DualEnds(ends, np.zeros((*ends.shape, n)), np.zeros((len(ends), 3, n)))
    return {
        asked: limits(exact, asked.form, design.groups, asked.group, asked.reference, 0.5) for asked in design.asked
    }


def _summarised(design: Design, method: Method, parts: Sequence[_Part]) -> list[Coverage]:
    if method == "exact boxes" and not _is_small(design):
        return []
    if method == "bootstrap":
        parts = [part for part in parts if part.begin < _BOOTSTRAP_TABLES]
    return [_one(design, asked, method, level, parts) for asked in design.asked for level in LEVELS]


def _one(design: Design, asked: Asked, method: Method, level: float, parts: Sequence[_Part]) -> Coverage:
    low, high = design.truth.metric(asked)
    found = [part.found[method, asked, level] for part in parts]
    lower, upper = (np.concatenate([limit[0][k] for limit in found]) for k in (0, 1))
    outer_lower, outer_upper = (np.concatenate([limit[1][k] for limit in found]) for k in (0, 1))
    slack = 1e-9
    held = [np.mean((lower <= value + slack) & (upper >= value - slack)) for value in (low, high)]
    whole = np.mean((outer_lower <= low + slack) & (outer_upper >= high - slack))
    return Coverage(
        design, asked, method, level, len(lower), float(min(held)), float(whole),
        float(np.median(upper - lower)), _oracle_width(asked, level, parts), high - low,
    )  # fmt: skip


def _oracle_width(asked: Asked, level: float, parts: Sequence[_Part]) -> float:
    lower, upper = (np.concatenate([part.oracle[asked][k] for part in parts]) for k in (0, 1))
    finite = np.isfinite(lower) & np.isfinite(upper)
    deviations = lower[finite].std(), upper[finite].std()
    width = float(np.median(upper - lower))
    apart = np.array([width / max(*deviations, 1e-300)])
    most = {"ratio": np.inf, "difference": 2.0}.get(asked.form, 1.0)
    return min(most, width + float(critical(apart, 1 - level)[0]) * float(sum(deviations)))
