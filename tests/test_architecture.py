"""The house of CONTRIBUTING.md: who may import whom, what a start costs, how long a module may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import fairbounds

PACKAGE = Path(fairbounds.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
FRONT_DOOR = PACKAGE / "__init__.py"  # names every room, and loads none
MOST_LINES = 500

# Every room (a module or package right under fairbounds) and the rooms it may see, from the ground up.
CORE = "errors levels origins frames tables"
MATCHED = f"{CORE} kernels results matching mismatch outcomes stratification"
MODEL = f"{MATCHED} metrics problem"
SOLVED = f"{MODEL} extremes attaining questions seeds progress bounding feasible"
ENGINES = f"{SOLVED} joints sampling estimation"
SHELL = f"{ENGINES} inference sensitivity sources datasets spec report plots"
SEES = {
    "errors": "",
    "levels": "errors",
    "origins": "errors",
    "frames": "errors",
    "tables": "errors levels origins",
    "progress": "",
    "joints": "errors levels origins tables",
    "kernels": "errors",
    "metrics": CORE,
    "results": f"{CORE} joints",
    "matching": CORE,
    "mismatch": f"{CORE} results",
    "outcomes": CORE,
    "stratification": f"{CORE} kernels",
    "problem": MATCHED,
    "extremes": MODEL,
    "attaining": f"{MODEL} extremes progress",
    "questions": MODEL,
    "seeds": "errors",
    "bounding": f"{MODEL} extremes attaining questions",
    "feasible": MODEL,
    "regions": f"{MODEL} extremes",
    "openness": f"{MODEL} extremes",
    "sampling": SOLVED,
    "estimation": f"{SOLVED} joints sampling",
    "verdicts": MODEL,
    "wording": MODEL,
    "surveys": CORE,
    "inference": f"{ENGINES} surveys",
    "sensitivity": ENGINES,
    "sources": CORE,
    "datasets": f"{CORE} sources",
    "spec": "errors",
    "report": f"{CORE} results",
    "plots": f"{CORE} results",
    "intake": f"{CORE} sources surveys",
    "surveying": f"{SOLVED} surveys intake sources",
    "combining": f"{SOLVED} surveys surveying intake sources",
    "classifying": f"{SOLVED} surveys surveying intake combining",
    "answering": f"{ENGINES} inference regions openness combining classifying verdicts wording",
    "pipeline": f"{SHELL} surveys verdicts wording intake combining answering",
    "demo": f"{SHELL} pipeline",
    "studies": f"{SHELL} pipeline",
    "drafting": f"{CORE} sources spec",
    "comparing": f"{CORE} results",
    "cli": f"{SHELL} pipeline demo verdicts studies answering drafting comparing",
    "web": f"{SHELL} pipeline studies",
    "__main__": "cli",
}

# Packages that only these rooms may touch: dataframes and files at the edge, numba behind the arrays.
ONLY_IN = {
    "click": "cli",
    "jinja2": "report",
    "rich": "cli report",
    "duckdb": "sources",
    "opendp": "sources",
    "narwhals": "frames sources",
    "numba": "kernels",
}

# A result draws and shows itself: the one module that reaches up, and only from inside its functions.
LATE = {"results/showing.py": {"fairbounds.plots", "fairbounds.report"}}

# What `import fairbounds` and `fairbounds --help` must not load: each costs a tenth of a second or more.
HEAVY = {"altair", "duckdb", "narwhals", "numba", "pandas", "polars", "pyarrow", "scipy.optimize"}


def imported(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Yield the line and full name of every import, at any depth: in a function or for type checkers alike."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base == "fairbounds":
                yield from ((node.lineno, f"fairbounds.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, base


def late_lines(source: str) -> set[int]:
    """Return the lines inside functions, and those for type checkers only."""
    nodes = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def trespasses(source: str, room: str, package: str = "fairbounds", late: Iterable[str] = ()) -> list[str]:
    """Return the imports of a module that its room forbids, as ``line: name``; `late` ones may stand in functions."""
    inside = late_lines(source) if late else set()
    seen = {room, *SEES[room].split()}
    found = []
    for line, name in imported(ast.parse(source), package):
        if line in inside and any(name == allowed or name.startswith(f"{allowed}.") for allowed in late):
            continue
        top, _, rest = name.partition(".")
        own = top == "fairbounds" and rest.split(".")[0] not in {*seen, "__version__"}
        foreign = room not in ONLY_IN.get(top, room).split()
        if own or foreign:
            found.append(f"{line}: {name}")
    return found


def name(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def room_of(module: Path) -> str:
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


@pytest.mark.parametrize("module", [m for m in MODULES if m != FRONT_DOOR], ids=name)
def test_imports_go_down_only(module: Path) -> None:
    room = room_of(module)
    assert room in SEES, f"{room} is new: give it a place in SEES"
    package = ".".join(["fairbounds", *module.relative_to(PACKAGE).parts[:-1]])
    late = LATE.get(name(module), set())
    assert trespasses(module.read_text(encoding="utf-8"), room, package, late) == []


def test_what_may_come_late_may_not_come_at_once() -> None:
    late = {"fairbounds.plots"}
    assert trespasses("def f():\n    from fairbounds.plots.showing import draw", "results", late=late) == []
    assert trespasses("from fairbounds.plots.showing import draw", "results", late=late) != []
    assert trespasses("def f():\n    import fairbounds.pipeline", "results", late=late) != []


def test_the_table_of_rooms_goes_up_without_a_cycle() -> None:
    rooms = list(SEES)
    for place, room in enumerate(rooms):
        assert set(SEES[room].split()) <= set(rooms[:place]), room


@pytest.mark.parametrize(
    ("source", "room", "package"),
    [
        ("import fairbounds.pipeline", "tables", "fairbounds"),
        ("from fairbounds import audit", "bounding", "fairbounds"),
        ("from fairbounds.kernels import rates", "tables", "fairbounds"),
        ("from fairbounds.tables import Table", "kernels", "fairbounds.kernels"),
        ("def f():\n    from fairbounds import problem", "report", "fairbounds.report"),
        ("if TYPE_CHECKING:\n    from fairbounds.problem import Problem", "plots", "fairbounds"),
        ("from . import cli", "problem", "fairbounds"),
        ("from .metrics import Metric", "problem", "fairbounds"),
        ("from ..pipeline import audit", "sources", "fairbounds.sources"),
        ("from .. import pipeline", "sources", "fairbounds.sources"),
        ("import numba", "bounding", "fairbounds"),
        ("from numba.core import types", "bounding", "fairbounds"),
        ("import duckdb", "pipeline", "fairbounds"),
    ],
)
def test_a_forbidden_import_is_found_however_it_is_written(source: str, room: str, package: str) -> None:
    assert len(trespasses(source, room, package)) == 1


@pytest.mark.parametrize(
    ("source", "room", "package"),
    [
        ("from fairbounds.errors import TableError", "tables", "fairbounds"),
        ("from . import rates\nfrom .rates import ends", "kernels", "fairbounds.kernels"),
        ("from ..tables import Table", "sources", "fairbounds.sources"),
        ("import numpy, scipy.optimize, fairbounds_other", "bounding", "fairbounds"),
        ("from fairbounds import __version__, metrics", "pipeline", "fairbounds"),
    ],
)
def test_an_allowed_import_is_let_through(source: str, room: str, package: str) -> None:
    assert trespasses(source, room, package) == []


def loaded(script: str) -> set[str]:
    """Run a script in a fresh interpreter and return the heavy packages that it loaded."""
    script += "\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return HEAVY.intersection(done.stdout.splitlines()[-1].split())


def test_importing_fairbounds_loads_nothing_heavy() -> None:
    assert loaded("import fairbounds") == set()


HELP = """
from fairbounds.cli import main
try:
    main(["--help"])
except SystemExit as done:
    assert not done.code
"""


def test_the_help_loads_nothing_heavy() -> None:
    assert loaded(HELP) == set()


def test_a_heavy_import_would_be_seen() -> None:
    assert loaded("import scipy.optimize, narwhals") == {"scipy.optimize", "narwhals"}


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_no_module_is_long(module: Path) -> None:
    lines = len(module.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{lines} lines: split it"
