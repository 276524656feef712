"""Rounding: short, and never across a limit."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairbounds.report.numbers import count, exact, number, percent, points, side

FINITE = st.floats(-1e9, 1e9, allow_nan=False)


def read(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


@pytest.mark.parametrize(
    ("value", "limits", "text"),
    [
        (0.7999, (0.8,), "0.7999"),
        (0.79999, (0.8,), "0.79999"),
        (0.80004, (0.8,), "0.80004"),
        (0.8, (0.8,), "0.800"),
        (0.24 / 0.30, (0.8,), "0.800"),
        (0.7999, (), "0.800"),
        (-0.00004, (0.0,), "−0.0000400"),
        (-0.04999, (-0.05, 0.05), "−0.04999"),
        (0.99996, (1.0,), "0.99996"),
        (1.0, (0.8,), "1"),
        (0.0, (0.0,), "0"),
        (-0.0, (), "0"),
        (1e-300, (), "0"),
        (12.345, (), "12.3"),
        (1234.5, (), "1,234"),
        (3.2e-8, (), "3.20e−08"),
        (7.123e12, (), "7.12e+12"),
    ],
)
def test_number(value: float, limits: tuple[float, ...], text: str) -> None:
    assert number(value, *limits) == text


@given(FINITE, st.sampled_from([0.8, 0.0, 0.05, -0.05, 1.0, 0.123456]))
def test_no_number_seems_to_lie_on_the_other_side_of_a_limit(value: float, limit: float) -> None:
    assert side(read(number(value, limit)), limit) == side(value, limit)


@given(st.floats(1e-6, 1e-1), st.sampled_from([0.8, 0.05, 1.0]), st.sampled_from([-1, 1]))
def test_nor_does_one_very_near_a_limit(distance: float, limit: float, sign: int) -> None:
    value = limit + sign * distance**2
    assert side(read(number(value, limit)), limit) == side(value, limit)


@given(FINITE, FINITE)
def test_rounding_keeps_the_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert read(number(low, 0.8)) <= read(number(high, 0.8))


@given(FINITE)
def test_a_number_is_close_to_what_it_stands_for(value: float) -> None:
    assume(abs(value) > 1e-9)
    assert math.isclose(read(number(value)), value, rel_tol=6e-3)


def test_percent_is_0_or_100_only_where_exact() -> None:
    assert [percent(share) for share in (0, 1e-9, 0.0005, 0.9994, 0.99951, 1)] == [
        "0%",
        "<0.1%",
        "0.1%",
        "99.9%",
        ">99.9%",
        "100%",
    ]


def test_points_exact_and_count() -> None:
    assert [points(value) for value in (0.5, -0.5, -0.0001)] == ["+50.0", "−50.0", "0.0"]
    assert [exact(value) for value in (0.8, -0.05, -0.0, 0.8125, 0.1 + 0.2)] == ["0.8", "−0.05", "0", "0.8125", "0.3"]
    assert [count(n, "row") for n in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
