"""The grid: statistics of the 100 × 100 joints of 25,000 scenarios, against numpy.

Claim (issue "The feasible set and the structural estimates"): under 0.4 s once warm, on one thread. The peer does the
same in whole arrays of numpy, a batch of scenarios at a time, in two ways: with every entry of every joint, as the
grid is described, and with the two groups' favourable masses only, each a sum of one part per stratum. It is tuned:
several batches, of which the fastest counts; and it is timed on a fifth of the scenarios, as all cost the same. With
the limits of the paper, infeasible joints are filtered out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from fairbounds.kernels.grid import GridStatistics, Limits, grid_statistics

SCENARIOS, POINTS, CLAIM = 25_000, 100, 0.4
BATCHES, FIFTH = (1, 5, 25), SCENARIOS // 5


class Scenarios(NamedTuple):
    """Masses of cells and of groups, and P(favourable | cell), each of shape (N, 2, 2)."""

    rows: np.ndarray
    columns: np.ndarray
    value: np.ndarray


def made_up(seed: int = 0) -> Scenarios:
    """Return margins of joints that are uniform on the simplex, with scores."""
    rng = np.random.default_rng(seed)
    joint = rng.dirichlet(np.ones(8), SCENARIOS).reshape(-1, 2, 2, 2)
    return Scenarios(joint.sum(axis=3), joint.sum(axis=2), rng.random((SCENARIOS, 2, 2)))


def free_values(some: Scenarios, limits: Limits) -> np.ndarray:
    """Values of the free entries, shape (N, stratum, points)."""
    high = np.minimum(some.rows[..., 0], some.columns[..., 0])
    low = np.maximum(0.0, some.rows[..., 0] - some.columns[..., 1]) if limits == "tight" else np.zeros_like(high)
    return np.linspace(low, high, POINTS, axis=-1)


def entries(some: Scenarios, free: np.ndarray) -> tuple[np.ndarray, ...]:
    """Four entries of every stratum's matrices, each of shape (N, stratum, points)."""
    second = some.rows[..., :1] - free
    return free, second, some.columns[..., :1] - free, some.columns[..., 1:] - second


def of_every_joint(some: Scenarios, limits: Limits) -> tuple[np.ndarray, ...]:
    """Return both groups' favourable masses and which joints are feasible, from eight entries of all joints."""
    parts = entries(some, free_values(some, limits))
    joints = np.empty((len(some.rows), POINTS, POINTS, 2, 4))
    for i, part in enumerate(parts):
        joints[:, :, :, 0, i] = part[:, 0, :, None]
        joints[:, :, :, 1, i] = part[:, 1, None, :]
    by_cell = joints.reshape(*joints.shape[:4], 2, 2)
    favourable = np.einsum("njkcsg,ncs->gnjk", by_cell, some.value)
    if limits == "tight":
        return *favourable, np.ones(joints.shape[:3], dtype=bool)
    return *favourable, (joints >= -1e-15).all(axis=(3, 4))


def of_parts(some: Scenarios, limits: Limits) -> tuple[np.ndarray, ...]:
    """Return the same from sums over the strata of parts of shape (N, points)."""
    first, second, third, last = entries(some, free_values(some, limits))
    value = some.value[..., None]
    one = value[:, :, 0] * first + value[:, :, 1] * third
    two = value[:, :, 0] * second + value[:, :, 1] * last
    sums = (part[:, 0, :, None] + part[:, 1, None, :] for part in (one, two))
    fits = last >= -1e-15
    return *sums, fits[:, 0, :, None] & fits[:, 1, None, :]


def by_numpy(every: Scenarios, limits: Limits, batch: int, masses: Callable[..., tuple[np.ndarray, ...]]) -> np.ndarray:
    """Return what `GridStatistics` has, shape (9, N), by way of all joints of `batch` scenarios at a time."""
    found = np.empty((9, len(every.rows)))
    for begin in range(0, len(every.rows), batch):
        some = Scenarios(*(array[begin : begin + batch] for array in every))
        one, two, feasible = masses(some, limits)
        group = some.columns.sum(axis=1)
        rates = one / group[:, 0, None, None], two / group[:, 1, None, None]
        metrics = rates[0] / rates[1], rates[0] - rates[1]
        kept = {} if limits == "tight" else {"where": feasible}
        found[0, begin : begin + batch] = feasible.sum(axis=(1, 2))
        for m, metric in enumerate(metrics):
            found[1 + 4 * m : 5 + 4 * m, begin : begin + batch] = (
                metric.mean(axis=(1, 2), **kept),
                metric.std(axis=(1, 2), **kept),
                metric.min(axis=(1, 2), initial=np.inf, **kept),
                metric.max(axis=(1, 2), initial=-np.inf, **kept),
            )
    return found


def ours(every: Scenarios, limits: Limits) -> GridStatistics:
    """All scenarios at once."""
    return grid_statistics(*every, POINTS, limits)


def seconds(function: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the least of several times by the clock, and processor time per time by the clock."""
    times, before, used = [], time.perf_counter(), time.process_time()
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times), (time.process_time() - used) / (time.perf_counter() - before)


def peer(every: Scenarios, limits: Limits, masses: Callable[..., tuple[np.ndarray, ...]]) -> float:
    """Return the seconds of numpy for all scenarios, in the batches that suit it best."""
    some = Scenarios(*(array[:FIFTH] for array in every))
    times = [5 * seconds(partial(by_numpy, some, limits, size, masses), 1)[0] for size in BATCHES]
    best = int(np.argmin(times))
    print(f"  numpy, {masses.__name__.replace('_', ' ')}, {BATCHES[best]} at a time: {times[best]:.2f} s", end="; ")
    return times[best]


def compare(every: Scenarios, limits: Limits) -> None:
    """Print both times, their ratio and how far apart the results are."""
    begin = time.perf_counter()
    result = np.array(ours(every, limits))
    cold = time.perf_counter() - begin
    warm, threads = seconds(lambda: ours(every, limits), 10)
    joints = result[0].sum()
    print(f"{limits} limits, {SCENARIOS:,} scenarios × {POINTS} × {POINTS}: {joints / 1e6:.1f} million feasible joints")
    print(f"  fairbounds: {warm:.3f} s (claim: under {CLAIM}), {warm / joints * 1e9:.2f} ns a joint; ", end="")
    print(f"{threads:.2f} processors; first call {cold:.2f} s")
    for masses in (of_every_joint, of_parts):
        print(f"ratio {peer(every, limits, masses) / warm:,.0f} ×", flush=True)
    other = by_numpy(every, limits, BATCHES[-1], of_parts)
    scale = np.maximum(np.abs(other), [[1e-3]])
    print(f"  furthest apart, relative: {np.max(np.abs(result - other) / scale):.1e}; ", end="")
    print(f"equal counts of feasible joints: {np.array_equal(result[0], other[0])}")


def main() -> None:
    """Print both kinds of limits."""
    every = made_up()
    for limits in ("tight", "paper"):
        compare(every, limits)


if __name__ == "__main__":
    main()
