"""An audit with the distribution of every metric over the feasible set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairbounds.errors import ProblemError
from fairbounds.results.audit import Audit
from fairbounds.results.draws import Draws
from fairbounds.results.showing import Columns, Shown

__all__ = ["EXPLORATION_SCHEMA", "Exploration"]

EXPLORATION_SCHEMA = "fairbounds/explore/1"


@dataclass(frozen=True)
class Exploration(Shown):
    """Where the joints that fit both tables put each metric, every joint equally likely.

    Attributes
    ----------
    audit : Audit
    distributions : tuple of Draws
        One per finding of the audit, in its order.
    """

    audit: Audit
    distributions: tuple[Draws, ...]

    def find(self, metric: str, group: object = None) -> Draws:
        """Return the distribution of a metric (and group), or say which there are."""
        for draws in self.distributions:
            if draws.metric == metric and group in (None, draws.group):
                return draws
        known = ", ".join(sorted({f"{draws.metric} ({draws.group})" for draws in self.distributions}))
        raise ProblemError(f"this exploration has no {metric!r} for {group!r}; it has {known}")

    def __str__(self) -> str:
        return "\n".join(str(draws) for draws in self.distributions)

    def columns(self) -> Columns:
        """Return one row for each distribution: its mean, spread and quantiles, and the bounds."""
        rows = [(draws, draws.summary()) for draws in self.distributions]
        names = ("metric", "group", "reference", "draws", "mean", "standard_deviation", "minimum", "maximum")
        found: Columns = {name: [summary[name] for _, summary in rows] for name in names}
        for level in ("0.025", "0.5", "0.975"):
            found[f"quantile_{level}"] = [summary["quantiles"][level] for _, summary in rows]
        for end in ("lower", "upper"):
            found[end] = [None if draws.bounds is None else getattr(draws.bounds, end) for draws, _ in rows]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the schema ``fairbounds/explore/1``; the draws themselves are summed up."""
        pairs = zip(self.distributions, self.audit.findings, strict=True)
        return {
            "schema": EXPLORATION_SCHEMA,
            "audit": self.audit.to_dict(),
            "distributions": [draws.summary(finding.threshold) for draws, finding in pairs],
        }
