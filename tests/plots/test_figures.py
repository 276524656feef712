"""Panels as data, and figures as files: the same bytes, an alternative text, and looks that all eyes tell apart."""

from __future__ import annotations

import itertools
import os
import re
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fairbounds.errors import MissingDependencyError
from fairbounds.plots import LOOKS, Band, Box, Dot, Figure, Mark, boxes, compose, dots, figure, histogram, scatter

for library in ("altair", "vl_convert"):
    if os.environ.get("CI"):
        __import__(library)
    pytest.importorskip(library)

GOLDEN = Path(__file__).parent / "golden"


def panels() -> list[object]:
    marks = [Mark("truth 0.7", "truth", (0.7,)), Mark("bounds 0.1 to 1.9", "bounds", (0.1, 1.9), (0.1, 1.9))]
    return [
        histogram([1, 3, 0, 2], [0.0, 0.5, 1.0, 1.5, 2.0], title="Histogram", x="DI", y="joints", marks=marks),
        scatter([0.5, 1.0], [0.6, 0.9], title="Scatter", x_title="mean", y_title="truth", diagonal="truth = mean"),
        boxes(
            [Box("0–0.05", (0.1, 0.2, 0.3, 0.4, 0.9), 0.35), Box("0.5+", (0.0, 0.2, 0.3, 0.5, 1.0), 0.37)],
            title="Boxes", x="KL", y="range", mean="mean", band=Band("the paper's", 0.3, 0.4),
        ),
        dots(
            [Dot("n = 100", "bounds", "bounds", None, 0.1, 0.3), Dot("n = 100", "mean", "feasible_mean", 0.2)],
            title="Dots", x="DD", marks=[Mark("none", "threshold", (0.0,))],
        ),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def drawn() -> Figure:
    return compose(panels(), 'Four panels, "quoted" & <marked>.')


def test_golden_drawing(drawn: Figure) -> None:
    """Looked at as a picture when it was written; renewed with FAIRBOUNDS_GOLDEN=1 where a change is meant."""
    path = GOLDEN / "panels.svg"
    if os.environ.get("FAIRBOUNDS_GOLDEN"):
        path.write_text(drawn.svg, encoding="utf-8")
    assert drawn.svg == path.read_text(encoding="utf-8")


def test_a_figure_has_the_same_bytes_whatever_was_drawn_before(drawn: Figure) -> None:
    first = drawn.svg
    assert compose(panels()[:1], "Another.").svg != first
    again = compose(panels(), drawn.alt)
    assert again.svg == first
    assert again.png == drawn.png


def test_clips_are_counted_from_one_in_every_figure() -> None:
    import altair as alt

    data = alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 9, "y": 9}])
    scale = alt.Scale(domain=[0, 1])
    line = alt.Chart(data).mark_line(clip=True).encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
    first, second = (compose([line, line], "A clipped line.").svg for _ in range(2))
    assert first == second
    assert len(set(re.findall(r'id="(clip\d+)"', first))) >= 1
    assert set(re.findall(r"url\(#(\w+)\)", first)) == set(re.findall(r'id="(clip\d+)"', first))


def test_the_svg_is_well_formed_and_described(drawn: Figure) -> None:
    root = ET.fromstring(drawn.svg)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == drawn.alt
    words = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Histogram", "truth 0.7", "truth = mean", "the paper's", "n = 100", "0.5+"} <= words
    assert not re.search(r"NaN|undefined|Infinity", drawn.svg)


def test_places_are_rounded_and_words_are_not() -> None:
    text = '<g transform="translate(0.123456,-7.5e-7)"><path d="M0.5,1.23456Z"/><text>0.950589</text></g>'
    rounded = figure._rounded(text)
    assert rounded == '<g transform="translate(0.12,-7.5e-7)"><path d="M0.5,1.23Z"/><text>0.950589</text></g>'


def test_the_png_has_two_pixels_for_one(drawn: Figure) -> None:
    width, height = struct.unpack(">II", drawn.png[16:24])
    size = ET.fromstring(drawn.svg).attrib
    assert (width, height) == (2 * float(size["width"]), 2 * float(size["height"]))


def test_every_bar_and_mark_is_drawn_where_it_belongs() -> None:
    (spec,) = (panel.to_dict() for panel in panels()[:1])  # type: ignore[attr-defined]
    data = [row for rows in spec["datasets"].values() for row in rows]
    bars = [(row["from"], row["to"], row["count"]) for row in data if "count" in row]
    assert bars == [(0.0, 0.5, 1), (0.5, 1.0, 3), (1.5, 2.0, 2)]
    assert sorted(row["at"] for row in data if "at" in row) == [0.1, 0.7, 1.9]
    low, high = spec["vconcat"][0]["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low < 0.0
    assert high > 2.0


def luminance(colour: str) -> float:
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_look_stands_out_from_paper_and_differs_from_others_by_more_than_colour() -> None:
    for look in LOOKS.values():
        assert 1.05 / (luminance(look.colour) + 0.05) >= 3
    lines = ("truth", "latent_class", "independence", "feasible_mean")
    for one, other in itertools.combinations(lines, 2):
        assert LOOKS[one].dash != LOOKS[other].dash
        assert LOOKS[one].shape != LOOKS[other].shape


@pytest.mark.parametrize("lacking", ["altair", "vl_convert"])
def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, lacking: str) -> None:
    monkeypatch.setattr(figure, "find_spec", lambda name: None if name == lacking else object())
    with pytest.raises(MissingDependencyError, match=r"fairbounds\[report\]"):
        figure.require_drawing()
