"""Every file format gives the same table."""

import codecs
import datetime as dt
import decimal
import gzip
import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from fairbounds import Table
from fairbounds.sources import files as files_module
from fairbounds.sources import open_source, read_table

ROWS = [
    ("cook", "F", "007"),
    ("clerk", "M", "1.0"),
    ("cook", "F", "007"),
    ("Koch, Süd", "F", "01/02"),
    ('the "boss"', "M", "true"),
    ("clerk", "M", "1"),
    (" clerk", "M", "1"),
]
NAMES = ("job", "sex", "code; n")
COLUMNS = {name: [row[at] for row in ROWS] for at, name in enumerate(NAMES)}
EXPECTED = Table.from_columns(COLUMNS)


def bare(table):
    return replace(table, origin=None)


def csv_text(delimiter=",", end="\n", quote_all=False):
    def field(text):
        special = any(char in text for char in (delimiter, '"', "\n", "\r")) or quote_all
        return '"' + text.replace('"', '""') + '"' if special else text

    return "".join(delimiter.join(map(field, row)) + end for row in (NAMES, *ROWS))


CSV_FORMS = {
    "comma": csv_text().encode(),
    "semicolon": csv_text(";").encode(),
    "tab": csv_text("\t").encode(),
    "pipe": csv_text("|").encode(),
    "caret": csv_text("^").encode(),
    "colon": csv_text(":").encode(),
    "unit separator": csv_text("\x1f").encode(),
    "quote and bracket": csv_text("~", quote_all=True).encode(),
    "all quoted": csv_text(quote_all=True).encode(),
    "windows line ends": csv_text(end="\r\n").encode(),
    "old mac line ends": csv_text(end="\r").encode(),
    "mixed line ends": csv_text().replace("\n", "\r\n", 3).encode(),
    "mixed line ends, some after a closing delimiter": csv_text(end=",\n").replace(",\n", "\r\n", 3).encode(),
    "no last line end": csv_text().rstrip("\n").encode(),
    "blank lines before and after": b"\n\n" + csv_text().encode() + b"\n\n",
    "byte order mark": codecs.BOM_UTF8 + csv_text().encode(),
    "utf-16": csv_text().encode("utf-16"),
    "utf-16 big end": codecs.BOM_UTF16_BE + csv_text("\t").encode("utf-16-be"),
    "utf-16 mixed line ends": csv_text().replace("\n", "\r\n", 2).encode("utf-16"),
    "utf-32": csv_text().encode("utf-32"),
    "gzip": gzip.compress(csv_text().encode()),
    "gzip in two members": gzip.compress(csv_text()[:30].encode()) + gzip.compress(csv_text()[30:].encode()),
    "gzip of utf-16": gzip.compress(csv_text().encode("utf-16")),
}


@pytest.mark.parametrize("form", CSV_FORMS)
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.unknown", "it's [1]*.csv"])
def test_csv_forms(tmp_path, form, name):
    path = tmp_path / name
    path.write_bytes(CSV_FORMS[form])
    source = open_source(path)
    assert (source.name, source.columns) == (name, NAMES)
    table = source.read(NAMES)
    assert bare(table) == EXPECTED
    assert table.origin.sha256 == hashlib.sha256(CSV_FORMS[form]).hexdigest()
    assert (table.origin.source, table.origin.rows) == (name, len(ROWS))


def write_parquet(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(COLUMNS), path)


def write_arrow(path, compression=None, categorical=False):
    import pyarrow as pa

    data = pa.table(COLUMNS)
    if categorical:
        data = pa.table({name: data[name].dictionary_encode() for name in data.column_names})
    with pa.ipc.new_file(path, data.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(data)


def write_arrow_stream(path):
    import pyarrow as pa

    data = pa.table(COLUMNS)
    with pa.ipc.new_stream(path, data.schema) as writer:
        writer.write_table(data)


def write_json_lines(path):
    path.write_text("".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS))


