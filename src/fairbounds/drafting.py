"""A first spec from two tables: guesses about what their columns are, each marked for a person to confirm."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairbounds.errors import SourceError, listed
from fairbounds.levels import Level, show
from fairbounds.sources import Source, open_source
from fairbounds.spec import AuditSpec, written
from fairbounds.tables import Table

__all__ = ["Given", "draft"]

_WEIGHTS = (
    r"n|nr|count|counts|freq|frequency|weights?|wt|wgt|people|persons|population|pop|total|number|num|"
    r"perwt|pwgtp|fnlwgt|obs_value|value|headcount|cases|applicants|applications"
)
_PROTECTED = (
    r"sex|gender|race|races|ethnic.*|hispan.*|religion|disab.*|nationality|citizenship|age|age_?group|marital.*"
)
_DECISION = (
    r"approv.*|decision|decided|hired?|accept.*|admit.*|grant.*|select.*|offer.*|predict.*|outcome|result|invited|"
    r"shortlist.*|y_?hat|passed|action_taken"
)
_SCORE = r"scores?|p|prob.*|proba.*|probability|risk|pred.*|p_?hat|y_?score"
_LABEL = r"label|actual|truth?|true.*|y|repaid|default.*|target|reoffend.*|recid.*|paid|observed"
_GOOD = (
    r"yes|y|true|1|1\.0|approved|approve|accepted|accept|granted|grant|hired|hire|admitted|admit|selected|offer|"
    r"offered|good|pass|passed|positive|favourable|favorable|invited|>50k|paid|repaid"
)
_BAD = (
    r"no|n|false|0|0\.0|denied|deny|rejected|reject|refused|refuse|declined|decline|bad|fail|failed|negative|"
    r"unfavourable|unfavorable|<=50k|default|defaulted"
)
_MANY_LEVELS = 30
_FEW_PEOPLE = 100
_MOST_SHOWN = 6


class Given(NamedTuple):
    """Roles that the user has told; the rest is guessed."""

    protected: tuple[str, ...] = ()
    decision: str | None = None
    score: str | None = None


@dataclass(frozen=True)
class _Line:
    """One key of the draft, with what there is to say about it."""

    key: str
    value: object
    comment: str = ""
    guess: bool = False
    active: bool = True


class _Seen:
    """One table, its columns read when they are asked for."""

    def __init__(self, source: Source) -> None:
        self.source, self.declared = source, None if source.disclosure is None else source.disclosure.count
        self.columns = tuple(name for name in source.columns if name != self.declared)
        self.weight: str | None = None
        self._tables: dict[tuple[str, ...], Table] = {}

    def table(self, *columns: str) -> Table:
        if columns not in self._tables:
            self._tables[columns] = self.source.read(list(columns), missing="level")
        return self._tables[columns]

    def rows(self) -> int:
        origin = self.table(self.columns[0]).origin
        assert origin is not None
        return origin.rows

    def people(self, column: str) -> float:
        """Return how many people the rows with a value stand for."""
        return self.source.read([column], weight=self.weight, missing="level").total

    def levels(self, column: str) -> list[Level]:
        return [level for level in self.table(column)[column].levels if level is not None]

    def gaps(self, column: str) -> int:
        origin = self.table(column).origin
        assert origin is not None
        return sum(entry.rows for entry in origin.missing)

    def numbers(self, column: str) -> list[float] | None:
        """Return the levels as numbers, None where one of them is none."""
        try:
            return [float(show(level)) for level in self.levels(column)] or None
        except ValueError:
            return None


def draft(internal: str, external: str, given: Given, *, spelled: Callable[[str], str] = str) -> str:
    """Return the text of a spec for two tables, every guess marked.

    Parameters
    ----------
    internal, external : str
        Paths or patterns.
    given : Given
        Roles that are no guesses.
    spelled : callable
        Writes a path as the spec is to have it.

    Returns
    -------
    str
        TOML. Where no decision or protected column can be guessed, a `SourceError` lists the columns.
    """
    inside, outside = _Seen(open_source(internal, "internal")), _Seen(open_source(external, "external"))
    _check(inside, outside, given)
    weights = inside.weight, outside.weight = _weights(inside, outside)
    lines = [_Line("internal", spelled(internal)), _Line("external", spelled(external))]
    protected = _protected(inside, outside, weights[1], given)
    outcome = _outcome(inside, outside, weights[0], given)
    columns = {str(line.value) for line in outcome if line.key in ("decision", "score", "label")}
    taken: set[str | None] = {*columns, *weights, *_names(protected.value)}
    common, bins = _common(inside, outside, taken)
    lines += [protected, *outcome, *_weight_lines(weights), common]
    lines += _missing(inside, outside, [protected, *outcome, common])
    return _text([*lines, *_reference(outside, protected), *_settings()], bins)


def _check(inside: _Seen, outside: _Seen, given: Given) -> None:
    """Refuse columns that are not there."""
    for name in given.protected:
        outside.table(name)
    for column in (given.decision, given.score):
        if column is not None:
            inside.table(column)


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else [str(value)]


# -- weights -----------------------------------------------------------------------------------------------------------


def _weights(inside: _Seen, outside: _Seen) -> tuple[str | None, str | None]:
    return (
        inside.declared or _weight(inside, set(outside.columns)),
        outside.declared or _weight(outside, set(inside.columns)),
    )


def _weight(seen: _Seen, elsewhere: set[str]) -> str | None:
    """Return the column that looks like counts or weights: by its name, or because nothing else occurs twice."""
    named = [name for name in _named(seen.columns, _WEIGHTS) if _countable(seen, name)]
    if named:
        return named[0]
    own = [name for name in seen.columns if name not in elsewhere and _countable(seen, name) and _wide(seen, name)]
    rest = [name for name in seen.columns if name not in own]
    if len(own) != 1 or not rest or len(seen.table(*rest).weights) < seen.rows():
        return None
    return own[0]


def _countable(seen: _Seen, column: str) -> bool:
    numbers = None if seen.gaps(column) else seen.numbers(column)
    return numbers is not None and min(numbers) >= 0 and max(numbers) > 1 and np.isfinite(numbers).all().item()


def _wide(seen: _Seen, column: str) -> bool:
    return len(seen.levels(column)) > 2


def _named(columns: Iterable[str], pattern: str) -> list[str]:
    return [name for name in columns if re.fullmatch(pattern, name.strip().casefold())]


def _weight_lines(weights: tuple[str | None, str | None]) -> list[_Line]:
    said = "how many people a row stands for; leave it out if every row is one person"
    return [
        _Line(f"{role}_weight", weight, said, guess=True)
        if weight is not None
        else _Line(f"{role}_weight", "COLUMN", "no column looked like counts: every row is one person", active=False)
        for role, weight in zip(("internal", "external"), weights, strict=True)
    ]


# -- roles -------------------------------------------------------------------------------------------------------------


def _protected(inside: _Seen, outside: _Seen, weight: str | None, given: Given) -> _Line:
    if given.protected:
        return _Line("protected", list(given.protected))
    own = [name for name in outside.columns if name not in inside.columns and name != weight]
    few = [name for name in own if len(outside.levels(name)) <= _MANY_LEVELS]
    found = _named(few, _PROTECTED) or few
    if not found:
        raise SourceError(
            f"no column of {outside.source.place} looks protected: those that the internal table lacks are "
            f"{listed(own) or 'none'}; name it with --protected"
        )
    others = f"; others that only this table has: {listed(name for name in own if name != found[0])}" * (len(own) > 1)
    levels = _shown_levels(outside.levels(found[0]))
    return _Line("protected", [found[0]], f"its groups are {levels}; several columns are combined{others}", guess=True)


def _outcome(inside: _Seen, outside: _Seen, weight: str | None, given: Given) -> list[_Line]:
    """Return the lines of the decision or the score, and of a column that may be the true outcome."""
    own = [name for name in inside.columns if name not in outside.columns and name != weight]
    two = [name for name in own if len(inside.levels(name)) == 2]
    score = _score(inside, own, two, given)
    if score is not None:
        return [score]
    decisions = _named(two, _DECISION) or [name for name in two if name not in _named(two, _LABEL)] or two
    column = decisions[0] if given.decision is None else given.decision
    others = [name for name in two if name != column]
    note = f"the model's decision; other columns of two levels: {listed(others)}" if others else "the model's decision"
    lines = [_Line("decision", column, note, guess=given.decision is None), _favourable(inside, column)]
    if labels := _named(others, _LABEL):
        lines.append(_Line("label", labels[0], "the true outcome, if that is what it holds", guess=True, active=False))
    return lines


def _score(inside: _Seen, own: Sequence[str], two: Sequence[str], given: Given) -> _Line | None:
    """Return the line of a score where there is one by its name, or where there is no decision."""
    if given.score is not None:
        return _Line("score", given.score)
    if given.decision is not None or _named(two, _DECISION):
        return None
    scores = [name for name in own if not inside.gaps(name) and _in_unit(inside.numbers(name))]
    named = [name for name in _named(scores, _SCORE) if name not in two]
    found = named or ([] if two else scores)
    if not found and not two:
        raise SourceError(
            f"no column of {inside.source.place} looks like a decision (two levels) or a score (numbers from 0 to 1): "
            f"those that the external table lacks are {listed(own) or 'none'}; name it with --decision or --score"
        )
    said = "the probability of the favourable decision, not of the other one"
    return _Line("score", found[0], said, guess=True) if found else None


def _in_unit(numbers: list[float] | None) -> bool:
    return numbers is not None and all(0 <= number <= 1 for number in numbers)


def _favourable(inside: _Seen, column: str) -> _Line:
    levels = [show(level) for level in inside.levels(column)]
    good, bad = _named(levels, _GOOD), _named(levels, _BAD)
    rest = [level for level in levels if level not in bad]
    sure = good[0] if len(good) == 1 else rest[0] if len(rest) == 1 else None
    hint = "the level that people want" if sure else "THE NAMES OF THE LEVELS DO NOT SAY WHICH ONE PEOPLE WANT"
    return _Line("favourable", sure or levels[-1], f"{hint}; the levels are {_shown_levels(levels)}", guess=True)


def _shown_levels(levels: Sequence[Level]) -> str:
    return listed((show(level) for level in levels), most=_MOST_SHOWN)


# -- common columns ----------------------------------------------------------------------------------------------------


def _common(inside: _Seen, outside: _Seen, taken: set[str | None]) -> tuple[_Line, dict[str, list[float]]]:
    """Return the line of the common columns, and cuts for those that are numbers of many levels."""
    shared = [name for name in inside.columns if name in outside.columns and name not in taken]
    numeric = [name for name in shared if _numeric(inside, outside, name)]
    bins = {name: cuts for name in numeric if (cuts := _cuts(outside, name))}
    unusable = [name for name in shared if name not in bins and _identifies(inside, outside, name)]
    kept = [name for name in shared if name not in unusable]
    if not kept:
        raise SourceError(
            f"the two tables share no column that could link them: internal has {listed(inside.columns)}, external has "
            f"{listed(outside.columns)}; rename a column so that they share one"
        )
    left = f"; left out, as they look like identifiers: {listed(unusable)}" if unusable else ""
    return _Line("common", kept, f"what links the two tables; it must mean the same in both{left}", guess=True), bins


def _numeric(inside: _Seen, outside: _Seen, name: str) -> bool:
    """Whether a column holds numbers of so many levels that there are few people to a level."""
    return any(_sparse(seen, name) for seen in (inside, outside)) and all(
        seen.numbers(name) is not None for seen in (inside, outside)
    )


def _sparse(seen: _Seen, name: str) -> bool:
    n = len(seen.levels(name))
    return n > _MANY_LEVELS and seen.people(name) < n * _FEW_PEOPLE


def _cuts(outside: _Seen, name: str) -> list[float]:
    """Return the quartiles, as they are in the data, that cut a column of numbers into intervals."""
    table = outside.table(name)
    numbers = np.array([np.nan if level is None else float(show(level)) for level in table[name].levels])
    order = np.argsort(numbers[table.column(name)])
    values = numbers[table.column(name)][order]
    known = ~np.isnan(values)
    heaped = np.cumsum(table.weights[order][known])
    at = np.searchsorted(heaped, np.array([0.25, 0.5, 0.75]) * heaped[-1])
    cuts = dict.fromkeys(values[known][at].tolist())
    return [int(cut) if cut == int(cut) else cut for cut in cuts]


def _identifies(inside: _Seen, outside: _Seen, name: str) -> bool:
    return any(len(seen.levels(name)) > max(_MANY_LEVELS, seen.rows() / 2) for seen in (inside, outside))


def _missing(inside: _Seen, outside: _Seen, lines: Sequence[_Line]) -> list[_Line]:
    """Say what to do with empty cells, where there are any in the columns to be read."""
    names = dict.fromkeys(
        name for line in lines if line.active and line.key != "favourable" for name in _names(line.value)
    )
    gaps = [
        f"{name!r} ({seen.gaps(name)})"
        for seen in (inside, outside)
        for name in names
        if name in seen.columns and seen.gaps(name)
    ]
    if not gaps:
        return []
    return [_Line("missing", "drop", f"rows without a value in {', '.join(gaps)}: drop them, or level", guess=True)]


# -- the text ----------------------------------------------------------------------------------------------------------


def _reference(outside: _Seen, protected: _Line) -> list[_Line]:
    names = _names(protected.value)
    if len(names) > 1 or names[0] not in outside.columns:
        return [_Line("reference", "GROUP", "whom the others are compared with; by default the largest", active=False)]
    levels = [show(level) for level in outside.levels(names[0])]
    said = "whom the others are compared with; by default the largest group"
    return [_Line("reference", levels[0], said, active=False)]


def _settings() -> list[_Line]:
    return [
        _Line("population", "external", "whose fairness it is about: external (the census) or internal"),
        _Line("threshold", 0.8, "what ratios are compared with"),
        _Line("metric", ["disparate_impact"], "by default the usual ones; see fairbounds audit --help", active=False),
        _Line("method", ["independence"], "estimates to put beside the bounds", active=False),
        _Line("report", "audit.html", "write an HTML report", active=False),
        _Line("gate", value=True, comment="turn the verdicts into an exit code", active=False),
    ]


def _text(lines: Sequence[_Line], bins: dict[str, list[float]]) -> str:
    head = "# What fairbounds audit is to do. A GUESS was guessed from the two files: confirm it or correct it.\n"
    body = "".join(map(_written, lines))
    if not bins:
        return head + body
    cut = AuditSpec({"bin": dict(bins)}).to_toml().lstrip()
    return f"{head}{body}\n# GUESS: numbers of many levels, cut at their quartiles\n{cut}"


def _written(line: _Line) -> str:
    """Write one key below its comment; names in comments cannot end the line."""
    marked = f"GUESS: {line.comment}" if line.guess else line.comment
    comment = f"# {_one_line(marked)}\n" if marked else ""
    return f"{comment}{'' if line.active else '# '}{line.key} = {written(line.value)}\n"


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
