"""`fairbounds tabulate`: counts that say what was done to them, and an audit that finds it and allows for it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables_on_disk import EXTERNAL, csv, listing, write

import fairbounds as fb
from fairbounds import cli
from fairbounds.origins import Disclosure
from fairbounds.sources.counts import write_counts
from fairbounds.sources.disclosing import disclose, noise_within
from fairbounds.sources.warehouse import counting_query

Captured: TypeAlias = pytest.CaptureFixture[str]

BUSY = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
ENDINGS = ["csv", "parquet", "json", "jsonl"]
ROWS = [
    *[("nurse", "yes")] * 7,
    *[("nurse", "no")] * 33,
    *[("driver", "yes")] * 58,
    *[("driver", "no")] * 2,
    *[("teacher", "yes")] * 1,
    *[("teacher", "no")] * 12,
]
TRUE = Counter(ROWS)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"rows.csv": csv("job,approved", *map(",".join, ROWS)), "external.csv": EXTERNAL})
    return tmp_path


def tabulate(*options: str, out: str | None = "counts.csv") -> None:
    assert (
        cli.run(["tabulate", "rows.csv", "--by", "job,approved", *options, *([] if out is None else ["--out", out])])
        == 0
    )


def read(path: str = "counts.csv") -> dict[tuple[str, str], float]:
    columns, weights = fb.read_table(path).to_columns()
    return dict(zip(zip(columns["job"], columns["approved"], strict=True), weights, strict=True))


def audited(capsys: Captured, internal: str, *options: str) -> dict[str, Any]:
    roles = ["--protected", "sex", "--reference", "male", "--decision", "approved", "--external-weight", "people"]
    capsys.readouterr()
    assert cli.run(["audit", internal, "external.csv", *roles, "--format", "json", *options]) == 0, (
        capsys.readouterr().err
    )
    return dict(json.loads(capsys.readouterr().out))


# -- counting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_counts_are_those_of_the_rows(ending: str) -> None:
    tabulate(out=f"counts.{ending}")
    assert read(f"counts.{ending}") == TRUE


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_audit_of_counts_is_that_of_the_rows(capsys: Captured, ending: str) -> None:
    """Nobody names the column of counts."""
    tabulate(out=f"counts.{ending}")
    rows, counts = audited(capsys, "rows.csv"), audited(capsys, f"counts.{ending}")
    assert counts["findings"] == rows["findings"]
    assert counts["warnings"] == rows["warnings"]
    assert counts["provenance"]["inputs"]["internal"]["weight"] == "n"
    assert counts["provenance"]["inputs"]["internal"]["disclosure"]["count"] == "n"


def test_weights_are_added_up(folder: Path) -> None:
    write(folder, {"rows.csv": csv("job,approved,w", "nurse,yes,1.5", "nurse,yes,2", "driver,no,4")})
    tabulate("--weight", "w", "--count", "people")
    assert read() == {("nurse", "yes"): 3.5, ("driver", "no"): 4}
    assert "people" in (folder / "counts.csv").read_text().splitlines()[1]


def test_missing_values_by_policy(folder: Path) -> None:
    write(folder, {"rows.csv": csv("job,approved", "nurse,yes", "nurse,", "driver,no")})
    assert cli.run(["tabulate", "rows.csv", "--by", "job,approved", "--out", "counts.csv"]) == 2
    tabulate("--missing", "drop")
    assert read() == {("nurse", "yes"): 1, ("driver", "no"): 1}
    tabulate("--missing", "level")
    assert (folder / "counts.csv").read_text().count("nurse,,1\n") == 1


def test_columns_with_commas_and_quotation_marks(folder: Path) -> None:
    write(folder, {"rows.csv": csv('"a,b","say ""x"""', "#1,y", "#1,y", '"two\nlines",n')})
    arguments = ["--by", "a,b", "--by", 'say "x"', "--count", "how many, in all"]
    for ending in ENDINGS:
        assert cli.run(["tabulate", "rows.csv", *arguments, "--out", f"counts.{ending}"]) == 0
        assert fb.read_table(f"counts.{ending}").to_columns() == (
            {"a,b": ["#1", "two\nlines"], 'say "x"': ["y", "n"]}, [2.0, 1.0]
        )  # fmt: skip


def test_parquet_keeps_types() -> None:
    pd.DataFrame({"age": [30, 30, 41], "ok": [True, True, False]}).to_parquet("rows.parquet")
    assert cli.run(["tabulate", "rows.parquet", "--by", "age,ok", "--out", "counts.parquet"]) == 0
    assert fb.read_table("counts.parquet").to_columns() == ({"age": [30, 41], "ok": [True, False]}, [2.0, 1.0])


