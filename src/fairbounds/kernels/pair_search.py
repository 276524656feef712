"""Two groups whose conditional rates are not extreme together (docs/method.md, 3): branch and bound on programs.

With scores, the separate ends of a pair are valid but may be loose. φ(λ), the least rate of b while the rate of a is
at least λ, is one linear program after the Charnes–Cooper change of variables, and does not decrease in λ, so a branch
of λ in [lo, hi] can give no better than combine(hi, φ(lo)). Pricing the floor instead of imposing it gives a function
below φ that is concave in λ, so that its chord bounds the branch too, with an error of second order in its length.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import SolverError
from fairbounds.kernels.strata import INTERNAL_ONLY, Atoms, StrataArrays

__all__ = ["PairExtreme", "PairProgram", "greatest_pair"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Combine: TypeAlias = Callable[[float, float], float]


_INFEASIBLE, _UNBOUNDED = 2, 3


class PairExtreme(NamedTuple):
    """Certified upper end, the value of the best fill found, and that fill.

    Attributes
    ----------
    certified : float
        No fill gives more.
    attained : float
        The best fill gives this.
    fill : array, shape (atoms of the program, 2)
        Mass of each atom given to group a and to group b.
    closed : bool
        Whether the two values agree to the tolerance of the search.
    """

    certified: float
    attained: float
    fill: FloatArray
    closed: bool


class Point(NamedTuple):
    """One program solved: the floor λ, φ(λ), the price of the floor (what φ rises with it), and the fill."""

    floor: float
    second: float
    price: float
    fill: FloatArray


class PairProgram:
    """The linear programs of one pair of groups.

    Parameters
    ----------
    strata : StrataArrays
    atoms : Atoms
    a, b : int
        Positions of the groups.
    """

    def __init__(self, strata: StrataArrays, atoms: Atoms, a: int, b: int) -> None:
        from scipy import sparse

        self.atoms = atoms
        n, side = len(atoms.stratum), strata.side[atoms.stratum]
        filled = np.flatnonzero(side != INTERNAL_ONLY)
        rows, row = np.unique(atoms.stratum[filled], return_inverse=True)
        member = sparse.csr_array((np.ones(len(filled)), (row, filled)), shape=(len(rows), n))
        self._fill_rows = sparse.block_diag([member, member], format="csr")
        self._fill_mass = np.concatenate([(strata.mass * strata.shares[:, g])[rows] for g in (a, b)])
        limited = np.flatnonzero(np.isfinite(atoms.mass))
        one = sparse.csr_array((np.ones(len(limited)), (np.arange(len(limited)), limited)), shape=(len(limited), n))
        self._limit_rows = sparse.hstack([one, one], format="csr")
        self._limit_mass = atoms.mass[limited]
        # Where shares are unknown and there is no third group, every atom goes to one of the two.
        self._exact = (side[limited] == INTERNAL_ONLY) & (strata.shares.shape[1] == 2)

    def point(self, floor: float) -> Point | None:
        """Return φ(floor) with a fill that attains it, or nothing when no fill reaches the floor."""
        among, counted = self.atoms.among, self.atoms.counted
        reach = np.concatenate([floor * among - counted, np.zeros_like(counted), [0.0]])
        answer = self._solve(np.zeros_like(counted), reach[None, :])
        if answer is None:
            return None
        fill = answer.x[:-1].reshape(2, -1).T / (answer.x[-1] * self._scale)
        return Point(floor, float(answer.fun), -float(answer.ineqlin.marginals[-1]), fill)

    def priced(self, floor: float, price: float) -> float:
        """Return the least of rate_b + price·(what a lacks to reach the floor): at most φ, and concave in the floor.

        Where b's condition may have no mass, the least has no limit and says nothing.
        """
        lack = price * (floor * self.atoms.among - self.atoms.counted)
        answer = self._solve(lack, np.empty((0, 2 * len(lack) + 1)))
        return -math.inf if answer is None else float(answer.fun)

    @property
    def _scale(self) -> float:
        return 1.0 / float(self._fill_mass.max(initial=1e-300))

    def _solve(self, lack: FloatArray, reach: FloatArray) -> Any:
        """Minimise rate_b + lack under further rows, by the change of variables of Charnes and Cooper."""
        from scipy import sparse
        from scipy.optimize import linprog

        counted, among, exact = self.atoms.counted, self.atoms.among, self._exact

        def bordered(rows: Any, mass: FloatArray) -> Any:
            """Multiply every limit by the last variable, which scales b's condition to 1."""
            return sparse.hstack([rows, sparse.csr_array(-mass[:, None] * self._scale)])

        condition = np.concatenate([np.zeros_like(among), among, [0.0]])
        fixed = [bordered(self._fill_rows, self._fill_mass), bordered(self._limit_rows[exact], self._limit_mass[exact])]
        answer = linprog(
            np.concatenate([lack, counted, [0.0]]),
            A_ub=sparse.vstack([bordered(self._limit_rows[~exact], self._limit_mass[~exact]), sparse.csr_array(reach)]),
            b_ub=np.zeros(int((~exact).sum()) + len(reach)),
            A_eq=sparse.vstack([*fixed, sparse.csr_array(condition[None, :])]),
            b_eq=np.append(np.zeros(len(self._fill_mass) + int(exact.sum())), 1.0),
            method="highs",
        )
        if answer.status in (_INFEASIBLE, _UNBOUNDED):
            return None
        if answer.status != 0:
            raise SolverError(f"the least rate of a pair was not found: {answer.message}")
        return answer

    def value(self, combine: Combine, point: Point) -> float:
        """Combine the two rates in the fill of a point.

        A fill that gives a's condition no mass stands for fills next to it that reach the floor with hardly any.
        """
        top, bottom = point.fill.T @ self.atoms.counted, point.fill.T @ self.atoms.among
        first = top[0] / bottom[0] if bottom[0] > 1e-12 else point.floor
        return combine(float(first), float(top[1] / bottom[1]))


