"""What is said of a distribution over the feasible set."""

from __future__ import annotations

import math

from fairbounds.report.layout import Scale
from fairbounds.report.numbers import SAME, count, exact, percent
from fairbounds.report.phrases import SENTENCES
from fairbounds.report.sentences import value
from fairbounds.results import Draws, Finding

__all__ = ["how_drawn", "off_scale", "spread_sentences"]


def how_drawn(draws: Draws) -> str:
    """Say where the joints of a distribution come from.

    Examples
    --------
    >>> import numpy as np
    >>> how_drawn(Draws("disparate_impact", "F", "M", "grid", np.array([0.5, 0.7]), settings={"points": 2}))
    '2 joints that fit both tables: those of a grid of 2 values in each stratum.'
    """
    known, n = draws.settings, f"{len(draws):,}"
    if draws.method == "walk" and {"chains", "free_parameters", "seed"} <= set(known):
        chains, free = count(known["chains"], "chain"), count(known["free_parameters"], "free parameter")
        return SENTENCES["walked"].format(n=n, chains=chains, free=free, seed=known["seed"])
    if draws.method == "grid" and "points" in known:
        sentence = "gridded_paper" if known.get("limits") == "paper" else "gridded"
        return SENTENCES[sentence].format(n=n, points=f"{known['points']:,}")
    return SENTENCES["drawn"].format(n=n)


def spread_sentences(finding: Finding, draws: Draws, *limits: float) -> list[str]:
    """Put a distribution in words: its middle, its width, its share below the threshold, and what to distrust.

    Parameters
    ----------
    finding : Finding
        What the distribution is of; its threshold is compared with.
    draws : Draws
    *limits : float
        Values that no rounding may cross.
    """
    if not draws.defined.size:
        return [SENTENCES["no_value"]]
    said = [SENTENCES["one_value"].format(value=value(draws.minimum, *limits))]
    if draws.maximum - draws.minimum > SAME:
        said = [_middle(draws, limits), " ".join([_quantiles(draws, limits), *_shares(finding, draws)])]
    return [*said, *_doubts(draws)]


def _middle(draws: Draws, limits: tuple[float, ...]) -> str:
    if draws.exact_mean == math.inf:
        return SENTENCES["mean_infinite"].format(mean=value(draws.mean, *limits))
    beside = []
    if draws.standard_error is not None and math.isfinite(draws.standard_error):
        beside.append(SENTENCES["mean_error"].format(error=exact(draws.standard_error, 1)))
    if draws.exact_mean is not None:
        beside.append(SENTENCES["mean_exact"].format(exact=value(draws.exact_mean, *limits)))
    return SENTENCES["mean_with" if beside else "mean"].format(
        mean=value(draws.mean, *limits), beside="; ".join(beside), deviation=value(draws.standard_deviation)
    )


def _quantiles(draws: Draws, limits: tuple[float, ...]) -> str:
    places = {"lowest": 0.025, "low": 0.25, "high": 0.75, "highest": 0.975}
    return SENTENCES["half"].format(**{name: value(draws.quantile(at), *limits) for name, at in places.items()})


def _shares(finding: Finding, draws: Draws) -> list[str]:
    if finding.threshold is None:
        return []
    low, high = finding.threshold - finding.tolerance, finding.threshold + finding.tolerance
    below = draws.share_below(low)
    if low == high:
        return [SENTENCES["share_below"].format(share=percent(below), low=exact(low))]
    above = float((draws.defined > high).mean())
    shares = {"share": percent(below), "amid": percent(1 - below - above), "above": percent(above)}
    return [SENTENCES["share_band"].format(low=exact(low), high=exact(high), **shares)]


def _doubts(draws: Draws) -> list[str]:
    said = []
    if draws.undefined_share:
        said.append(SENTENCES["undefined_share"].format(share=percent(draws.undefined_share)))
    if draws.bounds is not None and draws.bounds.upper == math.inf:
        said.append(SENTENCES["no_mean"])
    found = draws.diagnosis
    if found is not None and not found.converged:
        worth = f"{min(found.bulk_ess, found.tail_ess):,.0f}"
        said.append(SENTENCES["unsettled"].format(n=f"{len(draws):,}", worth=worth, r_hat=value(found.r_hat, 1.0)))
    return said


def off_scale(draws: Draws, scale: Scale) -> list[str]:
    """Say what share of a distribution its histogram leaves out, if any."""
    values = draws.defined
    if not values.size:
        return []
    outside = float(((values < scale.low - SAME) | (values > scale.high + SAME)).mean())
    return [SENTENCES["off_scale"].format(share=percent(outside))] if outside else []
