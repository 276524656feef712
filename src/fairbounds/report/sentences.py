"""What a report says: the fixed text of `phrases`, filled in from an audit.

Names that a user chose pass through a `Spell`, which makes them fit to show where the sentence will stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairbounds.report.layout import Section, is_ratio
from fairbounds.report.numbers import SAME, count, exact, number
from fairbounds.report.phrases import AGAINST, CLAIMS, ESTIMATES, FORMS, METRICS, OF, RATES, SENTENCES, WORDS
from fairbounds.results import Audit, Bounds, Estimate, Finding, Label

__all__ = [
    "Said",
    "Spell",
    "Tone",
    "answer",
    "badge",
    "caveats",
    "comparison",
    "estimate_legend",
    "estimate_name",
    "estimate_sentence",
    "footnotes",
    "interval_sentences",
    "metric_gloss",
    "metric_title",
    "section_title",
    "sharpness",
    "span",
    "truth_sentence",
    "value",
    "value_sentences",
    "verdict",
    "warning_count",
]

Spell: TypeAlias = Callable[[object], str]
Tone: TypeAlias = Literal["differs", "meets", "open", "plain"]


def _say(key: str, **parts: object) -> str:
    return SENTENCES[key].format(**parts)


# -- metrics -----------------------------------------------------------------------------------------------------------


def _parts(metric: str) -> tuple[str, str]:
    """Return a metric's rate and form; a metric of the user's own may have neither."""
    if metric in METRICS:
        form = {"demographic_disparity": "difference", "disparate_impact": "ratio"}.get(metric, metric)
        return "selection", form
    stem, _, form = metric.rpartition("_")
    return (stem, form) if form in FORMS else (metric, "")


def _rate(stem: str) -> dict[str, str]:
    own = f"{stem.replace('_', ' ')} rate"
    rate, rates, about = RATES.get(stem, (own, f"{own}s", ""))
    return {"rate": rate, "rates": rates, "about": about}


def metric_title(metric: str) -> str:
    """Name a metric.

    Examples
    --------
    >>> metric_title("disparate_impact"), metric_title("true_positive_difference"), metric_title("base_rate")
    ('Disparate impact', 'True positive rate difference', 'Base rate')
    """
    if metric in METRICS:
        return METRICS[metric][0]
    stem, form = _parts(metric)
    title = FORMS[form][0].format(**_rate(stem)) if form else metric
    return title[:1].upper() + title[1:]


def metric_gloss(metric: str) -> str:
    """Say what a metric is, in a few words, or nothing for a metric of the user's own.

    Examples
    --------
    >>> metric_gloss("disparate_impact"), metric_gloss("accuracy_ratio")
    ('ratio of selection rates', 'ratio of accuracies')
    """
    if metric in METRICS:
        return METRICS[metric][1]
    stem, form = _parts(metric)
    return FORMS[form][1].format(**_rate(stem)) if stem in RATES and form else ""


def section_title(section: Section, spell: Spell) -> str:
    """Name a metric and what the groups are compared with."""
    title = metric_title(section.metric)
    if section.reference is None:
        return title
    return AGAINST.format(title=title, reference=_quoted(section.reference, spell))


def _quoted(name: Label | None, spell: Spell) -> str:
    return WORDS["reference"] if name is None else f"“{spell(name)}”"


# -- values ------------------------------------------------------------------------------------------------------------


def value(amount: float | None, *limits: float) -> str:
    """Write a value; ``None`` is not defined.

    Examples
    --------
    >>> value(None), value(0.25), value(float("inf"))
    ('not defined', '0.250', 'infinite')
    """
    if amount is None or math.isnan(amount):
        return WORDS["not_defined"]
    return WORDS["infinite"] if math.isinf(amount) else number(amount, *limits)


def span(bounds: Bounds, *limits: float) -> str:
    """Write both ends.

    Examples
    --------
    >>> span(Bounds("disparate_impact", "F", "M", 0.35, 0.7999), 0.8)
    '0.350 to 0.7999'
    >>> span(Bounds("disparate_impact", "F", "M", 0.35, float("inf")), 0.8)
    '0.350, no upper limit'
    """
    return _spanned(bounds, limits, at="{low}", between=SENTENCES["from_to"], above=SENTENCES["unlimited"])


def _spanned(bounds: Bounds, limits: tuple[float, ...], *, at: str, between: str, above: str, **parts: str) -> str:
    low, high = value(bounds.lower, *limits), value(bounds.upper, *limits)
    if bounds.upper is None or low == high:
        return at.format(low=low, **parts)
    return (above if math.isinf(bounds.upper) else between).format(low=low, high=high, **parts)


def sharpness(section: Section) -> str:
    """Say whether the bounds of a section are the true ends."""
    loose = sum(not finding.bounds.sharp for finding in section.findings)
    if not loose:
        return _say("sharp")
    return (
        _say("one_loose")
        if loose == len(section.findings)
        else _say("some_loose", loose=loose, n=len(section.findings))
    )


def caveats(finding: Finding) -> list[str]:
    """Return what must be said beside a number: its own note, or what its bounds leave open."""
    if finding.note:
        return [finding.note]
    said = [] if finding.bounds.sharp else [_say("one_loose")]
    return [*said, _say("sometimes")] if finding.bounds.defined == "sometimes" else said


# -- verdicts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A verdict in words.

    Attributes
    ----------
    lead : str
        What is shown, e.g. ``Shown to be below 0.8``.
    body : str
        What that means for these groups.
    tone : str
        Which of three kinds of verdict it is, for colour and pattern.
    """

    lead: str
    body: str
    tone: Tone


