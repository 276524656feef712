"""What is said of the two tables: what was combined, and how well they agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fairbounds.report.numbers import SAME, count, number, percent
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.sentences import Spell
from fairbounds.results import Audit, Mismatch, StrataSummary

__all__ = ["agreement", "combined"]


def _say(key: str, **parts: object) -> str:
    return SENTENCES[key].format(**parts)


# -- what was combined -------------------------------------------------------------------------------------------------


def combined(audit: Audit, spell: Spell) -> list[tuple[str, str]]:
    """Return what was combined, as terms and descriptions; what was not recorded is left out."""
    inputs, columns = audit.provenance.get("inputs") or {}, audit.provenance.get("columns") or {}
    strata = f"{audit.strata.n:,} {WORDS['stratum_one' if audit.strata.n == 1 else 'stratum_many']}"
    linked = ", ".join(spell(name) for name in columns.get("common") or ())
    said = {
        "internal_table": _input(inputs.get("internal"), spell),
        "external_table": _input(inputs.get("external"), spell),
        "linked": _say("linked", columns=linked, strata=strata) if linked else strata,
        "protected": " × ".join(spell(name) for name in columns.get("protected") or ()),
        "decision": _decision(audit, columns, spell),
        "score": _optional(columns.get("score"), spell),
        "label": _optional(columns.get("label"), spell),
        "population": _say("described", population=spell(audit.population)),
    }
    return [(WORDS[term], description) for term, description in said.items() if description]


def _optional(name: object, spell: Spell) -> str:
    return "" if name is None else spell(name)


def _decision(audit: Audit, columns: Mapping[str, Any], spell: Spell) -> str:
    name, favourable = _optional(columns.get("decision"), spell), audit.provenance.get("favourable")
    return _say("favourable", decision=name, level=spell(favourable)) if name and favourable is not None else name


def _input(origin: Mapping[str, Any] | None, spell: Spell) -> str:
    if origin is None:
        return _say("by_hand")
    weight, dropped = origin.get("weight"), origin.get("dropped_rows")
    weighed = _say("once") if weight is None else _say("weighted", weight=spell(weight))
    said = _say("rows", source=spell(origin["source"]), rows=count(origin["rows"], "row"), weighed=weighed)
    if dropped:
        share = percent(origin.get("dropped_share") or 0.0)
        return _say("dropped", said=said, rows=count(dropped, "row"), share=share)
    return _say("kept", said=said) if origin.get("missing") else said


# -- how well the tables agree -----------------------------------------------------------------------------------------


def agreement(mismatch: Mismatch, strata: StrataSummary) -> list[str]:
    """Say how far the tables disagree on the common variables."""
    distance = mismatch.total_variation
    if distance <= SAME:
        return [_say("identical")]
    said = [_say("total_variation", distance=number(distance), share=percent(distance))]
    endless = math.isinf(mismatch.kl)
    said.append(_say("divergence_infinite") if endless else _say("divergence", kl=number(mismatch.kl)))
    if mismatch.p_value is not None and mismatch.g_statistic is not None:
        said.append(_chance(mismatch.p_value, mismatch.g_statistic, mismatch.degrees_of_freedom or 0))
    internal, external = strata.internal_only_mass, strata.external_only_mass
    if internal or external:
        return [*said, _say("one_sided", internal=percent(internal), external=percent(external))]
    return [*said, _say("both_sided")]


def _chance(p_value: float, statistic: float, freedom: int) -> str:
    return _say(
        "chance",
        often=WORDS["rarely" if p_value < 0.05 else "easily"],
        statistic=number(statistic),
        freedom=count(freedom, "degree"),
        p="p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}",
    )
