"""People written to files: the same table comes back, and a file is whole or is not there."""

from __future__ import annotations

import csv
import datetime as dt
import decimal
import gzip
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from fairbounds import Table, read_table
from fairbounds.errors import SourceError
from fairbounds.sources import writing
from fairbounds.sources.writing import ENDINGS, write_people

UTC = dt.UTC
ODD = {
    'the "name"': ['a "b", c', "two\nlines", " spaces ", "Žena ‘F’", None],
    "whole": [1, 2**40, -3, None, 5],
    "huge": [2**70, 1, 2, 3, 4],
    "number": [0.1, 1e-300, None, 2.0, -1.5],
    "truth": [True, False, None, True, False],
    "day": [dt.date(2020, 2, 29), None, dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2020, 1, 1)],
    "moment": [dt.datetime(2020, 1, 1, 12, 30, 0, 5), None, *[dt.datetime(1999, 1, 1)] * 3],
    "zoned": [dt.datetime(2020, 1, 1, 12, tzinfo=UTC), None, *[dt.datetime(1999, 1, 1, tzinfo=UTC)] * 3],
    "money": [decimal.Decimal("1.50"), decimal.Decimal("1E+3"), None, decimal.Decimal("-0.001"), decimal.Decimal(7)],
    "code": ["007", "1.0", "NA", "null", "0x1"],
    "empty": [None] * 5,
}
PEOPLE = [1, 2, 3, 1, 4]


def odd() -> Table:
    return Table.from_columns(ODD, PEOPLE)


def rows(path: Path) -> list[list[str]]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.reader(data.decode("utf-8").splitlines(keepends=True)))


def test_parquet_keeps_levels_and_types(tmp_path: Path) -> None:
    """Read by pyarrow, not by what wrote it; only what no column type holds becomes text."""
    write_people(odd(), tmp_path / "people.parquet")
    found = pq.read_table(tmp_path / "people.parquet")
    types = dict(zip(found.column_names, map(str, found.schema.types), strict=True))
    assert types == {
        'the "name"': "string",
        "whole": "int64",
        "huge": "string",
        "number": "double",
        "truth": "bool",
        "day": "date32[day]",
        "moment": "timestamp[us]",
        "zoned": "timestamp[us, tz=UTC]",
        "money": "decimal128(7, 3)",
        "code": "string",
        "empty": "string",
    }
    expected = {**ODD, "huge": [str(value) for value in ODD["huge"]]}
    people = [tuple(column[at] for column in expected.values()) for at in range(5) for _ in range(PEOPLE[at])]
    written = list(zip(*(found[name].to_pylist() for name in expected), strict=True))
    assert sorted(written, key=str) == sorted(people, key=str)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_csv_has_the_levels_as_they_are_shown(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    write_people(odd(), path)
    header, *found = rows(path)
    people = [
        ["" if column[at] is None else str(column[at]) for column in ODD.values()]
        for at in range(5)
        for _ in range(PEOPLE[at])
    ]
    assert header == list(ODD)
    assert sorted(found) == sorted(people)


@pytest.mark.parametrize("ending", ENDINGS)
def test_fairbounds_reads_what_it_wrote(ending: str, tmp_path: Path) -> None:
    table = Table.from_columns({"job": ["cook", "clerk", None], "code": ["007", "7", "1.0"]}, [5, 7, 11])
    path = tmp_path / f"people{ending}"
    write_people(table, path, rng=np.random.default_rng(1))
    read = read_table(path, missing="level")
    assert (read.variables, read.codes.tolist(), read.weights.tolist()) == (
        table.variables,
        table.codes.tolist(),
        table.weights.tolist(),
    )


def test_people_come_in_random_order_the_same_for_the_same_seed(tmp_path: Path) -> None:
    table = Table.from_columns({"job": ["a", "b"], "n": [1, 2]}, [500, 500])
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        write_people(table, tmp_path / f"{name}.csv", rng=np.random.default_rng(seed))
    one, again, other = (rows(tmp_path / f"{name}.csv")[1:] for name in ("one", "again", "other"))
    assert one == again != other
    first = sum(job == "a" for job, _ in one[:500])
    assert 200 < first < 300  # hypergeometric: 250 with a standard deviation of 8


def test_the_same_people_give_the_same_bytes(tmp_path: Path) -> None:
    for ending in ENDINGS:
        for name in ("one", "two"):
            write_people(odd(), tmp_path / f"{name}{ending}", rng=np.random.default_rng(0))
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_a_million_people_arrive(tmp_path: Path) -> None:
    counts = np.random.default_rng(0).multinomial(1_000_000, np.full(40, 1 / 40)).astype(float)
    table = Table.from_columns({"job": [f"job {at % 8}" for at in range(40)], "region": list(range(40))}, counts)
    write_people(table, tmp_path / "people.parquet", rng=np.random.default_rng(0))
    assert pq.read_metadata(tmp_path / "people.parquet").num_rows == 1_000_000
    assert read_table(tmp_path / "people.parquet").weights.sum() == 1_000_000


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("people.txt", ["'people.txt'", ".parquet, .csv, .csv.gz"]),
        ("people", ["'people'", ".parquet"]),
        (".csv", ["'.csv'", ".parquet"]),
        ("absent/people.csv", ["there is no folder", "create it first"]),
        ("folder.csv", ["that is a folder"]),
        ("pipe.csv", ["no regular file"]),
        ("n" * 300 + ".csv", ["cannot be written", "nothing was written"]),
    ],
)
def test_a_path_that_will_not_do_is_one_sentence(
    path: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(SourceError) as caught:
        write_people(odd(), path)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


def test_parts_of_people_and_names_alike_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="whole numbers"):
        write_people(Table.from_columns({"job": ["a", "b"]}, [1, 0.5]), tmp_path / "people.csv")
    with pytest.raises(SourceError, match="'Sex' and 'sex' differ in capitals only"):
        write_people(Table.from_columns({"Sex": ["a"], "sex": ["b"]}), tmp_path / "people.csv")
    assert os.listdir(tmp_path) == []


