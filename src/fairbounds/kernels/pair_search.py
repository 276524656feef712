"""Two groups whose conditional rates are not extreme together (docs/method.md, 3): a certified search along a line.

Rates λ of a and μ of b are within reach of one fill exactly when W(θ; λ, μ) = max θ(N_a − λD_a) + (1−θ)(μD_b − N_b)
over fills is nowhere negative, 0 ≤ θ ≤ 1. The maximum falls apart into strata, where it is a transport to two groups.
W is convex in (λ, μ), so on the line of pairs that a target value takes, each θ with W < 0 rules out a whole interval:
intervals that cover the line prove that nothing exceeds the target.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.kernels.pair_filling import fill_pair
from fairbounds.kernels.strata import EXTERNAL_ONLY, Atoms, StrataArrays

__all__ = ["Comparison", "PairExtreme", "PairProgram", "greatest_pair"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Comparison: TypeAlias = Literal["difference", "ratio"]

# A loss that outweighs all gains along a path, which lie between −1 and 1 each.
_FORBIDDEN = 64.0
_ROUNDING = 1e-14
_SOUGHT, _CLOSED = 1e-9, 1e-7

# Part of a group below which a condition that can vanish is taken to have done so.
_NOTHING = 1e-9


class PairExtreme(NamedTuple):
    """Certified upper end, the value of the best fill found, and that fill.

    Attributes
    ----------
    certified : float
        No fill gives more.
    attained : float
        The best fill gives this, or fills come as near to it as wanted.
    fill : array, shape (atoms, 2), or None
        Mass of each atom given to group a and to group b; ``None`` where the end is only approached, because the
        condition of one of the two has no mass in the limit.
    closed : bool
        Whether the two values agree to 1e-7.
    """

    certified: float
    attained: float
    fill: FloatArray | None
    closed: bool


class Shared(NamedTuple):
    """A fill of the two groups, shape (N, 2), and the masses N_a, D_a, N_b, D_b that it gives them."""

    fill: FloatArray
    sums: tuple[float, float, float, float]

    @property
    def rates(self) -> tuple[float, float]:
        """Rates of a and of b; NaN where a condition has no mass."""
        top_a, all_a, top_b, all_b = self.sums
        return (top_a / all_a if all_a > 0 else math.nan), (top_b / all_b if all_b > 0 else math.nan)

    def mixed(self, other: Shared, part: float) -> Shared:
        """Return the mixture with a part in [0, 1] of another fill."""
        one, two = (np.asarray(each.sums) for each in (self, other))
        sums = tuple(float(total) for total in (1.0 - part) * one + part * two)
        return Shared((1.0 - part) * self.fill + part * other.fill, sums)  # type: ignore[arg-type]


class PairProgram:
    """The fills of one pair of groups.

    Parameters
    ----------
    strata : StrataArrays
    atoms : Atoms
    a, b : int
        Positions of the groups; b may be None, for a alone.
    """

    def __init__(self, strata: StrataArrays, atoms: Atoms, a: int, b: int | None) -> None:
        self.atoms = atoms
        unknown = int((strata.side == EXTERNAL_ONLY).sum())
        made = (len(atoms.stratum) - len(strata.weight)) // max(unknown, 1)
        # Atoms of unknown outcomes come last, so those strata are moved there too.
        order = np.argsort(strata.side == EXTERNAL_ONLY, kind="stable")
        sizes = np.where(strata.side == EXTERNAL_ONLY, made, np.diff(strata.offsets))[order]
        self._start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self._side = strata.side[order].astype(np.int64)
        need = (strata.mass[:, None] * strata.shares)[order]
        self._need = np.stack([need[:, a], np.zeros(len(need)) if b is None else need[:, b]], axis=1)
        self._others = b is None or need.shape[1] > 2
        # Masses count per head of the group, or those of a small group would be lost in the rounding of a large one.
        heads = self._need.sum(axis=0)
        self.heads = tuple(float(head) for head in np.where(heads > 0, heads, 1.0))

    def best(self, first: FloatArray, second: FloatArray) -> Shared:
        """Return the fill with the greatest Σ first·x_a + second·x_b, gains of shape (N,)."""
        gain = np.stack([first, second], axis=1)
        fill = fill_pair(self._start, self.atoms.mass, self._need, self._side, gain, self._others)
        sums = np.stack([self.atoms.counted, self.atoms.among]) @ fill
        return Shared(fill, (float(sums[0, 0]), float(sums[1, 0]), float(sums[0, 1]), float(sums[1, 1])))

    def support(self, theta: float, first: float, second: float) -> Shared:
        """Return a fill that attains W(θ; λ, μ)."""
        counted, among = self.atoms.counted, self.atoms.among
        one, two = theta / self.heads[0], (1.0 - theta) / self.heads[1]
        return self.best(one * (counted - first * among), two * (second * among - counted))


class _Lead(NamedTuple):
    """By how much a fill beats a pair of rates, per head: N_a − λD_a and μD_b − N_b, and D_a and D_b behind them."""

    shared: Shared
    first: float
    second: float
    all_a: float
    all_b: float

    @property
    def fall(self) -> float:
        """What is lost per unit of θ."""
        return self.second - self.first

    @property
    def beats(self) -> bool:
        """Whether the fill is better on both sides."""
        return self.first > _ROUNDING * self.all_a and self.second > _ROUNDING * self.all_b

    def at(self, theta: float) -> float:
        """Return the fill's line in θ, 0 where it is no more than rounding."""
        height = theta * self.first + (1.0 - theta) * self.second
        return height if height > _ROUNDING * (theta * self.all_a + (1.0 - theta) * self.all_b) else min(height, 0.0)


