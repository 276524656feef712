"""How far long work has come, told to whoever listens; silent where nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["Listener", "listening", "report"]

# Called with the task in words and the part done, in [0, 1].
Listener: TypeAlias = Callable[[str, float], None]

_LISTENER: ContextVar[Listener | None] = ContextVar("fairbounds_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Pass on what the work inside the block reports.

    Examples
    --------
    >>> told = []
    >>> with listening(lambda task, part: told.append((task, part))):
    ...     report("counting", 0.5)
    >>> told
    [('counting', 0.5)]
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(task: str, part: float) -> None:
    """Say how far a task has come, in [0, 1]."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(task, min(1.0, part))
