"""The options that several commands share, each written once, and what they mean to the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from fairbounds.cli.maps import pairs, read_edges, read_maps

__all__ = ["INTERVALS", "METHODS", "REPLICATES", "SPLITS", "asking", "outcome", "reading", "settled"]

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

INTERVALS = ("cross_fitted", "exact", "bootstrap", "none")
REPLICATES = ("sdr", "brr", "jackknife", "bootstrap")
SPLITS = ("average", "median")
METHODS = ("independence", "latent_class", "feasible_mean", "weighted", "regression")

_SEVERAL = (
    "protected",
    "common",
    "features",
    "metrics",
    "methods",
    "internal_replicates",
    "external_replicates",
)


def _together(*options: Callable[[Any], Any]) -> Decorator[Any]:
    def apply(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return apply


reading = _together(
    click.argument("internal"),
    click.argument("external"),
    click.option("--protected", multiple=True, required=True, help="Protected column of EXTERNAL; repeat to combine."),
    click.option("--common", multiple=True, help="Column of both tables; repeat. Default: all that both have."),
    click.option(
        "--feature",
        "features",
        multiple=True,
        help="Other column that a model, a latent class, the feasible set or a person has; repeat. Default: all.",
    ),
    click.option(
        "--population",
        type=click.Choice(["external", "internal"]),
        default="external",
        show_default=True,
        help="Whose fairness it is about: the census population, or the people decided on.",
    ),
    click.option("--internal-weight", help="Column of INTERNAL with weights or counts."),
    click.option("--external-weight", help="Column of EXTERNAL with weights or counts."),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "level"]),
        default="error",
        show_default=True,
        help="Rows with an empty cell: refuse, leave out, or keep as a level of their own.",
    ),
    click.option(
        "--unmatched",
        type=click.Choice(["warn", "error"]),
        default="warn",
        show_default=True,
        help="Levels and strata that one table lacks: allow for anything there, or refuse.",
    ),
    click.option(
        "--recode", multiple=True, metavar="COLUMN=MAP.csv", callback=pairs, help="Map levels: old,new a line."
    ),
    click.option("--bin", "bins", multiple=True, metavar="COLUMN=25,60", callback=pairs, help="Cut numbers at these."),
    click.option("--seed", "rng", type=click.IntRange(min=0), help="Of whatever is random. Default: 0."),
)

outcome = _together(
    click.option("--decision", help="Column of INTERNAL with the decision."),
    click.option("--favourable", help="Level of the decision that people want."),
    click.option("--label", help="Column of INTERNAL with the true outcome."),
    click.option("--positive", help="Favourable level of the label. Default: that of the decision."),
    click.option("--score", help="Column of INTERNAL with the probability of the favourable decision."),
    click.option(
        "--predict-command",
        metavar="COMMAND",
        help="Program that decides, in place of a column: features as CSV in, a score or decision a line out.",
    ),
    click.option("--reference", help="Group the others are compared with. Default: the largest."),
)

_intervals = (
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Level of the intervals."),
    click.option(
        "--interval-method",
        type=click.Choice(INTERVALS),
        default="cross_fitted",
        show_default=True,
        help="How sampling error is allowed for; the bootstrap fails at ties and in sparse strata.",
    ),
    click.option("--external-census", "external_is_census", is_flag=True, help="EXTERNAL is a full count, no sample."),
    click.option("--internal-size", type=float, help="People in the sample behind INTERNAL, where weights hide it."),
    click.option("--external-size", type=float, help="People in the sample behind EXTERNAL, where weights hide it."),
    click.option(
        "--internal-rounding", type=float, default=0.0, help="Counts of INTERNAL were rounded to multiples of this."
    ),
    click.option(
        "--external-rounding", type=float, default=0.0, help="Counts of EXTERNAL were rounded to multiples of this."
    ),
    click.option("--internal-cluster", help="Column of INTERNAL: rows that belong together, such as a household."),
    click.option(
        "--internal-replicate",
        "internal_replicates",
        multiple=True,
        help="Replicate weight of INTERNAL, or a pattern; repeat.",
    ),
    click.option(
        "--external-replicate",
        "external_replicates",
        multiple=True,
        help="Replicate weight of EXTERNAL, or a pattern such as 'PWGTP*'; repeat.",
    ),
    click.option(
        "--replicate-method",
        type=click.Choice(REPLICATES),
        default="sdr",
        show_default=True,
        help="How replicates were made: successive differences (ACS), balanced halves, jackknife, bootstrap.",
    ),
    click.option("--replicate-factor", type=float, help="Of their squared deviations, in place of the method's own."),
    click.option(
        "--combine-splits",
        "combine_splits",
        type=click.Choice(SPLITS),
        default="average",
        show_default=True,
        help="How random splits are combined; the median is valid without approximation, and wider.",
    ),
)

asking = _together(
    click.option("--metric", "metrics", multiple=True, help="Name of a metric; repeat."),
    click.option(
        "--method",
        "methods",
        type=click.Choice(METHODS),
        multiple=True,
        default=["independence"],
        help="Estimate to put beside the bounds; repeat. Default: independence.",
    ),
    click.option("--threshold", type=float, default=0.8, show_default=True, help="What ratios are compared with."),
    click.option("--tolerance", type=float, default=0.0, show_default=True, help="Band around 0 for differences."),
    *_intervals,
    click.option(
        "--one-stratum",
        type=click.Choice(["allow", "error"]),
        default="error",
        show_default=True,
        help="Common variables that never vary.",
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="For a person, or for a program.",
    ),
)


def settled(options: dict[str, Any]) -> dict[str, Any]:
    """Return options as the pipeline takes them: what was not given is ``None``, maps are read, a command is a model.

    Examples
    --------
    >>> settled({"protected": ("sex",), "common": (), "bins": {"age": "25,60"}, "predict_command": None})
    {'protected': ['sex'], 'common': None, 'bins': {'age': [25.0, 60.0]}}
    """
    known = dict(options)
    for name in _SEVERAL:
        if name in known:
            known[name] = list(known[name]) or None
    if "recode" in known:
        known["recode"] = read_maps(known["recode"])
    if "bins" in known:
        known["bins"] = read_edges(known["bins"])
    command = known.pop("predict_command", None)
    if command is not None:
        from fairbounds.sources.command import CommandModel

        known["predict"] = CommandModel(command)
    return known
