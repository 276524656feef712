"""The command line where the input is good: what is printed, and which code is returned."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, get_args

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from tables_on_disk import EXTERNAL, INTERNAL, command, csv, listing, write

import fairbounds as fb
from fairbounds import cli, estimation, inference, sampling
from fairbounds.cli import exploring, options, synthesizing
from fairbounds.feasible import Coordinates
from fairbounds.surveys import ReplicateMethod

Captured: TypeAlias = pytest.CaptureFixture[str]
Json: TypeAlias = dict[str, Any]

PYTHON = [sys.executable, "-m", "fairbounds"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds the two tables."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    return tmp_path


def run(capsys: Captured, *, code: int = 0, **changes: object) -> Json:
    """Return the JSON object that a good audit prints, and nothing beside it."""
    assert cli.run(command(**changes)) == code
    printed, said = capsys.readouterr()
    assert said == ""
    return dict(json.loads(printed))


def finding(audit: Json, metric: str, group: object = "female") -> Json:
    [found] = [entry for entry in audit["findings"] if entry["metric"] == metric and entry["group"] == group]
    return dict(found)


def ends(found: Json) -> tuple[float, float]:
    return found["bounds"]["lower"], found["bounds"]["upper"]


def said(audit: Json) -> str:
    return " ".join(audit["warnings"])


# -- the JSON object ---------------------------------------------------------------------------------------------------

NUMBER, TEXT, LEVEL = (int, float), str, (str, int, float)
BOUNDS = {"lower": NUMBER, "upper": NUMBER, "method": TEXT, "sharp": bool, "defined": TEXT}
FINDING: dict[str, Any] = {
    "metric": TEXT,
    "group": LEVEL,
    "reference": LEVEL,
    "bounds": BOUNDS,
    "interval": {
        "lower": NUMBER,
        "upper": NUMBER,
        "level": float,
        "set": {"lower": NUMBER, "upper": NUMBER},
        "method": TEXT,
        "note": TEXT,
        "details": dict,
    },
    "estimates": {"independence": float},
    "estimate_details": {
        "independence": {
            "method": TEXT,
            "value": float,
            "infinite": bool,
            "margin_preserving": bool,
            "note": TEXT,
            "details": dict,
        }
    },
    "verdict": TEXT,
    "threshold": float,
    "tolerance": float,
    "note": TEXT,
}
CATEGORY_FINDING = FINDING | {key: (str, float, int, type(None)) for key in ("reference", "verdict", "threshold")}
SHAPE: dict[str, Any] = {
    "schema": TEXT,
    "population": TEXT,
    "strata": {"n": int, "internal_only_mass": float, "external_only_mass": float},
    "mismatch": {
        "kl": float,
        "total_variation": float,
        "g_statistic": float,
        "degrees_of_freedom": int,
        "p_value": float,
        "worst": [{"stratum": TEXT, "internal": float, "external": float}],
    },
    "groups": [{"group": LEVEL, "share": float, "selection_rate": BOUNDS}],
    "findings": [FINDING],
    "classifications": [
        {
            "columns": [TEXT],
            "categories": [
                {
                    "level": LEVEL,
                    "share": float,
                    "selection_rate": CATEGORY_FINDING,
                    "impact_ratio": CATEGORY_FINDING,
                    "shortfall": {"lower": float, "upper": float},
                }
            ],
        }
    ],
    "widths": [{"stratum": TEXT, "mass": float, "widths": [float]}],
    "regions": [
        {
            "rate": TEXT,
            "group": LEVEL,
            "reference": LEVEL,
            "corners": [[float]],
            "estimates": {"independence": [float]},
        }
    ],
    "assumptions": [TEXT],
    "warnings": [TEXT],
    "provenance": dict,
}


def mismatches(value: object, shape: object, place: str = "") -> Iterator[str]:
    """Yield where JSON data differ from a shape: a type, a list of one shape, or the exact keys of an object."""
    if isinstance(shape, dict):
        if not isinstance(value, dict) or set(value) != set(shape):
            yield f"{place}: {value}"
            return
        for key, inner in shape.items():
            yield from mismatches(value[key], inner, f"{place}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list)
        for at, entry in enumerate(value):
            yield from mismatches(entry, shape[0], f"{place}[{at}]")
    elif not isinstance(value, shape) or (isinstance(value, bool) and shape is not bool):  # type: ignore[arg-type]
        yield f"{place}: {value!r}"


def test_the_json_object_has_exactly_the_keys_and_types_of_the_contract(capsys: Captured) -> None:
    audit = run(capsys)
    assert list(mismatches(audit, SHAPE)) == []
    assert audit["schema"] == "fairbounds/audit/1"
    assert [entry["metric"] for entry in audit["findings"]] == ["disparate_impact", "demographic_disparity"]
    assert {"fairbounds", "inputs", "columns", "favourable", "reference", "policy"} <= set(audit["provenance"])
    assert audit["provenance"]["inputs"]["internal"]["source"] == "internal.csv"
    assert re.fullmatch("[0-9a-f]{64}", audit["provenance"]["inputs"]["external"]["sha256"])


def test_a_change_of_the_shape_would_be_seen() -> None:
    shape = {"a": float, "b": [{"c": TEXT}]}
    assert list(mismatches({"a": 1.0, "b": [{"c": "x"}]}, shape)) == []
    for wrong in ({"a": 1.0}, {"a": True, "b": []}, {"a": 1.0, "b": [{"c": None}]}, {"a": 1.0, "b": [{}]}):
        assert list(mismatches(wrong, shape))


def test_what_is_printed_is_the_audit_of_the_python_entry(capsys: Captured) -> None:
    roles = {"protected": "sex", "decision": "approved", "favourable": "yes"}
    audit = fb.audit("internal.csv", "external.csv", **roles, internal_weight="n", external_weight="people")
    printed = run(capsys)
    repeat = printed["provenance"].pop("repeat")
    assert printed == audit.to_dict()
    assert shlex.split(repeat["command"])[1:4] == ["audit", "internal.csv", "external.csv"]


def test_an_unbounded_end_is_null(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": csv("job,approved,n", "nurse,yes,1", "nurse,no,9", "driver,no,10")})
    write(folder, {"external.csv": csv("job,sex,people", "nurse,female,1", "nurse,male,1", "driver,male,2")})
    found = finding(run(capsys, reference="male"), "disparate_impact")
    assert found["bounds"]["lower"] == 0
    assert found["bounds"]["upper"] is None


def test_a_ratio_that_is_infinite_in_every_joint_is_not_called_undefined(folder: Path, capsys: Captured) -> None:
    """All women are approved and no man is: x/0, never 0/0."""
    write(folder, {"internal.csv": csv("job,approved,n", "nurse,yes,100", "driver,no,100")})
    write(folder, {"external.csv": csv("job,sex,people", "nurse,female,100", "driver,male,200")})
    found = finding(run(capsys), "disparate_impact")
    assert found["verdict"] == "above"
    assert found["bounds"]["defined"] == "always"
    assert "0/0" not in found["note"]


def test_levels_are_printed_as_the_user_wrote_them(folder: Path, capsys: Captured) -> None:
    write(folder, {"external.csv": EXTERNAL.replace("female", "Ženský ‘F’").replace("male", "  m\u00e4nnlich")})
    audit = run(capsys)
    assert [entry["group"] for entry in audit["groups"]] == ["  m\u00e4nnlich", "Ženský ‘F’"]


def test_the_output_is_ascii_where_the_terminal_is(folder: Path) -> None:
    write(folder, {"external.csv": EXTERNAL.replace("female", "kvinnlig å")})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*PYTHON, *command()], env=environment, check=True, capture_output=True)
    assert done.stdout.isascii()
    assert "kvinnlig å" in [entry["group"] for entry in json.loads(done.stdout)["groups"]]


def test_a_process_prints_the_object_and_nothing_else(folder: Path) -> None:
    before = listing(folder)
    done = subprocess.run([*PYTHON, *command()], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert json.loads(done.stdout)["schema"] == "fairbounds/audit/1"
    assert listing(folder) == before


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["audit", "explore", "synthesize", "demo", "init", "compare", "tabulate"])
def test_the_help_lists_every_option(name: str, capsys: Captured) -> None:
    assert cli.run([name, "--help"]) == 0
    printed, said = capsys.readouterr()
    assert said == ""
    for parameter in cli.app.commands[name].params:
        if isinstance(parameter, click.Option):
            for flag in parameter.opts:
                assert re.search(rf"(?<!\S){flag}(?!\S)", printed), flag


def flags(name: str) -> set[str]:
    return {flag for parameter in cli.app.commands[name].params for flag in parameter.opts if flag.startswith("--")}


def test_the_command_line_has_the_flags_of_the_contract() -> None:
    promised = "protected decision favourable label score common reference population internal-weight external-weight "
    promised += "metric method threshold confidence seed format report gate predict-command feature"
    assert {f"--{name}" for name in promised.split()} <= flags("audit")


def test_commands_share_the_options_that_they_have_in_common() -> None:
    only_audit, only_explore = flags("audit") - flags("explore"), flags("explore") - flags("audit")
    assert only_audit == {"--report", "--gate", "--undetermined", "--junit", "--github", "--spec"}
    assert only_explore == {"--sampling", "--draws", "--chains", "--points", "--limits", "--coordinates"}
    assert flags("synthesize") - flags("audit") == {"--rows", "--out", "--classes", "--starts"}


def test_choices_are_those_of_the_engines() -> None:
    """They are written down once more in the command line, which must start without the engines."""
    assert set(options.METHODS) == set(get_args(estimation.Method))
    assert set(options.REPLICATES) == set(get_args(ReplicateMethod))
    assert set(options.INTERVALS) == {*get_args(inference.IntervalMethod), "none"}
    assert set(exploring.SAMPLING) == set(get_args(sampling.Method))
    assert set(exploring.LIMITS) == set(get_args(sampling.Limits))
    assert set(exploring.COORDINATES) == set(get_args(Coordinates))
    assert set(synthesizing.SYNTHESIS_METHODS) <= set(get_args(estimation.Method))


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_the_help_of_the_program_names_its_commands(arguments: list[str], capsys: Captured) -> None:
    assert cli.run(arguments) == 0
    printed, _ = capsys.readouterr()
    assert {"audit", "explore", "synthesize", "demo", "init", "compare", "tabulate"} <= set(printed.split())


def test_the_version_is_that_of_the_package(capsys: Captured) -> None:
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out == f"fairbounds, version {fb.__version__}\n"


def test_main_exits_with_the_code(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(command(gate=True))
    assert stopped.value.code == 1


def test_python_dash_m_is_the_command_line() -> None:
    done = subprocess.run([*PYTHON, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout == f"fairbounds, version {fb.__version__}\n"


@pytest.mark.parametrize(("population", "share"), [("external", 17_300 / 40_000), ("internal", 1_880 / 4_000)])
def test_either_population_may_be_audited(folder: Path, capsys: Captured, population: str, share: float) -> None:
    """Women are 9 in 10 nurses, 3 in 4 teachers, 1 in 20 drivers, and there is no telling how many bakers."""
    write(folder, {"external.csv": f"{EXTERNAL}pilot,male,4000\n", "internal.csv": f"{INTERNAL}baker,yes,200\n"})
    audit = run(capsys, population=population)
    assert audit["population"] == population
    assert audit["strata"] == {"n": 4, "internal_only_mass": 0.05, "external_only_mass": 0.1}
    assert audit["groups"][0] == {**audit["groups"][0], "group": "female", "share": pytest.approx(share)}
    assert f"that of the {population} table" in audit["assumptions"][0]
    assert "5.00% of the internal table" in said(audit)
    assert "10.00% of the external table" in said(audit)


def test_weights_stand_for_rows(folder: Path, capsys: Captured) -> None:
    weighted = run(capsys, interval_method="none")
    internal = [f"{job},{word}" for job, word, n in _cells(INTERNAL) for _ in range(n // 10)]
    external = [f"{job},{sex}" for job, sex, n in _cells(EXTERNAL) for _ in range(n // 100)]
    write(folder, {"internal.csv": csv("job,approved", *internal), "external.csv": csv("job,sex", *external)})
    rows = run(capsys, interval_method="none", internal_weight=None, external_weight=None)
    assert rows["findings"] == _close(weighted["findings"])
    assert rows["groups"] == _close(weighted["groups"])


def test_the_flags_of_sampling_reach_the_intervals(folder: Path, capsys: Captured) -> None:
    def width(**changes: object) -> float:
        found = finding(run(capsys, **changes), "demographic_disparity")["interval"]
        return float(found["upper"] - found["lower"])

    plain = width()
    assert (
        width(external_census=True) < plain < width(external_size=2000) < width(external_size=2000, internal_size=900)
    )
    assert plain < width(external_rounding=100)
    assert width(confidence=0.8) < plain < width(interval_method="exact")
    assert width(combine_splits="average") < plain
    assert finding(run(capsys, interval_method="none"), "demographic_disparity")["interval"] is None


def _cells(text: str) -> Iterator[tuple[str, str, int]]:
    for line in text.splitlines()[1:]:
        job, level, n = line.split(",")
        yield job, level, int(n)


def _close(value: object) -> object:
    """Allow for rounding in every number of JSON data."""
    if isinstance(value, Mapping):
        return {key: _close(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_close(inner) for inner in value]
    return pytest.approx(value, abs=1e-12) if isinstance(value, float) else value


CROSSED = csv(
    "job,sex,race,people",
    "nurse,female,black,30",
    "nurse,female,white,60",
    "nurse,male,white,10",
    "teacher,female,black,10",
    "teacher,male,black,40",
    "teacher,male,white,50",
    "driver,male,black,20",
    "driver,male,white,80",
)


def test_several_protected_columns_are_combined(folder: Path, capsys: Captured) -> None:
    write(folder, {"external.csv": CROSSED})
    audit = run(capsys, protected=["sex", "race"])
    assert {entry["group"]: entry["share"] for entry in audit["groups"]} == {
        "female × black": pytest.approx(40 / 300),
        "female × white": pytest.approx(60 / 300),
        "male × black": pytest.approx(60 / 300),
        "male × white": pytest.approx(140 / 300),
    }
    assert {entry["reference"] for entry in audit["findings"] if entry["metric"] == "disparate_impact"} == {
        "male × white"
    }
    whole = [entry for entry in audit["findings"] if entry["metric"].startswith("parity")]
    assert [(entry["metric"], entry["group"]) for entry in whole] == [("parity_ratio", None), ("parity_gap", None)]
    chosen = run(capsys, protected=["sex", "race"], reference="male × black")
    assert chosen["provenance"]["reference"] == "male × black"


def test_common_may_be_some_of_the_shared_columns(folder: Path, capsys: Captured) -> None:
    """More common columns narrow the bounds, or leave them."""
    internal = csv("job,region,approved,n", "nurse,n,yes,9", "nurse,s,no,9", "driver,n,no,9", "driver,s,yes,9")
    lines = ["nurse,n,female,9", "nurse,s,male,9", "driver,n,male,9", "driver,s,female,9"]
    external = csv("job,region,sex,people", *lines)
    write(folder, {"internal.csv": internal, "external.csv": external})
    fine, coarse = run(capsys), run(capsys, common="job")
    assert (fine["strata"]["n"], coarse["strata"]["n"]) == (4, 2)
    assert coarse["provenance"]["columns"]["common"] == ["job"]
    assert ends(finding(fine, "demographic_disparity", "male")) == (-1, -1)
    assert ends(finding(coarse, "demographic_disparity", "male")) == (-1, 1)


def test_a_recode_map_makes_the_levels_meet(folder: Path, capsys: Captured) -> None:
    plain = run(capsys)
    write(
        folder,
        {
            "internal.csv": INTERNAL.replace("nurse", "Registered nurse").replace("driver", "8322"),
            "map.csv": '\ufeffold,new\n"Registered nurse",nurse\n\n8322,driver\n',
        },
    )
    assert run(capsys, recode="job=map.csv")["findings"] == _close(plain["findings"])


def test_a_recode_map_may_join_levels_of_any_column(folder: Path, capsys: Captured) -> None:
    write(folder, {"external.csv": CROSSED, "race.csv": "black,others\n", "job.csv": "nurse,staff\nteacher,staff\n"})
    audit = run(capsys, protected="race", recode=["race=race.csv", "job=job.csv"])
    assert [entry["group"] for entry in audit["groups"]] == ["others", "white"]
    assert audit["strata"]["n"] == 2


def test_bins_cut_numbers(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": csv("age,approved,n", "19,yes,5", "25,no,5", "60,yes,5", "71.5,no,5")})
    write(folder, {"external.csv": csv("age,sex,people", "18,female,5", "30,male,5", "59.9,female,5", "88,male,5")})
    audit = run(capsys, bin="age=25,60")
    assert audit["strata"] == {"n": 3, "internal_only_mass": 0.0, "external_only_mass": 0.0}
    assert {entry["stratum"] for entry in audit["mismatch"]["worst"]} <= {"age=<25", "age=25 to <60", "age=>=60"}


def test_missing_values_are_dropped_and_their_mass_is_told(folder: Path, capsys: Captured) -> None:
    """The nurse row of 300 lacks its decision: 300 of 3,800."""
    write(folder, {"internal.csv": INTERNAL.replace("nurse,yes", "nurse,")})
    audit = run(capsys, missing="drop")
    assert "'approved' (1 row" in said(audit)
    assert "7.89% of the weight" in said(audit)
    assert "left out" in said(audit)
    assert audit["provenance"]["inputs"]["internal"]["dropped_rows"] == 1


def test_missing_values_may_be_a_level(folder: Path, capsys: Captured) -> None:
    write(folder, {"external.csv": EXTERNAL.replace("nurse,female", "nurse,")})
    audit = run(capsys, missing="level")
    assert [entry["group"] for entry in audit["groups"]] == ["female", "male", "(missing)"]
    assert "'sex' (1 row" in said(audit)
    assert "25.00%" in said(audit)
    assert "a level of their own" in said(audit)


def test_one_stratum_is_accepted_when_told(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": csv("job,approved,n", "nurse,yes,1", "nurse,no,3")})
    write(folder, {"external.csv": csv("job,sex,people", "nurse,female,1", "nurse,male,3")})
    audit = run(capsys, one_stratum="allow")
    assert audit["strata"]["n"] == 1
    rates = [entry["selection_rate"] for entry in audit["groups"]]
    assert [(rate["lower"], rate["upper"]) for rate in rates] == [(0, 1), (0, pytest.approx(1 / 3))]


def test_metrics_and_thresholds_are_those_asked_for(capsys: Captured) -> None:
    audit = run(
        capsys,
        metric=["selection_rate", "selection_difference", "impact_ratio", "selection_rate"],
        threshold=0.25,
        tolerance=0.75,
        method="independence",
        interval_method="none",
    )
    told = [(entry["metric"], entry["group"], entry["verdict"], entry["threshold"]) for entry in audit["findings"]]
    assert told == [
        ("selection_rate", "female", None, None),
        ("selection_rate", "male", None, None),
        ("selection_difference", "female", "within", 0.0),
        ("impact_ratio", "female", "above", 0.25),
        ("impact_ratio", "male", "above", 0.25),
    ]
    assert finding(audit, "selection_difference")["tolerance"] == 0.75
    assert audit["provenance"]["policy"] == {"threshold": 0.25, "tolerance": 0.75}


def test_a_label_brings_error_rates(folder: Path, capsys: Captured) -> None:
    lines = ["nurse,yes,paid,3", "nurse,no,lost,7", "driver,yes,lost,2", "driver,yes,paid,5", "driver,no,paid,1"]
    write(folder, {"internal.csv": csv("job,approved,outcome,n", *lines)})
    audit = run(capsys, label="outcome", positive="paid")
    assert {"true_positive_difference", "false_positive_difference"} <= {entry["metric"] for entry in audit["findings"]}
    assert audit["provenance"]["columns"]["label"] == "outcome"


def test_scores_take_the_place_of_decisions(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": csv("job,p,n", "nurse,0.25,2", "nurse,.5,2", "teacher,1e-1,4", "driver,1,4")})
    audit = run(capsys, decision=None, favourable=None, score="p")
    assert audit["provenance"]["columns"]["score"] == "p"
    assert audit["provenance"]["favourable"] is None
    assert any("depends on the group only through the internal features" in entry for entry in audit["assumptions"])


def test_every_method_fills_the_estimates(capsys: Captured) -> None:
    methods = ["independence", "latent_class", "feasible_mean", "weighted", "regression"]
    audit = run(capsys, method=methods, seed=3)
    found = finding(audit, "disparate_impact")
    assert list(found["estimates"]) == methods
    assert audit["provenance"]["methods"] == methods
    assert audit["provenance"]["seed"] == 3
    # By hand: 2,700 + 3,750 + 720 of 17,300 women and 300 + 1,250 + 13,680 of 18,700 men.
    assert found["estimates"]["independence"] == pytest.approx(7170 / 17300 / (15230 / 18700))
    assert found["estimates"]["weighted"] == found["estimates"]["independence"]
    details = found["estimate_details"]
    assert "Not identified" in details["latent_class"]["note"]
    lower, upper = ends(found)
    assert all(lower <= found["estimates"][name] <= upper for name in ("independence", "feasible_mean", "weighted"))
    assert cli.run(command(format="text", method=methods)) == 0
    text = " ".join(capsys.readouterr().out.split())
    for name in ("Independence", "Latent class", "Feasible mean", "Weighted", "Regression"):
        assert f"{name} estimate " in text
    assert "Not identified: " in text


MODEL = """#!{python}
import csv, sys
for row in csv.DictReader(sys.stdin):
    assert list(row) == {columns}, row
    print({answer})
