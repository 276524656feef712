"""The HTML report: one file, the same bytes every time, and nothing in it that a name could have put there."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import os
import re
import stat
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from conftest import NASTY

import fairbounds as fb
from fairbounds.errors import SourceError
from fairbounds.report.html import MOST_DRAWN, render_html, write_html
from fairbounds.results import (
    Audit,
    Bounds,
    Classification,
    Estimate,
    Finding,
    GroupSummary,
    Mismatch,
    StrataSummary,
)

GOLDEN = Path(__file__).parent / "golden" / "full.html"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Reads a page, checks that its tags balance, and keeps what a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.seen: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.seen.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.seen))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_golden(full: Audit, truth: Any) -> None:
    found = render_html(full, truth=truth)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8", newline="\n")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_the_same_audit_gives_the_same_bytes_also_when_read_back(full: Audit, truth: Any) -> None:
    once = render_html(full, truth=truth)
    assert render_html(Audit.from_dict(full.to_dict()), truth=truth) == once
    assert len(once.encode()) < 100_000


@pytest.mark.parametrize("name", ["full", "nasty", "many"])
def test_the_page_is_well_formed_and_needs_nothing_else(name: str, request: pytest.FixtureRequest, truth: Any) -> None:
    html = render_html(request.getfixturevalue(name), truth=truth, title="<title> & 'quotes'")
    page = Page(html)
    assert html.startswith('<!doctype html>\n<html lang="en">')
    assert not {"script", "link", "img", "iframe", "object", "b>"} & {tag for tag, _ in page.tags}
    for _, attributes in page.tags:
        assert not {key for key in attributes if key.startswith("on")}
        for key in ("src", "href", "xlink:href", "action", "srcset"):
            assert (attributes.get(key) or "#").startswith("#")
    assert re.findall(r"url\(([^)]*)\)", html) == ["#hatch"]
    assert "@import" not in html
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", html)
    html.encode("utf-8")


@pytest.mark.parametrize("name", ["full", "nasty", "many"])
def test_figures_and_tables_can_be_read_without_seeing_them(
    name: str, request: pytest.FixtureRequest, truth: Any
) -> None:
    page = Page(render_html(request.getfixturevalue(name), truth=truth))
    idents = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(idents) == len(set(idents))
    for attributes in page.all("svg"):
        if attributes.get("role") == "img":
            assert set((attributes["aria-labelledby"] or "").split()) <= set(idents)
        else:
            assert "aria-hidden" in attributes or "overflow" in attributes
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table"))
    headings = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(headings))


def test_names_are_shown_as_they_are(nasty: Audit) -> None:
    html = render_html(nasty)
    text = Page(html).text
    for name in ("<script>alert(1)</script>", "[red]not markup[/red]", "{{ 7 * 7 }} {rate} %s", "&amp; &lt;"):
        assert name in text
    assert "<script" not in html
    assert "long " * 59 in text
    assert "unbroken" * 40 in text
    assert "(blank)" in text


def test_nothing_that_is_not_a_number_leaks(full: Audit, truth: Any) -> None:
    rates = Finding("selection_rate", "x", None, Bounds("selection_rate", "x", None, math.inf, math.inf))
    odd = Finding(
        "disparate_impact",
        "x",
        None,
        Bounds("disparate_impact", "x", None, 0.0, math.inf),
        (Estimate("independence", math.nan), Estimate("feasible_mean", -math.inf)),
        "undetermined",
        0.8,
    )
    audit = Audit(
        full.population,
        full.strata,
        full.mismatch,
        full.groups,
        (*full.findings, rates, odd),
        provenance={**full.provenance, "seed": None, "odd": [math.nan, None, math.inf]},
    )
    html = render_html(audit, truth={**truth, ("disparate_impact", "x"): math.nan, ("selection_rate", "x"): math.inf})
    assert not re.search(r"\b(nan|NaN|None|inf|null)\b", Page(html).text)
    assert not re.search(r'"[^"]*\b(nan|inf|None)\b[^"]*"', re.sub(r"(?s)<style>.*</style>", "", html))


def test_all_of_many_groups_are_in_the_table_and_the_most_extreme_in_the_figure(many: Audit) -> None:
    html = render_html(many)
    text = Page(html).text
    assert "The figure shows the 20 most extreme of 200; the table has them all." in text
    tables = html.split("<table>")
    assert all(sum(f"group {at:03}" in table for table in tables) >= 2 for at in range(200))
    assert html.count('role="img"') == 2 * MOST_DRAWN
    assert html.index("group 199") < html.index("group 198")


def test_it_says_what_the_audit_says(full: Audit, truth: Any) -> None:
    text = Page(render_html(full, truth=truth)).text
    for part in (
        *full.warnings,
        *full.assumptions,
        "2 warnings change how far these numbers can be trusted.",
        "0.350 to 0.790",
        "With sampling error: 0.338 to 0.7999 (95% interval",
        "0.620, no upper limit",
        "OUTSIDE the bounds",
        "not a finding of law",
        "These bounds are valid but may be wider than the two tables require.",
        "Nobody in this group can have been selected.",
        "Latent class estimate 0.433 (need not fit both tables). Not identified: 16 equally likely fits give values",
        "The own method assumes that nothing depends on anything.",
        "census_2021.csv: 120 rows, weighted by “n”",
        "ab" * 32,
    ):
        assert part in text


def test_an_audit_of_nothing_is_a_page() -> None:
    page = Page(render_html(Audit("external", StrataSummary(0, 0.0, 0.0), Mismatch(0.0, 0.0), (), ())))
    assert "This audit has no findings." in page.text
    assert "No warnings." in page.text


# -- colours -----------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_scheme_has_the_contrast_that_wcag_aa_asks_for(full: Audit) -> None:
    schemes = re.findall(r":root \{([^}]*)\}", render_html(full))
    assert len(schemes) == 3
    for scheme in schemes:
        colour = dict(re.findall(r"--(\w+): (#\w{6})", scheme))
        for ground in ("paper", "panel"):
            for ink in ("ink", "soft", "link", "differs", "meets", "open", "plain", "known"):
                assert contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground)


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_file_holds_the_page(full: Audit, truth: Any, tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    path.write_text("old")
    day = dt.date(2026, 2, 3)
    write_html(full, str(path), truth=truth, title="Loans", date=day)
    assert path.read_bytes() == render_html(full, truth=truth, title="Loans", date=day).encode()
    assert os.listdir(tmp_path) == ["audit.html"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_the_file_has_the_permissions_of_any_new_file(full: Audit, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_html(full, tmp_path / "audit.html")
    assert stat.S_IMODE((tmp_path / "audit.html").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


@pytest.mark.parametrize("moment", ["open", "replace"])
def test_a_failure_leaves_what_was_there(
    moment: str, full: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.html"
    path.write_text("old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "replace") if moment == "replace" else (Path, "open")), refuse)
    with pytest.raises(SourceError, match="No space left on device; nothing was written"):
        write_html(full, path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["audit.html"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("absent/deep/audit.html", "there is no folder"),
        (".", "that is a folder; name a file"),
        ("x\x00y.html", "cannot be written to 'x"),
        ("file/audit.html", "there is no folder"),
        ("n" * 300 + ".html", "cannot be written to"),
    ],
)
def test_a_path_that_will_not_do_is_one_sentence(
    path: str, message: str, full: Audit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match=re.escape(message)) as error:
        write_html(full, path)
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
def test_a_link_is_followed_and_a_pipe_is_not_replaced(full: Audit, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "real" / "audit.html")
    write_html(full, tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real" / "audit.html").is_file()
    write_html(full, os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


# -- hostile, from the data on -----------------------------------------------------------------------------------------


def hostile_frames() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two tables whose levels and columns are named to break a page, one group favoured nowhere for sure."""
    names = [name for name in NASTY if name.strip() and "\x00" not in name and "\udcff" not in name]
    jobs = [name for name in names for _ in range(4)]
    people = [(job, group) for at, job in enumerate(names) for group in (names[at], names[-1 - at], names[0])]
    internal = {"<b>job</b>": jobs, "ok": ["yes", "no", "no", "no"] * len(names)}
    external = {"<b>job</b>": [job for job, _ in people], "{{ sex }}": [group for _, group in people]}
    return internal, external


