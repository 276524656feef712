"""The JSON schemas of docs/schemas: they are those of the code, real outputs fit them, and broken ones do not."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from tables_on_disk import EXTERNAL, INTERNAL, command, csv, write

from fairbounds import cli

Captured: TypeAlias = pytest.CaptureFixture[str]
Json: TypeAlias = Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "schemas"
SCHEMAS: dict[str, Json] = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    return tmp_path


def validator(name: str, *, closed: bool = False) -> Draft202012Validator:
    """Return the validator of a schema; a closed one lets no object have a key that is not described."""
    known = {key: shut(schema) if closed else schema for key, schema in copy.deepcopy(SCHEMAS).items()}
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in known.values()
    )
    return Draft202012Validator(known[name], registry=registry)


def shut(schema: Json) -> Json:
    """Forbid keys beyond those described, wherever some are."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and "required" in schema:
            schema.setdefault("additionalProperties", False)
        for inner in schema.values():
            shut(inner)
    elif isinstance(schema, list):
        for inner in schema:
            shut(inner)
    return schema


def printed(capsys: Captured, *arguments: str) -> Json:
    assert cli.run(list(arguments)) in (0, 1, 3), capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def problems(name: str, data: Json, *, closed: bool = False) -> list[str]:
    found = validator(name, closed=closed).iter_errors(data)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in found]


# -- outputs -----------------------------------------------------------------------------------------------------------

LABELLED = csv(
    "job,approved,repaid,n",
    *(f"{job},{word},{paid},{n}" for job, word, paid, n in [
        ("nurse", "yes", "yes", 30), ("nurse", "no", "no", 70), ("driver", "yes", "no", 60), ("driver", "no", "yes", 6)
    ]),
)  # fmt: skip


def plain() -> list[str]:
    return command(gate=True)


def everything() -> list[str]:
    write(Path(), {"internal.csv": LABELLED})
    metrics = ["disparate_impact", "selection_rate", "true_positive_difference", "impact_ratio", "parity_gap"]
    methods = ["independence", "latent_class", "feasible_mean", "weighted", "regression"]
    return command(label="repaid", metric=metrics, method=methods, gate=True, undetermined="pass")


def unbounded() -> list[str]:
    write(Path(), {"internal.csv": csv("job,approved,n", "nurse,yes,1", "nurse,no,9", "driver,no,10")})
    write(Path(), {"external.csv": csv("job,sex,people", "nurse,female,1", "nurse,male,1", "driver,male,2")})
    return command(reference="male")


def one_sided() -> list[str]:
    write(Path(), {"external.csv": f"{EXTERNAL}pilot,male,4000\n", "internal.csv": f"{INTERNAL}baker,yes,200\n,no,3\n"})
    return command(missing="drop", population="internal")


def without_sizes() -> list[str]:
    write(Path(), {"internal.csv": INTERNAL.replace("0\n", "0.5\n")})
    return command(interval_method="none")


def disclosed() -> list[str]:
    altering = ["--suppress-below", "500", "--round-to", "7", "--out", "counts.csv"]
    assert cli.run(["tabulate", "internal.csv", "--weight", "n", "--by", "job,approved", *altering]) == 0
    return command(internal="counts.csv", internal_weight=None)


AUDITS = [plain, everything, unbounded, one_sided, without_sizes, disclosed]


@pytest.mark.parametrize("make", AUDITS, ids=lambda make: make.__name__)
def test_audits_fit_and_hold_nothing_that_is_not_described(capsys: Captured, make: Callable[[], list[str]]) -> None:
    arguments = make()
    capsys.readouterr()
    found = printed(capsys, *arguments)
    assert problems("audit", found, closed=True) == []


def test_an_exploration_fits(capsys: Captured) -> None:
    found = printed(capsys, "explore", *command(draws=500, chains=8)[1:])
    assert problems("explore", found, closed=True) == []


