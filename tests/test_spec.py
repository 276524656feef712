"""audit.toml: every flag is a key, every complaint names its line, and a spec does what its flags do."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, TypeAlias

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables_on_disk import EXTERNAL, INTERNAL, csv, listing, write

from fairbounds import cli
from fairbounds.cli.specs import keys_of
from fairbounds.errors import SourceError
from fairbounds.spec import AuditSpec

Captured: TypeAlias = pytest.CaptureFixture[str]

BUSY = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
AUDIT = cli.app.commands["audit"]
KEYS = keys_of(AUDIT)
SPEC = """\
# what links the two
internal = "internal.csv"
external = "external.csv"
protected = ["sex"]
decision = "approved"
favourable = "yes"
internal_weight = "n"
external_weight = "people"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds the two tables and a spec."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL, "audit.toml": SPEC})
    return tmp_path


def printed(capsys: Captured, *arguments: str) -> dict[str, Any]:
    code = cli.run(["audit", *arguments, "--format", "json"])
    out, said = capsys.readouterr()
    assert code == 0, said
    return dict(json.loads(out))


def refused(capsys: Captured, *arguments: str) -> str:
    before = listing(Path())
    assert cli.run(["audit", *arguments]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert said.startswith("fairbounds: ")
    assert said.count("\n") == 1
    assert listing(Path()) == before
    return said


# -- keys and flags ----------------------------------------------------------------------------------------------------


def test_every_flag_has_a_key_and_every_key_a_flag() -> None:
    flags = {flag for parameter in AUDIT.params for flag in parameter.opts if flag.startswith("--")} - {"--spec"}
    keys = {f"--{key.name.replace('_', '-')}" for key in KEYS} - {"--internal", "--external"}
    assert keys == flags
    assert {"internal", "external"} <= {key.name for key in KEYS}
    assert all(key.help for key in KEYS)


def test_a_key_takes_the_words_that_its_flag_takes() -> None:
    by_name = {key.name: key for key in KEYS}
    for parameter in AUDIT.params:
        if isinstance(parameter.type, click.Choice):
            name = parameter.opts[0].removeprefix("--").replace("-", "_")
            assert by_name[name].choices == tuple(parameter.type.choices)


SAID: dict[str, list[str]] = {
    "protected": ["--protected", "sex", "--protected", "race"],
    "decision": ["--decision", "approved"],
    "favourable": ["--favourable", "yes"],
    "label": ["--label", "repaid"],
    "positive": ["--positive", "no"],
    "reference": ["--reference", "male,black"],
    "common": ["--common", "job", "--common", "age"],
    "feature": ["--feature", "income"],
    "population": ["--population", "internal"],
    "internal_weight": ["--internal-weight", "n"],
    "external_weight": ["--external-weight", "people"],
    "missing": ["--missing", "drop"],
    "unmatched": ["--unmatched", "error"],
    "recode": ["--recode", "job=maps/jobs.csv"],
    "bin": ["--bin", "age=25,60.5"],
    "seed": ["--seed", "7"],
    "metric": ["--metric", "selection_ratio", "--metric", "parity_gap"],
    "method": ["--method", "independence", "--method", "feasible_mean"],
    "threshold": ["--threshold", "0.7"],
    "tolerance": ["--tolerance", "0.1"],
    "confidence": ["--confidence", "0.9"],
    "one_stratum": ["--one-stratum", "allow"],
}
LARGE = {
    "internal.csv": csv(
        "job,age,income,approved,repaid,n",
        *(
            f"{job},{age},{income},{word},{paid},{n}"
            for job, age, income, word, paid, n in [
                ("rn", 20, "low", "yes", "no", 30),
                ("rn", 70, "high", "no", "yes", 50),
                ("nurse", 40, "low", "yes", "yes", 20),
                ("driver", 30, "high", "no", "no", 40),
                ("driver", 65, "low", "yes", "no", 60),
                ("driver", 22, "low", "", "no", 1),
                ("driver", 23, "low", "no", "yes", 5),
            ]
        ),
    ),
    "external.csv": csv(
        "job,age,sex,race,people",
        *(
            f"{job},{age},{sex},{race},{people}"
            for job in ("nurse", "driver")
            for age in (20, 40, 70)
            for sex, race, people in [("female", "black", 3), ("male", "black", 4), ("male", "white", 9)]
        ),
    ),
    "maps/jobs.csv": "rn,nurse\n",
}


def test_a_spec_does_what_its_flags_do(folder: Path, capsys: Captured) -> None:
    """One audit with most flags at once; `repeat` is the spec that says it, and is read as a file here."""
    write(folder, LARGE)
    typed = [word for words in SAID.values() for word in words]
    by_flags = printed(capsys, "internal.csv", "external.csv", *typed)
    said = by_flags["provenance"]["repeat"]["spec"]
    assert set(said) == {*SAID, "internal", "external"}
    elsewhere = {"internal": "../internal.csv", "external": "../external.csv", "recode": {"job": "../maps/jobs.csv"}}
    write(folder, {"specs/audit.toml": AuditSpec({**said, **elsewhere}).to_toml()})
    by_spec = printed(capsys, "--spec", "specs/audit.toml")
    assert by_spec == by_flags


def test_the_command_on_record_makes_the_same_report(folder: Path, capsys: Captured) -> None:
    assert cli.run(["audit", "--spec", "audit.toml", "--threshold", "0.7", "--report", "first.html"]) == 0
    capsys.readouterr()
    record = printed(capsys, "--spec", "audit.toml", "--threshold", "0.7")["provenance"]["repeat"]["command"]
    words = shlex.split(record)
    assert words[:4] == ["fairbounds", "audit", "internal.csv", "external.csv"]
    assert cli.run([*words[1:], "--report", "second.html"]) == 0
    assert Path("first.html").read_bytes() == Path("second.html").read_bytes()


def test_a_report_does_not_depend_on_where_the_command_is_run(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.run(["audit", "--spec", "audit.toml", "--report", "here.html"]) == 0
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert cli.run(["audit", "--spec", "../audit.toml", "--report", "there.html"]) == 0
    assert Path("there.html").read_bytes() == Path("../here.html").read_bytes()
    assert str(folder) not in Path("there.html").read_text(encoding="utf-8")


def test_outputs_named_in_a_spec_lie_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, {"audit.toml": SPEC + 'report = "out/audit.html"\ngate = true\njunit = "out/gate.xml"\n'})
    (folder / "out").mkdir()
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert cli.run(["audit", "--spec", "../audit.toml"]) == 1
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["audit.html", "gate.xml"]


def test_a_pattern_in_a_folder_with_brackets_is_still_one(folder: Path, capsys: Captured) -> None:
    parts = {
        f"[2024]/part-{at}.csv": csv("job,approved,n", *rows)
        for at, rows in enumerate((["nurse,yes,3"], ["nurse,no,7"]))
    }
    write(
        folder,
        {
            **parts,
            "[2024]/audit.toml": SPEC.replace("internal.csv", "part-*.csv").replace("external.csv", "../external.csv"),
        },
    )
    assert printed(capsys, "--spec", "[2024]/audit.toml")["provenance"]["inputs"]["internal"]["rows"] == 2


def test_a_flag_overrides_its_key_and_a_list_is_replaced(folder: Path, capsys: Captured) -> None:
    write(folder, {"audit.toml": f'{SPEC}threshold = 0.7\nmetric = ["selection_rate", "parity_gap"]\n'})
    write(folder, {"other.csv": INTERNAL.replace("300", "301")})
    found = printed(capsys, "other.csv", "--spec", "audit.toml", "--threshold", "0.6", "--metric", "selection_ratio")
    assert found["provenance"]["inputs"]["internal"]["source"] == "other.csv"
    assert found["provenance"]["inputs"]["external"]["source"] == "external.csv"
    assert [(entry["metric"], entry["threshold"]) for entry in found["findings"]] == [("selection_ratio", 0.6)]


@pytest.mark.parametrize(("value", "level"), [("1", "1"), ("true", "True"), ('"yes"', "yes")])
def test_a_level_may_be_a_number_or_a_truth_value(folder: Path, capsys: Captured, value: str, level: str) -> None:
    write(folder, {"internal.csv": INTERNAL.replace("yes", level)})
    write(folder, {"audit.toml": SPEC.replace('"yes"', value)})
    assert printed(capsys, "--spec", "audit.toml")["provenance"]["favourable"] == level


# -- what is wrong, and where ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("treshold = 0.9", ["line 9", "'treshold'", "did you mean 'threshold'?"]),
        ("internal-size = 9", ["line 9", "'internal-size'", "did you mean 'internal_size'?"]),
        ('threshold = "0.9"', ["line 9", "'threshold' must hold a number", "the text '0.9'"]),
        ("threshold = nan", ["line 9", "'threshold' must hold a number"]),
        ("threshold = 1.5", ["line 9", "threshold must be above 0 and at most 1", "1.5"]),
        ("tolerance = -1", ["line 9", "tolerance", "-1"]),
        ("confidence = 95", ["line 9", "confidence", "95"]),
        ("internal_size = -5", ["line 9", "sample size of the internal table", "-5"]),
        ("external_rounding = -5", ["line 9", "rounded", "-5"]),
        ("gate = 1", ["line 9", "'gate' must hold true or false", "not 1"]),
        ('gate = "yes"', ["line 9", "'gate' must hold true or false", "the text 'yes'"]),
        ('metric = ["disparate_impct"]', ["line 9", "disparate_impct", "did you mean 'disparate_impact'?"]),
        ('population = "extern"', ["line 9", "'population'", "'external', 'internal'", "did you mean 'external'?"]),
        ("common = [1]", ["line 9", "'common' must hold a list of texts", "[1]"]),
        ("seed = -1", ["line 9", "'seed' must be at least 0", "-1"]),
        ("seed = 1.5", ["line 9", "'seed' must hold a whole number", "1.5"]),
        ('label = ""', ["line 9", "'label' is empty"]),
        ("label = 1979-05-27", ["line 9", "'label' must hold text"]),
        ("bin = 5", ["line 9", "'bin' must hold a table of lists of numbers"]),
        ("\n\n[bin]\n# cuts\nage = [25]\nsize = 'many'", ["line 14", "'bin' must hold a table of lists of numbers"]),
        ("[recode]\njob = 5", ["line 10", "'recode' must hold a table of files"]),
        ('[bin]\n"a=b" = [5]', ["line 10", "'a=b'", "rename it"]),
        ("common = [\n  'job',  # one\n  'age'\n]\nfoo = 1", ["line 13", "'foo'"]),
        ('label = """\ntreshold = 1\n"""\ntreshold = 2', ["line 12", "'treshold'"]),
        ("decision = 'other'", ["line 9 of 'audit.toml' is not TOML", "each key may be given once"]),
        ("label = repaid", ["line 9 of 'audit.toml' is not TOML", "text needs quotation marks"]),
        ("label = 'repaid", ["line 9 of 'audit.toml' is not TOML"]),
        ("[bin\nage = 5", ["line 9 of 'audit.toml' is not TOML"]),
        ("spec = 'other.toml'", ["line 9", "'spec'"]),
    ],
)
def test_a_wrong_line_is_named(folder: Path, capsys: Captured, lines: str, words: list[str]) -> None:
    write(folder, {"audit.toml": f"{SPEC}{lines}\n"})
    said = refused(capsys, "--spec", "audit.toml", "--report", "report.html")
    for word in words:
        assert word in said, said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"approved"', '"aproved"'), ["no column 'aproved'", "did you mean 'approved'?", "'decision' on line 5"]),
        (('"internal.csv"', '"interna.csv"'), ["interna.csv", "does not exist", "'internal' on line 2"]),
        (('"yes"', '"yess"'), ["'yess'", "'favourable' on line 6 of 'audit.toml'"]),
        (('["sex"]', '["sex", "gender"]'), ["'gender'", "'protected' on line 4 of 'audit.toml'"]),
    ],
)  # fmt: skip
def test_what_the_data_refuse_is_traced_to_its_line(
    folder: Path, capsys: Captured, change: tuple[str, str], words: list[str]
) -> None:
    write(folder, {"audit.toml": SPEC.replace(*change)})
    said = refused(capsys, "--spec", "audit.toml")
    for word in words:
        assert word in said, said