def verdict(finding: Finding, spell: Spell) -> Said | None:
    """Put a finding's verdict in words, never stronger than it is; ``None`` for plain rates."""
    if finding.bounds.lower is None:
        return Said(WORDS["undefined_lead"], _say("undefined_body"), "open")
    if finding.verdict is None or finding.threshold is None:
        return None
    if finding.verdict == "undetermined":
        why = _open(finding) if _left_by_bounds(finding) else _say("by_chance")
        return Said(WORDS["undetermined_lead"], why, "open")
    whatever = _say("where_defined" if finding.bounds.defined == "sometimes" else "whatever")
    claim = _claim(finding, spell)
    meets = "above" if is_ratio(finding.metric, finding.threshold) else "within"
    return Said(
        _say("shown_lead", badge=badge(finding)),
        f"{whatever}, {claim}" if claim else whatever,
        "meets" if finding.verdict == meets else "differs",
    )


def badge(finding: Finding) -> str:
    """Return the verdict in a word or two, or nothing for plain rates."""
    if finding.bounds.lower is None:
        return WORDS["not_defined"]
    if finding.verdict is None or finding.threshold is None:
        return ""
    if finding.verdict == "undetermined":
        return WORDS["undetermined"]
    low, high = _band(finding)
    if finding.verdict == "within":
        return exact(low) if low == high else _say("between", low=exact(low), high=exact(high))
    above = "at_least" if is_ratio(finding.metric, finding.threshold) else "above"
    return _say("below" if finding.verdict == "below" else above, low=exact(low), high=exact(high))


def _band(finding: Finding) -> tuple[float, float]:
    threshold = finding.threshold or 0.0
    return threshold - finding.tolerance, threshold + finding.tolerance


def _claim(finding: Finding, spell: Spell) -> str:
    """Say what the verdict means; nothing for metrics that the catalogue does not know."""
    stem, form = _parts(finding.metric)
    tolerance = exact(finding.tolerance)
    return CLAIMS.get((form, finding.verdict or ""), "").format(
        **_rate(stem),
        group=_quoted(finding.group, spell),
        reference=_quoted(finding.reference, spell),
        threshold=exact(finding.threshold or 0.0),
        by_more=_say("by_more", tolerance=tolerance) if finding.tolerance else "",
        agree=_say("differ_by", tolerance=tolerance) if finding.tolerance else _say("are_equal"),
    )


def _left_by_bounds(finding: Finding) -> bool:
    """Whether the bounds leave the verdict open, and not sampling error alone."""
    lower, upper = finding.bounds.lower or 0.0, finding.bounds.upper or 0.0
    low, high = _band(finding)
    if is_ratio(finding.metric, finding.threshold):
        return lower < low - SAME and upper >= low - SAME
    outside = upper < low - SAME or lower > high + SAME
    return not outside and (lower < low - SAME or upper > high + SAME)