@pytest.mark.parametrize("threshold", ["0.8", "0.1"])
def test_a_comparison_fits(capsys: Captured, threshold: str) -> None:
    for name, options in (("old", {}), ("new", {"threshold": threshold, "metric": ["disparate_impact", "parity_gap"]})):
        Path(f"{name}.json").write_text(json.dumps(printed(capsys, *command(**options))))
    found = printed(capsys, "compare", "old.json", "new.json", "--format", "json")
    assert problems("compare", found, closed=True) == []


def test_a_draft_and_the_spec_on_record_fit(capsys: Captured) -> None:
    assert cli.run(["init", "internal.csv", "external.csv"]) == 0
    assert problems("spec", tomllib.loads(Path("audit.toml").read_text(encoding="utf-8"))) == []
    capsys.readouterr()
    assert problems("spec", printed(capsys, *everything())["provenance"]["repeat"]["spec"]) == []


# -- what does not fit -------------------------------------------------------------------------------------------------


def broken(data: Json, path: str, value: object) -> Json:
    """Return a copy with one value replaced, or gone."""
    whole = copy.deepcopy(data)
    *above, last = path.split("/")
    inner = whole
    for key in above:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    if value is GONE:
        del inner[last]
    else:
        inner[last] = value
    return whole


GONE = object()
BROKEN = [
    ("findings/0/verdict", "fine"),
    ("findings/0/bounds/lower", "0.3"),
    ("findings/0/bounds", GONE),
    ("findings/0/bounds/defined", "perhaps"),
    ("findings/0/interval/level", 95),
    ("findings/0/interval/lower", GONE),
    ("findings/0/metric", "disparate_impct"),
    ("findings/0/estimates/independence", "none"),
    ("groups/0/share", 1.5),
    ("strata/n", -1),
    ("mismatch/total_variation", None),
    ("provenance/inputs/internal/sha256", "abc"),
    ("provenance/repeat/spec/treshold", 0.8),
    ("provenance/repeat/spec/threshold", "0.8"),
    ("gate/exit_code", 2),
    ("gate/checks/0/shown", "below"),
]


@pytest.mark.parametrize(("path", "value"), BROKEN, ids=[path for path, _ in BROKEN])
def test_a_broken_audit_does_not_fit(capsys: Captured, path: str, value: object) -> None:
    found = printed(capsys, *plain())
    assert problems("audit", found) == []
    assert problems("audit", broken(found, path, value))


@pytest.mark.parametrize(
    "spec",
    [{"treshold": 0.8}, {"threshold": "0.8"}, {"protected": [1]}, {"seed": -1}, {"gate": "yes"}, {"bin": {"age": 5}},
     {"population": "extern"}, {"recode": {"job": 5}}, {"label": ""}],
    ids=str,
)  # fmt: skip
def test_a_broken_spec_fits_neither_schema_nor_reader(folder: Path, capsys: Captured, spec: Json) -> None:
    from fairbounds.spec import AuditSpec

    assert problems("spec", spec)
    write(folder, {"audit.toml": AuditSpec(spec).to_toml()})
    assert cli.run(["audit", "--spec", "audit.toml"]) == 2
    assert "line " in capsys.readouterr().err


@pytest.mark.parametrize("data", [{}, {"schema": "fairbounds/compare/1"}, {"schema": "fairbounds/audit/1"}], ids=str)
@pytest.mark.parametrize("name", ["audit", "explore", "compare"])
def test_an_empty_object_fits_nothing(name: str, data: Json) -> None:
    assert problems(name, data)


# -- the files ---------------------------------------------------------------------------------------------------------


def test_the_schemas_are_those_of_the_code() -> None:
    """If this fails, run scripts/build_schemas.py."""
    place = importlib.util.spec_from_file_location("build_schemas", ROOT / "scripts" / "build_schemas.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    place.loader.exec_module(script)
    made = script.schemas()
    assert {path.name for path in FOLDER.iterdir()} == set(made)
    for name, schema in made.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == script.text(schema), f"{name} is out of date"


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    for target in references(SCHEMAS[name]):
        assert target in {schema["$id"] for schema in SCHEMAS.values()} or target.startswith("#/$defs/")


def references(schema: Json) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"]
        for inner in schema.values():
            yield from references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from references(inner)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_every_link_of_the_docs_leads_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).is_file(), target
