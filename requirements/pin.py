"""Write the pins: `make pins` turns pyproject.toml and requirements/*.in into requirements/*.txt.

Each file pins, by name and version, what it adds to the files before it in `LAYERS`, whose pins it keeps. Run it with
the oldest Python supported: what installs there has wheels for the newer ones too.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PYPROJECT = HERE.parent / "pyproject.toml"
LAYERS = {
    "core": [],
    "build": ["core"],
    "lint": ["core"],
    "test": ["core", "build", "lint"],
    "browser": ["core", "test"],
    "spark": ["core", "test"],
    "bench": ["core", "test"],
}


def wanted(layer: str) -> list[str]:
    """Return the direct requirements of a layer; the core's are the package's own."""
    if layer == "core":
        dependencies: list[str] = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
        return dependencies
    lines = (HERE / f"{layer}.in").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def resolve(requirements: list[str], constraints: dict[str, str]) -> dict[str, str]:
    """Ask pip which versions it would install together, without installing any."""
    known = HERE / ".constraints.txt"
    known.write_text("".join(f"{name}=={version}\n" for name, version in constraints.items()))
    command = ["pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-", "-c", str(known)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", *command, *requirements], check=True, stdout=subprocess.PIPE, text=True
        )
    finally:
        known.unlink()
    found = [entry["metadata"] for entry in json.loads(done.stdout)["install"]]
    return {re.sub(r"[-_.]+", "-", entry["name"]).lower(): entry["version"] for entry in found}


def main() -> None:
    """Resolve the layers in order and write one file for each."""
    pins: dict[str, dict[str, str]] = {}
    for layer, below in LAYERS.items():
        earlier = {name: version for part in below for name, version in pins[part].items()}
        found = resolve(wanted(layer), earlier)
        pins[layer] = {name: found[name] for name in sorted(found) if name not in earlier}
        base = ["-r core.txt"] if "core" in below else []
        lines = ["# Written by `make pins`.", *base, *(f"{name}=={version}" for name, version in pins[layer].items())]
        (HERE / f"{layer}.txt").write_text("\n".join(lines) + "\n")
        print(f"{layer}.txt: {len(pins[layer])} pins")


if __name__ == "__main__":
    main()
