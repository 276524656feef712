"""What the user handed over, read as two tables: only the columns that the audit needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fairbounds.errors import ProblemError, TableError, brief, listed, nearest
from fairbounds.levels import Level, show
from fairbounds.sources import MissingPolicy, Source, apply_model
from fairbounds.surveys import Drawn
from fairbounds.tables import Table

__all__ = ["Bins", "Intake", "Model", "Reading", "Recode", "recoded_alone"]

Recode = Mapping[str, Mapping[Level, Level]]
Bins = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Model:
    """A black box that decides, and the columns it reads.

    Attributes
    ----------
    predict : callable or fitted model
    favourable : Level
    like : object
        Dataframe whose library the features are handed over in.
    """

    predict: object
    favourable: Level = None
    like: object | None = None


class Reading(NamedTuple):
    """The two tables, and the internal columns that hold the outcome."""

    internal: Table
    external: Table
    protected: tuple[str, ...]
    decision: str | None
    score: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Intake:
    """Two sources and the roles of their columns.

    Attributes
    ----------
    internal, external : Source
    protected : tuple of str
    decision, score, label : str or None
    common : tuple of str or None
        ``None`` for every column that both have.
    internal_weight, external_weight : str or None
    missing : {"error", "drop", "level"}
    model : Model or None
    features : tuple of str or None
        Other columns to read, of either source; what a model reads. ``None`` for all others.
    keep_features : bool
        Whether the tables are to have them; a model reads them anyway.
    one_table : bool
        Whether internal and external are the same table, protected columns and all, for a model to be asked about.
    drawn : Drawn
        Columns that say how rows were drawn: they link nothing, and no model reads them.
    """

    internal: Source
    external: Source
    protected: tuple[str, ...]
    decision: str | None = None
    score: str | None = None
    label: str | None = None
    common: tuple[str, ...] | None = None
    internal_weight: str | None = None
    external_weight: str | None = None
    missing: MissingPolicy = "error"
    model: Model | None = None
    features: tuple[str, ...] | None = None
    keep_features: bool = False
    one_table: bool = False
    drawn: Drawn = field(default_factory=Drawn)

    def __post_init__(self) -> None:
        _refuse_unknown(self.external, [*self.protected, *(self.common or ()), self.external_weight])
        outcome = [self.decision, self.score, self.label]
        _refuse_unknown(self.internal, [*outcome, *(self.common or ()), self.internal_weight])
        for name in self.protected:
            if name in self.internal.columns and not (self.one_table and self.model):
                raise ProblemError(
                    f"protected column {name!r} is in the internal data too; compute the metric there directly, or "
                    "leave the column out"
                )
        for name in self.features or ():
            if name not in self.external.columns:
                _refuse_unknown(self.internal, [name])
        self._refuse_double_roles()
        self._refuse_half_weighted()
        if self.model is None and self.decision is None and self.score is None:
            raise ProblemError("name the internal column that holds the decision (--decision) or the score (--score)")
        if self.model is not None and (self.decision is not None or self.score is not None):
            raise ProblemError("a model takes the place of the decision or score column; give one of them only")

    def _refuse_double_roles(self) -> None:
        common = [("a common variable", name) for name in self.common or ()]
        inside = {"the decision": self.decision, "the score": self.score, "the label": self.label}
        outside = [("protected", name) for name in self.protected]
        for roles in (
            [*inside.items(), ("the internal weight", self.internal_weight), *common],
            [*outside, ("the external weight", self.external_weight), *common],
        ):
            for name in {name for _, name in roles if name is not None}:
                named = [role for role, column in roles if column == name]
                if len(named) > 1:
                    given = " and as ".join(named)
                    raise ProblemError(f"column {name!r} cannot have two roles, but is named as {given}; name it once")

    def _refuse_half_weighted(self) -> None:
        """Refuse a column of weights that one table was told of and the other has too."""
        for weight, other, source, flag in (
            (self.internal_weight, self.external_weight, self.external, "external"),
            (self.external_weight, self.internal_weight, self.internal, "internal"),
        ):
            if weight is not None and other is None and weight in source.columns:
                raise ProblemError(
                    f"{source.place} has a column {weight!r} too, which is the weight of the other table; name it with "
                    f"--{flag}-weight {weight}, or rename it if it is no weight"
                )

    def linking(self) -> tuple[str, ...]:
        """Return the common columns: those named, or every column that both sources have."""
        if self.common is not None:
            return tuple(dict.fromkeys(self.common))
        roles = {self.decision, self.score, self.label, self.internal_weight, self.external_weight, *self.protected}
        shared = [name for name in self.internal.columns if name in self.external.columns and name not in roles]
        shared = [name for name in shared if not self.drawn.holds(name)]
        if not shared:
            raise ProblemError(
                f"the two tables have no common column: internal has {listed(self.internal.columns)}, external has "
                f"{listed(self.external.columns)}; rename a column so that they share one"
            )
        return tuple(shared)

    def strata(self) -> tuple[str, ...]:
        """Return the variables that link the tables as `read` returns them.

        A model that reads a protected column of one table decides by it. So its column is a common variable too, under
        another name, or the groups' outcomes would be mixed.
        """
        return (*self.linking(), *map(_twin, self._decided_by))

    @property
    def _decided_by(self) -> tuple[str, ...]:
        """Protected columns that the model reads, of a table that is both internal and external."""
        return tuple(name for name in self.protected if self.one_table and name in (self.features or ()))

    def read(self, recode: Recode, bins: Bins) -> Reading:
        """Read both tables, ask the model if there is one, and recode."""
        common = list(self.linking())
        outside = [*common, *self.protected, *self.kept_features(self.external)]
        external = self.external.read(outside, weight=self.external_weight, missing=self.missing)
        external = _with_twins(external, self._decided_by)
        if self.model is None:
            columns = [*common, *self.kept_features(self.internal)]
            internal, decision, score = self._read_internal(columns), self.decision, self.score
        else:
            internal, decision, score = self._ask(common, self.model)
        notes = (
            *(() if score else _unnamed_counts(self.internal, internal, self.internal_weight, "internal")),
            *_unnamed_counts(self.external, external, self.external_weight, "external"),
        )
        return Reading(*_recoded(internal, external, recode, bins), self.protected, decision, score, notes)

    def kept_features(self, source: Source) -> list[str]:
        """Return the columns of a source that are to be kept beside those with a role."""
        return self._features(source) if self.keep_features else []

    def _features(self, source: Source) -> list[str]:
        roles = {self.internal_weight, self.label, *(() if self.model else (self.decision, self.score))}
        if source is self.external:
            roles = {self.external_weight}
        roles = {*roles, *self.protected, *self.linking()}
        named = source.columns if self.features is None else self.features
        return [name for name in named if name in source.columns and name not in roles and not self.drawn.holds(name)]

    def _read_internal(self, columns: list[str]) -> Table:
        outcome = [name for name in (self.decision, self.score, self.label) if name is not None]
        wanted = list(dict.fromkeys([*columns, *outcome]))
        numbers = [] if self.score is None else [self.score]
        return self.internal.read(wanted, weight=self.internal_weight, missing=self.missing, numbers=numbers)

    def _ask(self, common: list[str], model: Model) -> tuple[Table, str | None, str | None]:
        """Evaluate the model on distinct rows of features, and keep its answers beside the common columns."""
        read = self._model_reads(common)
        rows = self._read_internal([*common, *read])
        answered, kind = apply_model(rows, read, model.predict, favourable=model.favourable, like=model.like)
        column = answered.names[-1]
        label = [] if self.label is None else [self.label]
        twins = [_twin(name) for name in self._decided_by]
        answered = _with_twins(answered, self._decided_by)
        kept = answered.marginal([*common, *twins, *self.kept_features(self.internal), *label, column])
        return (kept, None, column) if kind == "score" else (kept, column, None)

    def _model_reads(self, common: list[str]) -> list[str]:
        """Return the features named, or all internal columns but label, weight and groups, in the source's order."""
        if self.features is not None:
            _refuse_unknown(self.internal, self.features)
            return list(self.features)
        return [name for name in self.internal.columns if name in (*common, *self._features(self.internal))]


