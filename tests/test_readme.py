"""The README's examples run as printed, and the numbers, options and files that it names are real."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
[PYTHON] = [block for language, block in BLOCKS if language == "python"]
MAKE, SHELL = [block for language, block in BLOCKS if language == "sh"]
[COMMAND] = [line for line in SHELL.splitlines() if line.startswith("fairbounds ")]

START = "from fairbounds.cli import main; main()"


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, without a script on the path."""
    return subprocess.run(
        [sys.executable, "-c", START, *arguments], cwd=cwd, check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder where the shell example has run, with what it printed in ``printed``."""
    folder = tmp_path_factory.mktemp("readme")
    script = folder / "bin" / "fairbounds"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{START}" "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", SHELL],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout)
    return folder


def ratio(audit: dict[str, Any]) -> dict[str, Any]:
    """Return the one finding that the README speaks about."""
    [found] = [
        entry
        for entry in audit["findings"]
        if entry["metric"] == "disparate_impact" and str(entry["group"]).lower() == "female"
    ]
    return dict(found)


def words(text: str) -> str:
    return " ".join(re.sub(r"[*`]", "", text).split())


def test_the_shell_example_prints_the_answer_it_describes(folder: Path) -> None:
    printed = words((folder / "printed").read_text())
    assert "0.282 and 0.717" in printed
    assert "below" in printed


def test_the_numbers_of_the_shell_example_are_right(folder: Path) -> None:
    """By hand, in each job: women are approved at least max(0, women + approved - all), at most min(women, approved).

    As shares of the census (48,000): women 19,300, men 28,700.
    """
    done = run(*shlex.split(COMMAND)[1:], "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = ratio(json.loads(done.stdout))
    women = (2_000 + 2_500 + 0 + 800, 3_000 + 5_000 + 800 + 2_000)
    men = (0 + 0 + 13_600 + 8_800, 1_000 + 2_500 + 14_400 + 10_000)
    by_hand = (women[0] / 19_300 / (men[1] / 28_700), women[1] / 19_300 / (men[0] / 28_700))
    independent = (9 * 0.3 + 7.5 * 0.5 + 0.8 * 0.9 + 2 * 0.9) / 19.3
    independent /= (1 * 0.3 + 2.5 * 0.5 + 15.2 * 0.9 + 10 * 0.9) / 28.7
    assert (found["bounds"]["lower"], found["bounds"]["upper"]) == pytest.approx(by_hand, rel=1e-9)
    assert found["estimates"]["independence"] == pytest.approx(independent, rel=1e-9)
    assert found["verdict"] == "below"
    assert f"between {by_hand[0]:.2f} and {by_hand[1]:.2f}" in words(README)
    assert f"interval of {found['interval']['lower']:.2f} to {found['interval']['upper']:.2f}" in words(README)
    assert f"it is {independent:.2f}" in words(README)


def test_the_python_example_prints_the_bounds_it_describes(tmp_path: Path) -> None:
    report = "import json, pathlib\npathlib.Path('audit.json').write_text(json.dumps(audit.to_dict()))\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PYTHON + report],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "0.35" in done.stdout
    found = ratio(json.loads((tmp_path / "audit.json").read_text()))
    published = (0.350284, 0.746892)  # computed independently of the project
    assert (found["bounds"]["lower"], found["bounds"]["upper"]) == pytest.approx(published, abs=1e-6)
    assert "between 0.35 and 0.75 times" in words(README)
    assert "known, and is 0.42" in words(README)


def test_the_people_of_the_command_in_the_text_are_those_asked_for(folder: Path) -> None:
    [command] = re.findall(r"`fairbounds (synthesize [^`]+)`", README)
    done = run(*shlex.split(command), cwd=folder)
    assert done.returncode == 0, done.stderr
    header, *people = (folder / "people.csv").read_text().splitlines()
    assert (header, len(people)) == ("job,approved,sex", 1_000)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("", 0),
        ("--gate", 1),
        ("--gate --threshold 0.2", 0),
        ("--gate --threshold 0.5", 3),
        ("--protected sexe", 2),
    ],
)
def test_exit_codes_are_those_of_the_table(folder: Path, options: str, code: int) -> None:
    done = run(*shlex.split(COMMAND)[1:], "--metric", "disparate_impact", *options.split(), cwd=folder)
    assert done.returncode == code, done.stdout + done.stderr
    assert f"| {code} | " in README


def test_every_option_named_exists(tmp_path: Path) -> None:
    helps = [run(command, "--help", cwd=tmp_path).stdout for command in ("audit", "synthesize")]
    known = set(re.findall(r"--[a-z-]+", "".join(helps)))
    named = set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", README))
    assert named
    assert named <= known


def test_every_make_target_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", MAKE, flags=re.MULTILINE)
    assert targets == ["demo", "test"]
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_link_leads_to_a_file(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", (ROOT / page).read_text(encoding="utf-8")):
        assert (ROOT / target).is_file(), target
