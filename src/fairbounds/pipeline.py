"""From two sources to an `Audit`, an `Exploration` or a synthetic population, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Literal

from fairbounds.answering import Asked
from fairbounds.combining import Roles, combine, several
from fairbounds.errors import ProblemError, brief, listed, nearest
from fairbounds.estimation import Method, estimate, needs_features
from fairbounds.feasible import Coordinates
from fairbounds.inference import IntervalMethod
from fairbounds.intake import Bins, Recode
from fairbounds.levels import Level
from fairbounds.matching import Unmatched
from fairbounds.metrics import Metric
from fairbounds.problem import Population
from fairbounds.results import Audit, Exploration, Synthesis
from fairbounds.sampling import Limits, Plan, sample_all
from fairbounds.sampling import Method as Sampling
from fairbounds.seeds import Rng, settled_seed
from fairbounds.sources import MissingPolicy, open_source
from fairbounds.surveys import ReplicateMethod
from fairbounds.wording import filled_in, left_out

__all__ = ["audit", "explore", "synthesize"]


def audit(
    internal: object,
    external: object,
    *,
    protected: str | Sequence[str],
    decision: str | None = None,
    favourable: Level = None,
    label: str | None = None,
    positive: Level = None,
    score: str | None = None,
    predict: object | None = None,
    features: Sequence[str] | None = None,
    common: Sequence[str] | None = None,
    reference: Level = None,
    population: Population = "external",
    internal_weight: str | None = None,
    external_weight: str | None = None,
    metrics: Sequence[str | Metric] | None = None,
    methods: Sequence[Method] = ("independence",),
    threshold: float = 0.8,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    interval_method: IntervalMethod | Literal["none"] = "cross_fitted",
    external_is_census: bool = False,
    internal_size: float | None = None,
    external_size: float | None = None,
    internal_rounding: float = 0.0,
    external_rounding: float = 0.0,
    internal_cluster: str | None = None,
    internal_replicates: Sequence[str] | None = None,
    external_replicates: Sequence[str] | None = None,
    replicate_method: ReplicateMethod = "sdr",
    replicate_factor: float | None = None,
    combine_splits: Literal["average", "median"] = "median",
    rng: Rng = None,
    recode: Recode | None = None,
    bins: Bins | None = None,
    missing: MissingPolicy = "error",
    unmatched: Unmatched = "warn",
    one_stratum: Literal["allow", "error"] = "allow",
) -> Audit:
    """Combine internal and external data and say what the fairness metrics can be.

    Parameters
    ----------
    internal, external : path, dataframe or Table
        Internal: features and decisions, without the protected attribute. External: common variables and the
        protected attribute. A path may be a pattern; any dataframe that narwhals knows will do.
    protected : str or sequence of str
        Column of the external data; several are combined, e.g. sex × race.
    decision : str, optional
        Column of the internal data with the model's decision.
    favourable : optional
        Its level that people want; may be left out for 0/1, no/yes and the like.
    label : str, optional
        Column of the internal data with the true outcome.
    positive : optional
        Favourable level of the label; by default that of the decision.
    score : str, optional
        Column with P(favourable decision), in place of a decision.
    predict : callable or fitted model, optional
        A black box asked once per distinct row of features, in place of a decision or score.
    features : sequence of str, optional
        Other columns of either source: what a black box reads, and what ``latent_class`` and ``feasible_mean`` look
        at. By default all others, where one of these is asked for.
    common : sequence of str, optional
        Variables of both tables that link them; by default all columns that both have.
    reference : optional
        Group that the others are compared with; by default the largest.
    population : {"external", "internal"}
        Whose fairness is audited.
    internal_weight, external_weight : str, optional
        Columns of weights or counts.
    metrics : sequence of str, optional
        Names of the catalogue; by default `default_metrics`.
    methods : sequence of str
        Estimates to put beside the bounds: ``independence``, ``latent_class``, ``feasible_mean``, ``weighted``,
        ``regression``; see `estimate`.
    threshold, tolerance : float
        Ratios are compared with the threshold, differences with 0 ± tolerance.
    confidence : float
        Level of the intervals, which the verdicts rest on.
    interval_method : {"cross_fitted", "exact", "bootstrap", "none"}
        How sampling error is allowed for; see `fairbounds.confidence`.
    external_is_census : bool
        Whether the external table is a full count, without sampling error.
    internal_size, external_size : float, optional
        People behind a table whose weights do not tell. Without them there are no intervals, and a warning says so.
    internal_rounding, external_rounding : float
        Counts of the table were rounded to multiples of this, or perturbed by up to half of it.
    internal_cluster : str, optional
        Column of the internal data: rows of one household, branch or case worker, which are not independent.
    internal_replicates, external_replicates : sequence of str, optional
        Columns of replicate weights, or a pattern such as ``PWGTP*``.
    replicate_method : {"sdr", "brr", "jackknife", "bootstrap"}
        How the replicates were made: successive differences (American Community Survey), balanced halves, …
    replicate_factor : float, optional
        What their sum of squared deviations is multiplied by, in place of the method's own.
    combine_splits : {"average", "median"}
        How the random splits of a cross-fitted interval are combined; the median is valid without approximation and
        wider.
    rng : int or numpy.random.Generator, optional
        Seed of the methods that are random; 0 by default.
    recode : mapping, optional
        Column to a mapping of old to new levels, applied wherever the column is.
    bins : mapping, optional
        Column of numbers to the inner edges of intervals.
    missing : {"error", "drop", "level"}
        What to do with missing values.
    unmatched : {"warn", "error"}
        What to do with levels and strata that one table lacks.
    one_stratum : {"allow", "error"}
        Whether common variables that never vary are accepted.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal, external = fb.datasets.split("adult")
    >>> result = fb.audit(internal, external, protected="sex", score="score", reference="Male")
    >>> found = result.find("disparate_impact", "Female")
    >>> round(found.bounds.lower, 4), round(found.bounds.upper, 4), found.verdict
    (0.3503, 0.7469, 'below')
    """
    roles = Roles(
        protected,
        decision,
        favourable,
        label,
        positive,
        score,
        predict,
        features,
        common,
        reference,
        population,
        internal_weight,
        external_weight,
        recode,
        bins,
        missing,
        unmatched,
        one_stratum,
        internal_cluster,
        internal_replicates,
        external_replicates,
        replicate_method,
        replicate_factor,
    )
    asked = Asked(
        metrics,
        methods,
        threshold,
        tolerance,
        confidence,
        rng,
        interval_method,
        external_is_census=external_is_census,
        internal_size=internal_size,
        external_size=external_size,
        internal_rounding=internal_rounding,
        external_rounding=external_rounding,
        combine_splits=combine_splits,
    )
    keep = any(map(needs_features, asked.chosen_methods))
    return asked.audit(combine(internal, external, roles, keep_features=keep))


def explore(
    internal: object,
    external: object,
    *,
    sampling: Sampling = "walk",
    draws: int = 10_000,
    chains: int = 256,
    points: int = 100,
    limits: Limits = "tight",
    coordinates: Coordinates = "internal",
    **options: Any,
) -> Exploration:
    """Audit, and say where the joints that fit both tables put each metric, every joint equally likely.

    Parameters
    ----------
    internal, external
        As for `audit`.
    sampling : {"walk", "grid"}
    draws, chains, points, limits, coordinates
        As for `sample`.
    **options
        All other arguments of `audit`. Columns named as ``features`` (by default all others) are part of the joints.

    Returns
    -------
    Exploration

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal, external = fb.datasets.split("adult")
    >>> found = fb.explore(internal, external, protected="sex", score="score", reference="Male", draws=2000)
    >>> draws = found.find("disparate_impact")
    >>> round(draws.exact_mean, 3), draws.share_below(0.8)
    (0.537, 1.0)
    """
    roles, asked = _split_options(options)
    combined = combine(internal, external, roles, keep_features=True)
    found = asked.audit(combined)
    questions = asked.questions(combined.problem)
    distributions = sample_all(
        combined.problem,
        questions,
        method=sampling,
        plan=Plan(draws, chains),
        points=points,
        limits=limits,
        coordinates=coordinates,
        rng=asked.seed,
    )
    return Exploration(found, distributions)


def synthesize(
    internal: object,
    external: object,
    *,
    protected: str | Sequence[str],
    rows: int,
    method: Literal["independence", "latent_class"] = "independence",
    common: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    population: Population = "external",
    internal_weight: str | None = None,
    external_weight: str | None = None,
    recode: Recode | None = None,
    bins: Bins | None = None,
    missing: MissingPolicy = "error",
    unmatched: Unmatched = "warn",
    classes: Literal["auto"] | int | None = None,
    starts: int | None = None,
    rng: Rng = None,
) -> Synthesis:
    """Draw people with the variables of both tables from an estimated joint, for a black box to be asked about.

    Parameters
    ----------
    internal, external, protected, common, internal_weight, external_weight, recode, bins, missing, unmatched
        As for `audit`.
    rows : int
        People to draw.
    method : {"independence", "latent_class"}
        The joint: internal and external variables independent given the common ones, or the latent class model.
    features : sequence of str, optional
        Other columns of either table that people are to have; by default all others.
    population : {"external", "internal"}
        Whose shares of the strata ``independence`` keeps.
    classes, starts
        Options of the latent class model.
    rng : int or numpy.random.Generator, optional
        Seed; 0 by default.

    Returns
    -------
    Synthesis

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "a", "b"], "income": ["low", "high", "low"]}
    >>> external = {"job": ["a", "b", "b"], "sex": ["F", "F", "M"]}
    >>> fb.synthesize(internal, external, protected="sex", rows=500).people
    Table(job: 2, income: 2, sex: 2; 4 cells, total 500)
    """
    seed, options = settled_seed(rng), _options_of(method, classes, starts, population)
    linked = {*(several(common) or open_source(external, "external").columns), *(several(protected) or ())}
    roles = Roles(
        protected,
        **_any_outcome(internal, linked, several(features), internal_weight),
        features=features,
        common=common,
        population=population,
        internal_weight=internal_weight,
        external_weight=external_weight,
        recode=recode,
        bins=bins,
        missing=missing,
        unmatched=unmatched,
    )
    combined = combine(internal, external, roles, keep_features=True)
    found = estimate(
        combined.problem, "selection_rate", method=method, group=combined.problem.groups[0], rng=seed, **options
    )
    assert found.joint is not None
    people = found.joint.sample(rows, seed)
    known = combined.provenance()
    for name in ("favourable", "reference"):  # of the column that passed for a decision
        del known[name]
    del known["columns"]["decision"]
    settings = {"method": method, "rows": rows, "seed": seed, "population": population, "details": found.details}
    beside = left_out(combined.problem) if method == "independence" else filled_in(combined.problem)
    notes = [found.note] if found.note and method == "latent_class" else []
    return Synthesis(people, (*combined.read.notes, *beside, *notes), known | settings)


def _options_of(
    method: str, classes: Literal["auto"] | int | None, starts: int | None, population: Population
) -> dict[str, Any]:
    """Return the options of a method, and refuse those that it does not have."""
    if method not in ("independence", "latent_class"):
        raise ProblemError(f"people are drawn by 'independence' or 'latent_class', not {method!r}")
    given = {name: value for name, value in (("classes", classes), ("starts", starts)) if value is not None}
    if method == "independence" and given:
        raise ProblemError(f"{next(iter(given))} belongs to the method 'latent_class', not to 'independence'")
    if method == "latent_class" and population == "internal":
        raise ProblemError("population belongs to the method 'independence': a latent class model has one of its own")
    return given


def _split_options(options: dict[str, Any]) -> tuple[Roles, Asked]:
    """Tell the roles of columns from the rest of the arguments of `audit`."""
    roles = {field.name for field in fields(Roles)}
    of_roles = {name: value for name, value in options.items() if name in roles}
    return Roles(**of_roles), Asked(**{name: value for name, value in options.items() if name not in roles})


def _any_outcome(
    internal: object, linked: set[str], features: tuple[str, ...] | None, weight: str | None
) -> dict[str, Any]:
    """Let some internal column pass for the decision: the joint is the same whichever it is."""
    source = open_source(internal, "internal")
    counts = weight if source.disclosure is None else source.disclosure.count
    own = [name for name in source.columns if name not in linked and name != counts]
    if features is not None:
        known = list(dict.fromkeys([*source.columns, *sorted(linked)]))
        for name in features:
            if name not in known:
                raise ProblemError(
                    f"neither table has a column {brief(name)}{nearest(name, known)}; there are {listed(known)}"
                )
        own = [name for name in own if name in features]
    if not own:
        raise ProblemError(
            "the internal table has no column that the external one lacks, so there is nothing to put together; the "
            "external table is the population"
        )
    levels = source.read([own[0]], missing="level")[own[0]].levels
    return {"decision": own[0], "favourable": next((level for level in levels if level is not None), None)}
