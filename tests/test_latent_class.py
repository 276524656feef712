"""The latent class kernel against a literal transcription of the model, closed forms and planted parameters."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from fairbounds.errors import ProblemError, SolverError
from fairbounds.kernels import latent_class
from fairbounds.kernels.latent_class import Fits, Step, em_step, fit
from fairbounds.kernels.latent_em import CHUNK, LANES, SAFE
from fairbounds.kernels.squarem import advance, begin, new_track


class Pair(NamedTuple):
    """Two tables that share some variables, in the order of the kernel's arguments."""

    internal_codes: np.ndarray
    internal_counts: np.ndarray
    external_codes: np.ndarray
    external_counts: np.ndarray
    sizes: np.ndarray
    internal_columns: np.ndarray
    external_columns: np.ndarray

    @property
    def sides(self) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]:
        return (
            (self.internal_codes, self.internal_counts, self.internal_columns),
            (self.external_codes, self.external_counts, self.external_columns),
        )


def random_pair(seed: int, rows: int = 30, sizes: tuple[int, ...] = (3, 2, 4, 2, 3)) -> Pair:
    """Return rows that have nothing to do with any class, with repeats and counts that are not whole."""
    rng = np.random.default_rng(seed)
    inside, outside = np.arange(len(sizes) - 2), np.arange(1, len(sizes))[::-1]
    codes = rng.integers(0, sizes, (2, rows, len(sizes)))
    codes[:, : max(sizes)] = np.arange(max(sizes))[:, None] % np.array(sizes)  # every level is seen
    counts = rng.gamma(1.0, 3.0, (2, rows))
    return Pair(codes[0][:, inside], counts[0], codes[1][:, outside], counts[1], np.array(sizes), inside, outside)


def random_model(sizes: np.ndarray, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.ones(size), classes) for size in sizes]
    return rng.dirichlet(np.ones(classes)), np.concatenate(tables, axis=1)


def starts_of(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)])


def literal_step(pair: Pair, weights: np.ndarray, tables: np.ndarray) -> Step:
    """Appendix C in plain loops: responsibilities in logarithms, expected counts, normalisation."""
    offsets, classes = starts_of(pair.sizes), len(weights)
    mass = [0.0] * classes
    counted = [[0.0] * tables.shape[1] for _ in range(classes)]
    likelihood = 0.0
    for codes, counts, columns in pair.sides:
        for row, n in zip(codes, counts, strict=True):
            places = [int(offsets[v]) + int(level) for v, level in zip(columns, row, strict=True)]
            logs = [math.log(weights[z]) + math.fsum(math.log(tables[z, p]) for p in places) for z in range(classes)]
            top = max(logs)
            log_p = top + math.log(math.fsum(math.exp(value - top) for value in logs))
            likelihood += n * log_p
            for z in range(classes):
                expected = n * math.exp(logs[z] - log_p)
                mass[z] += expected
                for p in places:
                    counted[z][p] += expected
    moved = np.array(counted)
    for low, high in itertools.pairwise(offsets):
        moved[:, low:high] /= moved[:, low:high].sum(axis=1, keepdims=True)
    return Step(np.array(mass) / sum(mass), moved, likelihood)


