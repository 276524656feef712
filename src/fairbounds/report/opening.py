"""The opening paragraph: how wide the bounds are, then what they leave open, then what they show."""

from __future__ import annotations

import math

from fairbounds.report.layout import Section, is_ratio
from fairbounds.report.numbers import count
from fairbounds.report.phrases import SENTENCES
from fairbounds.report.sentences import Spell, answer, comparison, value
from fairbounds.results import Audit, Finding

__all__ = ["is_wide", "opening"]

_WIDE_FACTOR = 2.0
_WIDE_DIFFERENCE = 0.2


def opening(audit: Audit, sections: list[Section], spell: Spell) -> list[str]:
    """Return the sentences of the opening paragraph.

    Parameters
    ----------
    audit : Audit
    sections : list of Section
    spell : callable
        Makes a name fit to show.
    """
    return [*_width(sections, spell), *answer(audit, sections, spell)]


def is_wide(finding: Finding) -> bool:
    """Whether the bounds of a comparison say little: a ratio open by a factor of two, a difference by 20 points.

    Parameters
    ----------
    finding : Finding

    Examples
    --------
    >>> from fairbounds.results import Bounds
    >>> ends = [(0.4, 0.7), (0.3, 0.9), (0.0, 0.1), (0.5, math.inf)]
    >>> [is_wide(Finding("disparate_impact", "F", "M", Bounds("", "F", "M", *pair), (), "below", 0.8)) for pair in ends]
    [False, True, True, True]
    """
    return _openness(finding) > 1


def _openness(finding: Finding) -> float:
    """Return how far apart the ends are, as a multiple of what is still narrow."""
    lower, upper = finding.bounds.lower, finding.bounds.upper
    if lower is None or upper is None or lower == upper:
        return 0.0
    if not is_ratio(finding.metric, finding.threshold):
        return (upper - lower) / _WIDE_DIFFERENCE
    return math.inf if lower <= 0 else upper / lower / _WIDE_FACTOR


def _width(sections: list[Section], spell: Spell) -> list[str]:
    judged = [(section, finding) for section in sections for finding in section.findings if finding.verdict is not None]
    wide = [pair for pair in judged if is_wide(pair[1])]
    if not wide:
        return []
    section, worst = max(wide, key=lambda pair: _openness(pair[1]))
    title, limits = comparison(section, worst, spell), section.scale.limits
    low, high = value(worst.bounds.lower, *limits), value(worst.bounds.upper, *limits)
    key = "wide_open" if worst.bounds.upper == math.inf else "wide_one"
    said = [SENTENCES[key].format(subject=title[:1].lower() + title[1:], low=low, high=high)]
    more = len(wide) - 1
    if more:
        has = SENTENCES["has" if more == 1 else "have"]
        said.append(SENTENCES["wide_more"].format(comparisons=f"{count(more, 'more comparison')} {has}"))
    return said
