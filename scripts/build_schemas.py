"""Write docs/schemas/*.json, the JSON schemas (draft 2020-12) of the spec and of what the commands print.

Keys and words come from the code where it has them: the flags, the names of metrics, the verdicts. Run it when one of
them changes; the tests compare.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from fairbounds import metrics
from fairbounds.cli.commands import app
from fairbounds.cli.specs import keys_of
from fairbounds.origins import Disclosure, Missing, Origin
from fairbounds.results import CauseKind, Defined, Verdict
from fairbounds.spec import schema
from fairbounds.verdicts import Shown

HERE = Path(__file__).resolve().parent.parent / "docs" / "schemas"
Json = dict[str, Any]

NUMBER: Json = {"type": "number"}
TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer", "minimum": 0}
YES_NO: Json = {"type": "boolean"}
PART: Json = {"type": "number", "minimum": 0, "maximum": 1}
TEXTS: Json = {"type": "array", "items": TEXT}
ANYTHING: Json = {"type": "object"}


def maybe(shape: Json) -> Json:
    """Allow null."""
    if "type" in shape and isinstance(shape["type"], str) and "enum" not in shape:
        return {**shape, "type": [shape["type"], "null"]}
    return {"anyOf": [shape, {"type": "null"}]}


def record(properties: Json, *, optional: tuple[str, ...] = (), **more: Any) -> Json:
    """Return the schema of an object; further keys may come with later versions."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, **more}


def ref(name: str) -> Json:
    """Point to a definition."""
    return {"$ref": f"#/$defs/{name}"}


def listing(shape: Json) -> Json:
    """Return the schema of a list."""
    return {"type": "array", "items": shape}


SHAPES: Json = {
    "str": TEXT,
    "int": WHOLE,
    "float": NUMBER,
    "bool": YES_NO,
    "str | None": maybe(TEXT),
    "int | None": maybe(WHOLE),
    "float | None": maybe(NUMBER),
    "tuple[Missing, ...]": listing(ref("missing")),
    "Disclosure | None": maybe(ref("disclosure")),
}


PATTERNS: Json = {"sha256": {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}}


def described(kind: type, said: str) -> Json:
    """Return the schema of a record of the code; a field of a type not listed above may hold anything."""
    shapes = {field.name: PATTERNS.get(field.name, SHAPES.get(str(field.type), {})) for field in fields(kind)}
    return record(shapes, description=said)


END = {**maybe(NUMBER), "description": "null is unbounded"}
LEVEL: Json = {"type": ["string", "number", "boolean"]}
NO_LEVEL: Json = {"type": [*LEVEL["type"], "null"]}
WHO: Json = {"group": NO_LEVEL, "reference": NO_LEVEL}
METRIC: Json = {"enum": sorted(metrics.CATALOGUE)}

DEFINITIONS: Json = {
    "bounds": record(
        {"lower": END, "upper": END, "method": TEXT, "sharp": YES_NO, "defined": {"enum": list(get_args(Defined))}},
        description="What the two tables allow. Where the metric is never defined, both ends are null.",
    ),
    "interval": record(
        {
            "lower": END,
            "upper": END,
            "level": PART,
            "set": record({"lower": END, "upper": END}, description="Holds every value that the metric can have."),
            "method": TEXT,
            "note": TEXT,
            "details": ANYTHING,
        },
        description="The bounds widened for sampling error; holds the metric with probability level or more.",
    ),
    "estimate": record(
        {
            "method": TEXT,
            "value": maybe(NUMBER),
            "infinite": YES_NO,
            "margin_preserving": YES_NO,
            "note": TEXT,
            "details": ANYTHING,
        }
    ),
    "finding": record(
        {
            "metric": METRIC,
            **WHO,
            "bounds": ref("bounds"),
            "interval": maybe(ref("interval")),
            "estimates": {"type": "object", "additionalProperties": maybe(NUMBER)},
            "estimate_details": {"type": "object", "additionalProperties": ref("estimate")},
            "verdict": {"enum": [*get_args(Verdict), None]},
            "threshold": maybe(NUMBER),
            "tolerance": NUMBER,
            "note": TEXT,
        }
    ),
    "origin": described(Origin, "Where a table came from. sha256 is that of the file's bytes."),
    "missing": described(Missing, "A column with missing values; share is their part of the weight."),
    "disclosure": described(
        Disclosure,
        "How counts were altered before they were handed over, as their file declares; see docs/tabulate.md.",
    ),
    "gate": record(
        {
            "result": {"enum": list(get_args(Shown))},
            "undetermined_counts_as": {"enum": ["pass", "fail", None]},
            "exit_code": {"enum": [0, 1, 3]},
            "judged": TEXTS,
            "not_judged": TEXTS,
            "checks": listing(record({"metric": METRIC, **WHO, "shown": {"enum": list(get_args(Shown))}, "why": TEXT})),
        }
    ),
}

