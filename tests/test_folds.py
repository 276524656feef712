"""Halves of counts: they add up, and every choice of rows is equally likely."""

import itertools

import numpy as np
import pytest
from scipy.stats import chisquare, hypergeom, multivariate_hypergeom

from fairbounds.kernels.folds import first_halves

ALMOST_NEVER = 1e-3


def seeds(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def test_halves_add_up_in_every_stratum():
    rng = np.random.default_rng(1)
    offsets = np.array([0, 3, 3, 4, 9, 12])
    counts = rng.poisson(rng.choice([0.3, 5, 200], 12)).astype(float)
    halves = first_halves(offsets, counts, seeds(500))
    assert np.all(halves >= 0)
    assert np.all(halves <= counts)
    assert np.all(halves == np.round(halves))
    for first, last in itertools.pairwise(offsets):
        size, got = counts[first:last].sum(), halves[:, first:last].sum(axis=1)
        assert set(got) == ({size // 2, size // 2 + 1} if size % 2 else {size / 2})


@pytest.mark.parametrize("counts", [(3, 2, 1), (1, 1, 4, 2), (6, 0, 2)])
def test_every_choice_of_rows_is_equally_likely(counts):
    """Against the exact probabilities of the multivariate hypergeometric distribution."""
    drawn = first_halves(np.array([0, len(counts)]), np.array(counts, dtype=float), seeds(40_000)).astype(int)
    kinds, often = np.unique(drawn, axis=0, return_counts=True)
    chances = multivariate_hypergeom.pmf(kinds, m=list(counts), n=sum(counts) // 2)
    assert chances.sum() == pytest.approx(1)
    assert chisquare(often, chances * len(drawn)).pvalue > ALMOST_NEVER


def test_odd_rows_go_either_way():
    drawn = first_halves(np.array([0, 2]), np.array([2.0, 1.0]), seeds(40_000))
    kinds, often = np.unique(drawn, axis=0, return_counts=True)
    chances = [
        (multivariate_hypergeom.pmf(kind, m=[2, 1], n=1) + multivariate_hypergeom.pmf(kind, m=[2, 1], n=2)) / 2
        for kind in kinds.astype(int)
    ]
    assert chisquare(often, np.array(chances) * len(drawn)).pvalue > ALMOST_NEVER


def test_counts_beyond_a_word_of_coins():
    drawn = first_halves(np.array([0, 2]), np.array([1000.0, 3000.0]), seeds(20_000))[:, 0]
    exact = hypergeom(4000, 1000, 2000)
    assert drawn.mean() == pytest.approx(exact.mean(), abs=5 * exact.std() / np.sqrt(len(drawn)))
    assert drawn.var() == pytest.approx(exact.var(), rel=0.05)


def test_a_fraction_stays_whole():
    drawn = first_halves(np.array([0, 2]), np.array([2.75, 2.0]), seeds(2_000))
    assert set((drawn[:, 0] % 1).tolist()) == {0.0, 0.75}
    assert drawn.mean(axis=0) == pytest.approx([1.375, 1.0], abs=0.06)


def test_rounding_is_no_fraction():
    drawn = first_halves(np.array([0, 2]), np.array([3.0 - 1e-12, 1.0]), seeds(200))
    assert set(drawn.sum(axis=1).tolist()) == {2.0}


def test_a_seed_gives_the_same_halves_whatever_its_company():
    offsets, counts = np.array([0, 4]), np.array([5.0, 9.0, 2.0, 4.0])
    many = first_halves(offsets, counts, seeds(5))
    np.testing.assert_array_equal(first_halves(offsets, counts, seeds(5)[3:4])[0], many[3])
    assert len(np.unique(many, axis=0)) > 1


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_counts_are_counts(bad):
    with pytest.raises(ValueError, match="at least 0"):
        first_halves(np.array([0, 2]), np.array([1.0, bad]), seeds(1))
