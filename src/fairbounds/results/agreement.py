"""How the two tables fit together: their strata, and how far they disagree on them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairbounds.results.naming import json_number
from fairbounds.results.showing import Columns, Shown

__all__ = ["Mismatch", "StrataSummary", "StratumMismatch"]


@dataclass(frozen=True)
class StrataSummary:
    """How many strata the audit stands on, and the mass seen in one table only.

    Attributes
    ----------
    n : int
        Strata with mass in the audited population.
    internal_only_mass : float
        Part of the internal table, in [0, 1], in strata that the external table lacks.
    external_only_mass : float
        Part of the external table, in [0, 1], in strata that the internal table lacks.
    """

    n: int
    internal_only_mass: float
    external_only_mass: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "n": self.n,
            "internal_only_mass": self.internal_only_mass,
            "external_only_mass": self.external_only_mass,
        }


@dataclass(frozen=True)
class StratumMismatch:
    """One stratum's share in each table."""

    stratum: str
    internal: float
    external: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"stratum": self.stratum, "internal": self.internal, "external": self.external}


@dataclass(frozen=True)
class Mismatch(Shown):
    """How far the two tables disagree on the common variables.

    Attributes
    ----------
    kl : float
        Kullback–Leibler divergence of the external from the internal shares, in nats; infinite where a stratum is
        seen in the external table only.
    total_variation : float
        Half the summed absolute difference, in [0, 1].
    g_statistic, p_value : float or None
        G-test that both tables were drawn from one population; ``None`` where the sample sizes are not known.
    degrees_of_freedom : int or None
    worst : tuple of StratumMismatch
        Strata that differ most, largest difference first.
    """

    kl: float
    total_variation: float
    g_statistic: float | None = None
    degrees_of_freedom: int | None = None
    p_value: float | None = None
    worst: tuple[StratumMismatch, ...] = ()

    def columns(self) -> Columns:
        """Return one row for each of the strata that differ most."""
        return {name: [getattr(entry, name) for entry in self.worst] for name in ("stratum", "internal", "external")}

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "kl": json_number(self.kl),
            "total_variation": self.total_variation,
            "g_statistic": self.g_statistic,
            "degrees_of_freedom": self.degrees_of_freedom,
            "p_value": self.p_value,
            "worst": [entry.to_dict() for entry in self.worst],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mismatch:
        """Rebuild from `to_dict`."""
        worst = tuple(StratumMismatch(**entry) for entry in data["worst"])
        kl = math.inf if data["kl"] is None else data["kl"]
        return cls(**{**data, "kl": kl, "worst": worst})
