"""What three regulators ask for, in their order and with their citations, as far as an audit can answer it.

Nothing here is computed anew: figures come from `Audit.classifications`, and each view says what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairbounds.report.numbers import SAME, count, number, percent, percent_of
from fairbounds.report.phrases import WORDS
from fairbounds.report.phrases_law import COLUMNS, FACTS, NOTES, TERMS, VIEWS
from fairbounds.report.sentences import Spell, value
from fairbounds.report.tables_said import combined
from fairbounds.results import Audit, Category, Classification, Finding

__all__ = ["FOUR_FIFTHS", "SMALL", "Sheet", "View", "regulator_views"]

FOUR_FIFTHS = 0.8
SMALL = 0.02

_UNKNOWN = ("unknown", "not stated", "not known", "not disclosed", "prefer not to say", "missing", "n/a")

Facts = list[tuple[str, str]]


@dataclass(frozen=True)
class Sheet:
    """One table of a view.

    Attributes
    ----------
    caption : str
    columns : tuple of str
    rows : tuple of tuple of str
        The first cell names the category.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class View:
    """What one regulator asks for.

    Attributes
    ----------
    ident : str
    title, about : str
    citations : tuple of str
    facts : list of (str, str)
        Required fields that are no table.
    sheets : tuple of Sheet
    notes : tuple of str
        How far the figures go.
    """

    ident: str
    title: str
    about: str
    citations: tuple[str, ...]
    facts: Facts
    sheets: tuple[Sheet, ...]
    notes: tuple[str, ...]


def regulator_views(audit: Audit, spell: Spell, assumptions_section: str, agreement_section: str) -> list[View]:
    """Return the three views.

    Parameters
    ----------
    audit : Audit
    spell : callable
        Makes a name fit to show.
    assumptions_section, agreement_section : str
        Headings that the views point to.
    """
    headings = {"assumptions": assumptions_section, "agreement": agreement_section}
    return [_new_york(audit, spell), _guidelines(audit, spell), _ai_act(audit, spell, headings)]


def _view(ident: str, facts: Facts, sheets: tuple[Sheet, ...], notes: Iterator[str]) -> View:
    title, citations, about = VIEWS[ident]
    return View(ident, title, about, citations, facts, sheets, (NOTES["estimates"], *notes))


# -- New York City -----------------------------------------------------------------------------------------------------


def _new_york(audit: Audit, spell: Spell) -> View:
    people = _people(audit)
    counted = people if _shares_are_of_the_assessed(audit) else None
    sheets = tuple(_new_york_sheet(entry, counted, spell) for entry in audit.classifications)
    return _view("nyc", _new_york_facts(audit, people, spell), sheets, _new_york_notes(audit, spell))


def _new_york_notes(audit: Audit, spell: Spell) -> Iterator[str]:
    yield NOTES["nyc_law"]
    yield NOTES["nyc_small"]
    if not audit.classifications:
        yield NOTES["no_categories"]
    elif not _shares_are_of_the_assessed(audit):
        yield NOTES["nyc_people"]
    if len(audit.classifications) == 1:
        yield NOTES["nyc_missing_view"].format(columns=f"“{spell(audit.classifications[0].name)}”")


def _new_york_facts(audit: Audit, people: float | None, spell: Spell) -> Facts:
    small = [spell(entry.level) for found in audit.classifications for entry in found.categories if _small(entry)]
    scored = (audit.provenance.get("columns") or {}).get("score")
    facts = {
        "nyc_data": "; ".join(said for _, said in combined(audit, spell)[:3]),
        "nyc_assessed": _assessed(audit, people),
        "nyc_unknown": " ".join(_unknown(audit, spell)),
        "nyc_rate": FACTS["rate_score" if scored else "rate_decision"],
        "nyc_small": ", ".join(small) or FACTS["none"],
        "nyc_add": FACTS["to_add"],
    }
    return [(TERMS[key], said) for key, said in facts.items()]


def _shares_are_of_the_assessed(audit: Audit) -> bool:
    """Whether the categories' shares are those of the people decided on, so that they can be turned into numbers."""
    return audit.population == "internal" or audit.mismatch.total_variation <= SAME


def _people(audit: Audit) -> float | None:
    """Return how many people the internal table is about, ``None`` where its weights are no counts."""
    origin = (audit.provenance.get("inputs") or {}).get("internal") or {}
    size, weight, rows = origin.get("sample_size"), origin.get("weight"), origin.get("rows")
    if weight is None:
        return None if rows is None else float(rows - (origin.get("dropped_rows") or 0))
    return None if size is None else float(size)


