"""Intervals: against the bounds themselves, and bounds on resampled tables.

Claims (issue "Intervals"): the interval of 1,000 strata × 5 groups, all selection metrics, at most 20 × the cost of the
bounds themselves; 200 repetitions of it in one call of the kernel; bounds on 1,000 multinomial resamples of 14 strata ×
50 outcomes × 5 groups in one call in under 0.5 s. Processor time, since other programs may be running.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from fairbounds import Problem, Table
from fairbounds.bounding import answer
from fairbounds.extremes import forget
from fairbounds.inference import Sampling, count, intervals
from fairbounds.kernels.count_bootstrap import resampled_ends
from fairbounds.kernels.dual_bounds import dual_ends
from fairbounds.kernels.polymatroid import all_subsets
from fairbounds.questions import Question

STRATA, GROUPS, REPETITIONS = 1_000, 5, 200
SELECTION = ("selection_rate", "selection_difference", "selection_ratio", "impact_ratio", "parity_gap", "parity_ratio")


def made_up(rows: int = 100_000) -> Problem:
    """Return tables of a million cells' worth of people."""
    rng = np.random.default_rng(0)
    stratum = rng.integers(STRATA, size=rows)
    decided = {"c": stratum, "ok": (rng.random(rows) < 0.1 + 0.8 * (stratum % 7) / 7).astype(int)}
    group = {"c": rng.integers(STRATA, size=rows), "g": rng.choice(GROUPS, size=rows, p=[0.4, 0.3, 0.15, 0.1, 0.05])}
    inside, outside = (
        Table.from_columns({name: values.tolist() for name, values in columns.items()}) for columns in (decided, group)
    )
    return Problem.from_tables(inside, outside, protected="g", decision="ok", favourable=1)


def best(function: Callable[[], object], repeats: int = 9) -> float:
    """Return the least of several processor times, in seconds, after one call to warm up."""
    function()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        function()
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    """Measure and print."""
    problem = made_up()
    questions = [question for name in SELECTION for question in Question.every(problem, name)]

    def bounds() -> list[object]:
        forget(problem)
        return [answer(problem, question) for question in questions]

    found = [answer(problem, question) for question in questions]
    plain = best(bounds)
    sampled = best(lambda: intervals(problem, questions, found, Sampling(), 0))
    print(f"{STRATA:,} strata × {GROUPS} groups, {len(questions)} selection metrics")
    print(f"  bounds                     {1e3 * plain:9.2f} ms")
    print(
        f"  intervals                  {1e3 * sampled:9.2f} ms, {sampled / plain:.1f} × the bounds (claim: at most 20)"
    )

    counts, rng = count(problem), np.random.default_rng(1)
    repeated = [
        rng.multinomial(int(table.sum()), table.ravel() / table.sum(), size=REPETITIONS).astype(float)
        for table in (counts.internal, counts.external)
    ]
    seeds = rng.integers(0, 2**64, (REPETITIONS, 3), dtype=np.uint64)
    ones = np.ones(len(counts.score))

    def together() -> object:
        outside = repeated[1].reshape(-1, *counts.external.shape)
        return dual_ends(counts.offsets, counts.score, ones, repeated[0], outside, seeds, all_subsets(GROUPS))

    batched = best(together, 3)
    per_table = 1e3 * batched / REPETITIONS
    print(f"  {REPETITIONS} tables in one call     {1e3 * batched:9.2f} ms, {per_table:.2f} ms each")

    offsets = np.arange(15) * 50
    value, inside = rng.random(700), rng.integers(1, 200, 700).astype(float)
    outside = rng.integers(1, 500, (14, 5)).astype(float)
    resampled = best(
        lambda: resampled_ends(offsets, value, inside, outside, np.eye(5), 1000, np.random.default_rng(0)), 5
    )
    print(f"1,000 resamples of 14 strata × 50 outcomes × 5 groups in one call: {resampled:.3f} s (claim: under 0.5 s)")


if __name__ == "__main__":
    main()
