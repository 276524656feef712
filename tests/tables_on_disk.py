"""Small tables, the files that hold them, and the command line run in-process: what several tests share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Content: TypeAlias = str | bytes | Callable[[Path], object]
"""Text, bytes, or what makes the file (or folder) at a path."""

INTERNAL = """\
job,approved,n
nurse,yes,300
nurse,no,700
teacher,yes,600
teacher,no,600
driver,yes,1440
driver,no,160
"""

EXTERNAL = """\
job,sex,people
nurse,female,9000
nurse,male,1000
teacher,female,7500
teacher,male,2500
driver,female,800
driver,male,15200
"""

DEFAULTS: Mapping[str, object] = {
    "internal": "internal.csv",
    "external": "external.csv",
    "protected": "sex",
    "decision": "approved",
    "favourable": "yes",
    "internal_weight": "n",
    "external_weight": "people",
    "format": "json",
}


def csv(header: str, *lines: str) -> str:
    """Return the text of a CSV file.

    >>> csv("a,b", "1,2")
    'a,b\\n1,2\\n'
    """
    return "".join(f"{line}\n" for line in (header, *lines))


def write(folder: Path, files: Mapping[str, Content]) -> None:
    """Make files in a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8", newline="")


def command(**changes: object) -> list[str]:
    """Return the arguments of an audit of `INTERNAL` and `EXTERNAL`, with changes: ``None`` leaves an option out.

    >>> command(internal_weight=None, external_weight=None, format=None, gate=True)[3:]
    ['--protected', 'sex', '--decision', 'approved', '--favourable', 'yes', '--gate']
    """
    options = {**DEFAULTS, **changes}
    places = [str(place) for place in (options.pop("internal"), options.pop("external")) if place is not None]
    return ["audit", *places, *(word for name, value in options.items() for word in _option(name, value))]


def _option(name: str, value: object) -> Iterator[str]:
    flag = "--" + name.replace("_", "-")
    if value is True:
        yield flag
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            yield from (flag, str(one))
    elif value is not None and value is not False:
        yield from (flag, str(value))


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Return every file and folder below a folder, with its size and time of change."""
    found = {}
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            status = (Path(place) / name).lstat()
            found[str(Path(place, name).relative_to(folder))] = (status.st_size, status.st_mtime_ns)
    return found
