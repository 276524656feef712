"""Tables against dictionaries of cells: every operation by brute force, no mass lost, nothing changed in place."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairbounds.errors import TableError
from fairbounds.origins import Missing, Origin
from fairbounds.tables import Table, Variable, distinct_rows

shrinking = settings(max_examples=60, deadline=None, derandomize=True, database=None)

LEVELS: list[list[Any]] = [
    ["a", "b", "c", "Ünïcode ×", ""],
    [3, 1, 2, -7],
    [0.5, 0.25, 1e-9],
    [True, False],
    [dt.date(2020, 2, 29), dt.date(2019, 1, 1)],
    [dt.datetime(2020, 2, 29, 12, 30), dt.datetime(2019, 1, 1)],
    [Decimal("1.10"), Decimal("2")],
    ["x", None],
    [1, 2, None],
]
Cells = dict[tuple[Any, ...], float]


@st.composite
def rows(draw: Any, most: int = 12) -> tuple[dict[str, list[Any]], list[float]]:
    """Columns of one type each, with repeated rows and weights of zero, but never zero alone."""
    kinds = draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=4))
    n = draw(st.integers(1, most))
    columns = {f"v{at}": draw(st.lists(st.sampled_from(kind), min_size=n, max_size=n)) for at, kind in enumerate(kinds)}
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.125, 7.5]), min_size=n, max_size=n))
    return columns, [*weights[:-1], weights[-1] + 1.0]


tables = rows().map(lambda made: Table.from_columns(*made))


def cells_of(table: Table) -> Cells:
    return dict(table.cells())


def summed(cells: Any) -> Cells:
    total: dict[tuple[Any, ...], float] = defaultdict(float)
    for key, weight in cells:
        total[key] += weight
    return {key: weight for key, weight in total.items() if weight > 0}


def jobs() -> Table:
    return Table.from_columns(
        {"job": ["clerk", "clerk", "cook", "cook"], "sex": ["F", "M", "F", "F"], "age": [19, 25, 60, 71]},
        [1.0, 2.0, 3.0, 4.0],
    )


# -- building ----------------------------------------------------------------------------------------------------------


@shrinking
@given(rows())
def test_rows_are_added_up_and_every_level_is_kept(made: Any) -> None:
    columns, weights = made
    table = Table.from_columns(columns, weights)
    assert cells_of(table) == summed(zip(zip(*columns.values(), strict=True), weights, strict=True))
    assert table.total == pytest.approx(sum(weights))
    assert all(set(table[name].levels) == set(values) for name, values in columns.items())
    assert all(variable.levels[-1] is None for variable in table.variables if None in variable.levels)


@shrinking
@given(rows(), st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(made: Any, random: Any) -> None:
    columns, weights = made
    order = list(range(len(weights)))
    random.shuffle(order)
    shuffled = {name: [values[at] for at in order] for name, values in columns.items()}
    assert Table.from_columns(shuffled, [weights[at] for at in order]) == Table.from_columns(columns, weights)


def test_rows_count_once_without_weights() -> None:
    assert cells_of(Table.from_columns({"a": ["x", "y", "x"]})) == {("x",): 2.0, ("y",): 1.0}


def test_arrays_lists_and_missing_values_are_the_same_data() -> None:
    lists = Table.from_columns({"a": [1.5, None, 2.0, float("nan")]})
    arrays = Table.from_columns({"a": np.array([1.5, np.nan, 2.0, np.nan])})
    objects = Table.from_columns({"a": np.array([1.5, None, 2.0, None], dtype=object)})
    assert lists == arrays == objects
    assert lists["a"].levels == (1.5, 2.0, None)
    assert all(type(level) is float for level in lists["a"].levels[:2])


def test_levels_are_plain_python_values() -> None:
    table = Table.from_columns(
        {
            "i": np.array([2, 1], np.int8),
            "b": np.array([True, False]),
            "s": np.array(["x", "y"]),
            "f": [np.float32(0.5)] * 2,
        }
    )
    assert [type(variable.levels[0]) for variable in table.variables] == [int, bool, str, float]


def test_levels_of_mixed_types_are_allowed_and_kept_apart() -> None:
    assert cells_of(Table.from_columns({"a": ["1", 1, "1"]})) == {("1",): 2.0, (1,): 1.0}


def test_every_cell_of_a_table_of_many_variables_is_kept() -> None:
    """More combinations than a 64-bit number has: 30 variables of 10 levels."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10, (50, 30))
    codes[25:] = codes[:25]
    codes[:10] = np.arange(10)[:, None]
    codes[30:40] = codes[:10]
    table = Table.from_columns({f"v{at}": codes[:, at] for at in range(30)})
    assert cells_of(table) == {key: float(n) for key, n in Counter(map(tuple, codes.tolist())).items()}
    assert table.marginal(["v3", "v1"]).total == 50.0


