"""Regulator views, method and provenance of a report: required fields, and never more than the data show."""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
from html import unescape
from typing import Any

import pytest
from conftest import classified, crowd, everything, sampled

import fairbounds as fb
from fairbounds.report.appendix import method_paragraphs, method_references
from fairbounds.report.html import render_html
from fairbounds.report.layout import sections
from fairbounds.report.opening import opening
from fairbounds.report.regulators import View, four_fifths, regulator_views
from fairbounds.report.repeating import as_toml, call
from fairbounds.results import Audit, Bounds, Finding, Interval


def views(audit: Audit) -> dict[str, View]:
    return {view.ident: view for view in regulator_views(audit, str, "Assumptions", "Where the width comes from")}


def cell(view: View, sheet: int, level: str, column: str) -> str:
    table = view.sheets[sheet]
    row = next(row for row in table.rows if row[0] == level)
    return row[table.columns.index(column)]


def test_every_view_cites_its_rule_and_says_that_these_are_estimates(full: Audit) -> None:
    found = views(full)
    cited = {ident: " ".join(view.citations) for ident, view in found.items()}
    assert "Local Law 144" in cited["nyc"]
    assert "§ 5-30" in cited["nyc"]
    assert "29 CFR § 1607.4(D)" in cited["ugesp"]
    assert "2024/1689" in cited["eu"]
    assert all("not a count of people whose category is known" in view.notes[0] for view in found.values())


def test_new_york_has_every_field_of_a_summary_of_results(full: Audit) -> None:
    view = views(full)["nyc"]
    facts = dict(view.facts)
    assert facts["Individuals assessed"] == "45,191, the rows of the internal table"  # 45,222 less 31 left out
    assert facts["Individuals of unknown category"].startswith("All of them: the internal table does not hold")
    assert "31 rows of the internal table" in facts["Individuals of unknown category"]
    assert facts["Categories under 2%"] == "Asian"
    assert [sheet.caption for sheet in view.sheets] == ["By sex", "By ethnicity"]
    assert cell(view, 1, "Asian", "Under 2%") == "yes"
    assert cell(view, 1, "Black", "Under 2%") == "no"
    assert cell(view, 0, "F", "Selection rate, limits") == "0.100 to 0.300"
    assert cell(view, 0, "F", "Impact ratio, limits") == "0.167 to 1"
    assert not any("People (estimate)" in sheet.columns for sheet in view.sheets)
    assert any("with --population internal" in note for note in view.notes)


def test_people_are_numbered_where_the_shares_are_theirs(full: Audit) -> None:
    view = views(dataclasses.replace(full, population="internal"))["nyc"]
    assert cell(view, 0, "F", "People (estimate)") == "18,076"  # 0.4 of 45,191
    assert not any("with --population internal" in note for note in view.notes)


def test_two_per_cent_itself_is_not_small() -> None:
    made = classified(("race",), {"A": 0.02, "B": 0.0199, "C": 0.9601}, [(0.1, 0.2)] * 3)
    view = views(dataclasses.replace(everything(), classifications=(made,)))["nyc"]
    assert dict(view.facts)["Categories under 2%"] == "B"
    assert any("every protected column" in note for note in view.notes)


def test_a_category_called_unknown_is_counted_as_unknown() -> None:
    made = classified(("race",), {"Unknown": 0.1, "White": 0.9}, [(0.1, 0.2)] * 2)
    facts = dict(views(dataclasses.replace(everything(), classifications=(made,)))["nyc"].facts)
    assert "people of unknown category too: Unknown (10.0%)" in facts["Individuals of unknown category"]


def ratio(lower: float, upper: float, interval: tuple[float, float] | None = None) -> Finding:
    found = Finding("impact_ratio", "F", None, Bounds("impact_ratio", "F", None, lower, upper), (), None, 0.9)
    return found if interval is None else sampled(found, *interval)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (ratio(0.3, 0.79), "below"),
        (ratio(0.3, 0.79, (0.2, 0.81)), "open"),  # sampling error alone leaves it open
        (ratio(0.3, 0.7, (0.2, 0.78)), "below"),
        (ratio(0.8, 1.0), "at_least"),
        (ratio(0.82, 1.0, (0.79, 1.0)), "open"),
        (ratio(0.3, 0.8), "open"),
    ],
)
def test_four_fifths_is_four_fifths_whatever_threshold_the_audit_has(found: Finding, said: str) -> None:
    assert four_fifths(found) == said