"""


def model(folder: Path, answer: str, columns: list[str]) -> str:
    """Write a program that answers for every row, and return the command that runs it."""
    (folder / "model").write_text(MODEL.format(python=sys.executable, answer=answer, columns=columns))
    (folder / "model").chmod(0o755)
    return "./model"


FEATURES = csv(
    "job,income,n", "nurse,low,700", "nurse,high,300", "teacher,low,600", "teacher,high,600", "driver,low,160",
    "driver,high,1440",
)  # fmt: skip
ASKED = {"internal": "features.csv", "decision": None}


def test_a_command_takes_the_place_of_the_decision(folder: Path, capsys: Captured) -> None:
    """It approves those of high income, who are as many as those approved in the table of decisions."""
    plain = run(capsys)
    write(folder, {"features.csv": FEATURES})
    says = model(folder, "'yes' if row['income'] == 'high' else 'no'", ["job", "income"])
    asked = run(capsys, **ASKED, predict_command=says)
    assert asked["findings"] == _close(plain["findings"])
    assert asked["groups"] == _close(plain["groups"])
    scored = run(
        capsys,
        **{**ASKED, "favourable": None},
        predict_command=model(folder, "0.75 if row['income'] == 'high' else 0.25", ["income"]),
        feature="income",
    )
    assert scored["provenance"]["columns"]["score"] == "prediction"


def test_what_the_command_says_on_standard_error_passes_through(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(folder, {"features.csv": FEATURES})
    says = model(folder, "print('asked', file=sys.stderr) or 1", ["job", "income"])
    assert cli.run(command(**{**ASKED, "favourable": None}, predict_command=says)) == 0
    printed, said = capfd.readouterr()
    assert said == "asked\n" * 6
    assert json.loads(printed)["schema"] == "fairbounds/audit/1"


# -- files -------------------------------------------------------------------------------------------------------------


def test_every_format_gives_the_same_findings(folder: Path, capsys: Captured) -> None:
    plain = run(capsys)
    for stem in ("internal", "external"):
        table = pa.csv.read_csv(f"{stem}.csv")
        pq.write_table(table, f"{stem}.parquet")
        pa.feather.write_feather(table, f"{stem}.arrow")
        lines = "".join(f"{json.dumps(row)}\n" for row in table.to_pylist())
        text = (folder / f"{stem}.csv").read_text()
        write(folder, {f"{stem}.jsonl": lines, f"{stem}.tsv": text.replace(",", "\t")})
        write(folder, {f"{stem}-utf16.csv": text.encode("utf-16"), f"{stem}-bom.csv": text.encode("utf-8-sig")})
    for ending in (".parquet", ".arrow", ".jsonl", ".tsv", "-utf16.csv", "-bom.csv"):
        again = run(capsys, internal=f"internal{ending}", external=f"external{ending}")
        assert again["findings"] == plain["findings"], ending
        assert again["groups"] == plain["groups"], ending
        assert again["warnings"] == plain["warnings"], ending


def test_a_pattern_reads_the_parts_of_a_table(folder: Path, capsys: Captured) -> None:
    plain = run(capsys)
    header, *lines = INTERNAL.splitlines()
    write(folder, {f"part-{at}.csv": csv(header, line) for at, line in enumerate(lines)})
    parts = run(capsys, internal="part-*.csv")
    assert parts["findings"] == plain["findings"]
    assert "6 files" in parts["provenance"]["inputs"]["internal"]["source"]


# -- text and report ---------------------------------------------------------------------------------------------------


def test_text_is_the_default(capsys: Captured) -> None:
    assert cli.run(command(format=None)) == 0
    printed, said = capsys.readouterr()
    assert said == ""
    assert {"0.272", "0.699", "female", "internal.csv", "external.csv"} <= set(re.split(r"[^\w.]+", printed))
    assert not printed.startswith("{")


@pytest.mark.parametrize(("format_", "gate"), [("text", False), ("json", False), ("json", True)])
def test_a_report_is_written_beside_what_is_printed(folder: Path, capsys: Captured, format_: str, gate: bool) -> None:
    before = listing(folder)
    assert cli.run(command(format=format_, report="audit.html", gate=gate)) == int(gate)
    printed, said = capsys.readouterr()
    assert said == ""
    assert cli.run(command(format=format_, gate=gate)) == int(gate)
    assert capsys.readouterr().out == printed
    assert set(listing(folder)) - set(before) == {"audit.html"}
    page = (folder / "audit.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "female" in page
    assert "0.272" in page


def test_a_report_replaces_the_last_one(folder: Path) -> None:
    write(folder, {"audit.html": "old"})
    assert cli.run(command(report="audit.html")) == 0
    assert "old" not in (folder / "audit.html").read_text(encoding="utf-8")[:100]


def test_the_demo_shows_the_truth_inside_the_bounds(folder: Path, capsys: Captured) -> None:
    assert cli.run(["demo", "--dataset", "german", "--report", "demo.html"]) == 0
    printed, said = capsys.readouterr()
    assert said == ""
    assert "inside the bounds" in " ".join(printed.split())
    assert "The internal table holds scores but not “sex”" in " ".join(printed.split())
    assert str(folder / "demo.html") in printed.replace("\n", "")
    assert (folder / "demo.html").read_text(encoding="utf-8").startswith("<!doctype html>")


# -- exit codes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"gate": True}, 1),
        ({"gate": True, "threshold": 0.5}, 3),
        ({"gate": True, "threshold": 0.2}, 0),
        ({"gate": True, "metric": "selection_difference", "tolerance": 0.1}, 1),
        ({"gate": True, "metric": "selection_difference", "tolerance": 0.5}, 3),
        ({"gate": True, "metric": "selection_difference", "tolerance": 0.75}, 0),
        ({"gate": True, "metric": ["disparate_impact", "selection_difference"], "threshold": 0.2, "tolerance": 0.1}, 1),
        ({"gate": True, "threshold": 0.2, "tolerance": 0.5}, 3),
    ],
)
def test_the_gate_says_whether_it_is_shown(capsys: Captured, changes: dict[str, object], code: int) -> None:
    """The ratio lies in [0.27, 0.70], the difference in [-0.70, -0.22]."""
    run(capsys, code=code, **changes)


def test_the_gate_says_why(folder: Path, capsys: Captured) -> None:
    judged = json.loads(capsys_after(capsys, gate=True, reference="female"))["gate"]
    assert judged["result"] == "fail"
    assert judged["judged"] == ["disparate_impact of 'male' against 'female': below 0.8 when seen from the other group"]
    assert judged["not_judged"] == ["demographic_disparity of 'male' against 'female': no tolerance was set"]
    assert cli.run(command(format="text", gate=True)) == 1
    assert "GATE: fail" in capsys.readouterr().out


def capsys_after(capsys: Captured, **changes: object) -> str:
    cli.run(command(**changes))
    return capsys.readouterr().out


def test_a_recode_map_may_have_semicolons(folder: Path, capsys: Captured) -> None:
    """As spreadsheets save it where the comma is a decimal sign."""
    write(folder, {"map.csv": "\ufeffold;new\nnurse;care\ndriver;transport\n"})
    result = run(capsys, recode="job=map.csv")
    assert result["provenance"]["recode"] == {"job": {"nurse": "care", "driver": "transport"}}


def test_the_gate_does_not_pass_because_the_disadvantaged_group_is_the_reference(capsys: Captured) -> None:
    """Men are selected at least 1.4 times as often as women: seen from the men, women have at most 0.70."""
    run(capsys, code=1, gate=True, reference="female")


# -- when things go wrong that are not the input -----------------------------------------------------------------------


def test_an_interrupt_writes_nothing(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fairbounds.pipeline.audit", interrupted)
    before = listing(folder)
    assert cli.run(command(report="report.html")) == 130
    printed, said = capsys.readouterr()
    assert printed == ""
    assert said.strip() == "fairbounds: interrupted; nothing was written"
    assert listing(folder) == before


def test_an_interrupt_after_the_report_does_not_say_that_nothing_was_written(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fairbounds.cli.auditing._print", interrupted)
    assert cli.run(command(report="report.html")) == 130
    assert not ("nothing was written" in capsys.readouterr().err and (folder / "report.html").exists())


BROKEN = """
import fairbounds.pipeline
from fairbounds.cli import main
from fairbounds.errors import SolverError