@pytest.mark.parametrize("sizes", [(4, 5, 3), (2**31, 2**31, 2**31)])
def test_distinct_rows_are_sorted_and_found_again(sizes: tuple[int, ...]) -> None:
    codes = np.random.default_rng(1).integers(0, 3, (40, 3))
    distinct, position = distinct_rows(codes, sizes)
    assert [tuple(row) for row in distinct.tolist()] == sorted(set(map(tuple, codes.tolist())))
    np.testing.assert_array_equal(distinct[position], codes)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_a_table_says_what_it_is() -> None:
    table = jobs()
    assert (table.names, table.sizes, table.n_cells, table.total) == (("job", "sex", "age"), (2, 2, 4), 4, 10.0)
    assert repr(table) == "Table(job: 2, sex: 2, age: 4; 4 cells, total 10)"
    assert (table["sex"].code("M"), table.axis("age"), table.column("sex").tolist()) == (1, 2, [0, 1, 0, 0])
    columns, weights = table.to_columns()
    assert Table.from_columns(columns, weights) == table


def test_a_level_can_be_named_as_it_prints() -> None:
    assert Variable("n", (1, 2, None)).code("2") == 1
    assert Variable("n", (1, "1")).code("1") == 1
    assert Variable("n", (1, 2, None)).code(None) == 2


# -- the operations ----------------------------------------------------------------------------------------------------


@shrinking
@given(tables, st.randoms(use_true_random=False))
def test_a_marginal_adds_up_over_the_rest(table: Table, random: Any) -> None:
    names = random.sample(table.names, random.randint(0, len(table.names)))
    axes = [table.names.index(name) for name in names]
    found = table.marginal(names)
    assert found.names == tuple(names)
    wanted = summed((tuple(key[axis] for axis in axes), weight) for key, weight in table.cells())
    assert cells_of(found) == pytest.approx(wanted)
    assert found.total == pytest.approx(table.total)


@shrinking
@given(tables, st.randoms(use_true_random=False))
def test_conditionals_sum_to_1_in_every_combination_and_keep_proportions(table: Table, random: Any) -> None:
    given_ = random.sample(table.names, random.randint(0, len(table.names)))
    axes = [table.names.index(name) for name in given_]
    totals = summed((tuple(key[axis] for axis in axes), weight) for key, weight in table.cells())
    for key, weight in table.conditional(given_).cells():
        assert weight == pytest.approx(cells_of(table)[key] / totals[tuple(key[axis] for axis in axes)])


@shrinking
@given(tables, st.randoms(use_true_random=False))
def test_recoding_merges_levels_and_loses_nothing(table: Table, random: Any) -> None:
    name = random.choice(table.names)
    mapping = {level: random.choice(["new", "other", level]) for level in table[name].levels if random.random() < 0.6}
    axis, found = table.axis(name), table.recode(name, mapping)
    wanted = summed(
        ((*key[:axis], mapping.get(key[axis], key[axis]), *key[axis + 1 :]), weight) for key, weight in table.cells()
    )
    assert cells_of(found) == pytest.approx(wanted)
    assert set(found[name].levels) == {mapping.get(level, level) for level in table[name].levels}
    assert found.total == pytest.approx(table.total)


@pytest.mark.parametrize(
    ("age", "interval"), [(-5, "<25"), (24, "<25"), (25, "25 to <60"), (59.9, "25 to <60"), (60, ">=60")]
)
def test_intervals_are_closed_on_the_left(age: float, interval: str) -> None:
    assert cells_of(Table.from_columns({"age": [age]}).bin("age", [25, 60])) == {(interval,): 1.0}


def test_binning_orders_the_intervals_keeps_the_missing_and_reads_numbers_in_text() -> None:
    table = Table.from_columns({"age": ["71", "9", None, "30"]}, [1, 2, 3, 4]).bin(
        "age", [25, 60], ["young", "mid", "old"]
    )
    assert table["age"].levels == ("young", "mid", "old", None)
    assert cells_of(table) == {("young",): 2.0, ("mid",): 4.0, ("old",): 1.0, (None,): 3.0}
    assert Table.from_columns({"age": [70, 20]}).bin("age", [25, 60])["age"].levels == ("<25", ">=60")


@shrinking
@given(st.lists(st.integers(-5, 30), min_size=1, max_size=20), st.lists(st.integers(0, 25), min_size=1, unique=True))
def test_binning_loses_nothing(ages: list[int], edges: list[int]) -> None:
    found = Table.from_columns({"age": ages}).bin("age", sorted(edges))
    by_hand = Counter(sum(edge <= age for edge in edges) for age in ages)
    assert sorted(weight for _, weight in found.cells()) == sorted(by_hand.values())


