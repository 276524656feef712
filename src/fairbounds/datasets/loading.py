"""Embedded count tables and their cards, read with the standard library alone."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from fairbounds.datasets.schema import SCHEMAS
from fairbounds.errors import SourceError, listed, nearest
from fairbounds.levels import Level, show
from fairbounds.origins import Origin
from fairbounds.tables import Table, Variable

__all__ = ["checked", "dataset_card", "load_adult", "load_compas", "load_german"]


def load_adult() -> Table:
    """Return the Adult census income data: 45,222 people, 13 attributes.

    `dataset_card("adult")` says where the data come from, what was done to them and what to beware of.

    Returns
    -------
    Table
        One cell per distinct person as described by the attributes; the weight counts the people.

    Examples
    --------
    >>> adult = load_adult()
    >>> adult.total, adult["age"].levels
    (45222.0, ('<25', '25-60', '>60'))
    """
    return _load("adult")


def load_compas() -> Table:
    """Return ProPublica's COMPAS data, two races: 5,278 defendants, 9 attributes.

    `dataset_card("compas")` says where the data come from, what was done to them and what to beware of.

    Returns
    -------
    Table
        One cell per distinct defendant as described by the attributes; the weight counts the defendants.

    Examples
    --------
    >>> compas = load_compas()
    >>> compas.total, compas["priors_count"].levels[:3]
    (5278.0, (0, 1, 2))
    """
    return _load("compas")


def load_german() -> Table:
    """Return the Statlog German credit data: 1,000 borrowers, 22 attributes.

    `dataset_card("german")` says where the data come from, what was done to them and what to beware of.

    Returns
    -------
    Table
        One cell per distinct borrower as described by the attributes; the weight counts the borrowers.

    Examples
    --------
    >>> german = load_german()
    >>> german.total, german["credit"].levels
    (1000.0, ('bad', 'good'))
    """
    return _load("german")


def dataset_card(name: str) -> str:
    """Return the card of an embedded data set: source, licence, every transformation, caveats, counts.

    Parameters
    ----------
    name : str
        ``adult``, ``compas`` or ``german``.

    Returns
    -------
    str
        Markdown.

    Examples
    --------
    >>> dataset_card("german").splitlines()[0]
    '# German: Statlog German credit data'
    """
    return files(__package__).joinpath(f"{checked(name)}.md").read_text(encoding="utf-8")


def checked(name: str) -> str:
    """Return the name of an embedded data set, or raise a `SourceError` that names the nearest one."""
    if name not in SCHEMAS:
        raise SourceError(f"no embedded data set {name!r}{nearest(name, SCHEMAS)}; there are {listed(SCHEMAS)}")
    return name


@cache
def _load(name: str) -> Table:
    """Read one count table; tables cannot be changed, so all callers may share it."""
    data = files(__package__).joinpath(f"{name}.csv.gz").read_bytes()
    lines = csv.reader(io.StringIO(gzip.decompress(data).decode("utf-8"), newline=""))
    header = next(lines)
    *columns, counts = zip(*lines, strict=True)
    variables = tuple(Variable(attribute, SCHEMAS[name][attribute]) for attribute in header[:-1])
    codes = [_codes(variable.levels, column) for variable, column in zip(variables, columns, strict=True)]
    weights = np.array(counts, dtype=np.float64)
    origin = Origin(f"embedded data set {name}", int(weights.sum()), sha256=hashlib.sha256(data).hexdigest())
    return Table(variables, np.column_stack(codes), weights, origin)


def _codes(levels: Sequence[Level], column: Sequence[str]) -> npt.NDArray[np.int64]:
    position = {show(level): code for code, level in enumerate(levels)}
    return np.fromiter(map(position.__getitem__, column), np.int64, len(column))
