"""People drawn from an estimated joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fairbounds.tables import Table

__all__ = ["Synthesis"]


@dataclass(frozen=True)
class Synthesis:
    """A synthetic population.

    Attributes
    ----------
    people : Table
        Over the variables of both tables; weights are numbers of people.
    warnings : tuple of str
        In words.
    provenance : dict
        What is needed to draw the same people again.
    """

    people: Table
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
