"""Every dataframe library gives the same table."""

import datetime as dt
import decimal
import importlib
import os
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fairbounds import Table
from fairbounds.errors import SourceError
from fairbounds.sources import open_source, read_table

DAY = dt.date(2024, 1, 2)
COLUMNS = {
    "job": ["cook", "clerk", "cook", "cook", "clerk", "cook"],
    "age": [30, 41, 30, 25, 41, 30],
    "approved": [True, False, True, False, False, True],
    "p": [0.25, 0.5, 0.25, 0.75, 0.5, 0.25],
    "n": [1, 2, 3, 4, 0, 6],
}
EXPECTED = Table.from_columns({name: COLUMNS[name] for name in ("job", "age", "approved", "p")}, COLUMNS["n"])
GAPPY = {
    "job": ["cook", None, "cook", "clerk", None, "cook"],
    "p": [0.25, float("nan"), 0.25, None, 0.5, 0.75],
    "flag": [True, True, True, None, False, None],
}


def need(library):
    """Skip where a library is absent, but fail where everything must be there."""
    if importlib.util.find_spec(library) is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{library} is not installed")
    return importlib.import_module(library)


def pandas_frame(columns):
    return need("pandas").DataFrame(columns)


def pandas_numpy(columns):
    pandas = need("pandas")
    return pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in columns.items()})


def pandas_nullable(columns):
    return pandas_frame(columns).convert_dtypes()


def pandas_categorical(columns):
    frame = pandas_frame(columns)
    return frame.astype({"job": need("pandas").CategoricalDtype(["never seen", "cook", "clerk"])})


def pandas_arrow(columns):
    need("pyarrow")
    return pandas_frame(columns).convert_dtypes(dtype_backend="pyarrow")


def pandas_index(columns):
    frame = pandas_frame(columns)
    return frame.set_index(need("pandas").Index([7] * len(frame)))


def polars_frame(columns):
    return need("polars").DataFrame(columns)


def polars_lazy(columns):
    return polars_frame(columns).lazy()


def polars_categorical(columns):
    polars = need("polars")
    return polars_frame(columns).with_columns(polars.col("job").cast(polars.Categorical))


def pyarrow_table(columns):
    return need("pyarrow").table(columns)


def pyarrow_dictionary(columns):
    table = pyarrow_table(columns)
    return table.set_column(0, "job", table["job"].dictionary_encode())


def duckdb_relation(columns):
    frame = pyarrow_table(columns)
    return need("duckdb").connect().from_arrow(frame)


def dask_frame(columns, make=pandas_frame):
    need("dask")
    frame = make(columns)
    if "flag" in columns:  # Dask itself would turn true, false and missing into text
        frame = frame.astype({"flag": "boolean"})
    return importlib.import_module("dask.dataframe").from_pandas(frame, npartitions=2)


def dask_categorical(columns):
    return dask_frame(columns, pandas_categorical)


def ibis_table(columns):
    return need("ibis").memtable(pyarrow_table(columns))


def pyspark_frame(columns):
    if shutil.which("java") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("Java is not installed")
    need("pyspark")
    sql = importlib.import_module("pyspark.sql")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    rows = [tuple(row) for row in zip(*columns.values(), strict=True)]
    return session.createDataFrame(rows, list(columns))


def narwhals_frame(columns):
    return need("narwhals").from_native(polars_frame(columns))


def dict_of_lists(columns):
    return columns