@dataclass(frozen=True)
class _Target:
    """How a difference or a ratio reads two rates, and the line of pairs that have a given value."""

    is_ratio: bool

    def value(self, first: float, second: float) -> float:
        """Return the value of two rates, −∞ where it is not defined."""
        if math.isnan(first) or math.isnan(second):
            return -math.inf
        if not self.is_ratio:
            return first - second
        return first / second if second > 0 else math.inf if first > 0 else -math.inf

    def of(self, shared: Shared) -> float:
        """Return the value of a fill."""
        return self.value(*shared.rates)

    def second(self, first: float, value: float) -> float:
        return first / value if self.is_ratio else first - value

    def first(self, second: float, value: float) -> float:
        return second * value if self.is_ratio else second + value

    def slope(self, value: float) -> float:
        """Return by how much the second rate rises with the first along the line of a value."""
        return 1.0 / value if self.is_ratio else 1.0

    def weight(self, shared: Shared, heads: tuple[float, ...]) -> float:
        """Return the θ of the direction in which the value of a fill grows fastest."""
        (first, second), (_, all_a, _, all_b) = shared.rates, shared.sums
        one, two = heads[0] / all_a, heads[1] * (first / second if self.is_ratio else 1.0) / all_b
        return one / (one + two)

    def best_between(self, one: Shared, two: Shared, *parts: float) -> Shared:
        """Return the mixture of two fills with the greatest value: an end, where it stands still, or a given part."""
        inner = [part for part in (*parts, *self._stationary(one.sums, two.sums)) if 0.0 < part < 1.0]
        return max([one, two, *(one.mixed(two, part) for part in inner)], key=self.of)

    def _stationary(self, one: tuple[float, ...], two: tuple[float, ...]) -> list[float]:
        """Return the parts of the second at which the value stands still on the way from one fill to the other."""
        top_a, all_a, top_b, all_b = (np.array([end - start, start]) for start, end in zip(one, two, strict=True))
        turn_a, turn_b = (float(top[0] * all_[1] - top[1] * all_[0]) for top, all_ in ((top_a, all_a), (top_b, all_b)))
        if self.is_ratio:
            return _roots(turn_a * np.convolve(top_b, all_b) - turn_b * np.convolve(top_a, all_a))
        if turn_a * turn_b <= 0:
            return []
        return _roots(math.sqrt(abs(turn_a)) * all_b - math.sqrt(abs(turn_b)) * all_a)


