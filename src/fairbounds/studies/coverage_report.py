"""``python -m fairbounds.studies.coverage_report docs/coverage.md``: run the coverage study and write its page."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairbounds.progress import listening
from fairbounds.studies.coverage import LEVELS, Coverage, Method, Study, coverage_study
from fairbounds.studies.coverage_designs import DESIGNS, Asked, Design
from fairbounds.studies.document import Block, Code, Grid, Heading, Paragraph, as_markdown

__all__ = ["GROWING", "SLACK", "main", "page", "shortfalls"]

SLACK = 0.015
GROWING = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
_GROWN = (Design(10, 2, "smooth", "selection", 300, 300), Design(10, 2, "all tied", "selection", 300, 300))
_MOST_LISTED = 8


def shortfalls(study: Study, method: Method) -> list[Coverage]:
    """Return where a method covers the metric, or the set, less often than its level by more than the slack."""
    return [found for found in study.of(method) if min(found.metric, found.whole) < found.level - SLACK]


def page(study: Study, grown: Sequence[Study]) -> list[Block]:
    """Return the page.

    Parameters
    ----------
    study : Study
    grown : sequence of Study
        Of the same designs with more and more rows, the sizes of `GROWING`.
    """
    return [
        Heading(1, "How often the intervals hold the truth"),
        Paragraph(_about(study)),
        Code("make coverage"),
        Heading(2, "What was found"),
        *(Paragraph(_found(study, method)) for method in ("cross-fitted", "median of splits", "exact boxes")),
        Paragraph(_found_of_bootstrap(study)),
        Heading(2, "Coverage and width"),
        Paragraph(_columns()),
        *(_table(study, method) for method in ("cross-fitted", "median of splits", "exact boxes", "bootstrap")),
        Heading(2, "More rows"),
        Paragraph(_rate(grown)),
        _growth(grown),
    ]


def _about(study: Study) -> str:
    strata = sorted({design.strata for design in DESIGNS})
    return (
        f"{len(DESIGNS)} made-up populations of {strata[0]} to {strata[-1]} strata; {study.tables:,} pairs of tables "
        "drawn "
        f"from each (the bootstrap: the first 1,000 of them, 200 resamples each), seed {study.seed}. In a *tied* "
        "stratum a "
        "group is exactly as large as an event, which is where plain methods fail. A metric can have any value "
        "between its "
        "true bounds, and an interval is at its worst where it is one of the two ends: that coverage is shown. The "
        "method is "
        "that of [docs/method.md](method.md), section 14. This page is written by"
    )


def _found(study: Study, method: Method) -> str:
    found, short = study.of(method), shortfalls(study, method)
    worst = min(found, key=lambda one: min(one.metric, one.whole) - one.level)
    excess = [one.width / one.oracle - 1 for one in found if np.isfinite(one.width) and one.asked.form != "ratio"]
    said = (
        f"**{method.capitalize()}.** Least coverage beside its level: {min(worst.metric, worst.whole):.1%} for "
        f"{worst.level:.0%} ({_named(worst)}). "
    )
    if short:
        listed = "; ".join(f"{_named(one)} {min(one.metric, one.whole):.1%} for {one.level:.0%}" for one in short)
        said += f"**Below the level less {SLACK:.1%} in {len(short)} of {len(found)} cases:** {listed}. "
    else:
        said += f"In none of {len(found)} cases (design, metric, level) is it below the level less {SLACK:.1%}. "
    return said + (
        f"Differences, rates and all-group metrics are on average {np.mean(excess):.1%} wider than the oracle's "
        "interval, at "
        f"most {max(excess):.1%}."
    )


def _found_of_bootstrap(study: Study) -> str:
    found, short = study.of("bootstrap"), shortfalls(study, "bootstrap")
    lost = sum(min(one.metric, one.whole) < 0.05 for one in found)
    return (
        f"**Percentile bootstrap.** Below the level less {SLACK:.1%} in {len(short)} of {len(found)} cases, and below "
        "5 % in "
        f"{lost} of them, where it hardly ever holds the truth: the plug-in bounds are sums of minima, biased inwards "
        "at "
        "ties and where strata have few rows, and resampling repeats the bias."
    )


def _named(found: Coverage) -> str:
    return f"{_form(found.asked)}, {found.design.name}"


def _form(asked: Asked) -> str:
    return asked.form.replace("_", " ")


def _columns() -> str:
    return (
        "*90 %* and *95 %*: coverage of the metric / of the whole set by their own intervals. *bounds*: width of the "
        "true "
        "bounds. *oracle*: width of the interval of somebody who knows the best choice in every stratum, though not "
        "the "
        "population. *interval*: median width of the interval for the metric. All widths at 95 %; ∞ has no upper "
        "limit. "
        "Rows: internal, external."
    )


def _table(study: Study, method: Method) -> Grid:
    by_case: dict[tuple[Design, Asked], dict[float, Coverage]] = {}
    for found in study.of(method):
        by_case.setdefault((found.design, found.asked), {})[found.level] = found
    header = ("design", "rows", "metric", *(f"{level:.0%}".replace("%", " %") for level in LEVELS), "bounds", "oracle",
              "interval")  # fmt: skip
    return Grid(method.capitalize(), header, tuple(_row(*case, found) for case, found in by_case.items()))


def _row(design: Design, asked: Asked, found: dict[float, Coverage]) -> tuple[str, ...]:
    last = found[LEVELS[-1]]
    rows = f"{design.internal:,}, {'full count' if design.census else f'{design.external:,}'}"
    shares = (f"{100 * found[level].metric:.1f} / {100 * found[level].whole:.1f}" for level in LEVELS)
    return design.name, rows, _form(asked), *shares, *map(_width, (last.bounds, last.oracle, last.width))


def _width(width: float) -> str:
    return "∞" if width > 1e3 else f"{width:.3f}"


def _rate(grown: Sequence[Study]) -> str:
    rates = []
    for at, design in enumerate(_GROWN):
        gaps = [_gap(study, at) for study in grown]
        slope = np.polyfit(np.log(GROWING), np.log(gaps), 1)[0]
        rates.append(f"n^{slope:.2f} ({design.ties})")
    return (
        "The interval shrinks to the bounds as both tables grow. Beyond the bounds the width of the 95 % interval for "
        "the "
        f"difference falls like {' and '.join(rates)}; −0.5 is the rate of a mean."
    )


def _gap(study: Study, at: int) -> float:
    found = [one for one in study.found if one.level == LEVELS[-1]][at]
    return found.width - found.bounds


def _growth(grown: Sequence[Study]) -> Grid:
    rows = []
    for people, study in zip(GROWING, grown, strict=True):
        found = [one for one in study.found if one.level == LEVELS[-1]]
        rows.append((f"{people:,}", *(_width(one.width - one.bounds) for one in found)))
    header = ("rows of each table", *(f"beyond the bounds, {design.ties}" for design in _GROWN))
    return Grid("Width of the 95 % interval less that of the bounds, 10 strata, difference", header, tuple(rows))


def growing(tables: int, seed: int) -> list[Study]:
    """Return studies of the same designs with more and more rows."""
    found = []
    for people in GROWING:
        designs = [_grown(design, people) for design in _GROWN]
        found.append(coverage_study(tables, seed, designs, ("cross-fitted",), workers=1))
    return found


def _grown(design: Design, people: int) -> Design:
    larger = replace(design, internal=people, external=people, asked=(Asked("difference"),))
    larger.__dict__["truth"] = design.truth  # the same population, whatever the sizes
    return larger


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study and write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int)
    chosen = parser.parse_args(arguments)
    begun = time.monotonic()

    def told(task: str, part: float) -> None:
        print(f"\r{task}: {part:6.1%}, {time.monotonic() - begun:,.0f} s ", end="", file=sys.stderr, flush=True)

    try:
        with listening(told):
            study = coverage_study(chosen.tables, chosen.seed, workers=chosen.workers)
            blocks = page(study, growing(min(chosen.tables, 200), chosen.seed))
    except KeyboardInterrupt:
        print("\nInterrupted; nothing was written.", file=sys.stderr)
        raise SystemExit(130) from None
    chosen.page.write_text(as_markdown(blocks), encoding="utf-8")
    print(f"\n{chosen.page} was written.", file=sys.stderr)


if __name__ == "__main__":
    main()
