"""The paper's simulation: its figures beside ours, and why several of them could not have come out otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairbounds.plots import Band, Box, Mark, boxes, compose, histogram, scatter
from fairbounds.seeds import stream
from fairbounds.studies.chapters.parts import (
    METRIC_TITLES,
    Chapter,
    decimal,
    give_or_take,
    rounding,
    rows_of,
    share,
    span,
    times,
)
from fairbounds.studies.columns import columns_of_records
from fairbounds.studies.document import Grid, Heading, Illustration, Paragraph
from fairbounds.studies.published import KL_BINS, MOST_TRUE_DI, SIMULATION
from fairbounds.studies.simulation import ALPHAS, BETAS, Comparison
from fairbounds.studies.simulation_study import ALL_BINS, DistortionEffect, RepeatedStudies, SimulationStudy, Summary

__all__ = ["SimulationResults", "simulation_chapter"]

_BINS = 60
_MOST_POINTS = 2_000
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_CHANCE = 2.0  # sd of one study; further apart is called a difference
_WIDEST = 0.01  # of the scenarios

_DRAWN: dict[str, str] = {
    "mirrored": "P(ŷ=1 | s=0, o) = u and P(ŷ=1 | s=1, o) = 1 − u, one u ~ U(0, 1) for each o (mirrored draws)",
    "independent": "P(ŷ=1 | s, o) ~ U(0, 1), four draws (independent draws)",
}
_WORDS = {
    "feasible_joints": ("feasible joints of the grid, mean", 0),
    "di_true_minus_mean": ("DI, true − mean: mean", 3),
    "di_true_minus_mean_sd": ("DI, true − mean: sd", 3),
    "dd_true_minus_mean": ("DD, true − mean: mean", 3),
    "dd_true_minus_mean_sd": ("DD, true − mean: sd", 3),
    "grid_coverage": ("truth within the grid's extremes", 4),
    "di_range": ("DI, range: mean", 3),
    "di_range_sd": ("DI, range: sd", 3),
    "dd_range": ("DD, range: mean", 3),
    "dd_range_sd": ("DD, range: sd", 3),
    "sharp_coverage": ("truth within the sharp bounds", 4),
}


class SimulationResults(NamedTuple):
    """Everything that the chapter is written from.

    Attributes
    ----------
    study : SimulationStudy
    repeated, other : RepeatedStudies
        The study over again, the first of them `study` itself; and with the other design of the classifier.
    effect : DistortionEffect
    """

    study: SimulationStudy
    repeated: RepeatedStudies
    other: RepeatedStudies
    effect: DistortionEffect


def simulation_chapter(results: SimulationResults) -> Chapter:
    """Write the chapter."""
    study, repeated = results.study, results.repeated
    return Chapter(
        "Simulation",
        _plainly(results),
        (_beside_paper(results),),
        (
            Heading(2, "Simulation"),
            Paragraph(_protocol(study)),
            _errors_figure(study),
            _scatter_figure(study),
            _range_figure(study),
            _bins_grid(study),
            _spread_grid(repeated),
        ),
        _choices(study),
        {
            "simulation-scenarios": study.to_columns(),
            "simulation-by-bin": study.summary_columns(),
            "simulation-repeated": repeated.to_columns(),
            "simulation-spread": repeated.spread_columns(),
            "simulation-beside-paper": repeated.beside_paper(),
            f"simulation-{results.other.design}-draws": results.other.spread_columns(),
            "simulation-distortion-effect": results.effect.to_columns(),
        },
        {"simulation": _summary(study)},
    )


def _metrics(study: SimulationStudy) -> list[tuple[str, Comparison]]:
    return [("DI", study.answers.ratio.where(study.kept)), ("DD", study.answers.difference.where(study.kept))]


def _protocol(study: SimulationStudy) -> str:
    return (
        f"{times(study.trials, 'trial')}, each a truth drawn from a flat Dirichlet distribution over (s, o, e) and a "
        f"classifier with {_DRAWN[study.design]}. The internal table "
        f"of each is distorted in {len(ALPHAS) * len(BETAS)} ways, which makes "
        f"{times(len(study.scenarios), 'scenario')}. The grid has {study.points} × {study.points} joints. Figures "
        f"leave out the {times(study.dropped, 'scenario')} whose true DI exceeds {MOST_TRUE_DI:g}, as in the paper, "
        "unless they say otherwise."
    )


# -- what the reader must know -----------------------------------------------------------------------------------------


def _plainly(results: SimulationResults) -> tuple[str, ...]:
    study, effect = results.study, results.effect
    kept, everything = study.summary(), study.summary(filtered=False)
    trials = len(np.unique(study.scenarios.trial[~study.kept]))
    return (
        "**The distortion changes nothing that is measured.** α and β rescale strata of the internal table and leave "
        "p_i(s|o) as it is, and the method takes nothing else from that table when the external population is "
        f"audited. Over {times(effect.trials, 'trial')}, the greatest change that any distortion makes to any answer "
        f"is {rounding(max(effect.same.values()))}, which is rounding, while the divergence KL(p_e(o) ‖ p_i(o)) moves "
        f"by up to {decimal(effect.different['kl'], 2)} nats. A breakdown by KL shows which trials fall into which "
        "bin, and no effect of KL. (For the internal population the answers do change.)",
        "**The mean over the feasible set is unbiased by construction.** Under a flat Dirichlet distribution every "
        "joint that fits both tables is equally likely to be the truth, so that truth − mean averages to 0 whatever "
        f"the tables are. Here it is {decimal(everything.di_true_minus_mean)} for DI and "
        f"{decimal(everything.dd_true_minus_mean)} for DD over all scenarios. This says how the truths were drawn, "
        "not how good the mean is for a real population.",
        f"**The filter looks at the truth**, which no auditor knows: it drops {times(study.dropped, 'scenario')} "
        f"({times(trials, 'trial')}) with a true DI above {MOST_TRUE_DI:g}. With it, truth − mean of DI is "
        f"{give_or_take(kept.di_true_minus_mean, kept.di_true_minus_mean_sd)} and its range "
        f"{give_or_take(kept.di_range, kept.di_range_sd)}; without it, "
        f"{give_or_take(everything.di_true_minus_mean, everything.di_true_minus_mean_sd)} and "
        f"{give_or_take(everything.di_range, everything.di_range_sd)}.",
        f"**{len(ALPHAS) * len(BETAS)} scenarios are one observation.** They share a truth, a classifier and, as "
        f"said, every answer: {times(kept.scenarios, 'scenario')} hold {times(kept.trials, 'independent trial')}. "
        "Differences from the paper are therefore measured in standard deviations over "
        f"{times(len(results.repeated.studies), 'repeated study')}.",
        "**A grid is not a bound.** Over all repeated studies the extremes of the paper's grid hold the truth in "
        f"{share(results.repeated.spread('grid_coverage').mean)} of the scenarios, and the sharp bounds in "
        f"{share(results.repeated.spread('sharp_coverage').mean)}: the paper's grid starts from limits that are too "
        "wide, throws away joints with a negative entry, and what is left can stop short of the end.",
    )


# -- beside the paper --------------------------------------------------------------------------------------------------


def _beside_paper(results: SimulationResults) -> Grid:
    own, other = (list(rows_of(found.beside_paper())) for found in (results.repeated, results.other))
    studies = len(results.repeated.studies)
    return Grid(
        f"Simulation, {times(results.study.trials, 'trial')} a study, seed {results.study.seed}: the paper's figures, "
        f"this run's, and the mean ± sd of {times(studies, 'repeated study')}; then the same "
        f"with {_DRAWN[results.other.design]}",
        ("figure", "paper", "this run", "repeated studies", "apart, in sd", f"{results.other.design} draws", "remark"),
        tuple(_beside_row(results, *rows) for rows in zip(own, other, strict=True)),
    )


def _beside_row(results: SimulationResults, own: dict[str, Any], other: dict[str, Any]) -> tuple[str, ...]:
    figure, over_bins = own["figure"], own["low"] != own["high"]
    words, digits = _WORDS[figure]
    apart = [abs(own[name]) for name in ("low_apart_in_sd", "high_apart_in_sd") if own[name] is not None]
    here = [getattr(results.study.summary(name), figure) for name in (KL_BINS if over_bins else (ALL_BINS,))]
    here = [value for value in here if np.isfinite(value)]
    return (
        f"{words}, least to greatest of the KL bins" if over_bins else words,
        span(own["low"], own["high"], digits if not over_bins else 2),
        span(min(here), max(here), digits),
        _over_studies(own, over_bins, digits),
        decimal(max(apart), 1) if apart else decimal(None),
        _over_studies(other, over_bins, digits),
        _remark(results, figure, max(apart, default=0.0), own),
    )


def _over_studies(row: dict[str, Any], over_bins: bool, digits: int) -> str:
    ends = [give_or_take(row[f"own_{end}"], row[f"own_{end}_sd"], digits) for end in ("low", "high")]
    return " to ".join(ends) if over_bins else ends[0]


def _remark(results: SimulationResults, figure: str, apart: float, own: dict[str, Any]) -> str:
    if apart <= _CHANCE:
        return "within chance"
    studies = results.repeated.studies
    beyond = sum(_reaches(study, figure, own) for study in studies)
    said = f"further than chance: {beyond} of {times(len(studies), 'study')} reach it"
    return said + (_heavy_tail(results.study, figure) if figure in ("di_range", "di_range_sd") else "")


def _reaches(study: tuple[Summary, ...], figure: str, own: dict[str, Any]) -> bool:
    """Whether one repeated study came out at the paper's figure or beyond it, seen from our mean."""
    names = KL_BINS if own["low"] != own["high"] else (ALL_BINS,)
    found = [getattr(summary, figure) for summary in study if summary.filtered and summary.kl_bin in names]
    ends = (("low", np.nanmin(found)), ("high", np.nanmax(found)))
    return all((value - own[end]) * (own[end] - own[f"own_{end}"]) >= 0 for end, value in ends)


