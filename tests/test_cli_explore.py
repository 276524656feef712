"""``fairbounds explore``: the object and the text that it prints."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tables_on_disk import EXTERNAL, INTERNAL, command, csv, listing, write

import fairbounds as fb
from fairbounds import cli

Captured: TypeAlias = pytest.CaptureFixture[str]

ROLES = {"protected": "sex", "decision": "approved", "favourable": "yes"}
WEIGHTS = {"internal_weight": "n", "external_weight": "people"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds the two tables."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"internal.csv": INTERNAL, "external.csv": EXTERNAL})
    return tmp_path


def explore(**changes: object) -> list[str]:
    return ["explore", *command(**changes)[1:]]


def found(capsys: Captured, **changes: object) -> dict[str, Any]:
    assert cli.run(explore(**changes)) == 0
    printed, said = capsys.readouterr()
    assert said == ""
    return dict(json.loads(printed))


def test_the_object_is_that_of_the_python_entry(capsys: Captured) -> None:
    printed = found(capsys, draws=2000, chains=16, seed=5)
    expected = fb.explore("internal.csv", "external.csv", **ROLES, **WEIGHTS, draws=2000, chains=16, rng=5)
    assert printed == json.loads(json.dumps(expected.to_dict()))
    assert printed["schema"] == "fairbounds/explore/1"
    assert printed["audit"]["schema"] == "fairbounds/audit/1"
    assert [entry["metric"] for entry in printed["distributions"]] == ["disparate_impact", "demographic_disparity"]


def test_the_mean_is_that_of_the_interval_midpoints(capsys: Captured) -> None:
    """By hand: of the women approved, each job has between max(0, women + approved - all) and min(women, approved)."""
    women = [(9000, 3000, 10000), (7500, 5000, 10000), (800, 14400, 16000)]
    approved = sum(entry[1] for entry in women)
    middle = sum((max(0, w + y - all_) + min(w, y)) / 2 for w, y, all_ in women)
    expected = middle / 17300 - (approved - middle) / 18700
    drawn = found(capsys, metric="demographic_disparity")["distributions"][0]
    assert drawn["exact_mean"] == pytest.approx(expected)
    assert drawn["mean"] == pytest.approx(expected, abs=5 * drawn["standard_error"])
    assert drawn["diagnosis"]["converged"]


def test_a_grid_has_as_many_joints_as_points_to_the_power_of_the_strata(capsys: Captured) -> None:
    drawn = found(capsys, sampling="grid", points=7)["distributions"][0]
    assert (drawn["method"], drawn["draws"]) == ("grid", 7**3)
    assert drawn["settings"]["limits"] == "tight"
    assert found(capsys, sampling="grid", points=7, limits="paper")["distributions"][0]["draws"] < 7**3


def test_coordinates_matter_where_there_are_features(folder: Path, capsys: Captured) -> None:
    lines = (f"nurse,{word},{region},{n}" for word, region, n in (("yes", "n", 3), ("yes", "s", 5), ("no", "n", 9)))
    write(
        folder,
        {"internal.csv": csv("job,approved,region,n", *lines, "driver,yes,s,4", "driver,no,s,4", "teacher,no,s,1")},
    )
    free = {
        coordinates: found(capsys, coordinates=coordinates)["distributions"][0]["settings"]["free_parameters"]
        for coordinates in ("internal", "outcome")
    }
    assert free == {"internal": 3, "outcome": 2}
    assert found(capsys, feature="approved")["distributions"][0]["settings"]["free_parameters"] == 2


def test_a_metric_that_cannot_vary_is_valid_json(folder: Path, capsys: Captured) -> None:
    """Everybody is approved: one joint, and diagnostics of nothing that moves."""
    write(folder, {"internal.csv": csv("job,approved,n", "nurse,yes,3", "driver,yes,3", "teacher,no,1")})
    write(folder, {"external.csv": csv("job,sex,people", "nurse,female,1", "driver,male,2", "teacher,male,1")})
    drawn = found(capsys)["distributions"][0]
    assert drawn["mean"] == pytest.approx(1 / (2 / 3))
    assert cli.run(explore(format=None)) == 0
    assert "Every joint has the value 1.500." in capsys.readouterr().out


def test_a_ratio_that_may_be_infinite_is_valid_json(folder: Path, capsys: Captured) -> None:
    write(folder, {"internal.csv": csv("job,approved,n", "nurse,yes,1", "nurse,no,9", "driver,no,10")})
    write(folder, {"external.csv": csv("job,sex,people", "nurse,female,1", "nurse,male,1", "driver,male,2")})
    drawn = found(capsys, reference="male")["distributions"][0]
    assert drawn["bounds"]["upper"] is None
    assert math.isfinite(drawn["quantiles"]["0.5"])
    assert cli.run(explore(reference="male", format=None)) == 0
    assert "a mean may not exist" in " ".join(capsys.readouterr().out.split())


def test_text_shows_the_distribution_with_bounds_estimates_and_threshold(folder: Path, capsys: Captured) -> None:
    before = listing(folder)
    assert cli.run(explore(format=None, method=["independence", "feasible_mean"], threshold=0.5)) == 0
    printed, said = capsys.readouterr()
    assert said == ""
    assert listing(folder) == before
    text = " ".join(printed.split())
    for part in (
        "every joint equally likely”; they are no probability of discrimination.",
        "joints that fit both tables, drawn at random by 256 chains over 3 free parameters (seed 0).",
        "0.272 to 0.699",
        "Undetermined: the two tables allow values below 0.5 and values of at least 0.5.",
        "Independence estimate 0.509 ± 0.0",
        "Feasible mean estimate 0.460.",
        "0.460 by formula",
        "of them lie below 0.5.",
    ):
        assert part in text
    assert any(set(line.strip()) <= set("▁▂▃▄▅▆▇█ ") and "█" in line for line in printed.splitlines())


def test_chains_that_have_not_met_are_told(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairbounds.sampling.walking._MOST_SWAPS", 1)
    monkeypatch.setattr("fairbounds.sampling.walking._AGREED", 0.5)  # which no chains can meet
    assert cli.run(explore(format=None, draws=40, chains=4)) == 0
    assert "Not settled: the " in " ".join(capsys.readouterr().out.split())