def _assessed(audit: Audit, people: float | None) -> str:
    if people is None:
        return FACTS["assessed_not_known"]
    origin = (audit.provenance.get("inputs") or {}).get("internal") or {}
    return FACTS["assessed" if origin.get("weight") is None else "assessed_people"].format(n=f"{people:,.0f}")


def _unknown(audit: Audit, spell: Spell) -> Iterator[str]:
    columns = (audit.provenance.get("columns") or {}).get("protected") or ()
    named = WORDS["and"].join(f"“{spell(name)}”" for name in columns)
    yield FACTS["unknown_all"].format(columns=named or WORDS["the_group"])
    levels = [
        f"{spell(entry.level)} ({percent(entry.share)})"
        for found in audit.classifications
        for entry in found.categories
        if any(part.strip().casefold() in _UNKNOWN for part in str(entry.level).strip("()").split("×"))
    ]
    if levels:
        yield FACTS["unknown_levels"].format(levels=", ".join(levels))
    for table, rows in _dropped(audit):
        yield FACTS["unknown_dropped"].format(rows=count(rows, "row"), table=WORDS[table].casefold())


def _dropped(audit: Audit) -> list[tuple[str, int]]:
    inputs = audit.provenance.get("inputs") or {}
    found = [(table, (inputs.get(table) or {}).get("dropped_rows") or 0) for table in ("internal", "external")]
    return [(table, rows) for table, rows in found if rows]


def _small(entry: Category) -> bool:
    return entry.share < SMALL - SAME


def _new_york_sheet(found: Classification, people: float | None, spell: Spell) -> Sheet:
    level, estimated = _level(found), _estimated(found)
    cells: dict[str, Callable[[Category], str]] = {
        "category": lambda entry: spell(entry.level),
        "share": lambda entry: percent(entry.share),
        "people": lambda entry: "" if people is None else f"{entry.share * people:,.0f}",
        "rate": lambda entry: _ends(entry.selection_rate),
        "rate_estimate": lambda entry: value(entry.selection_rate.estimate("independence")),
        "ratio": lambda entry: _ends(entry.impact_ratio, FOUR_FIFTHS),
        "ratio_interval": lambda entry: _interval(entry.impact_ratio),
        "ratio_estimate": lambda entry: value(entry.impact_ratio.estimate("independence"), FOUR_FIFTHS),
        "mark": lambda entry: WORDS["yes" if _small(entry) else "no"],
    }
    absent = {"people"} if people is None else set()
    absent |= set() if level else {"ratio_interval"}
    absent |= set() if estimated else {"rate_estimate", "ratio_estimate"}
    return _sheet(found, cells, absent, level, spell)


def _sheet(
    found: Classification,
    cells: Mapping[str, Callable[[Category], str]],
    absent: set[str],
    level: str,
    spell: Spell,
) -> Sheet:
    shown = {key: cell for key, cell in cells.items() if key not in absent}
    return Sheet(
        COLUMNS["caption"].format(columns=spell(found.name)),
        tuple(COLUMNS[key].format(level=level) for key in shown),
        tuple(tuple(cell(entry) for cell in shown.values()) for entry in found.categories),
    )


def _level(found: Classification) -> str:
    """Return the level of the intervals, empty where there are none."""
    intervals = (entry.impact_ratio.interval for entry in found.categories)
    return next((percent_of(interval.level) for interval in intervals if interval is not None), "")


def _estimated(found: Classification) -> bool:
    return any(entry.impact_ratio.estimates for entry in found.categories)


def _ends(finding: Finding, *limits: float) -> str:
    return _span(finding.bounds.lower, finding.bounds.upper, *limits)


def _interval(finding: Finding) -> str:
    interval = finding.interval
    return WORDS["not_given"] if interval is None else _span(interval.lower, interval.upper, FOUR_FIFTHS)


def _span(lower: float | None, upper: float | None, *limits: float) -> str:
    low, high = value(lower, *limits), value(upper, *limits)
    return low if low == high else COLUMNS["from_to"].format(low=low, high=high)


# -- Uniform Guidelines ------------------------------------------------------------------------------------------------


def _guidelines(audit: Audit, spell: Spell) -> View:
    return _view("ugesp", [], tuple(map(_guidelines_sheets(spell), audit.classifications)), _guidelines_notes(audit))