def _heavy_tail(study: SimulationStudy, figure: str) -> str:
    ratio = study.answers.ratio.where(study.kept)
    widths = np.sort(ratio.high - ratio.low)[::-1] ** (2 if figure.endswith("sd") else 1)
    most = max(1, round(_WIDEST * len(widths)))
    what = "squares" if figure.endswith("sd") else "mean"
    return (
        f"; the widest {share(_WIDEST)} of the scenarios carry {share(float(widths[:most].sum() / widths.sum()))} of "
        f"the {what}, so that a few trials decide it"
    )


def _summary(study: SimulationStudy) -> dict[str, Any]:
    found = study.summary()
    return {
        "trials": study.trials,
        "feasible_joints": found.feasible_joints,
        "true_minus_mean": {
            "DI": [found.di_true_minus_mean, found.di_true_minus_mean_sd],
            "DD": [found.dd_true_minus_mean, found.dd_true_minus_mean_sd],
        },
        "range": {"DI": [found.di_range, found.di_range_sd], "DD": [found.dd_range, found.dd_range_sd]},
        "coverage": {"grid": found.grid_coverage, "sharp": found.sharp_coverage},
        "dropped": study.dropped,
    }


# -- tables ------------------------------------------------------------------------------------------------------------


def _bins_grid(study: SimulationStudy) -> Grid:
    wanted = [study.summary(name) for name in (ALL_BINS, *KL_BINS)] + [study.summary(filtered=False)]
    return Grid(
        f"This run by bin of KL; the last row keeps scenarios with a true DI above {MOST_TRUE_DI:g}",
        (
            "KL (nats)",
            "scenarios",
            "trials",
            "feasible joints",
            "DI, true − mean",
            "DD, true − mean",
            "DI, range",
            "DD, range",
            "in the grid",
            "in sharp bounds",
        ),
        tuple(_bin_row(found) for found in wanted),
    )


