"""Which figures a result has, by name; the first is what ``plot()`` draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairbounds.errors import ProblemError, listed, nearest
from fairbounds.plots.bounds_chart import draw_bounds, draw_estimate, draw_interval
from fairbounds.plots.figure import Figure, require_drawing
from fairbounds.plots.region_chart import draw_region
from fairbounds.plots.spread_chart import draw_draws, draw_exploration
from fairbounds.plots.strata_chart import draw_mismatch, draw_strata
from fairbounds.results import Audit, Bounds, Draws, Estimate, Exploration, Finding, Interval, Mismatch, Region

__all__ = ["FIGURES", "draw"]

Drawing = Callable[..., Figure]


def _of_audit(name: str) -> Drawing:
    """Draw what an exploration has of its audit."""
    return lambda exploration, **options: FIGURES[Audit][name](exploration.audit, **options)


FIGURES: Mapping[type, Mapping[str, Drawing]] = {
    Audit: {
        "bounds": lambda audit, **options: draw_bounds(audit.findings, **options),
        "region": lambda audit, **options: draw_region(audit.regions, _threshold(audit), **options),
        "strata": draw_strata,
        "mismatch": lambda audit, **options: draw_mismatch(audit.mismatch, **options),
    },
    Finding: {"bounds": lambda finding, **options: draw_bounds([finding], **options)},
    Bounds: {
        "bounds": lambda ends, **options: draw_bounds(
            [Finding(ends.metric, ends.group, ends.reference, ends)], **options
        )
    },
    Interval: {"interval": draw_interval},
    Estimate: {"estimate": draw_estimate},
    Draws: {"distribution": draw_draws},
    Region: {"region": lambda region, **options: draw_region([region], None, **options)},
    Mismatch: {"mismatch": draw_mismatch},
    Exploration: {
        "distribution": draw_exploration,
        **{name: _of_audit(name) for name in ("bounds", "region", "strata", "mismatch")},
    },
}


def draw(result: Any, kind: str | None = None, **options: Any) -> Figure:
    """Draw one of a result's figures.

    Parameters
    ----------
    result : Audit, Finding, Bounds, Interval, Estimate, Draws, Exploration, Region or Mismatch
    kind : str, optional
        By default the first of its figures.
    **options
        Of that figure.

    Examples
    --------
    >>> figure = draw(Bounds("disparate_impact", "F", "M", 0.35, 0.75))
    >>> figure.alt
    'Disparate impact. F against M: bounds 0.35 to 0.75.'
    """
    figures = FIGURES[type(result)]
    if kind is not None and kind not in figures:
        what = type(result).__name__
        raise ProblemError(f"{what} has no figure {kind!r}{nearest(kind, figures)}; it has {listed(figures)}")
    require_drawing()
    return figures[next(iter(figures)) if kind is None else kind](result, **options)


def _threshold(audit: Audit) -> float | None:
    """Return what ratios of selection rates are compared with."""
    ratios = [entry.threshold for entry in audit.findings if entry.metric in ("disparate_impact", "selection_ratio")]
    return ratios[0] if ratios else None