def broken(*_, **__):
    raise {error}("status 4")

fairbounds.pipeline.audit = broken
main({arguments!r})
"""


@pytest.mark.parametrize("error", ["SolverError", "ZeroDivisionError"])
def test_a_fault_of_the_program_keeps_its_traceback(error: str) -> None:
    script = BROKEN.format(error=error, arguments=command())
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert "Traceback" in done.stderr
    assert "status 4" in done.stderr
    assert done.stdout == ""
    assert done.returncode != 0


def test_a_fault_of_the_program_is_no_verdict() -> None:
    script = BROKEN.format(error="SolverError", arguments=command())
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode not in (0, 1, 2, 3)


def test_a_reader_that_stops_early_sees_no_traceback() -> None:
    line = f"{shlex.join([*PYTHON, *command()])} | head -1"
    done = subprocess.run(line, shell=True, check=False, capture_output=True, text=True)
    assert done.stdout == "{\n"
    assert done.stderr == ""


def unread(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose output nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run([*PYTHON, *arguments], stdout=writing, stderr=subprocess.PIPE, check=False, text=True)
    finally:
        os.close(writing)


@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_closed_pipe_makes_no_traceback(format_: str) -> None:
    assert unread(*command(format=format_)).stderr == ""


@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_closed_pipe_is_no_verdict(format_: str) -> None:
    assert unread(*command(gate=True, threshold=0.2, format=format_)).returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_sentence() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PYTHON, *command()], stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.returncode not in (0, 1, 3)
