"""The grid against a loop over every joint, on whole numbers: entries, their signs and ties are exact in the oracle."""

import math

import numpy as np
import pytest

from fairbounds.kernels.exact_means import exact_means
from fairbounds.kernels.grid import grid_joints, grid_statistics, grid_values

CASES = range(50)
KINDS = ("consistent", "inconsistent", "zeros", "ties", "sizes")
UNIT = float(np.finfo(float).eps)


def kind_of(seed):
    return KINDS[seed % len(KINDS)]


def points_of(seed):
    return 100 if seed < len(KINDS) else (2, 3, 7, 12, 25)[seed // len(KINDS) % 5]


def counts_of(seed):
    """Whole numbers: people per stratum and internal cell, and per stratum and group."""
    rng, kind = np.random.default_rng(seed), kind_of(seed)
    if kind == "inconsistent":  # rows[c] = columns[c].sum() * shares[c] / shares[c].sum(), times a common denominator
        shares, columns = rng.integers(1, 50, (2, 2, 2))
        of_stratum, in_stratum = columns.sum(axis=1), shares.sum(axis=1)
        return shares * (of_stratum * in_stratum[::-1])[:, None], columns * in_stratum.prod()
    if kind == "ties":  # an end of the feasible values is a value of the paper's grid
        last, unit = points_of(seed) - 1, rng.integers(1, 50, (2, 1))
        rest = unit * rng.integers(0, last + 1, (2, 1))
        more = rng.choice([0, 7], (2, 1))
        return np.hstack([unit * last, more + rest]), np.hstack([unit * last + more, rest])
    joint = rng.integers(1, 50, (2, 2, 2))
    if kind == "zeros":
        joint *= rng.random(joint.shape) < 0.6
    if kind == "sizes":
        joint = 10 ** rng.integers(0, 7, joint.shape)
    return joint.sum(axis=2), joint.sum(axis=1)


def value_of(seed):
    rng = np.random.default_rng([seed, 1])
    if seed % 2:
        return rng.random((2, 2))
    return np.array([[1.0, 0.0], [0.0, 1.0]] if seed % 4 else [[1.0, 0.0], [1.0, 0.0]])


def matrices(row, column, points, limits):
    """Every matrix of one stratum, (cell, group), times points − 1."""
    last = points - 1
    low = max(0, row[0] - column[1]) if limits == "tight" else 0
    high = min(row[0], column[0])
    for k in range(points):
        free = low * (last - k) + high * k
        yield [[free, last * row[0] - free], [last * column[0] - free, last * (column[1] - row[0]) + free]]


def brute_force(rows, columns, points, limits):
    """Every joint without a negative entry, (stratum, cell, group), times points − 1."""
    rows, columns, joints = rows.tolist(), columns.tolist(), []
    for one in matrices(rows[0], columns[0], points, limits):
        for two in matrices(rows[1], columns[1], points, limits):
            if min(*one[0], *one[1], *two[0], *two[1]) >= 0:
                joints.append([one, two])
    return joints


def rates(joint, value):
    """P(favourable | group) of both groups."""
    found = []
    for group in (0, 1):
        mass, favourable = 0, 0.0
        for c in (0, 1):
            for cell in (0, 1):
                mass += joint[c][cell][group]
                favourable += value[c][cell] * joint[c][cell][group]
        found.append(favourable / mass if mass else math.nan)
    return found


def quotient(one, two):
    if two == 0:
        return math.inf if one > 0 else math.nan
    return one / two


def summary(numbers):
    """Mean, sd, least and greatest; no mean of infinities is finite."""
    if any(math.isnan(x) for x in numbers):
        return [math.nan] * 4
    if math.inf in numbers:
        return [math.inf, math.inf, min(numbers), max(numbers)]
    mean = math.fsum(numbers) / len(numbers)
    variance = math.fsum((x - mean) ** 2 for x in numbers) / len(numbers)
    return [mean, math.sqrt(variance), min(numbers), max(numbers)]


def expected(joints, value):
    """Return what `GridStatistics` has, in its order."""
    pairs = [rates(joint, value.tolist()) for joint in joints]
    return [
        len(joints),
        *summary([quotient(one, two) for one, two in pairs]),
        *summary([one - two for one, two in pairs]),
    ]


def found(rows, columns, value, points, limits):
    """One scenario's statistics, in the same order."""
    return np.array(grid_statistics(rows[None], columns[None], value[None], points, limits))[:, 0]


def by_hand(rows, columns, value=((1, 0), (1, 0)), points=2, limits="tight"):
    arrays = (np.array([array], dtype=float) for array in (rows, columns, value))
    return {name: array[0] for name, array in grid_statistics(*arrays, points, limits)._asdict().items()}


@pytest.mark.parametrize("limits", ["tight", "paper"])
@pytest.mark.parametrize("seed", CASES)
def test_statistics_as_by_brute_force(seed, limits):
    """A difference of equal rates is rounding: 1e-12 of the rates, which are at most 1."""
    (rows, columns), value, points = counts_of(seed), value_of(seed), points_of(seed)
    wanted = expected(brute_force(rows, columns, points, limits), value)
    for total in (1, rows.sum()):
        np.testing.assert_allclose(
            found(rows / total, columns / total, value, points, limits), wanted, rtol=1e-12, atol=1e-15
        )


@pytest.mark.parametrize("limits", ["tight", "paper"])
@pytest.mark.parametrize("seed", CASES)
def test_joints_as_by_brute_force(seed, limits):
    """Entries are differences of masses: right, and on both tables, to the last digits of the stratum's mass."""
    (rows, columns), points = counts_of(seed), points_of(seed)
    wanted = np.array(brute_force(rows, columns, points, limits), dtype=float) / (points - 1)
    for total in (1, rows.sum()):
        tables = rows / total, columns / total
        joints = np.array(list(grid_joints(*tables, *grid_values(*tables, points, limits))))
        assert joints.shape == wanted.shape
        assert joints.min() >= 0
        mass = np.where(rows.any(axis=1), rows.sum(axis=1), 1)[:, None] / total
        assert np.max(np.abs(joints - wanted / total) / mass[:, None]) < 1e-15
        assert np.max(np.abs(joints.sum(axis=3) - tables[0]) / mass) < 1e-15
        assert np.max(np.abs(joints.sum(axis=2) - tables[1]) / mass) < 1e-15


def test_cases_are_of_every_sort():
    """Of the fifty: some unfiltered and some filtered, some with infinite ratios, some of no width."""
    tables = [counts_of(seed) for seed in CASES]
    kept = [grid_values(*two, points_of(seed), "paper")[1].mean() for seed, two in zip(CASES, tables, strict=True)]
    assert sum(k == 1 for k in kept) > 5
    assert sum(k < 1 for k in kept) > 20
    values = [grid_values(*two, points_of(seed))[0] for seed, two in zip(CASES, tables, strict=True)]
    assert sum(np.any(v[:, 0] == v[:, -1]) for v in values) > 5
    high = [found(*two, value_of(seed), 2, "tight")[4] for seed, two in zip(CASES, tables, strict=True)]
    assert 5 < np.isinf(high).sum() < 25


@pytest.mark.parametrize("limits", ["tight", "paper"])
def test_scenarios_do_not_touch_each_other(limits):
    tables = [counts_of(seed) for seed in CASES]
    rows, columns = (np.array(side, dtype=float) for side in zip(*tables, strict=True))
    value = np.array([value_of(seed) for seed in CASES])
    together = np.array(grid_statistics(rows, columns, value, 9, limits))
    alone = [found(*tables[n], value[n], 9, limits) for n in CASES]
    np.testing.assert_allclose(together.T, alone, rtol=1e-14)


def test_infinite_ratio():
    """Half are favoured and half are in the first group: it has between none and all of them."""
    one = by_hand([[2, 2], [0, 0]], [[2, 2], [0, 0]])
    assert one["feasible"] == 4
    assert [one[f"ratio_{name}"] for name in ("mean", "sd", "low", "high")] == [np.inf, np.inf, 0, np.inf]
    assert [one[f"difference_{name}"] for name in ("mean", "sd", "low", "high")] == [0, 1, -1, 1]


def test_nobody_of_the_second_group_favoured():
    one = by_hand([[2, 0], [0, 3]], [[2, 0], [0, 3]])
    assert [one[f"ratio_{name}"] for name in ("mean", "sd", "low", "high")] == [np.inf] * 4
    assert [one[f"difference_{name}"] for name in ("mean", "sd", "low", "high")] == [1, 0, 1, 1]


def test_nobody_favoured():
    one = by_hand([[0, 4], [1, 2]], [[1, 3], [2, 1]], [[1, 0], [0, 0]])
    assert np.isnan([one[f"ratio_{name}"] for name in ("mean", "sd", "low", "high")]).all()
    assert [one[f"difference_{name}"] for name in ("mean", "sd", "low", "high")] == [0, 0, 0, 0]


@pytest.mark.parametrize("columns", [[[4, 0], [3, 0]], [[0, 4], [0, 3]], [[4, 1e-14], [3, 0]]])
def test_group_without_mass(columns):
    one = by_hand([[1, 3], [1, 2]], columns, [[0.5, 1], [1, 1]], points=3)
    assert one.pop("feasible") == 9
    assert np.isnan(list(one.values())).all()


def test_no_mass_at_all():
    one = by_hand(np.zeros((2, 2)), np.zeros((2, 2)), points=3, limits="paper")
    assert one.pop("feasible") == 9
    assert np.isnan(list(one.values())).all()


def test_less_than_rounding_is_nothing():
    """Half of 1e-14 of the whole is none, half of 1e-11 is some."""
    tables = [[1, 0], [0, 1]], [[1, 0], [0, 1]]
    assert by_hand(*tables, [[1, 0], [0, 1e-14]])["ratio_low"] == np.inf
    assert by_hand(*tables, [[1, 0], [0, 1e-11]])["ratio_low"] == pytest.approx(1e11, rel=1e-12)


def test_two_points_in_the_limits_of_the_paper():
    """0 is not feasible where the first cell is larger than the second group."""
    values, feasible = grid_values(np.array([[3.0, 1], [1, 3]]), np.array([[2.0, 2], [2, 2]]), 2, "paper")
    np.testing.assert_array_equal(values, [[0, 2], [0, 1]])
    np.testing.assert_array_equal(feasible, [[False, True], [True, True]])
    one = by_hand([[3, 1], [1, 3]], [[2, 2], [2, 2]], limits="paper")
    assert one["feasible"] == 2  # the first group has 2 + 0 or 2 + 1 of the 4 favoured, both groups have 4 people
    assert [one[f"difference_{name}"] for name in ("mean", "sd", "low", "high")] == [0.25, 0.25, 0, 0.5]
    assert [one[f"ratio_{name}"] for name in ("mean", "sd", "low", "high")] == [2, 1, 1, 3]


@pytest.mark.parametrize("group", [1e-10, 1e-11, 3e-12])
def test_group_hardly_there(group):
    """Half of a group's values are feasible, however small it is: of 100 those from the 51st on."""
    rows, columns = np.array([[1 - group / 2, group / 2], [0, 0]]), np.array([[group, 1 - group], [0, 0]])
    _, feasible = grid_values(rows, columns, 100, "paper")
    assert feasible[0].tolist() == [False] * 50 + [True] * 50
    one = by_hand(rows, columns, points=100, limits="paper")
    assert one["feasible"] == 50 * 100
    assert one["ratio_mean"] == pytest.approx(np.arange(50, 100).mean() / 99, rel=UNIT / group)
    assert one["ratio_sd"] == pytest.approx(np.arange(50, 100).std() / 99, rel=UNIT / group)


def test_tables_that_differ_by_rounding():
    """The lower end, 1, is the second of four values, also where one table's sums are a little off."""
    columns = np.array([[3.0, 2.0]])
    for off in (-1e-13, 0, 1e-13):
        values, feasible = grid_values(np.array([[3.0, 2.0]]) * (1 + off), columns, 4, "paper")
        assert feasible.tolist() == [[False, True, True, True]]
        joints = np.array(list(grid_joints(np.array([[3.0, 2.0]]) * (1 + off), columns, values, feasible)))
        assert joints.min() >= 0
        np.testing.assert_allclose(joints.sum(axis=2), np.broadcast_to(columns, (3, 1, 2)), rtol=1e-15)


def test_finer_grids_come_to_the_exact_mean():
    """Halving the steps halves the distance to the mean over all joints, which an integral gives."""
    rows, columns = np.array([[3.0, 5], [6, 2]]) / 16, np.array([[4.0, 4], [5, 3]]) / 16
    exact = exact_means(rows, columns)
    coarse, fine, finer = (found(rows, columns, np.array([[1, 0], [1, 0]]), n, "tight")[1] for n in (201, 401, 801))
    assert abs(2 * finer - fine - exact.ratio) < 1e-5
    assert (coarse - fine) / (fine - finer) == pytest.approx(2, rel=0.02)
    assert found(rows, columns, np.array([[1, 0], [1, 0]]), 201, "tight")[5] == pytest.approx(
        exact.difference, rel=1e-12
    )


def test_any_layout_of_memory():
    rows, columns = (np.array([side, side[::-1]], dtype=float) for side in counts_of(0))
    value = np.array([value_of(1), value_of(3)])
    wanted = grid_statistics(rows, columns, value, 5)
    for array in (rows, columns, value):
        array.setflags(write=False)
    turned = grid_statistics(*(np.asfortranarray(array) for array in (rows, columns, value)), 5)
    np.testing.assert_array_equal(turned, wanted)
    np.testing.assert_array_equal(grid_statistics(rows.astype(int), columns.astype(int), value, 5), wanted)


def test_no_scenario():
    nothing = np.zeros((0, 2, 2))
    assert all(array.shape == (0,) for array in grid_statistics(nothing, nothing, nothing))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"rows": np.array([[[1.0, 2], [3, 4]], [[1, 2], [3, 5]]])},
            "in scenario 1, stratum 1 the cells have mass 8.0",
        ),
        ({"rows": np.array([[[4.0, -1], [3, 4]]] * 2)}, "at least 0"),
        ({"columns": np.array([[[np.nan, 1], [3, 4]]] * 2)}, "at least 0"),
        ({"columns": np.array([[[np.inf, 1], [3, 4]]] * 2)}, "at least 0"),
        ({"columns": np.ones((2, 3, 2))}, "one shape"),
        ({"rows": np.ones((2, 3, 2)), "columns": np.ones((2, 3, 2))}, "one shape"),
        ({"value": np.full((2, 2, 2), 1.5)}, "probabilities"),
        ({"value": np.full((2, 2, 2), np.nan)}, "probabilities"),
        ({"value": np.ones((2, 2))}, "probabilities"),
        ({"points": 1}, "at least 2 points"),
        ({"limits": "loose"}, "unknown limits 'loose'"),
    ],
)
def test_refused(change, message):
    tables = np.array([[[1.0, 2], [3, 4]]] * 2)
    given = {"rows": tables, "columns": tables, "value": np.ones((2, 2, 2)), "points": 3, "limits": "tight"} | change
    with pytest.raises(ValueError, match=message):
        grid_statistics(*given.values())


def test_refused_by_values_and_joints():
    rows, columns = np.array([[1.0, 2]]), np.array([[2.0, 1]])
    with pytest.raises(ValueError, match="in stratum 0 the cells have mass 3"):
        grid_values(rows, columns + 0.5, 3)
    with pytest.raises(ValueError, match="one shape"):
        grid_values(rows[0], columns[0], 3)
    values, feasible = grid_values(rows, columns, 3)
    with pytest.raises(ValueError, match="do not fit 1 strata"):
        grid_joints(rows, columns, values, feasible[:, :2])
    with pytest.raises(ValueError, match="do not fit 2 strata"):
        grid_joints(np.vstack([rows, rows]), np.vstack([columns, columns]), values, feasible)
