"""What a model's fairness metrics can possibly be when the protected attribute is missing from the data.

Two tables go in: internal data without the protected attribute, external data with it. Out come sharp bounds on a
fairness metric, estimates under named assumptions, and a verdict against a threshold. Start with `audit`.

Names are imported on first use (PEP 562), so that ``import fairbounds`` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairbounds import datasets, metrics
    from fairbounds.bounding import bound
    from fairbounds.comparing import compare
    from fairbounds.errors import (
        FairboundsError,
        InfeasibleError,
        MissingDependencyError,
        ProblemError,
        SolverError,
        SourceError,
        TableError,
    )
    from fairbounds.estimation import estimate
    from fairbounds.feasible import free_parameters
    from fairbounds.inference import confidence
    from fairbounds.pipeline import audit, explore, synthesize
    from fairbounds.problem import Problem
    from fairbounds.regions import region
    from fairbounds.report.html import write_html
    from fairbounds.results import (
        Audit,
        Bounds,
        Comparison,
        Draws,
        Estimate,
        Exploration,
        Finding,
        Interval,
        Region,
        Synthesis,
    )
    from fairbounds.sampling import sample
    from fairbounds.sources import read_table
    from fairbounds.tables import Table, Variable
    from fairbounds.verdicts import Gate, Policy

    __version__: str

__all__ = [
    "Audit",
    "Bounds",
    "Comparison",
    "Draws",
    "Estimate",
    "Exploration",
    "FairboundsError",
    "Finding",
    "Gate",
    "InfeasibleError",
    "Interval",
    "MissingDependencyError",
    "Policy",
    "Problem",
    "ProblemError",
    "Region",
    "SolverError",
    "SourceError",
    "Synthesis",
    "Table",
    "TableError",
    "Variable",
    "__version__",
    "audit",
    "bound",
    "compare",
    "confidence",
    "datasets",
    "estimate",
    "explore",
    "free_parameters",
    "metrics",
    "read_table",
    "region",
    "sample",
    "synthesize",
    "write_html",
]

_HOMES = {
    "bounding": ["bound"],
    "comparing": ["compare"],
    "errors": [
        "FairboundsError",
        "InfeasibleError",
        "MissingDependencyError",
        "ProblemError",
        "SolverError",
        "SourceError",
        "TableError",
    ],
    "estimation": ["estimate"],
    "feasible": ["free_parameters"],
    "inference": ["confidence"],
    "pipeline": ["audit", "explore", "synthesize"],
    "problem": ["Problem"],
    "results": [
        "Audit",
        "Bounds",
        "Comparison",
        "Draws",
        "Estimate",
        "Exploration",
        "Finding",
        "Interval",
        "Region",
        "Synthesis",
    ],
    "regions": ["region"],
    "report.html": ["write_html"],
    "sampling": ["sample"],
    "sources": ["read_table"],
    "tables": ["Table", "Variable"],
    "verdicts": ["Gate", "Policy"],
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # a type checker that saw __getattr__ would take every misspelt name for a good one

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for."""
        if name == "__version__":
            value = importlib.import_module("importlib.metadata").version(__name__)
        elif name in _HOME:
            value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        elif name in __all__:
            value = importlib.import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """List the public names."""
        return __all__
