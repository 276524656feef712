"""Every table and figure of the paper from one call: studies run, chapters put together, the folder written."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fairbounds.errors import MissingDependencyError, ProblemError
from fairbounds.plots import require_drawing
from fairbounds.progress import report
from fairbounds.studies.chapters.feasible import feasible_chapter
from fairbounds.studies.chapters.parts import Chapter
from fairbounds.studies.chapters.simulation import SimulationResults, simulation_chapter
from fairbounds.studies.chapters.stress import stress_chapter
from fairbounds.studies.chapters.structural import structural_chapter
from fairbounds.studies.common_sets import common_sets
from fairbounds.studies.document import Block, Bullets, Code, Grid, Heading, Paragraph, as_html, as_markdown
from fairbounds.studies.real_feasible import feasible_real
from fairbounds.studies.runs import DESIGNS, Effort, Part, ShownDesign, parts_of
from fairbounds.studies.simulation_study import distortion_effect, repeat, simulate
from fairbounds.studies.stress import stress
from fairbounds.studies.structural import structural
from fairbounds.studies.writing import LISTED, SUMMARY, csv_text, json_text, refuse_folder, whole_folder, write_text

__all__ = ["Reproduction", "reproduce", "write_reproduction"]

SCHEMA = "fairbounds/reproduction/1"
TITLE = "Reproducing the paper"
KNOWN = "What the reader must know"
BESIDE = "Beside the paper"

_PACKED = "simulation-scenarios"  # a row for each of 25,000 scenarios
_ENOUGH_TRIALS = 100  # to show that the distortion changes nothing


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All chapters, and how they were made.

    Attributes
    ----------
    what : str
        A name in ``RUNS``.
    seed : int
    effort : Effort
    design : {"mirrored", "independent"}
    chapters : tuple of Chapter
    """

    what: str
    seed: int
    effort: Effort
    design: ShownDesign
    chapters: tuple[Chapter, ...]

    @property
    def command(self) -> str:
        """The line that repeats it."""
        words = f"fairbounds reproduce {self.what} --seed {self.seed} --trials {self.effort.trials}"
        if self.effort != Effort.of(self.effort.trials):
            words += f" --splits {self.effort.splits}"
        return words if self.design == DESIGNS[0] else f"{words} --design {self.design}"

    def source(self) -> tuple[Block, ...]:
        """Return the title, and what is reproduced."""
        return (
            Heading(1, TITLE),
            Paragraph(
                "V. Ramineni, H. A. Rahmani, E. Yilmaz, D. Barber (2025), *Beyond Internal Data: Bounding and "
                "Estimating Fairness from Incomplete Data*, arXiv:2508.13040. Its tables and figures, computed again "
                f"by fairbounds {version('fairbounds')} with the words of the paper: DI is the ratio and DD the "
                "difference of two groups' rates, s an internal, o a common and e a protected variable."
            ),
        )

    def beside_paper(self) -> tuple[Block, ...]:
        """Return what the reader must know, and the tables beside the paper's."""
        known = [said for chapter in self.chapters for said in chapter.plainly]
        grids = [grid for chapter in self.chapters for grid in chapter.beside]
        blocks: list[Block] = [Heading(2, KNOWN), Bullets(tuple(known))]
        return (*blocks, Heading(2, BESIDE), *grids) if grids else tuple(blocks)

    def findings(self) -> tuple[Block, ...]:
        """Return what was found, and the choices that were made."""
        choices = dict(choice for chapter in self.chapters for choice in chapter.choices)
        return (
            *self.beside_paper(),
            *(block for chapter in self.chapters for block in chapter.blocks),
            Heading(2, "Choices"),
            Paragraph(
                "None was made for the figures it gives, but for how the classifiers of the simulation are drawn."
            ),
            Grid("What the paper leaves open, and what was done here", ("topic", "choice"), tuple(choices.items())),
        )

    def document(self) -> tuple[Block, ...]:
        """Return the whole report."""
        return (
            *self.source(),
            Paragraph("This folder is what the following line writes; the same line gives the same bytes."),
            Code(self.command),
            *self.findings(),
            Heading(2, "Files"),
            Bullets(
                (
                    "`summary.json`: the main figures, for other programs.",
                    "`figures/`: every figure as SVG and PNG.",
                    "`data/`: what is drawn in each figure under the figure's name, and every table in full.",
                )
            ),
        )

    def summary(self) -> dict[str, Any]:
        """Return the main figures, JSON-ready."""
        made = {"schema": SCHEMA, "fairbounds": version("fairbounds"), "command": self.command, "seed": self.seed}
        return {**made, **{name: part for chapter in self.chapters for name, part in chapter.summary.items()}}

    def files(self) -> Iterator[tuple[str, str | bytes]]:
        """Make every file but ``summary.json``, name and content."""
        shown = [figure for chapter in self.chapters for figure in chapter.illustrations]
        for at, figure in enumerate(shown):
            report("drawing figures", at / len(shown))
            yield f"figures/{figure.name}.svg", figure.figure.svg
            yield f"figures/{figure.name}.png", figure.figure.png
            yield f"data/{figure.name}.csv", csv_text(figure.data)
        for chapter in self.chapters:
            for name, columns in chapter.tables.items():
                if name == _PACKED:
                    yield f"data/{name}.csv.gz", gzip.compress(csv_text(columns).encode(), mtime=0)
                else:
                    yield f"data/{name}.csv", csv_text(columns)
        document = self.document()
        yield "summary.md", as_markdown(document)
        yield "summary.html", as_html(document, TITLE)
        report("drawing figures", 1.0)


