"""`fairbounds init`: a draft that runs, whose guesses are marked."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables_on_disk import EXTERNAL, INTERNAL, csv, listing, write

from fairbounds import cli

Captured: TypeAlias = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    return tmp_path


def drafted(capsys: Captured, *arguments: str, runs: bool = True) -> dict[str, Any]:
    """Draft a spec of the two tables, see that it runs, and return what it says."""
    assert cli.run(["init", "internal.csv", "external.csv", *arguments]) == 0, capsys.readouterr().err
    capsys.readouterr()
    if runs:
        assert cli.run(["audit", "--spec", "audit.toml", "--format", "json"]) == 0, capsys.readouterr().err
        assert json.loads(capsys.readouterr().out)["findings"]
    return tomllib.loads(Path("audit.toml").read_text(encoding="utf-8"))


def guessed() -> list[str]:
    """Return the keys below a line that marks a guess."""
    lines = itertools.pairwise(Path("audit.toml").read_text(encoding="utf-8").splitlines())
    return [after.removeprefix("# ").split(" ")[0] for line, after in lines if "GUESS:" in line]


def test_the_readme_tables(capsys: Captured) -> None:
    found = drafted(capsys)
    assert found == {
        "internal": "internal.csv",
        "external": "external.csv",
        "protected": ["sex"],
        "decision": "approved",
        "favourable": "yes",
        "internal_weight": "n",
        "external_weight": "people",
        "common": ["job"],
        "population": "external",
        "threshold": 0.8,
    }
    assert guessed() == ["protected", "decision", "favourable", "internal_weight", "external_weight", "common"]


def test_what_was_told_is_no_guess(capsys: Captured) -> None:
    drafted(capsys, "--protected", "sex", "--decision", "approved")
    assert guessed() == ["favourable", "internal_weight", "external_weight", "common"]


def test_the_guesses_are_listed(capsys: Captured) -> None:
    assert cli.run(["init", "internal.csv", "external.csv"]) == 0
    printed = capsys.readouterr().out
    assert "6 guesses to confirm: protected, decision, favourable, internal_weight, external_weight, common." in printed
    assert "fairbounds audit --spec audit.toml" in printed


def test_persons_have_no_weights(folder: Path, capsys: Captured) -> None:
    people = ["nurse,yes", "nurse,no", "driver,yes", "driver,yes"]
    write(
        folder,
        {
            "internal.csv": csv("job,approved", *people),
            "external.csv": csv("job,sex", "nurse,f", "nurse,f", "driver,m"),
        },
    )
    found = drafted(capsys)
    assert "internal_weight" not in found
    assert "external_weight" not in found


def test_counts_of_any_name_are_found_where_no_combination_occurs_twice(folder: Path, capsys: Captured) -> None:
    write(folder, {"external.csv": EXTERNAL.replace("people", "residents_2021")})
    assert drafted(capsys)["external_weight"] == "residents_2021"


def test_a_number_that_is_no_count_is_not_taken_for_one(folder: Path, capsys: Captured) -> None:
    rows = ["nurse,yes,1200", "nurse,yes,1200", "nurse,no,900", "driver,no,2500", "driver,yes,700"]
    write(folder, {"internal.csv": csv("job,approved,income", *rows)})
    assert "internal_weight" not in drafted(capsys)


@pytest.mark.parametrize(
    ("levels", "favourable", "sure"),
    [
        (("yes", "no"), "yes", True),
        (("denied", "approved"), "approved", True),
        (("0", "1"), "1", True),
        (("<=50K", ">50K"), ">50K", True),
        (("rejected", "interview"), "interview", True),  # the one that is not known to be bad
        (("A", "B"), "B", False),
    ],
)
def test_the_favourable_level(
    folder: Path, capsys: Captured, levels: tuple[str, str], favourable: str, sure: bool
) -> None:
    rows = [f"{job},{level},10" for job in ("nurse", "driver") for level in levels]
    write(folder, {"internal.csv": csv("job,decision,n", *rows)})
    assert drafted(capsys)["favourable"] == favourable
    assert ("DO NOT SAY" not in Path("audit.toml").read_text(encoding="utf-8")) == sure


def test_a_score_where_there_is_no_decision(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": csv("job,p,age", "nurse,0.25,30", "nurse,0.5,40", "driver,1,50")})
    found = drafted(capsys)
    assert found["score"] == "p"
    assert "decision" not in found
    assert "favourable" not in found


def test_a_column_named_score_goes_before_one_that_merely_has_two_levels(folder: Path, capsys: Captured) -> None:
    rows = ["nurse,0.25,low", "nurse,0.5,high", "driver,1,low"]
    write(folder, {"internal.csv": csv("job,score,income", *rows)})
    assert drafted(capsys)["score"] == "score"
    write(folder, {"internal.csv": csv("job,score,approved", *rows)})
    Path("audit.toml").unlink()
    assert drafted(capsys)["decision"] == "approved"


def test_a_decision_goes_before_a_label(folder: Path, capsys: Captured) -> None:
    rows = ["nurse,yes,no", "nurse,no,yes", "driver,yes,yes", "driver,yes,no"]
    write(folder, {"internal.csv": csv("job,repaid,approved", *rows)})
    assert drafted(capsys)["decision"] == "approved"
    assert '# label = "repaid"' in Path("audit.toml").read_text(encoding="utf-8")


def test_empty_cells_are_dropped_and_said_so(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": f"{INTERNAL}nurse,,12\n,no,3\n"})
    assert drafted(capsys)["missing"] == "drop"
    assert "missing" in guessed()
    assert "'approved' (1)" in Path("audit.toml").read_text(encoding="utf-8")


def test_numbers_of_many_levels_are_cut_at_their_quartiles(folder: Path, capsys: Captured) -> None:
    """Ages 20 to 59, each once: a quarter is below 30, half below 40."""
    write(folder, {"internal.csv": csv("age,approved", *(f"{age},{('no', 'yes')[age % 2]}" for age in range(20, 60)))})
    write(folder, {"external.csv": csv("age,sex", *(f"{age},{'fm'[age % 3 == 0]}" for age in range(20, 60)))})
    [low, middle, high] = drafted(capsys)["bin"]["age"]
    assert (low, middle, high) == (29, 39, 49)


def test_numbers_of_many_levels_with_many_people_each_are_not_cut(folder: Path, capsys: Captured) -> None:
    """They may be codes of jobs, and intervals of codes link nothing."""
    write(
        folder,
        {"internal.csv": csv("job,approved,n", *(f"{job},{word},500" for job in range(40) for word in ("no", "yes")))},
    )
    write(folder, {"external.csv": csv("job,sex,people", *(f"{job},{sex},500" for job in range(40) for sex in "fm"))})
    assert "bin" not in drafted(capsys)


def test_identifiers_link_nothing(folder: Path, capsys: Captured) -> None:
    write(
        folder,
        {
            "internal.csv": csv(
                "id,job,approved", *(f"i{at},nurse,{('no', 'yes')[at % 2]}" for at in range(80)), "z,driver,no"
            )
        },
    )
    write(
        folder,
        {
            "external.csv": csv(
                "id,job,sex", *(f"e{at},{('nurse', 'driver')[at % 2]},{'fm'[at % 3 == 0]}" for at in range(80))
            )
        },
    )
    assert drafted(capsys)["common"] == ["job"]
    assert "'id'" in Path("audit.toml").read_text(encoding="utf-8")


def test_a_file_of_counts_says_itself_what_they_are(folder: Path, capsys: Captured) -> None:
    arguments = [
        "tabulate",
        "internal.csv",
        "--weight",
        "n",
        "--by",
        "job,approved",
        "--count",
        "heads",
        "--out",
        "counts.csv",
    ]
    assert cli.run(arguments) == 0
    (folder / "counts.csv").rename(folder / "internal.csv")
    assert drafted(capsys)["internal_weight"] == "heads"


def test_typed_tables(folder: Path, capsys: Captured) -> None:
    columns = {"job": ["nurse", "nurse", "driver"], "approved": [True, False, True], "n": [3, 4, 5]}
    pq.write_table(pa.table(columns), "internal.parquet")
    assert cli.run(["init", "internal.parquet", "external.csv"]) == 0
    capsys.readouterr()
    assert cli.run(["audit", "--spec", "audit.toml"]) == 0


def test_paths_are_relative_to_the_spec(folder: Path, capsys: Captured) -> None:
    (folder / "specs").mkdir()
    assert cli.run(["init", "internal.csv", str(folder / "external.csv"), "--out", "specs/audit.toml"]) == 0
    found = tomllib.loads(Path("specs/audit.toml").read_text(encoding="utf-8"))
    assert found["internal"] == "../internal.csv"
    assert found["external"] == str(folder / "external.csv")
    assert cli.run(["audit", "--spec", "specs/audit.toml"]) == 0


def test_names_cannot_break_out_of_a_comment(folder: Path, capsys: Captured) -> None:
    evil = '"x\nthreshold = 0.1 \u2028"'
    write(
        folder,
        {
            "external.csv": EXTERNAL.replace("female", evil),
            "internal.csv": INTERNAL.replace("approved", '"a ""b"" \\ #"'),
        },
    )
    found = drafted(capsys)
    assert found["threshold"] == 0.8
    assert found["decision"] == 'a "b" \\ #'


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "arguments", "words"),
    [
        ({"audit.toml": "mine"}, [], ["'audit.toml' is there already", "--out"]),
        ({}, ["--out", "audit.json"], ["must end in .toml", "audit.json"]),
        ({}, ["--out", "no/audit.toml"], ["there is no folder", "create it first"]),
        ({}, ["--decision", "aproved"], ["no column 'aproved'", "did you mean 'approved'?"]),
        ({}, ["--protected", "gender"], ["no column 'gender'", "'sex'"]),
        ({}, ["--decision", "approved", "--score", "n"], ["--decision or --score"]),
        ({"internal.csv": csv("job,pay", "nurse,5", "nurse,6", "nurse,7")}, [], ["decision", "'pay'", "--score"]),
        ({"external.csv": csv("job,people", "nurse,5", "driver,6")}, [], ["protected", "--protected"]),
        ({"internal.csv": csv("beruf,approved", "nurse,yes", "nurse,no")}, [], ["share no column", "'beruf'"]),
        ({"internal.csv": ""}, [], ["internal file 'internal.csv' is empty"]),
    ],
)  # fmt: skip
def test_a_draft_that_cannot_be(
    folder: Path, capsys: Captured, files: dict[str, str], arguments: list[str], words: list[str]
) -> None:
    write(folder, files)
    before = listing(folder)
    assert cli.run(["init", "internal.csv", "external.csv", *arguments]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.count("\n") == 1
    for word in words:
        assert word in said, said
    assert listing(folder) == before
