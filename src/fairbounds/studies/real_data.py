"""The real data of the studies: who is compared, and which attributes stand in which table."""

from __future__ import annotations

from dataclasses import dataclass

from fairbounds.datasets import load_adult, load_compas, load_german, paper_view
from fairbounds.errors import ProblemError, nearest
from fairbounds.levels import Level
from fairbounds.tables import Table

__all__ = ["DATA", "RealData", "real_data"]

DATA = ("german", "adult", "compas")

_TABLES = {"german": load_german, "adult": load_adult, "compas": load_compas}

# The external table of the paper's appendix, the common variable first, then the rest but for the protected attribute.
_EXTERNAL = {
    "german": ("housing", "marital-status", "age", "foreign-worker"),
    "adult": ("marital-status", "age", "race", "relationship", "native-country"),
    "compas": ("score_text", "sex", "age_cat"),
}

# What a census, a labour force survey or (COMPAS) a court's statistics publish by sex or race.
_PLAUSIBLE = {
    "german": (
        "age",
        "housing",
        "job",
        "employment-since",
        "residence-since",
        "people-liable",
        "telephone",
        "foreign-worker",
    ),
    "adult": (
        "age",
        "marital-status",
        "relationship",
        "education",
        "occupation",
        "workclass",
        "hours-per-week",
        "race",
        "native-country",
    ),
    "compas": ("age_cat", "sex", "c_charge_degree", "priors_count", "score_text", "v_score_text"),
}

# Attributes that state the group: the German codes of marital status are each for one sex only.
_TELLING = {"german": ("marital-status",)}


@dataclass(frozen=True)
class RealData:
    """All attributes of an embedded data set, and the part that each plays.

    Attributes
    ----------
    name : str
    table : Table
        Everything jointly, which no auditor sees.
    protected, label : str
    group, reference, favourable : Level
        As in `fairbounds.datasets.PaperView`.
    common : str
        The common variable of the paper's structural experiment.
    external : tuple of str
        The external table of that experiment.
    plausible : tuple of str
        Attributes that a published table by the protected attribute may hold.
    telling : tuple of str
        Attributes that state the group; a model that had one would have the protected attribute.
    """

    name: str
    table: Table
    protected: str
    label: str
    group: Level
    reference: Level
    favourable: Level
    common: str
    external: tuple[str, ...]
    plausible: tuple[str, ...]
    telling: tuple[str, ...]

    @property
    def internal(self) -> tuple[str, ...]:
        """The internal table of the structural experiment: what is not external, and the common variable."""
        return (self.common, *(name for name in self.features if name not in self.external))

    @property
    def features(self) -> tuple[str, ...]:
        """Every attribute but the label, the protected one and those that state it."""
        others = (self.protected, self.label, *self.telling)
        return tuple(name for name in self.table.names if name not in others)


def real_data(name: str) -> RealData:
    """Return one of the three data sets.

    Examples
    --------
    >>> real_data("compas").external
    ('score_text', 'sex', 'age_cat', 'race')
    >>> real_data("compas").internal
    ('score_text', 'juv_crime', 'priors_count', 'c_charge_degree', 'v_score_text')
    """
    if name not in DATA:
        raise ProblemError(f"no real data {name!r}{nearest(name, DATA)}; there are {', '.join(DATA)}")
    view = paper_view(name)
    return RealData(
        name=name,
        table=_TABLES[name](),
        protected=view.protected,
        label=view.label,
        group=view.group,
        reference=view.reference,
        favourable=view.favourable,
        common=_EXTERNAL[name][0],
        external=(*_EXTERNAL[name], view.protected),
        plausible=_PLAUSIBLE[name],
        telling=_TELLING.get(name, ()),
    )
