"""Every table and figure of the paper from one call: studies run, chapters put together, the folder written."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from fairbounds.errors import MissingDependencyError, ProblemError, nearest
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
from fairbounds.studies.simulation_study import distortion_effect, repeat, simulate
from fairbounds.studies.stress import stress
from fairbounds.studies.structural import structural
from fairbounds.studies.writing import LISTED, SUMMARY, csv_text, json_text, refuse_folder, whole_folder, write_text

__all__ = ["PARTS", "Effort", "Part", "Reproduction", "reproduce", "write_reproduction"]

Part: TypeAlias = Literal["simulation", "stress", "feasible", "structural"]
PARTS: tuple[Part, ...] = get_args(Part)

SCHEMA = "fairbounds/reproduction/1"
TITLE = "Reproducing the paper"
KNOWN = "What the reader must know"
BESIDE = "Beside the paper"

_FULL_TRIALS = 1_000
_FULL_SPLITS = 20
_PACKED = "simulation-scenarios"  # a row for each of 25,000 scenarios


@dataclass(frozen=True)
class Effort:
    """How much is computed; the paper's own sizes by default, everything smaller with fewer trials.

    Attributes
    ----------
    trials : int
        Of each simulated study, and of each setting of the stress test.
    studies : int
        Repetitions of the simulated study.
    splits, bootstraps : int
        Of the structural estimates.
    largest : int
        Most common variables in a set.
    draws : int
        Of the feasible set with all categories.
    """

    trials: int = _FULL_TRIALS
    studies: int = 40
    splits: int = _FULL_SPLITS
    bootstraps: int = 1_000
    largest: int = 3
    draws: int = 10_000

    @classmethod
    def of(cls, trials: int = _FULL_TRIALS, splits: int | None = None) -> Effort:
        """Scale everything with the number of trials, up to the paper's sizes.

        Examples
        --------
        >>> Effort.of() == Effort(), Effort.of(50)
        (True, Effort(trials=50, studies=40, splits=2, bootstraps=50, largest=1, draws=2000))
        """
        if trials < 2:
            raise ProblemError(f"a reproduction needs at least 2 trials, not {trials}")
        part = min(1.0, trials / _FULL_TRIALS)
        return cls(
            trials=trials,
            splits=max(2, round(_FULL_SPLITS * part)) if splits is None else splits,
            bootstraps=max(20, round(1_000 * part)),
            largest=max(1, round(3 * part)),
            draws=max(2_000, round(10_000 * part)),
        )


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All chapters, and how they were made.

    Attributes
    ----------
    parts : tuple of str
    seed : int
    effort : Effort
    chapters : tuple of Chapter
    """

    parts: tuple[Part, ...]
    seed: int
    effort: Effort
    chapters: tuple[Chapter, ...]

    @property
    def command(self) -> str:
        """The line that repeats it."""
        parts = "all" if self.parts == PARTS else " ".join(self.parts)
        splits = "" if self.effort == Effort.of(self.effort.trials) else f" --splits {self.effort.splits}"
        return f"fairbounds reproduce {parts} --seed {self.seed} --trials {self.effort.trials}{splits}"

    def beside_paper(self) -> tuple[Block, ...]:
        """Return what the reader must know, and the tables beside the paper's."""
        known = [said for chapter in self.chapters for said in chapter.plainly]
        grids = [grid for chapter in self.chapters for grid in chapter.beside]
        blocks: list[Block] = [Heading(2, KNOWN), Bullets(tuple(known))]
        return (*blocks, Heading(2, BESIDE), *grids) if grids else tuple(blocks)

    def document(self) -> tuple[Block, ...]:
        """Return the whole report."""
        choices = dict(choice for chapter in self.chapters for choice in chapter.choices)
        return (
            Heading(1, TITLE),
            Paragraph(
                "V. Ramineni, H. A. Rahmani, E. Yilmaz, D. Barber (2025), *Beyond Internal Data: Bounding and "
                "Estimating Fairness from Incomplete Data*, arXiv:2508.13040. Its tables and figures, computed again "
                f"by fairbounds {version('fairbounds')} with the words of the paper: DI is the ratio and DD the "
                "difference of two groups' rates. This folder is what the following line writes; the same line gives "
                "the same bytes."
            ),
            Code(self.command),
            *self.beside_paper(),
            *(block for chapter in self.chapters for block in chapter.blocks),
            Heading(2, "Choices"),
            Paragraph("What the paper leaves open, and what was done here. None was chosen for the figures it gives."),
            Grid("Choices", ("topic", "choice"), tuple(choices.items())),
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


def reproduce(parts: Sequence[Part] = PARTS, seed: int = 0, effort: Effort | None = None) -> Reproduction:
    """Run the studies and write their chapters.

    Parameters
    ----------
    parts : sequence of str
        Some of ``simulation``, ``stress``, ``feasible`` and ``structural``.
    seed : int
        The same seed gives the same figures.
    effort : Effort, optional

    Examples
    --------
    >>> made = reproduce(["stress"], effort=Effort.of(4))
    >>> made.command, [figure.name for figure in made.chapters[0].illustrations]
    ('fairbounds reproduce stress --seed 0 --trials 4', ['stress-coverage', 'stress-errors'])
    """
    effort = Effort() if effort is None else effort
    for part in parts:
        if part not in PARTS:
            raise ProblemError(f"there is no study {part!r}{nearest(part, PARTS)}; there are {', '.join(PARTS)}")
    chosen = tuple(part for part in PARTS if part in parts)
    _require(chosen)
    return Reproduction(chosen, seed, effort, tuple(_CHAPTERS[part](seed, effort) for part in chosen))


def write_reproduction(
    folder: str | Path, parts: Sequence[Part] = PARTS, seed: int = 0, effort: Effort | None = None
) -> Reproduction:
    """Run the studies and write everything into a folder, which appears when it is whole.

    Parameters
    ----------
    folder : str or Path
        A folder that an earlier run wrote is replaced; any other that is not empty is refused.
    parts, seed, effort
        As for `reproduce`.
    """
    target = Path(folder).expanduser().resolve()
    refuse_folder(target)
    made = reproduce(parts, seed, effort)
    with whole_folder(target) as unfinished:
        names = write_text(unfinished, made.files())
        write_text(unfinished, [(SUMMARY, json_text({**made.summary(), LISTED: sorted(names)}))])
    return made


def _require(parts: Sequence[Part]) -> None:
    """Say what to install before any work is lost."""
    require_drawing()
    if {"feasible", "structural"} & set(parts) and find_spec("sklearn") is None:
        raise MissingDependencyError.extra("scikit-learn", "studies", "reproducing the real data")


def _simulation(seed: int, effort: Effort) -> Chapter:
    sizes = {"trials": effort.trials, "seed": seed}
    return simulation_chapter(
        SimulationResults(
            simulate(**sizes),
            repeat(effort.studies, **sizes),
            repeat(effort.studies, **sizes, design="independent"),
            distortion_effect(**{**sizes, "trials": min(100, effort.trials)}),
        )
    )


def _stress(seed: int, effort: Effort) -> Chapter:
    return stress_chapter(stress(effort.trials, seed))


def _feasible(seed: int, effort: Effort) -> Chapter:
    return feasible_chapter(feasible_real(seed), common_sets(seed, effort.largest, effort.draws))


def _structural(seed: int, effort: Effort) -> Chapter:
    return structural_chapter(structural(effort.splits, seed, effort.bootstraps))


_CHAPTERS: dict[Part, Callable[[int, Effort], Chapter]] = {
    "simulation": _simulation,
    "stress": _stress,
    "feasible": _feasible,
    "structural": _structural,
}
