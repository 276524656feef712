"""What is said: every metric has a name, and no sentence claims more than the verdict."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from fairbounds import report
from fairbounds.metrics import CATALOGUE, RATES
from fairbounds.report.layout import is_ratio, sections
from fairbounds.report.phrases import METRICS, SENTENCES, WORDS
from fairbounds.report.phrases import RATES as WORDS_OF_RATES
from fairbounds.report.phrases_law import COLUMNS, FACTS, NOTES, TERMS, VIEWS
from fairbounds.report.phrases_method import PARAGRAPHS, REFERENCES
from fairbounds.report.sentences import answer, badge, caveats, metric_gloss, metric_title, span, verdict
from fairbounds.report.tables_said import agreement
from fairbounds.results import Audit, Bounds, Finding, Mismatch, StrataSummary


def finding(
    metric: str, lower: float | None, upper: float | None, said: Any, tolerance: float = 0.0, **b: Any
) -> Finding:
    group, reference = (None, None) if metric.startswith("parity") else ("Female", "Male")
    bounds = Bounds(metric, group, reference, lower, upper, **b)
    return Finding(metric, group, reference, bounds, (), said, 0.8 if is_ratio(metric) else 0.0, tolerance)


def words(found: Finding) -> str:
    said = verdict(found, str)
    assert said is not None
    return f"{said.lead}: {said.body}"


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_metric_of_the_catalogue_has_a_name_and_a_meaning(name: str) -> None:
    assert "_" not in metric_title(name) + metric_gloss(name)
    assert metric_title(name)[0].isupper()
    assert metric_gloss(name)
    assert is_ratio(name) == CATALOGUE[name].is_ratio


def test_no_phrase_is_left_over() -> None:
    room = Path(report.__file__).parent
    used = "".join(
        file.read_text("utf-8") for file in room.iterdir() if file.is_file() and not file.name.startswith("phrases")
    )
    law = (*COLUMNS, *FACTS, *NOTES, *TERMS, *VIEWS)
    unused = [
        key
        for key in (*WORDS, *SENTENCES, *PARAGRAPHS, *law)
        if not re.search(rf"(['\"]|words\.|sentences\.){key}\b", used)
    ]
    assert unused == []


def test_every_work_is_cited_and_every_citation_has_its_work() -> None:
    assert {work for _, cited in PARAGRAPHS.values() for work in cited} == set(REFERENCES)


def test_the_names_of_metrics_all_differ() -> None:
    assert len({metric_title(name) for name in CATALOGUE}) == len(CATALOGUE)


def test_the_rates_are_described_as_the_catalogue_describes_them() -> None:
    assert {name: text[2] for name, text in WORDS_OF_RATES.items()} == {
        name: rate.words for name, rate in RATES.items()
    }
    assert set(METRICS) < set(CATALOGUE)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            finding("disparate_impact", 0.35, 0.75, "below"),
            "Shown to be below 0.8: whatever the missing data are, the selection rate of “Female” is less than 0.8 "
            "times that of “Male”",
        ),
        (
            finding("disparate_impact", 0.8, math.inf, "above"),
            "Shown to be at least 0.8: whatever the missing data are, the selection rate of “Female” is at least 0.8 "
            "times that of “Male”",
        ),
        (
            finding("disparate_impact", 0.5, 0.9, "undetermined"),
            "Undetermined: the two tables allow values below 0.8 and values of at least 0.8",
        ),
        (
            finding("accuracy_ratio", 0.5, 0.9, "undetermined", sharp=False),
            "Undetermined: the bounds found, which may be loose, contain values below 0.8 and values of at least 0.8",
        ),
        (
            finding("true_positive_ratio", 0.35, 0.75, "below", defined="sometimes"),
            "Shown to be below 0.8: wherever it is defined, whatever the missing data are, the true positive rate of "
            "“Female” is less than 0.8 times that of “Male”",
        ),
        (
            finding("positive_predictive_ratio", None, None, "undetermined", defined="never"),
            "Not defined: no joint distribution that fits both tables gives it a value",
        ),
        (
            finding("demographic_disparity", -0.2, -0.1, "below"),
            "Shown to be below 0: whatever the missing data are, the selection rate of “Female” is lower than that of "
            "“Male”",
        ),
        (
            finding("base_difference", 0.06, 0.1, "above", 0.05),
            "Shown to be above 0.05: whatever the missing data are, the base rate of “Female” is higher than that of "
            "“Male” by more than 0.05",
        ),
        (
            finding("accuracy_difference", -0.04, 0.05, "within", 0.05),
            "Shown to be between −0.05 and 0.05: whatever the missing data are, the accuracies of “Female” and “Male” "
            "differ by at most 0.05",
        ),
        (
            finding("selection_difference", 0.0, 0.0, "within"),
            "Shown to be 0: whatever the missing data are, the selection rates of “Female” and “Male” are equal",
        ),
        (
            finding("selection_difference", -0.1, 0.0, "undetermined"),
            "Undetermined: the two tables allow values below 0 and 0 itself",
        ),
        (
            finding("selection_difference", -0.1, 0.02, "undetermined", 0.05),
            "Undetermined: the two tables allow values below −0.05 and values between −0.05 and 0.05",
        ),
        (
            finding("selection_difference", -0.1, 0.2, "undetermined", 0.05),
            "Undetermined: the two tables allow values below −0.05, values between −0.05 and 0.05 and "
            "values above 0.05",
        ),
        (
            finding("impact_ratio", 0.1, 0.2, "below"),
            "Shown to be below 0.8: whatever the missing data are, the selection rate of “Female” is less than 0.8 "
            "times that of the most favoured group",
        ),
        (
            finding("parity_ratio", 0.8, 0.9, "above"),
            "Shown to be at least 0.8: whatever the missing data are, the lowest selection rate of any group is at "
            "least 0.8 times the highest",
        ),
        (
            finding("parity_gap", 0.1, 0.2, "above", 0.05),
            "Shown to be above 0.05: whatever the missing data are, the selection rates of some two groups differ by "
            "more than 0.05",
        ),
    ],
)
def test_verdicts_in_words(found: Finding, text: str) -> None:
    assert words(found) == text


def test_a_metric_of_the_users_own_claims_nothing_but_the_side() -> None:
    bounds = Bounds("loss", "F", None, 0.1, 0.2)
    assert words(Finding("loss", "F", None, bounds, (), "below", 0.5)) == (
        "Shown to be below 0.5: whatever the missing data are"
    )


def test_plain_rates_have_no_verdict() -> None:
    plain = Finding("base_rate", "F", None, Bounds("base_rate", "F", None, 0.1, 0.2))
    assert verdict(plain, str) is None
    assert badge(plain) == ""


def test_the_ends_in_words() -> None:
    def ends(lower: float | None, upper: float | None) -> str:
        return span(Bounds("disparate_impact", "F", "M", lower, upper), 0.8)

    assert ends(0.1, 0.79996) == "0.100 to 0.79996"
    assert ends(0.1, math.inf) == "0.100, no upper limit"
    assert ends(math.inf, math.inf) == "infinite"
    assert ends(None, None) == "not defined"
    assert ends(0.5, 0.5) == "0.500"


def test_a_note_replaces_the_standing_caveats() -> None:
    loose = finding("accuracy_ratio", 0.5, 0.9, "undetermined", sharp=False, defined="sometimes")
    assert len(caveats(loose)) == 2
    noted = Finding(loose.metric, "F", "M", loose.bounds, note="Read this.")
    assert caveats(noted) == ["Read this."]


def test_the_answer_says_first_what_stays_open(full: Audit, truth: Any) -> None:
    said = answer(full, sections(full, truth, 10), str)
    assert said[0] == "The two tables leave 3 of 7 comparisons undetermined."
    assert "0.8 is the four-fifths screen, not a finding of law." in said
    assert said[-1] == "The true values are known here: 2 of 3 lie inside their bounds."


def test_the_answer_to_a_single_question() -> None:
    def said(lower: float | None, upper: float | None, judged: Any) -> str:
        found = finding("disparate_impact", lower, upper, judged)
        audit = Audit("external", StrataSummary(1, 0, 0), Mismatch(0, 0), (), (found,))
        sentences = answer(audit, sections(audit, None, 10), str)[:-2]
        return " ".join(sentence for sentence in sentences if "holds" not in sentence)

    about = "Disparate impact of “Female” against “Male”"
    assert said(0.1, 0.7999, "below") == f"{about} lies between 0.100 and 0.7999: shown to be below 0.8."
    assert said(0.1, math.inf, "undetermined") == (
        "The two tables do not settle the comparison. "
        + about
        + " is 0.100 or more, without upper limit: undetermined."
    )
    assert said(None, None, "undetermined").endswith(f"{about} is not defined.")


def test_agreement_in_words() -> None:
    same = agreement(Mismatch(0.0, 0.0, 0.0, 1, 1.0), StrataSummary(2, 0.0, 0.0))
    assert same == ["Every stratum has the same share of both tables (total variation 0)."]
    apart = " ".join(agreement(Mismatch(math.inf, 0.3, 20.0, 3, 0.0002), StrataSummary(2, 0.0, 0.1)))
    for part in (
        "30.0% of one table",
        "divergence infinite",
        "rarely",
        "3 degrees",
        "p < 0.001",
        "10.0% of the external",
    ):
        assert part in apart
    assert "easily" in " ".join(agreement(Mismatch(0.1, 0.1, 2.0, 1, 0.4), StrataSummary(2, 0.0, 0.0)))