def list_of_dicts(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


MAKERS = [
    pandas_frame,
    pandas_numpy,
    pandas_nullable,
    pandas_categorical,
    pandas_arrow,
    pandas_index,
    polars_frame,
    polars_lazy,
    polars_categorical,
    pyarrow_table,
    pyarrow_dictionary,
    duckdb_relation,
    dask_frame,
    dask_categorical,
    ibis_table,
    pyspark_frame,
    narwhals_frame,
    dict_of_lists,
    list_of_dicts,
]


@pytest.mark.filterwarnings("ignore:.*:ResourceWarning")
class TestEveryLibrary:
    @pytest.fixture(params=MAKERS, ids=lambda maker: maker.__name__)
    def maker(self, request):
        return request.param

    def test_weighted_rows_with_typed_levels(self, maker):
        source = open_source(maker(COLUMNS))
        assert source.columns == tuple(COLUMNS)
        table = source.read(["job", "age", "approved", "p"], weight="n")
        assert replace(table, origin=None) == EXPECTED
        assert (table.origin.rows, table.origin.weight, table.origin.sha256) == (6, "n", None)
        kinds = [type(variable.levels[0]) for variable in table.variables]
        assert kinds == [str, int, bool, float]

    def test_counted_rows(self, maker):
        table = read_table(maker(COLUMNS), columns=["approved", "job"])
        assert replace(table, origin=None) == Table.from_columns({k: COLUMNS[k] for k in ("approved", "job")})

    def test_missing_values_lose_no_row(self, maker):
        table = read_table(maker(GAPPY), missing="level")
        assert replace(table, origin=None) == Table.from_columns(GAPPY)
        assert {gap.column: gap.rows for gap in table.origin.missing} == {"job": 2, "p": 2, "flag": 2}
        assert table.total == 6

    def test_missing_values_are_an_error_first(self, maker):
        with pytest.raises(SourceError, match=r"missing values: 'job' in 2 rows \(33.33%\), 'p' in 2 rows"):
            read_table(maker(GAPPY))

    @pytest.mark.parametrize(
        ("weights", "said"),
        [
            ([1.0, 2.0, float("nan"), 4.0, -1.0, 6.0], "2 rows without a usable weight, the first with no value"),
            ([1.0, 2.0, 3.0, -4.5, -1.0, 6.0], "2 rows without a usable weight, the first with -4.5"),
            ([1.0, 2.0, 3.0, float("inf"), 1.0, 6.0], "1 row without a usable weight, the first with inf"),
            ([None, 2, 3, 4, 1, 6], "1 row without a usable weight, the first with no value"),
            ([0, 0, 0, 0, 0, 0], "is zero in all of its 6 rows"),
        ],
    )
    def test_bad_weights(self, maker, weights, said):
        with pytest.raises(SourceError, match=f"weight column 'n' of .*{said}"):
            read_table(maker({**COLUMNS, "n": weights}), weight="n")

    def test_unknown_columns(self, maker):
        source = open_source(maker(COLUMNS), "internal")
        with pytest.raises(SourceError, match=r"internal .* has no column 'aged' \(did you mean 'age'\?\)"):
            source.read(["aged"])
        with pytest.raises(
            SourceError, match=r"has no column 'N' \(did you mean 'n'\?\); its columns are 'job', 'age'"
        ):
            source.read(["age"], weight="N")


NAMES = {
    pandas_frame: "pandas dataframe",
    polars_frame: "polars dataframe",
    polars_lazy: "polars dataframe",
    pyarrow_table: "pyarrow table",
    duckdb_relation: "DuckDB relation",
    dask_frame: "Dask dataframe",
    ibis_table: "Ibis table",
    dict_of_lists: "dict of columns",
    list_of_dicts: "list of rows",
}


@pytest.mark.parametrize("maker", NAMES, ids=lambda maker: maker.__name__)
def test_names(maker):
    assert open_source(maker(COLUMNS)).name == NAMES[maker]


@pytest.mark.parametrize("maker", [pandas_frame, polars_frame, pyarrow_table, duckdb_relation, dict_of_lists])
def test_names_that_meet_our_own(maker):
    columns = {"k0": ["a", "b"], "weight": ["x", "y"], "n_rows": [1, 2], "n_good": [3, 4], "w'; --\"": [5, 6]}
    table = read_table(maker(columns), weight="n_rows")
    assert table.names == ("k0", "weight", "n_good", "w'; --\"")
    assert table.weights.tolist() == [1, 2]


def test_dates_and_decimals():
    columns = {"day": [DAY, DAY, dt.date(1999, 1, 1)], "money": [decimal.Decimal("1.5"), decimal.Decimal("2"), None]}
    for maker in (pandas_frame, polars_frame, pyarrow_table, duckdb_relation, ibis_table, dict_of_lists):
        table = read_table(maker(columns), missing="level")
        assert table["day"].levels == (dt.date(1999, 1, 1), DAY)
        assert [type(level) for level in table["day"].levels] == [dt.date, dt.date]
        assert table["money"].levels == (decimal.Decimal("1.5"), decimal.Decimal("2"), None)


def test_moments_are_python_datetimes():
    pandas = need("pandas")
    frame = pandas.DataFrame({"at": pandas.to_datetime(["2024-01-02 03:04:05", None])})
    levels = read_table(frame, missing="level")["at"].levels
    assert levels == (dt.datetime(2024, 1, 2, 3, 4, 5), None)
    assert type(levels[0]) is dt.datetime


def test_pandas_bins_and_periods_become_text():
    pandas = need("pandas")
    frame = pandas.DataFrame(
        {"age": pandas.cut([18, 30, 70], [0, 25, 100]), "month": pandas.period_range("2024-01", periods=3, freq="M")}
    )
    table = read_table(frame)
    assert table["age"].levels == ("(0, 25]", "(25, 100]")
    assert table["month"].levels == ("2024-01", "2024-02", "2024-03")


def test_identifiers_become_text():
    name = uuid.UUID(int=7)
    assert read_table({"id": [name]})["id"].levels == (str(name),)


def test_numbered_pandas_columns():
    frame = need("pandas").DataFrame([[1, "x"], [2, "y"]])
    assert read_table(frame).to_columns() == ({"0": [1, 2], "1": ["x", "y"]}, [1, 1])


def test_text_that_is_a_weight():
    for maker in (pandas_frame, polars_frame, dict_of_lists):
        assert read_table(maker({"a": ["x", "y", "x"], "n": ["1", "2.5", "1"]}), weight="n").weights.tolist() == [
            2,
            2.5,
        ]
        with pytest.raises(SourceError, match=r"weight column 'n' of .* 2 rows .*, the first with '1,5'"):
            read_table(maker({"a": ["x", "y", "x"], "n": ["1", "1,5", "1,5"]}), weight="n")


def test_decimals_that_are_weights():
    values = [decimal.Decimal("1.5"), decimal.Decimal("2.5")]
    for maker in (pandas_frame, polars_frame, pyarrow_table, duckdb_relation, dict_of_lists):
        assert read_table(maker({"a": ["x", "y"], "n": values}), weight="n").weights.tolist() == [1.5, 2.5]


def test_small_whole_weights_do_not_overflow():
    polars, pandas = need("polars"), need("pandas")
    columns = {"a": ["x"] * 300, "n": [100] * 300}
    assert read_table(polars.DataFrame(columns, schema_overrides={"n": polars.Int8}), weight="n").total == 30_000
    assert read_table(pandas.DataFrame(columns).astype({"n": "int8"}), weight="n").total == 30_000


def test_a_lazy_frame_collects_its_cells_only():
    need("polars")
    seen = []

    def watch(frame):
        seen.append(frame.columns)
        return frame

    lazy = polars_lazy({**COLUMNS, "unused": [0] * 6}).map_batches(watch, projection_pushdown=True)
    assert read_table(lazy, columns=["job"]).to_columns() == ({"job": ["clerk", "cook"]}, [2, 4])
    assert len(seen) == 1


# -- frames that cannot be read ----------------------------------------------------------------------------------------


def bad_frames():
    import numpy as np

    return {
        "number": (lambda: 3, "the internal table must be a path, a dataframe or a fairbounds Table, not int"),
        "nothing": (lambda: None, "must be a path, a dataframe or a fairbounds Table, not NoneType"),
        "array": (lambda: np.ones((2, 2)), "not numpy.ndarray"),
        "series": (lambda: need("pandas").Series([1]), "not pandas.*Series"),
        "twice in pandas": (
            lambda: need("pandas").DataFrame([[1, 2]], columns=["a", "a"]),
            "internal table, a DataFrame, has the column 'a' more than once",
        ),
        "twice in pyarrow": (lambda: need("pyarrow").table([[1], [2]], names=["a", "a"]), "column 'a' more than once"),
        "twice in duckdb": (
            lambda: need("duckdb").connect().sql("SELECT 1 AS a, 2 AS a"),
            "internal DuckDB relation has the column 'a' more than once",
        ),
        "levels of names": (
            lambda: need("pandas").DataFrame([[1]], columns=need("pandas").MultiIndex.from_tuples([("a", "b")])),
            "internal dataframe has column names of several levels",
        ),
        "no rows": (lambda: pandas_frame({"a": []}), "internal pandas dataframe has columns but no rows"),
        "no rows in duckdb": (lambda: need("duckdb").connect().sql("SELECT 1 AS a LIMIT 0"), "has columns but no rows"),
        "lists in pandas": (lambda: pandas_frame({"a": [[1], [2]]}), "'a' of internal pandas dataframe holds"),
        "lists in polars": (
            lambda: polars_frame({"a": [[1], [2]]}),
            "'a' of internal polars dataframe holds values of type List",
        ),
        "bytes": (lambda: pyarrow_table({"a": [b"x"]}), "holds values of type Binary; a level must be text, a number"),
        "times": (lambda: polars_frame({"a": [dt.time(1)]}), "holds values of type Time"),
        "objects": (
            lambda: {"a": [object]},
            "'a' of internal dict of columns holds type values such as <class 'object'>",
        ),
        "unhashable": (lambda: {"a": ["x", {}]}, "'a' of internal dict of columns holds dict values such as {}"),
        "uneven dict": (lambda: {"a": [1], "b": [1, 2]}, "must be equally long, not 'a' 1, 'b' 2"),
        "empty dict": (dict, "must be equally long, not absent"),
        "text in a dict": (lambda: {"a": "xyz"}, "'a' of internal dict of columns must be a list of values, not 'xyz'"),
        "numbered dict": (lambda: {1: [2]}, "names of at least one character for its columns, not 1"),
        "empty list": (list, "internal list of rows is empty"),
        "list of numbers": (lambda: [{"a": 1}, 3], r"must hold dicts, but row 2 is 3 \(int\)"),
        "engine": (
            lambda: need("polars").LazyFrame({"a": ["x"]}).select(need("polars").col("a").cast(int)),
            "internal polars dataframe cannot be computed by its own engine",
        ),
        "engine in duckdb": (
            lambda: need("duckdb").connect().sql("SELECT CAST(x AS INT) AS a FROM (VALUES ('x')) t(x)"),
            "internal DuckDB relation cannot be computed by its own engine: .*Could not convert string 'x'",
        ),
    }


def read_all(frame):
    source = open_source(frame, "internal")
    return source.read(source.columns)


@pytest.mark.parametrize("case", bad_frames())
def test_frames_that_cannot_be_read(case):
    make, said = bad_frames()[case]
    frame = make()
    with pytest.raises(SourceError, match=said):
        read_all(frame)


def test_a_column_that_is_the_index_is_pointed_out():
    frame = pandas_frame(COLUMNS).set_index("job")
    with pytest.raises(SourceError, match=r"has no column 'job'.*its index holds 'job': call reset_index\(\)"):
        read_table(frame, columns=["job"])


def test_grouping_that_loses_rows_is_caught(monkeypatch):
    from fairbounds.sources import frames

    found = {"k0": ["x"], "n_rows": [2]}
    monkeypatch.setattr(frames, "_grouped", lambda *_: found)
    with pytest.raises(SourceError, match="grouping the pandas dataframe lost 4 of 6 rows"):
        read_table(pandas_frame(COLUMNS), columns=["job"])


def test_errors_of_the_users_own_code_are_not_hidden():
    class Odd(Mapping):
        def __getitem__(self, name):
            raise RuntimeError("mine")

        def __iter__(self):
            return iter("a")

        def __len__(self):
            return 1

    with pytest.raises(RuntimeError, match="mine"):
        open_source(Odd())
