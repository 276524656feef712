"""A problem in words: what was combined, what was assumed, what the reader must be warned of."""

from __future__ import annotations

from collections.abc import Sequence

from fairbounds.kernels.strata import EXTERNAL_ONLY, INTERNAL_ONLY
from fairbounds.levels import show
from fairbounds.origins import Origin
from fairbounds.problem import Problem
from fairbounds.tables import Table

__all__ = ["assumptions", "filled_in", "left_out", "one_table", "warnings"]

_STRONG_MISMATCH = 0.1

_ASSUMED = {
    "independence": (
        "The independence estimate assumes that, within a stratum, the outcome does not depend on the group."
    ),
    "latent_class": (
        "The latent class estimate assumes that people belong to a few hidden classes, and that within a class no "
        "variable depends on another."
    ),
    "feasible_mean": (
        "The feasible mean takes every joint distribution that fits both tables to be equally likely: a convention, "
        "not something that the data say."
    ),
    "weighted": "The weighted estimate assumes what the independence estimate does.",
    "regression": "The regression estimate assumes that each group has the same rate in all strata.",
}


def assumptions(problem: Problem, methods: Sequence[str] = (), sampling: str = "") -> tuple[str, ...]:
    """Return what must be true for the bounds, the intervals (`sampling`) and each estimate to hold."""
    common = ", ".join(repr(name) for name in problem.common)
    audited = "the external table" if problem.population == "external" else "the internal table"
    other = "internal" if problem.population == "external" else "external"
    said = [
        f"The audited population is that of {audited}; it is described by its own shares of {common}.",
        f"Within each stratum (combination of {common}), the {other} table describes that population too.",
        f"{common} {'means' if len(problem.common) == 1 else 'mean'} the same thing, and "
        f"{'was' if len(problem.common) == 1 else 'were'} recorded alike, in both tables.",
        f"The reference group is {show(problem.groups[problem.reference])!r}.",
        *([sampling] if sampling else []),
    ]
    if problem.outcome.is_score:
        said.append(
            f"The score {problem.outcome.column!r} is the probability of the favourable decision, and the decision "
            "depends on the group only through the internal features behind the score."
        )
    else:
        said.append(f"The favourable level of {problem.outcome.column!r} is {show(problem.outcome.favourable)!r}.")
    if problem.outcome.label is not None:
        said.append(f"The favourable level of {problem.outcome.label!r} is {show(problem.outcome.positive)!r}.")
    return (*said, *(_ASSUMED[method] for method in methods))


def warnings(problem: Problem) -> tuple[str, ...]:
    """Return what was found in the tables that changes how far the numbers can be trusted."""
    return (
        *_reading(problem.internal, "internal"),
        *_reading(problem.external, "external"),
        *_missing_outcome(problem),
        *_altered(problem.internal, "internal"),
        *_altered(problem.external, "external"),
        *(f"{note}." for note in (*problem.notes, *problem.outcome.guessed)),
        *_one_sided(problem),
        *_without_mass(problem),
        *_disagreement(problem),
    )


def one_table(is_one: bool) -> list[str]:
    """Say what an audit of a model on one table of people, groups and all, can show."""
    if not is_one:
        return []
    return [
        "Internal and external are one table, so what is found holds for the people in it. If they were made up, as by "
        "fairbounds synthesize, it holds for the assumption by which they were made, not for anybody real."
    ]


def _reading(table: Table, role: str) -> list[str]:
    origin: Origin | None = table.origin
    if origin is None or not origin.missing:
        return []
    columns = ", ".join(f"{e.column!r} ({_some(e.rows, 'row', 'rows')}, {e.share:.2%})" for e in origin.missing)
    if origin.missing_policy == "drop":
        gone = _some(origin.dropped_rows, "row", "rows")
        left_out = f"{gone}, {origin.dropped_share:.2%} of the weight, {_were(origin.dropped_rows)} left out"
        return [f"The {role} table has missing values in {columns}; {left_out}."]
    return [f"The {role} table has missing values in {columns}; they were kept as a level of their own."]


