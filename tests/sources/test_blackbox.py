"""A model is asked once per distinct row, in the user's own dataframes."""

import importlib
import os

import numpy as np
import pytest

from fairbounds import Table
from fairbounds.errors import SourceError, TableError
from fairbounds.sources import apply_model, read_table

TABLE = Table.from_columns(
    {
        "income": [10, 10, 90, 50, 50],
        "job": ["cook", "clerk", "cook", "cook", "clerk"],
        "sex": ["F", "M", "F", "M", "M"],
    },
    [1, 2, 3, 4, 5],
)


def need(library):
    if importlib.util.find_spec(library) is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{library} is not installed")
    return importlib.import_module(library)


class Model:
    """Looks like a fitted scikit-learn classifier."""

    def __init__(self, classes, columns=None):
        self.classes_ = np.array(classes)
        self.columns = columns or len(classes)

    def predict_proba(self, frame):
        first = np.asarray(frame["income"], dtype=float) / 100
        rest = [np.round((1 - first) / (self.columns - 1), 9)] * (self.columns - 1)
        return np.column_stack([first, *rest])


class Decider:
    def __init__(self, answers):
        self.answers = answers

    def predict(self, _):
        return self.answers


def outcome(table):
    return [levels[-1] for levels, _ in table.cells()]


def test_a_callable_is_asked_once_per_distinct_row():
    asked = []

    def predict(frame):
        asked.append(frame.shape)
        assert list(frame.columns) == ["job", "income"]
        return np.where(frame["job"] == "cook", frame["income"] / 100, 0)

    table, kind = apply_model(TABLE, ["job", "income"], predict, name="p")
    assert (asked, kind) == ([(5, 2)], "score")
    assert [(levels, weight) for levels, weight in table.cells()] == [
        ((10, "clerk", "M", 0.0), 2),
        ((10, "cook", "F", 0.1), 1),
        ((50, "clerk", "M", 0.0), 5),
        ((50, "cook", "M", 0.5), 4),
        ((90, "cook", "F", 0.9), 3),
    ]
    asked.clear()
    apply_model(TABLE, ["job", "income"], predict)
    assert table.names == ("income", "job", "sex", "p")


def test_fewer_features_mean_fewer_rows():
    sizes = []
    apply_model(TABLE, ["job"], lambda frame: sizes.append(len(frame)) or [True, False])
    assert sizes == [2]


ANSWERS = {
    "floats": ([0.0, 0.25, 1.0], [0.0, 0.25, 1.0], "score"),
    "numpy floats": (np.array([0.0, 0.25, 1.0], np.float32), [0.0, 0.25, 1.0], "score"),
    "a column": (np.array([[0.0], [0.25], [1.0]]), [0.0, 0.25, 1.0], "score"),
    "true and false": ([True, False, True], [1.0, 0.0, 1.0], "score"),
    "zeros and ones": (np.array([1, 0, 1]), [1.0, 0.0, 1.0], "score"),
    "ones only": ([1, 1, 1], [1.0, 1.0, 1.0], "score"),
    "objects": (np.array([1, 0.5, True], dtype=object), [1.0, 0.5, 1.0], "score"),
    "one and two": ([1, 2, 1], [1, 2, 1], "decision"),
    "text": (["yes", "no", "yes"], ["yes", "no", "yes"], "decision"),
    "numpy text": (np.array(["yes", "no", "yes"]), ["yes", "no", "yes"], "decision"),
    "mixed": (["yes", 0, "yes"], ["yes", 0, "yes"], "decision"),
}


@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.parametrize("wrap", [lambda answer: lambda _: answer, Decider], ids=["callable", "model"])
def test_answers(case, wrap):
    answer, expected, kind = ANSWERS[case]
    table, found = apply_model(Table.from_columns({"income": [1, 2, 3]}), ["income"], wrap(answer))
    assert (outcome(table), found) == (expected, kind)
    assert list(map(type, outcome(table))) == list(map(type, expected))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_answers_of_every_library(library):
    series = {
        "pandas": lambda: need("pandas").Series([0.5, 0.25], index=[7, 8]),
        "polars": lambda: need("polars").Series([0.5, 0.25]),
        "pyarrow": lambda: need("pyarrow").chunked_array([[0.5, 0.25]]),
    }[library]()
    assert outcome(apply_model(Table.from_columns({"a": [1, 2]}), ["a"], lambda _: series)[0]) == [0.5, 0.25]