def test_what_a_flag_says_wrong_is_not_blamed_on_the_spec(capsys: Captured) -> None:
    said = refused(capsys, "--spec", "audit.toml", "--decision", "aproved")
    assert "'aproved'" in said
    assert "'decision' on line" not in said
    assert "'internal_weight' on line" not in said  # although its value is among the columns that the message lists


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["spec", "'other.toml'", "does not exist"]),
        (b"\xff\xfe\x00", ["'other.toml'", "not UTF-8"]),
        ("", ["Missing argument", "INTERNAL"]),
    ],
)
def test_a_spec_that_cannot_be_read(
    folder: Path, capsys: Captured, content: str | bytes | None, words: list[str]
) -> None:
    if content is not None:
        write(folder, {"other.toml": content})
    said = refused(capsys, "--spec", "other.toml")
    for word in words:
        assert word in said, said


def test_windows_may_have_written_it(folder: Path, capsys: Captured) -> None:
    write(folder, {"audit.toml": b"\xef\xbb\xbf" + f"{SPEC}treshold = 1\n".replace("\n", "\r\n").encode()})
    assert "line 9 " in refused(capsys, "--spec", "audit.toml")
    write(folder, {"audit.toml": b"\xef\xbb\xbf" + SPEC.replace("\n", "\r\n").encode()})
    assert printed(capsys, "--spec", "audit.toml")["findings"]