def write_json_gzip(path):
    path.write_bytes(gzip.compress("\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS).encode()))


def write_json_array(path):
    path.write_text(json.dumps([dict(zip(NAMES, row, strict=True)) for row in ROWS], indent=1))


FORMATS = {
    "data.parquet": write_parquet,
    "DATA.PQ": write_parquet,
    "parquet whose name says nothing": write_parquet,
    "data.arrow": write_arrow,
    "data.feather": lambda path: write_arrow(path, "lz4"),
    "categories.ipc": lambda path: write_arrow(path, categorical=True),
    "data.arrows": write_arrow_stream,
    "data.jsonl": write_json_lines,
    "data.ndjson": write_json_lines,
    "data.jsonl.gz": write_json_gzip,
    "data.json": write_json_array,
    "lines.json": write_json_lines,
}


@pytest.mark.parametrize("name", FORMATS)
def test_other_formats(tmp_path, name):
    path = tmp_path / name
    FORMATS[name](path)
    source = open_source(str(path))
    assert source.columns == NAMES
    table = source.read(["code; n", "job"])
    assert bare(table) == EXPECTED.marginal(["code; n", "job"])
    assert table.origin.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_typed_levels_of_parquet_and_arrow(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    moment = dt.datetime(2024, 5, 6, 7, 8, tzinfo=dt.UTC)
    typed = {
        "whole": pa.array([3, 1, None], pa.int8()),
        "huge": pa.array([2**63 + 1, 1, None], pa.uint64()),
        "real": pa.array([0.5, float("nan"), None]),
        "flag": pa.array([True, False, None]),
        "text": pa.array(["b", "", None]),
        "day": pa.array([dt.date(2024, 1, 2), dt.date(1890, 1, 1), None]),
        "money": pa.array([decimal.Decimal("1.50"), decimal.Decimal("-2.25"), None]),
        "moment": pa.array([moment, moment, None]),
        "time": pa.array([moment.replace(tzinfo=None)] * 2 + [None]),
        "kind": pa.array(["x", "y", None]).dictionary_encode(),
        "nothing": pa.nulls(3),
    }
    expected = {
        "whole": (1, 3, None),
        "huge": (1, 2**63 + 1, None),
        "real": (0.5, None),
        "flag": (False, True, None),
        "text": ("", "b", None),
        "day": (dt.date(1890, 1, 1), dt.date(2024, 1, 2), None),
        "money": (decimal.Decimal("-2.25"), decimal.Decimal("1.50"), None),
        "moment": (moment, None),
        "time": (moment.replace(tzinfo=None), None),
        "kind": ("x", "y", None),
        "nothing": (None,),
    }
    data = pa.table(typed)
    pq.write_table(data, tmp_path / "typed.parquet")
    with pa.ipc.new_file(tmp_path / "typed.arrow", data.schema) as writer:
        writer.write_table(data)
    for name in ("typed.parquet", "typed.arrow"):
        table = read_table(tmp_path / name, missing="level")
        found = {variable.name: variable.levels for variable in table.variables}
        assert found == expected
        assert {name: [*map(type, levels)] for name, levels in found.items()} == {
            name: [*map(type, levels)] for name, levels in expected.items()
        }


def test_typed_levels_of_json(tmp_path):
    rows = [
        {"n": 1, "x": 1, "b": True, "s": "1", "mixed": 1},
        {"n": 2, "x": 0.5, "b": False, "s": "é\n\"'", "mixed": "one"},
        {"n": 2, "x": None, "s": "", "mixed": None, "late": 1},
    ]
    path = tmp_path / "typed.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    table = read_table(path, missing="level")
    found = {variable.name: variable.levels for variable in table.variables}
    assert found == {
        "n": (1, 2),
        "x": (0.5, 1.0, None),
        "b": (False, True, None),
        "s": ("", "1", "é\n\"'"),
        "mixed": (1, "one", None),
        "late": (1, None),
    }
    assert [type(level) for level in found["b"][:2] + found["n"]] == [bool, bool, int, int]
    assert [type(level) for level in found["x"][:2]] == [float, float]


HARD_NAMES = [
    'a"b',
    "a'b",
    "a b; drop table x --",
    "Größe",
    "sex",
    "Sex",
    "c0",
    "w",
    "n_rows",
    "weight",
    "a/b~c",
    "x.y",
]


@pytest.mark.parametrize("name", ["hard.csv", "hard.parquet", "hard.jsonl", "hard.arrow"])
def test_any_column_name(tmp_path, name):
    path = tmp_path / name
    columns = {column: [f"{at}", "z", "z"] for at, column in enumerate(HARD_NAMES)}
    if name.endswith("csv"):
        lines = zip(HARD_NAMES, *zip(*columns.values(), strict=True), strict=True)
        path.write_text(
            "".join(
                ",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in zip(*lines, strict=True)
            )
        )
    elif name.endswith("jsonl"):
        path.write_text(
            "\n".join(
                json.dumps(dict(zip(HARD_NAMES, row, strict=True))) for row in zip(*columns.values(), strict=True)
            )
        )
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        data = pa.table(columns)
        if name.endswith("parquet"):
            pq.write_table(data, path)
        else:
            with pa.ipc.new_file(path, data.schema) as writer:
                writer.write_table(data)
    assert open_source(path).columns == tuple(HARD_NAMES)
    for at, column in enumerate(HARD_NAMES):
        assert read_table(path, columns=[column]).to_columns() == ({column: [f"{at}", "z"]}, [1, 2])


def test_nested_parquet_columns_do_not_shift_the_others(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"a": [{"b": 1, "c": [1, 2]}], "d": [[[1]]], "e": ["x"]}), path)
    assert open_source(path).columns == ("a", "d", "e")
    assert read_table(path, columns=["e"]).to_columns() == ({"e": ["x"]}, [1])


def test_an_index_saved_without_a_name_is_no_column(tmp_path):
    path = tmp_path / "indexed.csv"
    path.write_text(",sex\n0,F\n1,M\n")
    assert open_source(path).columns == ("sex",)
    assert read_table(path).to_columns() == ({"sex": ["F", "M"]}, [1, 1])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("a;b\n1,5;2,5\n", ("a", "b")),
        ("first name,last name\nJohn Smith,Mary Jane\n", ("first name", "last name")),
        ("a b\nx y\n", ("a", "b")),
        ("sex\nF\nM\n", ("sex",)),
        ("when,who\n2020-01-01 10:00:00,a\n", ("when", "who")),
        ('"a|b","c|d"\nx,y\n', ("a|b", "c|d")),
        ('"a\nb",c\nx,y\n', ("a\nb", "c")),
        ("a,b;c\n1,2;3\n4,5;6\n7,8\n", ("a", "b;c")),
    ],
)
def test_delimiters_are_found(tmp_path, text, columns):
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert open_source(path).columns == columns
    assert read_table(path, missing="level").names == columns


