"""Progress on a terminal, and interrupts at any moment: exit 130, one sentence, and no half file."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tables_on_disk import EXTERNAL, INTERNAL, command, listing, write

from fairbounds import progress
from fairbounds.cli import progress as display
from fairbounds.cli.progress import busy

SAID = "fairbounds: interrupted; nothing was written"
LIMIT = 60.0


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds the two tables."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    return tmp_path


# A program that does as fairbounds does, but stops where the test wants it and makes a file to say that it is there.
STOPPED = """
import pathlib, signal, time
from fairbounds.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what runs in the background ignore it

def waiting(*_, **__):
    pathlib.Path("there").touch()
    {wait}

{patch}
main({arguments!r})
"""

PYTHON_WAIT = "time.sleep(60)"
DUCKDB_WAIT = "duckdb.sql('SELECT max(hash(i)) FROM range(100000000000) t(i)').fetchall()"
SWALLOWED = """
    try:
        time.sleep(60)
    except BaseException:
        raise RuntimeError("Query interrupted") from None
"""


def script(arguments: Sequence[str], patch: str, wait: str = PYTHON_WAIT) -> list[str]:
    return [sys.executable, "-c", STOPPED.format(patch=patch, wait=wait, arguments=list(arguments))]


def until(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + LIMIT
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def interrupted(words: Sequence[str], ready: Callable[[], bool]) -> tuple[int, str, str]:
    """Start a process, send it an interrupt once it is ready, and return its code and what it said."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert until(lambda: ready() or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    return process.returncode, printed, said


FILES = ["internal.csv", "external.csv", "--protected", "sex"]
SYNTHESIZE = ["synthesize", *FILES, "--out", "people.csv", "--rows", "1000"]
PIPELINE = "import fairbounds.pipeline\nfairbounds.pipeline.{name} = waiting"
CASES = {
    "while an audit reads and computes": (command(report="audit.html"), PIPELINE.format(name="audit")),
    "while an exploration walks": (["explore", *command()[1:]], PIPELINE.format(name="explore")),
    "while people are drawn": (SYNTHESIZE, PIPELINE.format(name="synthesize")),
    "while people are handed to DuckDB": (SYNTHESIZE, "import fairbounds.sources.writing as w\nw.execute = waiting"),
    "before the file gets its name": (SYNTHESIZE, "import fairbounds.sources.writing as w\nw.os.replace = waiting"),
    "while the report is written": (
        command(report="audit.html"),
        "import fairbounds.report.html as h\nh.os.replace = waiting",
    ),
    "while the commands are imported": (
        command(),
        "import sys, importlib.abc\n"
        "class Slow(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'fairbounds.cli.commands': waiting()\n"
        "sys.meta_path.insert(0, Slow())",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_interrupt_at_any_moment(case: str, folder: Path) -> None:
    arguments, patch = CASES[case]
    before = set(listing(folder))
    code, printed, said = interrupted(script(arguments, patch), (folder / "there").exists)
    assert (code, printed) == (130, ""), said
    assert said.strip() == SAID
    assert set(listing(folder)) - before == {"there"}


@pytest.mark.parametrize("wait", [DUCKDB_WAIT, SWALLOWED], ids=["a query", "an error instead"])
def test_an_interrupt_that_a_library_turns_into_its_own_error(wait: str, folder: Path) -> None:
    patch = "import duckdb\n" + PIPELINE.format(name="audit")
    code, printed, said = interrupted(script(command(), patch, wait), (folder / "there").exists)
    assert (code, printed) == (130, ""), said
    assert said.strip() == SAID


LOADING = """
import os, sys, importlib.abc
class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == 'duckdb':
            pathlib.Path('there').touch()
            time.sleep(1)
            pathlib.Path('loaded').touch()
sys.meta_path.insert(0, Slow())
"""


def test_an_interrupt_while_duckdb_is_loaded(folder: Path) -> None:
    """It is heard when that is done: broken off in between, DuckDB would abort the process."""
    code, printed, said = interrupted(script(command(), LOADING), (folder / "there").exists)
    assert (code, printed) == (130, ""), said
    assert said.strip() == SAID
    assert (folder / "loaded").exists()


def test_an_ignored_interrupt_stays_ignored(folder: Path) -> None:
    """As a shell starts what runs in the background."""
    line = shlex.join([sys.executable, "-m", "fairbounds", *command()])
    process = subprocess.Popen(
        ["sh", "-c", f"trap '' INT; touch there; exec {line}"], stdout=subprocess.PIPE, text=True
    )
    assert until((folder / "there").exists)
    for _ in range(10):
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    assert process.communicate(timeout=LIMIT)[0].startswith("{")
    assert process.returncode == 0


# -- on a terminal -----------------------------------------------------------------------------------------------------


def on_a_terminal(words: Sequence[str], pressing: str = "", when: str = "") -> tuple[int, str]:
    """Run on a pseudo-terminal; press keys once some text is seen; return the code and all that was shown."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm", COLUMNS="100")
        os.execv(words[0], list(words))
    shown, end = "", time.monotonic() + LIMIT
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not part:
            break
        shown += part.decode("utf-8", "replace")
        if pressing and when in shown:
            os.write(terminal, pressing.encode())
            pressing = ""
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown


REPORTING = """
from fairbounds.progress import report
for part in range(20):
    report("Counting the stars", part / 20)
    time.sleep(0.1)
raise SystemExit(7)
"""


def test_a_terminal_shows_what_is_done_and_how_far_it_has_come(folder: Path) -> None:
    wait = "\n    ".join(["time.sleep(0.8)", *REPORTING.strip().splitlines()])
    code, shown = on_a_terminal(script(command(), PIPELINE.format(name="audit"), wait))
    assert code == 7
    assert "Auditing internal.csv with external.csv" in shown
    assert "Counting the stars" in shown
    assert "━" in shown[shown.index("Counting") :]
    assert "━" not in shown[: shown.index("Counting")]
    assert shown.rstrip().endswith("\x1b[2K")  # nothing of it is left


def test_ctrl_c_on_a_terminal(folder: Path) -> None:
    waiting = script(SYNTHESIZE, PIPELINE.format(name="synthesize"))
    code, shown = on_a_terminal(waiting, "\x03", "Putting internal.csv and external.csv together")
    assert code == 130
    assert shown.rstrip().endswith(SAID)
    assert "Traceback" not in shown
    assert not (folder / "people.csv").exists()


def test_a_quick_answer_does_not_flicker(folder: Path) -> None:
    code, shown = on_a_terminal(
        [sys.executable, "-m", "fairbounds", "audit", "absent.csv", "external.csv", "--protected", "sex"]
    )
    assert code == 2
    assert shown.startswith("fairbounds: internal file 'absent.csv' does not exist")


def test_no_terminal_no_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where a variable of the environment asks for colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(display, "_PATIENCE", 0.0)
    with busy("Working"):
        progress.report("Counting", 0.5)
        time.sleep(0.2)
    assert capsys.readouterr() == ("", "")
