"""Simulated truths, the two tables that an auditor would see of each, and what the method answers.

A trial is a truth, the joint of an internal feature s, a common variable o and a protected attribute e, all with two
levels, and a classifier. A scenario is a trial whose internal table was distorted. Arrays hold all scenarios at once.
The compared groups are e = 0 and e = 1: the ratio of their rates is the disparate impact (DI), the difference the
demographic disparity (DD). The audited population is the external one, unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.kernels.grid import Limits, grid_statistics
from fairbounds.seeds import stream

__all__ = [
    "ALPHAS",
    "BETAS",
    "Answers",
    "Comparison",
    "Design",
    "Scenarios",
    "Trials",
    "answer",
    "distorted",
    "draw_trials",
    "sharp_ends",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Design: TypeAlias = Literal["mirrored", "independent", "ordered"]
Population: TypeAlias = Literal["external", "internal"]

ALPHAS = (0.1, 0.3, 0.5, 0.7, 1.0)
BETAS = (1.0, 3.0, 5.0, 7.0, 10.0)

# Less than this part of the whole mass is taken for none (docs/method.md, 8).
_NOTHING = 1e-13
# A truth outside by no more than this, relative to its size, cannot be told from one inside (docs/method.md, 8).
_ROUNDING = 1e-12


class Trials(NamedTuple):
    """Truths and classifiers, one each per trial.

    Attributes
    ----------
    truth : array, shape (T, 2, 2, 2)
        Probability of every (s, o, e); each truth sums to 1.
    score : array, shape (T, 2, 2)
        P(ŷ=1 | o, s), in the order (o, s).
    """

    truth: FloatArray
    score: FloatArray


def draw_trials(trials: int, seed: int, design: Design = "mirrored", concentration: float = 1.0) -> Trials:
    """Draw truths ~ Dirichlet and classifiers; the same seed gives every design the same truths.

    Parameters
    ----------
    trials : int
    seed : int
    design : {"mirrored", "independent", "ordered"}
        For each o, one u ~ U(0, 1) with P(ŷ=1 | s=0, o) = u and P(ŷ=1 | s=1, o) = 1 − u, as in the paper; or two
        independent draws; or the mirrored ones with the greater probability always at s=1, so that the classifier
        rewards the same feature everywhere.
    concentration : float
        Parameter of each of the eight cells; 1 is the flat distribution of the paper.

    Examples
    --------
    >>> drawn = draw_trials(3, seed=0)
    >>> drawn.truth.shape, drawn.score.sum(axis=2).tolist()
    ((3, 2, 2, 2), [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    """
    if design not in get_args(Design):
        raise ProblemError(f"unknown design {design!r}: mirrored, independent or ordered")
    if trials < 1 or not concentration > 0:
        raise ProblemError(
            f"a study needs at least 1 trial and a concentration above 0, not {trials} and {concentration}"
        )
    cells = stream(seed, "truths").dirichlet(np.full(8, float(concentration)), trials)
    draws = stream(seed, "classifiers").random((trials, 2, 2))
    if design != "independent":
        draws[..., 1] = 1 - draws[..., 0]
    if design == "ordered":
        draws = np.sort(draws, axis=2)
    return Trials(cells.reshape(trials, 2, 2, 2), draws)


@dataclass(frozen=True, eq=False)
class Scenarios:
    """Truths, and the two tables that an auditor sees of each; arrays over N scenarios.

    Attributes
    ----------
    trial : array of int, shape (N,)
    alpha, beta : array, shape (N,)
        Factors by which the internal table's mass was multiplied at o = 0 and at o = 1.
    truth : array, shape (N, 2, 2, 2)
        As in `Trials`.
    score : array, shape (N, 2, 2)
        As in `Trials`.
    internal : array, shape (N, 2, 2)
        Internal table p_i(o, s).
    external : array, shape (N, 2, 2)
        External table p_e(o, e).
    """

    trial: IntArray
    alpha: FloatArray
    beta: FloatArray
    truth: FloatArray
    score: FloatArray
    internal: FloatArray
    external: FloatArray

    def __len__(self) -> int:
        return len(self.trial)

    @property
    def kl(self) -> FloatArray:
        """KL(p_e(o) ‖ p_i(o)) in nats, clipped at 0; infinite where the internal table lacks a stratum."""
        outside, inside = self.external.sum(axis=2), self.internal.sum(axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(outside > 0, outside * np.log(outside / inside), 0.0)
        return np.asarray(np.maximum(0.0, terms.sum(axis=1)))

    @property
    def true_rates(self) -> FloatArray:
        """P(ŷ=1 | e) in the truth, shape (N, 2)."""
        favourable = (self.truth * self.score.transpose(0, 2, 1)[..., None]).sum(axis=(1, 2))
        return np.asarray(favourable / self.truth.sum(axis=(1, 2)))

    def masses(self, population: Population = "external") -> tuple[FloatArray, FloatArray]:
        """Return masses of the internal cells and of the groups in each stratum, both of shape (N, 2, 2).

        Both have the strata of the population, and inside them p_i(s | o) and p_e(e | o); NaN where these are unknown.
        """
        kept = self.external if population == "external" else self.internal
        mass = kept.sum(axis=2, keepdims=True)
        with np.errstate(invalid="ignore"):
            rows = mass * (self.internal / self.internal.sum(axis=2, keepdims=True))
            columns = mass * (self.external / self.external.sum(axis=2, keepdims=True))
        empty = mass == 0
        return np.where(empty, 0.0, rows), np.where(empty, 0.0, columns)


def distorted(trials: Trials) -> Scenarios:
    """Distort every trial's internal table by each α (at o = 0) and β (at o = 1), and renormalise.

    Examples
    --------
    >>> scenarios = distorted(draw_trials(2, seed=0))
    >>> len(scenarios), int((scenarios.kl < 1e-15).sum())
    (50, 2)
    """
    factors = np.stack(np.meshgrid(ALPHAS, BETAS, indexing="ij"), axis=-1).reshape(-1, 2)
    n_trials, n_factors = len(trials.truth), len(factors)
    truth, score = (np.repeat(array, n_factors, axis=0) for array in trials)
    factors = np.tile(factors, (n_trials, 1))
    internal = truth.sum(axis=3).transpose(0, 2, 1) * factors[:, :, None]
    return Scenarios(
        trial=np.repeat(np.arange(n_trials), n_factors),
        alpha=factors[:, 0],
        beta=factors[:, 1],
        truth=truth,
        score=score,
        internal=internal / internal.sum(axis=(1, 2), keepdims=True),
        external=truth.sum(axis=1),
    )


class Comparison(NamedTuple):
    """One metric in N scenarios: the truth and what the method says; arrays of shape (N,).

    Attributes
    ----------
    true : array
    mean, low, high : array
        Over the feasible joints of the grid.
    sharp_low, sharp_high : array
        Least and greatest value over every joint that fits both tables.
    independence : array
        Estimate under independence of s and e given o.
    """

    true: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    sharp_low: FloatArray
    sharp_high: FloatArray
    independence: FloatArray

    @property
    def in_grid(self) -> BoolArray:
        """Whether the truth lies between the grid's extremes."""
        return _between(self.low, self.true, self.high)

    @property
    def in_sharp(self) -> BoolArray:
        """Whether the truth lies within the sharp bounds."""
        return _between(self.sharp_low, self.true, self.sharp_high)

    def where(self, wanted: BoolArray) -> Comparison:
        """Return the wanted scenarios only."""
        return Comparison(*(values[wanted] for values in self))


class Answers(NamedTuple):
    """What the method answers in N scenarios.

    Attributes
    ----------
    feasible : array of int, shape (N,)
        Joints of the grid that survive the filter of negative entries; 0 where a stratum's outcomes are unknown.
    ratio, difference : Comparison
        DI and DD. Where the internal table lacks a stratum, only the sharp bounds have values; where the external
        table lacks a group, nothing has.
    """

    feasible: IntArray
    ratio: Comparison
    difference: Comparison


def answer(
    scenarios: Scenarios, points: int = 100, limits: Limits = "paper", population: Population = "external"
) -> Answers:
    """Return bounds, the mean over the feasible set and the independence estimate in every scenario.

    Parameters
    ----------
    scenarios : Scenarios
    points : int
        Values of each of the two free parameters.
    limits : {"paper", "tight"}
        As in `fairbounds.kernels.grid`.
    population : {"external", "internal"}

    Examples
    --------
    >>> answers = answer(distorted(draw_trials(2, seed=0)), points=20)
    >>> bool(answers.ratio.in_sharp.all()), answers.feasible[::25].tolist()
    (True, [260, 280])
    """
    rows, columns = scenarios.masses(population)
    known = np.asarray(~np.isnan(rows + columns).any(axis=(1, 2)))
    grid = grid_statistics(rows[known], columns[known], scenarios.score[known], points, limits)
    true, alone = scenarios.true_rates.T, _independent_rates(rows, columns, scenarios.score)
    feasible = np.zeros(len(scenarios), dtype=np.int64)
    feasible[known] = grid.feasible
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (end / columns.sum(axis=1).T for end in sharp_ends(rows, columns, scenarios.score))
        ends = low[0] / high[1], high[0] / low[1]
        mean, least, most = (_filled(known, a) for a in (grid.ratio_mean, grid.ratio_low, grid.ratio_high))
        ratio = Comparison(true[0] / true[1], mean, least, most, *ends, alone[0] / alone[1])
    ends = low[0] - high[1], high[0] - low[1]
    mean, least, most = (_filled(known, a) for a in (grid.difference_mean, grid.difference_low, grid.difference_high))
    difference = Comparison(true[0] - true[1], mean, least, most, *ends, alone[0] - alone[1])
    return Answers(feasible, ratio, difference)


def sharp_ends(rows: FloatArray, columns: FloatArray, score: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest favourable mass of either group, both of shape (2, N).

    In a stratum whose outcomes are known the favourable mass is linear in the one free entry, so its ends are at the
    ends of Fréchet's interval, and what one group gains the other loses. Where they are unknown, any part of a group
    may be favoured.

    Parameters
    ----------
    rows, columns : array, shape (N, 2, 2)
        Masses as in `Scenarios.masses`.
    score : array, shape (N, 2, 2)

    Examples
    --------
    >>> rows, columns = np.array([[[0.2, 0.3], [0.1, 0.4]]]), np.array([[[0.25, 0.25], [0.5, 0.0]]])
    >>> low, high = sharp_ends(rows, columns, np.array([[[1.0, 0.0], [1.0, 0.5]]]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.3], [0.0]], [[0.5], [0.2]])
    """
    known = ~np.isnan(rows).any(axis=2)
    entry = np.stack([np.maximum(0.0, rows[..., 0] - columns[..., 1]), np.minimum(rows[..., 0], columns[..., 0])])
    first = score[..., 0] * entry + score[..., 1] * (columns[..., 0] - entry)
    whole = (rows * score).sum(axis=2)
    low = np.stack([first.min(axis=0), whole - first.max(axis=0)])
    high = np.stack([first.max(axis=0), whole - first.min(axis=0)])
    ends = np.where(known, low, 0.0).sum(axis=2), np.where(known, high, columns.transpose(2, 0, 1)).sum(axis=2)
    low, high = (np.where(end <= _NOTHING, 0.0, end) for end in ends)
    return low, high


def _independent_rates(rows: FloatArray, columns: FloatArray, score: FloatArray) -> FloatArray:
    """P(ŷ=1 | e) if s and e were independent given o, shape (2, N)."""
    mass = rows.sum(axis=2)
    with np.errstate(invalid="ignore"):
        rate = np.where(mass == 0, 0.0, (rows * score).sum(axis=2) / mass)
        return np.asarray(((columns * rate[..., None]).sum(axis=1) / columns.sum(axis=1)).T)


def _filled(known: BoolArray, values: FloatArray) -> FloatArray:
    whole = np.full(len(known), np.nan)
    whole[known] = values
    return whole


def _between(low: FloatArray, true: FloatArray, high: FloatArray) -> BoolArray:
    slack = _ROUNDING * (1 + np.abs(true))
    return np.asarray((low - slack <= true) & (true <= high + slack))
