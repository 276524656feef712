"""Do the two tables spell the levels of a common variable alike? The commonest real failure is that they do not."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime, time
from typing import Literal, TypeAlias, get_args

import numpy as np

from fairbounds.errors import ProblemError, brief
from fairbounds.levels import Level, show
from fairbounds.tables import Table

__all__ = ["Unmatched", "match_levels"]

Unmatched: TypeAlias = Literal["warn", "error"]

_TOKEN = re.compile(r"(?P<number>\d+(?:[.,]\d+)*)|(?P<word>[^\W\d_]+|[<>=≤≥+%])")
_SHOWN = 4
_COMPARED = 20
_MANY = 1000


def match_levels(
    internal: Table, external: Table, common: Sequence[str], unmatched: Unmatched = "warn"
) -> tuple[Table, Table, tuple[str, ...]]:
    """Give both tables the same levels of the common variables, or say why that cannot be done safely.

    Parameters
    ----------
    internal, external : Table
    common : sequence of str
    unmatched : {"warn", "error"}
        Whether a level that one table lacks is an error; spelling twins always are.

    Returns
    -------
    internal, external : Table
        With equal levels of the common variables.
    notes : tuple of str
        What was matched other than by equality.
    """
    if unmatched not in get_args(Unmatched):
        raise ProblemError(f"unmatched is 'warn' or 'error', not {unmatched!r}")
    notes: list[str] = []
    for name in common:
        for table, role in ((internal, "internal"), (external, "external")):
            _refuse_look_alikes(table, name, role)
        internal, external, note = _as_dates_where_one_side_has_times(internal, external, name)
        notes += note
        internal, external, note = _as_text_where_one_side_is(internal, external, name)
        notes += note
        _refuse_twins(internal, external, name)
        found = _unmatched(internal, external, name)
        if found and unmatched == "error":
            raise ProblemError(
                f"{name!r} has levels in one table only: {found}; {_way_out(name)}, or allow them with --unmatched warn"
            )
        if found:
            notes.append(
                f"{name!r} has levels in one table only: {found}. If two of them mean the same, {_way_out(name)}"
            )
    internal, external = internal.align(external, common)
    return internal, external, tuple(notes)


def _refuse_look_alikes(table: Table, name: str, role: str) -> None:
    printed: dict[str, Level] = {}
    for level in table[name].levels:
        other = printed.setdefault(show(level), level)
        if other != level or type(other) is not type(level):
            raise ProblemError(
                f"{name!r} in the {role} table mixes types: {show(level)} is there both as {type(other).__name__} and "
                f"as {type(level).__name__}; store the column with one type"
            )


def _as_dates_where_one_side_has_times(internal: Table, external: Table, name: str) -> tuple[Table, Table, list[str]]:
    """Match days that a dataframe stores as times, all of them midnight, to the other table's days."""
    days = [_days(table, name) for table in (internal, external)]
    if bool(days[0]) == bool(days[1]):
        return internal, external, []
    side = "internal" if days[0] else "external"
    note = f"{name!r} holds times in the {side} table, all of them midnight; they were taken for dates"
    if days[0]:
        return internal.recode(name, days[0]), external, [note]
    return internal, external.recode(name, days[1]), [note]


def _days(table: Table, name: str) -> dict[Level, Level]:
    """Return the day of each level, nothing where a level is no midnight."""
    known = [level for level in table[name].levels if level is not None]
    times = [level for level in known if isinstance(level, datetime) and level.time() == time() and not level.tzinfo]
    return {level: level.date() for level in times} if len(times) == len(known) else {}


def _as_text_where_one_side_is(internal: Table, external: Table, name: str) -> tuple[Table, Table, list[str]]:
    """Match the text of a CSV, which has no types, to the other table's numbers as they print."""
    texts = [all(isinstance(level, str) for level in t[name].levels if level is not None) for t in (internal, external)]
    if texts[0] == texts[1]:
        return internal, external, []
    table = external if texts[0] else internal
    mapping: dict[Level, Level] = {
        level: show(level) for level in table[name].levels if level is not None and not isinstance(level, str)
    }
    if not set(mapping.values()) & set((internal if texts[0] else external)[name].levels):
        return internal, external, []
    side = "external" if texts[0] else "internal"
    note = f"{name!r} holds text in one table and {side} values of another type; they were matched as they print"
    if texts[0]:
        return internal, external.recode(name, mapping), [note]
    return internal.recode(name, mapping), external, [note]


