"""A model that is a program: what it is given, what it may answer, and what becomes of it."""

from __future__ import annotations

import csv
import io
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairbounds.errors import SourceError
from fairbounds.sources.command import CommandModel

ROWS = {"job": ["cook", "clerk", "cook"], "income": [10, 20, 30]}


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Return a maker of commands that run a Python program."""

    def make(text: str, *arguments: str) -> str:
        path = tmp_path / "a model.py"
        path.write_text(text)
        return shlex.join([sys.executable, str(path), *arguments])

    return make


def printing(*lines: str, end: str = "\n") -> str:
    """Return a program that reads everything and prints these lines."""
    return f"import sys\nsys.stdin.read()\nsys.stdout.write({end.join(lines) + end!r})"


# -- in ----------------------------------------------------------------------------------------------------------------


def given(script: Callable[..., str], tmp_path: Path, rows: object, n: int) -> list[list[str]]:
    """Return what the program reads, by the csv module."""
    kept = tmp_path / "read.csv"
    text = f"import sys\nopen({str(kept)!r}, 'wb').write(sys.stdin.buffer.read())\nprint('0.5\\n' * {n}, end='')"
    CommandModel(script(text))(rows)
    return list(csv.reader(io.StringIO(kept.read_bytes().decode("utf-8"), newline="")))


def test_the_program_reads_csv_with_a_header(script: Callable[..., str], tmp_path: Path) -> None:
    rows = {
        'the "job"': ["cook, chief", 'a "b"', "two\nlines", "Ž"],
        "n": [1, None, 3, 4],
        "x": [0.1, math.nan, 1e-300, 2.0],
        "ok": [True, False, None, True],
    }
    assert given(script, tmp_path, rows, 4) == [
        ['the "job"', "n", "x", "ok"],
        ["cook, chief", "1", "0.1", "True"],
        ['a "b"', "", "", "False"],
        ["two\nlines", "3", "1e-300", ""],
        ["Ž", "4", "2.0", "True"],
    ]


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_any_frame_will_do(make: Callable[..., object], script: Callable[..., str], tmp_path: Path) -> None:
    expected = [["job", "income"], ["cook", "10"], ["clerk", "20"], ["cook", "30"]]
    assert given(script, tmp_path, make(ROWS), 3) == expected


def test_arguments_reach_the_program_without_a_shell(script: Callable[..., str]) -> None:
    text = "import sys\nsys.stdin.read()\nprint(sys.argv[1:] == ['a b', '$HOME', '*', '|'] and '0.25\\n' * 2 + '1')"
    assert CommandModel(script(text, "a b", "$HOME", "*", "|"))(ROWS) == [0.25, 0.25, 1.0]


def test_a_program_that_answers_before_it_has_read_everything(script: Callable[..., str]) -> None:
    """More than a pipe holds, in both directions."""
    n = 200_000
    text = f"import sys\nsys.stdout.write('0.125\\n' * {n})\nsys.stdout.flush()\nsys.stdin.read()"
    assert CommandModel(script(text))({"x": ["some longer text"] * n}) == [0.125] * n


def test_a_program_that_reads_nothing_may_answer_all_the_same() -> None:
    assert CommandModel(shlex.join([sys.executable, "-c", "print(1); print(0); print(1)"]))(ROWS) == [1, 0, 1]


# -- out ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        (["0.25", "1", "0"], [0.25, 1.0, 0.0]),
        (["1", "0", "1"], [1, 0, 1]),
        (["1e-3", ".5", "+0.75"], [0.001, 0.5, 0.75]),
        ([" 0.5 ", "0.5\r", "0.5"], [0.5, 0.5, 0.5]),
        (["yes", "no", "yes"], ["yes", "no", "yes"]),
        (["\ufeff0.5", "0.5", "0.5"], [0.5, 0.5, 0.5]),
        (["score", "0.5", "0.25", "1"], [0.5, 0.25, 1.0]),
        (["prediction", "1", "0", "0"], [1, 0, 0]),
        (["3", "1", "2"], [3, 1, 2]),
    ],
)
def test_answers(lines: Sequence[str], answers: list[object], script: Callable[..., str]) -> None:
    found = CommandModel(script(printing(*lines)))(ROWS)
    assert found == answers
    assert list(map(type, found)) == list(map(type, answers))


def test_the_last_line_needs_no_end(script: Callable[..., str]) -> None:
    assert CommandModel(script("import sys; sys.stdin.read(); print('1\\n0\\n1', end='')"))(ROWS) == [1, 0, 1]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["1", "0"], ["2 lines for 3 rows", "one value for each"]),
        (["0.5"], ["1 line for 3 rows"]),
        ([], ["nothing for 3 rows"]),
        (["0", "0.5", "0.25", "1"], ["4 lines for 3 rows", "if the first is a header, leave it out"]),
        (["decision", "yes", "no", "no"], ["4 lines for 3 rows", "if the first is a header, leave it out"]),
        (["score", "0.5", "0.25"], ["'score' on line 1", "no number"]),
        (["0.5", "nan", "0.25"], ["'nan' on line 2", "no number"]),
        (["0.5", "", "0.25"], ["no value on line 2"]),
        (["yes", "", "no"], ["no value on line 2"]),
        (["0.5", "1.5", "0.25"], ["'1.5' on line 2", "between 0 and 1"]),
        (["0.5", "-0.1", "0.25"], ["'-0.1' on line 2", "between 0 and 1"]),
        (["0.5", "1e999", "0.25"], ["'1e999' on line 2", "between 0 and 1"]),
        (["0.5,0.5", "0.1,0.9", "1"], ["'0.5,0.5' on line 1", "no number"]),
    ],
)
def test_what_is_no_answer_is_refused(lines: Sequence[str], words: Sequence[str], script: Callable[..., str]) -> None:
    with pytest.raises(SourceError) as caught:
        CommandModel(script(printing(*lines) if lines else "import sys; sys.stdin.read()"))(ROWS)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text(script: Callable[..., str]) -> None:
    with pytest.raises(SourceError, match="not UTF-8"):
        CommandModel(script("import sys; sys.stdout.buffer.write(b'\\xff\\n' * 3)"))(ROWS)


# -- when it cannot be run, or fails -----------------------------------------------------------------------------------


def test_standard_error_passes_through(script: Callable[..., str], capfd: pytest.CaptureFixture[str]) -> None:
    CommandModel(script("import sys; print('loading', file=sys.stderr); print('1\\n1\\n1')"))(ROWS)
    assert capfd.readouterr() == ("", "loading\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.stdin.read(); print('1\\n0\\n1'); sys.exit(3)", ["exit code 3", "was not used"]),
        ("import os; os.kill(os.getpid(), 9)", ["signal SIGKILL"]),
    ],
)
def test_a_program_that_fails(text: str, words: Sequence[str], script: Callable[..., str]) -> None:
    with pytest.raises(SourceError) as caught:
        CommandModel(script(text))(ROWS)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", ["is empty", "give a program"]),
        ("  ", ["is empty"]),
        ("''", ["is empty"]),
        ("./model 'x", ["no closing quotation"]),
        ("./modle", ["'./modle'", "does not exist", "did you mean 'model'"]),
        ("no-such-program-anywhere --flag", ["'no-such-program-anywhere'", "does not exist"]),
        ("./absent/model", ["'./absent/model'", "does not exist"]),
        ("./folder", ["the folder './folder'"]),
        ("./model", ["'./model'", "not executable", "chmod +x"]),
        ("model", ["'model'", "no program on the path", "write './model'"]),
        ("a\0b", ["zero byte"]),
    ],
)
def test_a_command_that_is_none_is_refused_before_it_is_needed(
    command: str, words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "model").write_text("#!/bin/sh\n")
    with pytest.raises(SourceError) as caught:
        CommandModel(command)
    assert not [word for word in words if word not in str(caught.value)], str(caught.value)


def test_a_script_without_a_first_line(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_bytes(b"\0\0\0")
    path.chmod(0o755)
    with pytest.raises(SourceError, match=r"cannot be run.*#!/usr/bin/env"):
        CommandModel(str(path))(ROWS)


# -- interrupts --------------------------------------------------------------------------------------------------------

WAITING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what runs in the background ignore it
from fairbounds.sources.command import CommandModel
try:
    CommandModel({command!r})({{"x": [1]}})
except KeyboardInterrupt:
    print("interrupted")
"""


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(true: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_an_interrupt_ends_the_program_and_all_that_it_started(tmp_path: Path) -> None:
    noted = tmp_path / "pids"
    program = tmp_path / "model"
    program.write_text(
        f"#!/bin/sh\ntrap '' INT TERM\nsleep 60 &\necho $$ $! > {noted}.part\nmv {noted}.part {noted}\nwait\n"
    )
    program.chmod(0o755)
    waiting = subprocess.Popen(
        [sys.executable, "-c", WAITING.format(command=str(program))], stdout=subprocess.PIPE, text=True
    )
    try:
        assert until(noted.exists)
        os.kill(waiting.pid, signal.SIGINT)
        assert waiting.communicate(timeout=20)[0] == "interrupted\n"
        for pid in map(int, noted.read_text().split()):
            assert until(lambda pid=pid: not alive(pid))  # type: ignore[misc]
    finally:
        waiting.kill()
