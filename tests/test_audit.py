"""The Python entry: the same audit from every kind of source, models, defaults, warnings, and numbers found by hand."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import fairbounds as fb

Columns: TypeAlias = dict[str, list[Any]]

INTERNAL: Columns = {
    "job": ["nurse", "nurse", "teacher", "teacher", "driver", "driver"],
    "approved": ["yes", "no", "yes", "no", "yes", "no"],
    "n": [300, 700, 600, 600, 1440, 160],
}
EXTERNAL: Columns = {
    "job": ["nurse", "nurse", "teacher", "teacher", "driver", "driver"],
    "sex": ["female", "male", "female", "male", "female", "male"],
    "people": [9000, 1000, 7500, 2500, 800, 15200],
}
ROLES: dict[str, Any] = {"protected": "sex", "decision": "approved", "favourable": "yes"}
WEIGHTS = {"internal_weight": "n", "external_weight": "people"}


def audit(internal: object = INTERNAL, external: object = EXTERNAL, **changes: Any) -> fb.Audit:
    return fb.audit(internal, external, **{**ROLES, **WEIGHTS, **changes})


def with_more(columns: Columns, *values: object) -> Columns:
    """Return a table with one more row."""
    return {name: [*column, value] for (name, column), value in zip(columns.items(), values, strict=True)}


def ends(found: fb.Finding) -> tuple[float | None, float | None]:
    return found.bounds.lower, found.bounds.upper


# -- numbers -----------------------------------------------------------------------------------------------------------
#
# Of the approved share q and the female share r of a job, at least max(0, q + r - 1) and at most min(q, r) are approved
# women; men likewise with 1 - r. Audited people are weighed by the external jobs (5 : 5 : 8 of 18) or by the internal
# ones (5 : 6 : 8 of 19).
#
#            q      r     women        men
#   nurse    3/10   9/10  2/10–3/10    0–1/10
#   teacher  1/2    3/4   1/4–1/2      0–1/4
#   driver   9/10   1/20  0–1/20       17/20–9/10

JOBS = {
    "external": (Fraction(5, 18), Fraction(5, 18), Fraction(8, 18)),
    "internal": (Fraction(5, 19), Fraction(6, 19), Fraction(8, 19)),
}
FEMALE = (Fraction(9, 10), Fraction(3, 4), Fraction(1, 20))
APPROVED = (Fraction(3, 10), Fraction(1, 2), Fraction(9, 10))
LEAST = {"female": (Fraction(2, 10), Fraction(1, 4), Fraction(0)), "male": (Fraction(0), Fraction(0), Fraction(17, 20))}
MOST = {
    "female": (Fraction(3, 10), Fraction(1, 2), Fraction(1, 20)),
    "male": (Fraction(1, 10), Fraction(1, 4), Fraction(9, 10)),
}


def over_jobs(population: str, *factors: tuple[Fraction, ...]) -> Fraction:
    """Sum the product of some shares over the jobs."""
    return sum((math.prod(job) for job in zip(JOBS[population], *factors, strict=True)), Fraction(0))


@pytest.mark.parametrize("population", ["external", "internal"])
def test_the_numbers_are_those_found_by_hand(population: str) -> None:
    share = {"female": over_jobs(population, FEMALE)}
    share["male"] = 1 - share["female"]
    least, most = ({sex: over_jobs(population, of[sex]) / share[sex] for sex in share} for of in (LEAST, MOST))
    alike = over_jobs(population, FEMALE, APPROVED)
    likely = {"female": alike / share["female"]}
    likely["male"] = (over_jobs(population, APPROVED) - alike) / share["male"]
    result = audit(population=population, reference="male", metrics=["selection_rate", *DEFAULT])
    assert {entry.group: entry.share for entry in result.groups} == pytest.approx(
        {k: float(v) for k, v in share.items()}
    )
    for sex in share:
        assert ends(result.find("selection_rate", sex)) == pytest.approx((float(least[sex]), float(most[sex])))
        assert result.find("selection_rate", sex).estimate("independence") == pytest.approx(float(likely[sex]))
    ratio, difference = (result.find(metric, "female") for metric in DEFAULT)
    by_hand = (least["female"] / most["male"], most["female"] / least["male"])
    assert ends(ratio) == pytest.approx(tuple(map(float, by_hand)))
    assert ratio.estimate("independence") == pytest.approx(float(likely["female"] / likely["male"]))
    by_hand = (least["female"] - most["male"], most["female"] - least["male"])
    assert ends(difference) == pytest.approx(tuple(map(float, by_hand)))
    assert difference.estimate("independence") == pytest.approx(float(likely["female"] - likely["male"]))
    assert (ratio.verdict, difference.verdict) == ("below", "below")


def test_the_fractions_themselves() -> None:
    """Written out once, lest the formulas above and the program share a mistake."""
    found = audit(reference="male").find("disparate_impact")
    assert ends(found) == pytest.approx((8415 / 30967, 121 / 173))
    assert found.estimate("independence") == pytest.approx(
        (0.27 + 0.375 + 0.072) / 1.73 * 1.87 / (0.03 + 0.125 + 1.368)
    )


DEFAULT = ("disparate_impact", "demographic_disparity")

# -- sources -----------------------------------------------------------------------------------------------------------


def as_csv(columns: Columns, path: Path) -> Path:
    pd.DataFrame(columns).to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def as_parquet(columns: Columns, path: Path) -> str:
    pl.DataFrame(columns).write_parquet(path.with_suffix(".parquet"))
    return str(path.with_suffix(".parquet"))


def as_rows(columns: Columns, path: Path) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def as_relation(columns: Columns, path: Path) -> object:
    table = pa.table(columns)
    return duckdb.connect().from_arrow(table)


FORMS: dict[str, Callable[[Columns, Path], object]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "pandas": lambda columns, _: pd.DataFrame(columns),
    "pandas categorical": lambda columns, _: pd.DataFrame(columns).astype({"job": "category"}),
    "polars": lambda columns, _: pl.DataFrame(columns),
    "polars lazy": lambda columns, _: pl.LazyFrame(columns),
    "pyarrow": lambda columns, _: pa.table(columns),
    "duckdb": as_relation,
    "dict of arrays": lambda columns, _: {name: np.array(values) for name, values in columns.items()},
    "rows": as_rows,
}


def alike(found: fb.Audit, wanted: fb.Audit) -> None:
    """Compare findings but for rounding, where levels are in another order."""
    for ours, theirs in zip(found.findings, wanted.findings, strict=True):
        assert (ours.metric, ours.group, ours.verdict) == (theirs.metric, theirs.group, theirs.verdict)
        assert ends(ours) == pytest.approx(ends(theirs))
        assert ours.estimate("independence") == pytest.approx(theirs.estimate("independence"))


def same(found: fb.Audit, wanted: fb.Audit) -> None:
    """Compare all that does not tell where the tables came from."""
    for part in ("population", "strata", "mismatch", "groups", "findings", "assumptions", "warnings"):
        assert getattr(found, part) == getattr(wanted, part), part
    assert found.provenance["columns"] == wanted.provenance["columns"]


@pytest.mark.parametrize("form", FORMS)
def test_every_kind_of_source_gives_the_same_audit(form: str, tmp_path: Path) -> None:
    made = [FORMS[form](columns, tmp_path / name) for columns, name in ((INTERNAL, "internal"), (EXTERNAL, "external"))]
    same(audit(*made), audit())


def test_tables_carry_their_own_weights() -> None:
    internal = fb.Table.from_columns({name: INTERNAL[name] for name in ("job", "approved")}, INTERNAL["n"])
    external = fb.read_table(EXTERNAL, weight="people")
    same(audit(internal, external, internal_weight=None, external_weight=None), audit())


def test_the_two_sources_may_be_of_different_kinds(tmp_path: Path) -> None:
    same(audit(as_csv(INTERNAL, tmp_path / "internal"), pl.DataFrame(EXTERNAL)), audit())


def test_the_order_of_rows_and_columns_does_not_matter() -> None:
    frame = pd.DataFrame(EXTERNAL)
    same(audit(external=frame.iloc[::-1][["people", "sex", "job"]]), audit())


def test_what_was_handed_over_is_not_changed() -> None:
    internal, external = pd.DataFrame(INTERNAL), pd.DataFrame(EXTERNAL)
    before = internal.copy(deep=True), external.copy(deep=True)
    audit(internal, external, recode={"job": {"nurse": "care"}})
    pd.testing.assert_frame_equal(internal, before[0])
    pd.testing.assert_frame_equal(external, before[1])


def test_text_of_a_file_meets_numbers_of_a_frame(tmp_path: Path) -> None:
    """A CSV file has no types; that they were matched as printed is told."""
    numbers = {"nurse": 1, "teacher": 2, "driver": 30}
    internal, external = ({**table, "job": [numbers[job] for job in table["job"]]} for table in (INTERNAL, EXTERNAL))
    result = audit(as_csv(internal, tmp_path / "internal"), pl.DataFrame(external))
    alike(result, audit())
    assert any("'job' holds text in one table" in warning for warning in result.warnings)


def test_several_protected_columns_may_be_named() -> None:
    external = {**EXTERNAL, "region": ["north", "south"] * 3}
    result = audit(external=external, protected=["sex", "region"])
    assert [entry.group for entry in result.groups] == ["female × north", "male × south"]


# -- models ------------------------------------------------------------------------------------------------------------

PEOPLE: Columns = {
    "job": ["nurse", "nurse", "nurse", "driver", "driver", "driver", "driver", "teacher"],
    "years": [1, 1, 9, 1, 9, 9, 9, 4],
    "id": [1, 2, 3, 4, 5, 6, 7, 8],
}


class Recorder:
    """A model that remembers what it was asked."""

    def __init__(self, answer: Callable[[Any], list[Any]]) -> None:
        self.asked: list[Any] = []
        self._answer = answer

    def __call__(self, frame: Any) -> list[Any]:
        self.asked.append(frame)
        return self._answer(frame)


def experience(frame: Any) -> list[float]:
    return [float(years) / 10 for years in frame["years"]]


MODEL: dict[str, Any] = {"protected": "sex", "external_weight": "people", "features": ["job", "years"]}


@pytest.mark.parametrize("library", [pd, pl])
def test_a_model_is_asked_once_for_every_distinct_row(library: Any) -> None:
    """Eight people, but five distinct pairs of job and years: one call with five rows."""
    model = Recorder(experience)
    internal = library.DataFrame(PEOPLE)
    result = fb.audit(internal, EXTERNAL, predict=model, **MODEL)
    [frame] = model.asked
    assert type(frame) is type(internal)
    assert list(frame.columns) == ["job", "years"]
    assert sorted(zip(frame["job"], frame["years"], strict=True)) == [
        ("driver", 1),
        ("driver", 9),
        ("nurse", 1),
        ("nurse", 9),
        ("teacher", 4),
    ]
    scored = {**PEOPLE, "p": [years / 10 for years in PEOPLE["years"]]}
    by_column = fb.audit(scored, EXTERNAL, score="p", common=["job"], protected="sex", external_weight="people")
    assert result.findings == by_column.findings
    assert result.provenance["columns"]["decision"] is None


def test_a_model_may_decide() -> None:
    model = Recorder(lambda frame: ["yes" if years > 3 else "no" for years in frame["years"]])
    result = fb.audit(pd.DataFrame(PEOPLE), EXTERNAL, predict=model, favourable="yes", **MODEL)
    decided = {**PEOPLE, "approved": ["yes" if years > 3 else "no" for years in PEOPLE["years"]]}
    by_column = fb.audit(decided, EXTERNAL, common=["job"], external_weight="people", **ROLES)
    assert result.findings == by_column.findings
    assert len(model.asked) == 1


def test_without_features_a_model_reads_all_but_the_label_and_the_weight() -> None:
    model = Recorder(lambda frame: [0.5] * len(frame))
    internal = pd.DataFrame({**PEOPLE, "repaid": ["yes", "no"] * 4, "n": [1] * 8})
    roles = {"protected": "sex", "external_weight": "people", "internal_weight": "n"}
    fb.audit(internal, EXTERNAL, predict=model, label="repaid", **roles)
    assert list(model.asked[0].columns) == ["job", "years", "id"]


def fitted() -> tuple[DecisionTreeClassifier, pd.DataFrame]:
    rows = pd.DataFrame({"job": ["nurse", "teacher", "driver"] * 40, "years": [n % 7 for n in range(120)]})
    features = pd.DataFrame({"nurse": (rows["job"] == "nurse").astype(int), "years": rows["years"]})
    granted = np.where((rows["years"] + (rows["job"] == "nurse") * 2 + rows.index % 3) > 4, "granted", "refused")
    return DecisionTreeClassifier(max_depth=2, random_state=0).fit(features, granted), rows.join(features[["nurse"]])


def test_the_probabilities_of_a_fitted_tree_are_its_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, rows = fitted()
    asked: list[int] = []
    honest = DecisionTreeClassifier.predict_proba

    def counted(self: DecisionTreeClassifier, frame: pd.DataFrame) -> object:
        asked.append(len(frame))
        return honest(self, frame)

    monkeypatch.setattr(DecisionTreeClassifier, "predict_proba", counted)
    roles = {"protected": "sex", "external_weight": "people"}
    result = fb.audit(rows, EXTERNAL, predict=tree, features=["nurse", "years"], favourable="granted", **roles)
    assert asked == [14]  # nurse or not × seven numbers of years
    probabilities = honest(tree, rows[["nurse", "years"]])[:, list(tree.classes_).index("granted")]
    assert len({*probabilities} - {0, 1}) > 0
    by_column = fb.audit(rows.assign(p=probabilities), EXTERNAL, score="p", common=["job"], **roles)
    alike(result, by_column)


def test_what_a_model_raises_is_not_hidden() -> None:
    def broken(frame: object) -> None:
        raise KeyError("salary")

    with pytest.raises(KeyError, match="salary"):
        fb.audit(PEOPLE, EXTERNAL, predict=broken, **MODEL)


# -- defaults ----------------------------------------------------------------------------------------------------------


def metrics_of(result: fb.Audit) -> list[str]:
    return list(dict.fromkeys(found.metric for found in result.findings))


def test_by_default_the_two_metrics_of_the_paper() -> None:
    assert metrics_of(audit()) == list(DEFAULT)


def test_a_label_adds_error_rates() -> None:
    internal = {**INTERNAL, "repaid": ["yes", "yes", "no", "yes", "yes", "no"]}
    errors = ["true_positive_difference", "false_positive_difference", "positive_predictive_difference"]
    assert metrics_of(audit(internal, label="repaid")) == [*DEFAULT, *errors]


def test_more_than_two_groups_add_the_comparisons_of_all() -> None:
    external = {**EXTERNAL, "sex": ["female", "male", "other"] * 2}
    result = audit(external=external)
    assert metrics_of(result) == [*DEFAULT, "impact_ratio", "parity_ratio", "parity_gap"]
    assert len(result.findings) == 2 + 2 + 3 + 1 + 1


def test_the_reference_is_the_largest_group_of_the_audited_population() -> None:
    """With 13,000 male drivers women are 17,300 of 33,800 people; of the applicants, who drive more often, 0.496."""
    assert audit().provenance["reference"] == "male"
    external = {**EXTERNAL, "people": [9000, 1000, 7500, 2500, 800, 13000]}
    assert audit(external=external).provenance["reference"] == "female"
    assert audit(external=external, population="internal").provenance["reference"] == "male"


def test_common_columns_are_all_that_both_tables_have_but_roles() -> None:
    internal = {**INTERNAL, "region": ["n", "s"] * 3, "note": ["x"] * 6}
    external = {**EXTERNAL, "region": ["n", "s"] * 3, "approved": ["no"] * 6, "n": [1] * 6}
    assert audit(internal, external).provenance["columns"]["common"] == ["job", "region"]
    assert audit(internal, external, common=["region"]).provenance["columns"]["common"] == ["region"]


PLAIN = [("yes", "no"), ("Y", "N"), (1, 0), (True, False), ("1.0", "0.0"), ("TRUE", "FALSE")]


@pytest.mark.parametrize(("yes", "no"), PLAIN)
def test_the_favourable_level_is_guessed_where_it_is_plain_and_the_guess_is_told(yes: object, no: object) -> None:
    internal = {**INTERNAL, "approved": [yes, no] * 3}
    guessed, told = audit(internal, favourable=None), audit(internal, favourable=yes)
    assert guessed.findings == told.findings
    [warning] = guessed.warnings
    assert f"favourable level of 'approved' was taken to be {str(yes)!r}" in warning
    assert told.warnings == ()


def test_a_single_name_needs_no_list() -> None:
    names = {"protected": "sex", "common": "job", "metrics": "disparate_impact", "methods": "independence"}
    assert audit(**names) == audit(**{role: [name] for role, name in names.items()})


def test_one_stratum_is_accepted_in_python() -> None:
    internal = {"job": ["nurse"] * 2, "approved": ["yes", "no"], "n": [1, 3]}
    external = {"job": ["nurse"] * 2, "sex": ["female", "male"], "people": [1, 3]}
    assert audit(internal, external).strata.n == 1
    with pytest.raises(fb.ProblemError, match="never vary"):
        audit(internal, external, one_stratum="error")


# -- warnings ----------------------------------------------------------------------------------------------------------


def test_a_plain_audit_has_nothing_to_warn_of() -> None:
    assert audit().warnings == ()


@pytest.mark.parametrize(
    ("population", "external_only", "internal_only"),
    [
        ("external", "unknown outcome", "these rows do not count"),
        ("internal", "the audited population has nobody there", "unknown group shares"),
    ],
)
def test_strata_of_one_table_only_are_told_with_their_mass(
    population: str, external_only: str, internal_only: str
) -> None:
    """4,000 of 40,000 people are pilots, whom nobody decided on; 200 of 4,000 decisions are about bakers."""
    internal, external = with_more(INTERNAL, "baker", "yes", 200), with_more(EXTERNAL, "pilot", "male", 4000)
    result = audit(internal, external, population=population)
    assert result.strata.external_only_mass == pytest.approx(0.1)
    assert result.strata.internal_only_mass == pytest.approx(0.05)
    [first] = [warning for warning in result.warnings if warning.startswith("10.00% of the external table")]
    [second] = [warning for warning in result.warnings if warning.startswith("5.00% of the internal table")]
    assert external_only in first
    assert internal_only in second
    assert any("independence estimate leaves out" in warning for warning in result.warnings)
    assert not any(estimate.margin_preserving for found in result.findings for estimate in found.estimates)


def test_tables_without_a_stratum_in_common_allow_everything_and_say_so() -> None:
    internal = {"job": ["nurse", "driver"], "region": ["n", "s"], "approved": ["yes", "no"], "n": [1, 1]}
    external = {"job": ["nurse", "driver"], "region": ["s", "n"], "sex": ["female", "male"], "people": [1, 1]}
    result = audit(internal, external)
    assert ends(result.find("demographic_disparity")) == (-1, 1)
    assert result.find("demographic_disparity").verdict == "undetermined"
    assert any(warning.startswith("100.00% of the external table") for warning in result.warnings)


def test_a_group_outside_the_audited_population_is_told() -> None:
    result = audit(external=with_more(EXTERNAL, "pilot", "other", 9), population="internal")
    assert [entry.group for entry in result.groups] == ["female", "male"]
    assert any("'other'" in warning and "nothing is reported" in warning for warning in result.warnings)


def test_tables_that_weigh_the_strata_differently_are_told() -> None:
    result = audit(external={**EXTERNAL, "people": [90000, 10000, 7500, 2500, 800, 15200]})
    assert any("total variation 0.53" in warning for warning in result.warnings)


def test_a_table_of_counts_without_its_weight_is_told() -> None:
    """The commonest slip: every combination occurs in one row, and a column of numbers that nobody named is left."""
    result = audit(external_weight=None)
    assert any("'people'" in warning and "external_weight" in warning for warning in result.warnings)


def test_an_audit_makes_no_python_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit()


# -- what comes back ---------------------------------------------------------------------------------------------------


def test_a_finding_is_found_by_metric_and_group() -> None:
    external = {**EXTERNAL, "sex": ["female", "male", "other"] * 2}
    result = audit(external=external, reference="male")
    found = result.find("disparate_impact", "other")
    assert (found.metric, found.group, found.reference) == ("disparate_impact", "other", "male")
    assert result.find("disparate_impact").group == "female"  # the first
    assert result.find("parity_gap").group is None
    known = r"no finding 'disparate_impact' for 'male'; it has .*disparate_impact \(other\)"
    with pytest.raises(fb.ProblemError, match=known):
        result.find("disparate_impact", "male")


def cases() -> Mapping[str, Callable[[], fb.Audit]]:
    years = {**EXTERNAL, "sex": [1, 2, 1, 2, 1, 2]}
    missing = {**EXTERNAL, "sex": ["female", None] * 3}
    pilots = with_more(EXTERNAL, "pilot", "male", 9)
    never = {**INTERNAL, "n": [300, 700, 0, 600, 0, 160]}
    return {
        "plain": audit,
        "numbers for groups": lambda: audit(external=years),
        "missing group": lambda: audit(external=missing, missing="level"),
        "dropped rows": lambda: audit(external=missing | {"sex": ["female", "male", None] * 2}, missing="drop"),
        "one-sided": lambda: audit(external=pilots),
        "unbounded": lambda: audit(never, reference="male"),
        "nobody approved": lambda: audit({**INTERNAL, "n": [0, 700, 0, 600, 0, 160]}, metrics=["disparate_impact"]),
        "every metric": lambda: audit(
            {**INTERNAL, "repaid": ["yes", "yes", "no", "yes", "yes", "no"]},
            label="repaid",
            metrics=list(fb.metrics.CATALOGUE),
        ),
    }


@pytest.mark.parametrize("case", cases())
def test_an_audit_survives_json(case: str) -> None:
    result = cases()[case]()
    stored = json.dumps(result.to_dict(), allow_nan=False)
    again = fb.Audit.from_dict(json.loads(stored))
    assert again == result
    assert again.to_dict() == result.to_dict()


def test_an_audit_of_dataframes_with_dates_survives_json() -> None:
    days = {"nurse": "2024-01-01", "teacher": "2024-02-01", "driver": "2024-03-01"}
    internal, external = (
        pd.DataFrame({**table, "job": pd.to_datetime([days[job] for job in table["job"]])})
        for table in (INTERNAL, EXTERNAL)
    )
    result = audit(internal, external)
    alike(result, audit())
    assert fb.Audit.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_a_stored_audit_of_another_schema_is_refused() -> None:
    with pytest.raises(fb.ProblemError, match="schema is 'fairbounds/audit/9'"):
        fb.Audit.from_dict({**audit().to_dict(), "schema": "fairbounds/audit/9"})


def test_the_bounds_of_an_audit_can_be_attained() -> None:
    joint = audit().find("disparate_impact").bounds.attained_by("lower")
    assert joint.total == pytest.approx(1)
    assert joint.names == ("job", "approved", "sex")


def test_the_same_audit_twice_is_equal() -> None:
    assert audit() == audit()
    assert audit() != audit(threshold=0.5)


def test_midnights_are_days() -> None:
    """A dataframe stores days as times; a CSV has text, a database has dates."""
    internal = pd.DataFrame({"day": pd.to_datetime(["2020-01-03", "2020-01-04"]), "ok": ["yes", "no"]})
    for days in (["2020-01-03", "2020-01-04"], [date(2020, 1, 3), date(2020, 1, 4)]):
        found = fb.audit(internal, {"day": days, "sex": ["F", "M"]}, protected="sex", decision="ok", reference="M")
        assert found.strata.n == 2
        assert [group.selection_rate.lower for group in found.groups] == [1.0, 0.0]
        assert any("midnight" in said for said in found.warnings)


@pytest.mark.parametrize("seed", range(40))
def test_one_possible_value_is_one_number(seed: int) -> None:
    """Where every decision of a stratum is the same nothing is open, and rounding must not turn the ends around."""
    rng = np.random.default_rng(seed)
    jobs = [f"job {at}" for at in range(7)]
    internal = {"job": jobs, "ok": rng.choice(["yes", "no"], 7), "n": rng.integers(1, 50, 7)}
    external = {"job": jobs * 3, "sex": ["a"] * 7 + ["b"] * 7 + ["c"] * 7, "n": rng.integers(1, 99, 21)}
    weights = {"internal_weight": "n", "external_weight": "n"}
    metrics = [
        "selection_rate",
        "selection_difference",
        "selection_ratio",
        "impact_ratio",
        "parity_gap",
        "parity_ratio",
    ]
    asked: Any = {"protected": "sex", "decision": "ok", "favourable": "yes", "metrics": metrics, **weights}
    if len(set(internal["ok"])) == 1:
        return
    found = fb.audit(internal, external, interval_method="none", **asked)
    for finding in found.findings:
        low, high = finding.bounds.lower, finding.bounds.upper
        assert low is not None
        assert high is not None
        assert low <= high
        assert high - low <= 1e-12 * max(1.0, abs(high))


def test_a_missing_decision_kept_as_a_level_is_said_to_count_against() -> None:
    internal = {"job": ["a", "a", "b"], "ok": ["yes", None, "no"]}
    external = {"job": ["a", "b", "b"], "sex": ["F", "F", "M"]}
    found = fb.audit(internal, external, protected="sex", decision="ok", favourable="yes", missing="level")
    assert any("'ok' counts as not favourable" in said for said in found.warnings)
