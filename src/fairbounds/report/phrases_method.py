"""The method appendix of a report: paragraphs, and the works that they cite."""

from __future__ import annotations

__all__ = ["PARAGRAPHS", "REFERENCES"]

# Paragraph to its text and the works that it cites; which of them are shown depends on the audit.
PARAGRAPHS = {
    "strata": (
        "The internal table says how outcomes are distributed in each stratum (combination of the common variables), "
        "the external table how groups are. Neither says which outcome goes with which group. The joint distributions "
        "that fit both tables are, in each stratum, all ways to fill a table with given row and column sums.",
        ("ramineni",),
    ),
    "bounds": (
        "In a stratum where a share r of the people belongs to a group and a share q was favoured, between "
        "max(0, r + q − 1) and min(r, q) are both. Summed over strata these are the ends of a rate. For two groups "
        "the least of one and the greatest of the other are attained in the same joint distribution, so that the ends "
        "of a difference and of a ratio follow.",
        ("frechet",),
    ),
    "scores": (
        "With scores, the place of “favoured” is taken by the integral of the score over the part of a stratum that a "
        "group holds: at most over its top, at least over its bottom.",
        ("ramineni",),
    ),
    "conditional": (
        "Rates among those with a given true outcome or decision are ratios of two masses; with scores their ends are "
        "found by an iteration, and those of a pair of groups by a search that ends with a certificate.",
        ("dinkelbach",),
    ),
    "groups": (
        "For all groups at once, the masses that sets of groups can hold form the base polytope of a submodular "
        "function. The smallest possible largest rate and the largest possible smallest rate are read off it.",
        ("fujishige",),
    ),
    "one_sided": (
        "In strata that only one of the tables has, nothing is filled in: the outcome or the group there may be "
        "anything, which makes the bounds wider.",
        (),
    ),
    "cross_fitted": (
        "An interval widens the bounds for sampling error. Which end of the bound is taken in which stratum is decided "
        "on one part of the people and applied to the others, in turn, so that ties and sparse strata do not make it "
        "too short. Over repetitions it holds the metric with the stated probability, if the tables are samples as "
        "described.",
        (),
    ),
    "exact": (
        "An exact interval widens the bounds for sampling error by the least and greatest shares that each stratum’s "
        "counts are compatible with, all at once. It holds for any number of people, and is the widest.",
        (),
    ),
    "bootstrap": (
        "A bootstrap interval repeats the bounds on counts drawn anew from those observed. At ties and in sparse "
        "strata it can be too short.",
        (),
    ),
    "no_intervals": ("Sampling error is not included: the tables are taken as they are.", ()),
    "independence": (
        "The independence estimate takes outcome and group to be unrelated within each stratum. It is one joint "
        "distribution among all that fit.",
        ("ramineni",),
    ),
    "latent_class": (
        "The latent class estimate fits hidden classes within which all variables are independent, by "
        "expectation–maximisation from many starts; it need not reproduce either table.",
        ("ramineni", "varadhan"),
    ),
    "feasible_mean": (
        "The feasible mean averages over all joint distributions that fit both tables, each equally likely: a "
        "convention, not evidence.",
        ("ramineni", "smith"),
    ),
    "regression": (
        "The weighted and the regression estimate are those of ecological inference; under conditions on two "
        "covariances they lie on either side of the truth.",
        ("goodman", "elzayn"),
    ),
    "verdict": (
        "A verdict compares the interval, or the bounds where there is none, with the threshold. “Shown” is said only "
        "where all of it lies on one side.",
        (),
    ),
}

REFERENCES = {
    "ramineni": (
        "V. Ramineni, H. A. Rahmani, E. Yilmaz, D. Barber (2025). Beyond Internal Data: Bounding and Estimating "
        "Fairness from Incomplete Data. arXiv:2508.13040."
    ),
    "frechet": (
        "M. Fréchet (1951). Sur les tableaux de corrélation dont les marges sont données. Annales de l’Université de "
        "Lyon A 14, 53–77."
    ),
    "dinkelbach": "W. Dinkelbach (1967). On nonlinear fractional programming. Management Science 13, 492–498.",
    "fujishige": "S. Fujishige (2005). Submodular Functions and Optimization, 2nd edition. Elsevier.",
    "varadhan": (
        "R. Varadhan, C. Roland (2008). Simple and globally convergent methods for accelerating the convergence of any "
        "EM algorithm. Scandinavian Journal of Statistics 35, 335–353."
    ),
    "smith": (
        "R. L. Smith (1984). Efficient Monte Carlo procedures for generating points uniformly distributed over bounded "
        "regions. Operations Research 32, 1296–1308."
    ),
    "goodman": (
        "L. A. Goodman (1953). Ecological regressions and behavior of individuals. American Sociological Review 18, "
        "663–664."
    ),
    "elzayn": (
        "H. Elzayn, E. Black, P. Vossler, N. Jo, J. Goldin, D. E. Ho (2023). Estimating and implementing conventional "
        "fairness metrics with probabilistic protected features. arXiv:2310.01679."
    ),
}
