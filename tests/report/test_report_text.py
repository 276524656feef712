"""The text view: what it shows, at any width, in any encoding, whatever the names are."""

from __future__ import annotations

import io
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from fairbounds.report.bars import ASCII, BLOCKS, axis, bar, glyphs_for
from fairbounds.report.layout import Mark, Scale, sections
from fairbounds.report.text import MOST_SHOWN, print_audit
from fairbounds.results import Audit, Bounds, Finding, GroupSummary, Mismatch, StrataSummary

GOLDEN = Path(__file__).parent / "golden" / "full.txt"
ESCAPE = "\x1b"


def printed(audit: Audit, width: int = 100, *, truth: Any = None, encoding: str = "utf-8", **options: Any) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    print_audit(audit, Console(file=file, width=width, **options), truth=truth)
    file.flush()
    return raw.getvalue().decode(encoding)


def test_golden(full: Audit, truth: Any) -> None:
    found = printed(full, truth=truth)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8", newline="\n")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_warnings_are_counted_at_the_top_and_printed_in_full(full: Audit) -> None:
    text = printed(full)
    assert "2 warnings" in text[: text.index("WHAT WAS COMBINED")]
    for warning in full.warnings:
        assert f"! {warning}" in text


@pytest.mark.parametrize("name", ["full", "nasty", "many"])
@pytest.mark.parametrize("width", [24, 40, 64, 80, 100, 120, 300])
def test_no_line_is_wider_than_the_terminal(name: str, width: int, request: pytest.FixtureRequest, truth: Any) -> None:
    text = printed(request.getfixturevalue(name), width, truth=truth)
    assert max(map(cell_len, text.splitlines())) <= min(max(width, 24), 120)
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_a_pipe_gets_no_escape_codes_whatever_the_names(nasty: Audit, full: Audit) -> None:
    for audit in (nasty, full):
        text = printed(audit)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_a_terminal_gets_colour_unless_told_otherwise(full: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = printed(full, force_terminal=True, color_system="standard")
    assert re.search(rf"{ESCAPE}\[[0-9;]*31m", coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = printed(full, force_terminal=True, color_system="standard")
    assert not re.search(rf"{ESCAPE}\[(\d;)*3\dm", plain)
    assert re.sub(rf"{ESCAPE}\[[0-9;]*m", "", coloured) == printed(full)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8", "utf-16-le"])
@pytest.mark.parametrize("name", ["full", "nasty"])
def test_any_encoding_will_do(name: str, encoding: str, request: pytest.FixtureRequest, truth: Any) -> None:
    text = printed(request.getfixturevalue(name), encoding=encoding, truth=truth)
    blocks = encoding.startswith("utf")
    assert ("━━━ bounds" in text) == blocks
    assert ("=== bounds" in text) == (not blocks)


def test_names_are_printed_as_they_are_and_never_as_markup(nasty: Audit) -> None:
    text = printed(nasty, 120)
    for name in ("[red]not markup[/red]", "[/]", ":warning:", "{{ 7 * 7 }} {rate} %s", "<script>alert(1)</script>"):
        assert f"“{name}”" in text or f"  {name} " in text
    assert "(blank)" in text


def test_long_names_lose_their_middle_not_their_end() -> None:
    names = [f"{'very long ' * 30}{end}" for end in ("one", "two")]
    findings = tuple(Finding("base_rate", name, None, Bounds("base_rate", name, None, 0.1, 0.2)) for name in names)
    text = printed(Audit("internal", StrataSummary(1, 0, 0), Mismatch(0, 0), (), findings))
    assert re.search(r"very long.*….*one  ", text)
    assert re.search(r"very long.*….*two  ", text)


def test_of_many_groups_the_most_extreme_come_first(many: Audit) -> None:
    text = printed(many)
    shown = re.findall(r"^  (group \d+)  [·━]", text, flags=re.MULTILINE)
    assert shown == [f"group {at}" for at in range(199, 199 - MOST_SHOWN, -1)]
    assert text.count("and 190 more") == 2
    assert "139 shown to be below 0.8, 61 shown to be at least 0.8" in text


def test_few_groups_keep_their_order(full: Audit) -> None:
    found = sections(full, None, MOST_SHOWN)[0]
    assert [finding.group for finding in found.findings] == ["Black", "Asian"]


def test_an_audit_of_nothing_prints() -> None:
    empty = Audit("external", StrataSummary(0, 0.0, 0.0), Mismatch(0.0, 0.0), (), ())
    text = printed(empty)
    assert "This audit has no findings." in text
    assert "No warnings." in text
    assert text.count("a table built by hand") == 2


def test_a_truth_outside_is_shouted_and_one_that_is_no_number_ignored(full: Audit) -> None:
    text = printed(full, truth={("disparate_impact", "Black"): 0.9, ("disparate_impact", "Asian"): math.nan})
    assert "Known value 0.900, OUTSIDE the bounds." in re.sub(r"\s+", " ", text)
    assert "0 of 1 lie inside" in re.sub(r"\s+", " ", text)
    assert "nan" not in text


def test_group_levels_may_be_numbers_and_truth_values() -> None:
    groups = tuple(GroupSummary(name, 0.5, Bounds("selection_rate", name, None, 0, 1)) for name in (0, True))
    findings = (Finding("disparate_impact", 0, True, Bounds("disparate_impact", 0, True, 0.1, 0.2), (), "below", 0.8),)
    text = printed(
        Audit("internal", StrataSummary(1, 0, 0), Mismatch(0, 0), groups, findings), truth={("selection_rate", 0): 0.5}
    )
    assert "Disparate impact of “0” against “True”" in text
    assert "★" in text


# -- bars --------------------------------------------------------------------------------------------------------------

SCALE = Scale(0.0, 1.25, (0.0, 0.25, 0.5, 0.75, 1.0, 1.25), (0.8,))


def drawn(lower: float | None, upper: float | None, *marks: Mark, width: int = 25) -> str:
    bounds = Bounds("disparate_impact", "F", "M", lower, upper)
    return "".join(cell.char for cell in bar(bounds, marks, SCALE, width, BLOCKS, {"independence": "◆"}))


def test_bars() -> None:
    assert drawn(0.35, 0.75) == "·······━━━━━━━━━│········"
    assert drawn(0.35, 1.0) == "·······━━━━━━━━━┿━━━━····"
    assert drawn(0.9, math.inf) == "················│·━━━━━━▶"
    assert drawn(math.inf, math.inf) == "················│·······▶"
    assert drawn(2.0, 3.0) == "················│·······▶"
    assert drawn(None, None) == "················│········"
    assert drawn(0.5, 0.5) == "··········━·····│········"


def test_marks() -> None:
    assert drawn(0.35, 0.75, Mark("independence", 0.5), Mark(None, 0.6)) == "·······━━━◆━★━━━│········"
    assert drawn(0.35, 0.75, Mark("independence", 0.5), Mark(None, 0.501)) == "·······━━━◈━━━━━│········"
    assert drawn(0.35, 0.75, Mark("independence", math.inf), Mark(None, 9.0)) == drawn(0.35, 0.75)
    assert drawn(0.35, 0.39, Mark(None, 0.36)) == "·······★········│········"
    assert drawn(0.35, 0.36, Mark(None, 0.37)) == "·······━★·······│········"


ENDS = st.tuples(st.floats(0, 1.25), st.floats(0, 1.25)).map(sorted)


@given(ENDS, st.integers(10, 90), st.floats(0.02, 1.2))
def test_a_bar_never_reaches_across_the_threshold_that_its_bounds_do_not_reach(
    ends: list[float], width: int, limit: float
) -> None:
    lower, upper = ends
    scale = Scale(0.0, 1.25, (), (limit,))
    cells = bar(Bounds("disparate_impact", "F", "M", lower, upper), [], scale, width, BLOCKS, {})
    at = min(width - 1, int(limit / 1.25 * width))
    filled = [place for place, cell in enumerate(cells) if cell.role == "bounds"]
    assert len(cells) == width
    if upper < limit - 1e-12 and at > 0:
        assert max(filled) < at
    if lower > limit + 1e-12 and at < width - 1:
        assert min(filled) > at


def test_axis_labels_never_touch() -> None:
    assert axis(SCALE, 40) == "0                       0.8     1   1.25"
    for width in range(10, 100):
        assert len(axis(SCALE, width)) <= width
        assert "0.8" in axis(SCALE, width).split()


def test_glyphs_follow_the_encoding() -> None:
    assert glyphs_for("utf-8") is BLOCKS
    assert glyphs_for("ascii") is ASCII
    assert glyphs_for("no such encoding") is ASCII


@pytest.mark.parametrize(
    ("metric", "lower", "upper", "low", "high"),
    [
        ("selection_rate", 0.1, 0.2, 0.0, 1.0),
        ("disparate_impact", 0.1, 0.2, 0.0, 1.0),
        ("disparate_impact", 0.1, math.inf, 0.0, 1.0),
        ("disparate_impact", 0.1, 57.0, 0.0, 2.0),
        ("disparate_impact", 2.6, 57.0, 0.0, 4.0),
        ("disparate_impact", 900.0, math.inf, 0.0, 5.0),
        ("demographic_disparity", -0.204, -0.068, -0.25, 0.0),
        ("demographic_disparity", 0.0, 0.0, -0.1, 0.1),
        ("parity_gap", 0.0, 0.41, 0.0, 0.5),
    ],
)
def test_scales_hold_parity_and_the_threshold_and_are_not_squashed(
    metric: str, lower: float, upper: float, low: float, high: float
) -> None:
    threshold = None if metric.endswith("_rate") else 0.8 if metric == "disparate_impact" else 0.0
    found = Finding(metric, "F", "M", Bounds(metric, "F", "M", lower, upper), (), None, threshold)
    audit = Audit("internal", StrataSummary(1, 0, 0), Mismatch(0, 0), (), (found,))
    scale = sections(audit, None, 10)[0].scale
    assert (scale.low, scale.high) == (low, high)
    assert len(scale.ticks) <= 8
