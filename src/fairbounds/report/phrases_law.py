"""The fixed text of the regulator tables, beside that of `phrases` and for the same reason.

What a law asks for is put in words of our own; the citation says where to read it.
"""

from __future__ import annotations

__all__ = ["COLUMNS", "FACTS", "NOTES", "TERMS", "VIEWS"]

# View to its title, where the rule stands, and what it is.
VIEWS = {
    "nyc": (
        "New York City Local Law 144",
        (
            "New York City Administrative Code § 20-870 to § 20-874 (Local Law 144 of 2021)",
            "Rules of the City of New York, title 6, § 5-300 to § 5-304",
        ),
        "Bias audit of an automated employment decision tool: selection rate and impact ratio by sex, by race or "
        "ethnicity, and by both together (§ 5-301).",
    ),
    "ugesp": (
        "Uniform Guidelines on Employee Selection Procedures: four-fifths",
        ("29 CFR § 1607.4(D)", "29 CFR § 1607.15(A)(2)(a), groups under 2% of the labour force"),
        "A selection rate below four fifths of the highest group’s is generally regarded as evidence of adverse "
        "impact. Smaller differences may be adverse impact where they are significant in statistical and practical "
        "terms; greater ones may not be where they rest on small numbers.",
    ),
    "eu": (
        "EU Artificial Intelligence Act: data and examination for bias",
        ("Regulation (EU) 2024/1689, Article 10(2), (3) and (5)", "Annex IV, point 2(d), technical documentation"),
        "What the technical documentation of a high-risk system asks about the data behind this report and about the "
        "examination in view of possible biases.",
    ),
}

NOTES = {
    "estimates": (
        "All of it is what two combined data sets allow, not a count of people whose category is known: limits, and "
        "estimates under the assumptions above."
    ),
    "nyc_law": (
        "The law asks for historical data of the tool, or test data (§ 5-302). Whether combined data meet it is for "
        "the auditor and counsel to judge."
    ),
    "nyc_small": "Categories under 2% of the audited population are marked. The rules let an auditor leave them out, "
    "with the reason and their numbers (§ 5-301(d)); nothing is left out here.",
    "nyc_people": (
        "How many of the people assessed belong to each category is not estimated, because the shares are those of the "
        "external population; with --population internal they are those of the people assessed."
    ),
    "nyc_missing_view": (
        "Only {columns} was audited. The law asks for sex, race or ethnicity, and both together: name every "
        "protected column."
    ),
    "ugesp_law": "Four fifths is a rule of thumb for review, not a finding of law.",
    "ugesp_statistical": (
        "Statistically significant: the {level} interval of the impact ratio ends below 1, whatever the missing data "
        "are. Otherwise it is not shown, which is not the same as no difference."
    ),
    "ugesp_untested": "No sampling intervals were computed, so no significance is claimed.",
    "ugesp_practical": (
        "Practical significance: how many more people of a category would have to be selected in every 100 of it to "
        "bring its rate level with the highest, at least and at most."
    ),
    "eu_law": (
        "Whether the system is a high-risk one, and what follows from these figures, is for its provider to judge."
    ),
    "no_categories": "This audit holds no selection rates by category.",
}

TERMS = {
    "nyc_data": "Source and explanation of the data",
    "nyc_assessed": "Individuals assessed",
    "nyc_unknown": "Individuals of unknown category",
    "nyc_rate": "What the rates count",
    "nyc_small": "Categories under 2%",
    "nyc_add": "To be added before publication",
    "eu_origin": "Origin of the data, 10(2)(b)",
    "eu_preparation": "Preparation, 10(2)(c)",
    "eu_assumptions": "Assumptions, 10(2)(d)",
    "eu_suitability": "Availability, quantity, suitability, 10(2)(e)",
    "eu_bias": "Examination for bias, 10(2)(f)",
    "eu_measures": "Measures, 10(2)(g)",
    "eu_gaps": "Gaps, 10(2)(h)",
    "eu_representative": "Representativeness, 10(3)",
    "eu_special": "Special categories, 10(5)",
}

FACTS = {
    "assessed": "{n}, the rows of the internal table",
    "assessed_not_known": "not known: the weights of the internal table are no counts",
    "assessed_people": "{n}, by the weights of the internal table",
    "unknown_all": (
        "All of them: the internal table does not hold {columns}. Shares of the categories come from the external "
        "table."
    ),
    "unknown_levels": "The external table has people of unknown category too: {levels}.",
    "unknown_dropped": "Left out for missing values: {rows} of the {table} table.",
    "rate_decision": "People given the favourable decision.",
    "rate_score": (
        "The mean score, taken for the probability of the favourable decision. The scoring rate of § 5-301(c), the "
        "share above the median score, is another figure and is not computed."
    ),
    "none": "none",
    "to_add": "the auditor, the date of the audit, and the date on which the tool was first used",
    "preparation_none": "nothing recoded, cut into bins or left out",
    "recoded": "levels recoded of {columns}",
    "binned": "numbers cut into bins of {columns}",
    "dropped": "{rows} of the {table} table left out for missing values",
    "kept": "missing values of the {table} table kept as a level",
    "assumptions": "{n}, in the section “{section}” above",
    "suitability": "{strata} link the tables; {one_sided}",
    "one_sided": "{internal} of the internal and {external} of the external table lie in strata that the other lacks",
    "both_sided": "every stratum is seen in both",
    "bias": "{shown} of {n} categories shown to have an impact ratio below 0.8, {open} not settled by these data",
    "measures": "none: this report examines, it changes neither the data nor the model",
    "gaps": (
        "Who belongs to which category is not recorded with the decisions. That is why the report gives limits; the "
        "strata that leave most open are named under “{section}”."
    ),
    "representative": "total variation {distance} between the two tables’ shares of the strata",
    "special": "No person’s category was collected, inferred or stored: the external table is used as counts only.",
}

COLUMNS = {
    "caption": "By {columns}",
    "category": "Category",
    "share": "Share",
    "people": "People (estimate)",
    "rate": "Selection rate, limits",
    "rate_estimate": "Selection rate, independence",
    "ratio": "Impact ratio, limits",
    "ratio_interval": "Impact ratio, {level} interval",
    "ratio_estimate": "Impact ratio, independence",
    "mark": "Under 2%",
    "four_fifths": "Against four fifths",
    "statistical": "Statistically significant",
    "practical": "More selected per 100",
    "below": "below",
    "at_least": "at least 0.8",
    "open": "undetermined",
    "shown": "yes, {level}",
    "not_shown": "not shown",
    "not_tested": "not tested",
    "from_to": "{low} to {high}",
}
