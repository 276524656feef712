"""Metrics as data: the catalogue, and the value of every metric against its definition."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from oracles import STEMS, compared, parts, split_name

from fairbounds.errors import ProblemError
from fairbounds.metrics import CATALOGUE, RATES, Metric, get

# Spelt out, not derived: these are the names that people write on command lines.
NAMES = {
    *("selection_rate", "selection_difference", "selection_ratio"),
    *("true_positive_rate", "true_positive_difference", "true_positive_ratio"),
    *("false_positive_rate", "false_positive_difference", "false_positive_ratio"),
    *("true_negative_rate", "true_negative_difference", "true_negative_ratio"),
    *("false_negative_rate", "false_negative_difference", "false_negative_ratio"),
    *("positive_predictive_rate", "positive_predictive_difference", "positive_predictive_ratio"),
    *("negative_predictive_rate", "negative_predictive_difference", "negative_predictive_ratio"),
    *("accuracy_rate", "accuracy_difference", "accuracy_ratio"),
    *("base_rate", "base_difference", "base_ratio"),
    *("demographic_disparity", "disparate_impact", "impact_ratio", "parity_gap", "parity_ratio"),
}


def test_the_catalogue_has_the_names_of_the_design() -> None:
    assert set(CATALOGUE) == NAMES
    assert set(RATES) == set(STEMS)
    assert all(metric.name == name for name, metric in CATALOGUE.items())


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_metric_is_found_by_name_and_knows_its_form(name: str) -> None:
    stem, form = split_name(name)
    metric = get(name)
    assert (metric.rate.name, metric.form) == (stem, form)
    assert metric.is_ratio == ("ratio" in form)
    assert metric.pairwise == (form in ("difference", "ratio"))
    assert metric.all_groups == form.startswith("parity")
    assert get(metric) is metric


@pytest.mark.parametrize("stem", STEMS)
def test_coefficients_are_the_probabilities_of_the_two_events(stem: str) -> None:
    atoms = list(itertools.product([0.0, 0.3, 1.0], ["good", "bad"]))
    label = np.array([float(y == "good") for _, y in atoms])
    counted, among = RATES[stem].coefficients(np.array([f for f, _ in atoms]), label)
    wanted = np.array([parts(stem, atom) for atom in atoms])
    np.testing.assert_allclose(np.column_stack([counted, among]), wanted, atol=1e-15)
    assert np.all(counted <= among)


def test_only_selection_needs_no_label() -> None:
    assert [stem for stem in STEMS if not RATES[stem].needs_label] == ["selection"]
    counted, among = RATES["selection"].coefficients(np.array([0.3, 1.0]), None)
    assert (counted.tolist(), among.tolist()) == ([0.3, 1.0], [1.0, 1.0])


def test_three_rates_are_counted_among_whole_groups() -> None:
    assert {stem for stem in STEMS if RATES[stem].unconditional} == {"selection", "accuracy", "base"}


RATE_VALUES = [0.0, 0.25, 1.0, math.nan]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_values_of_known_rates_are_those_of_the_definition(name: str) -> None:
    metric = get(name)
    for rates in itertools.product(RATE_VALUES, repeat=3):
        if math.isnan(sum(rates)) and (metric.all_groups or metric.form == "impact_ratio"):
            continue  # selection rates are defined wherever there is a group
        known = {g: None if math.isnan(rate) else rate for g, rate in enumerate(rates)}
        wanted = compared(metric.form, known, 0, 2)
        found = metric.value(rates, 0, 2)
        assert found == wanted or found == pytest.approx(wanted), rates


def test_a_pair_needs_a_reference() -> None:
    with pytest.raises(ProblemError, match="name the reference"):
        get("disparate_impact").value([0.1, 0.2], group=0)


@pytest.mark.parametrize(
    ("name", "words"),
    [("disparate_impct", "did you mean 'disparate_impact'"), ("", "there is no metric ''"), ("zzz", "'impact_ratio'")],
)
def test_a_name_that_is_no_metric_gets_the_names_that_are(name: str, words: str) -> None:
    with pytest.raises(ProblemError, match=re.escape(words)):
        get(name)


def test_a_metric_of_ones_own_passes_through() -> None:
    own: Any = Metric("mine", RATES["accuracy"], "difference")
    assert get(own) is own
    assert own.value([0.75, 0.5], 0, 1) == 0.25
