"""The commands, put together."""

from __future__ import annotations

import click

from fairbounds.cli.auditing import audit
from fairbounds.cli.comparing import compare
from fairbounds.cli.demonstrating import demo
from fairbounds.cli.exploring import explore
from fairbounds.cli.initialising import init
from fairbounds.cli.reproducing import reproduce
from fairbounds.cli.synthesizing import synthesize
from fairbounds.cli.tabulating import tabulate

__all__ = ["app"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}, invoke_without_command=True
)
@click.version_option(package_name="fairbounds")
@click.pass_context
def app(context: click.Context) -> None:
    """Say what a model's fairness metrics can be when the protected attribute is missing from its data."""
    if context.invoked_subcommand is None:
        raise click.UsageError(f"name a command: {', '.join(app.commands)}; fairbounds --help tells more")


for command in (init, audit, explore, tabulate, synthesize, compare, demo, reproduce):
    app.add_command(command)
