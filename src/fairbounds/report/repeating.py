"""What repeats an audit: the command and the spec of the command line, or else the call in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["as_toml", "call"]

_EMBEDDED = "embedded data set"
_USUAL: Mapping[str, Any] = {
    "population": "external",
    "threshold": 0.8,
    "tolerance": 0.0,
    "confidence": 0.95,
    "rng": 0,
    "missing": "error",
    "unmatched": "warn",
    "methods": ["independence"],
    "interval_method": "cross_fitted",
    "external_is_census": False,
    "internal_rounding": 0.0,
    "external_rounding": 0.0,
    "draws": 2000,
    "combine_splits": "median",
    "replicate_method": "sdr",
}
_RENAMED = {"combine": "combine_splits"}
_NEEDS_FEATURES = ("latent_class", "feasible_mean")


def call(population: str, provenance: Mapping[str, Any]) -> str:
    """Return the call in Python that makes the same audit; a model or a dataframe has to be put in its place.

    Parameters
    ----------
    population : str
    provenance : mapping
        As of an `Audit`.

    Examples
    --------
    >>> known = {"columns": {"protected": ["sex"], "score": "p"}, "reference": "Male"}
    >>> call("external", known | {"inputs": {"internal": {"source": "loans.csv", "sha256": "ab"}}})
    "fairbounds.audit('loans.csv', external, protected=['sex'], score='p', reference='Male')"
    """
    inputs = provenance.get("inputs") or {}
    sources = [_source(role, inputs.get(role) or {}) for role in ("internal", "external")]
    model = ["predict=model"] if provenance.get("model") else []
    given = [f"{name}={value!r}" for name, value in _arguments(population, provenance) if _said(name, value)]
    return f"fairbounds.audit({', '.join([*sources, *given, *model])})"


def _source(role: str, origin: Mapping[str, Any]) -> str:
    """Return a file's name, or the name of what stands for a table that is no file."""
    is_file = origin.get("sha256") and not str(origin.get("source", "")).startswith(_EMBEDDED)
    return repr(str(origin["source"])) if is_file else role


def _said(name: str, value: Any) -> bool:
    """Whether an argument differs from what it is without being given."""
    return value not in (None, [], {}) and value != _USUAL.get(name)


def _arguments(population: str, known: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    columns, inputs, policy = known.get("columns") or {}, known.get("inputs") or {}, known.get("policy") or {}
    yield from ((name, columns.get(name)) for name in ("protected", "common"))
    outcome = ("label",) if known.get("model") else ("decision", "score", "label")
    yield from ((name, columns.get(name)) for name in outcome)
    yield from ((name, known.get(name)) for name in ("favourable", "positive", "reference"))
    yield "population", population
    yield from ((f"{role}_weight", (inputs.get(role) or {}).get("weight")) for role in ("internal", "external"))
    yield from ((name, known.get(name)) for name in ("recode", "bins", "missing", "unmatched"))
    if known.get("model") or any(name in _NEEDS_FEATURES for name in known.get("methods") or ()):
        yield "features", [*(columns.get("internal_features") or ()), *(columns.get("external_features") or ())]
    yield "metrics", None if known.get("metrics") == "default" else known.get("metrics")
    yield "methods", known.get("methods")
    yield from ((name, policy.get(name)) for name in ("threshold", "tolerance"))
    yield "confidence", known.get("confidence")
    yield from (known.get("drawn") or {}).items()
    yield from _sampling(known)
    yield "rng", known.get("seed")


def _sampling(known: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return how the intervals were asked for."""
    if "intervals" not in known:
        return
    plan = known["intervals"]
    if plan is None:
        yield "interval_method", "none"
        return
    yield "interval_method", plan.get("method")
    yield from ((_RENAMED.get(name, name), value) for name, value in plan.items() if name not in ("level", "method"))


def as_toml(spec: Mapping[str, Any]) -> str:
    """Write a spec of one level, or of tables within it, as TOML.

    Parameters
    ----------
    spec : mapping
        Text, numbers, truth values, lists of them, or mappings of these.

    Examples
    --------
    >>> print(as_toml({"protected": ["sex"], "threshold": 0.8, "bins": {"age": [25, 60]}}))
    protected = ["sex"]
    threshold = 0.8
    <BLANKLINE>
    [bins]
    "age" = [25, 60]
    """
    lines = [f"{key} = {_toml(value)}" for key, value in spec.items() if not isinstance(value, Mapping)]
    for key, table in spec.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{key}]", *(f"{_toml(name)} = {_toml(value)}" for name, value in table.items())]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    """Write a value: JSON's text, numbers and lists are TOML's, but for one character that TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