def assert_same_step(found: Step, expected: Step, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(found.class_weights, expected.class_weights, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.tables, expected.tables, rtol=0, atol=tolerance)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("classes", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_the_formula(classes: int, seed: int) -> None:
    pair = random_pair(seed)
    model = random_model(pair.sizes, classes, seed + 100)
    assert_same_step(em_step(*pair, *model), literal_step(pair, *model))


def test_a_step_over_more_rows_than_fit_in_a_chunk() -> None:
    pair = random_pair(1, rows=4 * CHUNK, sizes=(7, 6, 5, 8, 9))
    model = random_model(pair.sizes, 3, 2)
    assert_same_step(em_step(*pair, *model), literal_step(pair, *model))


@pytest.mark.parametrize(
    ("rows", "variables", "levels", "extreme"), [(60, 300, 2, 1.0), (60, 40, 50, 1.0), (CHUNK + 40, 100, 3, 12.0)]
)
def test_a_step_where_products_leave_the_range_of_floats(
    rows: int, variables: int, levels: int, extreme: float
) -> None:
    pair = random_pair(3, rows, (levels,) * variables)
    weights, tables = random_model(pair.sizes, 3, 4)
    tables = np.concatenate([part**extreme for part in np.split(tables, starts_of(pair.sizes)[1:-1], axis=1)], axis=1)
    for low, high in itertools.pairwise(starts_of(pair.sizes)):
        tables[:, low:high] /= tables[:, low:high].sum(axis=1, keepdims=True)
    expected = literal_step(pair, weights, tables)
    assert expected.log_likelihood / (pair.internal_counts.sum() + pair.external_counts.sum()) < -np.log(SAFE) / 2
    assert_same_step(em_step(*pair, weights, tables), expected, tolerance=1e-11)


def test_a_step_where_rows_of_rare_levels_only_would_overflow() -> None:
    pair = random_pair(3, 20, (2,) * 150)
    pair.internal_codes[2:], pair.external_codes[2:] = 0, 0
    pair.internal_codes[1], pair.external_codes[1] = 1, 1
    pair.internal_counts[1], pair.external_counts[1] = 1e-5, 1e-6
    model = random_model(pair.sizes, 3, 5)
    assert_same_step(em_step(*pair, *model), literal_step(pair, *model))


def test_rows_may_be_split_merged_and_reordered_and_tables_weighted() -> None:
    pair, shuffled = random_pair(5), np.random.default_rng(0).permutation(90)
    model = random_model(pair.sizes, 2, 6)
    codes, counts = np.tile(pair.internal_codes, (3, 1)), np.tile(pair.internal_counts / 2, 3)
    counts[60:] = 0.0
    split = pair._replace(internal_codes=codes[shuffled], internal_counts=counts[shuffled])
    assert_same_step(em_step(*split, *model), em_step(*pair, *model))
    heavy = pair._replace(external_counts=7 * pair.external_counts, internal_counts=0.5 * pair.internal_counts)
    assert_same_step(
        em_step(*pair, *model, internal_weight=0.5, external_weight=7.0), literal_step(heavy, *model), tolerance=1e-12
    )


def test_a_class_that_has_died_out_keeps_its_tables() -> None:
    pair = random_pair(7)
    weights, tables = random_model(pair.sizes, 3, 8)
    weights[:] = 0.25, 0.0, 0.75
    found = em_step(*pair, weights, tables)
    np.testing.assert_array_equal(found.tables[1], tables[1])
    assert found.class_weights[1] == 0.0
    assert np.isfinite(found.tables).all()


def test_a_row_that_the_model_holds_for_impossible_counts_for_no_class() -> None:
    pair = random_pair(9)
    weights, tables = random_model(pair.sizes, 2, 9)
    tables[:, :3] = [0.0, 0.5, 0.5], [0.0, 1.0, 0.0]
    found = em_step(*pair, weights, tables)
    assert found.log_likelihood == -np.inf
    possible = pair._replace(internal_counts=np.where(pair.internal_codes[:, 0] == 0, 0.0, pair.internal_counts))
    expected = em_step(*possible, weights, tables)
    assert np.isfinite(expected.log_likelihood)
    assert_same_step(found._replace(log_likelihood=expected.log_likelihood), expected)


@pytest.mark.parametrize("seed", range(6))
def test_the_likelihood_of_plain_steps_never_falls(seed: int) -> None:
    pair = random_pair(seed, rows=60)
    weights, tables = random_model(pair.sizes, 4, seed)
    reached = []
    for _ in range(100):
        weights, tables, value = em_step(*pair, weights, tables)
        reached.append(value)
    assert np.diff(reached).min() > -1e-9
    assert reached[-1] > reached[0] + 1.0


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_more_iterations_are_never_worse(accelerate: bool, seed: int) -> None:
    pair = random_pair(seed, rows=60)

    def after(most: int) -> np.ndarray:
        found = fit(*pair, 4, np.random.default_rng(seed), 5, 0.0, most, accelerate=accelerate)
        assert (found.iterations <= most).all()
        checked = [likelihood(pair, found, start) for start in range(5)]
        np.testing.assert_allclose(found.log_likelihood, checked, rtol=1e-12)
        return found.log_likelihood

    reached = np.array([after(most) for most in (*range(1, 20), 40, 80, 160)])
    assert np.diff(reached, axis=0).min() > -1e-9
    assert (reached[-1] > reached[0] + 1.0).all()


def likelihood(pair: Pair, fits: Fits, start: int) -> float:
    return sum(latent_class.log_likelihood(fits, start, *side) for side in pair.sides)


def test_the_size_of_the_pieces_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit(*random_pair(0), 3, np.random.default_rng(0), 20)
    monkeypatch.setattr(latent_class, "_PIECE", 0.0)
    parts: list[float] = []
    pieces = fit(*random_pair(0), 3, np.random.default_rng(0), 20, told=parts.append)
    assert np.array_equal(whole.tables, pieces.tables)
    assert np.array_equal(whole.iterations, pieces.iterations)
    assert len(parts) > 100
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_a_fit_can_be_broken_off() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(*random_pair(0), 3, np.random.default_rng(0), 20, told=interrupt)


def test_a_fall_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    track, point, image = new_track(2, LANES), np.full((2, LANES), 0.5), np.full((2, LANES), 0.5)
    begin(track, 3)
    values = [-10.0, -11.0]
    gains = [advance(track, 3, value, point, image, np.zeros(2, np.int64), True)[1] for value in values]
    assert gains == [np.inf, -1.0]

    monkeypatch.setattr(latent_class, "climb", lambda *_: (True, 0.25))
    with pytest.raises(SolverError, match=r"fell by 0\.25"):
        fit(*random_pair(0), 2, np.random.default_rng(0), 1)


def test_a_trial_that_lowers_the_value_is_undone() -> None:
    simplex = np.zeros(2, np.int64)
    track = new_track(2, LANES)
    begin(track, 0)
    track.longest[0] = 4.0
    point, image = np.zeros((2, LANES)), np.zeros((2, LANES))
    point[:, 0], image[:, 0] = (0.9, 0.1), (0.8, 0.2)
    assert advance(track, 0, -5.0, point, image, simplex, True) == (True, np.inf)
    np.testing.assert_array_equal(point[:, 0], [0.8, 0.2])
    image[:, 0] = 0.72, 0.28
    advance(track, 0, -4.0, point, image, simplex, True)
    # r = ∓0.1, v = ±0.02: the ratio 5 is cut to 4, and 0.9 − 0.8 + 0.32 = 0.42.
    np.testing.assert_allclose(point[:, 0], [0.42, 0.58])
    assert advance(track, 0, -4.5, point, image, simplex, True)[0] is False
    np.testing.assert_array_equal(point[:, 0], [0.72, 0.28])
    assert track.value[0] == -4.0


def test_steps_lengthen_when_they_hold_and_never_reach_zero() -> None:
    simplex = np.zeros(2, np.int64)
    track = new_track(2, LANES)
    begin(track, 0)
    point, image = np.zeros((2, LANES)), np.zeros((2, LANES))
    point[:, 0], image[:, 0] = (0.5, 0.5), (0.9, 0.1)
    for value in (-9.0, -8.0):
        advance(track, 0, value, point, image, simplex, True)
        image[:, 0] = 0.98, 0.02
    np.testing.assert_array_equal(point[:, 0], [0.98, 0.02])  # the first cycle takes x2 as it is
    assert track.longest[0] == 4.0

    point[:, 0], image[:, 0] = (0.5, 0.5), (0.9, 0.1)
    for value in (-7.0, -6.0):
        advance(track, 0, value, point, image, simplex, True)
        image[:, 0] = 0.99, 0.01
    # r = ±0.4, v = ∓0.31: the second would be 0.5 − 0.4²/0.31 < 0; a tenth of x2 is left, and the sum scaled to 1.
    first = 0.5 + 0.4**2 / 0.31
    np.testing.assert_allclose(point[:, 0], [first / (first + 0.001), 0.001 / (first + 0.001)])
    advance(track, 0, -6.5, point, image, simplex, True)
    assert track.longest[0] == 1.0


def drawn(seed: int, classes: int, rows: int, apart: float = 0.7) -> tuple[Pair, np.ndarray, np.ndarray]:
    """Draw people from a latent class model ; the tables share two variables."""
    rng = np.random.default_rng(seed)
    sizes = np.array([3, 3, 4, 3, 3, 4])
    weights = np.array([0.5, 0.3, 0.2])[:classes] / np.array([0.5, 0.3, 0.2])[:classes].sum()
    peaks = [apart * np.eye(size)[(np.arange(classes) + v) % size] for v, size in enumerate(sizes)]
    parts = [peak + (1 - apart) * rng.dirichlet(np.ones(peak.shape[1]), classes) for peak in peaks]
    z = rng.choice(classes, rows, p=weights)
    codes = np.stack([(rng.random(rows)[:, None] > np.cumsum(part, axis=1)[z]).sum(axis=1) for part in parts], axis=1)
    inside, outside = np.array([0, 1, 2, 3]), np.array([2, 3, 4, 5])
    half = rows // 2
    internal, n = np.unique(codes[:half][:, inside], axis=0, return_counts=True)
    external, m = np.unique(codes[half:][:, outside], axis=0, return_counts=True)
    return Pair(internal, n, external, m, sizes, inside, outside), weights, np.concatenate(parts, axis=1)


@pytest.mark.parametrize("classes", [2, 3])
def test_planted_parameters_are_found(classes: int) -> None:
    pair, weights, tables = drawn(11, classes, 400_000)
    found = fit(*pair, classes, np.random.default_rng(1), 8)
    best = int(found.log_likelihood.argmax())
    relabelled = min(
        itertools.permutations(range(classes)),
        key=lambda order: float(np.abs(found.tables[best][list(order)] - tables).max()),
    )
    np.testing.assert_allclose(found.tables[best][list(relabelled)], tables, atol=0.015)
    np.testing.assert_allclose(found.class_weights[best][list(relabelled)], weights, atol=0.015)
    assert found.converged.all()


def test_bic_chooses_the_planted_number_of_classes() -> None:
    pair, _, _ = drawn(12, 3, 20_000)
    criteria = []
    for classes in (1, 2, 3, 4, 5):
        found = fit(*pair, classes, np.random.default_rng(2), 8)
        parameters = latent_class.n_parameters(pair.sizes, classes)
        criteria.append(latent_class.bic(float(found.log_likelihood.max()), parameters, 20_000))
    assert int(np.argmin(criteria)) == 2


def test_parameters_and_bic_by_hand() -> None:
    assert latent_class.n_parameters(np.array([2, 3, 4]), 1) == 6
    assert latent_class.n_parameters(np.array([2, 3, 4]), 5) == 4 + 5 * 6
    assert latent_class.bic(-100.0, 7, math.e**2) == pytest.approx(200 + 14)


@pytest.mark.parametrize("seed", range(3))
def test_acceleration_ends_where_plain_steps_end_and_sooner(seed: int) -> None:
    pair, _, _ = drawn(seed, 3, 5_000, apart=0.4)
    plain, fast = (
        fit(*pair, 3, np.random.default_rng(seed), 10, 1e-13, 50_000, accelerate=accelerate)
        for accelerate in (False, True)
    )
    assert plain.converged.all()
    assert fast.converged.all()
    assert fast.log_likelihood.max() == pytest.approx(plain.log_likelihood.max(), rel=1e-9)
    assert np.isclose(fast.log_likelihood, plain.log_likelihood, rtol=1e-8).mean() >= 0.7
    assert 2 * fast.iterations.sum() < plain.iterations.sum()


def test_one_class_is_independence() -> None:
    pair = random_pair(21)
    found = fit(*pair, 1, np.random.default_rng(0), 3)
    expected = []
    for v, size in enumerate(pair.sizes):
        seen = np.zeros(size)
        for codes, counts, columns in pair.sides:
            for column in np.flatnonzero(columns == v):
                np.add.at(seen, codes[:, column], counts)
        expected.append(seen / seen.sum())
    frequencies = np.concatenate(expected)
    np.testing.assert_allclose(found.tables, np.tile(frequencies, (3, 1, 1)), rtol=1e-12)
    np.testing.assert_array_equal(found.class_weights, np.ones((3, 1)))
    offsets = starts_of(pair.sizes)
    by_hand = [
        counts @ np.log(frequencies[codes + offsets[columns]]).sum(axis=1) for codes, counts, columns in pair.sides
    ]
    np.testing.assert_allclose(found.log_likelihood, sum(by_hand), rtol=1e-12)


def test_levels_that_nobody_has_keep_probability_zero() -> None:
    pair = random_pair(22)
    sizes = pair.sizes + np.array([2, 0, 1, 3, 0])
    found = fit(*pair._replace(sizes=sizes), 3, np.random.default_rng(0), 9)
    offsets = found.offsets
    assert offsets.tolist() == starts_of(sizes).tolist()
    for v, size in enumerate(pair.sizes):
        assert (found.tables[:, :, offsets[v] + size : offsets[v + 1]] == 0.0).all()
        np.testing.assert_allclose(found.tables[:, :, offsets[v] : offsets[v + 1]].sum(axis=2), 1.0, rtol=1e-12)
    assert np.isfinite(found.tables).all()
    assert np.isfinite(found.log_likelihood).all()
    first_step = fit(*pair._replace(sizes=sizes), 3, np.random.default_rng(0), 2, most=1)
    assert (first_step.tables[:, :, pair.sizes[0] : offsets[1]] == 0.0).all()

    nobody = np.append(pair.internal_codes, [[pair.sizes[0] + 1, 0, 0]], axis=0)
    padded = pair._replace(sizes=sizes, internal_codes=nobody, internal_counts=np.append(pair.internal_counts, 0.0))
    assert as_bytes(fit(*padded, 3, np.random.default_rng(0), 9)) == as_bytes(found)

    unseen, seen = np.array([[pair.sizes[0], 0]]), np.array([[0, 0]])
    columns = np.array([0, 1])
    assert latent_class.log_likelihood(found, 0, unseen, np.ones(1), columns) == -np.inf
    assert latent_class.log_likelihood(found, 0, np.concatenate([unseen, seen]), np.array([0.0, 1.0]), columns) > -50
    assert latent_class.cell_probability(found, 0, unseen, columns)[0] == 0.0
    assert np.isnan(latent_class.class_posterior(found, 0, unseen, columns)).all()


def as_bytes(fits: Fits) -> list[bytes]:
    return [np.asarray(part).tobytes() for part in fits]


def test_the_same_generator_gives_the_same_bytes() -> None:
    pair = random_pair(23)
    first, again, other = (fit(*pair, 3, np.random.default_rng(seed), 11) for seed in (4, 4, 5))
    assert as_bytes(first) == as_bytes(again)
    assert as_bytes(first) != as_bytes(other)


def test_a_start_does_not_depend_on_its_neighbours() -> None:
    pair, rng = random_pair(24, rows=80), np.random.default_rng
    alone, among = fit(*pair, 3, rng(6), 3), fit(*pair, 3, rng(6), 3 * LANES + 1)
    np.testing.assert_allclose(among.log_likelihood[:3], alone.log_likelihood, rtol=1e-9)
    np.testing.assert_allclose(among.tables[:3], alone.tables, atol=1e-4)
    assert among.converged.all()
    assert len(set(np.round(among.tables[:, 0, 0], 9))) > LANES
    checked = [likelihood(pair, among, start) for start in range(3 * LANES + 1)]
    np.testing.assert_allclose(among.log_likelihood, checked, rtol=1e-12)


def test_a_start_that_is_cut_short_says_so() -> None:
    found = fit(*random_pair(25), 3, np.random.default_rng(0), 10, 1e-15, 7)
    assert found.iterations.tolist() == [7] * 10
    assert not found.converged.any()


def test_probabilities_of_cells_and_classes_are_sums_over_the_joint() -> None:
    pair = random_pair(26)
    found = fit(*pair, 3, np.random.default_rng(0), 4)
    start, columns = 2, np.array([4, 0, 3])
    weights, tables, offsets = found.class_weights[start], found.tables[start], found.offsets
    cells = np.array(list(itertools.product(*(range(pair.sizes[v]) for v in columns))))
    cell_given_class = np.array(
        [
            [math.prod(tables[z, offsets[v] + x] for v, x in zip(columns, cell, strict=True)) for z in range(3)]
            for cell in cells
        ]
    )
    probability = latent_class.cell_probability(found, start, cells, columns)
    np.testing.assert_allclose(probability, cell_given_class @ weights, rtol=1e-12)
    assert probability.sum() == pytest.approx(1.0, rel=1e-12)
    posterior = latent_class.class_posterior(found, start, cells, columns)
    np.testing.assert_allclose(posterior, cell_given_class * weights / probability[:, None], rtol=1e-10)
    counts = np.arange(len(cells), dtype=float)
    held_out = latent_class.log_likelihood(found, start, cells, counts, columns)
    assert held_out == pytest.approx(float(counts @ np.log(probability)), rel=1e-12)


def test_one_table_may_be_empty_or_see_nothing_else() -> None:
    pair = random_pair(27)
    nothing: Any = np.zeros(0, np.int64)
    whole = pair._replace(
        internal_columns=np.arange(3), external_codes=np.zeros((0, 0), np.int64), external_counts=nothing,
        external_columns=nothing, sizes=pair.sizes[:3],
    )  # fmt: skip
    model = random_model(whole.sizes, 2, 0)
    assert_same_step(em_step(*whole, *model), literal_step(whole, *model))
    assert fit(*whole, 2, np.random.default_rng(0), 3).converged.all()


def test_codes_and_columns_that_make_no_model_are_refused() -> None:
    pair = random_pair(28)
    rng = np.random.default_rng(0)
    for wrong in (-1, int(pair.sizes[pair.external_columns[1]])):
        codes = pair.external_codes.copy()
        codes[4, 1] = wrong
        with pytest.raises(ProblemError, match="code"):
            fit(*pair._replace(external_codes=codes), 2, rng)
    with pytest.raises(ProblemError, match="variable 5"):
        fit(*pair._replace(sizes=np.append(pair.sizes, 2)), 2, rng)
