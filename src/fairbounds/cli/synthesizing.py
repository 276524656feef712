"""``fairbounds synthesize``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairbounds.cli.options import reading, settled
from fairbounds.cli.printing import printing, refuse_overwriting
from fairbounds.cli.progress import busy

if TYPE_CHECKING:
    from fairbounds.results import Synthesis

__all__ = ["SYNTHESIS_METHODS", "synthesize"]

SYNTHESIS_METHODS = ("independence", "latent_class")
_MOST_ROWS = 100_000_000
_MEANING = {
    "independence": "what only INTERNAL knows and what only EXTERNAL knows are unrelated among people alike in the "
    "common columns",
    "latent_class": "hidden classes explain every dependence between the columns",
}


def _classes(context: click.Context, parameter: click.Parameter, typed: str | None) -> str | int | None:
    """Read ``auto`` or a number of classes."""
    if typed is None or typed == "auto":
        return typed
    if not typed.isdecimal() or int(typed) < 1:
        raise click.BadParameter(f"{typed!r} is neither auto nor a whole number of at least 1", context, parameter)
    return int(typed)


@click.command()
@reading
@click.option(
    "--method",
    type=click.Choice(SYNTHESIS_METHODS),
    default="independence",
    show_default=True,
    help="How the two tables are put together: unrelated given the common columns, or by hidden classes.",
)
@click.option("--rows", type=click.IntRange(1, _MOST_ROWS), required=True, help="People to make up.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Write them here: .parquet, .csv or .csv.gz."
)
@click.option(
    "--classes",
    metavar="auto|NUMBER",
    callback=_classes,
    help="Hidden classes of latent_class. Default: auto, as many as the data call for.",
)
@click.option("--starts", type=click.IntRange(min=1), help="Random starts of latent_class. Default: 16.")
def synthesize(internal: str, external: str, *, out: Path, **options: Any) -> None:
    """Make up people who have the columns of INTERNAL and of EXTERNAL, for a model to be asked about.

    One row per person, with the levels of the two tables. Nobody in it is real. The decision, if INTERNAL has one, is
    a column like any other; leave it out by naming the others with --feature.
    """
    from fairbounds.pipeline import synthesize as run
    from fairbounds.seeds import stream
    from fairbounds.sources.writing import ENDINGS, write_people

    refuse_overwriting("--out", out, ENDINGS, internal, external, *options["recode"].values())
    known = settled(options)
    with busy(f"Putting {internal} and {external} together"):
        made = run(internal, external, **known)
    with busy(f"Writing {out}"):
        write_people(made.people, out, rng=stream(made.provenance["seed"], "order of people"))
    with printing(f"{out} was written"):
        _print(made, out)


def _print(made: Synthesis, out: Path) -> None:
    people, method = int(made.people.total), made.provenance["method"]
    who = "1 person was" if people == 1 else f"{people:,} people were"
    click.echo(f"{who} written to {out}, with {', '.join(made.people.names)}.")
    click.echo(f"They are made up by the method {method}: {_MEANING[method]}.")
    if method == "latent_class":
        n = made.provenance["details"]["classes"]
        click.echo(f"The model has {n} {'class' if n == 1 else 'classes'}.")
    for warning in made.warnings:
        click.echo(f"! {warning}")
