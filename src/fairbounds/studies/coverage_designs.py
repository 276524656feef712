"""The populations of the coverage study: what is true of them, and samples drawn from them.

A population gives the joint of stratum and outcome, and of stratum and group. A stratum is *tied* where a group is
exactly as large as an event: there the plug-in bounds of a sample are biased inwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.closed_form import phi
from fairbounds.kernels.combining import Form, limits
from fairbounds.kernels.dual_bounds import DualEnds
from fairbounds.kernels.fractional import rate_extremes
from fairbounds.kernels.polymatroid import all_subsets, extreme_of_extremes

__all__ = ["DESIGNS", "Asked", "Design", "Samples", "Truth", "draw"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Ties: TypeAlias = Literal["smooth", "half tied", "all tied"]
Kind: TypeAlias = Literal["selection", "true positive", "precision", "score"]

_SCORES = 4


@dataclass(frozen=True)
class Asked:
    """A metric as the kernels take it: how rates are compared, and of which groups."""

    form: Form
    group: int = 0
    reference: int = 1


_PAIR = (Asked("difference"), Asked("ratio"))
_RATE = (Asked("rate"), *_PAIR)
_ALL = (*_PAIR, Asked("impact_ratio"), Asked("parity_gap"), Asked("parity_ratio"))


@dataclass(frozen=True)
class Design:
    """A population and how both tables are drawn from it.

    Attributes
    ----------
    strata, groups : int
    ties : {"smooth", "half tied", "all tied"}
    kind : {"selection", "true positive", "precision", "score"}
    internal, external : int
        Rows drawn.
    asked : tuple of Asked
    population : {"external", "internal"}
    census : bool
        Whether the external table is the population itself.
    spread : float
        Of the weights (lognormal) of the rows of both tables; 0 for none.
    cluster : int
        People of the internal table that are drawn, and decided on, together; 1 for each alone.
    """

    strata: int
    groups: int
    ties: Ties
    kind: Kind
    internal: int
    external: int
    asked: tuple[Asked, ...] = _PAIR
    population: Literal["external", "internal"] = "external"
    census: bool = False
    spread: float = 0.0
    cluster: int = 1

    @property
    def name(self) -> str:
        """What the tables of the study call it."""
        extra = ["census"] * self.census + ["weighted"] * bool(self.spread) + ["households"] * (self.cluster > 1)
        extra += ["internal population"] * (self.population == "internal")
        return ", ".join([f"{self.strata} strata", f"{self.groups} groups", self.ties, self.kind, *extra])

    @cached_property
    def truth(self) -> Truth:
        """The population, the same in every run."""
        return _population(self)


DESIGNS = (
    Design(2, 2, "smooth", "selection", 300, 300),
    Design(2, 2, "all tied", "selection", 300, 3_000, _RATE),
    Design(10, 2, "half tied", "selection", 1_000, 3_000),
    Design(10, 2, "all tied", "selection", 3_000, 1_000),
    Design(20, 5, "smooth", "selection", 3_000, 10_000, _ALL),
    Design(50, 5, "half tied", "selection", 30_000, 10_000, _ALL),
    Design(100, 2, "all tied", "selection", 3_000, 3_000),
    Design(500, 2, "smooth", "selection", 3_000, 30_000),
    Design(500, 2, "all tied", "selection", 3_000, 3_000),
    Design(500, 5, "half tied", "selection", 30_000, 30_000, _ALL),
    Design(20, 2, "half tied", "selection", 1_000, 3_000, population="internal"),
    Design(20, 2, "all tied", "selection", 1_000, 0, census=True),
    Design(20, 2, "half tied", "selection", 3_000, 3_000, spread=0.8),
    Design(20, 2, "half tied", "selection", 3_000, 10_000, cluster=4),
    Design(10, 2, "smooth", "true positive", 3_000, 3_000, _RATE),
    Design(50, 2, "half tied", "true positive", 10_000, 3_000, _RATE),
    Design(20, 5, "half tied", "precision", 10_000, 10_000, _RATE),
    Design(20, 2, "smooth", "score", 1_000, 3_000),
    Design(100, 2, "half tied", "score", 10_000, 0, census=True),
)


@dataclass(frozen=True, eq=False)
class Truth:
    """A population.

    Attributes
    ----------
    offsets, counted, among
        As for `dual_ends`.
    atoms : array, shape (A,)
    cells : array, shape (C, G)
        Joint distributions; each adds up to 1.
    ends : array, shape (E,)
        Least and greatest rate of each group, then M* and m* where rates are of whole groups.
    sets : array, shape (K, G), or None
    """

    offsets: IntArray
    counted: FloatArray
    among: FloatArray
    atoms: FloatArray
    cells: FloatArray
    ends: FloatArray
    sets: FloatArray | None

    def metric(self, asked: Asked) -> tuple[float, float]:
        """Return the true bounds of a metric."""
        n = len(self.ends)
        exact = DualEnds(self.ends[None], np.zeros((1, n, n)), np.zeros((1, 3, n)))
        lower, upper = limits(exact, asked.form, self.cells.shape[1], asked.group, asked.reference, 0.5)
        return float(lower[0]), float(upper[0])


def _population(design: Design) -> Truth:
    rng = np.random.default_rng([design.strata, design.groups, design.internal, design.external])
    mass = rng.dirichlet(np.full(design.strata, 6.0))
    shares = rng.dirichlet(np.full(design.groups, 2.0 / design.groups), design.strata)
    shares = 0.96 * shares + 0.04 / design.groups
    offsets, counted, among, given = _outcomes(design, shares, rng)
    per = len(counted) // design.strata
    atoms = (mass[:, None] * given).ravel()
    both = np.zeros(design.strata, dtype=np.int64)
    ends = rate_extremes(offsets, counted, among, given.ravel(), mass, shares, both)
    found = np.concatenate([ends[:, 0], ends[:, 1]])
    sets = None
    if any(asked.form in ("impact_ratio", "parity_gap", "parity_ratio") for asked in design.asked):
        sets, none = all_subsets(design.groups), np.zeros(0)
        low, high = phi(offsets, counted, given.ravel(), mass, shares, both, sets)
        found = np.concatenate([found, extreme_of_extremes(sets, low, high, mass @ shares, none, none)])
    assert per * design.strata == len(counted)
    return Truth(offsets, counted, among, atoms, mass[:, None] * shares, found, sets)


def _outcomes(
    design: Design, shares: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Return offsets, counted, among, and the distribution of the outcome in each stratum, shape (C, outcomes)."""
    n = design.strata
    tied = {"smooth": 0, "half tied": n // 2, "all tied": n}[design.ties]
    # The event is as large as the first group, or as everybody else: a greatest rate turns there, or a least one.
    size = np.where(np.arange(n) % 2 == 0, shares[:, 0], 1 - shares[:, 0])
    part = np.where(np.arange(n) < tied, size, rng.uniform(0.1, 0.9, n))
    match design.kind:
        case "selection":
            given, counted, among = np.stack([1 - part, part], axis=1), [0.0, 1.0], [1.0, 1.0]
        case "score":
            top = rng.dirichlet(np.full(_SCORES // 2, 4.0), n) * part[:, None]
            rest = rng.dirichlet(np.full(_SCORES // 2, 4.0), n) * (1 - part)[:, None]
            given, counted, among = np.hstack([rest, top]), [0.1, 0.35, 0.7, 0.95], [1.0] * 4
        case _:
            # Outcomes: neither, among only, counted; among is large enough for every group to have some of it.
            most = np.minimum(part, 0.9)
            missed = (1 - most) * rng.uniform(0.5, 0.95, n)
            given = np.stack([1 - most - missed, missed, most], axis=1)
            counted, among = [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]
    offsets = np.arange(n + 1) * len(counted)
    return offsets, np.tile(counted, n), np.tile(among, n), given


@dataclass(frozen=True, eq=False)
class Samples:
    """Tables drawn from a population.

    Attributes
    ----------
    internal : array, shape (B, A)
    external : array, shape (B, C, G)
        Counts; weighted rows as what they are worth (Kish).
    clusters : array of int, shape (B, households, people)
        Atoms of the people drawn together; empty where everybody was drawn alone.
    """

    internal: FloatArray
    external: FloatArray
    clusters: IntArray


def draw(design: Design, tables: int, rng: np.random.Generator) -> Samples:
    """Draw pairs of tables."""
    truth, clusters = design.truth, np.zeros((tables, 0, 0), dtype=np.int64)
    if design.cluster > 1:
        clusters = _households(design, tables, rng)
        flat = (clusters + len(truth.atoms) * np.arange(tables)[:, None, None]).ravel()
        internal = np.bincount(flat, minlength=tables * len(truth.atoms)).reshape(tables, -1).astype(float)
    else:
        internal = _counts(truth.atoms, design.internal, tables, design.spread, rng)
    if design.census:
        external = np.broadcast_to(truth.cells.ravel() * 1e6, (tables, truth.cells.size)).copy()
    else:
        external = _counts(truth.cells.ravel(), design.external, tables, design.spread, rng)
    return Samples(internal, external.reshape(tables, *truth.cells.shape), clusters)


def _counts(shares: FloatArray, rows: int, tables: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """Draw counts; with a spread, rows drawn unevenly and weighted back, scaled to Kish's effective size."""
    if not spread:
        return rng.multinomial(rows, shares, size=tables).astype(float)
    out = np.empty((tables, len(shares)))
    for at in range(tables):
        kind, weight = rng.choice(len(shares), rows, p=shares), rng.lognormal(0.0, spread, rows)
        out[at] = np.bincount(kind, weights=weight, minlength=len(shares)) * weight.sum() / np.square(weight).sum()
    return out


def _households(design: Design, tables: int, rng: np.random.Generator) -> IntArray:
    """Draw people in households: one stratum for all, and the same outcome for three quarters of those beyond one."""
    truth, each = design.truth, len(design.truth.atoms) // design.strata
    homes = design.internal // design.cluster
    first = rng.choice(len(truth.atoms), (tables, homes, 1), p=truth.atoms)
    stratum = first // each
    given = truth.atoms.reshape(design.strata, each)
    reach = np.cumsum(given / given.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    own = (rng.random((tables, homes, design.cluster, 1)) > reach[stratum]).sum(axis=-1) + each * stratum
    return np.asarray(np.where(rng.random(own.shape) < 0.75, first, own))
