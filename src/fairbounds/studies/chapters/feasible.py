"""Real data over the feasible set: the distribution of each metric, and what further common variables do to it."""

from __future__ import annotations

from typing import Any

from fairbounds.plots import Mark, compose, histogram
from fairbounds.studies.chapters.common_sets import common_set_blocks, what_sets_show
from fairbounds.studies.chapters.parts import (
    DATA_NAMES,
    METRIC_NAMES,
    METRIC_TITLES,
    Chapter,
    decimal,
    finite,
    listed,
    rows_of,
    span,
)
from fairbounds.studies.columns import columns_of_records
from fairbounds.studies.common_sets import CommonSetStudy
from fairbounds.studies.document import Block, Grid, Heading, Illustration, Paragraph
from fairbounds.studies.real_feasible import FeasibleAnswer, LatentAnswer, RealFeasibleStudy

__all__ = ["feasible_chapter"]

_BINS = 50


def feasible_chapter(study: RealFeasibleStudy, sets: CommonSetStudy) -> Chapter:
    """Write the chapter."""
    names = list(dict.fromkeys(answer.data for answer in study.answers))
    blocks: list[Block] = [
        Heading(2, "Real data: the feasible set"),
        Paragraph(
            "Two internal variables of two levels, one of them common, and one protected attribute; a decision tree "
            "on both internal variables, its probabilities taken as scores. The distributions are over the feasible "
            f"joints of the paper's grid of {study.points} × {study.points}; the mean is by formula, over all joints "
            "that fit."
        ),
        *(_distribution(study, name) for name in names),
        _answers_grid(study),
        _grids_grid(study),
        _latent_grid(study),
        *common_set_blocks(sets),
    ]
    return Chapter(
        "Real data: the feasible set",
        (*_plainly(study), *what_sets_show(sets)),
        (_beside_expected(study),),
        tuple(blocks),
        (
            (
                "Feasible set",
                "Every joint of all internal variables with the group is equally likely, as on the paper's grid.",
            ),
            (
                "Classifier of the feasible set",
                "A fully grown tree on the two internal variables, trained on everybody; hard decisions are "
                "probabilities of at least ½.",
            ),
            (
                "Latent class, feasible set",
                f"{study.starts} random starts; the number of classes by BIC. The spread is over starts of equal "
                "likelihood.",
            ),
            ("Sets of common variables", sets.rule),
        ),
        {
            "feasible-answers": study.to_columns(),
            "feasible-grids": study.grid_columns(),
            "feasible-histograms": study.histogram_columns(),
            "feasible-latent-class": study.latent_columns(),
            "feasible-beside-expected": study.beside_expected(),
            "common-sets": sets.to_columns(),
            "common-sets-by-size": sets.by_size(),
            "common-sets-walks": sets.walk_columns(),
        },
        {
            "feasible": {
                name: {metric: _summary(study.answer(name, metric)) for metric in METRIC_NAMES} for name in names
            }
        },
    )


def _summary(answer: FeasibleAnswer) -> dict[str, float | None]:
    names = ("true", "lower", "upper", "mean", "independence")
    return {name: finite(getattr(answer, name)) for name in names}


def _who(answer: FeasibleAnswer) -> str:
    return f"{DATA_NAMES[answer.data]}, {answer.group} against {answer.reference}"


# -- what the reader must know -----------------------------------------------------------------------------------------


def _plainly(study: RealFeasibleStudy) -> tuple[str, ...]:
    return (_on_verdicts(study), _on_latent(study))


def _on_verdicts(study: RealFeasibleStudy) -> str:
    held = [answer.lower - 1e-12 <= answer.true <= answer.upper + 1e-12 for answer in study.answers]
    ratios = [answer for answer in study.answers if (answer.metric, answer.prediction) == ("DI", "scores")]
    settled = [answer for answer in ratios if answer.lower > 1 or answer.upper < 1]
    open_ = [answer for answer in ratios if answer not in settled]
    said = [f"{DATA_NAMES[a.data]} (DI {span(a.lower, a.upper)})" for a in settled]
    unsaid = [f"{DATA_NAMES[a.data]} ({span(a.lower, a.upper)})" for a in open_]
    return (
        f"**The sharp bounds hold the truth in {sum(held)} of {len(held)} cases** (data set, metric, scores or "
        f"decisions). With scores they settle on which side of parity DI lies for {listed(said)}, and leave it open "
        f"for {listed(unsaid)}."
    )


def _on_latent(study: RealFeasibleStudy) -> str:
    ratios = [answer for answer in study.answers if (answer.metric, answer.prediction) == ("DI", "scores")]
    said = [
        f"{DATA_NAMES[a.data]} {decimal(a.latent)} (K = {a.latent_classes}, equally likely starts "
        f"{span(a.latent_low, a.latent_high)}; truth {decimal(a.true)})"
        for a in ratios
    ]
    fits = [f for f in study.latent if (f.metric, f.prediction) == ("DI", "scores") and f.asked != "auto"]
    loose = sum(not fit.identified for fit in fits)
    return (
        f"**The latent class model need not have one answer.** In {loose} of {len(fits)} fits with more than one "
        "class, starts of equal likelihood give different DI. With the number of classes K that BIC chooses, DI is "
        f"{listed(said, '; ')}. K = 1 means that nothing depends on anything, and makes DI 1."
    )


