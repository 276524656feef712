"""Weights, missing values and numbers mean the same whatever the data come in."""

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairbounds import Table
from fairbounds.errors import SourceError
from fairbounds.origins import Missing, Origin
from fairbounds.sources import open_source, read_table

GAPPY = "job,sex,n\ncook,F,10\n,M,20\nclerk,,30\n,,40\ncook,F,0\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


def bare(table):
    return replace(table, origin=None)


# -- missing values ----------------------------------------------------------------------------------------------------


def test_missing_values_are_refused_by_default(file):
    with pytest.raises(SourceError) as raised:
        open_source(file(GAPPY), "internal").read(["job", "sex"], weight="n")
    assert str(raised.value) == (
        "internal file 'a.csv' has missing values: 'job' in 2 rows (60.00%), 'sex' in 2 rows (70.00%); "
        'leave these rows out with --missing drop (missing="drop"), '
        'or keep them as a level of their own with --missing level (missing="level")'
    )


def test_dropped_rows_are_counted(file):
    table = read_table(file(GAPPY), weight="n", missing="drop")
    assert table.to_columns() == ({"job": ["cook"], "sex": ["F"]}, [10])
    assert replace(table.origin, sha256=None) == Origin(
        source="a.csv",
        rows=5,
        weight="n",
        missing=(Missing("job", 2, 0.6), Missing("sex", 2, 0.7)),
        missing_policy="drop",
        dropped_rows=3,
        dropped_share=0.9,
        sample_size=10.0,
    )


def test_dropped_rows_are_rows_not_cells(file):
    table = read_table(file("a,b\nx,1\n" + ",1\n" * 7), missing="drop")
    assert (table.total, table.origin.rows, table.origin.dropped_rows) == (1, 8, 7)
    assert table.origin.missing == (Missing("a", 7, 7 / 8),)


def test_missing_as_a_level(file):
    table = read_table(file(GAPPY), weight="n", missing="level")
    assert table["job"].levels == ("clerk", "cook", None)
    assert table["sex"].levels == ("F", "M", None)
    assert dict(table.cells())[(None, None)] == 40
    assert (table.origin.dropped_rows, table.origin.dropped_share) == (0, 0.0)
    assert [gap.rows for gap in table.origin.missing] == [2, 2]


def test_only_the_columns_asked_for_count(file):
    path = file("a,b\nx,\ny,1\n")
    assert read_table(path, columns=["a"]).origin == replace(
        Origin("a.csv", 2, sample_size=2.0), sha256=read_table(path, columns=["a"]).origin.sha256
    )


def test_a_quoted_empty_field_is_missing_too(file):
    with pytest.raises(SourceError, match=r"'b' in 2 rows \(100.00%\)"):
        read_table(file('a,b\nx,""\ny,\n'))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_blank_lines_of_a_single_column_are_missing_values(file, end):
    assert read_table(file(f"\na\nx\n{end}\ny{end}"), missing="level").to_columns() == (
        {"a": ["x", "y", None]},
        [1, 1, 2],
    )


def test_dropping_everything_is_an_error(file):
    with pytest.raises(
        SourceError, match=r"no row of file 'a.csv' is left once those without a value in 'b' are dropped"
    ):
        read_table(file("a,b\nx,\ny,\n"), missing="drop")
    with pytest.raises(SourceError, match=r"no row of file 'a.csv' is left"):
        read_table(file("a,n\nx,0\n,1\n"), weight="n", missing="drop")


# -- weights -----------------------------------------------------------------------------------------------------------


def test_weighted_rows_and_tables_of_counts_are_the_same(file):
    table = read_table(file("a,n\nx,1.5\nx,2\ny, 3 \nz,0\n"), weight="n")
    assert table.to_columns() == ({"a": ["x", "y"]}, [3.5, 3])
    assert table["a"].levels == ("x", "y", "z")
    assert (table.origin.rows, table.origin.weight) == (4, "n")


WEIGHTS = {
    "missing": ("x,\ny,1\n", "has 1 row without a usable weight, the first with no value"),
    "nan": ("x,1\ny,NaN\n", "has 1 row without a usable weight, the first with 'NaN'"),
    "negative": ("x,1\ny,-2.5\nz,-1\n", "has 2 rows without a usable weight, the first with '-2.5'"),
    "infinite": ("x,1\ny,inf\n", "has 1 row without a usable weight, the first with 'inf'"),
    "overflowing": ("x,1\ny,1e999\n", "has 1 row without a usable weight, the first with '1e999'"),
    "text": ("x,1\ny,many\n", "the first with 'many'; weights must be finite numbers that are not negative"),
    "decimal comma": ('x,1\ny,"1,5"\n', "the first with '1,5'"),
    "all zero": ("x,0\ny,0.0\n", "is zero in all of its 2 rows"),
}


