"""``fairbounds init``."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import click

from fairbounds.cli.printing import printing
from fairbounds.cli.progress import busy
from fairbounds.errors import SourceError

__all__ = ["init"]


@click.command()
@click.argument("internal")
@click.argument("external")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("audit.toml"), show_default=True, help="File to write."
)
@click.option("--protected", multiple=True, help="Protected column of EXTERNAL; repeat. Default: guessed.")
@click.option("--decision", help="Column of INTERNAL with the decision. Default: guessed.")
@click.option("--score", help="Column of INTERNAL with the probability of the favourable decision.")
def init(
    internal: str, external: str, out: Path, protected: tuple[str, ...], decision: str | None, score: str | None
) -> None:
    """Write a commented audit.toml for INTERNAL (decisions) and EXTERNAL (a census).

    What the columns are is guessed from their names and levels, and every guess is marked for you to confirm. Then run
    fairbounds audit --spec audit.toml.
    """
    from fairbounds.drafting import Given, draft
    from fairbounds.sources.writing import write_text

    if decision is not None and score is not None:
        raise click.UsageError("give --decision or --score, not both")
    if out.is_symlink() or out.exists():
        raise SourceError(f"{str(out)!r} is there already and may hold what you confirmed; name another with --out")
    if not out.name.casefold().endswith(".toml"):
        raise SourceError(f"the name of --out must end in .toml, not be {out.name!r}")
    with busy(f"Looking at {internal} and {external}"):
        text = draft(internal, external, Given(protected, decision, score), spelled=lambda path: _seen_from(out, path))
    write_text(text, out)
    guesses = [_key(after) for line, after in _pairs(text) if line.startswith("# GUESS")]
    with printing(f"{out} was written"):
        click.echo(f"{out} was written, with {len(guesses)} guesses to confirm: {', '.join(guesses)}.")
        click.echo(f"Then run: fairbounds audit --spec {out}")


def _seen_from(out: Path, typed: str) -> str:
    """Write a path relative to the folder of the spec."""
    path = os.path.expanduser(typed)
    if os.path.isabs(path):
        return path
    folder = out.parent
    return Path(os.path.relpath(path, folder)).as_posix() if folder != Path() else typed


def _pairs(text: str) -> list[tuple[str, str]]:
    return list(itertools.pairwise(text.splitlines()))


def _key(line: str) -> str:
    return line.removeprefix("# ").partition(" ")[0]
