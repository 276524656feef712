"""What goes to standard output, and files that must not be replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairbounds.cli.running import INTERRUPTED
from fairbounds.errors import SourceError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["print_json", "printing", "refuse_overwriting", "to_terminal"]

_NOBODY_READS = 141


def to_terminal() -> Console:
    """Return the console that text is printed on."""
    from rich.console import Console

    return Console()


def print_json(data: dict[str, Any]) -> None:
    """Print one object, in ASCII where the output is."""
    import json

    ascii_only = (sys.stdout.encoding or "ascii").lower() not in ("utf-8", "utf8")
    click.echo(json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, indent=2))


@contextmanager
def printing(so_far: str = "nothing was written") -> Iterator[None]:
    """See to it that what was printed arrived; a reader that left, a full disk and an interrupt are no verdicts."""
    if sys.stdout is None:
        raise SourceError("there is no standard output to print to; use --report")
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        click.echo(f"fairbounds: interrupted; {so_far}", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except SystemExit:  # how rich ends a program whose output nobody reads, with the code of a failed gate
        raise click.exceptions.Exit(_NOBODY_READS) from None
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would try to flush once more, and complain
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(_NOBODY_READS) from None
        raise SourceError(f"the output cannot be written: {error.strerror}") from None


def refuse_overwriting(flag: str, path: Path | None, endings: Sequence[str], *inputs: str) -> None:
    """Refuse to write over an input, or under a name that says another format."""
    if path is None or path.is_dir() or not path.name:
        return  # a folder is refused where it would be written to
    for typed in inputs:
        if path.exists() and any(path.samefile(match) for match in glob(os.path.expanduser(typed))):
            raise SourceError(f"{flag} {str(path)!r} would replace the input {typed!r}; give it another name")
    if not path.name.casefold().endswith(tuple(endings)):
        raise SourceError(f"the name of {flag} must end in {' or '.join(endings)}, not be {path.name!r}")
