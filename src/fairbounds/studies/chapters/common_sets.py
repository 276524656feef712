"""All categories of the real data: what further common variables do to the width, and what they give away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fairbounds.plots import Dot, Mark, compose, dots
from fairbounds.studies.chapters.parts import DATA_NAMES, decimal, give_or_take, listed, rows_of, share, span
from fairbounds.studies.columns import columns_of_records
from fairbounds.studies.common_sets import CommonSetStudy, SetResult
from fairbounds.studies.document import Block, Grid, Heading, Illustration, Paragraph

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["common_set_blocks", "what_sets_show"]

_WIDE = 480  # pixels of a panel that stands alone in its row
_NAMED = 3  # largest sets that a figure names
_ENDS = ("least", "median", "greatest")


def common_set_blocks(sets: CommonSetStudy) -> tuple[Block, ...]:
    """Return the figures and tables."""
    return (
        Heading(3, "All categories, and other common variables"),
        Paragraph(sets.rule),
        _narrowest_figure(sets),
        _sizes_figure(sets),
        _sizes_grid(sets),
        _walks_grid(sets),
    )


def what_sets_show(sets: CommonSetStudy) -> tuple[str, ...]:
    """Say what the reader must know."""
    return (_on_coordinates(sets), _on_width(sets))


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
    for name in sets.plausible:
        chosen = _narrowest(sets, name)
        widths = " → ".join(decimal(found.width) for found in chosen)
        known = f"{share(chosen[-1].group_guessed)} → " + " → ".join(share(found.group_known) for found in chosen)
        said.append(f"{DATA_NAMES[name]} {widths} (group guessed right: {known})")
    return (
        "**Further common variables narrow the bounds, at a price.** Least width of DD with scores and 1 common "
        f"variable, 2, and so on: {listed(said, '; ')}. In brackets, the share of people whose group the best guess "
        "gets right, without any variable and from each of those sets: what narrows the bounds also reveals the "
        "group. With all of them, most strata hold a few people, and no office publishes such a table."
    )


def _narrowest(sets: CommonSetStudy, name: str, metric: str = "DD") -> list[SetResult]:
    """Return the set of each size that gives the narrowest bounds, with scores."""
    wanted = [r for r in sets.results if (r.data, r.prediction, r.metric) == (name, "scores", metric)]
    sizes = sorted({len(result.common) for result in wanted})
    return [min((r for r in wanted if len(r.common) == size), key=lambda r: r.width) for size in sizes]


def _joined(found: SetResult, plausible: Sequence[str] = ()) -> str:
    """Name a set, or what it lacks where that is shorter."""
    lacks = [name for name in plausible if name not in found.common]
    if not plausible or len(lacks) >= len(found.common):
        return " + ".join(found.common)
    return f"all but {' + '.join(lacks)}" if lacks else f"all {len(plausible)}"


# -- tables ------------------------------------------------------------------------------------------------------------


def _sizes_grid(sets: CommonSetStudy) -> Grid:
    header = (
        "data",
        "common variables",
        "sets",
        "DI, least width",
        "DI, median",
        "DD, least width",
        "DD, median",
        "narrowest set (DD)",
        "people in its median stratum",
        "group guessed from it",
    )
    rows = list(rows_of(sets.by_size()))
    ratios, differences = (
        [row for row in rows if (row["prediction"], row["metric"]) == ("scores", metric)] for metric in ("DI", "DD")
    )
    chosen = [found for name in sets.plausible for found in _narrowest(sets, name)]
    return Grid(
        "Width of the sharp bounds by number of common variables, scores (– where a ratio has no upper limit), and the "
        "share of people whose group the narrowest set gives away",
        header,
        tuple(_size_row(*row, sets.plausible[row[0]["data"]]) for row in zip(ratios, differences, chosen, strict=True)),
    )


def _size_row(
    ratio: dict[str, Any], difference: dict[str, Any], narrowest: SetResult, plausible: Sequence[str]
) -> tuple[str, ...]:
    return (
        DATA_NAMES[difference["data"]],
        str(difference["size"]),
        f"{difference['sets']:,}",
        *(decimal(row[name]) for row in (ratio, difference) for name in ("least_width", "median_width")),
        _joined(narrowest, plausible),
        decimal(narrowest.people_in_median_stratum, 0),
        share(narrowest.group_known),
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


def _narrowest_figure(sets: CommonSetStudy) -> Illustration:
    by_data = {name: _narrowest(sets, name)[:_NAMED] for name in sets.plausible}
    shown = [found for chosen in by_data.values() for found in chosen]
    said = [
        f"{DATA_NAMES[name]}: {', '.join(f'{_joined(r)} {span(r.lower, r.upper)}' for r in chosen)}; truth "
        f"{decimal(chosen[0].true)}"
        for name, chosen in by_data.items()
    ]
    settled = sum(found.lower > 0 or found.upper < 0 for found in shown)
    names = ("lower", "upper", "true", "independence")
    panels = [_narrowest_panel(name, chosen, last=name == list(by_data)[-1]) for name, chosen in by_data.items()]
    return Illustration(
        "common-sets-narrowest",
        compose(panels, f"Sharp bounds of DD by set of common variables. {'. '.join(said)}.", columns=1),
        f"Sharp bounds of DD with the narrowest set of up to {_NAMED} common variables, all categories, scores; "
        f"{settled} of {len(shown)} leave 0 outside.",
        columns_of_records(
            {"data": r.data, "common": _joined(r)} | {name: getattr(r, name) for name in names} for r in shown
        ),
    )


def _narrowest_panel(name: str, chosen: Sequence[SetResult], last: bool) -> Panel:
    shown = [Dot(_joined(r), "sharp bounds", "bounds", None, r.lower, r.upper) for r in chosen]
    shown += [Dot(_joined(r), "independence", "independence", r.independence) for r in chosen]
    marks = [Mark("truth", "truth", (chosen[0].true,)), Mark("no disparity", "threshold", (0.0,))]
    title = f"{DATA_NAMES[name]}: truth {decimal(chosen[0].true)}"
    return dots(shown, title=title, x="DD", marks=marks, width=_WIDE, row=30, dodge=False, legend=last)


def _sizes_figure(sets: CommonSetStudy) -> Illustration:
    rows = [row for row in rows_of(sets.by_size()) if (row["prediction"], row["metric"]) == ("scores", "DD")]
    panels: list[Panel] = []
    for at, name in enumerate(sets.plausible):
        mine, guessed = [row for row in rows if row["data"] == name], _narrowest(sets, name)[0].group_guessed
        panels += _size_panels(name, mine, guessed, last=at == len(sets.plausible) - 1)
    said = [f"{DATA_NAMES[r['data']]} {r['size']}: {decimal(r['median_width'])}" for r in rows]
    kept = ("data", "size", "sets", *(f"{end}_{what}" for what in ("width", "group_known") for end in _ENDS))
    return Illustration(
        "common-sets-by-size",
        compose(panels, f"Width of DD by number of common variables, median over the sets. {', '.join(said)}."),
        "Left, what further common variables buy: the width of the sharp bounds of DD, least, median and greatest over "
        "all sets of one size. Right, the price: the share of people whose group the best guess from them gets right.",
        columns_of_records({name: row[name] for name in kept} for row in rows),
    )


def _size_panels(name: str, rows: Sequence[dict[str, Any]], guessed: float, last: bool) -> list[Panel]:
    words = [f"{row['size']} ({row['sets']} sets)" if row["sets"] > 1 else f"{row['size']} (1 set)" for row in rows]
    width, known = (
        [
            Dot(word, "median over the sets, least to greatest", "first", factor * row[f"median_{what}"], *ends)
            for word, row in zip(words, rows, strict=True)
            for ends in [[factor * row[f"{end}_{what}"] for end in ("least", "greatest")]]
        ]
        for what, factor in (("width", 1), ("group_known", 100))
    )
    none = [Mark("guess without any variable", "threshold", (100 * guessed,))]
    title = DATA_NAMES[name]
    return [
        dots(
            width, title=f"{title}: width of DD", x="width of the sharp bounds of DD", width=300, zero=True, legend=last
        ),
        dots(
            known, title=f"{title}: group guessed", x="% guessed right", marks=none, width=300, named=False, legend=last
        ),
    ]