def test_significance_is_claimed_only_where_the_interval_shows_it() -> None:
    made = classified(("sex",), {"F": 0.5, "M": 0.5}, [(0.1, 0.2), (0.5, 0.6)])
    women, men = made.categories
    women = dataclasses.replace(women, impact_ratio=ratio(0.17, 0.4, (0.1, 0.99)))
    men = dataclasses.replace(men, impact_ratio=ratio(1.0, 1.0))
    audit = dataclasses.replace(everything(), classifications=(dataclasses.replace(made, categories=(women, men)),))
    view = views(audit)["ugesp"]
    assert cell(view, 0, "F", "Statistically significant") == "yes, 95%"
    assert cell(view, 0, "M", "Statistically significant") == "not tested"
    assert cell(view, 0, "F", "More selected per 100") == "30 to 50"  # 0.5 − 0.2 and 0.6 − 0.1
    assert cell(view, 0, "M", "More selected per 100") == "0"
    bare_women = dataclasses.replace(made.categories[0], impact_ratio=ratio(0.17, 0.4))
    bare = dataclasses.replace(audit, classifications=(dataclasses.replace(made, categories=(bare_women,)),))
    assert any("no significance is claimed" in note for note in views(bare)["ugesp"].notes)


def test_a_shortfall_is_against_the_most_favoured_of_several() -> None:
    made = classified(("race",), {"A": 0.2, "B": 0.3, "C": 0.5}, [(0.1, 0.2), (0.5, 0.6), (0.3, 0.4)])
    ends = [(entry.shortfall_lower, entry.shortfall_upper) for entry in made.categories]
    assert ends == [pytest.approx((0.3, 0.5)), (0.0, 0.0), pytest.approx((0.1, 0.3))]


def test_the_ai_act_view_answers_point_by_point(full: Audit) -> None:
    facts = views(full)["eu"].facts
    assert [term.rpartition(" ")[2] for term, _ in facts] == [
        "10(2)(b)", "10(2)(c)", "10(2)(d)", "10(2)(e)", "10(3)", "10(2)(f)", "10(2)(g)", "10(2)(h)", "10(5)",
    ]  # fmt: skip
    assert "31 rows of the internal table left out" in dict(facts)["Preparation, 10(2)(c)"]


def test_an_audit_without_categories_says_so() -> None:
    bare = dataclasses.replace(everything(), classifications=())
    assert any("no selection rates by category" in note for note in views(bare)["nyc"].notes)
    assert "no selection rates by category" in render_html(bare)


def test_two_hundred_groups_stay_under_400_kilobytes() -> None:
    assert len(render_html(crowd(200)).encode()) < 400_000


# -- width first -------------------------------------------------------------------------------------------------------


def test_wide_bounds_are_said_first(full: Audit) -> None:
    said = opening(full, sections(full, None, 10), str)
    assert said[0] == (
        "The bounds are wide: as far as these data go, disparate impact of “Asian” against “White” may be anything "
        "from 0.620 upward."
    )
    assert said[1].endswith("wide bounds too.")


def test_narrow_bounds_are_not_called_wide() -> None:
    ends = Bounds("disparate_impact", "F", "M", 0.7, 0.78)
    audit = dataclasses.replace(everything(), findings=(Finding("disparate_impact", "F", "M", ends, (), "below", 0.8),))
    assert not any("wide" in said for said in opening(audit, sections(audit, None, 10), str))


# -- method and repetition ---------------------------------------------------------------------------------------------


def test_the_method_describes_what_was_done_and_nothing_else(full: Audit) -> None:
    said = " ".join(method_paragraphs(full))
    assert "An interval widens the bounds" in said
    assert "hidden classes" in said
    assert "feasible mean" not in said
    assert "With scores" not in said
    works = " ".join(method_references(full))
    assert "arXiv:2508.13040" in works
    assert "Goodman" not in works
    plain = dataclasses.replace(full, findings=tuple(dataclasses.replace(f, interval=None) for f in full.findings))
    assert "Sampling error is not included" in " ".join(method_paragraphs(plain))


