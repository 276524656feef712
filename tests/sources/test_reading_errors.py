"""Every way a file can be wrong: one sentence that names the value and the place."""

import codecs
import gzip
import json
import sqlite3
import zipfile
from pathlib import Path

import pytest

from fairbounds.errors import MissingDependencyError, SourceError
from fairbounds.sources import open_source, read_table

GOOD = "job,sex,n\ncook,F,1\nclerk,M,2\n"


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_all(path, **options):
    return read_table(path, **{"missing": "level", **options})


def parquet_bytes(columns):
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), sink)
    return sink.getvalue()


def arrow_bytes(columns, stream=False):
    import io

    import pyarrow as pa

    sink, data = io.BytesIO(), pa.table(columns)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, data.schema) as writer:
        writer.write_table(data)
    return sink.getvalue()


def twins():
    import pyarrow as pa

    return pa.table([["x"], ["y"]], names=["a", "a"])


def overwritten(data, at, with_):
    return data[:at] + with_ + data[at + len(with_) :]


LONG = GOOD + "cook,F,1\n" * 60_000
GZIPPED = gzip.compress(LONG.encode(), mtime=0)
PARQUET = parquet_bytes({"a": ["x", "y"] * 50, "b": [*range(100)]})

# name of the file, its content, what the message must say
FILES = {
    "empty": ("a.csv", "", "file 'a.csv' is empty; there is nothing to audit"),
    "blank": ("a.csv", " \n\n\t\n", "file 'a.csv' is empty"),
    "empty gzip": ("a.csv.gz", gzip.compress(b""), "file 'a.csv.gz' is empty"),
    "empty parquet": ("a.parquet", "", "file 'a.parquet' is empty"),
    "empty json": ("a.jsonl", "", "file 'a.jsonl' is empty"),
    "byte order mark only": ("a.csv", codecs.BOM_UTF16_LE, "file 'a.csv' is empty"),
    "header only": ("a.csv", "job,sex\n", "file 'a.csv' has columns but no rows"),
    "header only, parquet": ("a.parquet", lambda: parquet_bytes({"a": []}), "file 'a.parquet' has columns but no rows"),
    "header only, arrow": ("a.arrow", lambda: arrow_bytes({"a": []}), "file 'a.arrow' has columns but no rows"),
    "no names": ("a.csv", ",,\n1,2,3\n", "file 'a.csv' has no column names in its first line"),
    "a header without end": ("a.csv", "x" * 200_000, "file 'a.csv' has no header line that can be read as CSV"),
    "binary": ("a.csv", b"\x01\x02\x00\x00\x07", "file 'a.csv' is a binary file, not text"),
    "utf-16 without mark": ("a.csv", GOOD.encode("utf-16-le"), "file 'a.csv' is a binary file, not text"),
    "workbook": ("a.csv", b"PK\x03\x04rest", "file 'a.csv' is a zip archive or an Excel workbook.*; save it as CSV"),
    "old workbook": ("a.xls", b"\xd0\xcf\x11\xe0rest", "an old Excel workbook"),
    "pdf": ("a.csv", b"%PDF-1.7", "a PDF document"),
    "zstd": ("a.csv.zst", b"\x28\xb5\x2f\xfdrest", "compressed with zstd"),
    "not parquet": ("a.parquet", "job,sex\n", "file 'a.parquet' is no Parquet file, whatever its name says"),
    "not arrow": ("a.feather", "job,sex\n", "file 'a.feather' is no Arrow file, whatever its name says"),
    "old feather": ("a.feather", b"FEA1rest", "a Feather file of the old version 1"),
    "twice": ("a.csv", "sex,job,sex,job\n1,2,3,4\n", "names the column 'sex', 'job' more than once in its header"),
    "twice in parquet": ("a.parquet", lambda: parquet_bytes(twins()), "file 'a.parquet' has the column 'a' more than"),
    "too few values": (
        "a.csv",
        "a,b,c\n1,2,3\n\n1,2\n",
        "line 4 of file 'a.csv' has 2 values, but the header names 3 col",
    ),
    "too many values": (
        "a.csv",
        "a,b\n1,2\n1,2,3\n",
        "line 3 of file 'a.csv' has 3 values, .*; a value that contains ',' needs",
    ),
    "too many in every row": ("a.csv", "a,b\n1,2,3\n4,5,6\n", "line 2 of file 'a.csv' has 3 values"),
    "ragged far down": ("a.csv", LONG + "cook\n", "line 60,004 of file 'a.csv' has 1 value, but the header names 3"),
    "ragged after line breaks": ("a.csv", 'a,b\n"1\n2",x\ny\n', "line 4 of file 'a.csv' has 1 value"),
    "ragged utf-16": ("a.csv", "a,b\n1,2\n1\n".encode("utf-16"), "line 3 of file 'a.csv' has 1 value"),
    "ragged gzip": ("a.csv.gz", gzip.compress(b"a,b\n1,2\n1\n"), "line 3 of file 'a.csv.gz' has 1 value"),
    "open quote": (
        "a.csv",
        'a,b\n1,2\n"1,2\n3,4\n',
        "line 3 of file 'a.csv' opens a quotation mark that is never closed",
    ),
    "stray quote": ("a.csv", 'a,b\n1,2\n"1"x,2\n', "line 3 of file 'a.csv' is quoted wrongly"),
    "endless value": ("a.csv", 'a,b\n"' + "x" * 3_000_000 + "\n", "line 2 of file 'a.csv' has a huge value"),
    "latin-1": (
        "a.csv",
        "job\ncafé\n".encode("latin-1"),
        "file 'a.csv' is not UTF-8 text: line 2 has.*; save it as UTF-8",
    ),
    "latin-1 far down": ("a.csv", LONG.encode() + b"caf\xe9,F,1\n", "file 'a.csv' is not UTF-8 text: line 60,004 has"),
    "latin-1 in gzip": (
        "a.gz",
        gzip.compress(LONG.encode() + b"\xe9,F,1\n"),
        "'a.gz' is not UTF-8 text: line 60,004 has",
    ),
    "half a utf-16 character": ("a.csv", GOOD.encode("utf-16") * 60_000 + b"\x00\xd8", "damaged: it begins as UTF-16"),
    "gzip cut off": ("a.csv.gz", GZIPPED[:-100], "file 'a.csv.gz' is a damaged or incomplete gzip file"),
    "gzip cut off at once": ("a.csv.gz", GZIPPED[:12], "file 'a.csv.gz' is a damaged or incomplete gzip file"),
    "gzip with a wrong sum": (
        "a.gz",
        overwritten(GZIPPED, len(GZIPPED) - 8, b"\0"),
        "a damaged or incomplete gzip file",
    ),
    "gzip with a wrong byte": (
        "a.gz",
        overwritten(GZIPPED, len(GZIPPED) // 2, b"\xff\0\xff"),
        "a damaged or incomplete gz",
    ),
    "gzip of parquet": ("a.parquet.gz", gzip.compress(PARQUET), "is a gzip-compressed Parquet file; unpack it first"),
    "parquet cut off": ("a.parquet", PARQUET[:200], "file 'a.parquet' cannot be read as Parquet and may be damaged"),
    "parquet overwritten": ("a.parquet", overwritten(PARQUET, 10, b"\xff" * 60), "file 'a.parquet' cannot be read as"),
    "arrow cut off": ("a.arrow", lambda: arrow_bytes({"a": ["x"]})[:60], "file 'a.arrow' cannot be read as Arrow"),
    "arrow stream cut off": (
        "a.arrow",
        lambda: arrow_bytes({"a": ["x"]}, True)[:60],
        "'a.arrow' cannot be read as Arrow",
    ),
    "parquet lists": (
        "a.parquet",
        lambda: parquet_bytes({"a": [[1]]}),
        r"'a' of file 'a.parquet' holds values of type BIGINT",
    ),
    "parquet bytes": (
        "a.parquet",
        lambda: parquet_bytes({"a": [b"x"]}),
        "'a' of file 'a.parquet' holds values of type BLOB",
    ),
    "json broken": ("a.jsonl", '{"a": 1}\n{"a": \n{"a": 3}\n', "line 2 of file 'a.jsonl' is not JSON"),
    "json broken far down": ("a.jsonl", '{"a": 1}\n' * 60_000 + "oops", "line 60,001 of file 'a.jsonl' is not JSON"),
    "json broken in gzip": ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n{"a'), "line 2 of file 'a.jsonl.gz' is not JSON"),
    "json array broken": ("a.json", '[{"a": 1},\n {"a": }]', "line 2 of file 'a.json' is not JSON"),
    "json numbers": ("a.jsonl", '{"a": 1}\n3\n', "line 2 of file 'a.jsonl' is 3, not an object"),
    "json array of numbers": ("a.json", "[1, 2]", "row 1 of file 'a.json' is 1, not an object"),
    "json text": ("a.json", "hello", "line 1 of file 'a.json' is not JSON"),
    "json without keys": ("a.json", "{}", "file 'a.json' holds no JSON objects with keys"),
    "json of columns": ("a.json", '{"a": {"0": 1}}', "'a' of file 'a.json' holds objects such as {'0': 1}"),
    "json lists": ("a.json", '{"a": [1]}', r"'a' of file 'a.json' holds lists such as \[1\]"),
    "json latin-1": ("a.jsonl", b'{"a": "\xe9"}\n', "file 'a.jsonl' is not UTF-8 text"),
    "json latin-1 far down": ("a.jsonl", b'{"a": 1}\n' * 60_000 + b'{"a": "\xe9"}', "file 'a.jsonl' is not UTF-8 text"),
    "json utf-16": ("a.json", '{"a": 1}'.encode("utf-16"), "file 'a.json' is JSON in UTF-16; save it as UTF-8"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_cannot_be_read(tmp_path, case):
    name, content, said = FILES[case]
    path = write(tmp_path, name, content() if callable(content) else content)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SourceError, match=said) as raised:
        read_all(path)
    assert "\n" not in str(raised.value)
    assert sorted(tmp_path.iterdir()) == before


def test_a_database(tmp_path):
    sqlite3.connect(tmp_path / "a.db").execute("CREATE TABLE t (a)").connection.close()
    with pytest.raises(SourceError, match="is an SQLite database"):
        open_source(tmp_path / "a.db")


def test_a_real_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", GOOD)
    with pytest.raises(SourceError, match="is a zip archive"):
        open_source(tmp_path / "a.zip")


# -- finding the file --------------------------------------------------------------------------------------------------


def paths(folder):
    return {
        "missing": ("peple.csv", r"file '.*peple.csv' does not exist \(did you mean 'people.csv'\?\)"),
        "missing, nothing near": ("zzz.csv", "file '.*zzz.csv' does not exist$"),
        "missing folder": ("no/people.csv", "does not exist, nor does the folder '.*no'"),
        "folder": ("inner", r"'.*inner' is a folder; name a file in it, or a pattern such as '.*\*.parquet'"),
        "folder of nothing": ("bare", r"'.*bare' is a folder; .* pattern such as '.*\*.csv'"),
        "pattern without match": ("*.tsv", r"no file matches the pattern '.*\*.tsv'"),
        "zero byte": ("a\0b", "file '.*b' does not exist"),
        "the data itself": (GOOD * 1000, "file '.*…' cannot be read: File name too long"),
    }


@pytest.mark.parametrize("case", paths(None))
def test_paths_that_lead_nowhere(tmp_path, case):
    write(tmp_path, "people.csv", GOOD)
    write(tmp_path, "inner/a.parquet", PARQUET)
    (tmp_path / "bare").mkdir()
    typed, said = paths(tmp_path)[case]
    with pytest.raises(SourceError, match=said) as raised:
        open_source(f"{tmp_path}/{typed}")
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "typed", ["https://example.org/a.csv", "s3://bucket/a.parquet", "file:///tmp/a.csv", "HTTP://x/*"]
)
def test_addresses(typed):
    with pytest.raises(SourceError, match="is an address; only local files are read, so download it first"):
        open_source(typed)


def test_an_empty_path():
    with pytest.raises(SourceError, match="the internal file has an empty name; give a path"):
        open_source("", "internal")


def test_messages_name_the_role(tmp_path):
    path = write(tmp_path, "a.csv", GOOD)
    with pytest.raises(SourceError, match=r"^external file 'a.csv' has no column 'Sex' \(did you mean 'sex'\?\)"):
        open_source(path, "external").read(["Sex"])
    with pytest.raises(SourceError, match=r"^internal file '.*b.csv' does not exist"):
        open_source(tmp_path / "b.csv", "internal")
    with pytest.raises(SourceError, match=r"^no external file matches"):
        open_source(tmp_path / "b*", "external")


def test_a_device_is_no_file():
    with pytest.raises(SourceError, match="file 'null' is not a regular file"):
        open_source("/dev/null")


def test_permission(tmp_path, monkeypatch):
    path = write(tmp_path, "a.csv", GOOD)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match=r"file 'a.csv' cannot be read: permission denied"):
        open_source(path)


def test_permission_for_the_folder(monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(SourceError, match="internal file 'secret/a' cannot be read: permission denied"):
        open_source("secret/a", "internal")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet"])
def test_a_file_that_goes_away(tmp_path, name):
    path = write(tmp_path, name, {"a.csv": GOOD.encode(), "a.csv.gz": GZIPPED, "a.parquet": PARQUET}[name])
    source = open_source(path)
    path.unlink()
    with pytest.raises(SourceError, match=f"file '{name}' cannot be read: No such file or directory"):
        source.read(source.columns)


def test_a_disk_that_fails(tmp_path, monkeypatch):
    path = write(tmp_path, "a.csv", GOOD)

    def fail(*_, **__):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(SourceError, match=r"file 'a.csv' cannot be read: Input/output error"):
        open_source(path)


# -- patterns ----------------------------------------------------------------------------------------------------------


def test_files_of_different_columns(tmp_path):
    write(tmp_path, "part-1.csv", "job,sex\ncook,F\n")
    write(tmp_path, "part-2.csv", "job,gender\ncook,F\n")
    said = "file 'part-2.csv' does not have the columns of file 'part-1.csv': it lacks 'sex' and adds 'gender'"
    with pytest.raises(SourceError, match=said):
        open_source(tmp_path / "part-*.csv")


def test_files_of_different_types(tmp_path):
    write(tmp_path, "1.parquet", parquet_bytes({"age": [1], "sex": ["F"]}))
    write(tmp_path, "2.parquet", parquet_bytes({"age": ["1"], "sex": ["F"]}))
    source = open_source(tmp_path / "*.parquet")
    assert source.read(["sex"]).total == 2
    with pytest.raises(SourceError, match=r"'age' is BIGINT in file '1.parquet' but VARCHAR in file '2.parquet'"):
        source.read(["age"])


def test_the_bad_file_among_many_is_named(tmp_path):
    for at in range(5):
        write(tmp_path, f"{at}.csv", "a,b\n1,2\n" + ("3\n" if at == 3 else ""))
    with pytest.raises(SourceError, match=r"line 3 of file '3.csv' has 1 value"):
        read_all(tmp_path / "*.csv")


def test_the_damaged_gzip_among_many_is_named(tmp_path):
    write(tmp_path, "1.csv.gz", GZIPPED)
    write(tmp_path, "2.csv.gz", overwritten(GZIPPED, len(GZIPPED) - 8, b"\0"))
    with pytest.raises(SourceError, match=r"file '2.csv.gz' is a damaged or incomplete gzip file"):
        read_all(tmp_path / "*.csv.gz")


# -- what is asked for -------------------------------------------------------------------------------------------------

REQUESTS = {
    "unknown": (
        {"columns": ["jib"]},
        r"has no column 'jib' \(did you mean 'job'\?\); its columns are 'job', 'sex', 'n'",
    ),
    "unknown weight": ({"weight": "m"}, "has no column 'm'"),
    "twice": ({"columns": ["job", "sex", "job"]}, "'job' was asked for twice from file 'a.csv'; name each column once"),
    "weight is a variable": (
        {"columns": ["job", "n"], "weight": "n"},
        "'n' of file 'a.csv' cannot be both the weight and",
    ),
    "nothing": ({"columns": []}, "no column of file 'a.csv' was asked for; it has 'job', 'sex', 'n'"),
    "numbers not asked for": (
        {"columns": ["job"], "numbers": ["n"]},
        "'n' of file 'a.csv' is to be read as numbers but was",
    ),
    "policy": ({"missing": "dorp"}, "missing must be 'error', 'drop', 'level', not 'dorp'"),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_requests(tmp_path, case):
    options, said = REQUESTS[case]
    path = write(tmp_path, "a.csv", GOOD)
    with pytest.raises(SourceError, match=said):
        read_table(path, **options)


# -- optional packages -------------------------------------------------------------------------------------------------


def test_arrow_without_pyarrow(tmp_path, monkeypatch):
    import sys

    path = write(tmp_path, "a.arrow", arrow_bytes({"a": ["x"]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"reading file 'a.arrow' needs pyarrow; .*'fairbounds\[arrow\]'"):
        open_source(path)


@pytest.mark.parametrize("content", [GOOD, parquet_bytes({"a": ["x"]}), json.dumps({"a": 1})])
def test_other_files_without_any_dataframe_library(tmp_path, monkeypatch, content):
    import sys

    path = write(tmp_path, "a.json" if content[0] == "{" else "a.csv", content)
    for library in ("pyarrow", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
    assert read_table(path).total >= 1


def test_memory_that_does_not_suffice(tmp_path, monkeypatch):
    import duckdb

    from fairbounds.sources import files

    def full(*_):
        raise duckdb.OutOfMemoryException("failed to allocate")

    monkeypatch.setattr(files, "grouped", full)
    with pytest.raises(
        SourceError, match=r"the combinations of 'job', 'sex', 'n' in file 'a.csv' do not fit into memory"
    ):
        read_table(write(tmp_path, "a.csv", GOOD))


def test_what_duckdb_refuses_twice_is_still_one_sentence(tmp_path, monkeypatch):
    import duckdb

    from fairbounds.sources import files

    def odd(*_):
        raise duckdb.InvalidInputException("Something new.\nLINE 1: …")

    monkeypatch.setattr(files, "grouped", odd)
    with pytest.raises(SourceError, match=r"file 'a.csv' cannot be read as CSV and may be damaged: Something new$"):
        read_table(write(tmp_path, "a.csv", GOOD))
