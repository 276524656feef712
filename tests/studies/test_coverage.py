"""The coverage study, reduced: fixed seeds, so that it fails if coverage falls; its truth against linear programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from fairbounds.studies.coverage import LEVELS, Coverage, Study, coverage_study
from fairbounds.studies.coverage_designs import DESIGNS, Asked, Design, draw
from fairbounds.studies.coverage_report import SLACK, main, page, shortfalls

# The quickest of each kind: tied, internal population, census, weighted, households, conditional, five groups.
REDUCED = [DESIGNS[at] for at in (1, 3, 10, 11, 12, 13, 14, 16)]
TABLES = 300


@pytest.fixture(scope="module")
def study() -> Study:
    return coverage_study(TABLES, 7, REDUCED, ("cross-fitted", "median of splits", "bootstrap"), workers=1)


@pytest.mark.parametrize("method", ["cross-fitted", "median of splits"])
def test_intervals_hold_the_truth_as_often_as_they_say(study: Study, method: str) -> None:
    assert len(study.of(method)) == len(LEVELS) * sum(len(design.asked) for design in REDUCED)  # type: ignore[arg-type]
    assert shortfalls(study, method) == []  # type: ignore[arg-type]


def test_the_bootstrap_does_not(study: Study) -> None:
    tied = [found for found in study.of("bootstrap") if found.design.ties == "all tied" and found.design.strata >= 10]
    assert tied
    assert max(found.metric - found.level for found in tied) < -0.25
    assert min(found.metric for found in tied) < 0.05


def test_intervals_are_little_wider_than_those_of_an_oracle(study: Study) -> None:
    excess = [found.width / found.oracle for found in study.of("cross-fitted") if found.asked.form == "difference"]
    assert min(excess) > 0.98
    assert np.mean(excess) < 1.06
    assert max(excess) < 1.12


def test_the_median_rule_is_wider(study: Study) -> None:
    pairs = list(zip(study.of("cross-fitted"), study.of("median of splits"), strict=True))
    wider = [other.width / one.width for one, other in pairs if np.isfinite(other.width)]
    assert np.mean(wider) > 1.005


@pytest.mark.parametrize("at", [0, 3, 10, 14, 16, 17])
def test_the_true_bounds_are_those_of_a_linear_program(at: int) -> None:
    """Over all joints of stratum, outcome and group; a conditional rate by Charnes and Cooper's transformation."""
    truth, groups = DESIGNS[at].truth, DESIGNS[at].groups
    stratum = np.repeat(np.arange(len(truth.cells)), np.diff(truth.offsets))
    # Unknown: mass of each atom in each group, and the scale t; its margins are t times the two tables.
    n = len(stratum) * groups
    rows = []
    for atom, mass in enumerate(truth.atoms):
        row = np.zeros(n + 1)
        row[atom * groups : (atom + 1) * groups], row[n] = 1, -mass
        rows.append(row)
    for c, g in np.ndindex(truth.cells.shape):
        row = np.zeros(n + 1)
        row[np.flatnonzero(stratum == c) * groups + g], row[n] = 1, -truth.cells[c, g]
        rows.append(row)
    for g in range(groups):
        among, counted = np.zeros(n + 1), np.zeros(n + 1)
        among[g:n:groups], counted[g:n:groups] = truth.among, truth.counted
        for sign, end in ((1, truth.ends[g]), (-1, truth.ends[groups + g])):
            answer = linprog(sign * counted, A_eq=[*rows, among], b_eq=[*[0.0] * len(rows), 1.0])
            assert answer.status == 0
            assert sign * answer.fun == pytest.approx(end, abs=1e-7)


def test_samples_are_of_the_population() -> None:
    rng = np.random.default_rng(0)
    for design in (DESIGNS[2], DESIGNS[12], DESIGNS[13]):
        drawn = draw(design, 200, rng)
        inside = drawn.internal.sum(axis=0) / drawn.internal.sum()
        outside = drawn.external.sum(axis=0) / drawn.external.sum()
        np.testing.assert_allclose(inside, design.truth.atoms, atol=0.004)
        np.testing.assert_allclose(outside, design.truth.cells, atol=0.004)
    weighted = draw(DESIGNS[12], 50, rng).internal.sum(axis=1)
    # Kish: rows over 1 + the squared variation of lognormal weights, exp(0.8²).
    assert weighted.mean() == pytest.approx(3000 / np.exp(0.64), rel=0.05)


def test_any_number_of_workers_gives_the_same() -> None:
    one, two = (coverage_study(20, 3, DESIGNS[:2], ("cross-fitted",), workers=n) for n in (1, 2))
    assert one == two


def test_a_shortfall_is_told() -> None:
    design = Design(2, 2, "smooth", "selection", 300, 300)
    good = Coverage(design, Asked("difference"), "cross-fitted", 0.95, 1000, 0.96, 0.95, 1.5, 1.4, 1.2)
    bad = replace(good, whole=0.93)
    others = [replace(good, method=method) for method in ("median of splits", "exact boxes", "bootstrap")]  # type: ignore[arg-type]
    study = Study((bad, *others, *(replace(one, level=0.9) for one in (bad, *others))), 1000, 0)
    assert shortfalls(study, "cross-fitted") == [bad]
    grown = [Study((good, good), 10, 0)] * 6
    [said] = [block.text for block in page(study, grown) if getattr(block, "text", "").startswith("**Cross-fitted")]  # type: ignore[union-attr]
    assert "**Below the level less 1.5% in 1 of 2 cases:** difference, 2 strata" in said
    assert SLACK == 0.015


def test_the_page_is_written_and_the_one_in_the_docs_is_its_like(tmp_path: Path) -> None:
    main([str(tmp_path / "page.md"), "--tables", "4", "--workers", "1"])
    here, there = (
        [line.split("|")[1:4] for line in text.splitlines() if line.count("|") == 9]
        for text in (
            (tmp_path / "page.md").read_text(encoding="utf-8"),
            (Path(__file__).parents[2] / "docs" / "coverage.md").read_text(encoding="utf-8"),
        )
    )
    assert here == there