def _roots(polynomial: FloatArray) -> list[float]:
    size = float(np.abs(polynomial).max())
    if size == 0:
        return []
    found = np.roots(np.where(np.abs(polynomial) < _ROUNDING * size, 0.0, polynomial))
    return [float(root.real) for root in found if abs(root.imag) < 1e-9]


class _Verdict(NamedTuple):
    """A θ at which W is not positive, or none if W was found positive everywhere; and a good fill from about there."""

    theta: float | None
    fill: Shared


def greatest_pair(
    program: PairProgram,
    comparison: Comparison,
    spans: tuple[tuple[float, float], tuple[float, float]],
    *,
    most: int = 300,
    told: Callable[[float], None] | None = None,
) -> PairExtreme:
    """Maximise the difference or the ratio of two rates; certified to 1e-9, or to less where that takes long.

    Parameters
    ----------
    program : PairProgram
    comparison : {"difference", "ratio"}
    spans : ((float, float), (float, float))
        Least and greatest rate of a, and of b.
    most : int
        Steps along the line after which the gap allowed is widened tenfold; the certified end is valid all the same.
    told : callable, optional
        Called with the part of the line that is done.
    """
    search = _Search(program, _Target(comparison == "ratio"), spans, told)
    if comparison == "ratio" and spans[0][1] == 0:
        return PairExtreme(0.0, 0.0, search.best.fill, closed=True)
    search.climb_from_all_sides()
    limit = search.vanishing()
    certified = search.certify(limit, most)
    near = certified if math.isinf(certified) else certified - _CLOSED * max(1.0, abs(certified))
    best, fill = max(search.value, limit), search.attaining(near, limit)
    return PairExtreme(certified, best, None if fill is None else fill.fill, closed=best >= near)


