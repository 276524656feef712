"""The public names: exactly these, each with a docstring, each loaded only when asked for."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import fairbounds

HOME = {
    "Audit": "results",
    "Bounds": "results",
    "Comparison": "results",
    "Draws": "results",
    "Estimate": "results",
    "Exploration": "results",
    "FairboundsError": "errors",
    "Finding": "results",
    "Gate": "verdicts",
    "InfeasibleError": "errors",
    "Interval": "results",
    "MissingDependencyError": "errors",
    "Policy": "verdicts",
    "Problem": "problem",
    "ProblemError": "errors",
    "Region": "results",
    "SolverError": "errors",
    "SourceError": "errors",
    "Synthesis": "results",
    "Table": "tables",
    "TableError": "errors",
    "Variable": "tables",
    "audit": "pipeline",
    "bound": "bounding",
    "compare": "comparing",
    "confidence": "inference",
    "estimate": "estimation",
    "explore": "pipeline",
    "free_parameters": "feasible",
    "read_table": "sources",
    "region": "regions",
    "sample": "sampling",
    "synthesize": "pipeline",
    "write_html": "report.html",
}
MODULES = {"datasets", "metrics"}


def test_exactly_these_names_are_public() -> None:
    assert sorted(fairbounds.__all__) == sorted([*HOME, *MODULES, "__version__"])
    assert dir(fairbounds) == sorted(fairbounds.__all__)


@pytest.mark.parametrize(("name", "home"), sorted(HOME.items()))
def test_a_name_is_the_object_its_module_documents(name: str, home: str) -> None:
    module = importlib.import_module(f"fairbounds.{home}")
    found = getattr(fairbounds, name)
    assert found is getattr(module, name)
    assert name in module.__all__
    assert found.__doc__
    assert not found.__doc__.startswith(f"{name}("), "that is the signature which dataclass puts for a docstring"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_public_module_is_that_module(name: str) -> None:
    found = getattr(fairbounds, name)
    assert inspect.ismodule(found)
    assert found.__name__ == f"fairbounds.{name}"
    assert found.__doc__


def test_the_version_is_the_installed_one() -> None:
    assert fairbounds.__version__ == importlib.metadata.version("fairbounds")


def test_a_star_import_brings_every_name() -> None:
    space: dict[str, object] = {}
    exec("from fairbounds import *", space)
    assert set(fairbounds.__all__) <= set(space)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="module 'fairbounds' has no attribute 'audits'") as caught:
        fairbounds.audits  # noqa: B018
    assert caught.value.name == "audits"
    assert not hasattr(fairbounds, "numpy")


def test_type_checkers_are_told_the_same_names() -> None:
    """What mypy and editors read is a second list, so it is held to the first."""
    tree = ast.parse(Path(fairbounds.__file__).read_text(encoding="utf-8"))
    [guarded] = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imported = {
        alias.name: (node.module or "").removeprefix("fairbounds").removeprefix(".")
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == {**HOME, **dict.fromkeys(MODULES, "")}


def test_a_name_loads_only_its_own_module() -> None:
    script = "import fairbounds, sys; fairbounds.TableError; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    ours = [name for name in done.stdout.split() if name.startswith("fairbounds")]
    assert ours == ["fairbounds", "fairbounds.errors"]
