"""Means over the feasible set without sampling: two cells in every stratum, two groups (docs/method.md, 10).

With two cells and two groups, the part of a cell that a group holds is uniform on the interval between Fréchet's
bounds, independently over strata. So the mean difference is the difference at the midpoints, and the mean ratio is an
integral in one dimension.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["ExactMeans", "exact_means"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Less than this part of the whole mass is taken for none (docs/method.md, 8).
_NOTHING = 1e-13
# The integrand is analytic in a strip of half-width about π/2 around the line, so the trapezoidal rule is wrong by a
# factor of about exp(−π²/step), below 1e-20 (Trefethen and Weideman 2014, https://doi.org/10.1137/130932132).
_STEP = 0.125
_LEFT, _RIGHT = -4.0, 110.0
# exp(−50) adds nothing to a sum of order 1.
_FADED = 50.0


class ExactMeans(NamedTuple):
    """Means of two groups' rates compared, over all joints that fit both tables, every joint equally likely.

    Attributes
    ----------
    difference : float or None
        Mean of (rate of the first group) − (rate of the second); None where a group has no mass.
    ratio : float or None
        Mean of (rate of the first) / (rate of the second); infinite where `ratio_is` says so, None where undefined.
    ratio_is : {"finite", "infinite", "undefined"}
        Infinite: the second rate is 0, or so often near 0 that the mean does not converge. Undefined: a group has no
        mass, or both rates are 0 in every joint.
    """

    difference: float | None
    ratio: float | None
    ratio_is: Literal["finite", "infinite", "undefined"]


def exact_means(row_mass: FloatArray, column_mass: FloatArray, value: FloatArray | None = None) -> ExactMeans:
    r"""Return the means of the difference and of the ratio of two groups' selection rates.

    With T the whole favourable mass, T_b that of the second group and p the groups' masses, the ratio is
    (p_b/p_a)·(T − T_b)/T_b, and T_b = base + Σ w_c U_c with U independent and uniform on [0, 1], so

    .. math:: E[1/T_b] = \int_0^\infty e^{-t\,base} \prod_c \frac{1 - e^{-t w_c}}{t w_c}\,dt .

    Parameters
    ----------
    row_mass : array, shape (C, 2)
        Mass of the two cells in each stratum.
    column_mass : array, shape (C, 2)
        Mass of the first and of the second group; its rows have the same sums.
    value : array, shape (C, 2), optional
        P(favourable) of the cells; by default the first is favourable and the second is not.
    """
    total = float(row_mass.sum())
    first, second = (float(mass) for mass in column_mass.sum(axis=0))
    if min(first, second) <= _NOTHING * total:
        return ExactMeans(None, None, "undefined")
    value = np.array([1.0, 0.0]) if value is None else value
    favourable = float((row_mass * value).sum())
    low, high = _ends(row_mass, column_mass[:, 1], np.broadcast_to(value, row_mass.shape))
    middle = float((low + high).sum()) / 2
    difference = (favourable - middle) / first - middle / second
    base, widths = float(low.sum()), (high - low)[high - low > _NOTHING * total]
    if base <= _NOTHING * total:
        base = 0.0
    if favourable <= _NOTHING * total:
        return ExactMeans(difference, None, "undefined")
    if base == 0.0 and len(widths) < 2:  # 1/U has no mean
        return ExactMeans(difference, np.inf, "infinite")
    return ExactMeans(difference, second / first * (favourable * _mean_inverse(base, widths) - 1.0), "finite")


def _ends(row_mass: FloatArray, group: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and greatest favourable mass of a group, from what it can hold of the first cell (Fréchet 1951)."""
    part = np.stack([np.maximum(0.0, group - row_mass[:, 1]), np.minimum(row_mass[:, 0], group)])
    ends = value[:, 0] * part + value[:, 1] * (group - part)
    return ends.min(axis=0), ends.max(axis=0)


def _mean_inverse(base: float, widths: FloatArray) -> float:
    """E[1/(base + Σ w U)], by the trapezoidal rule in y, where t = exp(y − exp(−y)) in units of 1/E[base + Σ w U].

    Strata of very different widths spread the integrand over many powers of ten, which log t brings together.
    """
    if len(widths) == 0:
        return 1.0 / base
    unit = base + float(widths.sum()) / 2
    right = _RIGHT if base == 0.0 else min(_RIGHT, max(np.log(_FADED * unit / base), 1.0) + 1.0)
    y = np.arange(_LEFT, right, _STEP)
    t = np.exp(y - np.exp(-y)) / unit
    logarithm = -t * base
    for w in widths:
        logarithm += np.log(-np.expm1(-t * w) / (t * w))
    return float(_STEP * np.sum(np.exp(logarithm) * t * (1.0 + np.exp(-y))))
