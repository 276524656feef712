"""The stress test that the paper lacks: tables that are wrong about what the method takes from them.

The paper distorts p_i(o) only, which the method does not use for the external population. Here p_i(s | o) or p_e(e | o)
is wrong, or both tables are samples, or the truth is not a flat draw. Truths, classifiers and the 25 distortions are
those of `fairbounds.studies.simulation`, the same in every setting that does not say otherwise. As the distortions
alone move the divergence of the tables on o, it has the same distribution whether or not the rest is wrong: it cannot
detect the damage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.progress import report
from fairbounds.seeds import stream
from fairbounds.studies.columns import Columns, columns_of_records
from fairbounds.studies.published import MOST_TRUE_DI
from fairbounds.studies.simulation import (
    Answers,
    Design,
    Scenarios,
    Trials,
    answer,
    distorted,
    draw_trials,
)

__all__ = ["SETTINGS", "Family", "Setting", "StressResult", "StressTest", "stress", "stressed"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Family: TypeAlias = Literal[
    "none",
    "internal shift",
    "internal odds",
    "external shift",
    "external odds",
    "sample",
    "association",
    "concentration",
]


@dataclass(frozen=True)
class Setting:
    """One way to be wrong.

    Attributes
    ----------
    family : str
        ``none``: the paper's protocol. ``internal shift``: p_i(s=1 | o) is too large by `size` in both strata, at most
        1. ``internal odds``: its odds are too large by the factor `size`. ``external shift``, ``external odds``: the
        same of p_e(e=1 | o). ``sample``: both tables are samples of `size` people, drawn anew in each scenario.
        ``association``: the truth's odds ratio of s and e given o is `size` times that of a flat draw.
        ``concentration``: truths ~ Dirichlet(`size`, …).
    size : float
    design : {"mirrored", "independent", "ordered"}
        As in `draw_trials`. Where nothing tells the levels of s apart, errors cancel over trials; with ``ordered`` the
        classifier rewards s=1, and an association has a direction.
    """

    family: Family
    size: float
    design: Design = "mirrored"


SETTINGS = (
    Setting("none", 0.0),
    *(Setting("internal shift", size) for size in (0.02, 0.05, 0.1, 0.2)),
    *(Setting("internal odds", size) for size in (1.25, 1.5, 2.0, 4.0)),
    *(Setting("external shift", size) for size in (0.02, 0.05, 0.1, 0.2)),
    *(Setting("external odds", size) for size in (1.25, 1.5, 2.0, 4.0)),
    *(Setting("sample", size) for size in (100.0, 1_000.0, 10_000.0)),
    *(Setting("association", size, "ordered") for size in (1.0, 2.0, 5.0, 20.0)),
    *(Setting("concentration", size) for size in (0.2, 0.5, 1.0, 2.0, 5.0)),
)


@dataclass(frozen=True)
class StressResult:
    """What the method does in one setting, over scenarios with a true DI of at most 5.

    Standard errors (``_se``) take the trial as the independent unit. Errors are truth − estimate, as in the paper.
    Shares and means are over the scenarios that have the figure.

    Attributes
    ----------
    family, size, design
        As in `Setting`.
    scenarios, dropped : int
        With a true DI of at most 5, and above.
    undefined : float
        Share of scenarios without an estimate, because a table has nobody of a stratum or of a group.
    coverage, coverage_se : float
        Share of scenarios whose sharp bounds of DI and of DD contain the truth.
    di_coverage, dd_coverage : float
        The same of one metric: with wrong tables the two can differ.
    unbounded : float
        Share of scenarios whose DI has no upper end.
    di_range, dd_range : float
        Mean width of the sharp bounds that have one.
    di_mean_error, dd_mean_error, di_independence_error, dd_independence_error : float
        Mean error of the mean over the feasible set (tight limits) and of the independence estimate; with
        ``_absolute``, the mean absolute error.
    kl : float
        Mean divergence on o of the tables as seen, over scenarios in which it is finite, in nats.
    kl_covered, kl_missed : float
        The same where the bounds contain the truth, and where they do not; NaN where there is no such scenario.
    kl_error_correlation, kl_missed_correlation : float
        Correlation of the divergence's rank with the absolute error of the mean DD, and with missing the truth; NaN
        where nothing varies.
    """

    family: str
    size: float
    design: str
    scenarios: int
    dropped: int
    undefined: float
    coverage: float
    coverage_se: float
    di_coverage: float
    dd_coverage: float
    unbounded: float
    di_range: float
    dd_range: float
    di_mean_error: float
    di_mean_error_se: float
    di_mean_error_absolute: float
    di_independence_error: float
    di_independence_error_se: float
    di_independence_error_absolute: float
    dd_mean_error: float
    dd_mean_error_se: float
    dd_mean_error_absolute: float
    dd_independence_error: float
    dd_independence_error_se: float
    dd_independence_error_absolute: float
    kl: float
    kl_covered: float
    kl_missed: float
    kl_error_correlation: float
    kl_missed_correlation: float


@dataclass(frozen=True)
class StressTest:
    """Results of all settings, in their order."""

    trials: int
    seed: int
    points: int
    results: tuple[StressResult, ...]

    def to_columns(self) -> Columns:
        """Return one row per setting."""
        return columns_of_records(asdict(result) for result in self.results)

    def result(self, family: Family, size: float) -> StressResult:
        """Return the result of one setting."""
        found = [r for r in self.results if (r.family, r.size) == (family, size)]
        if not found:
            raise ProblemError(f"no setting {family!r} of size {size}")
        return found[0]


def stress(trials: int = 1000, seed: int = 0, points: int = 100, settings: Sequence[Setting] = SETTINGS) -> StressTest:
    """Run the simulation in every setting.

    Parameters
    ----------
    trials, seed, points
        As in `fairbounds.studies.simulation_study.simulate`.
    settings : sequence of Setting

    Examples
    --------
    >>> test = stress(trials=50, points=20, settings=[Setting("none", 0.0), Setting("internal shift", 0.2)])
    >>> [result.coverage > 0.99 for result in test.results], len({result.kl for result in test.results})
    ([True, False], 1)
    """
    results = []
    for k, setting in enumerate(settings):
        report("stress test", k / len(settings))
        scenarios = stressed(setting, trials, seed)
        results.append(_measure(setting, scenarios, answer(scenarios, points, "tight")))
    report("stress test", 1.0)
    return StressTest(trials, seed, points, tuple(results))


def stressed(setting: Setting, trials: int, seed: int) -> Scenarios:
    """Return scenarios whose tables or truths are those of a setting.

    Examples
    --------
    >>> wrong, right = (stressed(Setting("internal shift", size), 2, seed=0) for size in (0.1, 0.0))
    >>> shares = [s.internal[0, 0, 1] / s.internal[0, 0].sum() for s in (wrong, right)]
    >>> round(float(shares[0] - shares[1]), 12), bool(np.allclose(wrong.kl, right.kl))
    (0.1, True)
    """
    concentration = setting.size if setting.family == "concentration" else 1.0
    drawn = draw_trials(trials, seed, setting.design, concentration)
    if setting.family == "association":
        drawn = Trials(_associated(drawn.truth, setting.size), drawn.score)
    scenarios = distorted(drawn)
    side, _, how = setting.family.partition(" ")
    if how:
        change = _shifted if how == "shift" else _tilted
        return _with_tables(scenarios, **{side: change(getattr(scenarios, side), setting.size)})
    if setting.family == "sample":
        rng, people = stream(seed, "samples"), int(setting.size)
        internal = _sampled(scenarios.internal, people, rng)
        return _with_tables(scenarios, internal=internal, external=_sampled(scenarios.external, people, rng))
    return scenarios


def _with_tables(
    scenarios: Scenarios, internal: FloatArray | None = None, external: FloatArray | None = None
) -> Scenarios:
    return replace(
        scenarios,
        internal=scenarios.internal if internal is None else internal,
        external=scenarios.external if external is None else external,
    )


def _shifted(table: FloatArray, size: float) -> FloatArray:
    """Move `size` of each stratum's share to the second cell, as far as the first has it; strata keep their masses."""
    mass = table.sum(axis=2)
    second = np.minimum(mass, table[..., 1] + size * mass)
    return np.stack([mass - second, second], axis=2)


