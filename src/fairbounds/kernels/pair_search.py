"""Two groups whose conditional rates are not extreme together (docs/method.md, 3): branch and bound over linear programs.

With scores, the separate ends of a pair are valid but may be loose. φ(λ), the least rate of b while the rate of a is
at least λ, is one linear program after the Charnes–Cooper change of variables, and does not decrease in λ, so a branch
of λ in [lo, hi] can give no better than combine(hi, φ(lo)).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import SolverError
from fairbounds.kernels.strata import INTERNAL_ONLY, Atoms, StrataArrays

__all__ = ["PairExtreme", "PairProgram", "greatest_pair"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


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
    """

    certified: float
    attained: float
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

    def least_second(self, floor: float) -> tuple[float, FloatArray]:
        """Return φ(floor) and a fill that attains it; infinite when no fill reaches the floor."""
        from scipy import sparse
        from scipy.optimize import linprog

        counted, among = self.atoms.counted, self.atoms.among
        zeros = np.zeros_like(counted)
        scale = 1.0 / float(self._fill_mass.max(initial=1e-300))
        exact = self._exact

        def bordered(rows: Any, mass: FloatArray) -> Any:
            """Charnes–Cooper: every limit is multiplied by the last variable, which scales b's condition to 1."""
            return sparse.hstack([rows, sparse.csr_array(-mass[:, None] * scale)])

        reach = np.concatenate([floor * among - counted, zeros, [0.0]])
        condition = np.concatenate([zeros, among, [0.0]])
        fixed = [bordered(self._fill_rows, self._fill_mass), bordered(self._limit_rows[exact], self._limit_mass[exact])]
        answer = linprog(
            np.concatenate([zeros, counted, [0.0]]),
            A_ub=sparse.vstack([bordered(self._limit_rows[~exact], self._limit_mass[~exact]), reach[None, :]]),
            b_ub=np.zeros(int((~exact).sum()) + 1),
            A_eq=sparse.vstack([*fixed, condition[None, :]]),
            b_eq=np.append(np.zeros(len(self._fill_mass) + int(exact.sum())), 1.0),
            method="highs",
        )
        if answer.status == 2:
            return math.inf, np.empty((0, 2))
        if answer.status != 0:
            raise SolverError(f"the least rate of a pair was not found: {answer.message}")
        return float(answer.fun), answer.x[:-1].reshape(2, -1).T / (answer.x[-1] * scale)

    def value(self, combine: Callable[[float, float], float], floor: float, fill: FloatArray) -> float:
        """Combine the two rates in a fill found for a floor.

        A fill that gives a's condition no mass stands for fills next to it that reach the floor with hardly any.
        """
        top, bottom = fill.T @ self.atoms.counted, fill.T @ self.atoms.among
        first = top[0] / bottom[0] if bottom[0] > 1e-12 else floor
        return combine(float(first), float(top[1] / bottom[1]))


def greatest_pair(
    program: PairProgram,
    combine: Callable[[float, float], float],
    span: tuple[float, float],
    *,
    tolerance: float = 1e-7,
    most: int = 400,
) -> PairExtreme:
    """Maximise combine(rate_a, rate_b), rising in the first and falling in the second.

    Parameters
    ----------
    program : PairProgram
    combine : callable
    span : (float, float)
        Least and greatest rate of a.
    tolerance : float
        Relative gap between the certified and the attained value at which the search stops.
    most : int
        Programs solved at most; the certified end is valid wherever the search stops.
    """
    low, high = span
    second, fill = program.least_second(low)
    best, best_fill = program.value(combine, low, fill), fill
    branches = [(-combine(high, second), low, high, second)]
    for _ in range(most):
        bound, low, high, second = branches[0]
        if -bound <= best + tolerance * max(1.0, abs(best)):
            break
        heapq.heappop(branches)
        middle = (low + high) / 2
        heapq.heappush(branches, (-combine(middle, second), low, middle, second))
        second, fill = program.least_second(middle)
        if math.isfinite(second):
            heapq.heappush(branches, (-combine(high, second), middle, high, second))
            value = program.value(combine, middle, fill)
            if value > best:
                best, best_fill = value, fill
    return PairExtreme(max(best, -branches[0][0]), best, best_fill)
