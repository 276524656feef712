"""Which columns of the internal table hold the decision, score and true outcome, and which level is favourable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, TableError, listed
from fairbounds.levels import Level, show
from fairbounds.tables import Table

__all__ = ["Outcome"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_YES = ("1", "true", "yes", "y")
_NO = ("0", "false", "no", "n")


@dataclass(frozen=True)
class Outcome:
    """The roles of the internal columns, with every level settled.

    Attributes
    ----------
    column : str
        The decision or the score.
    is_score : bool
        Whether it holds P(favourable decision) rather than a decision.
    favourable : Level
        The level of the decision that people want; ``None`` for scores.
    label : str or None
        Column of the true outcome.
    positive : Level
        Its favourable level.
    guessed : tuple of str
        Choices made for the user, in words.
    """

    column: str
    is_score: bool
    favourable: Level = None
    label: str | None = None
    positive: Level = None
    guessed: tuple[str, ...] = ()

    @classmethod
    def settle(
        cls,
        table: Table,
        *,
        decision: str | None = None,
        favourable: Level = None,
        label: str | None = None,
        positive: Level = None,
        score: str | None = None,
    ) -> Outcome:
        """Check the roles against the table and settle the levels that the user left open."""
        column = _one_of(decision, score)
        if positive is not None and label is None:
            raise ProblemError(f"--positive {show(positive)} names a level of the label; name its column with --label")
        if score is not None and favourable is not None and label is None:
            raise ProblemError(
                f"--favourable {show(favourable)} names a level of a decision, but {score!r} is a score, the "
                "probability of the favourable decision; leave it out"
            )
        guessed: list[str] = []
        if score is not None:
            _check_scores(table, score)
            chosen: Level = None
        else:
            chosen = _settle_level(table, column, favourable, "decision", "--favourable", guessed)
        if label is None:
            return cls(column, score is not None, chosen, guessed=tuple(guessed))
        hint = positive if positive is not None else _known(table, label, chosen if score is None else favourable)
        good = _settle_level(table, label, hint, "label", "--positive", guessed)
        return cls(column, score is not None, chosen, label, good, tuple(guessed))

    @property
    def columns(self) -> tuple[str, ...]:
        """The outcome's columns in the internal table."""
        return (self.column,) if self.label is None else (self.column, self.label)

    def atoms(self, table: Table) -> tuple[FloatArray, FloatArray | None]:
        """Return P(favourable decision), and the label as 0 or 1, of each cell."""
        levels = table[self.column].levels
        value = [float(level) if self.is_score else float(level == self.favourable) for level in levels]  # type: ignore[arg-type]
        score = np.array(value)[table.column(self.column)]
        if self.label is None:
            return score, None
        positive = np.array([float(level == self.positive) for level in table[self.label].levels])
        return score, positive[table.column(self.label)]


def _one_of(decision: str | None, score: str | None) -> str:
    if decision is not None and score is not None:
        raise ProblemError(f"give a decision column or a score column, not both ({decision!r} and {score!r})")
    column = decision if decision is not None else score
    if column is None:
        raise ProblemError("name the column that holds the decision (--decision) or the score (--score)")
    return column


def _check_scores(table: Table, score: str) -> None:
    for level in table[score].levels:
        if level is None:
            raise ProblemError(f"score {score!r} has missing values; drop them with --missing drop, or fill them in")
        if isinstance(level, str):
            raise ProblemError(f"score {score!r} must hold numbers between 0 and 1, not {show(level)!r}")
        if not 0 <= float(level) <= 1:  # type: ignore[arg-type]
            raise ProblemError(
                f"score {score!r} holds {show(level)}, but scores lie between 0 and 1; divide percentages by 100"
            )


def _known(table: Table, column: str, level: Level) -> Level:
    """Reuse the decision's favourable level for the label where the label has it too."""
    try:
        return None if level is None else table[column].levels[table[column].code(level)]
    except TableError:
        return None


def _settle_level(table: Table, column: str, wanted: Level, role: str, flag: str, guessed: list[str]) -> Level:
    levels = table[column].levels
    if None in levels and wanted is None:
        raise ProblemError(f"{role} {column!r} has missing values; drop them with --missing drop, or fill them in")
    if wanted is not None:
        return levels[table[column].code(wanted)]
    yes = [level for level in levels if show(level).casefold() in (*_YES, "1.0")]
    rest = [level for level in levels if level not in yes]
    if len(yes) == 1 and len(levels) <= 2 and all(show(level).casefold() in (*_NO, "0.0") for level in rest):
        guessed.append(f"The favourable level of {column!r} was taken to be {show(yes[0])!r}")
        return yes[0]
    raise ProblemError(
        f"{role} {column!r} has the levels {listed(show(level) for level in levels)}; "
        f"say which one is favourable with {flag}"
    )
