"""``fairbounds audit``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairbounds.cli.gating import (
    as_junit,
    as_workflow_commands,
    check_gating,
    gating,
    judge,
    print_gate,
)
from fairbounds.cli.options import asking, outcome, reading, settled
from fairbounds.cli.printing import print_json, printing, refuse_overwriting, to_terminal
from fairbounds.cli.progress import busy
from fairbounds.cli.specs import pointing, repeating, spec

if TYPE_CHECKING:
    from fairbounds.results import Audit
    from fairbounds.verdicts import Gate

__all__ = ["audit"]


@click.command()
@reading
@outcome
@asking
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML report here.")
@gating
@spec
def audit(
    internal: str,
    external: str,
    *,
    format_: str,
    report: Path | None,
    gate: bool,
    undetermined: str | None,
    junit: Path | None,
    github: bool,
    **options: Any,
) -> int:
    """Combine INTERNAL (decisions) and EXTERNAL (a census) and bound the fairness metrics.

    Both are files: CSV, Parquet, Arrow, JSON lines, or a pattern such as 'part-*.csv'. With --predict-command both may
    be the same file, such as people that synthesize wrote. With --spec both may stand in that file.

    Metrics: disparate_impact, demographic_disparity, impact_ratio, parity_ratio, parity_gap, and _rate, _difference or
    _ratio after selection, true_positive, false_positive, true_negative, false_negative, positive_predictive,
    negative_predictive, accuracy or base. Combined groups are typed 'female,Black'.
    """
    from fairbounds.pipeline import audit as run

    inputs = (internal, external, *options["recode"].values())
    refuse_overwriting("--report", report, (".html", ".htm"), *inputs)
    check_gating(gate, undetermined, junit, github, *inputs)
    with pointing():
        known = settled(options)
        with busy(f"Auditing {internal} with {external}"):
            found = run(internal, external, **known)
        judgement = judge(found, known["threshold"], known["tolerance"], undetermined) if gate else None
    found = replace(found, provenance=found.provenance | {"repeat": repeating()})
    _write(found, judgement, report, junit)
    files = [str(path) for path in (report, junit) if path is not None]
    with printing(f"{' and '.join(files)} {'were' if len(files) > 1 else 'was'} written" if files else _NOTHING):
        _print(found, format_, judgement)
        if github and judgement is not None:
            for line in as_workflow_commands(judgement):
                click.echo(line, err=format_ == "json")
    return 0 if judgement is None else judgement.exit_code


_NOTHING = "nothing was written"


def _write(found: Audit, judgement: Gate | None, report: Path | None, junit: Path | None) -> None:
    if report is not None:
        from fairbounds.report.html import write_html

        write_html(found, report)
    if junit is not None and judgement is not None:
        from fairbounds.sources.writing import write_text

        write_text(as_junit(judgement), junit)


def _print(found: Audit, format_: str, judgement: Gate | None) -> None:
    if format_ == "json":
        print_json(found.to_dict() | ({} if judgement is None else {"gate": judgement.to_dict()}))
        return
    from fairbounds.report.text import print_audit

    print_audit(found, to_terminal())
    if judgement is not None:
        print_gate(judgement)
