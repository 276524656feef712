"""A model that can only be asked: evaluated once per distinct row of its features."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fairbounds.errors import SourceError, TableError, listed
from fairbounds.levels import Level, show
from fairbounds.sources.base import to_level
from fairbounds.sources.frames import wrapped
from fairbounds.tables import Table, Variable

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

__all__ = ["apply_model"]

Kind: TypeAlias = Literal["score", "decision"]

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_WHOLE = re.compile(r"\s*[+-]?\d{1,18}\s*")


def apply_model(
    table: Table,
    features: Sequence[str],
    predict: object,
    *,
    name: str = "prediction",
    like: object | None = None,
    favourable: Level | None = None,
) -> tuple[Table, Kind]:
    """Add a model's outcome to a table, asking the model once for every distinct row of features.

    Parameters
    ----------
    table : Table
    features : sequence of str
        Variables handed to the model, in this order.
    predict : callable or fitted model
        Takes a dataframe and returns one value per row. Of a model with ``predict_proba``, the probability of the
        favourable class is used; otherwise its ``predict``.
    name : str
        Name of the new variable.
    like : dataframe, optional
        The model is given a dataframe of the same library with the same column types; without it pandas, polars,
        pyarrow or, where none is installed, a dict of lists. A column of text whose every level is a number, as all
        columns of a CSV file are text, is then turned into numbers (``"007"`` becomes 7), as ``pandas.read_csv``
        would have done when the model was trained.
    favourable : level, optional
        Class that people want; needed where the classes are not 0 and 1.

    Returns
    -------
    table : Table
        With the new variable in last place.
    kind : {"score", "decision"}
        ``score``: numbers in [0, 1], the probability of a favourable decision; 0 and 1, true and false count as
        such. ``decision``: levels, as the model returned them.

    Examples
    --------
    >>> table = Table.from_columns({"income": [10, 10, 90], "sex": ["F", "M", "F"]})
    >>> scored, kind = apply_model(table, ["income"], lambda frame: [value / 100 for value in frame["income"]])
    >>> scored["prediction"].levels, kind
    ((0.1, 0.9), 'score')
    """
    if not features:
        raise SourceError("a model needs at least one feature; the table has no variable left to give it")
    rows, position = table.grouped(features)
    columns = {
        feature: [table[feature].levels[code] for code in codes]
        for feature, codes in zip(features, rows.T.tolist(), strict=True)
    }
    answer = _asked(predict, _as_frame(columns, like), favourable)
    outcome, kind = _outcome(_flat(answer, len(rows)), favourable)
    return table.with_variable(name, [outcome[at] for at in position.tolist()]), kind


# -- asking ------------------------------------------------------------------------------------------------------------


def _asked(predict: Any, frame: Any, favourable: Level | None) -> Any:
    if isinstance(predict, type):
        raise SourceError(f"predict is the class {predict.__name__}; give a fitted model, an instance of it")
    if hasattr(predict, "predict_proba"):
        return _probabilities(predict, frame, favourable)
    if hasattr(predict, "predict"):
        return predict.predict(frame)
    if callable(predict):
        return predict(frame)
    raise SourceError(
        f"predict must be a callable or have a method predict, not {predict!r} ({type(predict).__name__})"
    )


def _probabilities(model: Any, frame: Any, favourable: Level | None) -> Any:
    """Pick the column of the favourable class."""
    answer = np.asarray(model.predict_proba(frame))
    classes = [to_level(value, "classes_", "the model") for value in getattr(model, "classes_", (0, 1))]
    if answer.ndim != 2 or answer.shape[1] != len(classes):
        raise SourceError(
            f"predict_proba returned shape {answer.shape}; one column for each of {listed(classes)} is needed"
        )
    if favourable is None and not set(classes) <= {0, 1}:
        raise SourceError(f"the model predicts {listed(classes)}; say which of them is favourable")
    try:
        at = Variable("predict", tuple(classes)).code(1 if favourable is None else favourable)
    except TableError as error:
        raise SourceError(f"the favourable outcome is no class of the model: {error}") from None
    return answer[:, at]


def _as_frame(columns: Mapping[str, list[Level]], like: object | None) -> Any:
    import narwhals.stable.v2 as nw

    is_frame = like is not None and not isinstance(like, (str, os.PathLike, Table, Mapping, list, tuple))
    known = wrapped(like, "table") if is_frame else None
    if isinstance(known, nw.LazyFrame) and known.implementation.is_polars():
        known = known.select(name for name in known.collect_schema() if name in columns).unique().collect()
    if isinstance(known, nw.DataFrame):
        return _same_types(nw.from_dict(columns, backend=known.implementation), known, like)
    if known is None:
        columns = {name: _as_numbers(levels) for name, levels in columns.items()}
    for library in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(library) is not None:
            return nw.from_dict(columns, backend=library).to_native()
    return dict(columns)


def _same_types(frame: nw.DataFrame[Any], known: nw.DataFrame[Any], like: Any) -> Any:
    """Give the columns the types they have in the user's own frame, unless their levels were recoded since.

    A categorical column must keep all its categories, or a model that sees their codes would misread them.
    """
    same = [name for name in frame.columns if name in known.columns and _is_within(frame[name], known[name])]
    if not frame.implementation.is_pandas_like():
        return frame.with_columns(frame[name].cast(known.schema[name]) for name in same).to_native()
    native = frame.to_native().astype({name: known[name].to_native().dtype for name in same})
    own_names = dict(zip(known.columns, like.columns, strict=True))
    return native.set_axis([own_names.get(name, name) for name in frame.columns], axis="columns")


def _is_within(levels: nw.Series[Any], known: nw.Series[Any]) -> bool:
    return set(levels.drop_nulls().unique().to_list()) <= set(known.drop_nulls().unique().to_list())


def _as_numbers(levels: list[Level]) -> list[Level]:
    """Turn a column of text into numbers if every level is one; missing stays missing."""
    texts = [level for level in levels if level is not None]
    if not texts or not all(isinstance(text, str) and _NUMBER.fullmatch(text) for text in texts):
        return levels
    whole = all(_WHOLE.fullmatch(str(text)) for text in texts)
    return [None if level is None else int(level) if whole else float(level) for level in levels]  # type: ignore[arg-type]


# -- understanding the answer ------------------------------------------------------------------------------------------


def _flat(answer: Any, n_rows: int) -> npt.NDArray[Any]:
    """Check that there is one value per row."""
    if answer is None or isinstance(answer, (str, bytes, Mapping)) or not hasattr(answer, "__len__"):
        raise SourceError(f"the model must return one value per row, not {answer!r} ({type(answer).__name__})")
    values = np.asarray(answer if hasattr(answer, "__array__") else list(answer))
    if values.dtype.kind == "U" and not all(isinstance(value, str) for value in answer):
        values = np.array(list(answer), dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise SourceError(
            f"the model must return one value per row, not an array of shape {values.shape}; "
            f"give the fitted model itself, or pick the favourable column"
        )
    if len(values) != n_rows:
        raise SourceError(f"the model returned {len(values):,} values for {n_rows:,} distinct rows; one each is needed")
    return values


def _outcome(values: npt.NDArray[Any], favourable: Level | None) -> tuple[list[Level], Kind]:
    """Tell scores from decisions."""
    levels = [to_level(value, "prediction", "the model") for value in values.tolist()]
    if absent := sum(level is None for level in levels):
        raise SourceError(f"the model returned no value (NaN or None) for {absent:,} of {len(levels):,} distinct rows")
    numbers = [float(level) for level in levels if isinstance(level, (int, float))]
    if len(numbers) < len(levels):
        return levels, "decision"
    if any(isinstance(level, float) for level in levels):
        return [_probability(number) for number in numbers], "score"
    means_one = favourable is None or show(favourable) in {"1", "1.0", "True"}
    return (list(numbers), "score") if means_one and set(numbers) <= {0.0, 1.0} else (levels, "decision")


def _probability(number: float) -> float:
    if not 0 <= number <= 1:
        raise SourceError(f"the model returned the score {number}, which is outside [0, 1]; scores are probabilities")
    return number
