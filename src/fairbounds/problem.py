"""Two tables, an outcome and a population make a problem: what is known inside each stratum."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError, brief, listed, nearest
from fairbounds.kernels.strata import EXTERNAL_ONLY, INTERNAL_ONLY, StrataArrays
from fairbounds.levels import Level, show
from fairbounds.matching import Unmatched, match_levels
from fairbounds.mismatch import measure, sample_size
from fairbounds.outcomes import Outcome
from fairbounds.results import Mismatch, StrataSummary
from fairbounds.stratification import Stratification
from fairbounds.tables import PRODUCT_SIGN, Table, distinct_rows

__all__ = ["Population", "Problem"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Population: TypeAlias = Literal["external", "internal"]


@dataclass(frozen=True, eq=False)
class Problem:
    """What two tables say about an outcome and a protected variable; build it with `from_tables`.

    Attributes
    ----------
    internal : Table
        Over the common variables, the internal features and the outcome.
    external : Table
        Over the common variables, with the internal table's levels, other external variables and the protected one.
    common : tuple of str
    protected : str
    outcome : Outcome
    population : {"external", "internal"}
        Whose joint is audited.
    groups : tuple
        Levels of the protected variable with mass.
    reference : int
        Position of the reference group.
    strata : StrataArrays
        What the kernels read.
    stratum_codes : array of int, shape (C, common variables)
    score : array, shape (A,)
        P(favourable decision) of each outcome atom.
    label : array of 0 and 1, shape (A,), or None
    atom_codes : array of int, shape (A, outcome columns)
    mismatch : Mismatch
    summary : StrataSummary
    notes : tuple of str
        Levels that were matched other than by equality.

    Examples
    --------
    >>> internal = Table.from_columns({"job": ["a", "a", "b"], "approved": ["yes", "no", "yes"]})
    >>> external = Table.from_columns({"job": ["a", "b", "b"], "sex": ["F", "F", "M"]})
    >>> problem = Problem.from_tables(internal, external, protected="sex", decision="approved")
    >>> problem.groups, problem.strata.mass.round(3).tolist()
    (('F', 'M'), [0.333, 0.667])
    """

    internal: Table
    external: Table
    common: tuple[str, ...]
    protected: str
    outcome: Outcome
    population: Population
    groups: tuple[Level, ...]
    reference: int
    strata: StrataArrays
    stratum_codes: IntArray
    score: FloatArray
    label: FloatArray | None
    atom_codes: IntArray
    mismatch: Mismatch
    summary: StrataSummary
    notes: tuple[str, ...] = ()

    @classmethod
    def from_tables(
        cls,
        internal: Table,
        external: Table,
        *,
        protected: str | Sequence[str],
        decision: str | None = None,
        favourable: Level = None,
        label: str | None = None,
        positive: Level = None,
        score: str | None = None,
        common: Sequence[str] | None = None,
        reference: Level = None,
        population: Population = "external",
        unmatched: Unmatched = "warn",
        features: Sequence[str] | None = None,
    ) -> Problem:
        """Combine two tables.

        Parameters
        ----------
        internal, external : Table
        protected : str or sequence of str
            Protected variables of the external table; several are combined into one.
        decision, score : str
            Column of the internal table; exactly one of the two.
        favourable : optional
            Level of the decision that people want.
        label : str, optional
            True outcome in the internal table.
        positive : optional
            Favourable level of the label.
        common : sequence of str, optional
            By default the variables that both tables have.
        reference : optional
            Group that others are compared with; by default the largest.
        population : {"external", "internal"}
        unmatched : {"warn", "error"}
            What to do about levels and strata that one table lacks.
        features : sequence of str, optional
            Other variables of either table, which the bounds do not need but the feasible set and the latent class
            model do; by default all others.
        """
        if population not in get_args(Population):
            raise ProblemError(f"population is 'external' or 'internal', not {population!r}")
        outcome = Outcome.settle(
            internal, decision=decision, favourable=favourable, label=label, positive=positive, score=score
        )
        external, group_name = _combine_protected(internal, external, protected)
        names = _settle_common(internal, external, common, outcome, group_name)
        inside, outside = _settle_features(internal, external, features, {*names, *outcome.columns, group_name})
        internal, external, notes = match_levels(
            internal.marginal([*names, *inside, *outcome.columns]),
            external.marginal([*names, *outside, group_name]),
            names,
            unmatched,
        )
        strata = Stratification(internal, external, names)
        if unmatched == "error":
            strata.refuse_one_sided()
        problem = _assemble(internal, external, names, group_name, outcome, population, notes, strata)
        if reference is None:
            return problem
        return replace(problem, reference=problem.group_position(reference))

    @property
    def internal_features(self) -> tuple[str, ...]:
        """Internal variables that are neither common nor the outcome."""
        return tuple(name for name in self.internal.names if name not in (*self.common, *self.outcome.columns))

    @property
    def external_features(self) -> tuple[str, ...]:
        """External variables that are neither common nor protected."""
        return tuple(name for name in self.external.names if name not in (*self.common, self.protected))

    def locate(self, table: Table) -> IntArray:
        """Return the stratum of each cell of one of the two tables; −1 where the audited population has nobody."""
        own = table.codes[:, [table.axis(name) for name in self.common]]
        sizes = [len(self.internal[name]) for name in self.common]
        _, position = distinct_rows(np.vstack([self.stratum_codes, own]), sizes)
        place = np.full(int(position.max()) + 1, -1, dtype=np.int64)
        place[position[: len(self.stratum_codes)]] = np.arange(len(self.stratum_codes))
        return place[position[len(self.stratum_codes) :]]

    @property
    def group_mass(self) -> FloatArray:
        """Mass of each group in the audited population, strata of unknown shares aside, shape (G,)."""
        return self.strata.certain_group_mass

    @cached_property
    def loose_mass(self) -> float:
        """Mass of the strata whose shares are unknown."""
        return float(self.strata.mass[self.strata.side == INTERNAL_ONLY].sum())

    def group_position(self, group: Level) -> int:
        """Return the position of a group, or raise a `ProblemError` that names the nearest one."""
        for position, level in enumerate(self.groups):
            if level == group or show(level) == show(group):
                return position
        typed = [_parts(show(level)) for level in self.groups]
        if PRODUCT_SIGN in self.protected and _parts(show(group)) in typed:
            return typed.index(_parts(show(group)))
        if show(group) in map(show, self.external[self.protected].levels):
            raise ProblemError(
                f"group {group!r} of {self.protected!r} has no known mass in the audited population "
                f"({self.population}); choose another, or audit the other population"
            )
        raise ProblemError(
            f"{self.protected!r} has no group {brief(group)}{nearest(group, [show(g) for g in self.groups])}; "
            f"its groups are {listed(show(level) for level in self.groups)}"
        )


def _parts(text: str) -> list[str]:
    """Split a combined group as it may be typed: ``White × M``, ``White x M`` or ``White,M``."""
    return [part.strip() for part in re.split(r" × | x |,", text)]


def _combine_protected(internal: Table, external: Table, protected: str | Sequence[str]) -> tuple[Table, str]:
    names = [protected] if isinstance(protected, str) else list(protected)
    if not names:
        raise ProblemError("name at least one protected variable")
    for name in names:
        external.axis(name)
        if name in internal.names:
            raise ProblemError(
                f"{name!r} is protected, yet the internal table has it too; leave it out of the internal table, or "
                "compute the metric there directly"
            )
    into = PRODUCT_SIGN.join(names)
    return external.product(names, into), into


def _settle_common(
    internal: Table, external: Table, common: Sequence[str] | None, outcome: Outcome, protected: str
) -> tuple[str, ...]:
    roles = {*outcome.columns, protected}
    if common is None:
        names = [name for name in internal.names if name in external.names and name not in roles]
    else:
        names = list(dict.fromkeys(common))
    for name in names:
        internal.axis(name)
        external.axis(name)
        if name in roles:
            raise ProblemError(f"{name!r} cannot be a common variable: it is the outcome or the protected variable")
    if not names:
        raise ProblemError(
            f"the two tables have no common variable: internal has {listed(internal.names)}, external has "
            f"{listed(external.names)}; rename a column so that they share one"
        )
    return tuple(names)


def _settle_features(
    internal: Table, external: Table, features: Sequence[str] | None, roles: set[str]
) -> tuple[list[str], list[str]]:
    """Return the other variables of each table that are to be kept."""
    for name in features or ():
        if name not in internal.names and name not in external.names:
            known = sorted({*internal.names, *external.names} - roles)
            raise ProblemError(
                f"neither table has a feature {brief(name)}{nearest(name, known)}; there are {listed(known)}"
            )
    inside, outside = (
        [name for name in table.names if name not in roles and (features is None or name in features)]
        for table in (internal, external)
    )
    return inside, outside


def _assemble(
    internal: Table,
    external: Table,
    names: tuple[str, ...],
    protected: str,
    outcome: Outcome,
    population: Population,
    notes: tuple[str, ...],
    strata: Stratification,
) -> Problem:
    """Keep the strata with mass in the audited population, and what each table says inside them."""
    mass = strata.external_mass if population == "external" else strata.internal_mass
    kept = np.flatnonzero(mass > 0)
    shares, present = _shares(strata, external, protected, kept, population)
    if len(present) < 2:
        raise ProblemError(
            f"{protected!r} needs at least two groups to compare; only "
            f"{listed(show(external[protected].levels[code]) for code in present)} has mass in the audited population"
        )
    atoms = internal.marginal([*names, *outcome.columns])
    stratum = strata.locate(atoms)
    inside = mass[stratum] > 0
    score, label = outcome.atoms(atoms)
    arrays = StrataArrays(
        mass=mass[kept],
        shares=shares,
        side=strata.side[kept],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(stratum[inside], minlength=len(mass))[kept])]),
        weight=(atoms.weights / atoms.total / strata.internal_mass[stratum])[inside],
    )
    return Problem(
        internal=internal,
        external=external,
        common=names,
        protected=protected,
        outcome=outcome,
        population=population,
        groups=tuple(external[protected].levels[code] for code in present),
        reference=int(np.argmax(arrays.certain_group_mass)),
        strata=arrays,
        stratum_codes=strata.codes[kept],
        score=score[inside],
        label=None if label is None else label[inside],
        atom_codes=atoms.codes[inside][:, len(names) :],
        mismatch=_mismatch(strata, internal, external),
        summary=StrataSummary(
            n=len(kept),
            internal_only_mass=float(strata.internal_mass[strata.side == INTERNAL_ONLY].sum()),
            external_only_mass=float(strata.external_mass[strata.side == EXTERNAL_ONLY].sum()),
        ),
        notes=notes,
    )


def _shares(
    strata: Stratification, external: Table, protected: str, kept: IntArray, population: Population
) -> tuple[FloatArray, list[int]]:
    """Return P(group | stratum) over the kept strata, and the codes of the groups that may have mass there.

    Where shares are unknown (strata that the external table lacks), people of any of its groups may be.
    """
    cells = np.zeros((len(strata.codes), len(external[protected])))
    np.add.at(cells, (strata.locate(external), external.column(protected)), external.weights)
    loose = population == "internal" and bool((strata.side[kept] == INTERNAL_ONLY).any())
    present = np.flatnonzero((cells if loose else cells[kept]).sum(axis=0) > 0)
    cells = cells[kept]
    totals = cells.sum(axis=1, keepdims=True)
    return cells[:, present] / np.where(totals > 0, totals, 1.0), present.tolist()


def _mismatch(strata: Stratification, internal: Table, external: Table) -> Mismatch:
    return measure(
        strata.internal_mass, strata.external_mass, strata.name, (sample_size(internal), sample_size(external))
    )