def test_zeros_and_ones_where_zero_is_favourable_stay_decisions():
    table = Table.from_columns({"a": [1, 2]})
    assert apply_model(table, ["a"], lambda _: [0, 1], favourable=0)[1] == "decision"
    assert apply_model(table, ["a"], lambda _: [0, 1], favourable="1")[1] == "score"


# -- probabilities -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classes", "favourable", "expected"),
    [
        ([0, 1], None, [0.9, 0.5, 0.1]),
        ([False, True], None, [0.9, 0.5, 0.1]),
        ([0.0, 1.0], None, [0.9, 0.5, 0.1]),
        ([0, 1], 0, [0.1, 0.5, 0.9]),
        ([0, 1], "0", [0.1, 0.5, 0.9]),
        (["no", "yes"], "yes", [0.9, 0.5, 0.1]),
        (["no", "yes"], "no", [0.1, 0.5, 0.9]),
        (["a", "b", "c"], "a", [0.1, 0.5, 0.9]),
    ],
)
def test_probability_of_the_favourable_class(classes, favourable, expected):
    table, kind = apply_model(TABLE.marginal(["income"]), ["income"], Model(classes), favourable=favourable)
    assert (outcome(table), kind) == (expected, "score")


def test_a_model_that_does_not_tell_its_classes():
    model = Model([0, 1])
    del model.classes_
    assert outcome(apply_model(TABLE.marginal(["income"]), ["income"], model)[0]) == [0.9, 0.5, 0.1]


def test_scikit_learn():
    pandas, sklearn = need("pandas"), need("sklearn")
    tree = importlib.import_module("sklearn.tree")
    frame = pandas.DataFrame({"income": [10, 90, 50, 20], "age": [1.5, 2.5, 3.5, 4.5]})
    model = tree.DecisionTreeClassifier().fit(frame, ["deny", "grant", "grant", "deny"])
    table, kind = apply_model(read_table(frame), ["income", "age"], model, like=frame, favourable="grant")
    assert (outcome(table), kind) == ([0.0, 0.0, 1.0, 1.0], "score")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        apply_model(read_table(frame), ["income", "age"], tree.DecisionTreeClassifier(), favourable="grant")


# -- the frame that the model sees -------------------------------------------------------------------------------------


def seen_by_model(table, features, like=None):
    frames = []
    apply_model(
        table, features, lambda frame: frames.append(frame) or [0.5] * table.grouped(features)[0].shape[0], like=like
    )
    return frames[0]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_frame_is_of_the_users_library(library):
    need(library)
    make = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[library]
    like = getattr(need(library), make)({"job": ["b", "a"], "x": [2, 1]})
    assert type(seen_by_model(read_table(like), ["x", "job"], like)) is type(like)


def test_pandas_types_are_kept():
    pandas = need("pandas")
    kind = pandas.CategoricalDtype(["z", "b", "a"])
    like = pandas.DataFrame(
        {
            "kind": pandas.Series(["b", "a", "b"], dtype=kind),
            "small": pandas.Series([1, 2, 1], dtype="int8"),
            "code": ["007", "008", "007"],
            "flag": pandas.array([True, None, True], dtype="boolean"),
        }
    )
    table = read_table(like, missing="level")
    seen = seen_by_model(table, ["flag", "code", "kind", "small"], like)
    assert dict(seen.dtypes) == {name: like[name].dtype for name in ("flag", "code", "kind", "small")}
    assert sorted(seen["kind"].cat.codes) == [1, 2]


def test_recoded_levels_do_not_vanish():
    pandas = need("pandas")
    like = pandas.DataFrame({"kind": pandas.Categorical(["b", "a"]), "n": [1, 2]})
    table = read_table(like).recode("kind", {"a": "other"}).recode("n", {2: "many"})
    seen = seen_by_model(table, ["kind", "n"], like)
    assert sorted(seen["kind"]) == ["b", "other"]
    assert sorted(map(str, seen["n"])) == ["1", "many"]


