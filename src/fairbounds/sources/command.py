"""A model that is a program: rows of features go in as CSV, one answer per line comes out."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from fairbounds.errors import SourceError, brief, nearest
from fairbounds.levels import show
from fairbounds.sources.base import counted

__all__ = ["CommandModel"]

Answer: TypeAlias = str | int | float

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d{1,18}")


class CommandModel:
    """A command that is a model.

    It is started once, without a shell. It reads CSV with a header from its standard input, and prints one value for
    each row, in their order: scores in [0, 1], or decisions. A first line that is no number, above lines that all are,
    is taken for a header. What it prints on standard error is not touched.

    Parameters
    ----------
    command : str
        Program and arguments, quoted as in a shell.

    Examples
    --------
    >>> model = CommandModel("sed -e 1d -e s/,.*//")  # prints the first column
    >>> model({"income": [0.25, 0.5], "job": ["cook", None]})
    [0.25, 0.5]
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self._words = _split(command)
        _check_program(self._words[0], self._place)

    def __str__(self) -> str:
        return self.command

    def __repr__(self) -> str:
        return f"CommandModel({self.command!r})"

    @property
    def _place(self) -> str:
        return f"the model command {brief(self.command)}"

    def __call__(self, rows: Any) -> list[Answer]:
        """Answer for every row of a dataframe or of a mapping of columns."""
        columns = _columns(rows)
        n_rows = len(next(iter(columns.values())))
        return _answers(self._lines(_as_csv(columns)), n_rows, self._place)

    def _lines(self, text: bytes) -> list[str]:
        with _started(self._words, self._place) as process:
            printed, _ = process.communicate(text)
        if process.returncode:
            raise SourceError(f"{self._place} {_ending(process.returncode)}; what it printed was not used")
        try:
            lines = printed.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n").split("\n")
        except UnicodeDecodeError:
            raise SourceError(f"{self._place} printed bytes that are not UTF-8; it must print text") from None
        return [] if lines == [""] else [line.strip() for line in lines]


# -- the command -------------------------------------------------------------------------------------------------------


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SourceError(f"the model command {brief(command)} cannot be read: {str(error).lower()}") from None
    if not words or not words[0]:
        raise SourceError("the model command is empty; give a program and its arguments, such as './model --flag'")
    if "\0" in command:
        raise SourceError(f"the model command {brief(command)} holds a zero byte, which no command can")
    return [os.path.expanduser(words[0]), *words[1:]]


def _check_program(program: str, place: str) -> None:
    """Refuse a program that is not there before anything is read for it."""
    if shutil.which(program):
        return
    path = Path(program)
    if path.is_dir():
        raise SourceError(f"{place} names the folder {brief(program)}; name a program in it")
    if path.is_file() and os.path.dirname(program):
        raise SourceError(f"{place} cannot be run: {brief(program)} is not executable; allow it with chmod +x")
    if path.is_file():
        raise SourceError(f"{place} names {brief(program)}, which is no program on the path; write './{program}'")
    near = nearest(path.name, os.listdir(path.parent)) if os.path.dirname(program) and path.parent.is_dir() else ""
    raise SourceError(f"{place} names the program {brief(program)}, which does not exist{near}")


@contextmanager
def _started(words: Sequence[str], place: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a session of its own, so that all that it starts can be ended with it."""
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        hint = "; a script needs a first line such as #!/usr/bin/env python3" if error.errno == 8 else ""
        raise SourceError(f"{place} cannot be run: {error.strerror}{hint}") from None
    try:
        yield process
    except BaseException:
        _kill(process)
        raise


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _ending(code: int) -> str:
    if code > 0:
        return f"failed with exit code {code}"
    with suppress(ValueError):
        return f"was ended by the signal {signal.Signals(-code).name}"
    return f"was ended by the signal {-code}"


# -- in ----------------------------------------------------------------------------------------------------------------


def _columns(rows: Any) -> dict[str, list[Any]]:
    if isinstance(rows, Mapping):
        return {str(name): list(values) for name, values in rows.items()}
    import narwhals.stable.v2 as nw

    frame = nw.from_native(rows, eager_only=True)
    return {name: frame[name].to_list() for name in frame.columns}


def _as_csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(map(_cell, values) for values in columns.values()), strict=True))
    return text.getvalue().encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str:
    """Write a value as its level is shown; missing ones are empty."""
    absent = value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"
    return "" if absent else show(value)


# -- out ---------------------------------------------------------------------------------------------------------------


def _answers(lines: list[str], n_rows: int, place: str) -> list[Answer]:
    numeric = [_NUMBER.fullmatch(line) is not None for line in lines]
    if len(lines) == n_rows + 1 and lines[0] and not numeric[0] and all(numeric[1:]):
        lines, numeric = lines[1:], numeric[1:]
    if len(lines) != n_rows:
        found = counted(len(lines), "line") if lines else "nothing"
        header = ": if the first is a header, leave it out" if len(lines) == n_rows + 1 else ""
        raise SourceError(
            f"{place} printed {found} for {counted(n_rows, 'row')}; it must print one value for each{header}"
        )
    if "" in lines:
        raise SourceError(f"{place} printed no value on line {lines.index('') + 1:,}; every row needs one")
    if all(numeric):
        return _numbers(lines, place)
    if any(numeric):
        at = numeric.index(False)
        raise SourceError(
            f"{place} printed {brief(lines[at])} on line {at + 1:,}, which is no number as other lines are; print a "
            "score between 0 and 1 for every row, or a decision for every row"
        )
    return list(lines)


def _numbers(lines: list[str], place: str) -> list[Answer]:
    if all(_WHOLE.fullmatch(line) for line in lines):
        return [int(line) for line in lines]
    scores = [float(line) for line in lines]
    for at, score in enumerate(scores):
        if not 0 <= score <= 1:
            raise SourceError(
                f"{place} printed {brief(lines[at])} on line {at + 1:,}; a score must lie between 0 and 1"
            )
    return list(scores)
