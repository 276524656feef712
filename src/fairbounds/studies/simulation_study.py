"""The paper's simulation: how far the mean over the feasible set is from the truth, and how wide the bounds are.

Every figure is reported by divergence of the two tables. The 25 scenarios of a trial share its truth and its
classifier, and α and β cancel in everything but the divergence (`distortion_effect`): the independent unit is the
trial, and how far a figure can stray is seen by repeating the whole study (`repeat`).

The paper's own limits of the grid go with its figures: its count of feasible joints, the mean and the range over
these. The grid's least feasible value then lies up to one step above the least possible one, so its extremes can miss
the truth; those of the tight limits are the sharp bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.kernels.grid import Limits
from fairbounds.progress import report
from fairbounds.studies.columns import Columns, columns_of_arrays, columns_of_records
from fairbounds.studies.published import KL_BINS, KL_EDGES, MOST_TRUE_DI, SIMULATION, Published
from fairbounds.studies.simulation import (
    ALPHAS,
    BETAS,
    Answers,
    Design,
    Population,
    Scenarios,
    answer,
    distorted,
    draw_trials,
)

__all__ = [
    "ALL_BINS",
    "DistortionEffect",
    "RepeatedStudies",
    "SimulationStudy",
    "Spread",
    "Summary",
    "distortion_effect",
    "repeat",
    "simulate",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

ALL_BINS = "all"


@dataclass(frozen=True)
class Summary:
    """Figures over the scenarios of one bin; a mean or sd of fewer scenarios than it needs is NaN.

    Attributes
    ----------
    kl_bin : str
        One of the paper's bins, or ``all``.
    filtered : bool
        Whether scenarios with a true DI above 5 were dropped, as in the paper.
    scenarios, trials : int
    joints : int
        Joints of one grid, before the filter of negative entries.
    feasible_joints : float
        Mean number after it.
    di_true_minus_mean, dd_true_minus_mean : float
        Mean of (truth − mean over the feasible joints of the grid); with ``_sd``, its sd over scenarios.
    di_range, dd_range : float
        Mean of (greatest − least value over the feasible joints of the grid); ``_sd`` as above.
    di_sharp_range, dd_sharp_range : float
        The same of the sharp bounds.
    grid_coverage, sharp_coverage : float
        Share of scenarios whose bounds of DI and of DD contain the truth.
    """

    kl_bin: str
    filtered: bool
    scenarios: int
    trials: int
    joints: int
    feasible_joints: float
    di_true_minus_mean: float
    di_true_minus_mean_sd: float
    dd_true_minus_mean: float
    dd_true_minus_mean_sd: float
    di_range: float
    di_range_sd: float
    dd_range: float
    dd_range_sd: float
    di_sharp_range: float
    di_sharp_range_sd: float
    dd_sharp_range: float
    dd_sharp_range_sd: float
    grid_coverage: float
    sharp_coverage: float


_FIGURES = tuple(field.name for field in fields(Summary) if field.name not in {"kl_bin", "filtered", "joints"})


@dataclass(frozen=True, eq=False)
class SimulationStudy:
    """One study: every scenario, and its figures by bin.

    Attributes
    ----------
    trials, seed, points : int
    design : {"mirrored", "independent", "ordered"}
    concentration : float
    limits : {"paper", "tight"}
    scenarios : Scenarios
    answers : Answers
    kl : array, shape (N,)
    kl_bin : array of int, shape (N,)
        Positions in ``KL_BINS``.
    kept : array of bool, shape (N,)
        Scenarios with a true DI of at most 5.
    summaries : tuple of Summary
        Filtered: all bins together, then each; then the same of all scenarios.
    """

    trials: int
    seed: int
    points: int
    design: Design
    concentration: float
    limits: Limits
    scenarios: Scenarios
    answers: Answers
    kl: FloatArray
    kl_bin: IntArray
    kept: BoolArray
    summaries: tuple[Summary, ...]

    @property
    def dropped(self) -> int:
        """Number of scenarios with a true DI above 5."""
        return int((~self.kept).sum())

    def summary(self, kl_bin: str = ALL_BINS, *, filtered: bool = True) -> Summary:
        """Return the figures of one bin."""
        return _pick(self.summaries, kl_bin, filtered)

    def to_columns(self) -> Columns:
        """Return one row per scenario."""
        scenarios, answers = self.scenarios, self.answers
        columns = columns_of_arrays({name: getattr(scenarios, name) for name in ("trial", "alpha", "beta")})
        columns["kl"] = self.kl.tolist()
        columns["kl_bin"] = [KL_BINS[at] for at in self.kl_bin]
        columns["kept"], columns["feasible_joints"] = self.kept.tolist(), answers.feasible.tolist()
        for prefix, metric in (("di", answers.ratio), ("dd", answers.difference)):
            columns |= columns_of_arrays({f"{prefix}_{name}": values for name, values in metric._asdict().items()})
        return columns

    def summary_columns(self) -> Columns:
        """Return one row per summary."""
        return columns_of_records(asdict(summary) for summary in self.summaries)


@dataclass(frozen=True)
class Spread:
    """One figure over repeated studies: `kl_bin` and `filtered` as in `Summary`, mean and sd over `studies` of them."""

    kl_bin: str
    filtered: bool
    figure: str
    mean: float
    sd: float
    studies: int


@dataclass(frozen=True, eq=False)
class RepeatedStudies:
    """Independent repetitions of one study; study k is ``simulate(seed=seed + k)``.

    Attributes
    ----------
    trials, seed, points : int
    design : {"mirrored", "independent", "ordered"}
    concentration : float
    limits : {"paper", "tight"}
    studies : tuple of tuple of Summary
    spreads : tuple of Spread
    """

    trials: int
    seed: int
    points: int
    design: Design
    concentration: float
    limits: Limits
    studies: tuple[tuple[Summary, ...], ...]
    spreads: tuple[Spread, ...]

    def spread(self, figure: str, kl_bin: str = ALL_BINS, *, filtered: bool = True) -> Spread:
        """Return one figure's mean and sd over studies."""
        found = [s for s in self.spreads if (s.figure, s.kl_bin, s.filtered) == (figure, kl_bin, filtered)]
        if not found:
            raise ProblemError(f"no figure {figure!r} for bin {kl_bin!r}; figures are {', '.join(_FIGURES)}")
        return found[0]

    def to_columns(self) -> Columns:
        """Return one row per study and summary."""
        return columns_of_records(
            {"study": k, **asdict(summary)} for k, summaries in enumerate(self.studies) for summary in summaries
        )

    def spread_columns(self) -> Columns:
        """Return one row per figure, bin and filter."""
        return columns_of_records(asdict(spread) for spread in self.spreads)

    def beside_paper(self) -> Columns:
        """Return the paper's figures beside the mean and sd of ours over studies, and how many of those sd lie between.

        Of a range over the bins, the least and the greatest bin of each study are compared with the paper's.
        """
        return columns_of_records(self._beside(published) for published in SIMULATION)

    def _beside(self, published: Published) -> dict[str, Any]:
        bins = KL_BINS if published.over_bins else (ALL_BINS,)
        own = np.array([[getattr(_pick(study, at, True), published.figure) for at in bins] for study in self.studies])
        row = asdict(published)
        for end, theirs, ours in (
            ("low", published.low, np.nanmin(own, axis=1)),
            ("high", published.high, np.nanmax(own, axis=1)),
        ):
            mean, sd = _mean_and_sd(ours)
            row |= {f"own_{end}": mean, f"own_{end}_sd": sd}
            row[f"{end}_apart_in_sd"] = (theirs - mean) / sd if sd > 0 else None
        return row


