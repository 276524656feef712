"""How far long work has come, shown on standard error where that is a terminal."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from fairbounds.progress import listening

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["busy"]

_PATIENCE = 0.5  # seconds in which nothing is shown, lest a quick answer flicker
_BAR = 30  # characters


@contextmanager
def busy(message: str) -> Iterator[None]:
    """Show that work goes on: a spinner with a message, and a bar once the work says how far it has come.

    Parameters
    ----------
    message : str
        What is being done, while the work itself says nothing.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    progress = _display()
    shown = "".join(char if char.isprintable() else "?" for char in message)
    task = progress.add_task(shown, total=None, part=None)

    def listener(doing: str, part: float) -> None:
        done = part >= 1
        progress.update(task, description=shown if done else doing, part=None if done else part)

    waiting = Timer(_PATIENCE, progress.start)
    waiting.daemon = True
    with _uninterrupted():
        waiting.start()
    try:
        with listening(listener):
            yield
    finally:
        waiting.cancel()
        waiting.join()
        progress.stop()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start threads that never take an interrupt: while one of them did, whoever sleeps in C would sleep on."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _display() -> Progress:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    class Bar(ProgressColumn):
        """Nothing while it is not known how much there is to do."""

        def render(self, task: Task) -> ProgressBar | Text:
            part = task.fields["part"]
            return Text() if part is None else ProgressBar(total=1.0, completed=part, width=_BAR)

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        Bar(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
