"""What an audit found: frozen records that print, compare and store; everything shown to a person comes from here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from fairbounds.errors import ProblemError
from fairbounds.levels import Level, show
from fairbounds.tables import Table

__all__ = [
    "SCHEMA",
    "Audit",
    "Bounds",
    "Estimate",
    "Finding",
    "GroupSummary",
    "Label",
    "Mismatch",
    "StrataSummary",
    "StratumMismatch",
    "label_of",
]

SCHEMA = "fairbounds/audit/1"

Label: TypeAlias = str | int | float | bool
Defined: TypeAlias = Literal["always", "sometimes", "never"]
End: TypeAlias = Literal["lower", "upper"]
Verdict: TypeAlias = Literal["below", "above", "within", "undetermined"]


def label_of(level: Level) -> Label:
    """Return a level as results carry it: as the user wrote it, dates and the missing level in words."""
    return level if isinstance(level, str | int | float) else show(level)


def _number(value: float | None) -> float | None:
    """JSON has no infinity: an unbounded end is null."""
    return None if value is None or math.isinf(value) else value


def _in_words(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"


@dataclass(frozen=True)
class Bounds:
    """What the two tables cannot tell apart: the least and greatest value of a metric over every joint that fits both.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
        ``None`` where the metric has no such role.
    lower, upper : float or None
        Infinite where unbounded; ``None`` where the metric is never defined.
    method : str
        ``closed form``, ``search`` (branch and bound, certified) or ``separate ends``.
    sharp : bool
        Whether both ends are the true ends; otherwise they are valid but may be loose.
    defined : str
        ``sometimes`` where a joint that fits gives the metric's condition no mass.

    Examples
    --------
    >>> Bounds("disparate_impact", "Female", "Male", 0.35, 0.75).contains(0.42)
    True
    """

    metric: str
    group: Label | None
    reference: Label | None
    lower: float | None
    upper: float | None
    method: str = "closed form"
    sharp: bool = True
    defined: Defined = "always"
    rebuild: Callable[[End], Table] | None = field(default=None, repr=False, compare=False)

    @property
    def width(self) -> float | None:
        """Distance between the ends."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def contains(self, value: float, tolerance: float = 1e-9) -> bool:
        """Whether a value lies between the ends, give or take rounding."""
        if self.lower is None or self.upper is None:
            return False
        return self.lower - tolerance <= value <= self.upper + tolerance

    def attained_by(self, end: End) -> Table:
        """Rebuild a joint distribution that fits both tables and has exactly this end as its metric.

        Parameters
        ----------
        end : {"lower", "upper"}

        Returns
        -------
        Table
            Over the common variables, the outcome and the protected variable; total 1.
        """
        if self.rebuild is None:
            raise ProblemError(
                "these bounds are stored or not sharp, so no joint can be rebuilt; compute them with bound()"
            )
        return self.rebuild(end)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "lower": _number(self.lower),
            "upper": _number(self.upper),
            "method": self.method,
            "sharp": self.sharp,
            "defined": self.defined,
        }

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], metric: str, group: Label | None = None, reference: Label | None = None
    ) -> Bounds:
        """Rebuild from `to_dict`."""
        defined = data["defined"]
        unbounded = None if defined == "never" else math.inf
        lower, upper = (unbounded if data[end] is None else data[end] for end in ("lower", "upper"))
        return cls(metric, group, reference, lower, upper, data["method"], data["sharp"], defined)


@dataclass(frozen=True)
class Estimate:
    """One number for a metric under a named assumption.

    Attributes
    ----------
    method : str
        The assumption, e.g. ``independence``.
    value : float or None
        ``None`` where the metric is undefined, infinite where its denominator is 0.
    margin_preserving : bool
        Whether the joint behind it fits both tables, so that it lies inside the bounds.
    """

    method: str
    value: float | None
    margin_preserving: bool = True


@dataclass(frozen=True)
class Finding:
    """One metric for one group: bounds, estimates and verdict.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
    bounds : Bounds
    estimates : tuple of Estimate
    verdict : {"below", "above", "within", "undetermined"} or None
        Where the bounds lie against the threshold; ``within`` a tolerance around 0; ``None`` for plain rates.
    threshold : float or None
    tolerance : float
        Half-width of the band around the threshold (differences).
    note : str
        A caveat that belongs to this number, or nothing.
    """

    metric: str
    group: Label | None
    reference: Label | None
    bounds: Bounds
    estimates: tuple[Estimate, ...] = ()
    verdict: Verdict | None = None
    threshold: float | None = None
    tolerance: float = 0.0
    note: str = ""

    def __str__(self) -> str:
        who = "" if self.group is None else f" {self.group}"
        against = "" if self.reference is None else f" / {self.reference}"
        values = "".join(f"; {entry.method} {_in_words(entry.value)}" for entry in self.estimates)
        verdict = "" if self.verdict is None else f"; {self.verdict} {self.threshold:g}"
        ends = f"between {_in_words(self.bounds.lower)} and {_in_words(self.bounds.upper)}"
        return f"{self.metric}{who}{against}: {ends}{values}{verdict}"

    def estimate(self, method: str) -> float | None:
        """Return the value of one estimate, ``None`` where it is undefined or was not asked for."""
        return next((entry.value for entry in self.estimates if entry.method == method), None)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "metric": self.metric,
            "group": self.group,
            "reference": self.reference,
            "bounds": self.bounds.to_dict(),
            "interval": None,
            "estimates": {entry.method: _number(entry.value) for entry in self.estimates},
            "estimate_details": {
                entry.method: {
                    "margin_preserving": entry.margin_preserving,
                    "infinite": entry.value is not None and math.isinf(entry.value),
                }
                for entry in self.estimates
            },
            "verdict": self.verdict,
            "threshold": self.threshold,
            "tolerance": self.tolerance,
            "note": self.note,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Finding:
        """Rebuild from `to_dict`."""
        details = data["estimate_details"]
        estimates = tuple(
            Estimate(method, math.inf if details[method]["infinite"] else value, details[method]["margin_preserving"])
            for method, value in data["estimates"].items()
        )
        roles = data["metric"], data["group"], data["reference"]
        return cls(
            *roles,
            Bounds.from_dict(data["bounds"], *roles),
            estimates,
            data["verdict"],
            data["threshold"],
            data["tolerance"],
            data["note"],
        )


@dataclass(frozen=True)
class GroupSummary:
    """A group's share of the audited population and the bounds of its selection rate."""

    group: Label
    share: float
    selection_rate: Bounds

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"group": self.group, "share": self.share, "selection_rate": self.selection_rate.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GroupSummary:
        """Rebuild from `to_dict`."""
        rate = Bounds.from_dict(data["selection_rate"], "selection_rate", data["group"])
        return cls(data["group"], data["share"], rate)


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
class Mismatch:
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

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "kl": _number(self.kl),
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


@dataclass(frozen=True)
class Audit:
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
    """

    population: str
    strata: StrataSummary
    mismatch: Mismatch
    groups: tuple[GroupSummary, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

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
        )
