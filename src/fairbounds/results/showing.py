"""What every result can do for a person: be drawn, be a table, be seen in a notebook.

Drawing and pages are rooms above this one. Only this module reaches up to them, and only when it is asked to show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairbounds.frames import to_frame

if TYPE_CHECKING:
    from pathlib import Path

    from fairbounds.plots import Figure

__all__ = ["Columns", "Shown", "write_report"]

Columns = dict[str, list[Any]]


class Shown:
    """A result that a person may look at."""

    def columns(self) -> Columns:
        """Return the numbers as columns of equal length."""
        raise NotImplementedError

    def to_frame(self, library: str | None = None) -> Any:
        """Return the numbers as a dataframe.

        Parameters
        ----------
        library : {"polars", "pandas", "pyarrow"}, optional
            By default the one that is imported already, or else the first that is installed.

        Examples
        --------
        >>> from fairbounds.results import Bounds
        >>> Bounds("disparate_impact", "F", "M", 0.35, 0.75).to_frame("pandas")["upper"].tolist()
        [0.75]
        """
        return to_frame(self.columns(), library)

    def plot(self, kind: str | None = None, **options: Any) -> Figure:
        """Draw it (extra ``report``); a notebook shows the figure, and ``save`` writes PNG, SVG or PDF.

        Parameters
        ----------
        kind : str, optional
            Which of its figures; an unknown name is answered by those there are.
        **options
            Of that figure, such as ``title``.

        Examples
        --------
        >>> from fairbounds.results import Bounds
        >>> Bounds("disparate_impact", "F", "M", 0.35, 0.75).plot().alt
        'Disparate impact. F against M: bounds 0.35 to 0.75.'
        """
        from fairbounds.plots.showing import draw

        return draw(self, kind, **options)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from fairbounds.report.notebook import fragment

        return fragment(self)


def write_report(audit: Any, path: str | Path, **options: Any) -> None:
    """Write an audit as an HTML page.

    Parameters
    ----------
    audit : Audit
    path : str or Path
    **options
        Of `fairbounds.write_html`.
    """
    from fairbounds.report.html import write_html

    write_html(audit, path, **options)
