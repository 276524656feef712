"""The walk: uniform, on the tables to the last digits, repeatable."""

import itertools

import numpy as np
import pytest
from scipy.stats import ks_2samp, kstest

from fairbounds.kernels.diagnostics import diagnose
from fairbounds.kernels.exact_means import exact_means
from fairbounds.kernels.walk import start, walk

ALMOST_NEVER = 1e-3


def seeds_of(seed, n_strata, lanes):
    return np.random.default_rng(seed).integers(0, 2**64, (n_strata, lanes), dtype=np.uint64)


def tables_of(seed, sizes, n_groups, concentration=1.0):
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.ones(len(sizes)))
    rows = np.concatenate([m * rng.dirichlet(np.full(n, concentration)) for m, n in zip(mass, sizes, strict=True)])
    columns = mass[:, None] * rng.dirichlet(np.full(n_groups, concentration), len(sizes))
    return np.concatenate([[0], np.cumsum(sizes)]), rows, columns


def drawn(tables, *, kept=1, thin=50, lanes=64, value=None, seed=0, kind="vertex"):
    _, rows, columns = tables
    value = np.ones((len(rows), 1)) if value is None else value
    state = start(*tables, seeds_of(seed, len(columns), lanes), kind)
    return walk(*tables, value, kept, thin, seeds_of(seed + 1, len(columns), lanes), state)


def one_stratum(rows, columns):
    return np.array([0, len(rows)]), np.array(rows), np.array([columns])


def misfit(tables, state):
    """Greatest relative distance from either table, and exactly 0 where the table has nothing."""
    offsets, rows, columns = tables
    pairs = [(state.sum(axis=1), rows[:, None])]
    for c, (first, last) in enumerate(itertools.pairwise(offsets)):
        pairs.append((state[first:last].sum(axis=0), columns[c][:, None]))
    worst = 0.0
    for sums, table in pairs:
        empty = np.broadcast_to(table == 0, sums.shape)
        assert not sums[empty].any()
        worst = max(worst, np.max(np.abs(sums - table)[~empty] / np.broadcast_to(table, sums.shape)[~empty], initial=0))
    return worst


def by_rejection(rows, columns, n, seed=0):
    """Uniform draws: fill all but the last row and column at random in a box, keep what fits."""
    rng = np.random.default_rng(seed)
    rows, columns = np.array(rows), np.array(columns)
    box = np.minimum(rows[:-1, None], columns[None, :-1])
    found = []
    while sum(map(len, found)) < n:
        inner = rng.random((200_000, *box.shape)) * box
        last_column = rows[:-1] - inner.sum(axis=2)
        last_row = columns[:-1] - inner.sum(axis=1)
        corner = rows[-1] - last_row.sum(axis=1)
        fits = (last_column >= 0).all(axis=1) & (last_row >= 0).all(axis=1) & (corner >= 0)
        whole = np.zeros((fits.sum(), len(rows), len(columns)))
        whole[:, :-1, :-1], whole[:, :-1, -1] = inner[fits], last_column[fits]
        whole[:, -1, :-1], whole[:, -1, -1] = last_row[fits], corner[fits]
        found.append(whole)
    return np.concatenate(found)[:n]


@pytest.mark.parametrize("kind", ["vertex", "independence"])
@pytest.mark.parametrize(("q", "r"), [(0.3, 0.6), (0.5, 0.5), (0.05, 0.9)])
def test_segment_is_uniform(q, r, kind):
    """Two cells and two groups: every sweep draws the segment between Fréchet's bounds afresh."""
    tables = one_stratum([q, 1 - q], [r, 1 - r])
    sums, _ = drawn(tables, kept=20, thin=1, lanes=1000, value=np.array([[1.0], [0.0]]), kind=kind)
    low, high = max(0, q + r - 1), min(q, r)
    at = (sums[:, :, 0, 0].ravel() - low) / (high - low)
    assert at.min() >= -1e-14
    assert at.max() <= 1 + 1e-14
    assert kstest(at, "uniform").pvalue > ALMOST_NEVER
    assert abs(np.corrcoef(at[:-1000], at[1000:])[0, 1]) < 0.03
    assert abs(np.corrcoef(at.reshape(20, 1000)[:, :-1].ravel(), at.reshape(20, 1000)[:, 1:].ravel())[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ([0.3, 0.7], [0.2, 0.5, 0.3]),
        ([0.2, 0.3, 0.5], [0.25, 0.35, 0.4]),
        ([0.1, 0.2, 0.7], [0.1, 0.1, 0.8]),
        ([0.15, 0.25, 0.6], [0.45, 0.55]),
    ],
)
def test_as_by_rejection(rows, columns):
    expected = by_rejection(rows, columns, 20_000)
    value = np.eye(len(rows))
    sums, _ = drawn(one_stratum(rows, columns), kept=10, thin=40, lanes=2000, value=value, seed=3)
    found = sums.reshape(-1, len(columns), len(rows)).transpose(0, 2, 1)
    rng = np.random.default_rng(0)
    functionals = [lambda m, i=i: m[:, i, 0] for i in range(len(rows))]
    weights = rng.standard_normal((3, len(rows), len(columns)))
    functionals += [lambda m, w=w: np.tensordot(m, w, 2) for w in weights]
    functionals += [
        lambda m: (m**2).sum(axis=(1, 2)),
        lambda m: m.min(axis=(1, 2)),
        lambda m: m[:, 0, 0] / m[:, :, 0].sum(axis=1) * m[:, 1, 1],
    ]
    for functional in functionals:
        assert ks_2samp(functional(found), functional(expected)).pvalue > ALMOST_NEVER


