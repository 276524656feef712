"""The three experiments on real data of the paper: four variables each, and the two tables an auditor would see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairbounds.datasets.loading import checked, load_adult, load_compas, load_german
from fairbounds.levels import Level
from fairbounds.tables import Table

__all__ = ["PaperView", "paper_view", "split"]


@dataclass(frozen=True)
class PaperView:
    """One experiment: the full table of four two-level variables, and the part that each plays.

    Attributes
    ----------
    table : Table
        Exactly the four variables below, in this order. It holds what no auditor sees: all of them jointly.
    internal : str
        Feature in the internal data only.
    common : str
        Variable in both tables.
    protected : str
        Attribute in the external data only.
    label : str
        Outcome that the classifier predicts.
    group : Level
        Group whose rate is compared.
    reference : Level
        Group that it is compared with.
    favourable : Level
        Level of the label whose predicted probability is the score. For COMPAS this is ``"yes"``, which nobody
        wishes for: the paper compares the rates of the predicted outcome.
    """

    table: Table
    internal: str
    common: str
    protected: str
    label: str
    group: Level
    reference: Level
    favourable: Level

    def scored(self) -> Table:
        """Add the variable ``score``: the classifier's probability of the favourable label.

        The paper trains a decision tree on the internal feature and the common variable. Both have two levels, so a
        fully grown tree has one leaf per combination and its probability is the mean of the label there; this computes
        that mean. The score does not look at the protected attribute.

        Returns
        -------
        Table
            The four variables and ``score``.

        Examples
        --------
        >>> [round(score, 3) for score in paper_view("german").scored()["score"].levels]
        [0.571, 0.645, 0.69, 0.805]
        """
        combinations, position = self.table.grouped([self.internal, self.common])
        favourable = self.table.column(self.label) == self.table[self.label].code(self.favourable)
        hits, total = (
            np.bincount(position, weights=weights, minlength=len(combinations))
            for weights in (self.table.weights * favourable, self.table.weights)
        )
        return self.table.with_variable("score", (hits / total)[position])


def paper_view(name: str) -> PaperView:
    """Return one of the paper's three experiments on real data.

    ========  ============================  ==================  =========  ================
    name      internal                      common              protected  label
    ========  ============================  ==================  =========  ================
    adult     capital-gain above 5,000      marital-status      sex        income
    compas    priors_count of at least 5    score_text Low      race       two_year_recid
    german    employment-since >= 4 years   housing own         sex        credit
    ========  ============================  ==================  =========  ================

    Parameters
    ----------
    name : str
        ``adult``, ``compas`` or ``german``.

    Returns
    -------
    PaperView

    Examples
    --------
    >>> view = paper_view("compas")
    >>> view.table.names
    ('priors_count', 'score_text', 'race', 'two_year_recid')
    >>> view.table["priors_count"].levels, view.group, view.reference, view.favourable
    (('<5', '>=5'), 'African-American', 'Caucasian', 'yes')
    """
    return _VIEWS[checked(name)]()


def split(name: str) -> tuple[Table, Table]:
    """Return the two tables that an auditor of one of the paper's experiments has.

    Parameters
    ----------
    name : str
        ``adult``, ``compas`` or ``german``.

    Returns
    -------
    internal : Table
        Internal feature, common variable and ``score`` (see `PaperView.scored`); no protected attribute.
    external : Table
        Common variable and protected attribute.

    Examples
    --------
    >>> internal, external = split("german")
    >>> internal.names, external.names
    (('employment-since', 'housing', 'score'), ('housing', 'sex'))
    """
    view = paper_view(name)
    internal = view.scored().marginal([view.internal, view.common, "score"])
    return internal, view.table.marginal([view.common, view.protected])


def _adult() -> PaperView:
    names = ("capital-gain", "marital-status", "sex", "income")
    table = load_adult().marginal(names)
    return PaperView(table, *names, group="Female", reference="Male", favourable=">50K")


def _compas() -> PaperView:
    names = ("priors_count", "score_text", "race", "two_year_recid")
    table = load_compas().marginal(names).bin("priors_count", [5])
    table = table.recode("score_text", {"Medium": "not Low", "High": "not Low"})
    return PaperView(table, *names, group="African-American", reference="Caucasian", favourable="yes")


def _german() -> PaperView:
    names = ("employment-since", "housing", "sex", "credit")
    table = load_german().marginal(names).recode("housing", {"rent": "not own", "for free": "not own"})
    shorter: dict[Level, Level] = {"unemployed": "<4 years", "<1 year": "<4 years", "1 to <4 years": "<4 years"}
    longer: dict[Level, Level] = {"4 to <7 years": ">=4 years", ">=7 years": ">=4 years"}
    table = table.recode("employment-since", shorter | longer)
    return PaperView(table, *names, group="female", reference="male", favourable="good")


_VIEWS = {"adult": _adult, "compas": _compas, "german": _german}
