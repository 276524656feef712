"""Two stored audits against each other: what moved, and what may have moved it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairbounds.results import Audit, Cause, CauseKind, Comparison, Finding, Move

__all__ = ["compare"]

_ROUNDING = 1e-9  # another machine may add the same numbers in another order

# What else a part of the provenance can move than everything. A part with these beginnings moves nothing else.
_REACH: Mapping[str, tuple[str, ...]] = {
    "policy.": ("verdict", "threshold", "tolerance", "note"),
    "methods": ("estimates",),
    "metrics": ("finding", "verdict"),
    "confidence": ("interval", "verdict"),
    "intervals": ("interval", "verdict"),
    "seed": ("estimates", "interval", "verdict"),
}
_FINDING = ("bounds", "interval", "estimates", "verdict", "threshold", "tolerance")
_INTERVAL = ("lower", "upper", "level")
_IGNORED = ("repeat",)  # says once more what the rest says
_NO_CAUSE = ("inputs.internal.source", "inputs.external.source")  # another name for the same bytes


def compare(old: Audit, new: Audit) -> Comparison:
    """Say what moved between two audits, and which changes of data, settings or version can have moved it.

    Parameters
    ----------
    old, new : Audit

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import fairbounds as fb
    >>> internal = {"job": ["a", "a", "b"], "ok": [1, 0, 1]}
    >>> external = {"job": ["a", "b", "b"], "sex": ["F", "F", "M"]}
    >>> asked = {"protected": "sex", "decision": "ok", "reference": "M", "interval_method": "none"}
    >>> strict, mild = (fb.audit(internal, external, **asked, threshold=threshold) for threshold in (0.8, 0.7))
    >>> found = compare(strict, mild)
    >>> [(move.what, move.old, move.new, move.why) for move in found.moves]
    [('verdict', 'below', 'above', ('settings',)), ('threshold', 0.8, 0.7, ('settings',))]
    """
    causes = tuple(_causes(old, new))
    return Comparison(causes, tuple(_moves(old, new, causes)))


# -- causes ------------------------------------------------------------------------------------------------------------


def _causes(old: Audit, new: Audit) -> Iterator[Cause]:
    before, after = (_flat({"population": audit.population, **audit.provenance}) for audit in (old, new))
    for what in dict.fromkeys([*before, *after]):
        was, now = before.get(what), after.get(what)
        if was != now and what not in _NO_CAUSE:
            yield Cause(_kind(what), what, was, now)


def _flat(data: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the entries of nested mappings under their keys, joined by dots."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        if not above and key in _IGNORED:
            continue
        if isinstance(value, Mapping) and value:
            found |= _flat(value, f"{above}{key}.")
        else:
            found[f"{above}{key}"] = value
    return found


def _kind(what: str) -> CauseKind:
    if what == "fairbounds":
        return "version"
    return "data" if what.startswith("inputs.") and not what.endswith((".weight", ".missing_policy")) else "settings"


def _why(what: str, causes: tuple[Cause, ...]) -> tuple[CauseKind, ...]:
    part = what.partition(".")[0]
    return tuple(dict.fromkeys(cause.kind for cause in causes if _moves_it(cause.what, part)))


def _moves_it(cause: str, part: str) -> bool:
    reach = next((reach for beginning, reach in _REACH.items() if cause.startswith(beginning)), None)
    return part not in ("threshold", "tolerance") if reach is None else part in reach


# -- moves -------------------------------------------------------------------------------------------------------------


def _moves(old: Audit, new: Audit, causes: tuple[Cause, ...]) -> Iterator[Move]:
    yield from _differences((None, None, None), _overall(old), _overall(new), causes)
    shares = [{entry.group: entry.share for entry in audit.groups} for audit in (old, new)]
    for group in dict.fromkeys([*shares[0], *shares[1]]):
        was, now = ({"share": known[group]} if group in known else {} for known in shares)
        yield from _differences((None, group, None), was, now, causes)
    before, after = ({_key(finding): finding for finding in audit.findings} for audit in (old, new))
    for key in dict.fromkeys([*before, *after]):
        if key in before and key in after:
            yield from _differences(key, _said(before[key]), _said(after[key]), causes)
        else:
            yield from _whole(key, before.get(key), after.get(key), causes)


def _key(finding: Finding) -> tuple[Any, Any, Any]:
    return finding.metric, finding.group, finding.reference


def _overall(audit: Audit) -> dict[str, Any]:
    mismatch = audit.mismatch.to_dict()
    chosen = {name: mismatch[name] for name in ("kl", "total_variation", "p_value")}
    return _flat({"strata": audit.strata.to_dict(), "mismatch": chosen})


def _said(finding: Finding) -> dict[str, Any]:
    """Return what an audit says of a finding: the parts that can move."""
    data = finding.to_dict()
    known = {name: data[name] for name in _FINDING if data[name] is not None}
    known["bounds"] = {end: data["bounds"][end] for end in ("lower", "upper")}
    if data["interval"] is not None:
        known["interval"] = {name: data["interval"][name] for name in _INTERVAL}
    return _flat(known)


def _differences(
    key: tuple[Any, Any, Any], old: Mapping[str, Any], new: Mapping[str, Any], causes: tuple[Cause, ...]
) -> Iterator[Move]:
    for what in dict.fromkeys([*old, *new]):
        was, now = old.get(what), new.get(what)
        if (what in old) != (what in new) or not _alike(was, now):
            yield Move(*key, what, was, now, _why(what, causes))


def _whole(
    key: tuple[Any, Any, Any], old: Finding | None, new: Finding | None, causes: tuple[Cause, ...]
) -> Iterator[Move]:
    """Tell of a finding that only one of the audits has."""
    why = _why("finding", causes)
    yield Move(*key, "finding", _presence(old), _presence(new), why)
    was, now = (None if finding is None else finding.verdict for finding in (old, new))
    if was is not None or now is not None:
        yield Move(*key, "verdict", was, now, why)


def _presence(finding: Finding | None) -> str | None:
    return None if finding is None else str(finding)


def _alike(old: Any, new: Any) -> bool:
    """Whether two values are the same, but for the last digits of a number."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (old, new))
    return bool(abs(old - new) <= _ROUNDING * max(1.0, abs(old))) if numbers else old == new