def _twin(name: str) -> str:
    return f"{name} as the model reads it"


def _with_twins(table: Table, names: Sequence[str]) -> Table:
    for name in names:
        levels = table[name].levels
        table = table.with_variable(_twin(name), [levels[code] for code in table.column(name).tolist()])
    return table


def _refuse_unknown(source: Source, names: Sequence[str | None]) -> None:
    for name in names:
        if name is not None and name not in source.columns:
            several = all(part.strip() in source.columns for part in name.split(","))
            advice = "; repeat the option for each column" if several else nearest(name, source.columns)
            known = f"its columns are {listed(source.columns)}{source.hint}"
            raise ProblemError(f"{source.place} has no column {brief(name)}{advice}; {known}")


def _unnamed_counts(source: Source, table: Table, weight: str | None, role: str) -> tuple[str, ...]:
    """Notice a table of counts whose counts nobody named: each combination in one row, and a column left over."""
    left = [name for name in source.columns if name not in table.names]
    if weight is not None or not left or table.origin is None or table.n_cells < max(table.origin.rows, 3):
        return ()
    found = f"No combination of {listed(table.names)} occurs twice in the {role} table, whose rows counted once each"
    flag = f"--{role}-weight ({role}_weight=)"
    return (f"{found}: if {listed(left, 3)} holds counts, name it with {flag}.",)