def interval_sentences(finding: Finding, *limits: float) -> list[str]:
    """Write the interval of a finding, if it has one, with its caveat."""
    found = finding.interval
    if found is None:
        return []
    reach, whole = _reach(found.lower, found.upper, *limits), _reach(found.set_lower, found.set_upper, *limits)
    said = _say("interval", level=f"{exact(100 * found.level)}%", reach=reach, whole=whole)
    return [f"{said} {found.note}" if found.note else said]


def _reach(lower: float, upper: float, *limits: float) -> str:
    low, high = value(lower, *limits), value(upper, *limits)
    return _say("unlimited", low=low) if math.isinf(upper) else _say("from_to", low=low, high=high)


def _open(finding: Finding) -> str:
    """Say which sides of the threshold are left; loose bounds prove only that nothing was shown."""
    sides = _sides(finding)
    said = ", ".join(sides[:-1]) + WORDS["and"] + sides[-1] if len(sides) > 1 else sides[0]
    return _say("tables_allow" if finding.bounds.sharp else "bounds_contain", sides=said)


def _sides(finding: Finding) -> list[str]:
    lower, upper = finding.bounds.lower or 0.0, finding.bounds.upper or 0.0
    low, high = _band(finding)
    words = {"low": exact(low), "high": exact(high)}
    if is_ratio(finding.metric, finding.threshold):
        return [_say("values_below", **words), _say("values_at_least", **words)]
    amid = _say("value_itself", **words) if low == high else _say("values_between", **words)
    sides = [
        (_say("values_below", **words), lower < low - SAME),
        (amid, lower <= high + SAME and upper >= low - SAME),
        (_say("values_above", **words), upper > high + SAME),
    ]
    return [side for side, left in sides if left]


# -- estimates and known values ----------------------------------------------------------------------------------------


def estimate_name(method: str) -> str:
    """Name an estimate."""
    return _say("estimate_name", name=_method(method)[0])


def estimate_legend(method: str) -> str:
    """Name an estimate and say what it assumes."""
    name, meaning = _method(method)
    return _say("legend_estimate", name=name, meaning=meaning) if meaning else estimate_name(method)


def _method(method: str) -> tuple[str, str]:
    return ESTIMATES.get(method, (method, ""))


def estimate_sentence(estimate: Estimate, *limits: float) -> str:
    """Write an estimate."""
    key = "estimate" if estimate.margin_preserving else "estimate_loose"
    shown, error = value(estimate.value, *limits), estimate.details.get("standard_error")
    if error is not None:
        shown = _say("with_error", value=shown, error=number(error))
    return _say(key, name=_method(estimate.method)[0], value=shown)


def value_sentences(section: Section, finding: Finding) -> list[str]:
    """Write the estimates and the known value: those that need no note together, each of the others with its note."""
    limits, known = section.scale.limits, section.known(finding)
    plain = [estimate_sentence(entry, *limits) for entry in finding.estimates if not entry.note]
    plain += [] if known is None else [truth_sentence(finding, known, *limits)]
    noted = [f"{estimate_sentence(entry, *limits)} {entry.note}" for entry in finding.estimates if entry.note]
    return [*([" ".join(plain)] if plain else []), *noted]


def footnotes(sections: Iterable[Section]) -> list[str]:
    """Return what estimates assume beyond what the legend says, each once."""
    entries = [entry for section in sections for finding in section.findings for entry in finding.estimates]
    return list(dict.fromkeys(str(entry.details["assumption"]) for entry in entries if "assumption" in entry.details))


def truth_sentence(finding: Finding, known: float, *limits: float) -> str:
    """Write the known value and whether the bounds hold it."""
    ends = [end for end in (finding.bounds.lower, finding.bounds.upper) if end is not None]
    shown = value(known, *limits, *ends)
    if not ends:
        return _say("known", value=shown)
    return _say("known_placed", value=shown, placed=WORDS["inside" if finding.bounds.contains(known) else "outside"])