@dataclass(frozen=True)
class DistortionEffect:
    """Greatest difference that α and β make to each figure within a trial.

    Attributes
    ----------
    trials : int
    same : dict of str to float
        What the method returns for the external population: nothing but rounding.
    different : dict of str to float
        What looks at p_i(o): the divergence, the internal table's own shares, and answers for the internal population.
    """

    trials: int
    same: dict[str, float]
    different: dict[str, float]

    def to_columns(self) -> Columns:
        """Return one row per figure."""
        both = (("same", self.same), ("different", self.different))
        return columns_of_records(
            {"figure": name, "expected": expected, "greatest_difference": value}
            for expected, figures in both
            for name, value in figures.items()
        )


def simulate(
    trials: int = 1000,
    seed: int = 0,
    points: int = 100,
    design: Design = "mirrored",
    concentration: float = 1.0,
    limits: Limits = "paper",
) -> SimulationStudy:
    """Run one study of 25 scenarios per trial.

    Parameters
    ----------
    trials, seed : int
    points : int
        Values of each of the two free parameters, 10,000 joints for 100.
    design, concentration
        As in `draw_trials`.
    limits : {"paper", "tight"}
        As in `fairbounds.kernels.grid`.

    Examples
    --------
    >>> study = simulate(trials=20, points=20)
    >>> study.summary().joints, study.summary().sharp_coverage, len(study.to_columns()["kl"])
    (400, 1.0, 500)
    """
    scenarios = distorted(draw_trials(trials, seed, design, concentration))
    answers = answer(scenarios, points, limits)
    kl = scenarios.kl
    kl_bin = np.searchsorted(KL_EDGES, kl, side="left")
    kept = answers.ratio.true <= MOST_TRUE_DI
    summaries = []
    for filtered in (True, False):
        wanted = kept if filtered else np.ones_like(kept)
        summaries.append(_summarise(scenarios, answers, points, wanted, ALL_BINS, filtered))
        for at, name in enumerate(KL_BINS):
            summaries.append(_summarise(scenarios, answers, points, wanted & (kl_bin == at), name, filtered))
    return SimulationStudy(
        trials, seed, points, design, concentration, limits, scenarios, answers, kl, kl_bin, kept, tuple(summaries)
    )


