"""Which strata make the bounds wide, and where the two tables differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairbounds.errors import ProblemError, listed
from fairbounds.plots.figure import Figure, compose
from fairbounds.plots.naming import short, shown
from fairbounds.plots.panels import Dot, _chart, _row_axis, _scale, dots
from fairbounds.plots.theme import FILL_DEEP, INK
from fairbounds.results import Audit, Label, Mismatch

if TYPE_CHECKING:
    from fairbounds.plots.panels import Panel

__all__ = ["draw_mismatch", "draw_strata"]

_WIDTH, _ROW = 420, 26
_OTHERS = "all other strata"
_MOST = 6


def draw_strata(audit: Audit, *, group: Label | None = None, title: str = "") -> Figure:
    """Draw what each stratum adds to the width of the groups' selection rates.

    Parameters
    ----------
    audit : Audit
    group : optional
        By default every group, the largest six if there are more.
    title : str

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "a", "b"], "ok": [1, 0, 1]}
    >>> external = {"job": ["a", "a", "b"], "sex": ["F", "M", "M"]}
    >>> draw_strata(fb.audit(internal, external, protected="sex", decision="ok"), group="F").alt
    'Width of the selection rate of F, 1 in all: job=a 1.'
    """
    if not audit.widths:
        empty = _chart([{"text": "not a sum over strata: the groups' sizes are not known"}])
        said = "The width is not a sum over strata, because the groups' sizes are not known."
        return compose([empty.mark_text(color=INK).encode(text="text:N")], said, columns=1, title=title)
    names = [entry.group for entry in audit.groups]
    if group is not None and group not in names:
        raise ProblemError(f"this audit has no group {group!r}; it has {listed(names)}")
    largest = sorted(range(len(names)), key=lambda at: -audit.groups[at].share)[:_MOST]
    chosen = sorted(largest) if group is None else [names.index(group)]
    panels = [_panel(audit, at) for at in chosen]
    return compose(panels, " ".join(_told(audit, at) for at in chosen), columns=1, title=title)


def _parts(audit: Audit, at: int) -> list[tuple[str, float]]:
    named = [(_OTHERS if entry.stratum is None else entry.stratum, entry.widths[at]) for entry in audit.widths]
    whole = sorted((part for part in named if part[0] != _OTHERS and part[1] > 0), key=lambda part: -part[1])
    return [*whole, *(part for part in named if part[0] == _OTHERS and part[1] > 0)]


def _told(audit: Audit, at: int) -> str:
    parts = _parts(audit, at)
    total = sum(width for _, width in parts)
    said = ", ".join(f"{short(name)} {shown(width)}" for name, width in parts)
    return (
        f"Width of the selection rate of {short(audit.groups[at].group)}, {shown(total)} in all: {said or 'nothing'}."
    )


def _panel(audit: Audit, at: int) -> Panel:
    import altair as alt

    parts = _parts(audit, at) or [("nothing is open", 0.0)]
    most = max(width for _, width in parts) or 1.0
    total = sum(width for _, width in parts)
    rows = [
        {"at": place, "width": width, "none": 0.0, "text": f"{width:.3f}"} for place, (_, width) in enumerate(parts)
    ]
    base = _chart(rows).encode(y=_row_axis([short(name) for name, _ in parts], True))
    place = alt.X("none:Q", title="part of the width", scale=_scale([0.0, 1.15 * most]))
    bars = base.mark_bar(color=FILL_DEEP, height=14).encode(x=place, x2="width:Q")
    words = base.mark_text(align="left", dx=5, color=INK, fontSize=12).encode(x="width:Q", text="text:N")
    name = f"{short(audit.groups[at].group)}: selection rate open by {shown(total)}"
    return alt.layer(bars, words).properties(width=_WIDTH, height=_ROW * len(parts), title=name)


def draw_mismatch(mismatch: Mismatch, *, title: str = "") -> Figure:
    """Draw the strata that differ most between the two tables, with their share in each.

    Parameters
    ----------
    mismatch : Mismatch
    title : str

    Examples
    --------
    >>> from fairbounds.results import StratumMismatch
    >>> draw_mismatch(Mismatch(0.01, 0.05, worst=(StratumMismatch("job=a", 0.3, 0.25),))).alt
    'Total variation 0.05. Shares of the internal and the external table: job=a 0.3 and 0.25.'
    """
    said = f"Total variation {shown(mismatch.total_variation)}."
    if not mismatch.worst:
        empty = _chart([{"text": "every stratum has the same share of both tables"}])
        whole = f"{said} Every stratum has the same share of both tables."
        return compose([empty.mark_text(color=INK).encode(text="text:N")], whole, columns=1, title=title)
    values = [Dot(short(e.stratum), "internal table", "first", e.internal) for e in mismatch.worst]
    values += [Dot(short(e.stratum), "external table", "second", e.external) for e in mismatch.worst]
    head = f"Strata that differ most (total variation {shown(mismatch.total_variation)})"
    panel = dots(values, title=head, x="share of the table", zero=True, width=_WIDTH)
    shares = "; ".join(f"{short(e.stratum)} {shown(e.internal)} and {shown(e.external)}" for e in mismatch.worst)
    return compose([panel], f"{said} Shares of the internal and the external table: {shares}.", columns=1, title=title)