# -- writing -----------------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
VALUES = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(TEXTS, max_size=3),
    st.dictionaries(TEXTS, st.lists(st.integers(-9, 9), max_size=3), min_size=1, max_size=3),
)


@BUSY
@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_what_is_written_is_read_back(values: dict[str, Any]) -> None:
    assert tomllib.loads(AuditSpec(values).to_toml()) == values


ABOVE = ["", "# '''", "seed = 1", 'label = """\n\nthreshold = 2\n"""', "common = [\n 'a',\n\n 'b']"]


@BUSY
@given(st.lists(st.sampled_from(ABOVE), unique=True))
def test_the_line_of_a_key_is_found_below_others(above: list[str]) -> None:
    """The oracle counts the lines that were put above the key."""
    text = "".join(f"{entry}\n" for entry in above)
    with pytest.raises(SourceError, match=f"^line {text.count(chr(10)) + 1} of 'audit.toml': 'threshold' must hold"):
        AuditSpec.from_toml(f"{text}threshold = true\n", KEYS)


# -- the page ----------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[1] / "docs" / "spec.md").read_text(encoding="utf-8")


def test_every_flag_of_the_page_exists() -> None:
    known = {flag for command in cli.app.commands.values() for parameter in command.params for flag in parameter.opts}
    assert set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", PAGE)) <= known


def test_the_spec_of_the_page_is_one() -> None:
    [block] = re.findall(r"^```toml\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert AuditSpec.from_toml(block, KEYS).values["bin"] == {"age": [25, 60]}
