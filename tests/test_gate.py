"""The gate: one policy in Python and on the command line, and what it tells machines."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

import pytest
import yaml
from tables_on_disk import EXTERNAL, INTERNAL, command, csv, listing, write

import fairbounds as fb
from fairbounds import cli
from fairbounds.cli.gating import as_junit, as_workflow_commands
from fairbounds.results import Bounds, Finding
from fairbounds.verdicts import Check, Gate, Policy

Captured: TypeAlias = pytest.CaptureFixture[str]

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    return tmp_path


def audited(**options: Any) -> fb.Audit:
    """Audit the two tables; the women's ratio is between 0.28 and 0.58 or so, below the threshold of 0.8."""
    roles = {"protected": "sex", "reference": "male", "decision": "approved", "favourable": "yes"}
    return fb.audit("internal.csv", "external.csv", **roles, internal_weight="n", external_weight="people", **options)


def ratio(lower: float | None, upper: float | None, group: str = "F") -> Finding:
    bounds = Bounds("disparate_impact", group, "M", lower, upper)
    policy = Policy()
    verdict = policy.verdict(fb.metrics.get("disparate_impact"), bounds)
    return Finding("disparate_impact", group, "M", bounds, (), verdict, 0.8)


def gate_of(*findings: Finding, **policy: Any) -> Gate:
    return Policy(**policy).gate(replace(audited(interval_method="none"), findings=findings))


# -- the policy --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "result"),
    [
        ([(0.9, 1.1)], "pass"),
        ([(0.8, 1.25)], "pass"),
        ([(0.1, 0.7)], "fail"),
        ([(1.3, 1.4)], "fail"),  # seen from the other group 0.71 to 0.77
        ([(0.7, 0.9)], "undetermined"),
        ([(0.9, 1.3)], "undetermined"),  # seen from the other group 0.77 to 1.11
        ([(0.9, 1.1), (0.7, 0.9)], "undetermined"),
        ([(0.7, 0.9), (0.1, 0.7)], "fail"),
        ([(0.9, 1.1), (0.1, 0.7)], "fail"),
    ],
)
@pytest.mark.parametrize("undetermined", [None, "pass", "fail"])
def test_codes(ends: list[tuple[float, float]], result: str, undetermined: Any) -> None:
    gate = gate_of(*(ratio(*pair, group=f"F{at}") for at, pair in enumerate(ends)), undetermined=undetermined)
    assert gate.result == result
    counted = (undetermined or result) if result == "undetermined" else result
    assert gate.exit_code == {"pass": 0, "fail": 1, "undetermined": 3}[counted]
    assert len(gate.checks) == len(ends)


def test_python_and_the_command_line_give_one_answer(capsys: Captured) -> None:
    options = {"threshold": 0.5, "tolerance": 0.9}
    assert cli.run(command(reference="male", gate=True, undetermined="fail", **options)) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["gate"] == Policy(0.5, 0.9, "fail").gate(audited(**options)).to_dict()
    assert printed["gate"]["result"] == "undetermined"


def test_a_policy_refuses_an_audit_that_was_held_to_another() -> None:
    with pytest.raises(fb.ProblemError, match=r"audited against 0\.8 ± 0, but the policy says 0\.9 ± 0"):
        Policy(0.9).gate(audited())
    with pytest.raises(fb.ProblemError, match="tolerance of the policy"):
        Policy(tolerance=0.1).gate(audited())


