"""From two sources and the roles of their columns to a `Problem`: what every command begins with."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any, Literal, TypeVar, cast

import numpy as np

from fairbounds.errors import ProblemError, brief
from fairbounds.extremes import prepare
from fairbounds.intake import Bins, Intake, Model, Reading, Recode
from fairbounds.levels import Level, show
from fairbounds.matching import Unmatched
from fairbounds.origins import Origin
from fairbounds.problem import Population, Problem
from fairbounds.results import label_of
from fairbounds.sources import MissingPolicy, Source, open_source
from fairbounds.surveying import read_survey
from fairbounds.surveys import Drawn, ReplicateMethod, Survey
from fairbounds.tables import Table

__all__ = ["Combined", "Roles", "combine", "several"]

T = TypeVar("T")

_MANY_LEVELS = 1000


@dataclass(frozen=True)
class Roles:
    """What the columns of both sources are, and how they are to be read; the words of `fairbounds.audit`."""

    protected: str | Sequence[str]
    decision: str | None = None
    favourable: Level = None
    label: str | None = None
    positive: Level = None
    score: str | None = None
    predict: object | None = None
    features: Sequence[str] | None = None
    common: Sequence[str] | None = None
    reference: Level = None
    population: Population = "external"
    internal_weight: str | None = None
    external_weight: str | None = None
    recode: Recode | None = None
    bins: Bins | None = None
    missing: MissingPolicy = "error"
    unmatched: Unmatched = "warn"
    one_stratum: Literal["allow", "error"] = "allow"
    internal_cluster: str | None = None
    internal_replicates: Sequence[str] | None = None
    external_replicates: Sequence[str] | None = None
    replicate_method: ReplicateMethod = "sdr"
    replicate_factor: float | None = None

    @property
    def drawn(self) -> Drawn:
        """The columns that say how the rows were drawn."""
        names = several(self.internal_replicates) or (), several(self.external_replicates) or ()
        return Drawn(self.internal_cluster, *names, self.replicate_method, self.replicate_factor)


@dataclass(frozen=True, eq=False)
class Combined:
    """A problem, and what is known of how it came about."""

    problem: Problem
    read: Reading
    roles: Roles
    one_table: bool = False
    survey: Survey | None = None

    def provenance(self) -> dict[str, Any]:
        """Return what is needed to read the same tables in the same way, JSON-ready."""
        problem, outcome, roles = self.problem, self.problem.outcome, self.roles
        recode = {name: {show(a): show(b) for a, b in pairs.items()} for name, pairs in (roles.recode or {}).items()}
        return {
            "fairbounds": version("fairbounds"),
            "inputs": {
                "internal": _as_json(self.read.internal.origin),
                "external": _as_json(self.read.external.origin),
            },
            "columns": {
                "common": list(problem.common),
                "protected": list(self.read.protected),
                "decision": self.read.decision,
                "score": self.read.score,
                "label": outcome.label,
                "internal_features": list(problem.internal_features),
                "external_features": list(problem.external_features),
            },
            "favourable": None if outcome.is_score else label_of(outcome.favourable),
            "positive": None if outcome.label is None else label_of(outcome.positive),
            "model": roles.predict is not None,
            "reference": label_of(problem.groups[problem.reference]),
            "recode": recode,
            "bins": {name: list(edges) for name, edges in (roles.bins or {}).items()},
            "missing": roles.missing,
            "unmatched": roles.unmatched,
            "one_table": self.one_table,
            "drawn": roles.drawn.to_dict() if roles.drawn else None,
        }


def combine(internal: object, external: object, roles: Roles, *, keep_features: bool) -> Combined:
    """Read both sources and put them together.

    Parameters
    ----------
    internal, external : path, dataframe or Table
    roles : Roles
    keep_features : bool
        Whether columns that bounds do not need are to be kept: those named as features, or all.
    """
    _refuse_wrong_types(roles)
    if roles.one_stratum not in ("allow", "error"):
        raise ProblemError(f"one_stratum is 'allow' or 'error', not {roles.one_stratum!r}")
    if roles.features is not None and roles.predict is None and not keep_features:
        raise ProblemError(
            "features are what a model, latent_class or feasible_mean look at; give a model with predict=, or ask for "
            "one of these methods"
        )
    intake = _intake(internal, external, roles, keep_features)
    with _meanwhile(prepare):
        read = intake.read(roles.recode or {}, roles.bins or {})
    _refuse_identifiers(read.internal, intake.linking(), "common")
    _refuse_identifiers(read.external, intake.protected, "protected")
    for source, table in ((intake.internal, read.internal), (intake.external, read.external)):
        _refuse_identifiers(table, [name for name in intake.kept_features(source) if name in table.names], "feature")
    problem = Problem.from_tables(
        read.internal,
        read.external,
        protected=intake.protected,
        decision=read.decision,
        favourable=None if read.score is not None and roles.score is None and roles.label is None else roles.favourable,
        label=roles.label,
        positive=roles.positive,
        score=read.score,
        common=intake.strata(),
        reference=roles.reference,
        population=roles.population,
        unmatched=roles.unmatched,
    )
    if roles.one_stratum == "error":
        _refuse_one_stratum(problem)
    survey = read_survey(
        problem,
        roles.drawn,
        (intake.internal, intake.external),
        (roles.internal_weight, roles.external_weight),
        intake.protected,
        roles.recode or {},
        roles.bins or {},
    )
    return Combined(problem, read, roles, intake.one_table, survey)


def _refuse_wrong_types(roles: Roles) -> None:
    """Refuse what only Python can be given wrongly: the command line has text alone."""
    for role in ("decision", "label", "score", "internal_weight", "external_weight", "internal_cluster"):
        if not isinstance(name := getattr(roles, role), str | None):
            raise ProblemError(f"{role} must be the name of a column, not {brief(name)}")
    for role in ("protected", "common", "features", "internal_replicates", "external_replicates"):
        _refuse_no_names(role, getattr(roles, role))
    for role in ("favourable", "positive", "reference"):
        if isinstance(level := getattr(roles, role), list | tuple | dict | set):
            raise ProblemError(f"{role} must be one level, not {brief(level)}")
    _refuse_no_mapping("recode", roles.recode, Mapping, "{'job': {'RN': 'nurse'}}")
    _refuse_no_mapping("bins", roles.bins, Sequence, "{'age': [25, 60]}")


def _refuse_no_names(role: str, names: object) -> None:
    if isinstance(names, str | None):
        return
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ProblemError(f"{role} must be the name of a column or a list of names, not {brief(names)}")


def _refuse_no_mapping(role: str, given: object, inner: type, example: str) -> None:
    if given is None:
        return
    if not isinstance(given, Mapping) or not all(isinstance(each, inner) for each in given.values()):
        raise ProblemError(f"{role} must map columns, such as {example}, not be {brief(given)}")


def _intake(internal: object, external: object, roles: Roles, keep_features: bool) -> Intake:
    inside, outside = open_source(internal, "internal"), open_source(external, "external")
    return Intake(
        inside,
        outside,
        several(roles.protected) or (),
        roles.decision,
        roles.score,
        roles.label,
        several(roles.common),
        _weight(inside, roles.internal_weight),
        _weight(outside, roles.external_weight),
        roles.missing,
        None if roles.predict is None else Model(roles.predict, roles.favourable, internal),
        several(roles.features),
        keep_features,
        _same(internal, external),
        roles.drawn,
    )


def _weight(source: Source, given: str | None) -> str | None:
    """Return the column of weights: the one given, or the counts that the source itself declares."""
    return source.disclosure.count if given is None and source.disclosure is not None else given


def several(names: Sequence[T] | None) -> tuple[T, ...] | None:
    """Take one name for a list of one: text is a sequence of letters, which nobody means."""
    if names is None:
        return None
    if not isinstance(names, Iterable):
        raise ProblemError(f"{names!r} is no list; give names in a list")
    return cast("tuple[T, ...]", (names,)) if isinstance(names, str) else tuple(names)


def _same(internal: object, external: object) -> bool:
    """Whether both sources are one table."""
    if isinstance(internal, str | os.PathLike) and isinstance(external, str | os.PathLike):
        return os.path.abspath(os.fsdecode(internal)) == os.path.abspath(os.fsdecode(external))
    return internal is external


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Work in a thread: reading a file leaves the interpreter free."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _refuse_identifiers(table: Table, names: Sequence[str], role: str) -> None:
    """Refuse a variable with hardly two rows a level: it is a name or number of persons, by mistake."""
    rows = table.total if table.origin is None else table.origin.rows
    for name in names:
        n_levels = len(np.unique(table.column(name)))
        if n_levels > _MANY_LEVELS and n_levels > rows / 2:
            raise ProblemError(
                f"{role} variable {name!r} looks like an identifier: {n_levels} levels in {rows:g} rows; "
                f"{_WAYS_OUT[role]}"
            )


_WAYS_OUT = {
    "common": "leave it out by naming the others with --common, or cut its levels into bins",
    "protected": "name the column with the groups as --protected",
    "feature": "leave it out by naming the others with --feature (features=), or cut its levels into bins",
}


def _refuse_one_stratum(problem: Problem) -> None:
    if len(problem.strata.mass) == 1:
        only = ", ".join(
            f"{name}={show(problem.internal[name].levels[code])}"
            for name, code in zip(problem.common, problem.stratum_codes[0].tolist(), strict=True)
        )
        raise ProblemError(
            f"the common variables never vary in the audited population ({only}), so they link nothing; add a common "
            "variable, or accept the widest bounds with --one-stratum allow"
        )


def _as_json(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {**asdict(origin), "missing": [asdict(entry) for entry in origin.missing]}
