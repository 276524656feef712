"""From what the user typed to files, and from a file's first bytes to its format."""

from __future__ import annotations

import codecs
import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias

from fairbounds.errors import SourceError, nearest

__all__ = ["Format", "Peek", "guarded", "locate", "open_bytes", "peek"]

Format: TypeAlias = Literal["csv", "json", "parquet", "arrow"]

SAMPLE_BYTES = 1 << 18

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_FORMATS: dict[str, Format] = {
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
)
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"FEA1", "a Feather file of the old version 1"),
    (b"PARE", "an encrypted Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"%PDF", "a PDF document"),
)
_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


# -- finding files -----------------------------------------------------------------------------------------------------


def locate(typed: str, role: str = "table") -> list[Path]:
    """Return the file, or the sorted files of a pattern, that the user named."""
    what = "file" if role == "table" else f"{role} file"
    if not typed:
        raise SourceError(f"the {what} has an empty name; give a path")
    if _URL.match(typed):
        raise SourceError(f"{typed!r} is an address; only local files are read, so download it first")
    path = Path(typed).expanduser()
    with guarded(f"{what} {typed if len(typed) <= 200 else typed[:80] + '…'!r}"):
        if path.is_dir():
            raise _a_folder(typed, path)
        if path.exists():
            return [path]
        if glob.has_magic(typed):
            return _matching(str(path), typed, what)
        raise _absent(typed, path, what)


def _a_folder(typed: str, path: Path) -> SourceError:
    endings = sorted({entry.suffix for entry in path.iterdir() if entry.is_file() and entry.suffix})
    ending = next((ending for ending in (".csv", ".parquet", *endings) if ending in endings), ".csv")
    return SourceError(f"{typed!r} is a folder; name a file in it, or a pattern such as {str(path / ('*' + ending))!r}")


def _matching(pattern: str, typed: str, what: str) -> list[Path]:
    found = [Path(match) for match in sorted(glob.glob(pattern, recursive=True)) if Path(match).is_file()]
    if not found:
        raise SourceError(f"no {what} matches the pattern {typed!r}")
    return found


def _absent(typed: str, path: Path, what: str) -> SourceError:
    if not path.parent.is_dir():
        return SourceError(f"{what} {typed!r} does not exist, nor does the folder {str(path.parent)!r}")
    if path.is_symlink():
        return SourceError(f"{what} {typed!r} is a link to {os.readlink(path)!r}, where there is no file")
    names = sorted(entry.name for entry in path.parent.iterdir())
    return SourceError(f"{what} {typed!r} does not exist{nearest(path.name, names)}")


# -- looking into a file -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peek:
    """What the first bytes of a file show.

    Attributes
    ----------
    path : Path
    format : {"csv", "json", "parquet", "arrow"}
    encoding : str
        Python's name of the text encoding.
    compressed : bool
        Whether the text is inside gzip.
    text : str
        The beginning of a text file; empty for Parquet and Arrow.
    whole : bool
        Whether `text` is all of it.
    """

    path: Path
    format: Format
    encoding: str = "utf-8"
    compressed: bool = False
    text: str = ""
    whole: bool = False


@contextmanager
def guarded(place: str) -> Iterator[None]:
    """Turn what the operating system and gzip say while a file is read into a `SourceError`."""
    try:
        yield
    except PermissionError:
        raise SourceError(f"{place} cannot be read: permission denied") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise SourceError(f"{place} is a damaged or incomplete gzip file; compress or download it again") from None
    except OSError as error:
        raise SourceError(f"{place} cannot be read: {error.strerror or error}") from error


def open_bytes(path: Path, compressed: bool) -> IO[bytes]:
    """Open a file for reading its bytes, unpacked."""
    return gzip.open(path, "rb") if compressed else path.open("rb")  # type: ignore[return-value]


def peek(path: Path, place: str) -> Peek:
    """Find out a file's format, by its first bytes before its name."""
    if not path.is_file():
        raise SourceError(f"{place} is not a regular file; save the data to a file first")
    head, compressed = _head(path, place)
    stem = path.with_suffix("") if path.suffix.casefold() == ".gz" else path
    expected = _FORMATS.get(stem.suffix.casefold(), "csv")
    known = _known(head, expected, place)
    if known is None:
        return _text(path, head, compressed, expected, place)
    if compressed:
        raise SourceError(f"{place} is a gzip-compressed {known.capitalize()} file; unpack it first")
    return Peek(path, known)


def _head(path: Path, place: str) -> tuple[bytes, bool]:
    with guarded(place):
        with open_bytes(path, compressed=False) as file:
            compressed = file.read(2) == b"\x1f\x8b"
        with open_bytes(path, compressed) as file:
            return file.read(SAMPLE_BYTES), compressed


def _known(head: bytes, expected: Format, place: str) -> Format | None:
    """Return the binary format that the bytes show, None for text."""
    for magic, foreign in _FOREIGN:
        if head.startswith(magic):
            raise SourceError(f"{place} is {foreign}, which fairbounds does not read; save it as CSV or Parquet")
    for magic, format_ in _MAGIC:
        if head.startswith(magic):
            return format_
    if head and expected in ("parquet", "arrow"):
        raise SourceError(f"{place} is no {expected.capitalize()} file, whatever its name says; it may be damaged")
    return None


def _text(path: Path, head: bytes, compressed: bool, format_: Format, place: str) -> Peek:
    encoding = next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "utf-8")
    whole = len(head) < SAMPLE_BYTES
    if encoding == "utf-8" and b"\0" in head:
        raise SourceError(f"{place} is a binary file, not text; CSV, Parquet, Arrow and JSON are read")
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    try:
        text = decoder.decode(head, final=whole)
    except UnicodeDecodeError as error:
        raise not_unicode(place, head.count(b"\n", 0, error.start) + 1) from None
    if whole and not text.strip():
        raise SourceError(f"{place} is empty; there is nothing to audit")
    return Peek(path, format_, encoding, compressed, text, whole)


def not_unicode(place: str, line: int) -> SourceError:
    """Say where a file stops being UTF-8."""
    return SourceError(f"{place} is not UTF-8 text: line {line:,} has bytes of another encoding; save it as UTF-8")
