"""docs/reproducing.md is what the code writes: parts of it are computed again, and its shape is that of any run."""

from __future__ import annotations

import os
import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from fairbounds.studies.chapters.simulation import SimulationResults, simulation_chapter
from fairbounds.studies.document import Block, Grid, Heading, Illustration, as_markdown
from fairbounds.studies.real_feasible import feasible_real
from fairbounds.studies.reporting import Reproduction, reproduce
from fairbounds.studies.runs import Effort
from fairbounds.studies.simulation_study import distortion_effect, repeat, simulate
from fairbounds.studies.structural import CHOICES

for library in ("sklearn", "altair", "vl_convert"):
    if os.environ.get("CI"):
        __import__(library)
    pytest.importorskip(library)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = (DOCS / "reproducing.md").read_text(encoding="utf-8")
RENEW = "is not what the code writes; run `python scripts/build_reproducing.py`"


@pytest.fixture(scope="module")
def small() -> Reproduction:
    return reproduce("all", 0, Effort(trials=4, studies=2, splits=2, bootstraps=20, largest=1, draws=500))


def blocks_of(made: Reproduction, kind: type[Block]) -> list[Block]:
    return [block for block in made.findings() if isinstance(block, kind)]


def test_the_page_is_that_of_the_full_run() -> None:
    assert f"```sh\n{Reproduction('all', 0, Effort(), 'mirrored', ()).command}\n```" in PAGE
    assert 'pip install "fairbounds[studies]"' in PAGE


def test_every_heading_table_and_choice_of_a_run_is_on_the_page(small: Reproduction) -> None:
    for block in blocks_of(small, Heading):
        assert f"{'#' * block.level} {block.text}\n" in PAGE, f"{block.text!r}: the page {RENEW}"
    for block in blocks_of(small, Grid):
        assert as_markdown([block]).splitlines()[2] in PAGE, f"{block.caption!r}: the page {RENEW}"
    for chapter in small.chapters:
        for text in chapter.plainly:
            assert f"**{text.split('**')[1]}**" in PAGE, f"{text[:60]!r}: the page {RENEW}"
        for topic, _ in chapter.choices:
            assert f"| {topic} |" in PAGE, f"{topic}: the page {RENEW}"
    for choice in CHOICES:
        assert choice.chosen.replace("|", r"\|") in PAGE, f"{choice.topic}: the page {RENEW}"


def test_every_figure_is_there_and_no_other(small: Reproduction) -> None:
    names = {block.name for block in blocks_of(small, Illustration)}
    assert {path.stem for path in (DOCS / "reproducing").iterdir()} == names
    assert set(re.findall(r"\]\(reproducing/([\w-]+)\.svg\)", PAGE)) == names
    for name in names:
        drawing = (DOCS / "reproducing" / f"{name}.svg").read_text(encoding="utf-8")
        assert drawing.startswith("<svg role=")
        described = re.search(rf"!\[(.+)\]\(reproducing/{name}\.svg\)", PAGE)
        assert described is not None
        assert described[1][:40] in drawing.replace("&amp;", "&")


def test_the_simulation_on_the_page_comes_out_again() -> None:
    study = simulate(1000, 0)
    sizes = {"studies": 2, "trials": 20}
    chapter = simulation_chapter(
        SimulationResults(study, repeat(**sizes), repeat(**sizes, design="independent"), distortion_effect(1))
    )
    (table,) = [b for b in chapter.blocks if isinstance(b, Grid) and b.caption.startswith("This run")]
    assert as_markdown([table]).strip() in PAGE, f"the page {RENEW}"
    for shown in chapter.illustrations:
        drawing = (DOCS / "reproducing" / f"{shown.name}.svg").read_text(encoding="utf-8")
        assert drawing == shown.figure.svg, f"{shown.name}.svg {RENEW}"


def test_the_real_data_on_the_page_come_out_again() -> None:
    for row in zip(*feasible_real(0).beside_expected().values(), strict=True):
        assert f"{row[-2]:.6f}".replace("-", "−") in PAGE, f"{row}: the page {RENEW}"


def test_the_script_writes_what_was_made(small: Reproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "build_reproducing.py"))
    write: Callable[[Reproduction], None] = script["write"]
    monkeypatch.setitem(write.__globals__, "DOCS", tmp_path)
    write(small)
    text = (tmp_path / "reproducing.md").read_text(encoding="utf-8")
    assert text.split("```")[:2] == PAGE.split("```")[:2]
    linked = re.findall(r"\]\((reproducing/[^)]+)\)", text)
    assert len(linked) == len(list((tmp_path / "reproducing").iterdir())) == 11
    assert all((tmp_path / place).is_file() for place in linked)
