"""``fairbounds reproduce``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import click

from fairbounds.cli.printing import printing
from fairbounds.cli.progress import busy
from fairbounds.progress import listening
from fairbounds.studies.runs import DESIGNS, FULL_TRIALS, RUNS, Effort, ShownDesign

__all__ = ["reproduce"]

_PAUSE = 5.0  # seconds between two lines


@click.command()
@click.argument("what", type=click.Choice(list(RUNS)), default="all", metavar="[WHAT]")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("fairbounds-reproduction"),
    show_default=True,
    help="Folder to write. One that an earlier run wrote is replaced.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of whatever is random.")
@click.option(
    "--trials",
    type=click.IntRange(min=2),
    default=FULL_TRIALS,
    show_default=True,
    help="Simulated truths. Fewer make everything else smaller too.",
)
@click.option(
    "--splits", type=click.IntRange(min=2), help="Of the real data, for structural estimates. Default: 20, or fewer."
)
@click.option(
    "--design",
    type=click.Choice(DESIGNS),
    default=DESIGNS[0],
    show_default=True,
    help="How simulated classifiers are drawn: one draw for each o, mirrored, as comes near the paper; or four.",
)
def reproduce(what: str, out: Path, seed: int, trials: int, splits: int | None, design: ShownDesign) -> None:
    """Compute the tables and figures of the paper again, beside its own values.

    WHAT is simulation (with the stress test), stress, feasible, structural, or all (the default). The folder then
    holds summary.html, summary.md, summary.json, and every figure with its data.
    """
    from fairbounds.studies.reporting import write_reproduction

    began = monotonic()
    with busy(f"Reproducing {what}"), _lines():
        made = write_reproduction(out, what, seed, Effort.of(trials, splits), design)
    figures = sum(len(chapter.illustrations) for chapter in made.chapters)
    with printing(f"{out} was written"):
        for chapter in made.chapters:
            click.echo(f"{chapter.title}: {len(chapter.illustrations)} figures, {len(chapter.tables)} tables")
        click.echo(f"{figures} figures in {monotonic() - began:.0f} s; read {out / 'summary.html'}")


@contextmanager
def _lines() -> Iterator[None]:
    """Say in lines how far the work has come where standard error is no terminal, lest silence look like a halt."""
    if sys.stderr is None or sys.stderr.isatty():
        yield
        return
    told = monotonic() - _PAUSE

    def listener(task: str, part: float) -> None:
        nonlocal told
        if part < 1 and monotonic() - told >= _PAUSE:
            told = monotonic()
            click.echo(f"fairbounds: {task}, {part:.0%}", err=True)

    with listening(listener):
        yield
