"""The gate of an audit: what is printed, written and returned of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fairbounds.cli.printing import refuse_overwriting
from fairbounds.errors import SourceError

if TYPE_CHECKING:
    from fairbounds.results import Audit
    from fairbounds.verdicts import Check, Gate, Shown

__all__ = ["UNDETERMINED", "as_junit", "as_workflow_commands", "check_gating", "gating", "judge", "print_gate"]

UNDETERMINED = ("pass", "fail")

_LEVELS: Mapping[Shown, str] = {"pass": "notice", "fail": "error", "undetermined": "warning"}
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")  # in XML
_MEANING: Mapping[Shown, str] = {
    "pass": "shown to pass",
    "fail": "shown to fail",
    "undetermined": "the data do not settle it",
}


def gating(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the gate to a command."""
    for option in (
        click.option("--github", is_flag=True, help="Print the gate as GitHub annotations too."),
        click.option("--junit", type=click.Path(path_type=Path), help="Write the gate as JUnit XML here."),
        click.option(
            "--undetermined",
            type=click.Choice(UNDETERMINED),
            help="What the gate takes undetermined for. Default: neither; exit code 3.",
        ),
        click.option("--gate", is_flag=True, help="Exit 0 if shown to pass, 1 if shown to fail, 3 if undetermined."),
    ):
        command = option(command)
    return command


def check_gating(gate: bool, undetermined: str | None, junit: Path | None, github: bool, *inputs: str) -> None:
    """Refuse options of the gate without the gate, and a file that must not be replaced."""
    for flag, given in (("--undetermined", undetermined), ("--junit", junit), ("--github", github)):
        if given and not gate:
            raise click.UsageError(f"{flag} says what becomes of the gate; add --gate")
    refuse_overwriting("--junit", junit, (".xml",), *inputs)
    if junit is not None and not junit.parent.is_dir():
        folder = str(junit.parent)
        raise SourceError(f"{str(junit)!r} cannot be written: there is no folder {folder!r}; create it first")


def judge(audit: Audit, threshold: float, tolerance: float, undetermined: Any) -> Gate:
    """Judge an audit by the policy of the command line."""
    from fairbounds.verdicts import Policy

    return Policy(threshold, tolerance, undetermined).gate(audit)


def print_gate(gate: Gate) -> None:
    """Print the gate for a person."""
    counted = f" (counted as {gate.counted_as(gate.result)})" if gate.counted_as(gate.result) != gate.result else ""
    click.echo(f"\nGATE: {gate.result}{counted}")
    for line in (*gate.judged, *(f"{line}, so it was not judged" for line in gate.not_judged)):
        click.echo(f"  - {line}")


# -- JUnit -------------------------------------------------------------------------------------------------------------


def as_junit(gate: Gate) -> str:
    """Write a gate as JUnit XML: one test case for each check.

    What is shown to fail is a failure. What is undetermined is an error, or what the policy takes it for: a failure, or
    a skipped test.
    """
    from xml.etree import ElementTree as ET

    suite = ET.Element("testsuite", {"name": "fairbounds gate", **_counts(gate)})
    for check in gate.checks:
        names = {"classname": f"fairbounds.{check.metric}", "name": _clean(check.about)}
        case = ET.SubElement(suite, "testcase", names)
        if (element := _outcome(gate, check)) is not None:
            said = {"message": _clean(f"{_MEANING[check.shown]}: {check.why}")}
            ET.SubElement(case, element, said if element == "skipped" else {**said, "type": check.shown})
    for line in gate.not_judged:
        case = ET.SubElement(suite, "testcase", {"classname": "fairbounds", "name": _clean(line)})
        ET.SubElement(case, "skipped", {"message": "not judged"})
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _counts(gate: Gate) -> dict[str, str]:
    outcomes = [_outcome(gate, check) for check in gate.checks]
    return {
        "tests": str(len(outcomes) + len(gate.not_judged)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped") + len(gate.not_judged)),
    }


def _outcome(gate: Gate, check: Check) -> str | None:
    """Return the element that a check is told by; none where it is shown to pass."""
    if check.shown == "pass":
        return None
    counted = gate.counted_as(check.shown)
    return {"pass": "skipped", "fail": "failure", "undetermined": "error"}[counted]


def _clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


# -- GitHub ------------------------------------------------------------------------------------------------------------


def as_workflow_commands(gate: Gate) -> list[str]:
    """Write a gate as the lines that a GitHub workflow turns into annotations: one for each check."""
    return [
        f"::{_LEVELS[gate.counted_as(check.shown)]} title={_property(f'Fairness: {check.shown}')}"
        f"::{_data(f'{check.about}: {check.why}')}"
        for check in gate.checks
    ]


def _data(text: str) -> str:
    """Escape as the runner unescapes; see docs/gate.md."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