# -- suppressing and rounding ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_small_counts_are_left_empty_and_read_as_their_middle(ending: str) -> None:
    """Below 5 are 2 and 1: 1 to 4 people, of which the middle is 2.5 and the ends 1.5 away."""
    tabulate("--suppress-below", "5", out=f"counts.{ending}")
    found = read(f"counts.{ending}")
    assert found == {**TRUE, ("driver", "no"): 2.5, ("teacher", "yes"): 2.5}
    declared = fb.read_table(f"counts.{ending}").origin.disclosure
    assert declared == Disclosure("n", suppress_below=5, suppressed_cells=2, off_by=1.5)


def test_the_file_shows_no_small_count(folder: Path) -> None:
    tabulate("--suppress-below", "5")
    lines = (folder / "counts.csv").read_text().splitlines()
    assert lines[0] == "# fairbounds/counts/1 count=n suppress_below=5"
    assert "driver,no," in lines
    assert "teacher,yes," in lines


@pytest.mark.parametrize("ending", ENDINGS)
def test_rounding_is_to_the_nearest_multiple(ending: str) -> None:
    tabulate("--round-to", "5", out=f"counts.{ending}")
    by_hand = {("nurse", "yes"): 5, ("nurse", "no"): 35, ("driver", "yes"): 60, ("driver", "no"): 1.5,
               ("teacher", "yes"): 1.5, ("teacher", "no"): 10}  # fmt: skip
    assert read(f"counts.{ending}") == by_hand
    assert fb.read_table(f"counts.{ending}").origin.disclosure == Disclosure("n", round_to=5, off_by=2.5)


@BUSY
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12),
    st.none() | st.integers(2, 12),
    st.none() | st.integers(2, 20),
)
def test_the_truth_is_where_the_declaration_puts_it(counts: list[int], below: int | None, unit: int | None) -> None:
    table = fb.Table.from_columns({"cell": list(range(len(counts)))}, counts)
    made = disclose(table, suppress_below=below, round_to=unit)
    for true, shown in zip(counts, made.counts.tolist(), strict=True):
        value, off = made.disclosure.reading(None if math.isnan(shown) else shown)
        assert value > 0
        assert abs(value - true) <= off
        if below is not None:
            assert math.isnan(shown) == (true < below)
        if unit is not None and not math.isnan(shown):
            assert shown % unit == 0


def test_cells_that_meet_add_up_their_errors(folder: Path) -> None:
    """Three jobs a decision: read by decision alone, a cell is off by three times as much."""
    tabulate("--round-to", "5")
    assert fb.read_table("counts.csv", columns=["approved"]).origin.disclosure.off_by == pytest.approx(2 * 2.5 + 0.5)
    whole = fb.read_table("counts.csv")
    assert whole.marginal(["approved"]).origin.disclosure.off_by == 3 * 2.5
    merged = whole.recode("job", {"nurse": "health", "teacher": "health"})
    assert merged.origin.disclosure.off_by == 2 * 2.5


def test_an_audit_allows_for_rounding_without_being_told(capsys: Captured) -> None:
    """As wide as where the user says so, and as the counts are not moved by rounding to 1."""
    write(Path(), {"rows.csv": csv("job,approved", *map(",".join, [row for row in ROWS for _ in range(40)]))})
    tabulate()
    plain, told = audited(capsys, "counts.csv"), audited(capsys, "counts.csv", "--internal-rounding", "8")
    tabulate("--round-to", "8")  # every count is 40 times something: none is moved
    found = audited(capsys, "counts.csv")
    assert found["findings"][0]["bounds"] == plain["findings"][0]["bounds"]
    assert found["findings"] == told["findings"]
    assert found["findings"][0]["interval"]["lower"] < plain["findings"][0]["interval"]["lower"]
    assert found["provenance"]["inputs"]["internal"]["disclosure"]["round_to"] == 8
    [warning] = [line for line in found["warnings"] if "altered" in line]
    assert "rounded to multiples of 8" in warning
    assert "off by 4 people" in warning


