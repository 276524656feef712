"""docs/report.md: its example runs, and the figures and views that it names are those there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairbounds.plots.showing import FIGURES
from fairbounds.report.phrases_law import VIEWS

TEXT = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"^```python\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    exec(EXAMPLE, {})
    assert (tmp_path / "audit.html").read_text("utf-8").startswith("<!doctype html>")
    assert (tmp_path / "region.svg").read_text("utf-8").startswith("<svg")
    assert "disparate_impact  0.350284  0.746892" in capsys.readouterr().out


def test_every_figure_and_view_is_listed() -> None:
    named = set(re.findall(r"^\| `(\w+)` \|", TEXT, flags=re.MULTILINE))
    alone = {"interval", "estimate"}  # of one result by itself
    assert named == {name for figures in FIGURES.values() for name in figures} - alone
    for title, _, _ in VIEWS.values():
        assert title.split(":")[0].split(" on ")[0].replace("Artificial Intelligence", "AI") in TEXT
