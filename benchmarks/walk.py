"""The walk: nanoseconds a swap, and effective draws of the disparate impact a second against hopsy.

Claims (issue "The feasible set"): at least 1,500 × hopsy at 20 internal cells × 50 strata × 5 groups, and at least
100 × with 18 free parameters (here 2 strata × 4 cells × 4 groups). Both walk every stratum on its own and are timed
after burning in, on one thread; the time is that of the processor, which other programs disturb less. hopsy is tuned:
its coordinate walk with several thinnings, in coordinates that leave out the last cell and group, and in coordinates
chosen for it, which leave out the largest cell and group; the second is what makes it fast. Its plain and billiard
walks, and rounding, whose own time is not counted, are tried on one stratum of the small case only: in the large one
rounding takes some 10 s a stratum. The time is that of drawing alone, for fairbounds with the sums of favoured masses.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fairbounds.kernels.diagnostics import bulk_ess, r_hat
from fairbounds.kernels.walk import start, walk

LANES = 256


class How(NamedTuple):
    """How hopsy walks: `chosen` coordinates leave out the largest cell and group, others the last."""

    walker: str = "UniformCoordinateHitAndRunProposal"
    chosen: bool = True
    rounded: bool = False


class Case(NamedTuple):
    """Tables, and the decision in each internal cell."""

    offsets: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    value: np.ndarray

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What both kernels begin with."""
        return self.offsets, self.rows, self.columns

    @property
    def free(self) -> int:
        """Count the free entries."""
        return int((np.diff(self.offsets) - 1).sum()) * (self.columns.shape[1] - 1)

    def strata(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Give rows, columns and decisions of one stratum after the other."""
        for c, (first, last) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True)):
            yield self.rows[first:last], self.columns[c], self.value[first:last, 0]

    def impact(self, sums: np.ndarray) -> np.ndarray:
        """Rate of the first group over that of the second, from favourable masses, groups on the last axis."""
        mass = self.columns.sum(axis=0)
        return (sums[..., 0] / mass[0]) / (sums[..., 1] / mass[1])


def made_up(n_strata: int, n_cells: int, n_groups: int, seed: int = 0) -> Case:
    """Return tables with masses uniform on the simplex; every other cell is favoured."""
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.ones(n_strata))
    rows = mass[:, None] * rng.dirichlet(np.ones(n_cells), n_strata)
    columns = mass[:, None] * rng.dirichlet(np.ones(n_groups), n_strata)
    favoured = (np.arange(n_strata * n_cells) % 2 == 0).astype(float)
    return Case(np.arange(n_strata + 1) * n_cells, rows.ravel(), columns, favoured[:, None])


def effective(draws: np.ndarray) -> tuple[float, float]:
    """Return effective size and R̂ of draws of shape (chains, n)."""
    return float(bulk_ess(draws[:, :, None])[0]), float(r_hat(draws[:, :, None])[0])


def ours(case: Case, kept: int, thin: int) -> tuple[float, float, np.ndarray]:
    """Return effective draws a second, R̂, and the draws of the ratio."""
    rng = np.random.default_rng(1)

    def seeds() -> np.ndarray:
        return rng.integers(0, 2**64, (len(case.columns), LANES), dtype=np.uint64)

    _, state = walk(*case.tables, case.value, 1, 500, seeds(), start(*case.tables, seeds()))
    fresh = seeds()
    begin = time.process_time()
    sums, _ = walk(*case.tables, case.value, kept, thin, fresh, state)
    elapsed = time.process_time() - begin
    draws = case.impact(sums[..., 0]).T
    size, spread = effective(draws)
    return size / elapsed, spread, draws


def nanoseconds(case: Case, thin: int = 200) -> float:
    """Time one swap of one lane."""
    seeds = np.random.default_rng(1).integers(0, 2**64, (len(case.columns), LANES), dtype=np.uint64)
    state = start(*case.tables, seeds)
    times = []
    for _ in range(5):
        begin = time.process_time()
        walk(*case.tables, case.value, 1, thin, seeds, state)
        times.append(time.process_time() - begin)
    return min(times) / (thin * LANES * case.free) * 1e9


def polytope(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write a transportation polytope as A x ≤ b in all entries but those of the last cell and the last group."""
    n, groups = len(rows) - 1, len(columns) - 1
    of_row = np.repeat(np.eye(n), groups, axis=1)
    of_column = np.tile(np.eye(groups), n)
    lower = np.vstack([-np.eye(n * groups), of_row, of_column, -np.ones((1, n * groups))])
    limit = np.concatenate([np.zeros(n * groups), rows[:-1], columns[:-1], [rows[-1] - columns[:-1].sum()]])
    return lower, limit, np.outer(rows[:-1], columns[:-1]).ravel() / columns.sum()


def favoured_mass(found: np.ndarray, rows: np.ndarray, columns: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Σ value · matrix per group, the entries left out filled in; found has shape (chains, n, free entries)."""
    inner = found.reshape(*found.shape[:2], len(rows) - 1, len(columns) - 1)
    most = np.einsum("knig,i->kng", inner, value[:-1]) + value[-1] * (columns[:-1] - inner.sum(axis=2))
    return np.concatenate([most, (value @ rows) - most.sum(axis=2, keepdims=True)], axis=2)


def hopsy_stratum(
    rows: np.ndarray, columns: np.ndarray, value: np.ndarray, kept: int, thin: int, how: How, seed: int
) -> tuple[np.ndarray, float]:
    """Return favoured masses per group, shape (chains, kept, G), and the seconds of sampling."""
    import hopsy

    by_row, by_column = np.arange(len(rows)), np.arange(len(columns))
    if how.chosen:
        by_row, by_column = np.argsort(rows), np.argsort(columns)
    rows, columns, value = rows[by_row], columns[by_column], value[by_row]
    scale = rows.sum()
    a, b, inside = polytope(rows / scale, columns / scale)
    problem = hopsy.Problem(a, b)
    if how.rounded:
        problem, inside = hopsy.round(problem), None
    chains = [hopsy.MarkovChain(problem, getattr(hopsy, how.walker), starting_point=inside) for _ in range(4)]
    generators = [hopsy.RandomNumberGenerator(seed, k) for k in range(4)]
    hopsy.sample(chains, generators, n_samples=max(1, 3000 // thin), thinning=thin, n_threads=1)
    begin = time.process_time()
    _, found = hopsy.sample(chains, generators, n_samples=kept, thinning=thin, n_threads=1)
    elapsed = time.process_time() - begin
    masses = favoured_mass(found * scale, rows, columns, value)
    return masses[:, :, np.argsort(by_column)], elapsed


def theirs(case: Case, kept: int, thin: int, how: How) -> tuple[float, float, np.ndarray]:
    """Return effective draws a second of hopsy, R̂, and the draws of the ratio."""
    total, elapsed = np.zeros((4, kept, case.columns.shape[1])), 0.0
    for c, (rows, columns, value) in enumerate(case.strata()):  # equal seeds would tie the strata to each other
        masses, seconds = hopsy_stratum(rows, columns, value, kept, thin, how, seed=c)
        total += masses
        elapsed += seconds
    draws = case.impact(total)
    size, spread = effective(draws)
    return size / elapsed, spread, draws


def alternatives(case: Case, thin: int) -> None:
    """Say what else hopsy could do: effective draws a second of one group's favoured mass in the first stratum."""
    rows, columns, value = next(case.strata())
    for how in (How(), How(rounded=True), How(walker="UniformHitAndRunProposal"), How(walker="BilliardWalkProposal")):
        masses, seconds = hopsy_stratum(rows, columns, value, 2000, thin, how, seed=0)
        size, spread = effective(masses[:, :, 0])
        name = f"{how.walker}, {'rounded' if how.rounded else 'as it is'}"
        print(f"  one stratum, {name}: {size / seconds:,.0f} effective/s (R̂ {spread:.3f})")


def compare(name: str, case: Case, thinnings: tuple[int, ...], kept: int, claim: int) -> None:
    """Print the best of both and their ratio."""
    print(f"{name}, {case.free} free entries: {nanoseconds(case):.2f} ns a swap and lane")
    mine = [(*ours(case, 1000, thin), thin) for thin in (1, 2, 4, 8)]
    for speed, spread, _, thin in mine:
        print(f"  fairbounds, thin {thin}: {speed:,.0f} effective/s (R̂ {spread:.4f})")
    best = max(mine, key=lambda row: row[0])
    _say("fairbounds", best[2])
    for how in (How(), How(chosen=False)):
        coordinates = "chosen" if how.chosen else "given"
        found = [(*theirs(case, kept, thin, how), thin) for thin in thinnings]
        for speed, spread, _, thin in found:
            print(f"  hopsy, {coordinates} coordinates, thin {thin}: {speed:,.0f} effective/s (R̂ {spread:.4f})")
        other = max(found, key=lambda row: row[0])
        _say(f"hopsy, {coordinates} coordinates", other[2])
        print(
            f"  ratio, {coordinates} coordinates: {best[0] / other[0]:,.0f} × (claim: at least {claim:,})", flush=True
        )


def _say(who: str, draws: np.ndarray) -> None:
    low, middle, high = np.quantile(draws, [0.05, 0.5, 0.95])
    print(f"  {who}: mean {draws.mean():.4f}; 5 %, 50 %, 95 %: {low:.4f}, {middle:.4f}, {high:.4f}")


def main() -> None:
    """Print every ratio with the figures behind it."""
    warnings.simplefilter("ignore")
    small = made_up(2, 4, 4)
    compare("2 strata × 4 cells × 4 groups", small, (5, 10, 20), 20_000, 100)
    alternatives(small, 10)
    compare("50 strata × 20 cells × 5 groups", made_up(50, 20, 5), (20, 40, 80), 1_000, 1_500)


if __name__ == "__main__":
    main()
