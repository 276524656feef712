"""The paper's structural estimates on real data: its errors beside ours, the noise floor, and what the choices do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fairbounds.plots import Dot, Role, compose, dots
from fairbounds.studies.chapters.parts import DATA_NAMES, Chapter, decimal, give_or_take, listed, rows_of, span, times
from fairbounds.studies.columns import columns_of_records
from fairbounds.studies.document import Grid, Heading, Illustration, Paragraph
from fairbounds.studies.published import STRUCTURAL, STRUCTURAL_NOTE
from fairbounds.studies.structural import SplitResult, StructuralStudy, StructuralSummary

__all__ = ["structural_chapter"]

_METHODS = {"latent": "latent class", "marginal": "marginal preservation", "floor": "noise floor"}
_PREDICTIONS = ("decisions", "scores")
_WIDE = 480


def structural_chapter(study: StructuralStudy) -> Chapter:
    """Write the chapter."""
    names = list(dict.fromkeys(summary.data for summary in study.summaries))
    return Chapter(
        "Real data: structural estimates",
        _plainly(study),
        (_beside_paper(study),),
        (
            Heading(2, "Real data: structural estimates"),
            Paragraph(
                "|DI(true) − mean DI(estimated)|: the truth is that of a test part of the people, the estimate that "
                f"of a joint made from two tables of other people, over {times(study.bootstraps, 'sample')} of it. "
                f"All of it {times(study.splits, 'time')}, each with the people dealt anew. The noise floor is the "
                "same with the true joint of the people behind the two tables: the error that is left when there is "
                "nothing to estimate."
            ),
            _errors_figure(study, names),
            _summaries_grid(study),
        ),
        tuple((f"Structural estimates: {choice.topic}", choice.chosen) for choice in study.choices),
        {
            "structural-splits": study.to_columns(),
            "structural-summaries": study.summary_columns(),
            "structural-beside-paper": study.beside_paper(),
            "structural-choices": study.choice_columns(),
        },
        {"structural": {name: _summary(study, name) for name in names}},
    )


def _summary(study: StructuralStudy, name: str) -> dict[str, list[float]]:
    found = {method: _headline(study, name, method) for method in _METHODS}
    return {method: [summary.mean, summary.sd] for method, summary in found.items()}


def _headline(study: StructuralStudy, name: str, method: Any) -> StructuralSummary:
    return study.summary(name, method, depth=study.depths[0])


def _headline_results(study: StructuralStudy, name: str, method: str) -> list[SplitResult]:
    wanted = (name, method, study.depths[0], "decisions")
    return [r for r in study.results if r.chosen and (r.data, r.method, r.depth, r.prediction) == wanted]


# -- what the reader must know -----------------------------------------------------------------------------------------


def _plainly(study: StructuralStudy) -> tuple[str, ...]:
    names = list(dict.fromkeys(summary.data for summary in study.summaries))
    return (
        "**Part of the error is noise.** With the true joint in place of an estimate, the error would still be "
        f"{listed([_floor_words(study, name) for name in names])} (mean ± sd over {times(study.splits, 'split')}): "
        "the test part and the people behind the tables are different samples. A figure of one split below that says "
        "nothing of a method.",
        "**A single split says little.** Over the splits the error ranges, for latent class and marginal preservation, "
        f"over {listed([_range_words(study, name) for name in names], '; ')}.",
        "**What the paper leaves open decides the result.** The mean error of latent class lies, over the numbers of "
        f"classes {listed([str(k) for k in study.classes])}, tree depths {listed([_depth(d) for d in study.depths])} "
        f"and scores or decisions, between {listed([_open_words(study, name) for name in names], '; ')}. No "
        "configuration was searched for one that agrees.",
        f"**How the table is read.** {STRUCTURAL_NOTE}",
    )


def _floor_words(study: StructuralStudy, name: str) -> str:
    floor = _headline(study, name, "floor")
    return f"{give_or_take(floor.mean, floor.sd)} on {DATA_NAMES[name]}"


def _range_words(study: StructuralStudy, name: str) -> str:
    ranges = []
    for method in ("latent", "marginal"):
        errors = [result.error for result in _headline_results(study, name, method)]
        ranges.append(span(min(errors), max(errors)))
    return f"{' and '.join(ranges)} on {DATA_NAMES[name]}"


def _open_words(study: StructuralStudy, name: str) -> str:
    means = [summary.mean for summary in study.summaries if (summary.data, summary.method) == (name, "latent")]
    return f"{span(min(means), max(means)).replace(' to ', ' and ')} on {DATA_NAMES[name]}"


def _depth(depth: int | None) -> str:
    return "unlimited" if depth is None else str(depth)


# -- beside the paper --------------------------------------------------------------------------------------------------


def _beside_paper(study: StructuralStudy) -> Grid:
    return Grid(
        f"Structural estimates, seed {study.seed}: the paper's Table 2 beside the mean ± sd over "
        f"{times(study.splits, 'split')} (decisions, fully grown tree, K by BIC)",
        ("data and method", "paper", "this run", "noise floor", "least to greatest split", "remark"),
        tuple(_beside_row(study, row) for row in rows_of(study.beside_paper())),
    )


def _beside_row(study: StructuralStudy, row: dict[str, Any]) -> tuple[str, ...]:
    errors = [result.error for result in _headline_results(study, row["data"], row["method"])]
    return (
        f"{DATA_NAMES[row['data']]}, {_METHODS[row['method']]}",
        decimal(row["paper"]),
        give_or_take(row["own"], row["own_sd"]),
        give_or_take(row["floor"], row["floor_sd"]),
        span(min(errors), max(errors)),
        _remark(study, row, errors),
    )


def _remark(study: StructuralStudy, row: dict[str, Any], errors: list[float]) -> str:
    """Say where the paper's figure lies among the splits, and what may explain it."""
    below, among = sum(error <= row["paper"] for error in errors), times(len(errors), "split")
    others = [
        summary.mean for summary in study.summaries if (summary.data, summary.method) == (row["data"], row["method"])
    ]
    if 0 < below < len(errors):
        said = f"a split like the paper's can occur: {below} of {among} are at or below its figure"
    else:
        side = "above" if below == 0 else "below"
        said = f"not reproduced: all {among} are {side} its figure"
    if row["paper"] < row["floor"]:
        said += "; it lies below the noise floor, where chance can take a split and no method can take the mean"
    elif below in (0, len(errors)):
        tried = "numbers of classes, depths and predictions" if row["method"] == "latent" else "depths and predictions"
        said += f"; over all {tried}, means are {span(min(others), max(others))}"
    return said


