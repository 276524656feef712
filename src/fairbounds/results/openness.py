"""Which strata make the bounds wide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["StratumWidth"]


@dataclass(frozen=True)
class StratumWidth:
    """What one stratum adds to the width of each group's selection rate.

    Attributes
    ----------
    stratum : str or None
        As a person reads it; ``None`` stands for all the others together.
    mass : float
        Share of the audited population, in [0, 1].
    widths : tuple of float
        One for each group of the audit, in its order; over all entries they add up to upper − lower.

    Examples
    --------
    >>> StratumWidth("job=nurse", 0.25, (0.1, 0.02)).widths
    (0.1, 0.02)
    """

    stratum: str | None
    mass: float
    widths: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"stratum": self.stratum, "mass": self.mass, "widths": list(self.widths)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> StratumWidth:
        """Rebuild from `to_dict`."""
        return cls(data["stratum"], data["mass"], tuple(data["widths"]))
