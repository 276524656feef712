"""``fairbounds demo``."""

from __future__ import annotations

from pathlib import Path

import click

from fairbounds.cli.printing import printing, to_terminal
from fairbounds.cli.progress import busy

__all__ = ["demo"]


@click.command()
@click.option("--dataset", type=click.Choice(["adult", "compas", "german"]), default="adult", show_default=True)
@click.option("--report", type=click.Path(path_type=Path), default=Path("fairbounds-demo.html"), show_default=True)
def demo(dataset: str, report: Path) -> None:
    """Audit embedded data whose truth is known, and show that the truth lies inside the bounds."""
    from fairbounds.demo import audit_embedded
    from fairbounds.report.html import write_html
    from fairbounds.report.text import print_audit

    with busy(f"Auditing the {dataset} data"):
        found, truth = audit_embedded(dataset)
    write_html(found, report, truth=truth, title=f"Fairness audit of the {dataset} data")
    with printing(f"{report} was written"):
        print_audit(found, to_terminal(), truth=truth)
        click.echo(f"\nThe report is in {report.resolve()}")
