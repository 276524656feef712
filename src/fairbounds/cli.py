"""The command line: read options, call one function, write what it returned."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fairbounds.errors import FairboundsError, SolverError, SourceError

if TYPE_CHECKING:
    from rich.console import Console

    from fairbounds.levels import Level
    from fairbounds.results import Audit
    from fairbounds.verdicts import Gate

__all__ = ["app", "main"]

_GATE_CODES = {"pass": 0, "fail": 1, "undetermined": 3}
_BAD_INPUT = 2
_OWN_ERROR = 70  # not 1, which says that a gate was shown to fail
_INTERRUPTED = 130
_NOBODY_READS = 141


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; exit 0 when done, 1 for a failed gate, 2 for bad input, 3 for an undetermined gate."""
    try:
        code = _run(arguments)
    except Exception:
        traceback.print_exc()
        code = _OWN_ERROR
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        return int(app.main(arguments, prog_name="fairbounds", standalone_mode=False) or 0)
    except SolverError:
        raise
    except (FairboundsError, click.ClickException) as error:
        text = error.format_message() if isinstance(error, click.ClickException) else str(error)
        click.echo(f"fairbounds: {' '.join(text.splitlines())}", err=True)
        return _BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        click.echo("fairbounds: interrupted; nothing was written", err=True)
        return _INTERRUPTED


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, invoke_without_command=True
)
@click.version_option(package_name="fairbounds")
@click.pass_context
def app(context: click.Context) -> None:
    """Say what a model's fairness metrics can be when the protected attribute is missing from its data."""
    if context.invoked_subcommand is None:
        raise click.UsageError("name a command: audit or demo; fairbounds --help tells more")


