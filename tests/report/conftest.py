"""Audits built by hand: one that shows everything a report can show, and one that tries to break it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from fairbounds.results import (
    Audit,
    Bounds,
    Classification,
    Estimate,
    Finding,
    GroupSummary,
    Interval,
    Mismatch,
    Region,
    StrataSummary,
    StratumMismatch,
    StratumWidth,
)

Known = dict[tuple[str, Any], float]

NASTY = (
    "<script>alert(1)</script>",
    "[red]not markup[/red]",
    "[/]",
    ":warning:",
    "{{ 7 * 7 }} {rate} %s",
    "👩‍👩‍👧 family",
    "مجموعة",
    "קבוצה 12",
    "\u202egnirts desrever",
    "\x1b[31mred\x1b[0m",
    "two\nlines\tand a \x00 null",
    "\udcff lone surrogate",
    "",
    "   ",
    "None",
    '"><img src=x onerror=alert(1)>',
    "long " * 60,
    "unbroken" * 40,
    "日本語の集団",
    "&amp; &lt;",
)


def origin(source: str, rows: int, **other: Any) -> dict[str, Any]:
    """Return an input as the pipeline records it."""
    plain = {
        "weight": None,
        "missing": [],
        "missing_policy": "error",
        "dropped_rows": 0,
        "dropped_share": 0.0,
        "sha256": None,
    }
    return {"source": source, "rows": rows, **plain, **other}


def bounded(metric: str, group: Any, reference: Any, lower: float | None, upper: float | None, **other: Any) -> Bounds:
    return Bounds(metric, group, reference, lower, upper, **other)


def ratio(
    group: Any, lower: float | None, upper: float | None, verdict: Any, *values: Estimate, **other: Any
) -> Finding:
    """Return a disparate impact against White."""
    bounds = bounded("disparate_impact", group, "White", lower, upper, **other)
    return Finding("disparate_impact", group, "White", bounds, values, verdict, 0.8)


def difference(group: Any, lower: float | None, upper: float | None, verdict: Any, **other: Any) -> Finding:
    """Return a true positive difference against White, with a tolerance of 0.05."""
    bounds = bounded("true_positive_difference", group, "White", lower, upper, **other)
    middle = None if lower is None or upper is None else (lower + upper) / 2
    details = {"assumption": "The own method assumes that nothing depends on anything."}
    values = (independence(middle), Estimate("own_method", 0.02, margin_preserving=False, details=details))
    return Finding("true_positive_difference", group, "White", bounds, values, verdict, 0.0, 0.05)


def sampled(found: Finding, lower: float, upper: float) -> Finding:
    """Return a finding with a 95% interval."""
    interval = Interval(found.metric, found.group, found.reference, lower, upper, lower - 0.01, upper + 0.01, 0.95)
    return replace(found, interval=interval)


def classified(columns: tuple[str, ...], shares: dict[Any, float], rates: list[tuple[float, float]]) -> Classification:
    """Return categories whose impact ratios lie between the extremes that their rates allow."""
    found, ratios = [], []
    most = max(high for _, high in rates)
    for level, (low, high) in zip(shares, rates, strict=True):
        found.append(Finding("selection_rate", level, None, bounded("selection_rate", level, None, low, high)))
        ends = bounded("impact_ratio", level, None, low / most, min(1.0, high / max(low, 0.1)))
        ratio_ = Finding("impact_ratio", level, None, ends, (independence(0.7),), "undetermined", 0.8)
        ratios.append(sampled(ratio_, max(0.0, low / most - 0.01), min(1.0, high / max(low, 0.1) + 0.01)))
    return Classification.of(columns, tuple(shares.values()), tuple(found), tuple(ratios))


def independence(value: float | None) -> Estimate:
    return Estimate("independence", value)


def latent(value: float) -> Estimate:
    note = "Not identified: 16 equally likely fits give values from 0.39 to 0.47."
    return Estimate("latent_class", value, margin_preserving=False, note=note)


FINDINGS = (
    sampled(ratio("Black", 0.3502, 0.7899, "below", independence(0.432), latent(0.433)), 0.3377, 0.7999),
    ratio("Asian", 0.62, math.inf, "undetermined", independence(1.04), Estimate("latent_class", math.inf)),
    difference("Black", -0.204, -0.068, "below"),
    difference("Asian", -0.031, 0.0455, "within", sharp=False, method="separate ends"),
    Finding(
        "positive_predictive_ratio",
        "Black",
        "White",
        bounded("positive_predictive_ratio", "Black", "White", 0.81, 1.2, defined="sometimes"),
        (independence(0.97),),
        "above",
        0.8,
    ),
    Finding(
        "positive_predictive_ratio",
        "Asian",
        "White",
        bounded("positive_predictive_ratio", "Asian", "White", None, None, defined="never"),
        (independence(None),),
        "undetermined",
        0.8,
        note="Nobody in this group can have been selected.",
    ),
    Finding("base_rate", "Black", None, bounded("base_rate", "Black", None, 0.0, 1.0), (independence(0.5),)),
    Finding(
        "parity_gap",
        None,
        None,
        bounded("parity_gap", None, None, 0.0, 0.41),
        (independence(0.21),),
        "undetermined",
        0.0,
    ),
)

TRUTH: Known = {
    ("disparate_impact", "Black"): 0.4188,
    ("disparate_impact", "Asian"): 0.5,
    ("selection_rate", "White"): 0.4,
    ("parity_gap", None): 0.2,
}


def everything() -> Audit:
    """Return an audit of three groups with every kind of bounds, estimate, verdict and warning."""
    rates = {"White": (0.67, 0.27, 0.45), "Black": (0.3289, 0.105, 0.402), "Asian": (0.0011, 0.0, 1.0)}
    return Audit(
        "external",
        StrataSummary(12, 0.0, 0.0123),
        Mismatch(
            math.inf,
            0.1204,
            412.7,
            11,
            1e-9,
            (
                StratumMismatch("occupation=clerk, region=north", 0.31, 0.22),
                StratumMismatch("occupation=driver, region=south", 0.05, 0.0804),
            ),
        ),
        tuple(
            GroupSummary(name, share, bounded("selection_rate", name, None, lower, upper))
            for name, (share, lower, upper) in rates.items()
        ),
        FINDINGS,
        ("Within each stratum, the internal table describes that population too.", "The reference group is 'White'."),
        ("1.23% of the external table lies in strata that the internal table lacks.", "The tables differ."),
        {
            "fairbounds": "0.1.0",
            "inputs": {
                "internal": origin("loans.csv", 45_222, dropped_rows=31, dropped_share=0.0007, sha256="ab" * 32),
                "external": origin("census_2021.csv", 120, weight="n"),
            },
            "columns": {
                "common": ["occupation", "region"],
                "protected": ["ethnicity"],
                "decision": "approved",
                "score": None,
                "label": "repaid",
            },
            "favourable": "yes",
            "policy": {"threshold": 0.8, "tolerance": 0.05},
            "methods": ["independence"],
            "seed": 7,
        },
        (
            classified(("sex",), {"F": 0.4, "M": 0.6}, [(0.1, 0.3), (0.4, 0.6)]),
            classified(("ethnicity",), {g: s for g, (s, _, _) in rates.items()}, [r[1:] for r in rates.values()]),
        ),
        (
            StratumWidth("occupation=clerk, region=north", 0.3, (0.1, 0.2, 0.7)),
            StratumWidth("occupation=driver, region=south", 0.2, (0.05, 0.09, 0.2)),
            StratumWidth(None, 0.5, (0.03, 0.007, 0.1)),
        ),
        (Region("selection_rate", "Black", "White", ((0.45, 0.105), (0.27, 0.402)), {"independence": (0.4, 0.2)}),),
    )


def hostile() -> Audit:
    """Return an audit in which every name that a user can choose is nasty."""
    findings = [ratio(name, 0.5 + 0.01 * at, 1.5, "undetermined") for at, name in enumerate(NASTY)]
    findings += [Finding("selection_difference", name, name, bounded("", name, name, -1.0, 1.0)) for name in NASTY[:4]]
    odd = "<b>[bold]own</b>"
    findings.append(Finding(odd, NASTY[0], None, bounded(odd, NASTY[0], None, -3.0, 7e9), (Estimate(odd, 1e-300),)))
    return Audit(
        odd,
        StrataSummary(1, 1e-9, 0.99999),
        Mismatch(0.0, 1.0, 0.0, 1, 0.2, tuple(StratumMismatch(name, 0.5, 0.5) for name in NASTY)),
        tuple(GroupSummary(name, 0.05, bounded("selection_rate", name, None, 0.1, 0.2)) for name in NASTY),
        tuple(findings),
        NASTY,
        NASTY,
        {
            "inputs": {"internal": origin(NASTY[0], 1, weight=NASTY[1]), "external": None},
            "columns": {"common": list(NASTY), "protected": [NASTY[0], NASTY[6]], "decision": odd, "score": odd},
            "favourable": NASTY[1],
            NASTY[0]: {NASTY[1]: [NASTY[2], None, math.nan, math.inf, {"deep": [[]]}]},
        },
        (classified((odd, NASTY[6]), dict.fromkeys(NASTY, 0.05), [(0.1, 0.2)] * len(NASTY)),),
        tuple(StratumWidth(name, 0.05, (0.01,) * len(NASTY)) for name in NASTY),
        tuple(Region(odd, name, NASTY[6], ((0.1, 0.2), (0.3, 0.1))) for name in NASTY),
    )


def crowd(n: int = 200) -> Audit:
    """Return an audit of many groups, the last of them the most extreme."""
    groups = [f"group {at:03}" for at in range(n)]
    findings = [
        ratio(name, 0.9 - at / n / 2, 0.95 - at / n / 2, "below" if at > 0.3 * n else "above")
        for at, name in enumerate(groups)
    ]
    rates = [bounded("selection_rate", name, None, 0.1, 0.3) for name in groups]
    summaries = [
        GroupSummary(name, (1 + at) / n / n, rate) for at, (name, rate) in enumerate(zip(groups, rates, strict=True))
    ]
    shares = {entry.group: entry.share for entry in summaries}
    categories = classified(("ethnicity",), shares, [(0.1, 0.3)] * n)
    plain = StrataSummary(3, 0.0, 0.0), Mismatch(0.0, 0.0)
    return Audit("internal", *plain, tuple(summaries), tuple(findings), classifications=(categories,))


@pytest.fixture
def full() -> Audit:
    return everything()


@pytest.fixture
def nasty() -> Audit:
    return hostile()


@pytest.fixture
def many() -> Audit:
    return crowd()


@pytest.fixture
def truth() -> Known:
    return dict(TRUTH)
