"""A private DuckDB that never uses the network, with a folder for temporary files."""

from __future__ import annotations

import glob
import itertools
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

__all__ = ["Desk", "desk", "quoted", "quoted_path"]


@dataclass(frozen=True)
class Desk:
    """A DuckDB connection and the folder that is deleted with it."""

    connection: duckdb.DuckDBPyConnection
    folder: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def new_path(self, suffix: str) -> Path:
        """Return a path in the folder that is not in use."""
        return self.folder / f"{next(self._numbers)}{suffix}"

    def register(self, data: object) -> str:
        """Make Arrow data known to DuckDB, and return the name it is known by."""
        name = f"arrow{next(self._numbers)}"
        self.connection.register(name, data)
        return name

    def types(self, relation: str) -> list[str]:
        """Return the types of a relation's columns, from its metadata."""
        return [str(row[1]) for row in self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off an interrupt until the block is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[tuple[int, FrameType | None]] = []
    before = signal.signal(signal.SIGINT, lambda *given: pressed.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if pressed and callable(before):
            before(*pressed[0])


@contextmanager
def desk() -> Iterator[Desk]:
    """Open a `Desk`, and clear it away."""
    with _undisturbed():  # an interrupt while DuckDB is loaded would end the process with an error of its own
        import duckdb

    with tempfile.TemporaryDirectory(prefix="fairbounds-") as folder:
        config: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": os.path.join(folder, "spill"),
        }
        with duckdb.connect(":memory:", config=config) as connection:
            connection.execute("SET enable_progress_bar = false")  # it would go to stdout, amid the user's JSON
            yield Desk(connection, Path(folder))


def quoted(text: str) -> str:
    """Write an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def quoted_path(path: Path) -> str:
    """Write a path as an SQL string that DuckDB does not take for a pattern."""
    return quoted(glob.escape(os.fspath(path)))
