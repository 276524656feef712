"""``fairbounds reproduce``."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from fairbounds.cli.printing import printing
from fairbounds.cli.progress import busy

if TYPE_CHECKING:
    from fairbounds.studies.reporting import Part

__all__ = ["WHAT", "reproduce"]

WHAT: dict[str, tuple[Part, ...]] = {
    "simulation": ("simulation", "stress"),
    "stress": ("stress",),
    "feasible": ("feasible",),
    "structural": ("structural",),
    "all": ("simulation", "stress", "feasible", "structural"),
}


@click.command()
@click.argument("what", type=click.Choice(list(WHAT)), default="all")
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
    default=1000,
    show_default=True,
    help="Simulated truths. Fewer make everything else smaller too.",
)
@click.option(
    "--splits", type=click.IntRange(min=2), help="Of the real data, for structural estimates. Default: 20, or fewer."
)
def reproduce(what: str, out: Path, seed: int, trials: int, splits: int | None) -> None:
    """Compute the tables and figures of the paper again, beside its own values.

    WHAT is simulation (with the stress test), stress, feasible, structural, or all (the default). The folder then
    holds summary.html, summary.md, summary.json, and every figure with its data.
    """
    from fairbounds.studies.reporting import Effort, write_reproduction

    began = monotonic()
    with busy(f"Reproducing {what}"):
        made = write_reproduction(out, WHAT[what], seed, Effort.of(trials, splits))
    figures = sum(len(chapter.illustrations) for chapter in made.chapters)
    with printing(f"{out} was written"):
        for chapter in made.chapters:
            click.echo(f"{chapter.title}: {len(chapter.illustrations)} figures, {len(chapter.tables)} tables")
        click.echo(f"{figures} figures in {monotonic() - began:.0f} s; read {out / 'summary.html'}")