def _tilted(table: FloatArray, size: float) -> FloatArray:
    """Multiply the odds of the second cell in each stratum; strata keep their masses."""
    changed = table * np.array([1.0, size])
    return np.asarray(changed * (table.sum(axis=2, keepdims=True) / changed.sum(axis=2, keepdims=True)))


def _sampled(table: FloatArray, people: int, rng: np.random.Generator) -> FloatArray:
    cells = table.reshape(-1, 4)
    counts = rng.multinomial(people, cells / cells.sum(axis=1, keepdims=True))
    return counts.reshape(table.shape) / people


def _associated(truth: FloatArray, odds_ratio: float) -> FloatArray:
    """Multiply the odds ratio of s and e in each stratum."""
    same = np.eye(2)[:, None, :]
    changed = truth * np.where(same == 1, np.sqrt(odds_ratio), 1.0)
    return np.asarray(changed / changed.sum(axis=(1, 2, 3), keepdims=True))


def _measure(setting: Setting, scenarios: Scenarios, answers: Answers) -> StressResult:
    kept = answers.ratio.true <= MOST_TRUE_DI
    ratio, difference = (metric.where(kept) for metric in (answers.ratio, answers.difference))
    trial, kl = scenarios.trial[kept], scenarios.kl[kept]
    bounded = ~np.isnan(difference.sharp_low)
    covered = (ratio.in_sharp & difference.in_sharp)[bounded]
    coverage, coverage_se = _mean_and_error(covered.astype(np.float64), trial[bounded])
    figures: dict[str, float] = {}
    for prefix, metric in (("di", ratio), ("dd", difference)):
        figures[f"{prefix}_coverage"] = _mean(metric.in_sharp[bounded].astype(np.float64))
        figures[f"{prefix}_range"] = _mean(metric.sharp_high - metric.sharp_low)
        for name, estimate in (("mean", metric.mean), ("independence", metric.independence)):
            figures |= _errors(f"{prefix}_{name}_error", metric.true - estimate, trial)
    return StressResult(
        family=setting.family,
        size=setting.size,
        design=setting.design,
        scenarios=len(trial),
        dropped=int((~kept).sum()),
        undefined=float(np.mean(np.isnan(difference.mean))),
        coverage=coverage,
        coverage_se=coverage_se,
        unbounded=float(np.mean(np.isposinf(ratio.sharp_high))),
        kl=_mean(kl),
        kl_covered=_mean(kl[bounded][covered]),
        kl_missed=_mean(kl[bounded][~covered]),
        kl_error_correlation=_rank_correlation(kl, np.abs(difference.true - difference.mean)),
        kl_missed_correlation=_rank_correlation(kl[bounded], 1.0 - covered),
        **figures,
    )