PROVENANCE = record(
    {
        "fairbounds": TEXT,
        "inputs": record({"internal": maybe(ref("origin")), "external": maybe(ref("origin"))}),
        "columns": ANYTHING,
        "favourable": NO_LEVEL,
        "reference": LEVEL,
        "recode": {"type": "object", "additionalProperties": ANYTHING},
        "bins": {"type": "object", "additionalProperties": listing(NUMBER)},
        "missing": {"enum": ["error", "drop", "level"]},
        "unmatched": {"enum": ["warn", "error"]},
        "policy": record({"threshold": NUMBER, "tolerance": NUMBER}),
        "metrics": {"anyOf": [{"const": "default"}, listing(METRIC)]},
        "methods": TEXTS,
        "confidence": PART,
        "intervals": maybe(ANYTHING),
        "seed": WHOLE,
        "repeat": record({"command": TEXT, "spec": {"$ref": "urn:fairbounds:spec:1"}}),
    },
    optional=("repeat",),
    additionalProperties=True,
    description="What is needed to do it again. repeat is there where the command line made the audit.",
)

AUDIT = record(
    {
        "schema": {"const": "fairbounds/audit/1"},
        "population": {"enum": ["external", "internal"]},
        "strata": record({"n": WHOLE, "internal_only_mass": PART, "external_only_mass": PART}),
        "mismatch": record(
            {
                "kl": {**maybe(NUMBER), "description": "null is infinite"},
                "total_variation": PART,
                "g_statistic": maybe(NUMBER),
                "degrees_of_freedom": maybe(WHOLE),
                "p_value": maybe(PART),
                "worst": listing(record({"stratum": TEXT, "internal": PART, "external": PART})),
            }
        ),
        "groups": listing(record({"group": LEVEL, "share": PART, "selection_rate": ref("bounds")})),
        "findings": listing(ref("finding")),
        "assumptions": TEXTS,
        "warnings": TEXTS,
        "provenance": PROVENANCE,
        "classifications": {**listing(ANYTHING), "description": "The categories of each protected column."},
        "widths": {**listing(ANYTHING), "description": "The strata that leave most open."},
        "regions": {**listing(ANYTHING), "description": "The pairs of selection rates that two groups can have."},
        "gate": ref("gate"),
    },
    optional=("classifications", "widths", "regions", "gate"),
)

EXPLORE = record(
    {
        "schema": {"const": "fairbounds/explore/1"},
        "audit": {"$ref": "urn:fairbounds:audit:1"},
        "distributions": listing(
            record(
                {
                    "metric": METRIC,
                    **WHO,
                    "method": {"enum": ["walk", "grid"]},
                    "draws": WHOLE,
                    "mean": maybe(NUMBER),
                    "exact_mean": maybe(NUMBER),
                    "infinite_mean": YES_NO,
                    "standard_error": maybe(NUMBER),
                    "standard_deviation": maybe(NUMBER),
                    "minimum": maybe(NUMBER),
                    "maximum": maybe(NUMBER),
                    "quantiles": {"type": "object", "additionalProperties": maybe(NUMBER)},
                    "threshold": maybe(NUMBER),
                    "share_below": maybe(PART),
                    "undefined_share": PART,
                    "infinite_share": PART,
                    "reach": maybe(NUMBER),
                    "bounds": maybe(ref("bounds")),
                    "diagnosis": maybe(ANYTHING),
                    "histogram": record({"counts": listing(WHOLE), "edges": listing(NUMBER)}),
                    "settings": ANYTHING,
                }
            )
        ),
    }
)

KIND: Json = {"enum": list(get_args(CauseKind))}
PLAIN: Json = {"type": ["string", "number", "boolean", "null"]}
COMPARE = record(
    {
        "schema": {"const": "fairbounds/compare/1"},
        "same": YES_NO,
        "verdicts_changed": WHOLE,
        "causes": listing(record({"kind": KIND, "what": TEXT, "old": {}, "new": {}})),
        "moves": listing(
            record(
                {"metric": maybe(METRIC), **WHO, "what": TEXT, "old": PLAIN, "new": PLAIN, "why": listing(KIND)},
            )
        ),
    }
)


def document(title: str, shape: Json, *definitions: str) -> Json:
    """Return a schema as a document of its own."""
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:" + shape["properties"]["schema"]["const"].replace("/", ":"),
        "title": title,
        **shape,
    }
    return {**whole, "$defs": {name: DEFINITIONS[name] for name in definitions}} if definitions else whole


def schemas() -> dict[str, Json]:
    """Return every schema by the name of its file."""
    return {
        "spec.json": schema(keys_of(app.commands["audit"])),
        "audit.json": document("What fairbounds audit --format json prints", AUDIT, *DEFINITIONS),
        "explore.json": document("What fairbounds explore --format json prints", EXPLORE, "bounds"),
        "compare.json": document("What fairbounds compare --format json prints", COMPARE),
    }


def text(shape: Json) -> str:
    """Return a schema as its file has it."""
    return json.dumps(shape, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    HERE.mkdir(parents=True, exist_ok=True)
    for name, shape in schemas().items():
        (HERE / name).write_text(text(shape), encoding="utf-8")