def greatest_pair(
    program: PairProgram, combine: Combine, span: tuple[float, float], *, tolerance: float = 1e-7, most: int = 200
) -> PairExtreme:
    """Maximise combine(rate_a, rate_b), rising in the first and falling in the second.

    Parameters
    ----------
    program : PairProgram
    combine : callable
        The difference or the ratio: on a chord of rates it is greatest at an end.
    span : (float, float)
        Least and greatest rate of a.
    tolerance : float
        Relative gap between the certified and the attained value at which the search stops.
    most : int
        Branches split at most; the certified end is valid wherever the search stops.
    """
    low, high = program.point(span[0]), program.point(span[1])
    if low is None:
        raise SolverError("the least rate of the first group of a pair was not reached")
    best = max([point for point in (low, high) if point is not None], key=lambda at: program.value(combine, at))
    best_value = program.value(combine, best)
    ticket = itertools.count()  # settles ties before points would be compared
    branches = [(-_ceiling(program, combine, low, high, span[1]), next(ticket), low, high, span[1])]
    for _ in range(most):
        if _closed(-branches[0][0], best_value, tolerance):
            break
        bound, _, low, high, end = heapq.heappop(branches)
        middle = program.point((low.floor + end) / 2)
        halves: list[tuple[Point, Point | None, float]]
        if middle is None:
            halves = [(low, None, (low.floor + end) / 2)]
        else:
            halves = [(low, middle, middle.floor), (middle, high, end)]
            if program.value(combine, middle) > best_value:
                best, best_value = middle, program.value(combine, middle)
        for left, right, stop in halves:
            ceiling = min(-bound, _ceiling(program, combine, left, right, stop))
            heapq.heappush(branches, (-ceiling, next(ticket), left, right, stop))
    certified = max(best_value, -branches[0][0])
    return PairExtreme(certified, best_value, best.fill, _closed(certified, best_value, tolerance))


def _ceiling(program: PairProgram, combine: Combine, low: Point, high: Point | None, end: float) -> float:
    """Bound a branch: by φ(low) all along, or by the chord of the concave function that one end's price gives."""
    ceilings = [combine(end, low.second)]
    below = program.priced(end, low.price)
    if below >= 0:  # a chord through negative rates bounds no ratio
        ceilings.append(max(combine(low.floor, low.second), combine(end, below)))
    if high is not None:
        below = program.priced(low.floor, high.price)
        if below >= 0:
            ceilings.append(max(combine(low.floor, below), combine(end, high.second)))
    return min(ceilings)


def _closed(bound: float, best: float, tolerance: float) -> bool:
    return bound <= best + tolerance * max(1.0, abs(best))