def test_whitespace_and_words_for_missing_are_levels(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n x ,NA\nx,NULL\n#x,nan\n")
    assert read_table(path)["a"].levels == (" x ", "#x", "x")
    assert read_table(path)["b"].levels == ("NA", "NULL", "nan")


# -- patterns ----------------------------------------------------------------------------------------------------------


def test_a_pattern_reads_all_files_together(tmp_path):
    (tmp_path / "part-1.csv").write_text("job,sex\ncook,F\n")
    (tmp_path / "part-2.csv").write_text("sex;job\nM;clerk\nF;cook\n")
    (tmp_path / "part-3.csv.gz").write_bytes(gzip.compress("job\tsex\nclerk\tM\n".encode("utf-16")))
    (tmp_path / "other.txt").write_text("nothing")
    source = open_source(tmp_path / "part-*")
    assert source.name == "part-* (3 files)"
    table = source.read(["job", "sex"])
    assert table.to_columns() == ({"job": ["clerk", "cook"], "sex": ["M", "F"]}, [2, 2])
    assert (table.origin.rows, table.origin.sha256) == (4, None)


def test_a_pattern_with_one_match_is_one_file(tmp_path):
    (tmp_path / "part-1.csv").write_text("job\ncook\n")
    table = read_table(str(tmp_path / "**" / "part-?.csv"))
    assert (table.origin.source, table.origin.sha256 is not None) == ("part-1.csv", True)


def test_many_files(tmp_path):
    for at in range(200):
        (tmp_path / f"{at}.csv").write_text(f"a,n\nx,{at}\n")
    assert read_table(tmp_path / "*.csv", weight="n").total == sum(range(200))


def test_parquet_in_folders_named_like_values_keeps_its_own_columns(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for sex in "FM":
        (tmp_path / f"sex={sex}").mkdir()
        pq.write_table(pa.table({"job": ["cook"], "sex": ["own"]}), tmp_path / f"sex={sex}" / "data.parquet")
    assert read_table(tmp_path / "*" / "*.parquet").to_columns() == ({"job": ["cook"], "sex": ["own"]}, [2])


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv"])
def test_a_name_that_looks_like_a_pattern_is_that_file(tmp_path, name):
    (tmp_path / "a1.csv").write_text("a\nother\n")
    (tmp_path / name).write_text("a\nown\n")
    assert read_table(tmp_path / name).to_columns() == ({"a": ["own"]}, [1])


@pytest.mark.parametrize("offset", range(5))
def test_a_character_across_the_end_of_the_sample(tmp_path, offset):
    path = tmp_path / "data.csv"
    path.write_text("a" * (offset + 1) + "\n" + "éé\n" * 60_000, encoding="utf-8")
    assert read_table(path).weights.tolist() == [60_000]


# -- manners -----------------------------------------------------------------------------------------------------------


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, fairbounds.sources\n"
        "heavy = {'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow', 'ibis', 'dask', 'numba', 'scipy'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    import tempfile

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(scratch)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    path = tmp_path / "data.csv"
    path.write_bytes(csv_text().replace("\n", "\r\n", 2).encode("utf-16"))
    read_table(path)
    assert list(scratch.iterdir()) == []


def test_big_files_are_not_hashed(tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "HASHED_BYTES", 3)
    path = tmp_path / "data.csv"
    path.write_text("a\nx\n")
    assert read_table(path).origin.sha256 is None


def test_many_cells_cross_the_batches(tmp_path):
    n = 120_001
    path = tmp_path / "data.csv"
    path.write_text("id,half\n" + "".join(f"{at},{at % 2}\n" for at in range(n)))
    table = read_table(path, numbers=["id"])
    assert (table.n_cells, table.total) == (n, n)
    assert np.array_equal(table.column("id") % 2, table.column("half"))


def test_quoted_line_breaks_far_into_a_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + 'x,"1\n2"\n' * 200_000)
    assert read_table(path).to_columns() == ({"a": ["x"], "b": ["1\n2"]}, [200_000])
