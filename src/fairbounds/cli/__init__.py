"""The command line: read options, call one function, write what it returned."""

from typing import TYPE_CHECKING

from fairbounds.cli.running import main, run

if TYPE_CHECKING:
    from fairbounds.cli.commands import app

__all__ = ["app", "main", "run"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import the commands when they are first asked for: an interrupt meanwhile is `main`'s to answer."""
        if name == "app":
            from fairbounds.cli.commands import app

            return app
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
