"""Files through DuckDB, which reduces them to their cells before anything reaches Python."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fairbounds.errors import SourceError, listed
from fairbounds.origins import Disclosure
from fairbounds.sources.base import Cells, MissingPolicy, Request, build, placed
from fairbounds.sources.csvfile import CsvFile
from fairbounds.sources.declaring import parse
from fairbounds.sources.desk import Desk, desk
from fairbounds.sources.formats import DataFile, damaged, recognise
from fairbounds.sources.grouping import grouped
from fairbounds.sources.paths import guarded, locate, open_bytes, peek
from fairbounds.tables import Table

__all__ = ["FileSource"]

HASHED_BYTES = 2 << 30
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class FileSource:
    """One file, or several of the same columns."""

    name: str
    place: str
    files: tuple[DataFile, ...]
    columns: tuple[str, ...]
    hint: str = ""
    disclosure: Disclosure | None = None

    @classmethod
    def open(cls, typed: str, role: str = "table") -> FileSource:
        """Find the files and read their columns, not their rows."""
        paths = locate(typed, role)
        files = tuple(recognise(peek(path, at), at) for path in paths for at in [placed(role, f"file {path.name!r}")])
        _check_same_columns(files)
        name = paths[0].name
        place = files[0].place
        if len(files) > 1:
            name = f"{Path(typed).name} ({len(files)} files)"
            place = placed(role, f"files {Path(typed).name!r}")
        columns = tuple(column for column in files[0].columns if column)
        return cls(name, place, files, columns, disclosure=_disclosed(files, columns, place))

    def read(
        self,
        columns: Sequence[str],
        *,
        weight: str | None = None,
        missing: MissingPolicy = "error",
        numbers: Sequence[str] = (),
    ) -> Table:
        """Reduce the files to the cells of some columns, in one pass over the data."""
        declared = self.disclosure
        weight = declared.count if weight is None and declared is not None else weight
        ask = Request(
            self.name, self.place, tuple(columns), weight, missing, tuple(numbers), self.columns, disclosure=declared
        )
        with guarded(self.place), _fingerprint(self.files) as fingerprint, desk() as at:
            cells = self._cells(ask, at, fingerprint)
            sha256 = fingerprint()
        return build(cells, ask, sha256)

    def _cells(self, ask: Request, at: Desk, fingerprint: Callable[[], str | None]) -> Cells:
        import duckdb

        try:
            return grouped(ask, at, [(file, file.relation(at)) for file in self.files])
        except duckdb.OutOfMemoryException as error:
            raise _too_many(ask) from error
        except duckdb.Error as error:
            fingerprint()  # a damaged gzip file yields odd lines, which are not the fault to name
            for file in self.files:
                file.check()
            if not all(isinstance(file, CsvFile) for file in self.files):
                raise damaged(self.place, "a table", error) from error
        # Every line is sound, yet DuckDB refused: above all, files that mix Windows and Unix line ends.
        try:
            copies = [(file, file.rewritten(at)) for file in self.files if isinstance(file, CsvFile)]
            return grouped(ask, at, copies)
        except duckdb.Error as error:
            raise damaged(self.place, "CSV", error) from error


def _too_many(ask: Request) -> SourceError:
    return SourceError(
        f"the combinations of {listed(ask.columns)} in {ask.place} do not fit into memory; "
        f"ask for fewer columns, or for columns with fewer levels"
    )


def _check_same_columns(files: Sequence[DataFile]) -> None:
    first = files[0]
    for other in files[1:]:
        lacks = [name for name in first.columns if name not in other.columns]
        adds = [name for name in other.columns if name not in first.columns]
        if lacks or adds:
            told = [f"lacks {listed(lacks)}"] * bool(lacks) + [f"adds {listed(adds)}"] * bool(adds)
            raise SourceError(f"{other.place} does not have the columns of {first.place}: it {' and '.join(told)}")


def _disclosed(files: Sequence[DataFile], columns: tuple[str, ...], place: str) -> Disclosure | None:
    """Return what the files declare of their counts, which must be the same."""
    for other in files[1:]:
        if other.declared != files[0].declared:
            raise SourceError(
                f"{other.place} does not declare the same of its counts as {files[0].place}; make all of them alike"
            )
    if files[0].declared is None:
        return None
    found = parse(files[0].declared, place)
    if found.count not in columns:
        raise SourceError(f"{place} declares that its counts are in {found.count!r}, but has {listed(columns)} only")
    return found


# -- the hash, beside the query ----------------------------------------------------------------------------------------


@contextmanager
def _fingerprint(files: Sequence[DataFile]) -> Iterator[Callable[[], str | None]]:
    """Hash a single file, and verify gzip checksums, in a thread: both release the interpreter while DuckDB reads."""
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=1) as pool:
        hashed = len(files) == 1 and files[0].path.stat().st_size <= HASHED_BYTES
        sha256 = pool.submit(_sha256, files[0].path, stop) if hashed else None
        verified = [pool.submit(_verify, file, stop) for file in files if file.compressed]

        def result() -> str | None:
            for task in verified:
                task.result()
            return None if sha256 is None else sha256.result()

        try:
            yield result
        finally:
            stop.set()


def _sha256(path: Path, stop: threading.Event) -> str:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        while not stop.is_set() and (chunk := file.read(_CHUNK_BYTES)):
            digest.update(chunk)
    return digest.hexdigest()


def _verify(file: DataFile, stop: threading.Event) -> None:
    """Unpack a gzip file to its end, because DuckDB does not look at the checksum."""
    with guarded(file.place), open_bytes(file.path, compressed=True) as unpacked:
        while not stop.is_set() and unpacked.read(_CHUNK_BYTES):
            pass
