"""The fixed text of a report, in one place and nothing but text, so that translations can be added.

Words in braces are filled in by `sentences`. The text of the regulator tables is in `phrases_law`, that of the method
appendix in `phrases_method`.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CLAIMS", "ESTIMATES", "METRICS", "RATES", "SENTENCES", "WORDS"]

WORDS = {
    "combined": "What was combined",
    "agreement": "How well the two tables agree",
    "groups": "Groups",
    "findings": "Findings",
    "distributions": "Over the feasible set",
    "assumptions": "Assumptions",
    "warnings": "Warnings",
    "provenance": "Provenance",
    "legend": "How to read the bars",
    # tables
    "group": "Group",
    "all_groups": "All groups",
    "share": "Share",
    "lower": "Lower limit",
    "upper": "Upper limit",
    "known": "Known value",
    "verdict": "Verdict",
    "stratum": "Stratum",
    "internal": "Internal",
    "external": "External",
    "points": "Difference (points)",
    "openness": "Where the width comes from",
    "regulators": "Regulator tables",
    "citation": "Where it stands",
    "method": "Method",
    "references": "References",
    "repeat": "To repeat it",
    "command": "Command",
    "call": "Call in Python",
    "spec": "Specification",
    "stratum_share": "Share of the population",
    "open_part": "Part of what is open",
    "other_strata": "all other strata",
    "interval_from": "{level} interval, from",
    "interval_to": "{level} interval, to",
    "table_role": "Table",
    "source": "Source",
    "rows": "Rows",
    "weight": "Weights",
    "sample_size": "Worth as a sample",
    "sha256": "SHA-256",
    "each_once": "each row once",
    "item": "Item",
    "content": "Content",
    # what was combined
    "internal_table": "Internal table",
    "external_table": "External table",
    "linked": "Linked by",
    "protected": "Protected",
    "decision": "Decision",
    "score": "Score",
    "label": "True outcome",
    "population": "Population",
    # values
    "not_defined": "not defined",
    "infinite": "infinite",
    "no_limit": "no upper limit",
    "not_given": "not given",
    "not_recorded": "of a version that is not recorded",
    "blank": "(blank)",
    "yes": "yes",
    "no": "no",
    # verdicts
    "undefined_lead": "Not defined",
    "undetermined_lead": "Undetermined",
    "undetermined": "undetermined",
    "reference": "the reference",
    "inside": "inside",
    "outside": "OUTSIDE",
    "inside_short": "(inside)",
    "outside_short": "(OUTSIDE)",
    "decisions": "decisions",
    "scores": "scores",
    "the_group": "the group",
    "and": " and ",
    "rarely": "rarely",
    "easily": "easily",
    "stratum_one": "stratum",
    "stratum_many": "strata",
}

SENTENCES = {
    # headings and notes
    "title": "Fairness audit",
    "groups_about": (
        "Each group's share of the audited population, and what its selection rate (share given the favourable "
        "decision) can be."
    ),
    "assumptions_about": "The bounds hold if all of these are true.",
    "provenance_about": "Everything that is recorded of this audit",
    "files_about": "The two tables as they were read",
    "written": "Report written on {date}, with fairbounds {version}.",
    "written_undated": "Report written with fairbounds {version}.",
    "regulators_about": (
        "What three regulators ask for, as far as these data can answer it. No part of it is a finding of law."
    ),
    "method_about": "What was done in this audit; docs/method.md of fairbounds has the proofs.",
    "openness_about": (
        "Bounds are wide where a stratum mixes groups and mixes outcomes. The strata that leave most open, and their "
        "parts of the width of the selection rates:"
    ),
    "openness_table": "Strata that leave most open",
    "wide_one": "The bounds are wide: as far as these data go, {subject} may be anything from {low} to {high}.",
    "wide_open": "The bounds are wide: as far as these data go, {subject} may be anything from {low} upward.",
    "wide_more": "{comparisons} wide bounds too.",
    "has": "has",
    "have": "have",
    "legend_interval": "{level} interval: the bounds with sampling error",
    "worst": "Strata that differ most: their share of each table",
    "worst_one": "{stratum}: {internal} of the internal table, {external} of the external",
    "no_findings": "This audit has no findings.",
    "no_assumptions": "No assumptions are recorded.",
    "one_warning": "1 warning",
    "many_warnings": "{n} warnings",
    "no_warnings": "No warnings",
    "warnings_pointer": "{warnings}, in full at the end.",
    "more": "and {n} more, less extreme; the HTML report has them all",
    "more_groups": "and {n} more, smaller; the HTML report has them all",
    "figure_more": "The figure shows the {shown} most extreme of {n}; the table has them all.",
    "figure_more_groups": "The figure shows the {shown} largest of {n}; the table has them all.",
    "more_rows": "and {n} more rows; to_frame() has them all",
    # legend
    "legend_bounds": "bounds: values outside them do not fit the two tables",
    "legend_open": "the same, where the verdict is undetermined",
    "legend_threshold": "threshold",
    "legend_error": "one standard error from sampling",
    "legend_estimate": "{name} estimate: {meaning}",
    "legend_known": "known value",
    "legend_several": "several marks",
    "legend_beyond": "goes on beyond the scale",
    "legend_heights": "how many joints have the value below",
    # figures
    "threshold_label": "threshold {limits}",
    "table": "{title}: the numbers behind the figure",
    "groups_table": "Groups: share of the audited population and bounds of the selection rate",
    "warnings_note": "{warnings} change how far these numbers can be trusted.",
    "one_warning_note": "1 warning changes how far these numbers can be trusted.",
    "read_them": "Read them below",
    # bounds
    "sharp": "Exact limits: nothing tighter follows from these two tables.",
    "some_loose": "Some of these bounds are valid but may be wider than the two tables require: {loose} of {n}.",
    "one_loose": "These bounds are valid but may be wider than the two tables require.",
    "sometimes": "Some joint distributions that fit both tables leave this undefined; the bounds cover the others.",
    "from_to": "{low} to {high}",
    "unlimited": "{low}, no upper limit",
    "lies_between": "{subject} lies between {low} and {high}: {shown}.",
    "lies_above": "{subject} is {low} or more, without upper limit: {shown}.",
    "lies_at": "{subject} is {low}: {shown}.",
    "lies_nowhere": "{subject} is not defined.",
    "shown": "shown to be {badge}",
    # verdicts
    "shown_lead": "Shown to be {badge}",
    "below": "below {low}",
    "at_least": "at least {high}",
    "above": "above {high}",
    "between": "between {low} and {high}",
    "undefined_body": "no joint distribution that fits both tables gives it a value",
    "whatever": "whatever the missing data are",
    "where_defined": "wherever it is defined, whatever the missing data are",
    "by_more": " by more than {tolerance}",
    "differ_by": "differ by at most {tolerance}",
    "are_equal": "are equal",
    "tables_allow": "the two tables allow {sides}",
    "bounds_contain": "the bounds found, which may be loose, contain {sides}",
    "by_chance": "the bounds settle it, but sampling error could move them across the threshold",
    "interval": "With sampling error: {reach} ({level} interval; for the whole set of possible values, {whole}).",
    "values_below": "values below {low}",
    "values_at_least": "values of at least {low}",
    "value_itself": "{low} itself",
    "values_between": "values between {low} and {high}",
    "values_above": "values above {high}",
    # estimates and known values
    "estimate": "{name} estimate {value}.",
    "estimate_loose": "{name} estimate {value} (need not fit both tables).",
    "with_error": "{value} ± {error}",
    "estimate_name": "{name} estimate",
    "known": "Known value {value}.",
    "known_placed": "Known value {value}, {placed} the bounds.",
    # the answer
    "situation": (
        "The internal table holds {held} but not {hidden}; the external table holds {hidden} but no {held}; this "
        "report says what the two allow together."
    ),
    "situation_one": (
        "One table holds both {hidden} and what the {held} rest on; this report says what follows from it."
    ),
    "one_open": "The two tables do not settle the comparison.",
    "all_open": "The two tables settle none of the {n} comparisons.",
    "some_open": "The two tables leave {left} of {n} comparisons undetermined.",
    "counted": "{subject}, {groups}: {counts}.",
    "more_below": "See below for {comparisons}.",
    "condition": "This holds for every joint distribution that fits both tables, if the assumptions below are true.",
    "condition_sampled": (
        "This holds, with {level} confidence for each comparison, for every joint distribution that fits both tables, "
        "if the assumptions below are true."
    ),
    "screen": "0.8 is the four-fifths screen, not a finding of law.",
    "truths": "The true values are known here: {inside} of {n} lie inside their bounds.",
    # distributions
    "exploration_title": "Fairness exploration",
    "equally_likely": "The distributions mean “every joint equally likely”; they are no probability of discrimination.",
    "as_possible": "What few joints have is as possible as what many have: only the bounds rule a value out.",
    "no_draws": "There are no joints to show.",
    "walked": "{n} joints that fit both tables, drawn at random by {chains} over {free} (seed {seed}).",
    "gridded": "{n} joints that fit both tables: those of a grid of {points} values in each stratum.",
    "gridded_paper": (
        "{n} joints that fit both tables: those of a grid of {points} values in each stratum, over the paper's looser "
        "limits."
    ),
    "drawn": "{n} joints that fit both tables.",
    "more_drawn": "and {n} more, less extreme; --format json has them all",
    "mean": "Mean {mean}, standard deviation {deviation}.",
    "mean_infinite": "The mean is infinite, by formula; that of these joints, {mean}, means nothing.",
    "mean_with": "Mean {mean} ({beside}), standard deviation {deviation}.",
    "mean_error": "± {error} from sampling",
    "mean_exact": "{exact} by formula",
    "one_value": "Every joint has the value {value}.",
    "no_value": "No joint gives it a value.",
    "half": "Half of the joints lie between {low} and {high}, 95% between {lowest} and {highest}.",
    "share_below": "{share} of them lie below {low}.",
    "share_band": "{share} of them lie below {low}, {amid} between {low} and {high}, {above} above {high}.",
    "off_scale": "{share} of the joints lie beyond the scale.",
    "undefined_share": "In {share} of the joints drawn it is 0/0 and has no value; the figures are of the others.",
    "no_mean": "It is unbounded, so that a mean may not exist: read the quantiles.",
    "unsettled": (
        "Not settled: the {n} draws are worth only {worth} independent ones, and how far the chains disagree (R̂) is "
        "{r_hat}, where 1 is agreement; take the figures as rough, or ask for more with --draws."
    ),
    # what was combined
    "by_hand": "a table built by hand; no source is recorded",
    "rows": "{source}: {rows}, {weighed}",
    "once": "each counted once",
    "weighted": "weighted by “{weight}”",
    "dropped": "{said}; {rows} ({share} of the weight) left out for missing values",
    "kept": "{said}; missing values kept as a level of their own",
    "linked": "{columns} ({strata})",
    "favourable": "{decision}, favourable level “{level}”",
    "described": "the one that the {population} table describes",
    # agreement
    "identical": "Every stratum has the same share of both tables (total variation 0).",
    "total_variation": (
        "Total variation {distance}: {share} of one table would have to move to another stratum to match the other."
    ),
    "divergence": "Kullback–Leibler divergence {kl} nats.",
    "divergence_infinite": (
        "Kullback–Leibler divergence infinite: the external table has strata that the internal table lacks."
    ),
    "chance": (
        "If both were samples of one population, chance alone would {often} make them differ this much "
        "(G-test: {statistic} with {freedom} of freedom, {p})."
    ),
    "one_sided": (
        "In strata that only one of the tables has: {internal} of the internal and {external} of the external table."
    ),
    "both_sided": "Every stratum is seen in both tables.",
}

_FAVOURED, _REFUSED = "given the favourable decision", "given the unfavourable decision"
_GOOD, _BAD = "with the favourable true outcome", "with the unfavourable true outcome"

# Stem of a metric's name to the rate, several of them, and what it is.
RATES = {
    "selection": ("selection rate", "selection rates", f"share {_FAVOURED}"),
    "true_positive": ("true positive rate", "true positive rates", f"share {_FAVOURED} among those {_GOOD}"),
    "false_positive": ("false positive rate", "false positive rates", f"share {_FAVOURED} among those {_BAD}"),
    "true_negative": ("true negative rate", "true negative rates", f"share {_REFUSED} among those {_BAD}"),
    "false_negative": ("false negative rate", "false negative rates", f"share {_REFUSED} among those {_GOOD}"),
    "positive_predictive": (
        "positive predictive value",
        "positive predictive values",
        f"share {_GOOD} among those {_FAVOURED}",
    ),
    "negative_predictive": (
        "negative predictive value",
        "negative predictive values",
        f"share {_BAD} among those {_REFUSED}",
    ),
    "accuracy": ("accuracy", "accuracies", "share whose decision agrees with the true outcome"),
    "base": ("base rate", "base rates", f"share {_GOOD}"),
}

# Metrics with a name of their own, and what they are; the others are put together from RATES and a form.
METRICS = {
    "demographic_disparity": ("Demographic disparity", "difference of selection rates"),
    "disparate_impact": ("Disparate impact", "ratio of selection rates"),
    "impact_ratio": ("Impact ratio", "selection rate divided by that of the most favoured group"),
    "parity_gap": ("Parity gap", "highest selection rate of any group minus the lowest"),
    "parity_ratio": ("Parity ratio", "lowest selection rate of any group divided by the highest"),
}
FORMS = {
    "rate": ("{rate}", "{about}"),
    "difference": ("{rate} difference", "difference of {rates}"),
    "ratio": ("{rate} ratio", "ratio of {rates}"),
}
AGAINST = "{title} against {reference}"
OF = "{title} of {group}"

_ONE = "the {rate} of {group} is"

# Form of a metric and verdict to what the verdict means.
CLAIMS: Mapping[tuple[str, str], str] = {
    ("ratio", "below"): _ONE + " less than {threshold} times that of {reference}",
    ("ratio", "above"): _ONE + " at least {threshold} times that of {reference}",
    ("impact_ratio", "below"): _ONE + " less than {threshold} times that of the most favoured group",
    ("impact_ratio", "above"): _ONE + " at least {threshold} times that of the most favoured group",
    ("parity_ratio", "below"): "the lowest {rate} of any group is less than {threshold} times the highest",
    ("parity_ratio", "above"): "the lowest {rate} of any group is at least {threshold} times the highest",
    ("difference", "below"): _ONE + " lower than that of {reference}{by_more}",
    ("difference", "above"): _ONE + " higher than that of {reference}{by_more}",
    ("difference", "within"): "the {rates} of {group} and {reference} {agree}",
    ("parity_gap", "above"): "the {rates} of some two groups differ{by_more}",
    ("parity_gap", "within"): "the {rates} of any two groups {agree}",
}

# Estimate to its name and what it assumes; a method without an entry goes by its own name alone.
ESTIMATES = {
    "independence": ("Independence", "if the outcome did not depend on the group within a stratum"),
    "latent_class": ("Latent class", "if hidden classes explained every dependence between the variables"),
    "feasible_mean": ("Feasible mean", "on average over all joint distributions that fit both tables"),
    "weighted": ("Weighted", "if each stratum's outcome is shared out by the groups' shares there"),
    "regression": ("Regression", "if each group had the same rate in all strata"),
}