def _bin_row(found: Summary) -> tuple[str, ...]:
    return (
        found.kl_bin if found.filtered else "all, unfiltered",
        f"{found.scenarios:,}",
        f"{found.trials:,}",
        f"{decimal(found.feasible_joints, 0)} of {found.joints:,}",
        give_or_take(found.di_true_minus_mean, found.di_true_minus_mean_sd),
        give_or_take(found.dd_true_minus_mean, found.dd_true_minus_mean_sd),
        give_or_take(found.di_range, found.di_range_sd),
        give_or_take(found.dd_range, found.dd_range_sd),
        share(found.grid_coverage),
        share(found.sharp_coverage),
    )


def _spread_grid(repeated: RepeatedStudies) -> Grid:
    return Grid(
        f"How far the figures of one study stray: mean ± sd over {times(len(repeated.studies), 'repeated study')}, by "
        "bin of KL",
        ("figure", ALL_BINS, *KL_BINS),
        tuple(
            (words, *(_spread_cell(repeated, name, at) for at in (ALL_BINS, *KL_BINS)))
            for name, (words, _) in _WORDS.items()
        ),
    )


def _spread_cell(repeated: RepeatedStudies, figure: str, at: str) -> str:
    found = repeated.spread(figure, at)
    return give_or_take(found.mean, found.sd, _WORDS[figure][1])