@pytest.mark.parametrize("n_strata", [1, 2, 6])
def test_exact_means(n_strata):
    tables = tables_of(n_strata, np.full(n_strata, 2), 2, concentration=3.0)
    _, rows, columns = tables
    value = np.tile([[1.0], [0.0]], (n_strata, 1))
    sums, _ = drawn(tables, kept=100, thin=1, lanes=1000, value=value)
    rates = sums[:, :, :, 0] / columns.sum(axis=0)
    exact = exact_means(rows.reshape(-1, 2), columns)
    for found, mean in (
        (rates[:, :, 0] - rates[:, :, 1], exact.difference),
        (rates[:, :, 0] / rates[:, :, 1], exact.ratio),
    ):
        assert abs(found.mean() - mean) < 4 * found.std() / np.sqrt(found.size)


@pytest.mark.parametrize("concentration", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("thin", [1, 7, 100])
def test_both_tables_to_the_last_digits(concentration, thin):
    tables = tables_of(5, [2, 9, 1, 20], 4, concentration)
    _, state = drawn(tables, kept=3, thin=thin)
    assert state.min() >= 0
    assert misfit(tables, state) < 1e-12


@pytest.mark.parametrize("thin", [1, 31])
def test_draws_between_two_scalings(thin):
    tables = tables_of(6, [3, 12], 3, concentration=0.3)
    sums, _ = drawn(tables, kept=70, thin=thin, value=np.eye(15))
    assert sums.min() >= 0
    for draw in sums:
        assert misfit(tables, draw.transpose(2, 1, 0)) < 1e-13


def test_rounding_does_not_add_up():
    tables = tables_of(6, [3, 12], 3, concentration=0.3)
    _, early = drawn(tables, kept=1, thin=100, lanes=8)
    _, late = drawn(tables, kept=1, thin=100_000, lanes=8)
    assert misfit(tables, early) < 1e-14
    assert misfit(tables, late) < 1e-14


def test_sums_are_those_of_the_matrices():
    tables = tables_of(7, [3, 1, 5], 3)
    value = np.random.default_rng(0).random((9, 2))
    value[::2, 1] = 0
    sums, state = drawn(tables, kept=4, thin=2, value=value)
    np.testing.assert_allclose(sums[-1], np.einsum("agl,af->lgf", state, value), rtol=1e-12)
    assert sums.shape == (4, 64, 3, 2)


def test_empty_cells_groups_and_strata():
    offsets = np.array([0, 3, 3, 5, 6, 8])
    rows = np.array([0.2, 0.0, 0.1, 0.0, 0.0, 0.3, 0.1, 0.3])
    columns = np.array([[0.1, 0.0, 0.2], [0, 0, 0], [0, 0, 0], [0.1, 0.1, 0.1], [0.0, 0.4, 0.0]])
    tables = offsets, rows, columns
    _, state = drawn(tables, thin=3)
    assert misfit(tables, state) < 1e-14
    np.testing.assert_allclose(state[5], np.full((3, 64), 0.1))
    assert not state[[1, 3, 4]].any()
    assert not state[:3, 1].any()


def test_single_group():
    tables = one_stratum([0.3, 0.7], [1.0])
    sums, state = drawn(tables, value=np.array([[1.0], [0.5]]))
    np.testing.assert_array_equal(state[:, 0, 0], [0.3, 0.7])
    np.testing.assert_allclose(sums, 0.65)


def test_vertices_differ():
    """A vertex has at most cells + groups − 1 entries; lanes begin at many."""
    tables = tables_of(8, [6, 6], 4)
    state = start(*tables, seeds_of(0, 2, 100), "vertex")
    assert misfit(tables, state) < 1e-12
    assert np.all((state.reshape(2, 24, 100) > 1e-15).sum(axis=1) <= 9)
    assert len(np.unique(state.reshape(48, 100).round(12), axis=1).T) > 90


def test_independence_start():
    tables = tables_of(8, [6, 2], 3)
    state = start(*tables, seeds_of(0, 2, 5), "independence")
    assert misfit(tables, state) < 1e-14
    _, rows, columns = tables
    np.testing.assert_allclose(state[:6, :, 3], np.outer(rows[:6], columns[0]) / columns[0].sum())


def test_same_seeds_same_bytes():
    tables = tables_of(9, [4, 7], 3)
    one, two, other = (drawn(tables, kept=3, seed=seed) for seed in (5, 5, 6))
    assert one[0].tobytes() == two[0].tobytes()
    assert one[1].tobytes() == two[1].tobytes()
    assert not np.any(one[1] == other[1])


def test_arguments_stay_as_they_are():
    tables = tables_of(9, [4, 7], 3)
    seeds = seeds_of(1, 2, 8)
    state = start(*tables, seeds)
    before = state.copy(), seeds.copy()
    walk(*tables, np.ones((11, 1)), 2, 2, seeds, state)
    np.testing.assert_array_equal(state, before[0])
    np.testing.assert_array_equal(seeds, before[1])


def test_order_of_strata_does_not_matter():
    sizes = np.array([4, 1, 7, 2])
    offsets, rows, columns = tables = tables_of(10, sizes, 3)
    begin, seeds = seeds_of(1, 4, 16), seeds_of(2, 4, 16)
    value = np.random.default_rng(0).random((14, 1))
    sums, state = walk(*tables, value, 3, 5, seeds, start(*tables, begin))
    order = np.array([2, 0, 3, 1])
    cells = np.concatenate([np.arange(offsets[c], offsets[c + 1]) for c in order])
    moved = np.concatenate([[0], np.cumsum(sizes[order])]), rows[cells], columns[order]
    other_sums, other_state = walk(*moved, value[cells], 3, 5, seeds[order], start(*moved, begin[order]))
    assert other_state.tobytes() == state[cells].tobytes()
    np.testing.assert_allclose(other_sums, sums, rtol=1e-13)
    alone = np.array([0, 7]), rows[5:12], columns[2:3]
    _, alone_state = walk(*alone, value[5:12], 3, 5, seeds[2:3], start(*alone, begin[2:3]))
    assert alone_state.tobytes() == state[5:12].tobytes()


def test_lanes_converge_from_vertices():
    tables = tables_of(11, [8, 15], 4)
    value = (np.random.default_rng(1).random((23, 1)) < 0.5).astype(float)
    sums, state = drawn(tables, kept=200, thin=4, lanes=16, value=value, seed=1)
    sums, _ = walk(*tables, value, 400, 8, seeds_of(9, 2, 16), state)
    found = diagnose(sums[:, :, :, 0].transpose(1, 0, 2))
    assert np.all(found.r_hat < 1.01)
    assert np.all(found.bulk_ess > 1000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": np.array([0.5, 0.4])}, "in stratum 0 the cells have mass 0.9"),
        ({"rows": np.array([1.5, -0.5])}, "at least 0"),
        ({"rows": np.array([np.nan, 0.5])}, "at least 0"),
        ({"offsets": np.array([0, 1])}, "offsets"),
        ({"seeds": np.zeros((2, 4), np.uint64)}, "seeds"),
        ({"state": np.zeros((2, 2, 5))}, "state"),
        ({"thin": 0}, "at least 1 sweep"),
    ],
)
def test_refused(change, message):
    offsets, rows, columns = one_stratum([0.5, 0.5], [0.4, 0.6])
    given = {"offsets": offsets, "rows": rows, "columns": columns, "value": np.ones((2, 1)), "kept": 1, "thin": 1}
    given |= {"seeds": np.zeros((1, 4), np.uint64), "state": np.zeros((2, 2, 4))}
    with pytest.raises(ValueError, match=message):
        walk(*(given | change).values())


def test_unknown_start():
    with pytest.raises(ValueError, match="unknown start"):
        start(*one_stratum([1.0], [1.0]), np.zeros((1, 1), np.uint64), "middle")
