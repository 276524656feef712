"""The exact command, or the call, that repeats an audit, read off its provenance."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["call", "command"]

_EMBEDDED = "embedded data set"
_COLUMNS = (("protected", "--protected"), ("common", "--common"))
_USUAL_NUMBERS = {"threshold": 0.8, "tolerance": 0.0, "confidence": 0.95, "seed": 0}
_DEFAULTS = {"population": "external", "missing": "error", "unmatched": "warn"}


def command(population: str, provenance: Mapping[str, Any]) -> str | None:
    """Return the command line, ``None`` for tables that are no files.

    Parameters
    ----------
    population : str
    provenance : mapping
        As of an `Audit`.

    Examples
    --------
    >>> names = {"internal": "our loans.csv", "external": "b.csv"}
    >>> inputs = {role: {"source": name, "sha256": "ab"} for role, name in names.items()}
    >>> command("external", {"inputs": inputs, "columns": {"protected": ["sex"], "decision": "ok"}})
    "fairbounds audit 'our loans.csv' b.csv --protected sex --decision ok"
    """
    inputs = provenance.get("inputs") or {}
    origins = [inputs.get(role) or {} for role in ("internal", "external")]
    if not all(_is_file(origin) for origin in origins):
        return None
    words = ["fairbounds", "audit", *(str(origin["source"]) for origin in origins)]
    words += [str(word) for pair in _options(population, provenance) for word in pair]
    return " ".join(shlex.quote(word) for word in words)


def _is_file(origin: Mapping[str, Any]) -> bool:
    return bool(origin.get("sha256")) and not str(origin.get("source", "")).startswith(_EMBEDDED)


def _options(population: str, provenance: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
    columns, inputs = provenance.get("columns") or {}, provenance.get("inputs") or {}
    for key, flag in _COLUMNS:
        yield from ((flag, name) for name in columns.get(key) or ())
    for key in ("decision", "score", "label"):
        if columns.get(key) is not None:
            yield f"--{key}", columns[key]
    for key in ("favourable", "reference"):
        if provenance.get(key) is not None:
            yield f"--{key}", provenance[key]
    for role in ("internal", "external"):
        if (inputs.get(role) or {}).get("weight") is not None:
            yield f"--{role}-weight", inputs[role]["weight"]
    yield from _settings({"population": population, **provenance})


def _settings(known: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
    yield from ((f"--{key}", known[key]) for key, usual in _DEFAULTS.items() if known.get(key, usual) != usual)
    yield from (("--recode", f"{name}={name}-map.csv") for name in known.get("recode") or ())
    for name, edges in (known.get("bins") or {}).items():
        yield "--bin", f"{name}={','.join(f'{edge:.15g}' for edge in edges)}"
    metrics = known.get("metrics") or "default"
    yield from (("--metric", name) for name in (() if metrics == "default" else metrics))
    yield from (("--method", name) for name in known.get("methods") or ())
    numbers = {**(known.get("policy") or {}), "confidence": known.get("confidence"), "seed": known.get("seed")}
    for key, usual in _USUAL_NUMBERS.items():
        if numbers.get(key) not in (None, usual):
            yield f"--{key}", f"{numbers[key]:.15g}"


def call(population: str, provenance: Mapping[str, Any]) -> str:
    """Return the Python call, for tables that are no files.

    Parameters
    ----------
    population : str
    provenance : mapping
        As of an `Audit`.

    Examples
    --------
    >>> call("external", {"columns": {"protected": ["sex"], "score": "p"}, "reference": "Male"})
    "fairbounds.audit(internal, external, protected='sex', score='p', reference='Male')"
    """
    several: dict[str, list[object]] = {}
    for flag, given in _options(population, provenance):
        several.setdefault(str(flag).removeprefix("--").replace("-", "_"), []).append(given)
    words = {_PLURALS.get(name, name): found[0] if len(found) == 1 else found for name, found in several.items()}
    policy = provenance.get("policy") or {}
    maps: dict[str, object] = {name: provenance[name] for name in ("recode", "bins") if provenance.get(name)}
    words |= maps
    numbers = {**policy, "confidence": provenance.get("confidence"), "rng": provenance.get("seed")}
    words |= {name: number for name, number in numbers.items() if name in words}
    given = ", ".join(f"{name}={content!r}" for name, content in words.items())
    return f"fairbounds.audit(internal, external, {given})" if given else "fairbounds.audit(internal, external)"


_PLURALS = {"bin": "bins", "metric": "metrics", "method": "methods", "seed": "rng"}
