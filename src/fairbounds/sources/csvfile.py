"""CSV files: header and delimiter found here, rows read by DuckDB, faults explained line by line."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fairbounds.errors import SourceError, listed
from fairbounds.sources.base import counted, repeated
from fairbounds.sources.declaring import MARK
from fairbounds.sources.desk import Desk, quoted, quoted_path
from fairbounds.sources.paths import Peek, guarded, not_unicode, open_bytes

__all__ = ["CsvFile"]

_COMMON = ",;\t|"
_NEVER = frozenset("\"'_-.()[]{}<>%$€£@ \r\n\ufeff")
_DECLARED = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
_SNIFFED_RECORDS = 200
_CHUNK = 1 << 20


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose header is known.

    Attributes
    ----------
    path : Path
    place : str
        What messages call it.
    columns : tuple of str
        Names by position; a column without a name, such as a saved index, has the empty string.
    delimiter : str
    skip : int
        Lines before the header: blank ones, the ``sep=;`` with which Excel is told the delimiter, and a declaration.
    encoding : str
    compressed : bool
    declared : str or None
        What a file of counts says of itself.
    """

    path: Path
    place: str
    columns: tuple[str, ...]
    delimiter: str
    skip: int
    encoding: str
    compressed: bool
    declared: str | None = None

    @classmethod
    def of(cls, peeked: Peek, place: str) -> CsvFile:
        """Read the header."""
        body, declaration = _declaration(peeked.text.lstrip("\r\n"))
        declared = _DECLARED.match(body)
        if declared:
            body = body[declared.end() :].lstrip("\r\n")
        skip = len((peeked.text[: len(peeked.text) - len(body)]).splitlines())
        if declared:
            delimiter, records = declared[1], _records_of(body, declared[1], peeked.whole)
        else:
            delimiter, records = _dialect(body, peeked.whole)
        if not records:
            raise SourceError(f"{place} has no header line that can be read as CSV")
        columns = tuple(records[0])
        if twice := repeated(name for name in columns if name):
            raise SourceError(f"{place} names the column {listed(twice)} more than once in its header; rename one")
        if not any(columns):
            raise SourceError(f"{place} has no column names in its first line")
        return cls(peeked.path, place, columns, delimiter, skip, peeked.encoding, peeked.compressed, declaration)

    def relation(self, desk: Desk) -> str:
        """Return SQL for the file's rows as text columns c0, c1, …; a copy in UTF-8 is made if needed."""
        if self.encoding == "utf-8":
            return self._read_csv(self.path, self.delimiter, self.skip, self.compressed)
        copy = desk.new_path(".csv")
        with guarded(self.place), self._open() as source, copy.open("w", encoding="utf-8", newline="") as target:
            try:
                shutil.copyfileobj(source, target, _CHUNK)
            except UnicodeError:
                raise SourceError(
                    f"{self.place} is damaged: it begins as {self.encoding.upper()} only; save it as UTF-8"
                ) from None
        return self._read_csv(copy, self.delimiter, self.skip, compressed=False)

    def rewritten(self, desk: Desk) -> str:
        """Return SQL for a copy of the rows in the plainest CSV, for files that DuckDB refuses but are well formed."""
        copy = desk.new_path(".csv")
        width = len(self.columns)
        with guarded(self.place), copy.open("w", encoding="utf-8", newline="") as target:
            writer = csv.writer(target, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerows(row[:width] for _, row in self._records())
        return self._read_csv(copy, ",", 0, compressed=False)

    def _read_csv(self, path: Path, delimiter: str, skip: int, compressed: bool) -> str:
        columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(self.columns)))
        return (
            f"read_csv({quoted_path(path)}, auto_detect = false, header = true, all_varchar = true, "
            f"delim = {quoted(delimiter)}, quote = '\"', escape = '\"', nullstr = '', skip = {skip}, "
            f"columns = {{{columns}}}, compression = '{'gzip' if compressed else 'none'}', "
            f"strict_mode = true, hive_partitioning = false)"
        )

    # -- what is wrong with it -----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise a `SourceError` for the first line that is not CSV; slow, for failed reads only."""
        width, header = len(self.columns), True
        with guarded(self.place):
            for line, row in self._records():
                if len(row) != width and not header:
                    raise self._ragged(line, len(row))
                header = False

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Iterate over the records and the line each begins on; blank lines and one closing delimiter do not count."""
        width, start = len(self.columns), self.skip + 1
        with self._open() as text:
            reader = csv.reader(self._decoded(text), delimiter=self.delimiter, strict=True)
            try:
                for row in reader:
                    if reader.line_num > self.skip and (row or width == 1):
                        closing = len(row) == width + 1 and not row[-1]
                        yield start, row[:width] if closing else row or [""]
                    start = reader.line_num + 1
            except csv.Error as error:
                raise self._misquoted(start, str(error)) from None

    def _ragged(self, line: int, found: int) -> SourceError:
        width = len(self.columns)
        advice = f"a value that contains {self.delimiter!r} needs quotation marks" if found > width else "complete it"
        return SourceError(
            f"line {line:,} of {self.place} has {counted(found, 'value')}, "
            f"but the header names {counted(width, 'column')}; {advice}"
        )

    def _misquoted(self, line: int, error: str) -> SourceError:
        if "field limit" in error:
            return SourceError(f"line {line:,} of {self.place} has a huge value; a quotation mark may be left open")
        fault = "opens a quotation mark that is never closed" if "unexpected end" in error else "is quoted wrongly"
        return SourceError(f'line {line:,} of {self.place} {fault}; write "" for a quotation mark inside quotes')

    def _open(self) -> io.TextIOWrapper:
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        errors = "surrogateescape" if self.encoding == "utf-8" else "strict"
        return io.TextIOWrapper(open_bytes(self.path, self.compressed), encoding, errors, newline="")

    def _decoded(self, lines: Iterable[str]) -> Iterator[str]:
        for at, line in enumerate(lines, start=1):
            if not line.isascii():
                try:
                    line.encode("utf-8")
                except UnicodeEncodeError:
                    raise not_unicode(self.place, at) from None
            yield line


def _declaration(text: str) -> tuple[str, str | None]:
    """Take off the first line where it says what the counts are; a spreadsheet may have put delimiters after it."""
    line = re.split("[\r\n]", text, maxsplit=1)[0]
    if not line.startswith(MARK):
        return text, None
    return text[len(line) :].lstrip("\r\n"), line[len(MARK) :].rstrip(",;\t ")


# -- the delimiter -----------------------------------------------------------------------------------------------------


def _dialect(text: str, whole: bool) -> tuple[str, list[list[str]]]:
    """Return the delimiter that cuts most lines as it cuts the header, and the first records cut by it."""
    header = re.split("[\r\n]", text, maxsplit=1)[0]
    rare = [char for char in dict.fromkeys(header) if not char.isalnum() and char not in _NEVER and char not in _COMMON]
    cuts = {delimiter: _records_of(text, delimiter, whole) for delimiter in (*_COMMON, *rare, " ")}
    for candidates in (_COMMON, rare, " "):
        best = max(candidates, key=lambda delimiter: _evenness(cuts[delimiter]), default=" ")
        if _evenness(cuts[best])[0] > 0.5:
            return best, cuts[best]
    best = max(_COMMON, key=lambda delimiter: _evenness(cuts[delimiter]))
    return best, cuts[best]


def _evenness(records: list[list[str]]) -> tuple[float, int]:
    """Rate a cut by the part of rows as wide as the header, then by width; a single column is no cut."""
    width = len(records[0]) if records else 0
    if width < 2:
        return -1.0, width
    even = sum(len(record) == width for record in records[1:])
    return (even / (len(records) - 1) if len(records) > 1 else 1.0), width


def _records_of(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    records: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for record in reader:
            if record:
                records.append(record)
            if len(records) == _SNIFFED_RECORDS:
                return records
    except csv.Error:
        return records
    return records if whole or len(records) == 1 else records[:-1]
