"""Run a command, and turn whatever happens into a sentence and an exit code."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from fairbounds.errors import FairboundsError, SolverError

__all__ = ["INTERRUPTED", "Keyboard", "main", "run"]

INTERRUPTED = 130
_BAD_INPUT = 2
_OWN_ERROR = 70  # not 1, which says that a gate was shown to fail


class Keyboard:
    """Remembers an interrupt, because a library on its way may turn it into an error of its own."""

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, *_: object) -> None:
        """Answer the signal."""
        self.pressed = True
        raise KeyboardInterrupt

    def listen(self) -> None:
        """Take interrupts, unless whoever started the process had them ignored."""
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            with suppress(ValueError):  # not the main thread
                signal.signal(signal.SIGINT, self)

    def deafen(self) -> None:
        """Ignore further interrupts: one is enough, and the end is near."""
        if signal.getsignal(signal.SIGINT) is self:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; exit 0 when done, 1 for a failed gate, 2 for bad input, 3 for an undetermined gate."""
    keyboard = Keyboard()
    keyboard.listen()
    code = run(arguments, keyboard)
    keyboard.deafen()
    sys.exit(code)


def run(arguments: Sequence[str] | None = None, keyboard: Keyboard | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.
    keyboard : Keyboard, optional
        Knows whether an error is an interrupt in disguise.
    """
    try:
        from fairbounds.cli.commands import app

        return int(app.main(arguments, prog_name="fairbounds", standalone_mode=False) or 0)
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        if keyboard is not None:
            if keyboard.pressed:
                error = KeyboardInterrupt()
            keyboard.deafen()
        return _told(error)


def _told(error: BaseException) -> int:
    """Say what happened on standard error, and return the exit code."""
    import click

    if isinstance(error, KeyboardInterrupt | click.Abort):
        click.echo("fairbounds: interrupted; nothing was written", err=True)
        return INTERRUPTED
    if isinstance(error, MemoryError):
        click.echo("fairbounds: there is not enough memory; ask for fewer columns, rows, draws or chains", err=True)
        return _BAD_INPUT
    if isinstance(error, FairboundsError | click.ClickException) and not isinstance(error, SolverError):
        text = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"fairbounds: {' '.join(text.splitlines())}", err=True)
        return _BAD_INPUT
    traceback.print_exception(error)
    return _OWN_ERROR