def test_numbered_pandas_columns_are_given_back_as_they_were():
    pandas = need("pandas")
    like = pandas.DataFrame([[1.5, "x"], [2.5, "y"]])
    seen = seen_by_model(read_table(like), ["1", "0"], like)
    assert list(seen.columns) == [1, 0]


def test_polars_types_are_kept():
    polars = need("polars")
    like = polars.DataFrame(
        {"kind": ["b", "a"], "n": [1, 2]}, schema={"kind": polars.Enum(["z", "b", "a"]), "n": polars.Int8}
    )
    table = read_table(like)
    assert dict(seen_by_model(table, ["n", "kind"], like).schema) == dict(like.select("n", "kind").schema)
    assert dict(seen_by_model(table, ["n", "kind"], like.lazy()).schema) == dict(like.select("n", "kind").schema)


def test_text_that_is_numbers_is_given_as_numbers():
    columns = {"zip": ["007", "12"], "x": ["1.5", "-2e3"], "t": ["1", "one"], "gap": ["3", None], "w": ["nan", "1"]}
    seen = seen_by_model(Table.from_columns(columns), list(columns))
    assert sorted(seen["zip"].to_list()) == [7, 12]
    assert [str(seen[name].dtype) for name in ("zip", "x")] == ["int64", "float64"]
    assert sorted(seen["x"].to_list()) == [-2000.0, 1.5]
    assert sorted(seen["t"]) == ["1", "one"]
    assert seen["gap"].max() == 3
    assert sorted(seen["w"]) == ["1", "nan"]


def test_without_dataframe_libraries_a_dict(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert seen_by_model(Table.from_columns({"a": ["1", "2"]}), ["a"]) == {"a": [1, 2]}


# -- what can go wrong -------------------------------------------------------------------------------------------------

WRONG = {
    "too short": (lambda _: [0.5], "the model returned 1 values for 3 distinct rows; one each is needed"),
    "one number": (lambda _: 0.5, r"the model must return one value per row, not 0.5 \(float\)"),
    "nothing": (lambda _: None, r"must return one value per row, not None \(NoneType\)"),
    "text": (lambda _: "yes", "must return one value per row, not 'yes'"),
    "dict": (lambda _: {"p": [1]}, "must return one value per row"),
    "two columns": (lambda _: np.ones((3, 2)), r"array of shape \(3, 2\); give the fitted model itself"),
    "nan": (lambda _: [0.5, float("nan"), None], r"returned no value \(NaN or None\) for 2 of 3 distinct rows"),
    "above one": (lambda _: [0.5, 1.5, 0.2], r"the model returned the score 1.5, which is outside \[0, 1\]"),
    "below zero": (lambda _: [0.5, -0.1, 0.2], "the model returned the score -0.1"),
    "lists": (lambda _: np.array([[1], [2, 3], []], dtype=object), "'prediction' of the model holds list values"),
    "class": (Model, "predict is the class Model; give a fitted model, an instance of it"),
    "number": (3, r"predict must be a callable or have a method predict, not 3 \(int\)"),
    "which class": (Model(["no", "yes"]), "the model predicts 'no', 'yes'; say which of them is favourable"),
    "which of three": (Model([0, 1, 2]), "the model predicts 0, 1, 2; say which"),
    "odd shape": (Model([0, 1], 3), r"predict_proba returned shape \(3, 3\); one column for each of 0, 1 is needed"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_models(case):
    predict, said = WRONG[case]
    with pytest.raises(SourceError, match=said):
        apply_model(TABLE, ["income"], predict)


def test_a_class_that_the_model_does_not_know():
    with pytest.raises(SourceError, match=r"no class of the model: .*'Yes' \(did you mean 'yes'\?\)"):
        apply_model(TABLE, ["income"], Model(["no", "yes"]), favourable="Yes")


def test_features():
    with pytest.raises(SourceError, match="a model needs at least one feature"):
        apply_model(TABLE, [], lambda _: [])
    with pytest.raises(TableError, match=r"no variable 'incom' \(did you mean 'income'\?\)"):
        apply_model(TABLE, ["incom"], lambda _: [])


def test_errors_of_the_model_itself_come_through():
    def predict(_):
        raise ZeroDivisionError("inside the model")

    with pytest.raises(ZeroDivisionError, match="inside the model"):
        apply_model(TABLE, ["income"], predict)