def _missing_outcome(problem: Problem) -> list[str]:
    """Say what becomes of a missing outcome that was kept as a level."""
    names = [name for name in problem.outcome.columns if None in problem.internal[name].levels]
    return [f"A missing value of {name!r} counts as not favourable." for name in names]


def _altered(table: Table, role: str) -> list[str]:
    """Say how counts were altered before they were handed over, and what that makes of them."""
    declared = None if table.origin is None else table.origin.disclosure
    if declared is None or declared.is_exact:
        return []
    said = []
    if declared.suppress_below is not None:
        n = declared.suppressed_cells
        read = f"{_some(n, 'cell', 'cells')}, read as {declared.reading(None)[0]:g} each"
        said.append(f"counts below {declared.suppress_below} were suppressed ({read})")
    if declared.round_to is not None:
        said.append(f"counts were rounded to multiples of {declared.round_to}")
    if declared.epsilon is not None:
        said.append(f"noise was added to every count (differential privacy with epsilon {declared.epsilon:g})")
    off = f"a cell may be off by {declared.off_by:g} people; intervals allow for that, bounds do not"
    return [f"The {role} table was handed over altered, as it declares: {', and '.join(said)}; {off}."]


def _some(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def left_out(problem: Problem) -> tuple[str, ...]:
    """Return what of the two tables has no part in a joint that is put together inside strata."""
    return (
        *_altered(problem.internal, "internal"),
        *_altered(problem.external, "external"),
        *(f"{note}." for note in problem.notes),
        *_one_sided(problem, "nobody is drawn from there"),
        *_without_mass(problem),
        *_disagreement(problem),
    )


def filled_in(problem: Problem) -> tuple[str, ...]:
    """Return what a model of both tables has to say of its own where one of them has nobody."""
    summary = problem.summary
    sides = (("external", "internal", summary.external_only_mass), ("internal", "external", summary.internal_only_mass))
    return (
        *(f"{note}." for note in problem.notes),
        *(
            f"{mass:.2%} of the {table} table lies in strata that the {other} table lacks; the model fills in the rest."
            for table, other, mass in sides
            if mass > 0
        ),
        *_disagreement(problem),
    )


def _one_sided(problem: Problem, instead: str | None = None) -> list[str]:
    summary, side = problem.summary, problem.strata.side
    sides = (
        ("external", "internal", summary.external_only_mass, side == EXTERNAL_ONLY, "an unknown outcome"),
        ("internal", "external", summary.internal_only_mass, side == INTERNAL_ONLY, "unknown group shares"),
    )
    said = []
    for table, other, mass, there, unknown in sides:
        n = int(there.sum())
        has = "has" if n == 1 else "have"
        effect = instead or f"{_some(n, 'stratum', 'strata')} there {has} {unknown}, and the bounds allow any"
        if table != problem.population:
            effect = "the audited population has nobody there, so these rows do not count"
        if mass > 0:
            said.append(f"{mass:.2%} of the {table} table lies in strata that the {other} table lacks; {effect}.")
    if side.any() and instead is None:
        said.append("The independence estimate leaves out the strata seen in one table only.")
    return said


def _without_mass(problem: Problem) -> list[str]:
    absent = [level for level in problem.external[problem.protected].levels if level not in problem.groups]
    if not absent:
        return []
    names = ", ".join(repr(show(level)) for level in absent)
    return [f"No mass of the audited population is known to belong to {names}; nothing is reported for them."]


def _disagreement(problem: Problem) -> list[str]:
    distance = problem.mismatch.total_variation
    if distance < _STRONG_MISMATCH:
        return []
    return [
        f"The two tables weigh the strata differently (total variation {distance:.2f}): check that they describe "
        "comparable people, and compare --population external with internal."
    ]