class _Search:
    """One end of one pair: the best fill so far, and what it takes to show that there is none better."""

    def __init__(
        self,
        program: PairProgram,
        target: _Target,
        spans: tuple[tuple[float, float], tuple[float, float]],
        told: Callable[[float], None] | None = None,
    ) -> None:
        self._program, self._target, self._told = program, target, told
        (self._low, self._high), (self._least, self._greatest) = spans
        self.best = self._defined()
        self.value = target.of(self.best)

    def _defined(self) -> Shared:
        """Return a fill that gives mass to both conditions and to what is counted in them, wherever one can."""
        counted, among = self._program.atoms.counted, self._program.atoms.among
        none = np.zeros_like(counted)
        wanted = [(among, none), (none, among), (counted, none), (none, counted)]
        one, two, three, four = (self._program.best(*gains) for gains in wanted)
        return one.mixed(two, 0.5).mixed(three.mixed(four, 0.5), 0.5)

    # -- ends that are infinite, or only approached --------------------------------------------------------------------

    def _without_b(self) -> Shared | None:
        """Return a fill in which b's rate is 0 and a's is not, if there is one."""
        counted, among = self._program.atoms.counted, self._program.atoms.among
        forbidden = np.where(counted > 0, -_FORBIDDEN, 0.0)
        one = self._program.best(counted, forbidden)
        both = one.mixed(self._program.best(np.zeros_like(counted), forbidden + among), 0.5)
        return both if both.sums[2] == 0 and both.sums[0] > 0 and both.sums[3] > 0 else None

    def vanishing(self) -> float:
        """Return the greatest value that is approached as the condition of one of the two loses its mass.

        A fill in which it has none, mixed with next to nothing of one in which its rate is extreme, shows the other's
        rate beside that extreme.
        """
        if math.isinf(self.value):
            return -math.inf
        beside_a, beside_b = self._beside(vanishing=0), self._beside(vanishing=1)
        return max(self._target.value(self._high, beside_a), self._target.value(beside_b, self._least))

    def _beside(self, vanishing: int) -> float:
        """Return the best rate of one group while the other's condition has no mass, NaN if that cannot be."""
        counted, among = self._program.atoms.counted, self._program.atoms.among
        forbidden, sign = np.where(among > 0, -_FORBIDDEN, 0.0), 1.0 if vanishing else -1.0
        rate, found = (-1.0 if vanishing else 2.0), math.nan
        for _ in range(60):
            wanted = sign * (counted - rate * among)
            shared = self._program.best(wanted, forbidden) if vanishing else self._program.best(forbidden, wanted)
            moved = shared.rates[1 - vanishing]
            if shared.sums[1 + 2 * vanishing] > 0 or math.isnan(moved) or sign * (moved - rate) <= 0:
                break
            found = rate = moved
        return found

    # -- fills with a high value ---------------------------------------------------------------------------------------

    def climb_from_all_sides(self) -> None:
        """Climb from fills that favour either rate more or less."""
        if self._target.is_ratio and self._least == 0 and (without := self._without_b()) is not None:
            self.best, self.value = without, math.inf
            return
        self._climb(self.best)
        for theta in (0.02, 0.2, 0.5, 0.8, 0.98):
            for second in (self._least, self._greatest):
                self._climb(self._program.support(theta, self._high, second).mixed(self.best, 1e-3))

    def _climb(self, start: Shared) -> None:
        """Climb to the best fill for its own weights and along the way there, and past the rates reached."""
        here, value = start, self._target.of(start)
        for _ in range(60):
            if math.isinf(value):
                break
            there = [self._uphill(here), self._judge(*here.rates).fill]
            best = max((self._target.best_between(here, each) for each in there), key=self._target.of)
            gained = self._target.of(best) - value
            if gained > 0:
                here, value = best, value + gained
            if not gained > 0.01 * _SOUGHT * max(1.0, abs(value)):
                break
        if value > self.value + _ROUNDING * abs(value):
            self.best, self.value = here, value

    def _uphill(self, shared: Shared) -> Shared:
        """Return the best fill for the weights that masses have in the value of a fill."""
        return self._program.support(self._target.weight(shared, self._program.heads), *shared.rates)

    def attaining(self, value: float, limit: float) -> Shared | None:
        """Return a fill with a value, if there is one in which neither condition has all but vanished."""
        return next((fill for fill in (self.best, self._fuller()) if self._holds(fill, value, limit)), None)

    def _holds(self, shared: Shared, value: float, limit: float) -> bool:
        parts = [shared.sums[at] / head for at, head in zip((1, 3), self._program.heads, strict=True)]
        return self._target.of(shared) >= value and (min(parts) > _NOTHING or limit == -math.inf)

    def _fuller(self) -> Shared:
        """Return a fill beside the best one that has more of both conditions, at next to no cost."""
        first, second = self.best.rates
        theta = self._judge(first, second).theta
        theta = self._target.weight(self.best, self._program.heads) if theta is None else theta
        one = self._program.support(theta, first - _SOUGHT, second)
        return one.mixed(self._program.support(theta, first, second + _SOUGHT), 0.5)

    # -- what is out of reach ------------------------------------------------------------------------------------------

    def _lead(self, theta: float, first: float, second: float) -> _Lead:
        shared, heads = self._program.support(theta, first, second), self._program.heads
        top_a, all_a, top_b, all_b = shared.sums
        lead_a, lead_b = (top_a - first * all_a) / heads[0], (second * all_b - top_b) / heads[1]
        return _Lead(shared, lead_a, lead_b, all_a / heads[0], all_b / heads[1])

    def _judge(self, first: float, second: float) -> _Verdict:
        """Decide whether rates of at least λ and at most μ are within reach of one fill.

        Every fill is a line in θ, and W their upper envelope; where a falling and a rising one cross is the next θ.
        """
        falling, rising = self._lead(0.0, first, second), self._lead(1.0, first, second)
        for end, theta, turned in ((falling, 0.0, falling.fall < 0), (rising, 1.0, rising.fall > 0)):
            if end.beats or turned or end.at(theta) <= 0:
                return _Verdict(None if end.beats else theta, end.shared)
        between = falling.shared
        for _ in range(60):
            turn = falling.fall - rising.fall
            part, theta = falling.fall / turn, (falling.second - rising.second) / turn
            between = self._target.best_between(falling.shared, rising.shared, part)
            if min(falling.at(theta), rising.at(theta)) > 0:
                return _Verdict(None, between)
            lead = self._lead(theta, first, second)
            if lead.at(theta) <= 0:
                return _Verdict(theta, between)
            if lead.beats:
                return _Verdict(None, lead.shared)
            falling, rising = (lead, rising) if lead.fall > 0 else (falling, lead)
        return _Verdict(None, between)

    def _reach(self, theta: float, start: float, value: float) -> float:
        """Return how far W(θ; λ, μ) ≤ 0 holds from a λ on, along the line of a value: Newton's steps from beyond."""
        at = self._high
        for _ in range(60):
            lead = self._lead(theta, at, self._target.second(at, value))
            if lead.at(theta) <= 0:
                return at
            rise = (1.0 - theta) * lead.all_b * self._target.slope(value) - theta * lead.all_a
            at -= lead.at(theta) / rise if rise > 0 else math.inf
            if not at > start:
                return start
        return start

    def certify(self, limit: float, most: int) -> float:
        """Return a value a little above the best one that nothing exceeds: what is ruled out covers its line."""
        separate = self._target.value(self._high, self._least)
        at, allowed, steps = self._low, _SOUGHT, 0
        while True:
            value = max(self.value, limit)
            gap = allowed * max(1.0, abs(value))
            goal = value + gap
            at = max(at, self._target.first(self._least, goal))
            if not goal < separate:
                return max(value, separate)
            if at >= self._high:
                return goal
            self._tell(at)
            step = self._past_zero if at == 0 and self._target.is_ratio else self._covered
            moved = step(at, value, gap)
            steps += 1
            if moved is not None:
                at = moved
            elif max(self.value, limit) <= value:
                steps = most + 1
            if steps > most:
                allowed, steps = 10 * allowed, 0
            if allowed > 1:
                return separate

    def _covered(self, at: float, value: float, gap: float) -> float | None:
        """Return how far from λ the line of value + gap is out of reach; nothing, after a climb, if it is in reach.

        A pair halfway to the line that is out of reach rules out a piece of the line in any case.
        """
        half = self._target.second(at, value + gap / 2)
        verdict = self._judge(at, half)
        if verdict.theta is None:
            self._climb(verdict.fill)
            return None
        return self._reach(verdict.theta, self._target.first(half, value + gap), value + gap)

    def _past_zero(self, at: float, value: float, gap: float) -> float | None:
        """Do as `_covered` from λ = μ = 0, where W is 0: a θ that rules out a small λ rules out all below it."""
        for power in range(3, 8):
            at = self._high * 10.0**-power
            half = self._target.second(at, value + gap / 2)
            verdict = self._judge(at, half)
            if verdict.theta is None:
                self._climb(verdict.fill)
                return None
            if self._lead(verdict.theta, 0.0, 0.0).at(verdict.theta) <= 0:
                return self._reach(verdict.theta, self._target.first(half, value + gap), value + gap)
        return None

    def _tell(self, at: float) -> None:
        if self._told is not None and self._high > self._low:
            self._told((at - self._low) / (self._high - self._low))