# -- the answer in one paragraph ---------------------------------------------------------------------------------------

_MOST_ANSWERED = 3


def answer(audit: Audit, sections: list[Section], spell: Spell) -> list[str]:
    """Return the sentences of the opening paragraph: what stays open first, then what is shown, on which condition."""
    judged = [section for section in sections if section.has_verdicts]
    said = [*_left_open(judged), _situation(audit, spell)]
    said += [_counted(section, spell) if len(section.findings) > 1 else _single(section, spell) for section in judged][
        :_MOST_ANSWERED
    ]
    if len(judged) > _MOST_ANSWERED:
        said.append(_say("more_below", comparisons=count(len(judged) - _MOST_ANSWERED, "more metric")))
    if audit.findings:
        said.append(_condition(audit))
    if any(finding.threshold == 0.8 and _parts(finding.metric)[0] == "selection" for finding in audit.findings):
        said.append(_say("screen"))
    return said + _truths(sections)


def _condition(audit: Audit) -> str:
    """Say on what condition the answer holds, and how sure it is."""
    levels = {finding.interval.level for finding in audit.findings if finding.interval is not None}
    if len(levels) != 1:
        return _say("condition")
    return _say("condition_sampled", level=f"{exact(100 * levels.pop())}%")


def _situation(audit: Audit, spell: Spell) -> str:
    columns = audit.provenance.get("columns") or {}
    held = WORDS["scores" if columns.get("score") else "decisions"]
    hidden = WORDS["and"].join(f"“{spell(name)}”" for name in columns.get("protected") or ())
    one = bool(audit.provenance.get("one_table"))
    return _say("situation_one" if one else "situation", held=held, hidden=hidden or WORDS["the_group"])


def _left_open(sections: list[Section]) -> list[str]:
    total = sum(len(section.findings) for section in sections)
    left = sum(finding.verdict == "undetermined" for section in sections for finding in section.findings)
    if not left:
        return []
    if left < total:
        return [_say("some_open", left=f"{left:,}", n=f"{total:,}")]
    return [_say("one_open") if total == 1 else _say("all_open", n=f"{total:,}")]


def comparison(section: Section, finding: Finding, spell: Spell) -> str:
    """Name a metric, the group it is about and what that is compared with."""
    title = metric_title(section.metric)
    if finding.group is not None:
        title = OF.format(title=title, group=_quoted(finding.group, spell))
    if section.reference is not None:
        title = AGAINST.format(title=title, reference=_quoted(section.reference, spell))
    return title


def _single(section: Section, spell: Spell) -> str:
    finding = section.findings[0]
    title = comparison(section, finding, spell)
    if finding.bounds.lower is None:
        return _say("lies_nowhere", subject=title)
    shown = badge(finding)
    return _spanned(
        finding.bounds,
        section.scale.limits,
        at=SENTENCES["lies_at"],
        between=SENTENCES["lies_between"],
        above=SENTENCES["lies_above"],
        subject=title,
        shown=shown if finding.verdict == "undetermined" else _say("shown", badge=shown),
    )


def _counted(section: Section, spell: Spell) -> str:
    badges: dict[str, int] = {}
    for finding in section.findings:
        short = badge(finding)
        if finding.bounds.lower is not None and finding.verdict != "undetermined":
            short = _say("shown", badge=short)
        badges[short] = badges.get(short, 0) + 1
    counts = ", ".join(f"{n:,} {short}" for short, n in sorted(badges.items(), key=lambda item: -item[1]))
    groups = count(len(section.findings), "group")
    return _say("counted", subject=section_title(section, spell), groups=groups, counts=counts)


def _truths(sections: list[Section]) -> list[str]:
    known = [(finding, section.known(finding)) for section in sections for finding in section.findings]
    inside = [finding.bounds.contains(truth) for finding, truth in known if truth is not None]
    return [_say("truths", inside=f"{sum(inside):,}", n=f"{len(inside):,}")] if inside else []


def warning_count(audit: Audit) -> str:
    """Say how many warnings there are."""
    n = len(audit.warnings)
    return _say("no_warnings") if not n else _say("one_warning") if n == 1 else _say("many_warnings", n=f"{n:,}")
