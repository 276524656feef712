"""Where the joints that fit both tables put a metric, with its bounds and estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairbounds.plots.figure import Figure, compose
from fairbounds.plots.naming import METHOD_NAMES, about, metric_name, role_of, shown
from fairbounds.plots.panels import Mark, _chart, histogram
from fairbounds.plots.theme import INK
from fairbounds.results import Draws, Estimate, Exploration, Finding

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["draw_draws", "draw_exploration"]

_BINS = 40
_MOST = 12
_CENTRAL = (0.005, 0.995)


def draw_draws(
    draws: Draws,
    *,
    estimates: Sequence[Estimate] = (),
    threshold: float | None = None,
    tolerance: float = 0.0,
    bins: int = _BINS,
    title: str = "",
) -> Figure:
    """Draw the distribution of a metric over the joints, with the bounds and estimates.

    Parameters
    ----------
    draws : Draws
    estimates : sequence of Estimate
    threshold : float, optional
    tolerance : float
    bins : int
    title : str

    Examples
    --------
    >>> import numpy as np
    >>> draws = Draws("disparate_impact", "F", "M", "grid", np.array([[0.5, 0.7, 0.9, 1.1]]))
    >>> draw_draws(draws, threshold=0.8).alt
    'Disparate impact, F against M: 4 joints, mean 0.8, half of them between 0.5 and 0.9. Threshold 0.8.'
    """
    panel, said = _panel(draws, estimates, _band(threshold, tolerance), bins)
    return compose([panel], said, columns=1, title=title)


def draw_exploration(exploration: Exploration, *, bins: int = _BINS, title: str = "") -> Figure:
    """Draw the distribution of every finding.

    Parameters
    ----------
    exploration : Exploration
        Beyond twelve findings the first are drawn.
    bins : int
    title : str
    """
    pairs = list(zip(exploration.distributions, exploration.audit.findings, strict=True))
    made = [_panel(draws, finding.estimates, _limits(finding), bins) for draws, finding in pairs[:_MOST]]
    said = [text for _, text in made] + ([f"And {len(pairs) - _MOST} more."] if len(pairs) > _MOST else [])
    empty = _chart([{"text": "no joints"}]).mark_text(color=INK).encode(text="text:N")
    return compose([panel for panel, _ in made] or [empty], " ".join(said) or "There are no joints.", title=title)


def _limits(finding: Finding) -> tuple[float, ...]:
    return _band(finding.threshold, finding.tolerance)


def _band(threshold: float | None, tolerance: float) -> tuple[float, ...]:
    if threshold is None:
        return ()
    return (threshold - tolerance, threshold + tolerance) if tolerance else (threshold,)


def _panel(draws: Draws, estimates: Sequence[Estimate], limits: tuple[float, ...], bins: int) -> tuple[Panel, str]:
    counts, edges = _counted(draws, bins)
    marks = _marks(draws, estimates, limits)
    name = metric_name(draws.metric)
    panel = histogram(counts, edges, title=f"{name}, {about(draws.group, draws.reference)}", x=name.lower(),
                      y="joints", marks=marks)  # fmt: skip
    return panel, _told(draws, estimates, limits)


def _counted(draws: Draws, bins: int) -> tuple[Sequence[float], Sequence[float]]:
    """Count the draws; where the metric is unbounded the last half per cent at either end would flatten the rest."""
    if draws.bounds is not None and draws.bounds.upper != math.inf:
        counts, edges = draws.histogram(bins)
        return (counts, edges) if counts else ([0.0], [0.0, 1.0])
    import numpy as np

    finite = draws.defined[np.isfinite(draws.defined)]
    if not finite.size:
        return [0.0], [0.0, 1.0]
    low, high = (float(np.quantile(finite, level)) for level in _CENTRAL)
    inside = finite[(finite >= low) & (finite <= high)]
    found, edges_ = np.histogram(inside, bins, range=(low, high) if high > low else (low - 0.5, low + 0.5))
    return found.tolist(), edges_.tolist()


def _marks(draws: Draws, estimates: Sequence[Estimate], limits: tuple[float, ...]) -> list[Mark]:
    marks = []
    if draws.bounds is not None:
        ends = [end for end in (draws.bounds.lower, draws.bounds.upper) if end is not None and math.isfinite(end)]
        if ends:
            said = f"bounds {shown(draws.bounds.lower)} to {shown(draws.bounds.upper)}"
            marks.append(Mark(said, "bounds", tuple(ends)))
    methods = [entry.method for entry in estimates]
    for entry in estimates:
        if entry.value is not None and math.isfinite(entry.value):
            name = METHOD_NAMES.get(entry.method, entry.method)
            marks.append(Mark(f"{name} estimate {shown(entry.value)}", role_of(entry.method, methods), (entry.value,)))
    if "feasible_mean" not in methods and math.isfinite(draws.mean):
        marks.append(Mark(f"mean of the joints {shown(draws.mean)}", "feasible_mean", (draws.mean,)))
    if limits:
        marks.append(Mark(f"threshold {' to '.join(map(shown, limits))}", "threshold", limits))
    return marks


def _told(draws: Draws, estimates: Sequence[Estimate], limits: tuple[float, ...]) -> str:
    quarters = [draws.quantile(level) for level in (0.25, 0.75)]
    said = f"{metric_name(draws.metric)}, {about(draws.group, draws.reference)}: {len(draws):,} joints"
    if draws.defined.size:
        said += f", mean {shown(draws.mean)}, half of them between {shown(quarters[0])} and {shown(quarters[1])}"
    if draws.bounds is not None:
        said += f", bounds {shown(draws.bounds.lower)} to {shown(draws.bounds.upper)}"
    for entry in estimates:
        said += f", {METHOD_NAMES.get(entry.method, entry.method)} {shown(entry.value)}"
    return f"{said}." + (f" Threshold {' to '.join(map(shown, limits))}." if limits else "")