# -- tables and figures ------------------------------------------------------------------------------------------------


def _row_name(method: str, classes: int | None) -> str:
    if method != "latent":
        return _METHODS[method]
    return f"latent class, K = {classes}" if classes else "latent class, K by BIC"


def _summaries_grid(study: StructuralStudy) -> Grid:
    order = {name: at for at, name in enumerate(_METHODS)}
    rows = sorted(
        study.summaries,
        key=lambda s: (DATA_NAMES[s.data], s.prediction, study.depths.index(s.depth), order[s.method], s.classes or 0),
    )
    return Grid(
        "Every configuration: mean ± sd over splits; bias is DI(true) − mean DI(estimated) with its sign",
        ("data", "prediction", "tree depth", "method", "error", "bias", "true DI", "estimated DI"),
        tuple(
            (
                DATA_NAMES[s.data],
                s.prediction,
                _depth(s.depth),
                _row_name(s.method, s.classes),
                give_or_take(s.mean, s.sd),
                give_or_take(s.bias, s.bias_sd),
                decimal(s.true),
                decimal(s.estimated),
            )
            for s in rows
        ),
    )


def _errors_figure(study: StructuralStudy, names: list[str]) -> Illustration:
    panels, records, said = [], [], []
    for name in names:
        shown = list(_error_dots(study, name))
        title = f"{DATA_NAMES[name]}: error of DI"
        panels.append(
            dots(
                shown, title=title, x="|true − estimated DI|", width=_WIDE, row=38, zero=True, legend=name == names[-1]
            )
        )
        records += [{"data": name, **{k: v for k, v in dot._asdict().items() if k != "role"}} for dot in shown]
        heads = [_headline(study, name, method) for method in _METHODS]
        said.append(f"{DATA_NAMES[name]}: {', '.join(f'{_METHODS[s.method]} {decimal(s.mean)}' for s in heads)}")
    return Illustration(
        "structural-errors",
        compose(panels, f"Mean error by method, with decisions. {'. '.join(said)}.", columns=1),
        f"Error of the estimated DI by method, mean over {times(study.splits, 'split')}, with the least and the "
        "greatest split; fully grown tree.",
        columns_of_records(records),
    )


def _error_dots(study: StructuralStudy, name: str) -> Iterator[Dot]:
    keys: list[tuple[str, int | None]] = [
        ("latent", None),
        *(("latent", k) for k in study.classes),
        ("marginal", None),
        ("floor", None),
    ]
    roles: dict[str, Role] = {"decisions": "first", "scores": "third"}
    for prediction in _PREDICTIONS:
        for method, classes in keys:
            errors = [
                r.error
                for r in study.results
                if (r.data, r.depth, r.prediction, r.method) == (name, study.depths[0], prediction, method)
                and (r.chosen if classes is None else r.classes == classes)
            ]
            mean = sum(errors) / len(errors)
            yield Dot(_row_name(method, classes), prediction, roles[prediction], mean, min(errors), max(errors))
    for published in STRUCTURAL:
        if published.data == name:
            yield Dot(_row_name("latent", None), "the paper's Table 2", "second", published.latent)
            yield Dot(_row_name("marginal", None), "the paper's Table 2", "second", published.marginal)