# -- whole or not at all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError])
def test_whatever_happens_at_the_end_the_old_file_stays(
    error: BaseException, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"people{ending}"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(writing.os, "replace", fail)
    with pytest.raises((SourceError, KeyboardInterrupt, MemoryError)):
        write_people(odd(), path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


FULL = """
import resource, signal, sys
import numpy as np
from fairbounds import Table
from fairbounds.errors import SourceError
from fairbounds.sources.writing import write_people

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
values = np.random.default_rng(0).integers(0, 2**60, 100_000)
try:
    write_people(Table.from_columns({"x": values}), sys.argv[1])
except SourceError as error:
    print(error)
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_without_room_leaves_no_half_file(ending: str, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    path = tmp_path / f"people{ending}"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stdout
    assert "nothing was written" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


MANY = """
import signal, sys
from fairbounds import Table
from fairbounds.sources.writing import write_people

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what runs in the background ignore it
try:
    write_people(Table.from_columns({"job": list("abc"), "n": [1, 2, 3]}, [8_000_000] * 3), sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_interrupt_while_duckdb_writes_is_answered_at_once(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    path.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", MANY, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    end = time.monotonic() + 60
    while not any(found.is_file() for found in tmp_path.rglob("*") if found != path) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert time.monotonic() - pressed < 10
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_the_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    for ending in ENDINGS:
        write_people(odd(), tmp_path / f"people{ending}")
        mode = (tmp_path / f"people{ending}").stat().st_mode
        assert stat.S_IMODE(mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_a_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    (tmp_path / "people.csv").symlink_to(tmp_path / "real.csv")
    write_people(odd(), tmp_path / "people.csv")
    assert (tmp_path / "people.csv").is_symlink()
    assert rows(tmp_path / "real.csv")[0] == list(ODD)


ALONE = """
import sys
for name in ("pandas", "pyarrow", "polars"):
    sys.modules[name] = None
from fairbounds import Table
from fairbounds.sources.writing import write_people
write_people(Table.from_columns({"job": ["a", "b"]}, [3, 4]), sys.argv[1])
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_dataframe_library_is_needed(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    subprocess.run([sys.executable, "-c", ALONE, str(path)], check=True)
    assert read_table(path).weights.tolist() == [3, 4]
