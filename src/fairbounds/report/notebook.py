"""A result as a notebook shows it: a few sentences where there is something to say, and a table."""

from __future__ import annotations

import math
from typing import Any

from jinja2 import Environment

from fairbounds.report.layout import sections
from fairbounds.report.numbers import number
from fairbounds.report.opening import opening
from fairbounds.report.phrases import SENTENCES, WORDS
from fairbounds.report.sentences import value
from fairbounds.report.spelling import full_name, spelt
from fairbounds.results import Audit

__all__ = ["fragment"]

_MOST_ROWS = 40
_MOST_LINES = 12
_TEXT = """<div class="fairbounds">
{% for said in sentences %}<p>{{ said }}</p>
{% endfor %}<table>
<thead><tr>{% for name in names %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>
{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</tbody>
</table>
{% if more %}<p>{{ more }}</p>
{% endif %}</div>"""


def fragment(result: Any) -> str:
    """Return a result as a piece of HTML without style or script.

    Parameters
    ----------
    result : Audit, Finding, Bounds, Estimate, Draws, Exploration, Interval, Mismatch or Region

    Examples
    --------
    >>> from fairbounds.results import Bounds
    >>> "<td>0.350</td>" in fragment(Bounds("disparate_impact", "F", "M", 0.35, 0.75))
    True
    """
    columns = {name: cells for name, cells in result.columns().items() if any(cell not in (None, "") for cell in cells)}
    rows = list(zip(*columns.values(), strict=True))
    left = len(rows) - _MOST_ROWS
    page = Environment(autoescape=True).from_string(_TEXT)
    return page.render(
        sentences=_said(result),
        names=[full_name(name) for name in columns],
        rows=[[_cell(cell) for cell in row] for row in rows[:_MOST_ROWS]],
        more=SENTENCES["more_rows"].format(n=f"{left:,}") if left > 0 else "",
    )


def _said(result: Any) -> list[str]:
    """Return what can be said of a result in words: of an audit its opening, of others their line of text."""
    if isinstance(result, Audit):
        return [" ".join(opening(result, sections(result, None, _MOST_ROWS), spelt))]
    return [line for line in str(result).splitlines()[:_MOST_LINES] if line != repr(result)]


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return WORDS["yes" if cell else "no"]
    if isinstance(cell, float):
        return number(cell) if math.isfinite(cell) else value(cell)
    return f"{cell:,}" if isinstance(cell, int) else full_name(cell)