@shrinking
@given(rows(), rows())
def test_aligning_gives_both_tables_all_levels_and_changes_no_cell(one: Any, other: Any) -> None:
    left, right = Table.from_columns(*one), Table.from_columns(*other)
    names = [name for name in left.names if name in right.names]
    ours, theirs = left.align(right, names)
    assert cells_of(ours) == cells_of(left)
    assert cells_of(theirs) == cells_of(right)
    for name in names:
        assert ours[name].levels == theirs[name].levels
        assert ours[name].levels[: len(left[name])] == left[name].levels
        assert set(ours[name].levels) == {*left[name].levels, *right[name].levels}
    assert all(ours[name] == left[name] for name in left.names if name not in names)


def test_a_product_has_a_readable_level_for_every_observed_combination() -> None:
    table = Table.from_columns({"sex": ["F", "F", "M"], "n": [1, 2, 3], "race": ["b", "w", "w"]}, [1, 2, 4])
    found = table.product(["sex", "race"])
    assert found.names == ("sex × race", "n")
    assert cells_of(found) == {("F × b", 1): 1.0, ("F × w", 2): 2.0, ("M × w", 3): 4.0}
    assert found["sex × race"].levels == ("F × b", "F × w", "M × w")
    assert table.product(["n", "sex"], "who").names == ("who", "race")


@shrinking
@given(tables, st.randoms(use_true_random=False))
def test_products_are_unique_per_combination_and_lose_nothing(table: Table, random: Any) -> None:
    names = random.sample(table.names, random.randint(1, len(table.names)))
    found = table.product(names, "all of them")
    assert found.n_cells == table.n_cells
    assert found.total == table.total
    combined = found["all of them"].levels
    seen = {tuple(key[table.axis(name)] for name in names) for key, _ in table.cells()}
    assert len(combined) == len(set(combined)) == len(seen)
    by_weight = sorted(weight for _, weight in found.marginal(["all of them"]).cells())
    assert by_weight == pytest.approx(sorted(weight for _, weight in table.marginal(names).cells()))


def test_a_product_of_one_variable_is_that_variable() -> None:
    assert jobs().product(["sex"]) == jobs()


@shrinking
@given(tables, st.randoms(use_true_random=False))
def test_reordering_and_renaming_change_names_alone(table: Table, random: Any) -> None:
    names = random.sample(table.names, len(table.names))
    assert table.reorder(names).reorder(table.names) == table
    assert cells_of(table.reorder(names)) == {
        tuple(key[table.axis(name)] for name in names): weight for key, weight in table.cells()
    }
    renamed = table.rename({table.names[0]: "new"})
    assert renamed.names == ("new", *table.names[1:])
    assert cells_of(renamed) == cells_of(table)


def test_a_variable_can_be_added_as_a_function_of_the_cell() -> None:
    found = jobs().with_variable("score", [0.5, 0.25, 0.5, 1.0])
    assert found.names == ("job", "sex", "age", "score")
    assert [key[-1] for key, _ in found.cells()] == [0.5, 0.25, 0.5, 1.0]
    assert found.total == jobs().total


# -- equality, immutability, storage -----------------------------------------------------------------------------------


def test_tables_are_equal_by_value() -> None:
    assert jobs() == jobs()
    assert jobs() != jobs().rename({"job": "occupation"})
    assert jobs() != jobs().conditional([])
    assert Table.from_columns({"a": ["x"]}) != Table.from_columns({"a": ["x"]}, origin=Origin("file", 1))
    assert jobs() != "a table"
    with pytest.raises(TypeError):
        hash(jobs())


def test_arrays_are_copied_and_cannot_be_written() -> None:
    codes, weights = np.array([[0], [1]]), np.array([1.0, 2.0])
    table = Table((Variable("a", ("x", "y")),), codes, weights)
    codes[0, 0], weights[0] = 1, 9.0
    assert cells_of(table) == {("x",): 1.0, ("y",): 2.0}
    for made in (table, table.marginal(["a"]), jobs().product(["job", "sex"]), jobs().align(jobs(), ["job"])[0]):
        with pytest.raises(ValueError, match="read-only"):
            made.weights[0] = 5.0
        with pytest.raises(ValueError, match="read-only"):
            made.codes[0, 0] = 0
        with pytest.raises(AttributeError):
            made.weights = np.ones(2)  # type: ignore[misc]


def test_operations_leave_the_table_alone() -> None:
    table = jobs()
    table.recode("job", {"clerk": "cook"})
    table.bin("age", [30])
    table.conditional(["job"])
    table.align(Table.from_columns({"job": ["pilot"]}), ["job"])
    assert table == jobs()


