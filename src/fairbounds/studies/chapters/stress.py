"""The stress test: what happens to bounds and estimates where a table is wrong, and that KL does not show it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairbounds.plots import Dot, Mark, Role, compose, dots
from fairbounds.studies.chapters.parts import METRIC_NAMES, Chapter, decimal, give_or_take, rounding, share, span, times
from fairbounds.studies.columns import columns_of_records
from fairbounds.studies.document import Bullets, Grid, Heading, Illustration, Paragraph
from fairbounds.studies.stress import StressResult, StressTest

__all__ = ["stress_chapter"]

_TWO = 2.0  # standard errors to either side
_HELD: tuple[str, Role] = ("where the bounds hold the truth", "first")
_MISSED: tuple[str, Role] = ("where they miss it", "second")
_ESTIMATES: dict[str, tuple[str, Role]] = {
    "mean": ("mean over the feasible set", "feasible_mean"),
    "independence": ("independence", "independence"),
}

_FAMILIES = {
    "none": "the paper's protocol",
    "internal shift": "p_i(s|o) + {size:g}",
    "internal odds": "odds of p_i(s|o) × {size:g}",
    "external shift": "p_e(e|o) + {size:g}",
    "external odds": "odds of p_e(e|o) × {size:g}",
    "sample": "samples of n = {size:,.0f}",
    "association": "odds ratio of s, e × {size:g}",
    "concentration": "truths ~ Dirichlet({size:g})",
}


def stress_chapter(test: StressTest) -> Chapter:
    """Write the chapter."""
    return Chapter(
        "Stress test",
        _plainly(test),
        (),
        (
            Heading(2, "Stress test"),
            Paragraph(
                f"The paper distorts only what the method does not use. Here the same {times(test.trials, 'trial')}, "
                "with their 25 distortions each, are run again with tables that are wrong inside the strata, with "
                "samples in place of full tables, and with truths that are not flat. Bounds are the sharp ones; the "
                "mean is that over the feasible set; errors are truth − estimate."
            ),
            _coverage_figure(test),
            _errors_figure(test),
            _grid(test),
            Bullets(_notes()),
        ),
        (("Stress test", _choice()),),
        {"stress-settings": test.to_columns()},
        {"stress": {_name(found): _summary(found) for found in test.results}},
    )


def _name(found: StressResult) -> str:
    return _FAMILIES[found.family].format(size=found.size)


def _of(test: StressTest, *families: str) -> list[StressResult]:
    return [found for found in test.results if found.family in families]


def _wrong(test: StressTest) -> list[StressResult]:
    return _of(test, "internal shift", "internal odds", "external shift", "external odds")


# -- what the reader must know -----------------------------------------------------------------------------------------


def _plainly(test: StressTest) -> tuple[str, ...]:
    return tuple(said for said in (_on_kl(test), _on_samples(test), _on_association(test), _on_flatness(test)) if said)


def _on_kl(test: StressTest) -> str:
    wrong, base = _wrong(test), _of(test, "none")
    if not wrong or not base:
        return ""
    worst = min(wrong, key=lambda found: found.coverage)
    moved = max(abs(found.kl - base[0].kl) for found in wrong)
    apart = [found.kl_missed_correlation for found in wrong if math.isfinite(found.kl_missed_correlation)]
    both = ""
    if apart:
        both = (
            f"; over the {len(wrong)} settings with a wrong table, the rank correlation of KL with missing the truth "
            f"lies between {span(min(apart), max(apart)).replace(' to ', ' and ')}"
        )
    return (
        "**KL on the common variable does not detect the damage.** It compares p_e(o) with p_i(o), which the method "
        f"does not need; what it needs is p_i(s|o) and p_e(e|o). With “{_name(worst)}” the sharp bounds hold the "
        f"truth in only {share(worst.coverage)} of the scenarios, and the mean divergence is {decimal(worst.kl)} "
        f"nats, as it is with both tables right ({decimal(base[0].kl)}; greatest difference over all wrong tables "
        f"{rounding(moved)}). Where the bounds miss, KL averages {decimal(worst.kl_missed)}, and where they hold, "
        f"{decimal(worst.kl_covered)}{both}."
    )


def _on_samples(test: StressTest) -> str:
    samples = _of(test, "sample")
    if not samples:
        return ""
    least = min(samples, key=lambda found: found.size)
    held = ", ".join(f"{share(found.coverage)} at n = {found.size:,.0f}" for found in samples)
    return (
        f"**Bounds from samples are too narrow.** They take the tables for exact, and hold the truth in {held}. Here "
        f"KL and missing do go together (rank correlation {decimal(least.kl_missed_correlation, 2)} at n = "
        f"{least.size:,.0f}): a stratum that the distortion made rare is both divergent and badly known. "
        f"{share(least.undefined)} of these scenarios have no estimate, because a table has nobody of a stratum or "
        "group."
    )


def _on_association(test: StressTest) -> str:
    tied = _of(test, "association")
    if not tied:
        return ""
    most = max(tied, key=lambda found: found.size)
    return (
        "**Where s and e are truly associated, only the bounds can be trusted.** With their odds ratio multiplied by "
        f"{most.size:g}, the bounds hold the truth in {share(most.coverage)} of the scenarios; the mean over the "
        f"feasible set is off by {_error(most.di_mean_error, most.di_mean_error_se)} for DI and "
        f"{_error(most.dd_mean_error, most.dd_mean_error_se)} for DD, and independence by "
        f"{_error(most.di_independence_error, most.di_independence_error_se)} and "
        f"{_error(most.dd_independence_error, most.dd_independence_error_se)} (truth − estimate, ± standard error)."
    )


def _on_flatness(test: StressTest) -> str:
    shapes = _of(test, "concentration")
    if not shapes:
        return ""
    said = ", ".join(f"{_error(found.di_mean_error, found.di_mean_error_se)} at {found.size:g}" for found in shapes)
    return (
        "**For flat truths only is the mean of DI unbiased.** With truths ~ Dirichlet(a, …, a) truth − mean is "
        f"{said} (the paper has a = 1)."
    )


def _error(mean: float, error: float) -> str:
    return give_or_take(mean, error)


def _notes() -> tuple[str, ...]:
    return (
        "Coverage: share of scenarios whose sharp bounds of DI and DD both contain the truth. ± is a standard error "
        "with the trial as the unit.",
        "In the rows on association the classifier always rewards s = 1, so that an association has a direction; in "
        "all others nothing tells the levels of s apart, and errors of opposite sign cancel in the mean but not in "
        "|error|.",
        "KL held, KL missed: mean divergence of the tables as seen, where the bounds contain the truth and where not.",
    )


def _choice() -> str:
    return (
        "Sizes of every kind of error were fixed before it was run; shares that would exceed 1 are cut there. Both "
        "tables of a sampled scenario have the same number of people, drawn anew in each."
    )


# -- tables and figures ------------------------------------------------------------------------------------------------


def _grid(test: StressTest) -> Grid:
    header = (
        "setting",
        "coverage",
        "DI, error of the mean",
        "DI, of independence",
        "DD, error of the mean",
        "DD, of independence",
        "DD, |error| of the mean",
        "KL",
        "KL held",
        "KL missed",
    )
    return Grid("All settings", header, tuple(_row(found) for found in test.results))


def _row(found: StressResult) -> tuple[str, ...]:
    return (
        _name(found),
        f"{share(found.coverage)}" + (f" ± {100 * found.coverage_se:.2g} %" if found.coverage < 1 else ""),
        _error(found.di_mean_error, found.di_mean_error_se),
        _error(found.di_independence_error, found.di_independence_error_se),
        _error(found.dd_mean_error, found.dd_mean_error_se),
        _error(found.dd_independence_error, found.dd_independence_error_se),
        decimal(found.dd_mean_error_absolute),
        decimal(found.kl),
        decimal(found.kl_covered),
        decimal(found.kl_missed),
    )


def _summary(found: StressResult) -> dict[str, float | None]:
    figures = {"coverage": found.coverage, "DI": found.di_mean_error, "DD": found.dd_mean_error, "kl": found.kl}
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _coverage_figure(test: StressTest) -> Illustration:
    held = [
        Dot(
            _name(r),
            "share held, ± 2 standard errors",
            "first",
            100 * r.coverage,
            *_reach(100 * r.coverage, 100 * r.coverage_se),
        )
        for r in test.results
    ]
    kl = [
        Dot(_name(found), *look, value)
        for found in test.results
        for look, value in ((_HELD, found.kl_covered), (_MISSED, found.kl_missed))
        if math.isfinite(value)
    ]
    worst = min(test.results, key=lambda found: found.coverage)
    text = (
        f"Two columns with a row for each of {len(test.results)} settings. Left: share of scenarios whose bounds hold "
        f"the truth, least {share(worst.coverage)} with {_name(worst)}. Right: mean KL where they hold it "
        f"({decimal(worst.kl_covered)} in that setting) and where they miss it ({decimal(worst.kl_missed)})."
    )
    panels = [
        dots(held, title="Truth within the sharp bounds", x="% of the scenarios", width=300),
        dots(kl, title="Divergence on the common variable", x="mean KL, nats", width=300, named=False, zero=True),
    ]
    names = ("family", "size", "coverage", "coverage_se", "kl_covered", "kl_missed")
    return Illustration(
        "stress-coverage",
        compose(panels, text),
        "Left, the damage: how often the sharp bounds hold the truth. Right, what KL shows of it: where a table is "
        "wrong inside the strata, KL is the same with and without the damage, and hardly differs between scenarios "
        "that are held and missed.",
        columns_of_records({name: getattr(found, name) for name in names} for found in test.results),
    )


def _errors_figure(test: StressTest) -> Illustration:
    panels = []
    for at, (name, title) in enumerate(METRIC_NAMES.items()):
        panels.append(
            dots(
                _error_dots(test.results, name.lower()),
                title=f"Error of {title}",
                x=f"mean of true {name} − estimate",
                marks=[Mark("no error", "threshold", (0.0,))],
                width=300,
                named=at == 0,
            )
        )
    worst = max(test.results, key=lambda found: abs(found.di_mean_error))
    names = (
        "family",
        "size",
        *(f"{m}_{e}_error{s}" for m in ("di", "dd") for e in ("mean", "independence") for s in ("", "_se")),
    )
    return Illustration(
        "stress-errors",
        compose(
            panels,
            f"Mean error of both estimates in {len(test.results)} settings. The mean over the feasible set is "
            f"furthest off for DI with {_name(worst)}: {_error(worst.di_mean_error, worst.di_mean_error_se)}.",
        ),
        "Mean error of the mean over the feasible set and of the independence estimate, with two standard errors to "
        "either side. Where a table is wrong, errors of opposite sign cancel here; the table below has |error|.",
        columns_of_records({name: getattr(found, name) for name in names} for found in test.results),
    )


def _error_dots(results: Sequence[StressResult], metric: str) -> list[Dot]:
    out = []
    for found in results:
        for key, (label, role) in _ESTIMATES.items():
            value, error = (getattr(found, f"{metric}_{key}_error{end}") for end in ("", "_se"))
            out.append(Dot(_name(found), label, role, value, *_reach(value, error)))
    return out


def _reach(value: float, error: float) -> tuple[float | None, float | None]:
    return (value - _TWO * error, value + _TWO * error) if math.isfinite(error) else (None, None)
