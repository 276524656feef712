"""The distribution of every metric over the feasible set, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from rich.console import Console
from rich.text import Text

from fairbounds.report.bars import histogram
from fairbounds.report.layout import Section, estimate_methods, sections
from fairbounds.report.page import INDENT, Page
from fairbounds.report.parts import MOST_SHOWN, Rows, close, facts, head, legend, more, say, title, warnings_pointer
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.spreads import how_drawn, off_scale, spread_sentences
from fairbounds.results import Draws, Exploration, Label

__all__ = ["print_exploration"]

_MOST_OF_THEM = 0.99

Spreads: TypeAlias = Mapping[tuple[str, Label | None, Label | None], Draws]


def print_exploration(exploration: Exploration, console: Console) -> None:
    """Print an exploration for a reader at a terminal.

    Parameters
    ----------
    exploration : Exploration
    console : rich.console.Console

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "a", "b", "b"], "ok": [1, 0, 1, 0]}
    >>> external = {"job": ["a", "a", "b"], "sex": ["F", "M", "M"]}
    >>> found = fb.explore(internal, external, protected="sex", decision="ok", sampling="grid", points=20)
    >>> print_exploration(found, Console(width=80))  # doctest: +ELLIPSIS
    FAIRNESS EXPLORATION
    ...
    """
    audit, page = exploration.audit, Page(console)
    title(page, SENTENCES["exploration_title"])
    page.line(SENTENCES["equally_likely"])
    page.line(SENTENCES["as_possible"])
    warnings_pointer(page, audit)
    facts(page, audit)
    _distributions(page, exploration)
    close(page, audit)


def _distributions(page: Page, exploration: Exploration) -> None:
    page.heading(WORDS["distributions"])
    if not exploration.distributions:
        page.line(SENTENCES["no_draws"], INDENT)
        return
    page.line(how_drawn(exploration.distributions[0]), INDENT)
    found = sections(exploration.audit, None, MOST_SHOWN, _reach(exploration.distributions))
    signs = page.glyphs.signs(estimate_methods(found))
    page.line(f"{page.glyphs.heights[:: len(page.glyphs.heights) // 3 + 1]} {SENTENCES['legend_heights']}", INDENT)
    legend(page, found, signs)
    spreads = {(draws.metric, draws.group, draws.reference): draws for draws in exploration.distributions}
    for section in found:
        head(page, section)
        _section(page, section, spreads, signs)
        more(page, section, "more_drawn")


def _reach(distributions: Sequence[Draws]) -> dict[str, float]:
    """Return how far up the draws of each metric lie, but for the highest few."""
    found: dict[str, float] = {}
    for draws in distributions:
        values = draws.defined[np.isfinite(draws.defined)]
        if values.size:
            found[draws.metric] = max(found.get(draws.metric, -np.inf), float(np.quantile(values, _MOST_OF_THEM)))
    return found


def _section(page: Page, section: Section, spreads: Spreads, signs: Mapping[str, str]) -> None:
    rows, scale = Rows(page, section), section.scale
    rows.axis()
    for at, finding in enumerate(rows.shown):
        draws = spreads[finding.metric, finding.group, finding.reference]
        for line in histogram(draws.defined, finding.bounds, scale, rows.width, page.glyphs):
            rows.above(Text(line, style=rows.style(finding)))
        rows.bar(at, signs)
        rows.judge(finding)
        say(page, [*spread_sentences(finding, draws, *scale.limits), *off_scale(draws, scale)])
