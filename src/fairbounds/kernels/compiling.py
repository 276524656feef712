"""How kernels are compiled: once per machine where a cache can be written, once per process elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit

__all__ = ["compiled"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays with numba.

    Fast-math is on for all but infinities: sums may be reordered, which lets inner loops use vector instructions. A
    kernel takes those that it calls into itself: else a process that compiles them links other machine code, with sums
    in another order, than one that finds them in the cache, and the same seed gives other digits.
    """
    options: dict[str, Any] = {
        "fastmath": {"nnan", "nsz", "contract", "reassoc", "arcp"},
        "error_model": "numpy",
        "forceinline": True,
    }
    try:
        return cast("Callable[P, R]", njit(cache=True, **options)(function))
    except RuntimeError:  # numba finds no place to write its cache, e.g. a read-only container
        return cast("Callable[P, R]", njit(**options)(function))