# -- figures -----------------------------------------------------------------------------------------------------------


def _errors_figure(study: SimulationStudy) -> Illustration:
    panels, records, said = [], [], []
    for name, metric in _metrics(study):
        errors = metric.true - metric.mean
        counts, edges = np.histogram(errors, _BINS)
        mean, sd = float(errors.mean()), float(errors.std(ddof=1))
        marks = [Mark(f"mean {decimal(mean)}, sd {decimal(sd)}", "feasible_mean", (mean,))]
        panels.append(
            histogram(
                counts.tolist(),
                edges.tolist(),
                title=METRIC_TITLES[name],
                x=f"true {name} − mean {name} over the feasible joints",
                y="scenarios",
                marks=marks,
            )
        )
        ends = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        records += [{"metric": name, "from": low, "to": high, "scenarios": n} for low, high, n in ends]
        said.append(f"{name}: mean {decimal(mean)}, sd {decimal(sd)}, {span(float(errors.min()), float(errors.max()))}")
    text = f"Histograms of truth minus mean over {times(int(study.kept.sum()), 'scenario')}. {'. '.join(said)}."
    return Illustration(
        "simulation-true-minus-mean",
        compose(panels, text),
        f"How far the truth is from the mean over the feasible joints, in {times(int(study.kept.sum()), 'scenario')}.",
        columns_of_records(records),
    )


def _scatter_figure(study: SimulationStudy) -> Illustration:
    panels, records, said = [], [], []
    chosen, words = _points_shown(study)
    for name, metric in _metrics(study):
        true, mean = metric.true[chosen], metric.mean[chosen]
        correlation = float(np.corrcoef(metric.true, metric.mean)[0, 1]) if len(metric.true) > 1 else np.nan
        panels.append(
            scatter(
                mean.tolist(),
                true.tolist(),
                title=METRIC_TITLES[name],
                x_title=f"mean {name} over the feasible joints",
                y_title=f"true {name}",
                diagonal="truth = mean",
            )
        )
        pairs = zip(study.scenarios.trial[study.kept][chosen].tolist(), true.tolist(), mean.tolist(), strict=True)
        records += [{"metric": name, "trial": t, "true": a, "mean": b} for t, a, b in pairs]
        said.append(f"{name}: correlation {decimal(correlation, 2)}")
    return Illustration(
        "simulation-true-versus-mean",
        compose(panels, f"Scatter of truth against mean around the identity line. {'. '.join(said)}."),
        f"Truth against mean; {words}. Correlation: {'; '.join(said).replace(': correlation', '')}.",
        columns_of_records(records),
    )


