"""An audit with the distribution of every metric over the feasible set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairbounds.errors import ProblemError
from fairbounds.results.audit import Audit
from fairbounds.results.draws import Draws

__all__ = ["EXPLORATION_SCHEMA", "Exploration"]

EXPLORATION_SCHEMA = "fairbounds/explore/1"


@dataclass(frozen=True)
class Exploration:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the schema ``fairbounds/explore/1``; the draws themselves are summed up."""
        pairs = zip(self.distributions, self.audit.findings, strict=True)
        return {
            "schema": EXPLORATION_SCHEMA,
            "audit": self.audit.to_dict(),
            "distributions": [draws.summary(finding.threshold) for draws, finding in pairs],
        }
