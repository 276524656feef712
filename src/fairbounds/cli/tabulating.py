"""``fairbounds tabulate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fairbounds.cli.printing import printing, refuse_overwriting
from fairbounds.cli.progress import busy

if TYPE_CHECKING:
    from fairbounds.sources.disclosing import Counts

__all__ = ["tabulate"]

Missing = Literal["error", "drop", "level"]


@click.command()
@click.argument("data")
@click.option("--by", multiple=True, required=True, help="Columns to count by, parted by commas; repeat for more.")
@click.option("--out", type=click.Path(path_type=Path), help="File to write: .csv, .parquet, .json or .jsonl.")
@click.option("--weight", help="Column of DATA with weights or counts.")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "level"]),
    default="error",
    show_default=True,
    help="Rows with an empty cell: refuse, leave out, or keep as a level of their own.",
)
@click.option("--suppress-below", type=click.IntRange(min=2), help="Leave counts below this empty.")
@click.option("--round-to", type=click.IntRange(min=2), help="Round counts to multiples of this.")
@click.option("--epsilon", type=float, help="Add noise for differential privacy; needs the extra privacy.")
@click.option("--count", default="n", show_default=True, help="Name of the column of counts.")
@click.option("--sql", is_flag=True, help="Print the query for a warehouse instead, where DATA is a table.")
def tabulate(
    data: str,
    by: tuple[str, ...],
    out: Path | None,
    weight: str | None,
    missing: Missing,
    suppress_below: int | None,
    round_to: int | None,
    epsilon: float | None,
    count: str,
    sql: bool,
) -> None:
    """Count the rows of DATA by some columns, to hand over counts in place of people.

    The file says what was done to the counts, and fairbounds audit finds that, and the column of the counts, by itself.
    """
    if sql:
        _print_query(data, by, (weight, missing), (count, suppress_below, round_to, epsilon), out)
        return
    if out is None:
        raise click.UsageError("name the file to write with --out, or ask for a query with --sql")
    from fairbounds.sources.counts import COUNT_ENDINGS, write_counts
    from fairbounds.sources.disclosing import disclose
    from fairbounds.sources.opening import open_source

    refuse_overwriting("--out", out, COUNT_ENDINGS, data)
    with busy(f"Counting {data}"):
        source = open_source(data)
        table = source.read(_columns(by, source.columns), weight=weight, missing=missing)
        counts = disclose(table, count, suppress_below=suppress_below, round_to=round_to, epsilon=epsilon)
        write_counts(counts, out)
    with printing(f"{out} was written"):
        _print(counts, out)


def _columns(by: Sequence[str], known: Sequence[str]) -> list[str]:
    """Part the names at commas, unless a column has one in its name."""
    return [name for typed in by for name in ([typed] if typed in known else map(str.strip, typed.split(",")))]


def _print_query(
    data: str,
    by: Sequence[str],
    reading: tuple[str | None, Missing],
    altering: tuple[str, int | None, int | None, float | None],
    out: Path | None,
) -> None:
    from fairbounds.origins import Disclosure
    from fairbounds.sources.warehouse import counting_query

    if out is not None:
        raise click.UsageError("--sql prints a query and counts nothing; leave --out out")
    if altering[3] is not None:
        raise click.UsageError("a query cannot add noise; leave out --epsilon or --sql")
    declared = Disclosure(*altering[:3])
    weight, missing = reading
    query = counting_query(data, _columns(by, ()), declared, weight=weight, drop_missing=missing == "drop")
    with printing():
        click.echo(query)


def _print(counts: Counts, out: Path) -> None:
    declared, cells = counts.disclosure, len(counts.counts)
    click.echo(f"{cells:,} {'count was' if cells == 1 else 'counts were'} written to {out}.")
    if declared.suppress_below is not None:
        click.echo(f"Suppressed, being below {declared.suppress_below}: {counts.suppressed:,}.")
        click.echo("Where you publish totals too, a suppressed count may be found by subtraction.")
    if declared.round_to is not None:
        click.echo(f"Rounded to multiples of {declared.round_to}.")
    if declared.epsilon is not None:
        click.echo(
            f"Noise of scale {declared.scale:g} was added to every combination (epsilon {declared.epsilon:g}); in 999 "
            f"of 1,000 such files no count is moved by more than {declared.noise_within}."
        )
        click.echo("The names of the levels, and a second file of the same people, are not protected by it.")