def _errors(name: str, errors: FloatArray, trial: IntArray) -> dict[str, float]:
    mean, error = _mean_and_error(errors, trial)
    return {name: mean, f"{name}_se": error, f"{name}_absolute": _mean(np.abs(errors))}


def _mean(values: FloatArray) -> float:
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else np.nan


def _mean_and_error(values: FloatArray, trial: IntArray) -> tuple[float, float]:
    """Mean of the finite values and its standard error, scenarios of one trial taken as one cluster."""
    finite = np.isfinite(values)
    values, trial = values[finite], trial[finite]
    clusters = len(np.unique(trial))
    if clusters < 2:
        return _mean(values), np.nan
    mean = values.mean()
    sums = np.bincount(trial, values - mean)
    return float(mean), float(np.sqrt((sums**2).sum() * clusters / (clusters - 1)) / len(values))


def _rank_correlation(kl: FloatArray, other: npt.NDArray[Any]) -> float:
    finite = np.isfinite(kl) & np.isfinite(other)
    kl, other = kl[finite], other[finite]
    if len(kl) < 2 or np.ptp(other) == 0:
        return np.nan
    ranks = np.empty(len(kl))
    ranks[np.argsort(kl, kind="stable")] = np.arange(len(kl))
    return float(np.corrcoef(ranks, other)[0, 1])
