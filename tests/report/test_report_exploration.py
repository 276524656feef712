"""The text view of an exploration: the histogram against counting by hand, the words against the draws."""

from __future__ import annotations

import io
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import bounded, ratio
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from fairbounds.report.bars import ASCII, BLOCKS, bar, histogram
from fairbounds.report.exploration import print_exploration
from fairbounds.report.layout import Scale
from fairbounds.report.spreads import how_drawn, spread_sentences
from fairbounds.results import Audit, Bounds, Diagnosis, Draws, Estimate, Exploration, Finding, Mismatch, StrataSummary

GOLDEN = Path(__file__).parent / "golden" / "exploration.txt"
WALK = {"seed": 7, "chains": 4, "free_parameters": 12}
SETTLED = Diagnosis(1.001, 4200.0, 4100.0, converged=True)


def draws_of(finding: Finding, seed: int = 0) -> Draws:
    """Return draws that fill the bounds of a finding; none where it has no value."""
    bounds = finding.bounds
    if bounds.lower is None or bounds.upper is None:
        values = np.full((4, 1000), math.nan)
    else:
        upper = min(bounds.upper, bounds.lower + 3)
        shape = np.random.default_rng(seed).beta(5, 3, (4, 1000))
        values = bounds.lower + (upper - bounds.lower) * shape
    roles = finding.metric, finding.group, finding.reference
    return Draws(*roles, "walk", values, bounds, None, SETTLED, dict(WALK))


def explored(audit: Audit) -> Exploration:
    return Exploration(audit, tuple(draws_of(finding, at) for at, finding in enumerate(audit.findings)))


def printed(exploration: Exploration, width: int = 100, *, encoding: str = "utf-8", **options: Any) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    print_exploration(exploration, Console(file=file, width=width, **options))
    file.flush()
    return raw.getvalue().decode(encoding)


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def test_golden(full: Audit) -> None:
    found = explored(full)
    first, second, *rest = found.distributions
    unsettled = replace(second, diagnosis=Diagnosis(1.0732, 61.2, 340.0, converged=False))
    found = Exploration(full, (replace(first, exact_mean=0.6313), unsettled, *rest))
    text = printed(found)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, encoding="utf-8", newline="\n")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_it_says_in_one_line_what_it_is_not(full: Audit) -> None:
    [line] = [line for line in printed(explored(full)).splitlines() if "every joint equally likely" in line]
    assert "no probability of discrimination" in line


@pytest.mark.parametrize("name", ["full", "nasty", "many"])
@pytest.mark.parametrize("width", [24, 40, 64, 80, 120, 300])
def test_no_line_is_wider_than_the_terminal(name: str, width: int, request: pytest.FixtureRequest) -> None:
    text = printed(explored(request.getfixturevalue(name)), width)
    assert max(map(cell_len, text.splitlines())) <= min(max(width, 24), 120)
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "utf-8"])
def test_any_encoding_will_do(encoding: str, full: Audit) -> None:
    text = printed(explored(full), encoding=encoding)
    assert ("█" in text) == (encoding == "utf-8")
    assert ("###" in text) == (encoding != "utf-8")


def test_of_many_groups_ten_are_shown_each_with_its_own_draws(many: Audit) -> None:
    text = printed(explored(many))
    assert "and 190 more, less extreme; --format json has them all" in text
    found = explored(many)
    for group in ("group 199", "group 190"):
        below = found.find("disparate_impact", group)
        assert f"95% between {below.quantile(0.025):.3f} and {below.quantile(0.975):.3f}." in one_line(text)


def test_nothing_to_explore_prints() -> None:
    empty = Audit("external", StrataSummary(0, 0.0, 0.0), Mismatch(0.0, 0.0), (), ())
    assert "There are no joints to show." in printed(Exploration(empty, ()))


# -- the histogram -----------------------------------------------------------------------------------------------------

SCALE = Scale(0.0, 1.0, (), (0.8,))


def heights(lines: list[str], width: int, levels: str) -> list[int]:
    """Read a histogram back: the number of steps of each column."""
    filled = [line.ljust(width) for line in lines]
    return [sum(levels.index(line[at]) + 1 for line in filled if line[at] != " ") for at in range(width)]


def test_columns_are_as_high_as_there_are_draws() -> None:
    """32 steps for the 64 draws of the highest column: half as many draws, half as high."""
    values = np.repeat([0.05, 0.15, 0.25, 0.95], [64, 32, 1, 16])
    bounds = Bounds("disparate_impact", "F", "M", 0.0, 1.0)
    lines = histogram(values, bounds, SCALE, 10, BLOCKS)
    assert heights(lines, 10, BLOCKS.heights) == [32, 16, 1, 0, 0, 0, 0, 0, 0, 8]
    assert lines == ["█", "█", "██", "██▁      █"]
    assert heights(histogram(values, bounds, SCALE, 10, ASCII), 10, ASCII.heights) == [12, 6, 1, 0, 0, 0, 0, 0, 0, 3]


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=50),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    st.integers(10, 60),
)
def test_draws_stand_over_the_bar_of_their_bounds_and_all_are_seen(
    parts: list[float], ends: list[float], width: int
) -> None:
    lower, upper = ends
    values = np.clip(lower + (upper - lower) * np.array(parts), lower, upper)
    bounds = Bounds("disparate_impact", "F", "M", lower, upper)
    filled = {at for at, cell in enumerate(bar(bounds, [], SCALE, width, BLOCKS, {})) if cell.role == "bounds"}
    found = heights(histogram(values, bounds, SCALE, width, BLOCKS), width, BLOCKS.heights)
    assert {at for at, height in enumerate(found) if height} <= filled
    assert max(found) == 32
    columns = len({min(width - 1, int(value * width + 1e-12)) for value in values})
    assert 1 <= sum(height > 0 for height in found) <= columns