def _pairs(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Split COLUMN=VALUE options."""
    found = {}
    for value in values:
        column, sign, rest = value.partition("=")
        if not sign or not column or not rest:
            raise click.BadParameter(f"{value!r} is not of the form {parameter.metavar}", context, parameter)
        if column in found:
            raise click.BadParameter(f"column {column!r} is given twice", context, parameter)
        found[column] = rest
    return found


@app.command()
@click.argument("internal")
@click.argument("external")
@click.option("--protected", multiple=True, required=True, help="Protected column of EXTERNAL; repeat to combine.")
@click.option("--decision", help="Column of INTERNAL with the decision.")
@click.option("--favourable", help="Level of the decision that people want.")
@click.option("--label", help="Column of INTERNAL with the true outcome.")
@click.option("--positive", help="Favourable level of the label. Default: that of the decision.")
@click.option("--score", help="Column of INTERNAL with the probability of the favourable decision.")
@click.option("--common", multiple=True, help="Column of both tables; repeat. Default: all that both have.")
@click.option("--reference", help="Group the others are compared with. Default: the largest.")
@click.option(
    "--population",
    type=click.Choice(["external", "internal"]),
    default="external",
    show_default=True,
    help="Whose fairness is audited: the census population, or the people decided on.",
)
@click.option("--internal-weight", help="Column of INTERNAL with weights or counts.")
@click.option("--external-weight", help="Column of EXTERNAL with weights or counts.")
@click.option("--metric", "metrics", multiple=True, help="Name of a metric; repeat.")
@click.option("--method", "methods", multiple=True, default=["independence"], help="Estimate; repeat.")
@click.option("--threshold", type=float, default=0.8, show_default=True, help="What ratios are compared with.")
@click.option("--tolerance", type=float, default=0.0, show_default=True, help="Band around 0 for differences.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="Recorded; no interval is computed yet."
)
@click.option("--seed", "rng", type=int, help="Recorded; nothing random yet.")
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "level"]),
    default="error",
    show_default=True,
    help="Rows with an empty cell: refuse, leave out, or keep as a level of their own.",
)
@click.option(
    "--unmatched",
    type=click.Choice(["warn", "error"]),
    default="warn",
    show_default=True,
    help="Levels and strata that one table lacks: allow for anything there, or refuse.",
)
@click.option("--recode", multiple=True, metavar="COLUMN=MAP.csv", callback=_pairs, help="Map levels: old,new a line.")
@click.option("--bin", "bins", multiple=True, metavar="COLUMN=25,60", callback=_pairs, help="Cut numbers at these.")
@click.option(
    "--one-stratum",
    type=click.Choice(["allow", "error"]),
    default="error",
    show_default=True,
    help="Common variables that never vary.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML report here.")
@click.option("--gate", is_flag=True, help="Exit 0 if shown to pass, 1 if shown to fail, 3 if undetermined.")
def audit(
    internal: str,
    external: str,
    *,
    recode: dict[str, str],
    bins: dict[str, str],
    format_: str,
    report: Path | None,
    gate: bool,
    **options: Any,
) -> int:
    """Combine INTERNAL (decisions) and EXTERNAL (a census) and bound the fairness metrics.

    Both are files: CSV, Parquet, Arrow, JSON lines, or a pattern such as 'part-*.csv'.

    Metrics: disparate_impact, demographic_disparity, impact_ratio, parity_ratio, parity_gap, and _rate, _difference or
    _ratio after selection, true_positive, false_positive, true_negative, false_negative, positive_predictive,
    negative_predictive, accuracy or base. Combined groups are typed 'female,Black'.
    """
    from fairbounds.pipeline import audit as run
    from fairbounds.verdicts import gate as judge

    _refuse_overwriting(report, internal, external, *recode.values())
    maps = {column: _read_map(path) for column, path in recode.items()}
    edges = {column: _read_edges(column, text) for column, text in bins.items()}
    several = {name: list(options.pop(name)) for name in ("protected", "common", "metrics", "methods")}
    with _busy(f"Auditing {internal} with {external}"):
        found = run(
            internal,
            external,
            protected=several["protected"],
            common=several["common"] or None,
            metrics=several["metrics"] or None,
            methods=several["methods"],
            recode=maps,
            bins=edges,
            **options,
        )
    judgement = judge(found.findings) if gate else None
    _write_report(found, report)
    with _printing("nothing was written" if report is None else f"{report} was written"):
        _print(found, format_, judgement)
    return _GATE_CODES["pass" if judgement is None else judgement.result]


@app.command()
@click.option("--dataset", type=click.Choice(["adult", "compas", "german"]), default="adult", show_default=True)
@click.option("--report", type=click.Path(path_type=Path), default=Path("fairbounds-demo.html"), show_default=True)
def demo(dataset: str, report: Path) -> None:
    """Audit embedded data whose truth is known, and show that the truth lies inside the bounds."""
    from fairbounds.demo import audit_embedded
    from fairbounds.report.html import write_html
    from fairbounds.report.text import print_audit

    with _busy(f"Auditing the {dataset} data"):
        found, truth = audit_embedded(dataset)
    write_html(found, report, truth=truth, title=f"Fairness audit of the {dataset} data")
    with _printing(f"{report} was written"):
        print_audit(found, _console(), truth=truth)
        click.echo(f"\nThe report is in {report.resolve()}")


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr)


def _busy(message: str) -> AbstractContextManager[object]:
    """Show a spinner on stderr; nothing where that is not a terminal."""
    from rich.markup import escape

    return _console(stderr=True).status(escape(message))


def _write_report(found: Audit, path: Path | None) -> None:
    if path is not None:
        from fairbounds.report.html import write_html

        write_html(found, path)


def _print(found: Audit, format_: str, judgement: Gate | None) -> None:
    if format_ == "json":
        import json

        ascii_only = (sys.stdout.encoding or "ascii").lower() not in ("utf-8", "utf8")
        data = found.to_dict() | ({} if judgement is None else {"gate": judgement.to_dict()})
        click.echo(json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, indent=2))
        return
    from fairbounds.report.text import print_audit

    print_audit(found, _console())
    if judgement is not None:
        click.echo(f"\nGATE: {judgement.result}")
        for line in (*judgement.judged, *(f"{line}, so it was not judged" for line in judgement.not_judged)):
            click.echo(f"  - {line}")


@contextmanager
def _printing(so_far: str) -> Iterator[None]:
    """See to it that what was printed arrived; a reader that left, a full disk and an interrupt are no verdicts."""
    if sys.stdout is None:
        raise SourceError("there is no standard output to print to; use --report")
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        click.echo(f"fairbounds: interrupted; {so_far}", err=True)
        raise click.exceptions.Exit(_INTERRUPTED) from None
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would try to flush once more, and complain
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(_NOBODY_READS) from None
        raise SourceError(f"the output cannot be written: {error.strerror}") from None


def _refuse_overwriting(report: Path | None, *inputs: str) -> None:
    if report is None or report.is_dir() or not report.name:
        return  # a folder is refused where it would be written to
    for path in inputs:
        if report.exists() and any(report.samefile(match) for match in glob(path)):
            raise SourceError(f"--report {str(report)!r} would replace the input {path!r}; give it another name")
    if report.suffix.casefold() not in (".html", ".htm"):
        raise SourceError(f"--report writes HTML, so its name must end in .html, not {report.name!r}")


def _read_map(typed: str) -> dict[Level, Level]:
    """Read a recode map: a CSV of two columns, old and new level; a first line ``old,new`` is a header."""
    import csv

    from fairbounds.sources.paths import guarded, locate

    [path, *others] = locate(typed, "recode map")
    if others:
        raise SourceError(f"the recode map {typed!r} is a pattern that several files match; name one")
    with guarded(f"recode map {typed!r}"), path.open(encoding="utf-8-sig", newline="") as file:
        try:
            lines = file.readlines()
            readings = [list(csv.reader(lines, delimiter=sign)) for sign in ",;\t"]
        except (UnicodeDecodeError, csv.Error):
            raise SourceError(f"the recode map {typed!r} is not CSV in UTF-8; save it as that") from None
    numbered = [[(number, row) for number, row in enumerate(rows, start=1) if row] for rows in readings]
    return _mapping(typed, next((rows for rows in numbered if all(len(row) == 2 for _, row in rows)), numbered[0]))


def _mapping(typed: str, rows: list[tuple[int, list[str]]]) -> dict[Level, Level]:
    found: dict[Level, Level] = {}
    for number, row in rows:
        if len(row) != 2:
            raise SourceError(f"the recode map {typed!r} needs two columns (old,new); line {number} has {len(row)}")
        old, new = row
        if number == 1 and (old.strip().casefold(), new.strip().casefold()) == ("old", "new"):
            continue
        if not new.strip():
            raise SourceError(f"line {number} of the recode map {typed!r} gives {old!r} an empty new level; write one")
        if found.setdefault(old, new) != new:
            raise SourceError(f"the recode map {typed!r} sends {old!r} both to {found[old]!r} and to {new!r}")
    if not found:
        raise SourceError(f"the recode map {typed!r} is empty; give it lines of old,new")
    return found


def _read_edges(column: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SourceError(f"--bin {column}={text} needs numbers separated by commas, such as {column}=25,60") from None
