"""A folder of results: written beside its place, and moved there when it is whole."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fairbounds.errors import SourceError
from fairbounds.studies.columns import Columns

__all__ = ["LISTED", "SUMMARY", "csv_text", "json_text", "refuse_folder", "whole_folder", "write_text"]

LISTED = "files"
SUMMARY = "summary.json"


def csv_text(columns: Columns) -> str:
    r"""Write columns as CSV, every number with all its digits and no value as nothing.

    Examples
    --------
    >>> csv_text({"kl_bin": ["0–0.05"], "mean": [0.1], "sd": [None], "kept": [True]})
    'kl_bin,mean,sd,kept\n0–0.05,0.1,,true\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return text.getvalue()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def json_text(data: dict[str, Any]) -> str:
    """Write one object; a number that JSON lacks is an error."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def refuse_folder(target: Path) -> None:
    """Refuse a place that holds anything but the files of an earlier run, before any work is lost.

    Parameters
    ----------
    target : Path
        Free, an empty folder, or a folder whose ``summary.json`` lists every file in it.
    """
    if not target.parent.is_dir():
        raise SourceError(
            f"{str(target)!r} cannot be written: there is no folder {str(target.parent)!r}; create it first"
        )
    if target.exists() and not target.is_dir():
        raise SourceError(f"{str(target)!r} cannot be written: that is a file; give another name with --out")
    _try_beside(target)
    if not target.exists():
        return
    known = _listed(target)
    strange = sorted(name for name in _names(target) if name not in known)
    if strange:
        raise SourceError(
            f"{str(target)!r} would be replaced, and holds {strange[0]!r}, which no earlier run wrote; "
            "give another name with --out"
        )


def _try_beside(target: Path) -> None:
    """Make a folder beside the target and take it away again."""
    unfinished = _unfinished(target)
    try:
        unfinished.mkdir()
        unfinished.rmdir()
    except OSError as error:
        raise SourceError(
            f"{str(target)!r} cannot be written: {error.strerror}; give another place with --out"
        ) from None


def _unfinished(target: Path) -> Path:
    return target.with_name(f".fairbounds-{secrets.token_hex(6)}.tmp")


def _listed(folder: Path) -> set[str]:
    with suppress(OSError, ValueError, TypeError, KeyError):
        return {SUMMARY, *map(str, json.loads((folder / SUMMARY).read_text(encoding="utf-8"))[LISTED])}
    return set()


def _names(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a new folder beside the target, which takes its place at the end; failing that, nothing has changed."""
    refuse_folder(target)
    unfinished = _unfinished(target)
    try:
        unfinished.mkdir()
        yield unfinished
        refuse_folder(target)
        _replace(unfinished, target)
    except OSError as error:
        raise SourceError(f"{str(target)!r} cannot be written: {error.strerror}; nothing was written") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _replace(new: Path, target: Path) -> None:
    """Put a folder in the place of another; a folder that is not empty must step aside first."""
    former = new.with_suffix(".old")
    if target.exists():
        os.replace(target, former)
    try:
        os.replace(new, target)
    except BaseException:
        if former.exists():
            os.replace(former, target)
        raise
    shutil.rmtree(former, ignore_errors=True)


def write_text(folder: Path, files: Iterable[tuple[str, str | bytes]]) -> list[str]:
    """Write files into a folder, making the folders in it; return their names."""
    names = []
    for name, content in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        names.append(name)
    return names