def _recoded(internal: Table, external: Table, recode: Recode, bins: Bins) -> tuple[Table, Table]:
    for name, mapping in recode.items():
        _refuse_nowhere(name, internal, external, "recode")
        if not isinstance(mapping, Mapping):
            raise TableError(f"recode of {name!r} must map old to new levels, not {brief(mapping)}")
        unused = [old for old in mapping if not any(_has(table, name, old) for table in (internal, external))]
        if unused:
            levels = [level for t in (internal, external) if name in t.names for level in t[name].levels]
            raise TableError(
                f"the recode map of {name!r} names {brief(unused[0])}, which neither table has"
                f"{nearest(unused[0], map(show, levels))}"
            )
        internal, external = (_recode_one(table, name, mapping) for table in (internal, external))
    for name, edges in bins.items():
        _refuse_nowhere(name, internal, external, "bin")
        if not all(isinstance(edge, int | float) for edge in edges):
            raise TableError(f"bins of {name!r} must be a list of numbers, not {brief(edges)}")
        internal, external = (t.bin(name, edges) if name in t.names else t for t in (internal, external))
    return internal, external


def recoded_alone(table: Table, recode: Recode, bins: Bins) -> Table:
    """Recode a table that was read once more, by maps that have been checked."""
    for name, mapping in recode.items():
        table = _recode_one(table, name, mapping)
    for name, edges in bins.items():
        table = table.bin(name, edges) if name in table.names else table
    return table


def _refuse_nowhere(name: str, internal: Table, external: Table, verb: str) -> None:
    known = {*internal.names, *external.names}
    if name not in known:
        raise TableError(
            f"there is no column {name!r} to {verb}{nearest(name, known)}; the audit reads {listed(known)}"
        )


def _has(table: Table, name: str, level: Level) -> bool:
    return name in table.names and (level in table[name].levels or show(level) in map(show, table[name].levels))


def _recode_one(table: Table, name: str, mapping: Mapping[Level, Level]) -> Table:
    if name not in table.names:
        return table
    return table.recode(name, {old: new for old, new in mapping.items() if _has(table, name, old)})
