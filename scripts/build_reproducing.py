"""Write docs/reproducing.md and its figures from one real run: ``python scripts/build_reproducing.py``, some minutes.

Everything on the page, every number included, comes from the run. tests/studies/test_reproduction.py computes
parts of it again.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from fairbounds.studies.document import Block, Code, Heading, Paragraph, Places, as_markdown
from fairbounds.studies.reporting import Reproduction, reproduce

DOCS = Path(__file__).parent.parent / "docs"
PAGE, FIGURES = "reproducing.md", "reproducing"
PLACES = Places(figures=FIGURES, data=None, fold=40)

HOW: tuple[Block, ...] = (
    Heading(2, "How to run it"),
    Paragraph(
        "The studies need drawing and decision trees, which the extra `studies` brings; data are embedded, and "
        "nothing is fetched. The folder then holds this page as `summary.html` and `summary.md`, the main figures "
        "for programs as `summary.json`, every figure as SVG and PNG, and every table as CSV."
    ),
    Code('pip install "fairbounds[studies]"\nfairbounds reproduce all --out reproduction'),
    Paragraph(
        "`fairbounds reproduce simulation` (with the stress test), `stress`, `feasible` or `structural` computes a "
        "part. `--trials 50` makes everything smaller, for a first look; `--design independent` draws the simulated "
        "classifiers the other way; `--seed` gives another run. This page is written by "
        "`scripts/build_reproducing.py` and not by hand."
    ),
)


def page(made: Reproduction) -> str:
    run = (Paragraph("What follows is the run of this line:"), Code(made.command))
    return as_markdown((*made.source(), *HOW, *run, *made.findings()), PLACES)


def write(made: Reproduction) -> None:
    (DOCS / PAGE).write_text(page(made), encoding="utf-8")
    shutil.rmtree(DOCS / FIGURES, ignore_errors=True)
    (DOCS / FIGURES).mkdir()
    for chapter in made.chapters:
        for shown in chapter.illustrations:
            (DOCS / FIGURES / f"{shown.name}.svg").write_text(shown.figure.svg, encoding="utf-8")


if __name__ == "__main__":
    write(reproduce())