def _fold(level: Level) -> str:
    """Spell a level without case, spacing and punctuation; numbers keep their value, signs such as < their meaning."""
    text = unicodedata.normalize("NFKC", show(level)).casefold().strip()
    minus = "-" if re.match(r"[-−]\d", text) else ""
    parts = [
        f" {float(match['number'].replace(',', '')):g} " if _is_number(match["number"]) else match[0]
        for match in _TOKEN.finditer(text)
    ]
    return minus + "".join(parts)


def _is_number(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"\d+(,\d{3})*(\.\d+)?", text) is not None


def _masses(table: Table, name: str) -> dict[Level, float]:
    total = np.bincount(table.column(name), weights=table.weights, minlength=len(table[name])) / table.total
    return {level: float(mass) for level, mass in zip(table[name].levels, total, strict=True) if mass > 0}


def _refuse_twins(internal: Table, external: Table, name: str) -> None:
    left, right = _masses(internal, name), _masses(external, name)
    only_left, only_right = [lv for lv in left if lv not in right], [lv for lv in right if lv not in left]
    if len(only_left) == len(left) and len(left) > _MANY:
        raise ProblemError(
            f"common variable {name!r} shares none of its {len(left)} internal levels with the external table and "
            "looks like an identifier; leave it out by naming the others with --common"
        )
    if only_left and len(only_left) == len(left):
        raise ProblemError(
            f"{name!r} shares no level between the two tables: internal has {_with_mass(only_left, left)}, external "
            f"has {_with_mass(only_right, right)}{_closest(left, right)}; {_way_out(name, (*left, *right))}"
        )
    if not only_left and not only_right:
        return
    folded_left, folded_right = {_fold(level) for level in left}, {_fold(level) for level in right}
    twins_left = [level for level in only_left if _fold(level) and _fold(level) in folded_right]
    twins_right = [level for level in only_right if _fold(level) and _fold(level) in folded_left]
    if twins_left or twins_right:
        folds = {_fold(level) for level in (*twins_left, *twins_right)}
        raise ProblemError(
            f"{name!r} has different levels in the two tables that differ only in spelling: internal "
            f"{_with_mass([lv for lv in left if _fold(lv) in folds], left)}, external "
            f"{_with_mass([lv for lv in right if _fold(lv) in folds], right)}; {_way_out(name)}"
        )


def _unmatched(internal: Table, external: Table, name: str) -> str:
    """Name the levels that one table lacks, with their mass."""
    left, right = _masses(internal, name), _masses(external, name)
    sides = (("internal", left, right), ("external", right, left))
    only = [(role, [level for level in ours if level not in theirs], ours) for role, ours, theirs in sides]
    return ", ".join(f"only {role} {_with_mass(levels, ours)}" for role, levels, ours in only if levels)


def _with_mass(levels: list[Level], masses: dict[Level, float]) -> str:
    shown = [f"{_named(level)} ({masses[level]:.1%})" for level in sorted(levels, key=lambda lv: -masses[lv])]
    more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return f"[{', '.join(shown[:_SHOWN])}{more}]"


def _closest(left: dict[Level, float], right: dict[Level, float]) -> str:
    """Find two levels that are spelt nearly alike, among the heaviest of each side: comparing all is quadratic."""
    heaviest = [sorted(masses, key=lambda level: -masses[level])[:_COMPARED] for masses in (left, right)]
    options = {show(level): level for level in heaviest[1]}
    for level in heaviest[0]:
        close = difflib.get_close_matches(show(level), options, n=1)
        if close:
            return f" (nearest spelling: {_named(level)} and {_named(options[close[0]])})"
    return ""


def _named(level: Level) -> str:
    return show(level) if level is None else brief(level)


def _all_differ(numbers: Sequence[str]) -> bool:
    """Whether no number is there in two spellings, as codes such as 01 and 1 are."""
    return len({float(text) for text in numbers}) == len(set(numbers))


def _way_out(name: str, levels: Sequence[Level] = ()) -> str:
    texts = [show(level) for level in levels]
    if levels and all(re.fullmatch(r"-?\d+\.?\d*", text) for text in texts) and _all_differ(texts):
        return f"cut the numbers into the same intervals with --bin {name}=10,20 or bins={{{name!r}: [10, 20]}}"
    return f"map them with --recode {name}=map.csv or recode={{{name!r}: {{old: new}}}}"