@shrinking
@given(tables)
def test_tables_of_any_type_survive_json(table: Table) -> None:
    found = Table.from_dict(json.loads(json.dumps(table.to_dict(), allow_nan=False)))
    assert found == table
    types = [[type(level) for level in variable.levels] for variable in table.variables]
    assert [[type(level) for level in variable.levels] for variable in found.variables] == types


def test_the_origin_travels_and_survives_json() -> None:
    origin = Origin("file.csv", 12, "n", (Missing("job", 2, 0.25),), "drop", 2, 0.25, "abc")
    table = Table.from_columns({"job": ["a", "b"], "sex": ["F", "M"]}, origin=origin)
    for made in (table.marginal(["job"]), table.recode("job", {"a": "c"}), table.product(["job", "sex"])):
        assert made.origin == origin
    assert Table.from_dict(json.loads(json.dumps(table.to_dict()))) == table


# -- errors ------------------------------------------------------------------------------------------------------------

ONE = (Variable("a", ("x", "y")),)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Table.from_columns({}), "at least one column"),
        (lambda: Table.from_columns({"a": ["x"], "b": ["x", "y"]}), "different lengths"),
        (lambda: Table.from_columns({"a": []}), "empty"),
        (lambda: Table.from_columns({"a": ["x"]}, [0.0]), "empty"),
        (lambda: Table.from_columns({"a": ["x", "y"]}, [1.0]), "1 weights were given for 2 rows"),
        (lambda: Table.from_columns({"a": ["x", "y"]}, [1.0, -1.0]), "row 2 has -1"),
        (lambda: Table.from_columns({"a": ["x", "y"]}, [math.nan, 1.0]), "row 1 has nan"),
        (lambda: Table.from_columns({"a": ["x", "y"]}, [1.0, math.inf]), "row 2 has inf"),
        (lambda: Table.from_columns({"a": [["x"], ["y"]]}), "a level must be"),
        (lambda: Table.from_columns({"a": [object()]}), "a level must be"),
        (lambda: Table.from_columns({"": ["x"]}), "needs a name"),
        (lambda: Variable("a", ("x", "x")), "lists a level twice"),
        (lambda: Variable("sex", ("Female", "Male")).code("Femal"), "did you mean 'Female'"),
        (lambda: Table((*ONE, *ONE), np.zeros((1, 2)), np.ones(1)), "two variables named 'a'"),
        (lambda: Table(ONE, np.zeros((1, 2)), np.ones(1)), "codes have shape"),
        (lambda: Table(ONE, np.zeros((0, 1)), np.ones(0)), "empty"),
        (lambda: Table(ONE, np.zeros((1, 1)), np.zeros(1)), "weights must be positive"),
        (lambda: Table(ONE, np.zeros((1, 1)), np.full(1, np.nan)), "weights must be positive"),
        (lambda: Table(ONE, np.full((1, 1), 2), np.ones(1)), "outside its 2 levels"),
        (lambda: Table(ONE, np.full((1, 1), -1), np.ones(1)), "outside its 2 levels"),
        (lambda: Table(ONE, np.zeros((2, 1)), np.ones(2)), "listed twice"),
        (lambda: jobs().marginal(["jbo"]), "did you mean 'job'"),
        (lambda: jobs().marginal(["job", "job"]), "two variables named 'job'"),
        (lambda: jobs()["zzz"], "the table has 'job', 'sex', 'age'"),
        (lambda: jobs().conditional(["jbo"]), "did you mean 'job'"),
        (lambda: jobs().recode("job", {"clark": "x"}), "did you mean 'clerk'"),
        (lambda: jobs().bin("job", [1]), "is not a number"),
        (lambda: jobs().bin("age", []), "increasing edges"),
        (lambda: jobs().bin("age", [3, 3]), "increasing edges"),
        (lambda: jobs().bin("age", [1, 2], ["only one"]), "3 intervals of 'age', not 1"),
        (lambda: jobs().align(jobs(), ["jbo"]), "did you mean 'job'"),
        (lambda: jobs().product(["job", "jbo"]), "did you mean 'job'"),
        (lambda: jobs().product(["job", "sex"], "age"), "two variables named 'age'"),
        (lambda: jobs().reorder(["job", "sex"]), "reorder needs each of"),
        (lambda: jobs().rename({"jbo": "x"}), "did you mean 'job'"),
        (lambda: jobs().rename({"job": "sex"}), "two variables named 'sex'"),
        (lambda: jobs().with_variable("x", [1, 2]), "2 values were given for the 4 cells"),
        (lambda: jobs().with_variable("job", [1, 2, 3, 4]), "two variables named 'job'"),
    ],
)
def test_what_makes_no_table_is_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(TableError, match=words):
        make()