def test_an_audit_allows_for_a_census_that_suppresses(capsys: Captured) -> None:
    arguments = ["--weight", "people", "--by", "job,sex", "--suppress-below", "1001", "--out", "census.csv"]
    assert cli.run(["tabulate", "external.csv", *arguments]) == 0
    roles = {"protected": "sex", "reference": "male", "decision": "approved"}
    problem = fb.audit("rows.csv", "census.csv", **roles).provenance["inputs"]["external"]["disclosure"]
    assert (problem["suppressed_cells"], problem["off_by"]) == (2, 499.5)  # 800 drivers, 1000 nurses: 1 to 1000


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_an_empty_count_is_never_a_zero(folder: Path, capsys: Captured, ending: str) -> None:
    """Without the declaration the file is refused, whatever it is told."""
    tabulate("--suppress-below", "5", out=f"counts.{ending}")
    path = folder / f"counts.{ending}"
    write(folder, {path.name: path.read_text().split("\n", 1)[1]})
    capsys.readouterr()
    roles = ["--protected", "sex", "--decision", "approved", "--external-weight", "people", "--internal-weight", "n"]
    assert cli.run(["audit", path.name, "external.csv", *roles]) == 2
    assert "without a usable weight" in capsys.readouterr().err


def test_a_spreadsheet_may_have_passed_it_on(folder: Path) -> None:
    tabulate("--suppress-below", "5")
    lines = (folder / "counts.csv").read_text().splitlines()
    text = "\r\n".join([f"{lines[0]};;", *(line.replace(",", ";") for line in lines[1:])]) + "\r\n"
    write(folder, {"counts.csv": b"\xef\xbb\xbf" + text.encode()})
    assert read()["teacher", "yes"] == 2.5


def test_other_programs_can_skip_the_declaration() -> None:
    tabulate("--suppress-below", "5")
    assert pd.read_csv("counts.csv", comment="#")["n"].isna().sum() == 2


def test_several_files_must_declare_the_same(folder: Path, capsys: Captured) -> None:
    tabulate("--suppress-below", "5", out="part-1.csv")
    tabulate("--suppress-below", "5", out="part-2.csv")
    assert sum(read("part-*.csv").values()) == 2 * (7 + 33 + 58 + 12 + 2.5 + 2.5)
    tabulate("--suppress-below", "7", out="part-2.csv")
    with pytest.raises(fb.SourceError, match="does not declare the same"):
        read("part-*.csv")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("count=n supress_below=5", ["'supress_below=5'", "does not know"]),
        ("count=n suppress_below=five", ["'suppress_below'", "'five'"]),
        ("count=n suppress_below=1", ["'suppress_below'", "at least 2"]),
        ("count=n epsilon=inf", ["'epsilon'", "'inf'"]),
        ("suppress_below=5", ["does not name the column"]),
        ("count=m", ["counts are in 'm'", "'n'"]),
        ("count=n count=m", ["'count=m'"]),
    ],
)
def test_a_damaged_declaration_is_refused(folder: Path, line: str, words: list[str]) -> None:
    write(folder, {"counts.csv": csv(f"# fairbounds/counts/1 {line}", "job,approved,n", "nurse,yes,5")})
    with pytest.raises(fb.SourceError) as caught:
        read()
    for word in words:
        assert word in str(caught.value)


def test_altered_counts_are_not_passed_off_for_true_ones(folder: Path, capsys: Captured) -> None:
    tabulate("--suppress-below", "5")
    capsys.readouterr()
    before = listing(folder)
    assert cli.run(["tabulate", "counts.csv", "--by", "job", "--out", "again.csv"]) == 2
    assert "'counts.csv' were altered before" in capsys.readouterr().err
    assert listing(folder) == before
    tabulate()
    assert cli.run(["tabulate", "counts.csv", "--by", "job", "--out", "again.csv"]) == 0
    assert fb.read_table("again.csv").to_columns() == ({"job": ["driver", "nurse", "teacher"]}, [60.0, 40.0, 13.0])


def test_another_weight_than_the_declared_one_is_refused(capsys: Captured) -> None:
    tabulate()
    with pytest.raises(fb.SourceError, match="declares that its counts are in 'n'"):
        fb.read_table("counts.csv", columns=["job"], weight="approved")


ALTERING = [
    {"round_to": 50_000},
    {"suppress_below": 50_000},
    {"suppress_below": 40_000, "round_to": 30_000},
    {"epsilon": 0.0003},
]


