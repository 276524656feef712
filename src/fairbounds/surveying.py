"""Reads the columns that say how rows were drawn: clusters and replicate weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairbounds.errors import ProblemError, listed
from fairbounds.intake import Bins, Recode, recoded_alone
from fairbounds.problem import Problem
from fairbounds.progress import report
from fairbounds.sources import Source
from fairbounds.stratification import Stratification
from fairbounds.surveys import Clusters, Drawn, FloatArray, IntArray, Replicates, Survey, replicate_factor
from fairbounds.tables import Table, distinct_rows

__all__ = ["read_survey"]

_FEWEST = 2


def read_survey(
    problem: Problem,
    drawn: Drawn,
    sources: tuple[Source, Source],
    weights: tuple[str | None, str | None],
    protected: Sequence[str],
    recode: Recode,
    bins: Bins,
) -> Survey | None:
    """Read how the rows of both sources were drawn, or nothing where no column was named.

    Parameters
    ----------
    problem : Problem
    drawn : Drawn
    sources : (Source, Source)
        Internal and external.
    weights : (str or None, str or None)
        Their columns of weights.
    protected : sequence of str
    recode, bins
        As the tables were read.
    """
    if not drawn:
        return None
    place = _Places(problem, tuple(protected), recode, bins)
    clusters = None
    if drawn.internal_cluster is not None:
        clusters = place.clusters(sources[0], drawn.internal_cluster, weights[0])
    found = []
    for role, source, weight in zip(("internal", "external"), sources, weights, strict=True):
        names = drawn.replicates(role, source.columns, weight, source.place)
        if 0 < len(names) < _FEWEST:
            raise ProblemError(f"{source.place} has a single replicate weight, {names[0]!r}; name the others too")
        found.append(place.replicates(source, role, names, drawn) if names else None)
    return Survey(clusters, *found)


class _Places:
    """Where the cells of a table that was read once more stand in the problem."""

    def __init__(self, problem: Problem, protected: tuple[str, ...], recode: Recode, bins: Bins) -> None:
        self._problem, self._protected, self._recode, self._bins = problem, protected, recode, bins
        self._atoms = problem.internal.marginal([*problem.common, *problem.outcome.columns])
        self._strata = Stratification(problem.internal, problem.external, problem.common)

    def clusters(self, source: Source, name: str, weight: str | None) -> Clusters:
        """Read the cluster of every row."""
        if name not in source.columns:
            raise ProblemError(f"{source.place} has no column {name!r}; its columns are {listed(source.columns)}")
        table = self._read(source, "internal", name, weight)
        if len(table[name]) < _FEWEST:
            raise ProblemError(
                f"all rows of {source.place} are in one cluster ({name!r}); its sampling error is unknown"
            )
        return Clusters(table.column(name), self._cells(table, "internal"), table.weights)

    def replicates(self, source: Source, role: str, names: Sequence[str], drawn: Drawn) -> Replicates:
        """Read one table per replicate weight."""
        tables = []
        for at, name in enumerate(names):
            report(f"Reading {len(names)} replicate weights", at / len(names))
            tables.append(self._replicate(source, role, name))
        factor = drawn.replicate_factor
        return Replicates(
            np.stack(tables), replicate_factor(drawn.replicate_method, len(names)) if factor is None else factor
        )

    def _replicate(self, source: Source, role: str, name: str) -> FloatArray:
        # A level rather than a weight: replicate weights may be negative.
        table = self._read(source, role, name, None, numbers=True)
        value = np.array(table[name].levels, dtype=np.float64)[table.column(name)]
        shape = (len(self._atoms.weights),) if role == "internal" else (
            len(self._strata.codes), len(self._problem.groups)
        )  # fmt: skip
        cells = self._cells(table, role)
        total = np.bincount(cells, weights=value * table.weights, minlength=int(np.prod(shape)))
        return total.reshape(shape).astype(np.float64)

    def _read(self, source: Source, role: str, name: str, weight: str | None, *, numbers: bool = False) -> Table:
        problem = self._problem
        outcome = list(problem.outcome.columns) if role == "internal" else list(self._protected)
        score = [problem.outcome.column] if role == "internal" and problem.outcome.is_score else []
        columns = [*problem.common, *outcome]
        if name in columns:
            raise ProblemError(
                f"column {name!r} of {source.place} cannot say how rows were drawn: it is {name!r} itself"
            )
        lost = [column for column in columns if column not in source.columns]
        if lost:
            raise ProblemError(f"{source.place} has no column {lost[0]!r}, so that its clusters cannot be read")
        table = source.read(
            [*columns, name], weight=weight, missing="level", numbers=[*score, *([name] if numbers else [])]
        )
        if None in table[name].levels:
            raise ProblemError(
                f"{name!r} of {source.place} lacks a value in some rows; leave these rows out of the file"
            )
        origin = problem.internal.origin if role == "internal" else problem.external.origin
        if origin is not None and origin.missing_policy == "drop":
            kept = np.ones(table.n_cells, dtype=bool)
            for column in columns:
                kept &= np.array([level is not None for level in table[column].levels])[table.column(column)]
            table = Table(table.variables, table.codes[kept], table.weights[kept])
        return recoded_alone(table, self._recode, self._bins)

    def _cells(self, table: Table, role: str) -> IntArray:
        """Return the place of each cell among the atoms, or among strata × groups."""
        problem = self._problem
        if role == "internal":
            names = [*problem.common, *problem.outcome.columns]
            own = _coded(table, names, problem.internal)
            return _located(own, self._atoms.codes, [len(problem.internal[name]) for name in names])
        table = table.product(list(self._protected), problem.protected)
        own = _coded(table, problem.common, problem.internal)
        stratum = _located(own, self._strata.codes, [len(problem.internal[name]) for name in problem.common])
        group = _coded(table, [problem.protected], problem.external)[:, 0]
        position = {problem.external[problem.protected].code(level): at for at, level in enumerate(problem.groups)}
        return stratum * len(problem.groups) + np.array([position[int(code)] for code in group], dtype=np.int64)


def _coded(table: Table, names: Sequence[str], like: Table) -> IntArray:
    """Return the codes that another table gives to the levels of this one."""
    out = np.empty((table.n_cells, len(names)), dtype=np.int64)
    for axis, name in enumerate(names):
        used, position = np.unique(table.column(name), return_inverse=True)
        levels = [table[name].levels[code] for code in used.tolist()]  # others belonged to rows that were left out
        out[:, axis] = np.array([like[name].code(level) for level in levels], dtype=np.int64)[position]
    return out


def _located(codes: IntArray, known: IntArray, sizes: Sequence[int]) -> IntArray:
    _, position = distinct_rows(np.vstack([known, codes]), sizes)
    place = np.full(int(position.max()) + 1, -1, dtype=np.int64)
    place[position[: len(known)]] = np.arange(len(known))
    found = place[position[len(known) :]]
    if (found < 0).any():
        raise ProblemError(
            "some rows have a replicate weight but no weight of their own; give them one, or leave them out"
        )
    return found