def repeat(
    studies: int = 40,
    trials: int = 1000,
    seed: int = 0,
    points: int = 100,
    design: Design = "mirrored",
    concentration: float = 1.0,
    limits: Limits = "paper",
) -> RepeatedStudies:
    """Run independent studies and return the spread of every figure over them; arguments as in `simulate`.

    Examples
    --------
    >>> repeated = repeat(studies=3, trials=20, points=20)
    >>> repeated.spread("sharp_coverage").mean, repeated.spread("sharp_coverage").sd
    (1.0, 0.0)
    """
    if studies < 2:
        raise ProblemError(f"a spread needs at least 2 studies, not {studies}")
    found, task = [], f"repeated simulation, {design} draws"
    for k in range(studies):
        report(task, k / studies)
        found.append(simulate(trials, seed + k, points, design, concentration, limits).summaries)
    report(task, 1.0)
    spreads = tuple(spread for same in zip(*found, strict=True) for spread in _spreads(same))
    return RepeatedStudies(trials, seed, points, design, concentration, limits, tuple(found), spreads)


def distortion_effect(
    trials: int = 1, seed: int = 0, points: int = 100, design: Design = "mirrored", limits: Limits = "paper"
) -> DistortionEffect:
    """Show that α and β, which leave p_i(s | o) as it is, change nothing that the method returns.

    Examples
    --------
    >>> effect = distortion_effect(points=20)
    >>> max(effect.same.values()) < 1e-12, effect.different["kl"] > 0.1
    (True, True)
    """
    scenarios = distorted(draw_trials(trials, seed, design))
    same = _answered(scenarios, points, limits, "external")
    different = {"kl": scenarios.kl, "p_i(o=1)": scenarios.internal[:, 1].sum(axis=1)}
    inside = _answered(scenarios, points, limits, "internal")
    different |= {f"internal population: {name}": values for name, values in inside.items()}
    return DistortionEffect(
        trials,
        {name: _greatest_difference(values) for name, values in same.items()},
        {name: _greatest_difference(values) for name, values in different.items()},
    )


def _answered(scenarios: Scenarios, points: int, limits: Limits, population: Population) -> dict[str, FloatArray]:
    answers = answer(scenarios, points, limits, population)
    named = {"feasible_joints": answers.feasible.astype(np.float64)}
    for prefix, metric in (("di", answers.ratio), ("dd", answers.difference)):
        named |= {f"{prefix}_{name}": values for name, values in metric._asdict().items() if name != "true"}
    return named


def _greatest_difference(values: FloatArray) -> float:
    by_trial = values.reshape(-1, len(ALPHAS) * len(BETAS))
    return float(np.ptp(by_trial, axis=1).max())


def _summarise(
    scenarios: Scenarios, answers: Answers, points: int, wanted: BoolArray, name: str, filtered: bool
) -> Summary:
    ratio, difference = (metric.where(wanted) for metric in (answers.ratio, answers.difference))
    moments: dict[str, float] = {}
    for prefix, metric in (("di", ratio), ("dd", difference)):
        for figure, values in (
            ("true_minus_mean", metric.true - metric.mean),
            ("range", metric.high - metric.low),
            ("sharp_range", metric.sharp_high - metric.sharp_low),
        ):
            moments[f"{prefix}_{figure}"], moments[f"{prefix}_{figure}_sd"] = _mean_and_sd(values)
    return Summary(
        kl_bin=name,
        filtered=filtered,
        scenarios=int(wanted.sum()),
        trials=len(np.unique(scenarios.trial[wanted])),
        joints=points**2,
        feasible_joints=_mean_and_sd(answers.feasible[wanted])[0],
        grid_coverage=_mean_and_sd(ratio.in_grid & difference.in_grid)[0],
        sharp_coverage=_mean_and_sd(ratio.in_sharp & difference.in_sharp)[0],
        **moments,
    )


def _mean_and_sd(values: npt.NDArray[Any]) -> tuple[float, float]:
    mean = float(np.mean(values)) if len(values) else np.nan
    return mean, float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


def _spreads(summaries: Sequence[Summary]) -> list[Spread]:
    """Spread of each figure over the same summary of several studies, those without a value left out."""
    out, first = [], summaries[0]
    for figure in _FIGURES:
        values = np.array([getattr(summary, figure) for summary in summaries], dtype=np.float64)
        values = values[np.isfinite(values)]
        out.append(Spread(first.kl_bin, first.filtered, figure, *_mean_and_sd(values), len(values)))
    return out


def _pick(summaries: Sequence[Summary], kl_bin: str, filtered: bool) -> Summary:
    found = [s for s in summaries if s.kl_bin == kl_bin and s.filtered == filtered]
    if not found:
        raise ProblemError(f"no bin {kl_bin!r}: {ALL_BINS}, {', '.join(KL_BINS)}")
    return found[0]