@pytest.mark.parametrize("altering", ALTERING, ids=str)
def test_intervals_of_altered_counts_hold_the_bounds_of_the_true_ones(altering: dict[str, Any]) -> None:
    """Both tables altered; so many people that sampling error alone would not make up for it."""
    asked = {"protected": "g", "decision": "o", "favourable": "yes", "reference": "0"}
    asked["metrics"] = ["selection_rate", "selection_difference"]
    held_without = []
    for seed in range(5):
        inside, outside = random_tables(np.random.default_rng(seed))
        for table, name in ((inside, "internal.csv"), (outside, "external.csv")):
            write_counts(disclose(table, **altering), name)
        population = ("external", "internal")[seed % 2]
        true = fb.audit(inside, outside, **asked, population=population, interval_method="none")
        found = fb.audit("internal.csv", "external.csv", **asked, population=population)
        for one, other in zip(true.findings, found.findings, strict=True):
            assert (one.metric, one.group) == (other.metric, other.group)
            assert other.interval.set_lower <= one.bounds.lower
            assert other.interval.set_upper >= one.bounds.upper
            held_without.append(abs(one.bounds.lower - other.bounds.lower) < 0.002)
    assert not all(held_without)


def random_tables(rng: np.random.Generator) -> tuple[fb.Table, fb.Table]:
    """Return three strata of some million people, a few cells with hardly anybody."""
    inside = [
        (str(c), o, int(rng.integers(1, rng.choice([60_000, 1_500_000])))) for c in range(3) for o in ("yes", "no")
    ]
    outside = [(str(c), g, int(rng.integers(1, rng.choice([60_000, 4_000_000])))) for c in range(3) for g in "01"]
    return tuple(  # type: ignore[return-value]
        fb.Table.from_columns({"c": [row[0] for row in rows], name: [row[1] for row in rows]}, [row[2] for row in rows])
        for rows, name in ((inside, "o"), (outside, "g"))
    )


# -- differential privacy ----------------------------------------------------------------------------------------------


def test_noise_reaches_combinations_that_nobody_has(folder: Path) -> None:
    write(folder, {"rows.csv": csv("job,approved", *["nurse,yes"] * 50, *["driver,no"] * 50)})
    tabulate("--epsilon", "0.5")
    lines = (folder / "counts.csv").read_text().splitlines()
    within = noise_within(2.0, 4)
    assert lines[0] == f"# fairbounds/counts/1 count=n noise_within={within} epsilon=0.5 scale=2.0"
    assert len(lines) == 2 + 4
    shown = {tuple(line.split(",")[:2]): int(line.split(",")[2]) for line in lines[2:]}
    true = {("nurse", "yes"): 50, ("driver", "no"): 50}
    assert all(abs(count - true.get(cell, 0)) <= 60 for cell, count in shown.items())
    assert min(shown.values()) >= 0


def test_the_noise_has_the_scale_declared() -> None:
    """2,000 cells: the noise has variance 2a/(1 − a)², a = exp(−ε), 7.8 for ε = ½. No seed: within 6 sd."""
    table = fb.Table.from_columns({"cell": list(range(2000))}, [1000] * 2000)
    noise = disclose(table, epsilon=0.5).counts - 1000
    a = math.exp(-0.5)
    assert noise.var() == pytest.approx(2 * a / (1 - a) ** 2, rel=0.3)
    assert abs(noise.mean()) < 0.4
    assert 5 < np.abs(noise).max() <= 2 * noise_within(2.0, 2000)


@pytest.mark.parametrize(("scale", "cells"), [(0.5, 1), (1.0, 1), (1.0, 50), (10.0, 7), (100.0, 1000)])
def test_noise_within_is_the_least_that_keeps_its_word(scale: float, cells: int) -> None:
    """The tail summed term by term, and the union bound over the cells."""
    a = math.exp(-1 / scale)

    def misses(within: int) -> float:
        return cells * 2 * sum((1 - a) / (1 + a) * a**k for k in range(within + 1, within + 20_000))

    within = noise_within(scale, cells)
    assert misses(within) <= 0.001
    assert within == 1 or misses(within - 1) > 0.001


def test_an_audit_allows_for_noise(capsys: Captured) -> None:
    write(Path(), {"rows.csv": csv("job,approved", *map(",".join, [row for row in ROWS for _ in range(40)]))})
    tabulate("--epsilon", "1")
    declared = audited(capsys, "counts.csv")["provenance"]["inputs"]["internal"]["disclosure"]
    assert declared["noise_within"] == noise_within(1.0, 6)
    assert declared["off_by"] >= declared["noise_within"]


