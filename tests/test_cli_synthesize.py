"""``fairbounds synthesize``, and the audit of a model on people made up from two tables."""

from __future__ import annotations

import csv as csv_module
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables_on_disk import EXTERNAL, csv, listing, write

import fairbounds as fb
from fairbounds import cli

Captured: TypeAlias = pytest.CaptureFixture[str]
Row: TypeAlias = dict[str, str]

APPLICANTS = csv(
    "job,income,n", "nurse,low,700", "nurse,high,300", "teacher,low,600", "teacher,high,600", "driver,low,160",
    "driver,high,1440",
)  # fmt: skip
WEIGHTS = ["--internal-weight", "n", "--external-weight", "people"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds the two tables."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"applicants.csv": APPLICANTS, "census.csv": EXTERNAL})
    return tmp_path


def synthesize(*options: str, out: str = "people.csv", rows: int = 36_000) -> list[str]:
    files = ["applicants.csv", "census.csv", "--out", out, "--rows", str(rows)]
    return ["synthesize", *files, "--protected", "sex", *WEIGHTS, *options]


def people(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv_module.DictReader(file))


def test_people_follow_both_tables(folder: Path, capsys: Captured) -> None:
    """36,000 people, a twenty-fifth of a per cent each: shares lie within four standard deviations of the tables'."""
    assert cli.run(synthesize()) == 0
    printed, said = capsys.readouterr()
    assert said == ""
    assert printed.startswith("36,000 people were written to people.csv, with job, income, sex.\n")
    found = people(folder / "people.csv")
    assert len(found) == 36_000
    jobs = Counter(person["job"] for person in found)
    assert jobs["driver"] == pytest.approx(16_000, abs=4 * 95)
    women = Counter(person["job"] for person in found if person["sex"] == "female")
    assert women["nurse"] / jobs["nurse"] == pytest.approx(0.9, abs=4 * 0.003)
    rich = Counter((person["job"], person["sex"]) for person in found if person["income"] == "high")
    for sex, n in (("female", women["nurse"]), ("male", jobs["nurse"] - women["nurse"])):
        assert rich["nurse", sex] / n == pytest.approx(0.3, abs=4 * (0.21 / n) ** 0.5)


def test_the_first_people_are_a_sample_too(folder: Path) -> None:
    cli.run(synthesize())
    first = Counter(person["job"] for person in people(folder / "people.csv")[:1000])
    assert first["driver"] == pytest.approx(1000 * 16 / 36, abs=4 * 16)


def test_the_seed_decides(folder: Path) -> None:
    for out, seed in (("a.csv", "1"), ("b.csv", "1"), ("c.csv", "2")):
        assert cli.run(synthesize("--seed", seed, out=out, rows=500)) == 0
    first, again, other = ((folder / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert first == again != other


def test_levels_and_types_are_the_users_own(folder: Path) -> None:
    columns = {"job": ["a", "b", "b"], "age": [30, 41, 52], "rate": [0.5, 1.5, 2.5], "ok": [True, False, True]}
    pq.write_table(pa.table(columns), "applicants.parquet")
    pq.write_table(pa.table({"job": ["a", "b", "b"], "group": [1, 2, 3]}), "census.parquet")
    files = ["synthesize", "applicants.parquet", "census.parquet", "--out", "people.parquet", "--rows", "300"]
    assert cli.run([*files, "--protected", "group"]) == 0
    found = pq.read_table("people.parquet")
    assert dict(zip(found.column_names, map(str, found.schema.types), strict=True)) == {
        "job": "string",
        "age": "int64",
        "rate": "double",
        "ok": "bool",
        "group": "int64",
    }
    assert {row["age"] for row in found.to_pylist() if row["job"] == "a"} == {30}
    assert {row["group"] for row in found.to_pylist() if row["job"] == "b"} == {2, 3}


def test_features_choose_the_columns(folder: Path) -> None:
    header, *lines = APPLICANTS.splitlines()
    write(folder, {"applicants.csv": csv(f"{header},remark", *(f"{line},x" for line in lines))})
    assert cli.run(synthesize(rows=10)) == 0
    assert set(people(folder / "people.csv")[0]) == {"job", "income", "remark", "sex"}
    assert cli.run(synthesize("--feature", "income", rows=10)) == 0
    assert set(people(folder / "people.csv")[0]) == {"job", "income", "sex"}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_every_ending_holds_the_same_people(ending: str, folder: Path) -> None:
    assert cli.run(synthesize("--method", "latent_class", "--classes", "2", "--starts", "4", rows=2000)) == 0
    out = f"others{ending}"
    assert cli.run(synthesize("--method", "latent_class", "--classes", "2", "--starts", "4", rows=2000, out=out)) == 0
    one, other = fb.read_table("people.csv"), fb.read_table(out)
    assert one.to_columns() == other.to_columns()
    assert one.total == 2000


def test_warnings_are_printed(folder: Path, capsys: Captured) -> None:
    write(folder, {"census.csv": f"{EXTERNAL}pilot,male,4000\n"})
    assert cli.run(synthesize(rows=100)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("! 10.00% of the external table lies in strata") for line in lines)


def test_a_file_of_that_name_is_replaced_and_nothing_else_is_left(folder: Path) -> None:
    write(folder, {"people.csv": "old"})
    before = set(listing(folder))
    assert cli.run(synthesize(rows=10)) == 0
    assert set(listing(folder)) == before
    assert len(people(folder / "people.csv")) == 10


# -- the paper's external audit ----------------------------------------------------------------------------------------

MODEL = """#!{python}
import csv, sys
for row in csv.DictReader(sys.stdin):
    print({answer})
"""


def model(folder: Path, answer: str) -> None:
    (folder / "model").write_text(MODEL.format(python=sys.executable, answer=answer))
    (folder / "model").chmod(0o755)


def audit(capsys: Captured, *options: str, files: tuple[str, str] = ("people.csv", "people.csv")) -> dict[str, Any]:
    code = cli.run(["audit", *files, "--protected", "sex", "--reference", "male", "--format", "json", *options])
    printed, said = capsys.readouterr()
    assert (code, said) == (0, "")
    return dict(json.loads(printed))


def test_a_model_asked_about_made_up_people_has_one_value(folder: Path, capsys: Captured) -> None:
    """Nothing is hidden in a complete table: the bounds meet at the ratio counted row by row."""
    cli.run(synthesize(rows=10_000))
    capsys.readouterr()
    model(folder, "'yes' if row['income'] == 'high' or row['job'] == 'teacher' else 'no'")
    found = audit(capsys, "--predict-command", "./model", "--favourable", "yes")["findings"][0]
    rates = {}
    for sex in ("female", "male"):
        members = [person for person in people(folder / "people.csv") if person["sex"] == sex]
        rates[sex] = sum(p["income"] == "high" or p["job"] == "teacher" for p in members) / len(members)
    assert found["bounds"]["lower"] == pytest.approx(rates["female"] / rates["male"])
    assert found["bounds"]["upper"] == pytest.approx(found["bounds"]["lower"])
    assert found["estimates"]["independence"] == pytest.approx(found["bounds"]["lower"])


def test_a_score_is_averaged(folder: Path, capsys: Captured) -> None:
    cli.run(synthesize(rows=3000))
    capsys.readouterr()
    model(folder, "0.9 if row['income'] == 'high' else 0.2")
    found = audit(capsys, "--predict-command", "./model")["findings"][1]
    score = {"high": 0.9, "low": 0.2}
    means = {}
    for sex in ("female", "male"):
        members = [score[person["income"]] for person in people(folder / "people.csv") if person["sex"] == sex]
        means[sex] = sum(members) / len(members)
    assert found["metric"] == "demographic_disparity"
    assert found["bounds"]["lower"] == pytest.approx(means["female"] - means["male"])
    assert found["bounds"]["upper"] == pytest.approx(means["female"] - means["male"])


def test_the_made_up_people_agree_with_the_estimate(folder: Path, capsys: Captured) -> None:
    """Under independence the audit of 200,000 made-up people comes near the independence estimate of the two tables."""
    cli.run(synthesize(out="people.parquet", rows=200_000))
    capsys.readouterr()
    model(folder, "int(row['income'] == 'high')")
    ask = ["--predict-command", "./model"]
    made = audit(capsys, *ask, files=("people.parquet", "people.parquet"))["findings"][0]
    told = audit(capsys, *ask, *WEIGHTS, files=("applicants.csv", "census.csv"))["findings"][0]
    assert made["bounds"]["lower"] == pytest.approx(told["estimates"]["independence"], abs=0.01)


def test_a_process_writes_a_million_people(folder: Path) -> None:
    arguments = synthesize(out="people.parquet", rows=1_000_000)
    done = subprocess.run([sys.executable, "-m", "fairbounds", *arguments], check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert re.match("1,000,000 people were written", done.stdout)
    assert pq.read_metadata("people.parquet").num_rows == 1_000_000
    assert sorted(os.listdir(folder)) == ["applicants.csv", "census.csv", "people.parquet"]


def test_a_model_that_reads_the_group_has_the_ratio_that_it_has(folder: Path, capsys: Captured) -> None:
    """0.4 for every woman and 0.9 for every man, whatever else they are."""
    assert cli.run(synthesize(out="people.parquet", rows=2000)) == 0
    model = folder / "model.py"
    model.write_text(
        "import csv, sys\nfor row in csv.DictReader(sys.stdin): print(0.9 if row['sex'] == 'male' else 0.4)\n"
    )
    capsys.readouterr()
    asked = ["--predict-command", f"{sys.executable} {model}", "--feature", "sex", "--reference", "male"]
    asked += ["--metric", "disparate_impact", "--format", "json"]
    assert cli.run(["audit", "people.parquet", "people.parquet", "--protected", "sex", *asked]) == 0
    audit = json.loads(capsys.readouterr().out)
    [finding] = audit["findings"]
    assert finding["bounds"]["lower"] == pytest.approx(4 / 9, abs=1e-12)
    assert finding["bounds"]["upper"] == pytest.approx(4 / 9, abs=1e-12)
    assert any("made up" in said for said in audit["warnings"])


def test_a_latent_class_model_says_how_sure_it_is(folder: Path, capsys: Captured) -> None:
    """The census has pilots, whom the model draws although no applicant is one."""
    write(folder, {"census.csv": EXTERNAL + "pilot,female,4000\npilot,male,4000\n"})
    assert cli.run(synthesize("--method", "latent_class", "--classes", "2", "--starts", "4", rows=3000)) == 0
    printed = capsys.readouterr().out
    assert "The model has 2 classes." in printed
    assert "The model misplaces" in printed
    assert "the model fills in the rest" in printed
    assert "nobody is drawn" not in printed
    assert any(person["job"] == "pilot" for person in people(folder / "people.csv"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--classes", "3"], ["classes", "'latent_class'", "'independence'"]),
        (["--starts", "3"], ["starts", "'latent_class'", "'independence'"]),
        (["--method", "latent_class", "--population", "internal"], ["population", "'independence'"]),
        (["--feature", "incme"], ["a column 'incme'", "did you mean 'income'"]),
    ],
)
def test_options_are_never_ignored(options: list[str], words: list[str], folder: Path, capsys: Captured) -> None:
    before = listing(folder)
    assert cli.run(synthesize(*options)) == 2
    said = capsys.readouterr().err
    assert not [word for word in words if word not in said], said
    assert len(said.splitlines()) == 1
    assert listing(folder) == before
