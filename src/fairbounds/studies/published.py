"""What the paper itself reports, to be printed beside what its protocol gives here.

Ramineni, Rahmani, Yilmaz and Barber (2025), arXiv:2508.13040. The bins of the divergence, closed on the right, are
those of the authors' public code (github.com/varsharamineni/fairness-incomplete-data, run_and_plot.py), which also
drops true DI > 5.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "EXPECTED",
    "KL_BINS",
    "KL_EDGES",
    "MOST_TRUE_DI",
    "SIMULATION",
    "STRUCTURAL",
    "STRUCTURAL_NOTE",
    "Expected",
    "Published",
    "PublishedError",
]

# Upper edges of all bins but the last, which has none: the authors' 10 is beyond any divergence of the protocol.
KL_EDGES = (0.05, 0.1, 0.2, 0.3, 0.5)
KL_BINS = ("0–0.05", "0.05–0.1", "0.1–0.2", "0.2–0.3", "0.3–0.5", "0.5+")
MOST_TRUE_DI = 5.0


@dataclass(frozen=True)
class Published:
    """One printed figure, or the two ends of a printed range.

    Attributes
    ----------
    figure : str
        The field of `fairbounds.studies.simulation_study.Summary` that answers it.
    low, high : float
        Equal unless the paper gives a range over its bins.
    place : str
        Where it stands in the paper.
    """

    figure: str
    low: float
    high: float
    place: str

    @property
    def over_bins(self) -> bool:
        """Whether the figure is a range over the bins of the divergence."""
        return self.low != self.high


_TEXT = "simulation experiments, all scenarios"
_BINS = "simulation experiments, by divergence of the tables"

SIMULATION = (
    Published("feasible_joints", 5951.0, 5951.0, _TEXT),
    Published("di_true_minus_mean", -0.010, -0.010, _TEXT),
    Published("di_true_minus_mean_sd", 0.410, 0.410, _TEXT),
    Published("dd_true_minus_mean", -0.002, -0.002, _TEXT),
    Published("dd_true_minus_mean_sd", 0.151, 0.151, _TEXT),
    Published("grid_coverage", 1.0, 1.0, _TEXT),
    Published("di_range", 1.828, 1.828, _TEXT),
    Published("di_range_sd", 3.211, 3.211, _TEXT),
    Published("dd_range", 0.569, 0.569, _TEXT),
    Published("dd_range_sd", 0.302, 0.302, _TEXT),
    Published("di_range", 1.67, 1.91, _BINS),
    Published("dd_range", 0.56, 0.57, _BINS),
)


@dataclass(frozen=True)
class PublishedError:
    """|DI(true) − mean DI(estimated)| on one data set: latent naive Bayes and marginal preservation."""

    data: str
    latent: float
    marginal: float
    place: str


STRUCTURAL = (
    PublishedError("adult", 0.162, 0.047, "Table 2"),
    PublishedError("compas", 0.001, 0.000, "Table 2"),
    PublishedError("german", 0.190, 0.178, "Table 2"),
)

STRUCTURAL_NOTE = (
    "The paper's figures are taken to stand in the order Adult, COMPAS, German; of each pair, the first is taken to be "
    "that of latent naive Bayes, the second that of marginal preservation."
)


@dataclass(frozen=True)
class Expected:
    """A figure of the real data, worked out from the tables by a program that is independent of this one.

    Attributes
    ----------
    data : str
    metric : {"DI", "DD"}
    figure : {"true", "lower", "upper", "independence"}
        Of the external population, with the tree's probabilities as scores.
    value : float
        Rounded to six decimals.
    """

    data: str
    metric: str
    figure: str
    value: float


def _expected(data: str, di: tuple[float, ...], dd: tuple[float, ...]) -> tuple[Expected, ...]:
    figures = ("true", "lower", "upper", "independence")
    both = (("DI", di), ("DD", dd))
    return tuple(
        Expected(data, metric, *pair) for metric, values in both for pair in zip(figures, values, strict=False)
    )


EXPECTED = (
    *_expected("german", (0.950589, 0.892385, 1.099011, 0.977368), (-0.035125, -0.077930, 0.067243)),
    *_expected("adult", (0.418786, 0.350284, 0.746892, 0.432349), (-0.177592, -0.204124, -0.068353)),
    *_expected("compas", (1.227442, 0.979782, 1.385931, 1.181738), (0.094121, -0.009629, 0.147350)),
)