# -- SQL ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [[], ["--suppress-below", "5"], ["--round-to", "5"], ["--suppress-below", "5", "--round-to", "10"]]
)
def test_the_query_makes_the_same_file(folder: Path, capsys: Captured, options: list[str]) -> None:
    """Run by DuckDB, saved as CSV, and the declaration put on top, as its comment says."""
    tabulate(*options)
    capsys.readouterr()
    assert cli.run(["tabulate", "lending.applicants", "--by", "job,approved", *options, "--sql"]) == 0
    query = capsys.readouterr().out
    [declaration] = re.findall(r"^-- (# .*)$", query, flags=re.MULTILINE)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE SCHEMA lending; CREATE TABLE lending.applicants AS FROM read_csv('rows.csv', all_varchar = true)"
        )
        frame = connection.execute(query).fetchdf()
    (folder / "warehouse.csv").write_text(f"{declaration}\n{frame.to_csv(index=False)}")
    assert read("warehouse.csv") == read("counts.csv")


def test_names_are_quoted() -> None:
    query = counting_query('a"b; DROP TABLE x', ['job"', "select"], Disclosure('n"'), weight="w", drop_missing=True)
    with duckdb.connect() as connection:
        connection.execute('CREATE TABLE "a""b; DROP TABLE x" ("job""" VARCHAR, "select" VARCHAR, w INT)')
        connection.execute(
            """INSERT INTO "a""b; DROP TABLE x" VALUES ('nurse', 'x', 2), ('nurse', 'x', 3), (NULL, 'x', 9)"""
        )
        assert connection.execute(query).fetchall() == [("nurse", "x", 5)]


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "counts.csv"], ["--by"]),
        (["--by", "job"], ["--out", "--sql"]),
        (["--by", "jobb", "--out", "counts.csv"], ["no column 'jobb'", "did you mean 'job'?"]),
        (["--by", "job,job", "--out", "counts.csv"], ["'job'", "twice"]),
        (["--by", "job", "--out", "counts.xlsx"], ["--out", "must end in", "counts.xlsx"]),
        (["--by", "job", "--out", "no/counts.csv"], ["there is no folder"]),
        (["--by", "job", "--out", "rows.csv"], ["would replace the input"]),
        (["--by", "job", "--out", "counts.csv", "--count", "job"], ["'job'", "--count"]),
        (["--by", "job", "--out", "counts.parquet", "--count", "JOB"], ["'JOB'", "capitals"]),
        (["--by", "job", "--out", "counts.csv", "--suppress-below", "1"], ["--suppress-below", "1"]),
        (["--by", "job", "--out", "counts.csv", "--round-to", "0"], ["--round-to", "0"]),
        (["--by", "job", "--out", "counts.csv", "--epsilon", "0"], ["--epsilon", "above 0"]),
        (["--by", "job", "--out", "counts.csv", "--epsilon", "1", "--round-to", "5"], ["--epsilon goes alone"]),
        (["--by", "job", "--out", "counts.csv", "--weight", "w", "--round-to", "5"], ["not whole numbers"]),
        (["--by", "job", "--out", "counts.csv", "--weight", "job"], ["'job'", "weight"]),
        (["--by", "job", "--sql", "--out", "counts.csv"], ["--sql", "--out"]),
        (["--by", "job", "--sql", "--epsilon", "1"], ["--epsilon", "noise"]),
    ],
)
def test_counts_that_cannot_be(folder: Path, capsys: Captured, arguments: list[str], words: list[str]) -> None:
    write(folder, {"rows.csv": csv("job,approved,w", "nurse,yes,0.5", "driver,no,1.5")})
    before = listing(folder)
    assert cli.run(["tabulate", "rows.csv", *arguments]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("\n") == 1
    for word in words:
        assert word in said, said
    assert listing(folder) == before


def test_noise_for_too_many_combinations_is_refused() -> None:
    table = fb.Table.from_columns({name: list(range(200)) for name in "abc"})
    with pytest.raises(fb.SourceError, match="8,000,000"):
        disclose(table, epsilon=1.0)


def test_without_opendp_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(fb.MissingDependencyError, match=r"fairbounds\[privacy\]"):
        disclose(fb.Table.from_columns({"a": ["x"]}), epsilon=1.0)


# -- the page ----------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[1] / "docs" / "tabulate.md").read_text(encoding="utf-8")


def test_every_flag_of_the_page_exists() -> None:
    known = {
        flag for name in ("tabulate", "audit") for parameter in cli.app.commands[name].params for flag in parameter.opts
    }
    assert set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", PAGE)) <= known


def test_the_line_of_the_page_is_the_one_written(folder: Path) -> None:
    tabulate("--suppress-below", "5", "--round-to", "5")
    assert f"    {(folder / 'counts.csv').read_text().splitlines()[0]}\n" in PAGE