def reproduce(
    what: str = "all", seed: int = 0, effort: Effort | None = None, design: ShownDesign = "mirrored"
) -> Reproduction:
    """Run the studies and write their chapters.

    Parameters
    ----------
    what : {"all", "simulation", "stress", "feasible", "structural"}
        ``simulation`` has the stress test with it.
    seed : int
        The same seed gives the same figures.
    effort : Effort, optional
    design : {"mirrored", "independent"}
        How the simulated classifiers are drawn; the other design stands beside it.

    Examples
    --------
    >>> made = reproduce("stress", effort=Effort.of(4))
    >>> made.command, [figure.name for figure in made.chapters[0].illustrations]
    ('fairbounds reproduce stress --seed 0 --trials 4', ['stress-coverage', 'stress-errors'])
    """
    effort = Effort() if effort is None else effort
    if design not in DESIGNS:
        raise ProblemError(f"there is no design {design!r}; there are {', '.join(DESIGNS)}")
    parts = parts_of(what)
    _require(parts)
    return Reproduction(what, seed, effort, design, tuple(_CHAPTERS[part](seed, effort, design) for part in parts))


def write_reproduction(
    folder: str | Path,
    what: str = "all",
    seed: int = 0,
    effort: Effort | None = None,
    design: ShownDesign = "mirrored",
) -> Reproduction:
    """Run the studies and write everything into a folder, which appears when it is whole.

    Parameters
    ----------
    folder : str or Path
        A folder that an earlier run wrote is replaced; any other that is not empty is refused.
    what, seed, effort, design
        As for `reproduce`.
    """
    target = Path(folder).expanduser().resolve()
    refuse_folder(target)
    made = reproduce(what, seed, effort, design)
    with whole_folder(target) as unfinished:
        names = write_text(unfinished, made.files())
        write_text(unfinished, [(SUMMARY, json_text({**made.summary(), LISTED: sorted(names)}))])
    return made


def _require(parts: Sequence[Part]) -> None:
    """Say what to install before any work is lost."""
    require_drawing()
    if {"feasible", "structural"} & set(parts) and find_spec("sklearn") is None:
        raise MissingDependencyError.extra("scikit-learn", "studies", "reproducing the real data")


def _simulation(seed: int, effort: Effort, design: ShownDesign) -> Chapter:
    trials, (other,) = effort.trials, set(DESIGNS) - {design}
    return simulation_chapter(
        SimulationResults(
            simulate(trials, seed, design=design),
            repeat(effort.studies, trials, seed, design=design),
            repeat(effort.studies, trials, seed, design=other),
            distortion_effect(min(_ENOUGH_TRIALS, trials), seed, design=design),
        )
    )


def _stress(seed: int, effort: Effort, _: ShownDesign) -> Chapter:
    return stress_chapter(stress(effort.trials, seed))


def _feasible(seed: int, effort: Effort, _: ShownDesign) -> Chapter:
    return feasible_chapter(feasible_real(seed), common_sets(seed, effort.largest, effort.draws))


def _structural(seed: int, effort: Effort, _: ShownDesign) -> Chapter:
    return structural_chapter(structural(effort.splits, seed, effort.bootstraps))


_CHAPTERS: dict[Part, Callable[[int, Effort, ShownDesign], Chapter]] = {
    "simulation": _simulation,
    "stress": _stress,
    "feasible": _feasible,
    "structural": _structural,
}