@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_bad_weights_in_files(file, tmp_path, case, kind):
    rows, said = WEIGHTS[case]
    path = file("a,n\n" + rows)
    if kind != "csv":
        import duckdb

        other = tmp_path / f"b.{kind}"
        option = "FORMAT parquet" if kind == "parquet" else "FORMAT json"
        with duckdb.connect() as connection:
            connection.execute(f"COPY (FROM read_csv('{path}', all_varchar = true)) TO '{other}' ({option})")
        path = other
    with pytest.raises(SourceError, match=r"weight column 'n' of file '.*") as raised:
        read_table(path, weight="n")
    assert said in str(raised.value)


def test_the_first_bad_weight_is_the_first_in_the_file(file):
    text = "a,n\n" + "x,1\n" * 300_000 + "x,-7\n" + "x,-1\n" * 300_000
    with pytest.raises(SourceError, match="has 300,001 rows without a usable weight, the first with '-7'"):
        read_table(file(text), weight="n")


def test_bad_weights_in_the_second_file(tmp_path):
    (tmp_path / "1.csv").write_text("a,n\nx,1\n")
    (tmp_path / "2.csv").write_text("n,a\n-1,x\n")
    with pytest.raises(
        SourceError, match=r"'n' of files '\*.csv' has 1 row without a usable weight, the first with '-1'"
    ):
        read_table(tmp_path / "*.csv", weight="n")


def test_typed_weights_of_parquet(tmp_path):
    import decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    columns = {
        "a": ["x", "y"],
        "whole": pa.array([1, 2], pa.int8()),
        "money": [decimal.Decimal("1.5"), decimal.Decimal("-2")],
        "day": pa.array([0, 1], pa.date32()),
    }
    pq.write_table(pa.table(columns), path)
    assert read_table(path, columns=["a"], weight="whole").weights.tolist() == [1, 2]
    with pytest.raises(SourceError, match=r"the first with -2.0;"):
        read_table(path, columns=["a"], weight="money")
    with pytest.raises(SourceError, match=r"weight column 'day' of file 'a.parquet' holds DATE, not numbers"):
        read_table(path, columns=["a"], weight="day")


@pytest.mark.parametrize("rows", ["x,1e308\nx,1e308\n", "x,1e308\ny,1e308\n"])
def test_weights_that_overflow_together(file, rows):
    with pytest.raises(SourceError, match=r"weight column 'n' of file .* adds up to more than a number can hold"):
        read_table(file("a,n\n" + rows), weight="n")
    with pytest.raises(SourceError, match="adds up to more than a number can hold"):
        read_table({"a": ["x", rows[8]], "n": [1e308, 1e308]}, weight="n")


def test_sums_of_weights_do_not_drift(file):
    path = file("a,n\n" + "x,0.1\n" * 100_000)
    assert read_table(path, weight="n").total == pytest.approx(10_000, rel=1e-15)


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_numbers_are_floats_and_spellings_meet(file):
    table = read_table(file("p,a\n1,x\n1.0,x\n 0.5,x\n5e-1,x\nnan,x\n,x\n"), numbers=["p"], missing="level")
    assert table["p"].levels == (0.5, 1.0, None)
    assert table.weights.tolist() == [2, 2, 2]
    assert table.origin.missing == (Missing("p", 2, 2 / 6),)


def test_without_numbers_spellings_stay(file):
    assert read_table(file("p,a\n1,x\n1.0,x\n001,x\n"))["p"].levels == ("001", "1", "1.0")


def test_what_is_no_number(file):
    said = "'p' of file 'a.csv' must hold numbers, but has 'high' in 2 rows, '1_000' in 1 row"
    with pytest.raises(SourceError) as raised:
        read_table(file("p,a\n1,x\nhigh,x\nhigh,y\n1_000,x\n"), numbers=["p"])
    assert sorted(str(raised.value)) == sorted(said)


def test_many_values_that_are_no_numbers(file):
    with pytest.raises(SourceError, match=r"but has '.' in 1 row, .* and 4 more values$"):
        read_table(file("p,b\n" + "".join(f"{letter},x\n" for letter in "abcdefghi")), numbers=["p"])


@pytest.mark.parametrize("value", [True, 3, 0.25, "0.25", None])
def test_numbers_of_any_type(value):
    table = read_table({"p": [value, 1]}, numbers=["p"], missing="level")
    assert {type(level) for level in table["p"].levels} <= {float, type(None)}


