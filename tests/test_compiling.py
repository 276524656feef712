"""Compiled kernels: the process that compiles them computes what all later ones compute, to the last bit."""

import os
import subprocess
import sys

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("sklearn")

# EM over some hundred steps makes a difference of one bit plain to see.
CODE = """
from fairbounds.studies.structural import structural
study = structural(splits=1, bootstraps=20, classes=(8,), depths=(5,), names=["compas"])
print([result.estimated for result in study.results])
"""


def test_a_kernel_from_the_cache_gives_the_same_bits_as_one_just_compiled(tmp_path):
    said = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        ).stdout
        for _ in range(2)
    ]
    assert list(tmp_path.rglob("*.nbc")) != []
    assert said[0] == said[1] != ""