HERE = {"job": ["a", "a", "b", "b"], "ok": ["yes", "no"] * 2, "paid": ["t", "f", "t", "t"], "n": [3, 7, 9, 1]}
THERE = {"job": ["a", "a", "b", "b", "b"], "sex": ["F", "M", "F", "M", "M"], "race": ["X", "Y", "Y", "X", "Y"]}
ASKED: tuple[dict[str, Any], ...] = (
    {"protected": "sex", "decision": "ok", "favourable": "yes"},
    {
        "protected": ["sex", "race"],
        "decision": "ok",
        "favourable": "no",
        "label": "paid",
        "positive": "f",
        "internal_weight": "n",
        "reference": "M × Y",
        "metrics": ["impact_ratio", "true_positive_ratio"],
        "methods": ["independence", "feasible_mean"],
        "threshold": 0.75,
        "tolerance": 0.1,
        "rng": 5,
        "confidence": 0.9,
        "population": "internal",
        "external_is_census": True,
        "internal_size": 100.0,
    },
    {
        "protected": "sex",
        "decision": "ok",
        "favourable": "yes",
        "interval_method": "none",
        "recode": {"job": {"a": "c"}},
    },
)


@pytest.mark.parametrize("asked", ASKED)
def test_the_printed_call_makes_the_same_audit(asked: dict[str, Any]) -> None:
    found = fb.audit(HERE, THERE, **asked)
    text = call(found.population, found.provenance)
    again = eval(text, {"fairbounds": fb, "internal": HERE, "external": THERE})
    assert again == found
    assert text in unescape(render_html(found))


def test_files_are_named_in_the_call(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "our loans.csv").write_text("job,ok\na,yes\na,no\nb,yes\nb,no\n")
    (tmp_path / "b.csv").write_text("job,sex\na,F\na,M\nb,F\nb,M\n")
    found = fb.audit("our loans.csv", "b.csv", protected="sex", decision="ok", favourable="yes")
    assert eval(call(found.population, found.provenance), {"fairbounds": fb}) == found


def test_what_the_command_line_records_is_printed_as_it_is(full: Audit) -> None:
    spec = {
        "internal": "our “loans”.csv",
        "protected": ["sex", "a\tb\x7f", "😀"],
        "threshold": 0.75,
        "external_census": True,
        "bin": {"age at, entry": [25, 60.5]},
        "recode": {"job": "map.csv"},
    }
    line = "fairbounds audit 'our loans.csv' b.csv --protected sex"
    audit = dataclasses.replace(full, provenance={**full.provenance, "repeat": {"command": line, "spec": spec}})
    blocks = [unescape(text) for text in re.findall("<pre[^>]*><code>(.*?)</code>", render_html(audit), re.DOTALL)]
    assert blocks[0] == line
    assert tomllib.loads(as_toml(spec)) == spec
    assert blocks[1] == as_toml(spec)
    assert len(blocks) == 2


def test_a_model_stands_for_itself_in_the_call() -> None:
    found = fb.audit(
        {"job": ["a", "b"]}, {"job": ["a", "b"], "sex": ["F", "M"]}, protected="sex", predict=lambda rows: [0.3, 0.6]
    )
    assert call(found.population, found.provenance) == (
        "fairbounds.audit(internal, external, protected=['sex'], common=['job'], reference='F', predict=model)"
    )


def test_a_report_written_by_the_audit_is_dated(full: Audit, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    full.report(tmp_path / "audit.html", title="Loans")
    text = (tmp_path / "audit.html").read_text("utf-8")
    assert '<time datetime="2023-11-14">' in text
    dated = text.splitlines()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    full.report(tmp_path / "audit.html", title="Loans")
    later = (tmp_path / "audit.html").read_text("utf-8").splitlines()
    assert sum(a != b for a, b in zip(dated, later, strict=True)) == 1  # its date line aside, byte for byte


def test_intervals_are_drawn_beyond_the_bounds_and_tabled(full: Audit) -> None:
    html = render_html(full)
    assert html.count('class="whisker"') >= 3
    assert '<th scope="col">95% interval, from</th><th scope="col">95% interval, to</th>' in html
    unbounded = Interval("disparate_impact", "Asian", "White", 0.5, math.inf, 0.4, math.inf, 0.95)
    endless = dataclasses.replace(full.findings[1], interval=unbounded)
    page = render_html(dataclasses.replace(full, findings=(endless,)))
    assert "With sampling error: 0.500, no upper limit (95% interval" in page
    assert "<td>no upper limit</td>" in page