def test_a_policy_knows_two_ways_to_count_undetermined() -> None:
    with pytest.raises(fb.ProblemError, match="'pass' or 'fail', not 'ignore'"):
        Policy(undetermined="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize(("undetermined", "code"), [(None, 3), ("pass", 0), ("fail", 1)])
def test_undetermined_counts_as_told(capsys: Captured, undetermined: str | None, code: int) -> None:
    arguments = command(reference="male", threshold=0.5, gate=True, undetermined=undetermined, format=None)
    assert cli.run(arguments) == code
    said = f" (counted as {undetermined})" if undetermined else ""
    assert f"GATE: undetermined{said}\n" in capsys.readouterr().out


def test_what_was_shown_does_not_turn_on_how_undetermined_counts() -> None:
    for undetermined in UNDETERMINED:
        assert cli.run(command(reference="male", gate=True, undetermined=undetermined)) == 1
        assert cli.run(command(reference="male", gate=True, threshold=0.1, undetermined=undetermined)) == 0


UNDETERMINED = ("pass", "fail")


# -- JUnit -------------------------------------------------------------------------------------------------------------

HOSTILE = "a<b>&\"'\x00\x1b\ud800 ]]>\n::error::x % , :"


def counts(suite: ET.Element) -> dict[str, int]:
    return {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}


@pytest.mark.parametrize(("undetermined", "element"), [(None, "error"), ("pass", "skipped"), ("fail", "failure")])
def test_junit_has_a_case_for_each_check(undetermined: Any, element: str) -> None:
    difference = replace(ratio(0.1, 0.2), metric="selection_difference", threshold=0.0, verdict="above")
    gate = gate_of(
        ratio(0.9, 1.1, "A"), ratio(0.1, 0.7, "B"), ratio(0.7, 0.9, "C"), difference, undetermined=undetermined
    )
    [suite] = ET.fromstring(as_junit(gate))
    outcomes = [[child.tag for child in case] for case in suite]
    assert outcomes == [[], ["failure"], [element], ["skipped"]]
    assert [case.attrib["name"][:27] for case in suite][:3] == [f"disparate_impact of '{group}' aga" for group in "ABC"]
    tally = {"failure": 1, "error": 0, "skipped": 1}
    tally[element] += 1
    assert counts(suite) == {
        "tests": 4, "failures": tally["failure"], "errors": tally["error"], "skipped": tally["skipped"]
    }  # fmt: skip


def test_junit_survives_any_name() -> None:
    text = as_junit(gate_of(ratio(0.1, 0.7, HOSTILE)))
    [suite] = ET.fromstring(text.encode("utf-8"))
    assert "a<b>&" in suite[0].attrib["name"]


def test_junit_is_written_beside_what_is_printed(folder: Path, capsys: Captured) -> None:
    assert cli.run(command(reference="male", gate=True, junit="gate.xml")) == 1
    printed = json.loads(capsys.readouterr().out)
    [suite] = ET.parse("gate.xml").getroot()
    assert counts(suite)["failures"] == sum(check["shown"] == "fail" for check in printed["gate"]["checks"]) == 1
    before = Path("gate.xml").read_bytes()
    assert cli.run(command(reference="male", gate=True, junit="gate.xml")) == 1
    assert Path("gate.xml").read_bytes() == before


# -- GitHub ------------------------------------------------------------------------------------------------------------


def unescaped(line: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as GitHub's runner does: properties end at ``::``, escapes are undone, %25 last."""
    found = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert found is not None, line
    level, properties, data = found.groups()
    for escape, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        properties = properties.replace(escape, char)
        if char not in ":,":
            data = data.replace(escape, char)
    return level, dict([properties.split("=", 1)]), data


@pytest.mark.parametrize(("undetermined", "level"), [(None, "warning"), ("pass", "notice"), ("fail", "error")])
def test_annotations(undetermined: Any, level: str) -> None:
    gate = gate_of(ratio(0.9, 1.1), ratio(0.1, 0.7), ratio(0.7, 0.9), undetermined=undetermined)
    read = [unescaped(line) for line in as_workflow_commands(gate)]
    assert [entry[0] for entry in read] == ["notice", "error", level]
    assert read[2][1] == {"title": "Fairness: undetermined"}


def test_a_name_cannot_break_out_of_its_annotation() -> None:
    said = "100%0A of\n::error::this,\rthat"
    gate = Gate((Check("disparate_impact", "a%2Cb\n", None, "fail", said),))
    [line] = as_workflow_commands(gate)
    assert not {"\n", "\r"} & set(line)
    assert unescaped(line)[2] == f"disparate_impact of 'a%2Cb\\n': {said}"


@pytest.mark.parametrize("format_", ["text", "json"])
def test_annotations_stay_out_of_json(capsys: Captured, format_: str) -> None:
    assert cli.run(command(reference="male", gate=True, github=True, format=format_)) == 1
    out, said = capsys.readouterr()
    if format_ == "json":
        assert json.loads(out)["gate"]["result"] == "fail"
    [line] = [line for line in (said if format_ == "json" else out).splitlines() if line.startswith("::")]
    assert line.startswith("::error title=Fairness%3A fail::disparate_impact of 'female' against 'male': below 0.8")


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"undetermined": "pass"}, ["--undetermined", "add --gate"]),
        ({"junit": "gate.xml"}, ["--junit", "add --gate"]),
        ({"github": True}, ["--github", "add --gate"]),
        ({"gate": True, "undetermined": "ignore"}, ["--undetermined", "'pass', 'fail'"]),
        ({"gate": True, "junit": "gate.txt"}, ["--junit", "must end in .xml", "gate.txt"]),
        ({"gate": True, "junit": "no/gate.xml"}, ["no/gate.xml", "there is no folder 'no'"]),
        ({"gate": True, "junit": "folder"}, ["folder", "name a file"]),
        ({"gate": True, "junit": "gate.xml", "metric": "selection_rate"}, ["gate", "nothing to judge", "--metric"]),
    ],
)
def test_a_gate_that_cannot_be(folder: Path, capsys: Captured, options: dict[str, Any], words: list[str]) -> None:
    (folder / "folder").mkdir()
    before = listing(folder)
    assert cli.run(command(**options)) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("\n") == 1
    for word in words:
        assert word in said, said
    assert listing(folder) == before


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_workflow_is_one_and_its_flags_exist() -> None:
    [block] = re.findall(r"^```yaml\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    workflow = yaml.safe_load(block)
    assert {"name", "permissions", "jobs"} <= set(workflow)
    assert set(workflow[True]) == {"pull_request", "schedule"}  # YAML 1.1 reads the key "on" as true
    steps = workflow["jobs"]["gate"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    [command_] = [step["run"] for step in steps if step.get("run", "").startswith("fairbounds")]
    flags = {flag for parameter in cli.app.commands["audit"].params for flag in parameter.opts}
    named = re.findall(r"(?<!\S)--[\w-]+", command_)
    assert {"--gate", "--github", "--junit"} <= set(named) <= flags


def test_the_workflow_command_runs(folder: Path, capsys: Captured) -> None:
    """The line of the page, in a folder with a spec."""
    [line] = re.findall(r"run: fairbounds (audit .*)", PAGE)
    lines = ['internal = "internal.csv"', 'external = "external.csv"', 'protected = "sex"', 'decision = "approved"']
    write(folder, {"audit.toml": csv(*lines, 'internal_weight = "n"', 'external_weight = "people"')})
    assert cli.run(line.split()) == 1
    assert (folder / "audit.html").exists()
    assert (folder / "gate.xml").exists()
    assert "::error" in capsys.readouterr().out


def test_every_flag_and_code_on_the_page_exists() -> None:
    known = {flag for parameter in cli.app.commands["audit"].params for flag in parameter.opts}
    assert set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", PAGE)) <= known
    assert re.findall(r"^\| (\d) \|", PAGE, flags=re.MULTILINE) == ["0", "1", "2", "3"]


def test_the_python_of_the_page_runs(capsys: Captured) -> None:
    [block] = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    exec(block, {})
    assert capsys.readouterr().out == "fail 1\n"
