"""`fairbounds compare`: what moved between two stored audits, and what can have moved it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tables_on_disk import EXTERNAL, INTERNAL, command, listing, write

import fairbounds as fb
from fairbounds import cli

Captured: TypeAlias = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Path:
    """Work in a folder that holds the two tables and an audit of them, against 0.8 and men."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    store("old.json", capsys)
    return tmp_path


def store(name: str, capsys: Captured, **changes: object) -> None:
    assert cli.run(command(**{"reference": "male", **changes})) == 0, capsys.readouterr().err
    Path(name).write_text(capsys.readouterr().out, encoding="utf-8")


def compared(capsys: Captured, *arguments: str, code: int = 0) -> dict[str, Any]:
    assert cli.run(["compare", "old.json", "new.json", "--format", "json", *arguments]) == code
    return dict(json.loads(capsys.readouterr().out))


def moved(found: Mapping[str, Any]) -> dict[tuple[str | None, str], tuple[Any, Any, list[str]]]:
    return {(move["metric"], move["what"]): (move["old"], move["new"], move["why"]) for move in found["moves"]}


def test_the_same_audit_twice(capsys: Captured) -> None:
    store("new.json", capsys)
    assert compared(capsys, "--fail-on", "any") == {
        "schema": "fairbounds/compare/1", "same": True, "verdicts_changed": 0, "causes": [], "moves": []
    }  # fmt: skip
    assert cli.run(["compare", "old.json", "new.json"]) == 0
    assert capsys.readouterr().out == "Nothing moved: the two audits say the same.\n"


def test_a_threshold_moves_the_verdict_and_no_bound(capsys: Captured) -> None:
    store("new.json", capsys, threshold=0.1)
    found = compared(capsys)
    assert [(cause["kind"], cause["what"]) for cause in found["causes"]] == [("settings", "policy.threshold")]
    assert moved(found) == {
        ("disparate_impact", "verdict"): ("below", "above", ["settings"]),
        ("disparate_impact", "threshold"): (0.8, 0.1, ["settings"]),
    }
    assert found["verdicts_changed"] == 1


def test_other_data_move_the_bounds(folder: Path, capsys: Captured) -> None:
    """All drivers are men but 800, so more approved drivers raise the men's rate, and lower both ends of the ratio."""
    write(folder, {"internal.csv": INTERNAL.replace("driver,no,160", "driver,no,1")})
    store("new.json", capsys)
    found = compared(capsys)
    kinds = {cause["kind"] for cause in found["causes"]}
    assert kinds == {"data"}
    assert "inputs.internal.sha256" in {cause["what"] for cause in found["causes"]}
    assert not any(cause["what"].startswith("inputs.external") for cause in found["causes"])
    moves = moved(found)
    old, new, why = moves["disparate_impact", "bounds.upper"]
    assert new < old
    assert why == ["data"]
    assert ("disparate_impact", "verdict") not in moves


def test_a_new_name_for_the_same_file_is_no_cause(folder: Path, capsys: Captured) -> None:
    write(folder, {"copy.csv": INTERNAL})
    store("new.json", capsys, internal="copy.csv")
    assert compared(capsys)["causes"] == []