def _points_shown(study: SimulationStudy) -> tuple[npt.NDArray[np.int64], str]:
    """Positions among the kept scenarios of one for each trial, or of some of these."""
    trials, first = np.unique(study.scenarios.trial[study.kept], return_index=True)
    every = f"a point for each of {times(len(trials), 'trial')}, whose scenarios all coincide"
    if len(trials) <= _MOST_POINTS:
        return first, every
    picked = np.sort(stream(study.seed, "points shown").choice(len(first), _MOST_POINTS, replace=False))
    return first[picked], f"a point for each of {_MOST_POINTS:,} trials out of {len(trials):,}, chosen at random"


def _range_figure(study: SimulationStudy) -> Illustration:
    panels, records, said = [], [], []
    bands = {
        p.figure: Band(f"the paper's means: {span(p.low, p.high, 2)}", p.low, p.high) for p in SIMULATION if p.over_bins
    }
    for name, metric in _metrics(study):
        drawn = _boxes(metric.high - metric.low, study.kl_bin[study.kept])
        panels.append(
            boxes(
                drawn,
                title=METRIC_TITLES[name],
                x="KL divergence of the tables on o, nats",
                y=f"range of {name} over the feasible joints",
                mean="mean",
                band=bands[f"{name.lower()}_range"],
            )
        )
        records += [_box_record(name, box) for box in drawn]
        means = [box.mean for box in drawn]
        said.append(f"{name}: means of the bins {span(min(means), max(means))}")
    return Illustration(
        "simulation-range-by-kl",
        compose(panels, f"Box plots of the range by bin of KL, all alike. {'. '.join(said)}."),
        "Greatest minus least value over the feasible joints, by divergence of the two tables on the common variable. "
        "The bins differ in which trials fall into them, and in nothing else.",
        columns_of_records(records),
    )


def _boxes(widths: npt.NDArray[np.float64], kl_bin: npt.NDArray[np.int64]) -> list[Box]:
    out = []
    for at, name in enumerate(KL_BINS):
        mine = widths[kl_bin == at]
        if len(mine):
            p5, p25, p50, p75, p95 = np.quantile(mine, _QUANTILES).tolist()
            out.append(Box(name, (p5, p25, p50, p75, p95), float(mine.mean())))
    return out


def _box_record(name: str, box: Box) -> dict[str, Any]:
    quantiles = {f"p{100 * level:g}": value for level, value in zip(_QUANTILES, box.quantiles, strict=True)}
    return {"metric": name, "kl_bin": box.category, **quantiles, "mean": box.mean}


def _choices(study: SimulationStudy) -> tuple[tuple[str, str], ...]:
    return (
        (
            "Classifier of the simulation",
            "The paper does not say how P(ŷ=1|s, o) is drawn. One draw u for each o, mirrored for s = 1, is the "
            f"reading whose figures come near the paper's; this run's main figures have {study.design} draws, and the "
            "other reading stands beside them.",
        ),
        (
            "Grid of the simulation",
            f"{study.points} values of each free parameter between the paper's limits; joints with a negative entry "
            "are left out. Sharp bounds are by formula.",
        ),
        ("Bins of KL", f"In nats, closed on the right: {', '.join(KL_BINS)}; a negative rounding error counts as 0."),
        (
            "Filter of the simulation",
            f"A scenario is left out if its true DI exceeds {MOST_TRUE_DI:g}; there is no lower limit. Both ways are "
            "shown.",
        ),
        ("Audited population", "The external one: p_e(o, e) and p_i(s|o) are kept."),
        ("Standard deviations", "Over scenarios (as in the paper) in ±, with n − 1; over repeated studies where said."),
    )
