"""``fairbounds explore``."""

from __future__ import annotations

from typing import Any

import click

from fairbounds.cli.options import asking, outcome, reading, settled
from fairbounds.cli.printing import print_json, printing, to_terminal
from fairbounds.cli.progress import busy

__all__ = ["COORDINATES", "LIMITS", "SAMPLING", "explore"]

SAMPLING = ("walk", "grid")
LIMITS = ("tight", "paper")
COORDINATES = ("internal", "outcome")


@click.command()
@reading
@outcome
@asking
@click.option(
    "--sampling",
    type=click.Choice(SAMPLING),
    default="walk",
    show_default=True,
    help="Draw joints at random, or take those of a grid, for two groups and few strata.",
)
@click.option("--draws", type=click.IntRange(min=1), default=10_000, show_default=True, help="Joints of a walk.")
@click.option("--chains", type=click.IntRange(min=1), default=256, show_default=True, help="Of a walk.")
@click.option(
    "--points", type=click.IntRange(min=2), default=100, show_default=True, help="Values a stratum, of a grid."
)
@click.option(
    "--limits",
    type=click.Choice(LIMITS),
    default="tight",
    show_default=True,
    help="Of a grid: those that joints reach, or the paper's looser ones.",
)
@click.option(
    "--coordinates",
    type=click.Choice(COORDINATES),
    default="internal",
    show_default=True,
    help="Which joints are equally likely: of all internal columns with the group, or of the outcome alone.",
)
def explore(internal: str, external: str, *, format_: str, **options: Any) -> None:
    """Audit INTERNAL with EXTERNAL, and show where the joints that fit both put each metric.

    The distribution says what the two tables leave open if every joint is equally likely. It is no probability of
    discrimination.
    """
    from fairbounds.pipeline import explore as run

    known = settled(options)
    with busy(f"Exploring what {internal} and {external} allow"):
        found = run(internal, external, **known)
    with printing():
        if format_ == "json":
            print_json(found.to_dict())
        else:
            from fairbounds.report.exploration import print_exploration

            print_exploration(found, to_terminal())
