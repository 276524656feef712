"""Bounds at scale: against reading the arrays once, and against HiGHS on one linear program per group and end.

Claims (issue "Foundation"): all bounds of 100,000 strata × 5 groups × 20 score values within 25 × of reading those
arrays once, at least 3,000 × faster than HiGHS on the reduced program, and 10 strata in under 0.1 ms once warm.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit
from scipy import sparse
from scipy.optimize import linprog

from fairbounds import Problem, Table
from fairbounds.bounding import bound_all
from fairbounds.extremes import forget
from fairbounds.kernels.closed_form import phi
from fairbounds.kernels.strata import StrataArrays

GROUPS, SCORES = 5, 20
CLAIMED_STRATA = 100_000  # the claims are about this size; smaller ones are printed for comparison


def made_up(n_strata: int, seed: int = 0) -> tuple[StrataArrays, np.ndarray]:
    """Return strata with unsorted scores, so that no order is given away."""
    rng = np.random.default_rng(seed)
    weight = rng.random((n_strata, SCORES))
    weight /= weight.sum(axis=1, keepdims=True)
    strata = StrataArrays(
        mass=np.full(n_strata, 1 / n_strata),
        shares=rng.dirichlet(np.ones(GROUPS), n_strata),
        side=np.zeros(n_strata, dtype=np.int64),
        offsets=np.arange(n_strata + 1) * SCORES,
        weight=weight.ravel(),
    )
    return strata, rng.random(n_strata * SCORES)


@njit(fastmath=True)
def read_once(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
    """Add up every number: what merely reading costs."""
    total = 0.0
    for x in a:
        total += x
    for x in b:
        total += x
    for x in c:
        total += x
    for x in d:
        total += x
    return total


def best(function: Callable[[], object], repeats: int = 15) -> float:
    """Return the least of several times, in seconds, after one call to warm up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def all_bounds(strata: StrataArrays, score: np.ndarray) -> np.ndarray:
    """Both ends of every group's rate, which give every difference and ratio."""
    low, high = phi(strata.offsets, score, strata.weight, strata.mass, strata.shares, strata.side, np.eye(GROUPS))
    mass = strata.certain_group_mass
    return np.stack([low / mass, high / mass])


def by_programs(strata: StrataArrays, score: np.ndarray) -> np.ndarray:
    """Solve the same by HiGHS: a knapsack per stratum, all strata in one program per group and end, on counts."""
    n = len(strata.mass)
    member = sparse.csr_array((np.ones(n * SCORES), (np.repeat(np.arange(n), SCORES), np.arange(n * SCORES))))
    atoms = 1e6 * strata.atom_mass
    ends = np.empty((2, GROUPS))
    for group in range(GROUPS):
        need = 1e6 * strata.mass * strata.shares[:, group]
        for end, sign in enumerate((1, -1)):
            answer = linprog(
                sign * score, A_eq=member, b_eq=need, bounds=np.stack([0 * atoms, atoms], axis=1), method="highs"
            )
            ends[end, group] = sign * answer.fun / need.sum()
    return ends


def ten_strata() -> Problem:
    """Return a problem of 10 strata as the library holds it."""
    rng = np.random.default_rng(1)
    jobs = [f"job {at}" for at in range(10)]
    cells = [(job, score / 20) for job in jobs for score in range(SCORES)]
    internal = Table.from_columns(
        {"job": [job for job, _ in cells], "score": [score for _, score in cells]}, rng.integers(1, 99, len(cells))
    )
    people = [(job, f"group {at}") for job in jobs for at in range(GROUPS)]
    external = Table.from_columns(
        {"job": [job for job, _ in people], "group": [group for _, group in people]}, rng.integers(1, 99, len(people))
    )
    return Problem.from_tables(internal, external, protected="group", score="score")


def main() -> None:
    """Print every ratio with the figures behind it."""
    strata, score = made_up(CLAIMED_STRATA)
    reading = best(lambda: read_once(strata.offsets, strata.weight, score, strata.shares.ravel()))
    bounding = best(lambda: all_bounds(strata, score))
    print(
        f"{CLAIMED_STRATA:,} strata × {GROUPS} groups × {SCORES} scores: "
        f"read {reading * 1e3:.2f} ms, bounds {bounding * 1e3:.2f} ms"
    )
    print(f"  ratio to reading: {bounding / reading:.1f} (claim: at most 25)")

    for n_strata in (1_000, 10_000, CLAIMED_STRATA):
        some, values = made_up(n_strata)
        start = time.perf_counter()
        solved = by_programs(some, values)
        solving = time.perf_counter() - start
        ours = best(lambda some=some, values=values: all_bounds(some, values))
        worst = np.abs(solved - all_bounds(some, values)).max()
        print(f"{n_strata:,} strata: HiGHS {solving:.2f} s, bounds {ours * 1e3:.3f} ms; largest difference {worst:.1e}")
        claim = " (claim: at least 3,000)" if n_strata == CLAIMED_STRATA else ""
        print(f"  ratio: {solving / ours:,.0f} × faster{claim}")

    problem = ten_strata()

    def afresh() -> None:
        forget(problem)
        bound_all(problem, "selection_rate")

    arrays = problem.strata
    kernel = best(lambda: all_bounds(arrays, problem.score), 200)
    whole = best(afresh, 200)
    print(
        f"10 strata: kernel {kernel * 1e6:.1f} µs, bound_all of every group {whole * 1e6:.1f} µs (claim: under 100 µs)"
    )


if __name__ == "__main__":
    main()
