"""The distribution of a metric over joints: all that fit both tables, or samples from an estimated one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.results.bounds import Bounds
from fairbounds.results.naming import Label, in_words, json_number
from fairbounds.results.showing import Columns, Shown
from fairbounds.tables import Table

__all__ = ["Diagnosis", "Draws", "JointSet"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class JointSet(Protocol):
    """Joints that fit both tables, made one by one or all at once."""

    def __len__(self) -> int:
        """Return how many there are."""
        ...

    def __iter__(self) -> Iterator[Table]:
        """Make one after the other, each a table of total 1."""
        ...

    def to_array(self) -> FloatArray:
        """Make all of them, shape (joints, internal cells, groups)."""
        ...


@dataclass(frozen=True)
class Diagnosis:
    """How far the chains of a walk can be trusted (Vehtari et al. 2021).

    Attributes
    ----------
    r_hat : float
        Rank-normalised split R̂; near 1 where the chains agree.
    bulk_ess, tail_ess : float
        Effective draws for the mean and for the tails.
    converged : bool
        Whether R̂ and the effective sizes reached what was asked for.
    """

    r_hat: float
    bulk_ess: float
    tail_ess: float
    converged: bool


@dataclass(frozen=True, eq=False)
class Draws(Shown):
    """Values of a metric, one per joint drawn.

    Attributes
    ----------
    metric : str
    group, reference : str, int, float, bool or None
    method : str
        ``walk``, ``grid`` or ``resample``.
    values : array, shape (chains, n)
        NaN where the metric is 0/0, infinite where it is x/0.
    bounds : Bounds or None
        What the values must lie within.
    exact_mean : float or None
        The mean without sampling, where a formula gives it.
    diagnosis : Diagnosis or None
        Only a walk needs one.
    settings : dict
        How the draws were made, the seed among them.
    joints : JointSet or None
        The joints of a grid, or those at which the chains of a walk ended.

    Examples
    --------
    >>> draws = Draws("disparate_impact", "F", "M", "walk", np.array([[0.5, 0.7, 0.9, 1.1]]))
    >>> round(draws.mean, 2), draws.share_below(0.8), draws.quantile(0.5)
    (0.8, 0.5, 0.7)
    """

    metric: str
    group: Label | None
    reference: Label | None
    method: str
    values: FloatArray
    bounds: Bounds | None = None
    exact_mean: float | None = None
    diagnosis: Diagnosis | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    joints: JointSet | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64, ndmin=2)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return self.values.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Draws):
            return NotImplemented
        return self._plain() == other._plain() and np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> tuple[Any, ...]:
        roles = self.metric, self.group, self.reference, self.method
        return *roles, self.bounds, self.exact_mean, self.diagnosis, self.settings

    @property
    def defined(self) -> FloatArray:
        """Values that are not 0/0, in one row."""
        return self.values[~np.isnan(self.values)]

    @property
    def undefined_share(self) -> float:
        """Part of the draws, in [0, 1], in which the metric is 0/0; the other figures leave them out."""
        return float(np.isnan(self.values).mean()) if self.values.size else 0.0

    @property
    def mean(self) -> float:
        """Mean of the values, infinite where one of them is; NaN where none is defined."""
        return float(self.defined.mean()) if self.defined.size else math.nan

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the values."""
        if not self.defined.size:
            return math.nan
        return float(self.defined.std()) if np.isfinite(self.defined).all() else math.inf

    @property
    def standard_error(self) -> float | None:
        """How far chance may have moved the mean (one standard deviation).

        ``None`` where nothing is random, and where the mean is infinite: that of the draws then says nothing.
        """
        if self.exact_mean is not None and math.isinf(self.exact_mean):
            return None
        effective = None if self.diagnosis is None else self.diagnosis.bulk_ess
        if self.method == "resample":
            effective = float(self.defined.size)
        return self.standard_deviation / math.sqrt(effective) if effective else None

    @property
    def minimum(self) -> float:
        """Least value drawn."""
        return float(self.defined.min()) if self.defined.size else math.nan

    @property
    def maximum(self) -> float:
        """Greatest value drawn."""
        return float(self.defined.max()) if self.defined.size else math.nan

    def quantile(self, level: float) -> float:
        """Return the smallest value that at least this share of the draws does not exceed."""
        if not 0 <= level <= 1:
            raise ProblemError(f"the level of a quantile lies between 0 and 1, not at {level}")
        if not self.defined.size:
            return math.nan
        return float(np.quantile(self.defined, level, method="inverted_cdf"))

    def share_below(self, threshold: float) -> float:
        """Return the part of the draws, in [0, 1], below a threshold."""
        return float((self.defined < threshold).mean()) if self.defined.size else math.nan

    @property
    def reach(self) -> float | None:
        """Part of the width of the bounds, in [0, 1], that the draws span; ``None`` where there is none."""
        width = None if self.bounds is None else self.bounds.width
        if width is None or not 0 < width < math.inf or not self.defined.size:
            return None
        return (self.maximum - self.minimum) / width

    def histogram(self, bins: int = 40) -> tuple[list[int], list[float]]:
        """Return how many finite draws lie in each of some equal intervals, and the edges of these."""
        finite = self.defined[np.isfinite(self.defined)]
        if not finite.size:
            return [], []
        counts, edges = np.histogram(finite, bins)
        return counts.tolist(), edges.tolist()

    def __str__(self) -> str:
        who = "" if self.group is None else f" {self.group}"
        against = "" if self.reference is None else f" / {self.reference}"
        spread = f"mean {in_words(self.mean)}, standard deviation {in_words(self.standard_deviation)}"
        middle = " to ".join(in_words(self.quantile(level)) for level in (0.025, 0.975))
        return f"{self.metric}{who}{against}: {spread}, 95 % of {len(self):,} draws within {middle}"

    def summary(self, threshold: float | None = None) -> dict[str, Any]:
        """Return the distribution as JSON-ready figures, without the draws."""
        counts, edges = self.histogram()
        levels = (0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975)
        return {
            "metric": self.metric,
            "group": self.group,
            "reference": self.reference,
            "method": self.method,
            "draws": len(self),
            "mean": json_number(self.mean),
            "exact_mean": json_number(self.exact_mean),
            "infinite_mean": self.exact_mean == math.inf,
            "standard_error": json_number(self.standard_error),
            "standard_deviation": json_number(self.standard_deviation),
            "minimum": json_number(self.minimum),
            "maximum": json_number(self.maximum),
            "quantiles": {str(level): json_number(self.quantile(level)) for level in levels},
            "threshold": threshold,
            "share_below": None if threshold is None else json_number(self.share_below(threshold)),
            "undefined_share": self.undefined_share,
            "infinite_share": float(np.isinf(self.defined).mean()) if self.defined.size else 0.0,
            "reach": self.reach,
            "bounds": None if self.bounds is None else self.bounds.to_dict(),
            "diagnosis": None if self.diagnosis is None else asdict(self.diagnosis),
            "histogram": {"counts": counts, "edges": edges},
            "settings": self.settings,
        }

    def columns(self) -> Columns:
        """Return one row for each draw."""
        chains, n = self.values.shape
        return {
            "chain": np.repeat(np.arange(chains), n).tolist(),
            "draw": np.tile(np.arange(n), chains).tolist(),
            "value": [None if math.isnan(value) else value for value in self.values.ravel().tolist()],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data; `from_dict` gives an equal object back, but for the joints."""
        return {
            "metric": self.metric,
            "group": self.group,
            "reference": self.reference,
            "method": self.method,
            "values": [[_to_json(value) for value in chain] for chain in self.values.tolist()],
            "bounds": None if self.bounds is None else self.bounds.to_dict(),
            "exact_mean": None if self.exact_mean is None else _to_json(self.exact_mean),
            "diagnosis": None if self.diagnosis is None else asdict(self.diagnosis),
            "settings": self.settings,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Draws:
        """Rebuild from `to_dict`."""
        roles = data["metric"], data["group"], data["reference"]
        return cls(
            *roles,
            data["method"],
            np.array([[float(value) for value in chain] for chain in data["values"]]),
            None if data["bounds"] is None else Bounds.from_dict(data["bounds"], *roles),
            None if data["exact_mean"] is None else float(data["exact_mean"]),
            None if data["diagnosis"] is None else Diagnosis(**data["diagnosis"]),
            dict(data["settings"]),
        )


def _to_json(value: float) -> float | str:
    """JSON has neither infinity nor NaN; their names are read back by ``float``."""
    return value if math.isfinite(value) else str(value)
