"""The whole answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairbounds.errors import ProblemError
from fairbounds.results.agreement import Mismatch, StrataSummary
from fairbounds.results.classification import Classification
from fairbounds.results.findings import Finding, GroupSummary, rows_of
from fairbounds.results.naming import Label
from fairbounds.results.openness import StratumWidth
from fairbounds.results.regions import Region
from fairbounds.results.showing import Columns, Shown, write_report

__all__ = ["SCHEMA", "Audit"]

SCHEMA = "fairbounds/audit/1"


@dataclass(frozen=True)
class Audit(Shown):
    """The whole answer: what was combined, what was assumed, what was found.

    Attributes
    ----------
    population : {"external", "internal"}
        Whose joint is audited.
    strata : StrataSummary
    mismatch : Mismatch
    groups : tuple of GroupSummary
    findings : tuple of Finding
    assumptions, warnings : tuple of str
        In words.
    provenance : dict
        Sources, columns, versions: what is needed to repeat the audit.
    classifications : tuple of Classification
        The categories of each protected column and, last, of all of them together: this audit's groups.
    widths : tuple of StratumWidth
        The strata that leave most open, and all others together; none where group sizes are not known.
    regions : tuple of Region
        The selection rates that each group can have together with the reference; none where sizes are not known.
    """

    population: str
    strata: StrataSummary
    mismatch: Mismatch
    groups: tuple[GroupSummary, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    classifications: tuple[Classification, ...] = ()
    widths: tuple[StratumWidth, ...] = ()
    regions: tuple[Region, ...] = ()

    def find(self, metric: str, group: Label | None = None) -> Finding:
        """Return the finding for a metric (and group), or say which there are.

        Examples
        --------
        >>> import fairbounds as fb
        >>> internal = {"job": ["a", "a", "b"], "ok": [1, 0, 1]}
        >>> external = {"job": ["a", "b", "b"], "sex": ["F", "F", "M"]}
        >>> result = fb.audit(internal, external, protected="sex", decision="ok", reference="M")
        >>> result.find("disparate_impact").bounds.lower
        0.75
        """
        for finding in self.findings:
            if finding.metric == metric and (group is None or finding.group == group):
                return finding
        known = ", ".join(sorted({f"{finding.metric} ({finding.group})" for finding in self.findings}))
        raise ProblemError(f"this audit has no finding {metric!r} for {group!r}; it has {known}")

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)

    def columns(self) -> Columns:
        """Return one row for each finding."""
        return rows_of(self.findings)

    def report(self, path: str | Path, **options: Any) -> None:
        """Write the HTML report: one file that needs no network and no script.

        Parameters
        ----------
        path : str or Path
        **options
            ``title``, ``truth`` and ``date`` of `write_html`.
        """
        write_report(self, path, **options)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the schema ``fairbounds/audit/1``."""
        return {
            "schema": SCHEMA,
            "population": self.population,
            "strata": self.strata.to_dict(),
            "mismatch": self.mismatch.to_dict(),
            "groups": [entry.to_dict() for entry in self.groups],
            "findings": [entry.to_dict() for entry in self.findings],
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance,
            "classifications": [entry.to_dict() for entry in self.classifications],
            "widths": [entry.to_dict() for entry in self.widths],
            "regions": [entry.to_dict() for entry in self.regions],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Audit:
        """Rebuild an audit from `to_dict`, equal but for the joints, which are not stored."""
        if data.get("schema") != SCHEMA:
            raise ProblemError(f"this is not a stored audit: its schema is {data.get('schema')!r}, not {SCHEMA!r}")
        try:
            return cls._read(data)
        except (KeyError, TypeError, AttributeError) as error:
            raise ProblemError(f"this stored audit is damaged: it lacks or misstates {error}") from None

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> Audit:
        return cls(
            data["population"],
            StrataSummary(**data["strata"]),
            Mismatch.from_dict(data["mismatch"]),
            tuple(GroupSummary.from_dict(entry) for entry in data["groups"]),
            tuple(Finding.from_dict(entry) for entry in data["findings"]),
            tuple(data["assumptions"]),
            tuple(data["warnings"]),
            dict(data["provenance"]),
            tuple(Classification.from_dict(entry) for entry in data.get("classifications", ())),
            tuple(StratumWidth.from_dict(entry) for entry in data.get("widths", ())),
            tuple(Region.from_dict(entry) for entry in data.get("regions", ())),
        )