def test_a_date_is_no_number():
    import datetime as dt

    with pytest.raises(SourceError, match="'p' of dict of columns must hold numbers, but has '2024-01-02' in 1 row"):
        read_table({"p": [dt.date(2024, 1, 2)]}, numbers=["p"])


# -- tables as sources -------------------------------------------------------------------------------------------------


def test_a_table_is_its_own_source():
    table = Table.from_columns({"age": [19, 71, 30], "sex": ["F", "M", "F"]}, [1, 2, 3]).bin("age", [25, 60])
    source = open_source(table, "external")
    assert (source.name, source.columns) == ("Table", ("age", "sex"))
    read = source.read(["age"])
    assert bare(read) == bare(table.marginal(["age"]))
    assert read["age"].levels == ("<25", "25 to <60", ">=60")
    assert read.origin == Origin("Table", 3, sample_size=6.0)
    with pytest.raises(SourceError, match="external Table has no column 'Age'"):
        source.read(["Age"])
    with pytest.raises(SourceError, match="external Table carries its own weights; leave out the weight column 'sex'"):
        source.read(["age"], weight="sex")


def test_a_table_keeps_levels_without_weight_and_its_origin():
    left = Table.from_columns({"a": ["x"]}, origin=Origin("a.csv", 45_222, sha256="ab"))
    aligned, _ = left.align(Table.from_columns({"a": ["w", "y"]}), ["a"])
    read = read_table(aligned)
    assert read["a"].levels == ("x", "w", "y")
    assert read.origin == left.origin
    assert open_source(aligned, "internal").place == "internal Table from 'a.csv'"


def test_missing_levels_of_a_table():
    origin = Origin("a.csv", 100, weight="n", sha256="ab", sample_size=44.0)
    table = Table.from_columns({"a": ["z", None, "x"], "b": [1, 2, 1]}, [1, 2, 5], origin=origin)
    with pytest.raises(SourceError, match=r"Table from 'a.csv' has missing values: 'a' in 1 row \(25.00%\)"):
        read_table(table)
    dropped = read_table(table, missing="drop")
    assert dropped.to_columns() == ({"a": ["x", "z"], "b": [1, 1]}, [5, 1])
    assert dropped["a"].levels == ("x", "z")
    assert dropped.origin == Origin("a.csv", 3, "n", (Missing("a", 1, 0.25),), "drop", 1, 0.25, "ab", 33.0)
    assert read_table(table, missing="level")["a"].levels == ("x", "z", None)


def test_numbers_of_a_table():
    table = Table.from_columns({"p": ["1", "1.0", "0.5"], "a": ["x", "x", "y"]})
    assert read_table(table, numbers=["p"]).to_columns() == ({"p": [0.5, 1.0], "a": ["y", "x"]}, [1, 2])
    with pytest.raises(SourceError, match="'a' of Table must hold numbers, but has 'x' in 2 rows, 'y' in 1 row"):
        read_table(table, numbers=["a"])


# -- the same rows, whatever carries them ------------------------------------------------------------------------------

LEVELS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=4)
NAMES = st.lists(LEVELS.filter(str.strip), min_size=1, max_size=4, unique=True)


@st.composite
def tables_of_text(draw):
    names = draw(NAMES)
    pool = draw(st.lists(LEVELS, min_size=1, max_size=5))
    values = st.one_of(st.sampled_from([*pool, " ", "x,y", 'a"b', "NA", "1.0"]), st.just(None))
    rows = draw(st.lists(st.tuples(*[values for _ in names]), min_size=1, max_size=12))
    weights = draw(st.lists(st.integers(1, 99), min_size=len(rows), max_size=len(rows)))
    return names, rows, weights


@settings(max_examples=60, deadline=None)
@given(data=tables_of_text(), delimiter=st.sampled_from(",;\t|"))
@example(data=(["0", ";;"], [(None, None)], [1]), delimiter=",")
def test_random_rows_through_every_door(tmp_path_factory, data, delimiter):
    import pandas as pd

    names, rows, weights = data
    weight = "n" + "".join(names)
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    expected = Table.from_columns(columns, weights)
    folder = tmp_path_factory.mktemp("doors")
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([(*names, weight), *[(*row, n) for row, n in zip(rows, weights, strict=True)]])
    (folder / "a.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
    records = [{**dict(zip(names, row, strict=True)), weight: n} for row, n in zip(rows, weights, strict=True)]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    doors = {
        "csv": folder / "a.csv",
        "json": folder / "a.jsonl",
        "pandas": pd.DataFrame({**columns, weight: weights}),
        "rows": records,
    }
    for door, source in doors.items():
        read = read_table(source, weight=weight, missing="level")
        assert bare(read) == expected, door
        assert read.origin.rows == len(rows)
