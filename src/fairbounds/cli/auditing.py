"""``fairbounds audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairbounds.cli.options import asking, outcome, reading, settled
from fairbounds.cli.printing import print_json, printing, refuse_overwriting, to_terminal
from fairbounds.cli.progress import busy

if TYPE_CHECKING:
    from fairbounds.results import Audit
    from fairbounds.verdicts import Gate

__all__ = ["audit"]

_GATE_CODES = {"pass": 0, "fail": 1, "undetermined": 3}


@click.command()
@reading
@outcome
@asking
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML report here.")
@click.option("--gate", is_flag=True, help="Exit 0 if shown to pass, 1 if shown to fail, 3 if undetermined.")
def audit(internal: str, external: str, *, format_: str, report: Path | None, gate: bool, **options: Any) -> int:
    """Combine INTERNAL (decisions) and EXTERNAL (a census) and bound the fairness metrics.

    Both are files: CSV, Parquet, Arrow, JSON lines, or a pattern such as 'part-*.csv'. With --predict-command both may
    be the same file, such as people that synthesize wrote.

    Metrics: disparate_impact, demographic_disparity, impact_ratio, parity_ratio, parity_gap, and _rate, _difference or
    _ratio after selection, true_positive, false_positive, true_negative, false_negative, positive_predictive,
    negative_predictive, accuracy or base. Combined groups are typed 'female,Black'.
    """
    from fairbounds.pipeline import audit as run
    from fairbounds.verdicts import gate as judge

    refuse_overwriting("--report", report, (".html", ".htm"), internal, external, *options["recode"].values())
    known = settled(options)
    with busy(f"Auditing {internal} with {external}"):
        found = run(internal, external, **known)
    judgement = judge(found.findings) if gate else None
    _write_report(found, report)
    with printing("nothing was written" if report is None else f"{report} was written"):
        _print(found, format_, judgement)
    return _GATE_CODES["pass" if judgement is None else judgement.result]


def _write_report(found: Audit, path: Path | None) -> None:
    if path is not None:
        from fairbounds.report.html import write_html

        write_html(found, path)


def _print(found: Audit, format_: str, judgement: Gate | None) -> None:
    if format_ == "json":
        print_json(found.to_dict() | ({} if judgement is None else {"gate": judgement.to_dict()}))
        return
    from fairbounds.report.text import print_audit

    print_audit(found, to_terminal())
    if judgement is not None:
        click.echo(f"\nGATE: {judgement.result}")
        for line in (*judgement.judged, *(f"{line}, so it was not judged" for line in judgement.not_judged)):
            click.echo(f"  - {line}")
