"""Results drawn, shown in a notebook and handed out as dataframes."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import NASTY, crowd, everything, hostile

import fairbounds as fb
from fairbounds import frames
from fairbounds.errors import MissingDependencyError, ProblemError, SourceError
from fairbounds.plots import Figure, width_by_size
from fairbounds.plots.showing import draw
from fairbounds.results import Audit, Bounds, Draws, Estimate, Finding, Interval, Mismatch, Region

INTERNAL = {"job": ["a", "a", "a", "b", "b"], "ok": [1, 0, 1, 1, 0]}
EXTERNAL = {"job": ["a", "a", "a", "b", "b", "b"], "sex": ["F", "M", "X", "F", "F", "M"]}


@pytest.fixture(scope="module")
def explored() -> fb.Exploration:
    return fb.explore(INTERNAL, EXTERNAL, protected="sex", decision="ok", reference="M", draws=200, chains=16)


@pytest.fixture(scope="module")
def results(explored: fb.Exploration) -> dict[str, Any]:
    """Return one result of every kind."""
    audit, made = explored.audit, everything()
    return {
        "Audit": audit,
        "Finding": made.findings[0],
        "Bounds": made.findings[1].bounds,
        "Estimate": made.findings[0].estimates[0],
        "Draws": explored.distributions[0],
        "Exploration": explored,
        "Interval": made.findings[0].interval,
        "Mismatch": made.mismatch,
        "Region": audit.regions[0],
    }


KINDS = ("Audit", "Finding", "Bounds", "Estimate", "Draws", "Exploration", "Interval", "Mismatch", "Region")


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_is_drawn_shown_and_tabled(kind: str, results: dict[str, Any]) -> None:
    result = results[kind]
    figure = result.plot()
    assert isinstance(figure, Figure)
    assert figure.svg.startswith("<svg")
    assert figure.svg == draw(result).svg
    assert len(figure.alt) > 10
    assert not re.search(r"\b(nan|NaN|None|inf|undefined)\b", figure.alt)
    assert not re.search(r">(NaN|null|undefined|Infinity)<|NaN", figure.svg)
    html = result._repr_html_()
    assert html.count("<table>") == 1
    assert not re.search(r"\b(nan|NaN|None|inf)\b", re.sub("<[^>]*>", " ", html))
    lengths = {len(column) for column in result.columns().values()}
    assert len(lengths) == 1
    assert result.to_frame("pandas").shape == (lengths.pop(), len(result.columns()))


FIGURES = ("bounds", "region", "strata", "mismatch", "distribution")


@pytest.mark.parametrize("figure", FIGURES)
def test_an_exploration_has_every_figure(figure: str, explored: fb.Exploration) -> None:
    assert explored.plot(figure, title="Here").svg.count("<svg") == 1


def test_an_unknown_figure_is_one_sentence(explored: fb.Exploration) -> None:
    with pytest.raises(
        ProblemError, match=r"Audit has no figure 'regions' \(did you mean 'region'\?\); it has 'bounds'"
    ):
        explored.audit.plot("regions")


def test_the_alternative_text_has_the_numbers(full: Audit) -> None:
    said = full.plot().alt
    for part in (
        "Black against White: bounds 0.3502 to 0.7899, 95% interval 0.3377 to 0.7999, independence 0.432",
        "Asian against White: bounds 0.62 to unbounded",
        "Threshold 0.8.",
        "Threshold −0.05 to 0.05.",
        "Asian against White: not defined",
    ):
        assert part in said
    region = full.plot("region").alt
    assert region == "Selection rates of White and Black together: (0.45, 0.105), (0.27, 0.402). Parity is possible."
    assert "occupation=clerk, region=north 0.31 and 0.22" in full.plot("mismatch").alt


def drawn_rows(figure: Figure) -> list[dict[str, Any]]:
    """Return every row that the marks of a figure stand on."""
    return [row for rows in figure.spec["datasets"].values() for row in rows]


def test_what_is_drawn_lies_where_the_numbers_are(full: Audit) -> None:
    rows = drawn_rows(full.findings[0].plot())
    bar = next(row for row in rows if {"low", "high", "least", "most"} <= set(row))
    assert [bar[name] for name in ("least", "low", "high", "most")] == [0.3377, 0.3502, 0.7899, 0.7999]
    assert {"at": 0.8} in rows
    assert {row["value"] for row in rows if "value" in row} == {0.432, 0.433}


def test_an_unbounded_end_is_an_arrow_and_never_off_the_page(full: Audit) -> None:
    rows = [row for row in drawn_rows(full.findings[1].plot()) if row.get("beyond")]
    assert rows
    assert all(math.isfinite(row["high"]) for row in rows)


@pytest.mark.parametrize("make", [hostile, crowd])
@pytest.mark.parametrize("figure", ["bounds", "region", "strata", "mismatch"])
def test_nasty_names_and_many_groups_are_drawn(make: Any, figure: str) -> None:
    audit = make()
    svg = audit.plot(figure).svg
    assert "<script" not in svg
    assert "nan" not in svg.casefold().replace("finance", "")


def test_an_audit_of_nothing_has_figures() -> None:
    nothing = Audit("external", everything().strata, Mismatch(0.0, 0.0), (), ())
    for figure in ("bounds", "region", "strata", "mismatch"):
        assert nothing.plot(figure).svg.startswith("<svg")
    assert "<table>" in nothing._repr_html_()


def test_draws_without_a_value_are_drawn() -> None:
    empty = Draws("disparate_impact", "F", "M", "walk", np.array([[math.nan, math.inf]]))
    assert empty.plot().svg.startswith("<svg")


def test_a_figure_is_written_as_its_name_says(tmp_path: Path, full: Audit) -> None:
    figure = full.findings[0].plot()
    heads = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    for kind, head in heads.items():
        figure.save(tmp_path / f"figure.{kind}")
        assert (tmp_path / f"figure.{kind}").read_bytes().startswith(head)
    for wrong, said in (
        ("figure.gif", "'.svg', '.png', '.pdf', not as '.gif'"),
        ("no/figure.svg", "cannot be written"),
    ):
        with pytest.raises(SourceError, match=said):
            figure.save(tmp_path / wrong)


def test_without_altair_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, full: Audit) -> None:
    monkeypatch.setattr("fairbounds.plots.figure.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'fairbounds\[report\]'"):
        full.plot()


# -- width against sample size -----------------------------------------------------------------------------------------


def sized(n: int, spread: float) -> Audit:
    audit = everything()
    finding = audit.findings[0]
    low, high = 0.3502 - spread, 0.7899 + spread
    interval = Interval("disparate_impact", "Black", "White", low, high, low, high, 0.95)
    inputs = {"internal": {"rows": n, "weight": None}}
    return dataclasses.replace(
        audit, findings=(dataclasses.replace(finding, interval=interval),), provenance={"inputs": inputs}
    )


def test_widths_against_sizes_in_order() -> None:
    figure = width_by_size([sized(10_000, 0.01), sized(100, 0.1)], "disparate_impact", "Black")
    assert figure.alt == (
        "Width of disparate impact, Black against White: 100 people: interval 0.6397, bounds 0.4397; 10,000 people: "
        "interval 0.4597, bounds 0.4397."
    )
    assert figure.svg.startswith("<svg")


def test_sizes_that_are_not_known_are_refused() -> None:
    weighted = dataclasses.replace(sized(100, 0.1), provenance={"inputs": {"internal": {"rows": 9, "weight": "w"}}})
    with pytest.raises(ProblemError, match="sample size of an internal table is not known"):
        width_by_size([weighted], "disparate_impact")
    plain = sized(100, 0.1)
    bare = dataclasses.replace(plain, findings=(dataclasses.replace(plain.findings[0], interval=None),))
    with pytest.raises(ProblemError, match="has no interval"):
        width_by_size([bare], "disparate_impact")
    with pytest.raises(ProblemError, match="at least one audit"):
        width_by_size([], "disparate_impact")


# -- dataframes and notebooks ------------------------------------------------------------------------------------------


def test_a_frame_is_of_the_library_asked_for(full: Audit) -> None:
    assert isinstance(full.to_frame("pandas"), pd.DataFrame)
    assert isinstance(full.to_frame("polars"), pl.DataFrame)
    assert isinstance(full.to_frame("pyarrow"), pa.Table)
    with pytest.raises(ProblemError, match="not of 'excel'"):
        full.to_frame("excel")


def test_a_frame_says_what_the_audit_says(full: Audit) -> None:
    frame = full.to_frame("polars")
    assert frame["metric"].to_list() == [finding.metric for finding in full.findings]
    assert frame["lower"].to_list() == [finding.bounds.lower for finding in full.findings]
    assert frame["upper"][1] == math.inf
    assert frame["lower"].dtype == pl.Float64
    assert frame["interval_lower"].to_list()[:2] == [0.3377, None]
    assert frame["independence"][0] == 0.432


def test_columns_of_several_kinds_become_text() -> None:
    frame = frames.to_frame({"group": [1, "x", None], "n": [1, 2, 3], "flag": [True, None, False]}, "polars")
    assert frame["group"].to_list() == ["1", "x", None]
    assert frame["n"].to_list() == [1, 2, 3]
    assert frame["flag"].to_list() == [True, None, False]


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_the_library_that_is_imported_is_taken(library: str) -> None:
    script = (
        f"import {library}\nfrom fairbounds.frames import to_frame\n"
        "print(type(to_frame({'a': [1]})).__module__.split('.')[0])"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.split() == [library]


def test_without_any_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    for name in frames.LIBRARIES:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingDependencyError, match=r"to_frame\(\) needs polars"):
        frames.to_frame({"a": [1]})


def test_a_notebook_shows_names_as_they_are_and_the_answer_of_an_audit(nasty: Audit, full: Audit) -> None:
    shown = nasty._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "The bounds are wide" in full._repr_html_()
    assert len(NASTY) < 40
    assert "and 160 more rows" in crowd()._repr_html_()


def test_an_estimate_and_plain_bounds_have_a_figure_of_their_own() -> None:
    assert Estimate("independence", None).plot().alt == "Independence estimate: not defined."
    assert "own_method" in Estimate("own_method", 0.2).plot().alt.casefold()
    never = Bounds("disparate_impact", "F", "M", None, None, defined="never")
    assert never.plot().alt == "Disparate impact. F against M: not defined."
    point = Region("selection_rate", "F", "M", ((0.5, 0.5),))
    assert point.plot().svg.startswith("<svg")
    odd = Finding("own", "F", None, Bounds("own", "F", None, -3.0, 7e9), (Estimate("odd", 1e-300),))
    assert odd.plot().svg.startswith("<svg")