# -- tables ------------------------------------------------------------------------------------------------------------


def _beside_expected(study: RealFeasibleStudy) -> Grid:
    return Grid(
        "Real data, feasible set: figures worked out from the same tables by an independent program, and this run's",
        ("figure", "worked out independently", "this run", "agree"),
        tuple(
            (
                f"{DATA_NAMES[row['data']]}, {row['metric']}, {_FIGURES[row['figure']]}",
                decimal(row["expected"], 6),
                decimal(row["own"], 6),
                "yes" if row["agrees"] else "no",
            )
            for row in rows_of(study.beside_expected())
        ),
    )


_FIGURES = {"true": "truth", "lower": "sharp lower end", "upper": "sharp upper end", "independence": "independence"}


def _answers_grid(study: RealFeasibleStudy) -> Grid:
    header = (
        "data",
        "metric",
        "prediction",
        "truth",
        "sharp bounds",
        "mean",
        "independence",
        "latent class",
        "K",
        "over starts",
    )
    return Grid("Truth, bounds and estimates", header, tuple(_answer_row(answer) for answer in study.answers))


def _answer_row(answer: FeasibleAnswer) -> tuple[str, ...]:
    return (
        _who(answer),
        answer.metric,
        answer.prediction,
        decimal(answer.true),
        span(answer.lower, answer.upper),
        decimal(answer.mean),
        decimal(answer.independence),
        decimal(answer.latent),
        str(answer.latent_classes),
        span(answer.latent_low, answer.latent_high),
    )


def _grids_grid(study: RealFeasibleStudy) -> Grid:
    header = ("data", "metric", "prediction", "limits", "feasible joints", "least to greatest", "mean", "sd")
    rows = [
        (
            DATA_NAMES[grid.data],
            grid.metric,
            grid.prediction,
            grid.limits,
            f"{grid.feasible:,} of {grid.joints:,}",
            span(grid.low, grid.high),
            decimal(grid.mean),
            decimal(grid.sd),
        )
        for grid in study.grids
    ]
    return Grid(
        "Grids, with the paper's limits and with those that joints reach (– where a ratio is infinite)",
        header,
        tuple(rows),
    )


def _latent_grid(study: RealFeasibleStudy) -> Grid:
    header = (
        "data",
        "metric",
        "K",
        "DI or DD",
        "over starts",
        "equally likely starts",
        "misfit, internal",
        "misfit, external",
    )
    fits = [fit for fit in study.latent if fit.prediction == "scores" and fit.asked != "auto"]
    return Grid(
        "Latent class model by number of classes K, scores; misfit is the total variation between a table and the "
        "model's",
        header,
        tuple(_latent_row(fit) for fit in fits),
    )


def _latent_row(fit: LatentAnswer) -> tuple[str, ...]:
    return (
        DATA_NAMES[fit.data],
        fit.metric,
        str(fit.classes),
        decimal(fit.value),
        span(fit.low, fit.high),
        f"{fit.equally_likely} of {fit.starts}",
        decimal(fit.misfit_internal),
        decimal(fit.misfit_external),
    )


# -- figures -----------------------------------------------------------------------------------------------------------


def _distribution(study: RealFeasibleStudy, name: str) -> Illustration:
    panels, records, said = [], [], []
    for metric, title in METRIC_TITLES.items():
        answer, grid = study.answer(name, metric), study.grid(name, metric, limits="paper")
        counts, edges = grid.histogram(_BINS)
        marks = _marks(answer)
        panels.append(histogram(counts, edges, title=title, x=metric, y="feasible joints of the grid", marks=marks))
        ends = zip(edges[:-1], edges[1:], counts, strict=True)
        records += [{"metric": metric, "kind": "joints", "from": a, "to": b, "count": n} for a, b, n in ends]
        records += [_mark_record(metric, mark) for mark in marks]
        said.append(f"{metric}: {', '.join(mark.label for mark in marks)}")
    answer = study.answer(name)
    return Illustration(
        f"feasible-{name}",
        compose(panels, f"Histograms over the feasible joints of {_who(answer)}. {'. '.join(said)}."),
        f"{_who(answer)}: the metric over the {study.grid(name, limits='paper').feasible:,} feasible joints of the "
        "paper's grid, with scores.",
        columns_of_records(records),
    )


def _marks(answer: FeasibleAnswer) -> list[Mark]:
    starts = (answer.latent_low, answer.latent_high)
    spread = f" (starts {span(*starts)})" if decimal(starts[0]) != decimal(starts[1]) else ""
    return [
        Mark(f"truth {decimal(answer.true)}", "truth", (answer.true,)),
        Mark(f"independence {decimal(answer.independence)}", "independence", (answer.independence,)),
        Mark(
            f"latent class, K = {answer.latent_classes}: {decimal(answer.latent)}{spread}",
            "latent_class",
            (answer.latent,),
            starts,
        ),
        Mark(f"mean of the feasible set {decimal(answer.mean)}", "feasible_mean", (answer.mean,)),
        Mark(f"sharp bounds {span(answer.lower, answer.upper)}", "bounds", (answer.lower, answer.upper)),
    ]


def _mark_record(metric: str, mark: Mark) -> dict[str, Any]:
    first, last = mark.spread or (mark.values[0], mark.values[-1])
    return {"metric": metric, "kind": mark.role, "from": first, "to": last, "count": None}
