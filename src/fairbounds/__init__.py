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
    from fairbounds.pipeline import audit
    from fairbounds.problem import Problem
    from fairbounds.report.html import write_html
    from fairbounds.results import Audit, Bounds, Estimate, Finding
    from fairbounds.sources import read_table
    from fairbounds.tables import Table, Variable

    __version__: str

__all__ = [
    "Audit",
    "Bounds",
    "Estimate",
    "FairboundsError",
    "Finding",
    "InfeasibleError",
    "MissingDependencyError",
    "Problem",
    "ProblemError",
    "SolverError",
    "SourceError",
    "Table",
    "TableError",
    "Variable",
    "__version__",
    "audit",
    "bound",
    "datasets",
    "estimate",
    "metrics",
    "read_table",
    "write_html",
]

_HOMES = {
    "bounding": ["bound"],
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
    "pipeline": ["audit"],
    "problem": ["Problem"],
    "results": ["Audit", "Bounds", "Estimate", "Finding"],
    "report.html": ["write_html"],
    "sources": ["read_table"],
    "tables": ["Table", "Variable"],
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
