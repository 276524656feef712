"""Real data over the feasible set: the distribution of each metric, and what further common variables do to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairbounds.plots import Dot, Mark, compose, dots, histogram
from fairbounds.studies.chapters.parts import (
    DATA_NAMES,
    METRIC_NAMES,
    Chapter,
    decimal,
    finite,
    give_or_take,
    listed,
    rows_of,
    share,
    span,
)
from fairbounds.studies.columns import columns_of_records
from fairbounds.studies.common_sets import CommonSetStudy, SetResult
from fairbounds.studies.document import Block, Grid, Heading, Illustration, Paragraph
from fairbounds.studies.real_feasible import FeasibleAnswer, LatentAnswer, RealFeasibleStudy

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["feasible_chapter"]

_BINS = 50
_WIDE = 480  # pixels of a panel that stands alone in its row


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
        Heading(3, "All categories, and other common variables"),
        Paragraph(sets.rule),
        _widths_figure(sets),
        _sizes_grid(sets),
        _walks_grid(sets),
    ]
    return Chapter(
        "Real data: the feasible set",
        _plainly(study, sets),
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


def _plainly(study: RealFeasibleStudy, sets: CommonSetStudy) -> tuple[str, ...]:
    return (
        _on_verdicts(study),
        _on_latent(study),
        _on_coordinates(sets),
        _on_width(sets),
    )


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


def _on_coordinates(sets: CommonSetStudy) -> str:
    walks = {(w.data, w.coordinates): w for w in sets.walks if w.metric == "DI"}
    said, apart = [], {}
    for name in dict.fromkeys(w.data for w in sets.walks):
        inside, outcome = walks[name, "internal"], walks[name, "outcome"]
        apart[name] = abs(inside.true - inside.mean) / inside.sd
        said.append(
            f"{DATA_NAMES[name]} {give_or_take(inside.mean, inside.sd)} or {give_or_take(outcome.mean, outcome.sd)} "
            f"(truth {decimal(inside.true)})"
        )
    worst = max(apart, key=lambda name: apart[name])
    return (
        "**A mean over the feasible set depends on what is counted as one joint.** With all categories kept and the "
        "paper's common variable, the same two tables give a mean ± sd of DI, with every internal attribute in the "
        f"joint or with the score alone, of: {listed(said, '; ')}. With every attribute the truth lies up to "
        f"{decimal(apart[worst], 1)} sd from the mean ({DATA_NAMES[worst]}): a narrow distribution is no evidence. "
        "The bounds are the same for both."
    )


def _on_width(sets: CommonSetStudy) -> str:
    said = []
    for name in dict.fromkeys(found.data for found in sets.results):
        chosen = _narrowest(sets.results, name)
        widths = " → ".join(decimal(found.width) for found in chosen)
        known = f"{share(chosen[-1].group_guessed)} → {share(chosen[-1].group_known)}"
        said.append(f"{DATA_NAMES[name]} {widths} ({_joined(chosen[-1])}; group guessed right {known})")
    sizes = f"1 to {sets.largest} common variables" if sets.largest > 1 else "1 common variable"
    return (
        f"**Further common variables narrow the bounds, at a price.** Least width of DD with {sizes}: "
        f"{listed(said, '; ')}. Beside it, the share of people whose group the best guess gets right, without any "
        "variable and from that set: what narrows the bounds may also reveal the group."
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


def _sizes_grid(sets: CommonSetStudy) -> Grid:
    header = (
        "data",
        "metric",
        "common variables",
        "sets",
        "least width",
        "median",
        "greatest",
        "narrowest set",
        "group guessed",
    )
    rows = [
        (
            DATA_NAMES[row["data"]],
            row["metric"],
            str(row["size"]),
            f"{row['sets']:,}",
            *(decimal(row[name]) for name in ("least_width", "median_width", "greatest_width")),
            row["narrowest"],
            share(row["narrowest_group_known"]),
        )
        for row in rows_of(sets.by_size())
        if row["prediction"] == "scores"
    ]
    return Grid(
        "Width of the sharp bounds by number of common variables, scores (– where a ratio has no upper limit), and "
        "the share of people whose group the narrowest set gives away",
        header,
        tuple(rows),
    )


def _walks_grid(sets: CommonSetStudy) -> Grid:
    header = (
        "data",
        "metric",
        "equally likely joints of",
        "free parameters",
        "truth",
        "sharp bounds",
        "mean",
        "sd",
        "95 %",
        "R̂",
    )
    rows = [
        (
            f"{DATA_NAMES[walk.data]} ({walk.common})",
            walk.metric,
            "all internal attributes" if walk.coordinates == "internal" else "the score alone",
            f"{walk.free_parameters:,}",
            decimal(walk.true),
            span(walk.lower, walk.upper),
            decimal(walk.mean),
            decimal(walk.sd),
            span(walk.q025, walk.q975),
            decimal(walk.r_hat),
        )
        for walk in sets.walks
    ]
    return Grid(
        f"All categories, the paper's common variable: {sets.draws:,} draws from the feasible set", header, tuple(rows)
    )


# -- figures -----------------------------------------------------------------------------------------------------------


def _distribution(study: RealFeasibleStudy, name: str) -> Illustration:
    panels, records, said = [], [], []
    for metric, title in METRIC_NAMES.items():
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


def _widths_figure(sets: CommonSetStudy) -> Illustration:
    by_data = {name: _narrowest(sets.results, name) for name in dict.fromkeys(found.data for found in sets.results)}
    shown = [found for chosen in by_data.values() for found in chosen]
    said = [
        f"{DATA_NAMES[name]}: {', '.join(f'{_joined(r)} {span(r.lower, r.upper)}' for r in chosen)}; truth "
        f"{decimal(chosen[0].true)}"
        for name, chosen in by_data.items()
    ]
    settled = sum(found.lower > 0 or found.upper < 0 for found in shown)
    records = [
        {
            "data": r.data,
            "common": _joined(r),
            **{name: getattr(r, name) for name in ("lower", "upper", "true", "independence")},
        }
        for r in shown
    ]
    return Illustration(
        "common-sets-narrowest",
        compose(
            [_widths_panel(name, chosen, last=name == list(by_data)[-1]) for name, chosen in by_data.items()],
            f"Sharp bounds of DD by set of common variables. {'. '.join(said)}.",
            columns=1,
        ),
        "Sharp bounds of DD with the narrowest set of common variables of each size, all categories, scores; "
        f"{settled} of {len(shown)} leave 0 outside.",
        columns_of_records(records),
    )


def _joined(found: SetResult) -> str:
    return " + ".join(found.common)


def _narrowest(results: Sequence[SetResult], name: str) -> list[SetResult]:
    wanted = [r for r in results if (r.data, r.prediction, r.metric) == (name, "scores", "DD")]
    sizes = sorted({len(result.common) for result in wanted})
    return [min((r for r in wanted if len(r.common) == size), key=lambda r: r.width) for size in sizes]


def _widths_panel(name: str, chosen: Sequence[SetResult], last: bool) -> Panel:
    shown = [Dot(_joined(r), "sharp bounds", "bounds", None, r.lower, r.upper) for r in chosen]
    shown += [Dot(_joined(r), "independence", "independence", r.independence) for r in chosen]
    marks = [Mark("truth", "truth", (chosen[0].true,)), Mark("no disparity", "threshold", (0.0,))]
    title = f"{DATA_NAMES[name]}: truth {decimal(chosen[0].true)}"
    return dots(shown, title=title, x="DD", marks=marks, width=_WIDE, row=30, dodge=False, legend=last)
