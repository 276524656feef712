"""``fairbounds reproduce``: bad input in one sentence, progress in lines, and interrupts that leave nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairbounds.cli import reproducing
from fairbounds.cli.running import run
from fairbounds.progress import report
from fairbounds.studies import reporting
from fairbounds.studies.runs import Effort

for library in ("altair", "vl_convert"):
    if os.environ.get("CI"):
        __import__(library)
    pytest.importorskip(library)

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "'nonsense' is not one of 'simulation', 'stress', 'feasible', 'structural', 'all'"),
        (["stress", "--trials", "1"], "'--trials': 1 is not in the range x>=2"),
        (["stress", "--splits", "1"], "'--splits': 1 is not in the range x>=2"),
        (["stress", "--seed", "-1"], "'--seed': -1 is not in the range x>=0"),
        (["stress", "--design", "x"], "'--design': 'x' is not one of 'mirrored', 'independent'"),
        (["stress", "--out", "file"], "cannot be written: that is a file; give another name with --out"),
        (
            ["stress", "--out", "foreign"],
            "holds 'thesis.tex', which no earlier run wrote; give another name",
        ),
        (["stress", "--out", "no/such"], "create it first"),
        (["stress", "--out", "file/inside"], "cannot be written: there is no folder"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments: list[str], said: str, folder: Path, capsys: Captured) -> None:
    before = sorted(folder.rglob("*"))
    assert run(["reproduce", *arguments]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    assert told.startswith("fairbounds: ")
    assert said in told
    assert told.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


def test_a_missing_extra_is_told_before_any_work(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporting, "find_spec", lambda name: None)
    assert run(["reproduce", "feasible"]) == 2
    printed, told = capsys.readouterr()
    assert printed == ""
    assert "scikit-learn" in told
    assert "fairbounds[studies]" in told
    assert told.count("\n") == 1


def test_a_small_run_from_the_command_line(folder: Path, capsys: Captured) -> None:
    assert run(["reproduce", "stress", "--trials", "3", "--out", "out", "--seed", "4"]) == 0
    printed, told = capsys.readouterr()
    assert printed.splitlines()[0] == "Stress test: 2 figures, 1 tables"
    assert "read out/summary.html" in printed
    assert told.startswith("fairbounds: stress test, 0%\n")
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["command"] == "fairbounds reproduce stress --seed 4 --trials 3"
    made = reporting.reproduce("stress", 4, Effort.of(3))
    assert summary["stress"] == json.loads(json.dumps(made.summary()["stress"]))


def test_lines_of_progress_are_few(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    clock = iter(range(0, 1000, 1))
    monkeypatch.setattr(reproducing, "monotonic", lambda: float(next(clock)))

    def work(*_: object) -> None:
        for k in range(40):
            report("counting", k / 40)
        report("counting", 1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(reporting, "write_reproduction", work)
    assert run(["reproduce"]) == 130
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "fairbounds: counting, 0%"
    assert told[-1] == "fairbounds: interrupted; nothing was written"
    assert 3 <= len(told) <= 12


SLOW = """
import pathlib, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from fairbounds.studies import {module}

def waiting(*arguments, **named):
    pathlib.Path("there").touch()
    time.sleep(60)

{module}.{name} = waiting
from fairbounds.cli import main
main(["reproduce", "stress", "--trials", "2", "--out", "out"])
"""


@pytest.mark.parametrize(
    ("module", "name"), [("reporting", "stress"), ("reporting", "csv_text"), ("writing", "os.replace")]
)
def test_an_interrupt_leaves_nothing(module: str, name: str, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.format(module=module, name=name)], stderr=subprocess.PIPE, text=True
    )
    try:
        end = time.monotonic() + 60
        while not (folder / "there").exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert told.splitlines()[-1] == "fairbounds: interrupted; nothing was written"
    (folder / "there").unlink()
    assert sorted(folder.rglob("*")) == before