def test_hostile_levels_come_through_an_audit_as_they_are() -> None:
    internal, external = hostile_frames()
    audit = fb.audit(internal, external, protected="{{ sex }}", decision="ok", favourable="yes", reference=NASTY[0])
    html = render_html(audit)
    page = Page(html)
    assert not {"script", "img", "b>"} & {tag for tag, _ in page.tags}
    assert "<script>alert(1)</script>" in page.text
    assert "مجموعة" in page.text
    assert "👩‍👩‍👧 family" in page.text
    assert not re.search(r"\b(nan|NaN|inf|null)\b", page.text.replace("and a null", ""))
    assert any(finding.bounds.upper == math.inf for finding in audit.findings)
    assert len(html.encode()) < 400_000


def test_two_hundred_groups_come_through_an_audit() -> None:
    groups = [f"group {at} " + "x" * 40 for at in range(200)]
    external = {"job": ["a", "b"] * 200, "race": [group for group in groups for _ in "ab"], "n": list(range(1, 401))}
    internal = {"job": ["a", "a", "b", "b"], "ok": ["yes", "no"] * 2, "n": [300, 200, 500, 100]}
    audit = fb.audit(
        *(internal, external),
        protected="race",
        decision="ok",
        favourable="yes",
        internal_weight="n",
        external_weight="n",
        metrics=["disparate_impact"],
        interval_method="none",
    )
    html = render_html(audit)
    assert len(html.encode()) < 400_000
    assert all(group in html for group in groups)


def test_an_audit_of_one_group_is_a_page() -> None:
    rate = Bounds("selection_rate", "F", None, 0.1, 0.3)
    found = Finding("selection_rate", "F", None, rate)
    summary = GroupSummary("F", 1.0, rate)
    categories = Classification.of(("sex",), (1.0,), (found,), (Finding("impact_ratio", "F", None, rate),))
    plain = StrataSummary(1, 0.0, 0.0), Mismatch(0.0, 0.0)
    audit = Audit("external", *plain, (summary,), (found,), classifications=(categories,))
    page = Page(render_html(audit))
    assert "0.100 to 0.300" in page.text
    assert "not defined" in page.text  # nobody to fall short of


def test_the_golden_audit_as_json(full: Audit) -> None:
    path = GOLDEN.with_suffix(".json")
    found = json.dumps(full.to_dict(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8", newline="\n")
    assert found == path.read_text(encoding="utf-8")
    assert Audit.from_dict(json.loads(found)) == full