def _guidelines_notes(audit: Audit) -> Iterator[str]:
    yield NOTES["ugesp_law"]
    if not audit.classifications:
        yield NOTES["no_categories"]
        return
    level = _level(audit.classifications[-1])
    yield NOTES["ugesp_statistical"].format(level=level) if level else NOTES["ugesp_untested"]
    yield NOTES["ugesp_practical"]


def _guidelines_sheets(spell: Spell) -> Callable[[Classification], Sheet]:
    cells: dict[str, Callable[[Category], str]] = {
        "category": lambda entry: spell(entry.level),
        "ratio": lambda entry: _ends(entry.impact_ratio, FOUR_FIFTHS),
        "four_fifths": lambda entry: COLUMNS[four_fifths(entry.impact_ratio)],
        "statistical": lambda entry: _significance(entry.impact_ratio),
        "practical": _practical,
        "mark": lambda entry: WORDS["yes" if _small(entry) else "no"],
    }
    return lambda found: _sheet(found, cells, set(), _level(found), spell)


def four_fifths(ratio: Finding) -> str:
    """Say on which side of four fifths an impact ratio is shown to be: ``below``, ``at_least`` or ``open``.

    Parameters
    ----------
    ratio : Finding
    """
    lower, upper = ratio.ends
    if lower is None or upper is None:
        return "open"
    if upper < FOUR_FIFTHS - SAME:
        return "below"
    return "at_least" if lower >= FOUR_FIFTHS - SAME else "open"


def _significance(ratio: Finding) -> str:
    if ratio.interval is None:
        return COLUMNS["not_tested"]
    if ratio.interval.upper < 1 - SAME:
        return COLUMNS["shown"].format(level=percent_of(ratio.interval.level))
    return COLUMNS["not_shown"]


def _practical(entry: Category) -> str:
    low, high = entry.shortfall_lower, entry.shortfall_upper
    if low is None or high is None or not math.isfinite(high):
        return WORDS["not_defined"]
    return _span(100 * low, 100 * high)


# -- European Union ----------------------------------------------------------------------------------------------------


def _ai_act(audit: Audit, spell: Spell, headings: Mapping[str, str]) -> View:
    whole = audit.classifications[-1].categories if audit.classifications else ()
    shown = [four_fifths(entry.impact_ratio) for entry in whole]
    one_sided = audit.strata.internal_only_mass or audit.strata.external_only_mass
    masses = {
        "internal": percent(audit.strata.internal_only_mass),
        "external": percent(audit.strata.external_only_mass),
    }
    facts = {
        "eu_origin": "; ".join(said for _, said in combined(audit, spell)[:2]),
        "eu_preparation": "; ".join(_preparation(audit.provenance, audit, spell)) or FACTS["preparation_none"],
        "eu_assumptions": FACTS["assumptions"].format(n=len(audit.assumptions), section=headings["assumptions"]),
        "eu_suitability": FACTS["suitability"].format(
            strata=_strata(audit.strata.n), one_sided=FACTS["one_sided" if one_sided else "both_sided"].format(**masses)
        ),
        "eu_representative": FACTS["representative"].format(distance=number(audit.mismatch.total_variation)),
        "eu_bias": FACTS["bias"].format(shown=shown.count("below"), n=len(shown), open=shown.count("open")),
        "eu_measures": FACTS["measures"],
        "eu_gaps": FACTS["gaps"].format(section=headings["agreement"]),
        "eu_special": FACTS["special"],
    }
    return _view("eu", [(TERMS[key], said) for key, said in facts.items()], (), iter((NOTES["eu_law"],)))


def _strata(n: int) -> str:
    return f"{n:,} {WORDS['stratum_one' if n == 1 else 'stratum_many']}"


def _preparation(provenance: Mapping[str, Any], audit: Audit, spell: Spell) -> Iterator[str]:
    for key, fact in (("recode", "recoded"), ("bins", "binned")):
        if provenance.get(key):
            yield FACTS[fact].format(columns=", ".join(spell(name) for name in provenance[key]))
    for table, rows in _dropped(audit):
        yield FACTS["dropped"].format(rows=count(rows, "row"), table=WORDS[table].casefold())
    for table in ("internal", "external"):
        origin = (provenance.get("inputs") or {}).get(table) or {}
        if origin.get("missing") and origin.get("missing_policy") == "level":
            yield FACTS["kept"].format(table=WORDS[table].casefold())