def test_draws_beyond_the_scale_are_left_out_and_told() -> None:
    finding = ratio("Asian", 0.5, math.inf, "undetermined")
    values = np.array([[0.6, 0.7, 0.9, 1.1, 900.0, math.inf, 0.75, 0.85]])
    draws = Draws("disparate_impact", "Asian", "White", "grid", values, finding.bounds)
    audit = Audit("internal", StrataSummary(1, 0, 0), Mismatch(0, 0), (), (finding,))
    text = one_line(printed(Exploration(audit, (draws,))))
    assert "25.0% of the joints lie beyond the scale" in text
    assert "Mean infinite" in text
    assert "a mean may not exist" in text
    assert re.search(r"0 +0\.8 +1 +5", text)
    assert histogram(np.array([900.0]), finding.bounds, SCALE, 10, BLOCKS) == []


# -- the words ---------------------------------------------------------------------------------------------------------


def spread(values: list[float], finding: Finding | None = None, **other: Any) -> str:
    found = ratio("F", 0.0, 2.0, "undetermined") if finding is None else finding
    draws = Draws(found.metric, found.group, found.reference, "walk", np.array([values]), found.bounds, **other)
    return " ".join(spread_sentences(found, draws))


def test_figures_are_those_of_the_draws() -> None:
    """0.1, 0.2, …, 1: the mean is 0.55, the standard deviation the root of 0.0825, seven lie below 0.8."""
    said = spread([at / 10 for at in range(1, 11)])
    assert "Mean 0.550, standard deviation 0.287." in said
    assert "Half of the joints lie between 0.300 and 0.800, 95% between 0.100 and 1." in said
    assert "70.0% of them lie below 0.8." in said


def test_a_mean_by_formula_and_its_error_stand_beside() -> None:
    said = spread([0.4, 0.6] * 50, exact_mean=0.502, diagnosis=Diagnosis(1.0, 2500.0, 2500.0, converged=True))
    assert "Mean 0.500 (± 0.002 from sampling; 0.502 by formula), standard deviation 0.100." in said
    assert "Not settled" not in said


def test_a_band_has_three_shares() -> None:
    bounds = bounded("selection_difference", "F", "M", -1.0, 1.0)
    finding = Finding("selection_difference", "F", "M", bounds, (), "undetermined", 0.0, 0.1)
    said = spread([-0.5, -0.2, 0.0, 0.05, 0.1, 0.3, 0.4, 0.5], finding)
    assert "25.0% of them lie below −0.1, 37.5% between −0.1 and 0.1, 37.5% above 0.1." in said


def test_a_rate_has_no_share_below() -> None:
    finding = Finding("base_rate", "F", None, bounded("base_rate", "F", None, 0.0, 1.0))
    assert "below" not in spread([0.1, 0.9], finding)


def test_chains_that_disagree_are_told() -> None:
    said = spread([0.4, 0.6] * 500, diagnosis=Diagnosis(1.0732, 61.2, 340.0, converged=False))
    assert "Not settled: the 1,000 draws are worth only 61 independent ones" in said
    assert "(R̂) is 1.073, where 1 is agreement" in said
    assert "--draws" in said


def test_joints_without_a_value_are_told() -> None:
    assert "In 50.0% of the joints drawn it is 0/0" in spread([math.nan, 0.5, math.nan, 0.7])
    assert spread([math.nan, math.nan]) == "No joint gives it a value."
    assert spread([0.5, 0.5]) == "Every joint has the value 0.500."


def test_where_the_joints_come_from() -> None:
    values = np.zeros((4, 250))
    walk = Draws("disparate_impact", "F", "M", "walk", values, settings=WALK)
    assert how_drawn(walk) == (
        "1,000 joints that fit both tables, drawn at random by 4 chains over 12 free parameters (seed 7)."
    )
    assert how_drawn(replace(walk, settings={})) == "1,000 joints that fit both tables."


# -- estimates ---------------------------------------------------------------------------------------------------------

NOTE = "Not identified: 16 equally likely fits give values from 0.3 to 0.5."
BRACKET = "They lie on either side of the truth if covariances have one sign."


def test_estimates_are_named_in_words_with_their_notes() -> None:
    estimates = (
        Estimate("independence", 0.5),
        Estimate("latent_class", 0.4, margin_preserving=False, note=NOTE),
        Estimate("feasible_mean", 0.45),
        Estimate("weighted", 0.5, details={"assumption": BRACKET}),
        Estimate("regression", None, margin_preserving=False, details={"assumption": BRACKET}),
    )
    finding = ratio("F", 0.2, 0.7, "below", *estimates)
    audit = Audit("internal", StrataSummary(1, 0, 0), Mismatch(0, 0), (), (finding,))
    text = printed(Exploration(audit, (draws_of(finding),)))
    said = one_line(text)
    assert "Independence estimate 0.500. Feasible mean estimate 0.450. Weighted estimate 0.500." in said
    assert f"Latent class estimate 0.400 (need not fit both tables). {NOTE}" in said
    assert "Regression estimate not defined (need not fit both tables)." in said
    assert said.count(BRACKET) == 1
    for sign, name in zip("◆●■▲▼", ("Independence", "Latent", "Feasible", "Weighted", "Regression"), strict=True):
        assert f"{sign} {name}" in said