def test_data_and_settings_at_once_are_not_told_apart(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": INTERNAL.replace("300", "900")})
    store("new.json", capsys, threshold=0.1)
    moves = moved(compared(capsys))
    assert moves["disparate_impact", "verdict"][2] == ["data", "settings"]
    assert moves["disparate_impact", "bounds.upper"][2] == ["data"]  # no threshold moves a bound
    assert moves["disparate_impact", "threshold"][2] == ["settings"]  # and no data a threshold
    assert cli.run(["compare", "old.json", "new.json"]) == 0
    assert "one change at a time" in capsys.readouterr().out


def test_a_version_may_have_moved_anything(capsys: Captured) -> None:
    audit = json.loads(Path("old.json").read_text(encoding="utf-8"))
    audit["provenance"]["fairbounds"] = "9.9"
    audit["findings"][0]["bounds"]["lower"] += 1e-6
    Path("new.json").write_text(json.dumps(audit), encoding="utf-8")
    found = compared(capsys)
    assert [cause["kind"] for cause in found["causes"]] == ["version"]
    assert moved(found)["disparate_impact", "bounds.lower"][2] == ["version"]


def test_last_digits_and_repeating_are_no_change(capsys: Captured) -> None:
    audit = json.loads(Path("old.json").read_text(encoding="utf-8"))
    audit["findings"][0]["bounds"]["lower"] += 1e-13
    audit["provenance"]["repeat"]["command"] += " --report x.html"
    Path("new.json").write_text(json.dumps(audit), encoding="utf-8")
    assert compared(capsys, "--fail-on", "any")["same"]


def test_a_change_nobody_recorded_is_told_as_such(capsys: Captured) -> None:
    audit = json.loads(Path("old.json").read_text(encoding="utf-8"))
    audit["findings"][0]["bounds"]["upper"] = None
    Path("new.json").write_text(json.dumps(audit), encoding="utf-8")
    assert moved(compared(capsys))["disparate_impact", "bounds.upper"][1:] == (None, [])
    assert cli.run(["compare", "old.json", "new.json"]) == 0
    printed = capsys.readouterr().out
    assert "-> unbounded (nothing on record explains it)" in printed


def test_findings_come_and_go(capsys: Captured) -> None:
    store("new.json", capsys, metric=["disparate_impact", "selection_rate"])
    moves = moved(compared(capsys))
    assert moves["demographic_disparity", "finding"][1] is None
    assert moves["demographic_disparity", "verdict"] == ("below", None, ["settings"])
    assert moves["selection_rate", "finding"][0] is None
    assert ("selection_rate", "verdict") not in moves
    assert cli.run(["compare", "old.json", "new.json"]) == 0
    printed = capsys.readouterr().out
    assert "demographic_disparity of 'female' against 'male': went (settings)" in printed
    assert "selection_rate of 'female': came (settings)" in printed


@pytest.mark.parametrize(
    ("changes", "fail_on", "code"),
    [
        ({"threshold": 0.1}, None, 0),
        ({"threshold": 0.1}, "verdict", 1),
        ({"threshold": 0.79}, "verdict", 0),
        ({"threshold": 0.79}, "any", 1),
        ({}, "any", 0),
    ],
)
def test_exit_codes(capsys: Captured, changes: dict[str, Any], fail_on: str | None, code: int) -> None:
    store("new.json", capsys, **changes)
    compared(capsys, *([] if fail_on is None else ["--fail-on", fail_on]), code=code)


def test_an_exploration_holds_an_audit(capsys: Captured) -> None:
    assert cli.run(["explore", *command(reference="male", draws=500, chains=8)[1:]]) == 0
    Path("new.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert compared(capsys)["same"]


def test_python_gives_the_same() -> None:
    roles = {"protected": "sex", "reference": "male", "decision": "approved", "favourable": "yes"}
    weights = {"internal_weight": "n", "external_weight": "people"}
    one, two = (fb.audit("internal.csv", "external.csv", **roles, **weights, threshold=t) for t in (0.8, 0.1))
    found = fb.compare(one, two)
    assert isinstance(found, fb.Comparison)
    assert [move.new for move in found.verdicts] == ["above"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["new audit", "'new.json'", "does not exist"]),
        ("nonsense", ["new audit 'new.json' is not JSON", "--format json"]),
        (b"\xff\xfe\xff", ["is not JSON"]),
        ("[1, 2]", ["holds [1, 2]"]),
        ("{}", ["its schema is None", "fairbounds/audit/1"]),
        ('{"schema": "fairbounds/audit/1"}', ["damaged", "population"]),
        ('{"schema": "fairbounds/audit/2"}', ["fairbounds/audit/2"]),
    ],
)
def test_what_is_no_audit(folder: Path, capsys: Captured, content: str | bytes | None, words: list[str]) -> None:
    if content is not None:
        write(folder, {"new.json": content})
    before = listing(folder)
    assert cli.run(["compare", "old.json", "new.json"]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("\n") == 1
    for word in words:
        assert word in said, said
    assert listing(folder) == before
