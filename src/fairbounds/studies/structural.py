"""The paper's structural estimates on real data: how far DI of an estimated joint is from the truth.

People are dealt to three parts that share nobody: the test part has the true DI, the classifier part grows the tree,
and the estimation part makes the internal and the external table. From these a joint is estimated, 1,000 samples of
people are drawn from it, the tree is asked about each, and the mean DI is compared with the true one. The noise floor
is the same with the true joint of the estimation part: what is left of the error when no joint had to be estimated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairbounds.errors import ProblemError
from fairbounds.progress import report
from fairbounds.seeds import stream
from fairbounds.studies.columns import Columns, columns_of_records
from fairbounds.studies.published import STRUCTURAL, STRUCTURAL_NOTE, PublishedError
from fairbounds.studies.real_data import DATA, real_data
from fairbounds.studies.real_feasible import PREDICTIONS, Prediction
from fairbounds.studies.structural_split import Method, Sampled, Split, dealt

__all__ = ["CHOICES", "Choice", "SplitResult", "StructuralStudy", "StructuralSummary", "structural"]


@dataclass(frozen=True)
class Choice:
    """What the paper leaves open, and what is done here; nothing was chosen for its result."""

    topic: str
    chosen: str


CHOICES = (
    Choice(
        "split", "30 % of the people, drawn without regard to any attribute, are the test part; the rest is halved."
    ),
    Choice("parts", "One half grows the tree, the other makes both tables; the test part has the true DI."),
    Choice("repetitions", "Every split deals the people anew; the paper does not say how many it has."),
    Choice(
        "tables", "The internal and the external table are of the same people, so they agree on the common variable."
    ),
    Choice("label", "The label is in neither table: the model is asked again, so no outcome is needed."),
    Choice("features", "The tree sees the internal attributes with the common one, and no other external attribute."),
    Choice(
        "encoding",
        "Attributes whose levels are numbers are split at thresholds, all others one level against the rest.",
    ),
    Choice("depth", "The headline tree is fully grown (scikit-learn's default); other depths beside it."),
    Choice("prediction", "The headline is the decision, a probability of at least ½; scores beside it."),
    Choice(
        "K",
        "The headline has the number of classes of least BIC among those tried, in each split; each beside it.",
    ),
    Choice("EM", "Random starts; the one of greatest likelihood counts, though others are often as likely."),
    Choice("bootstraps", "Each sample of the estimated joint has as many people as the test part."),
    Choice("marginal preservation", "p_e(c, g)·p_i(i|c); the printed p_i(external|common) cannot be computed."),
    Choice("comparison", STRUCTURAL_NOTE),
)


@dataclass(frozen=True)
class SplitResult:
    """One estimate in one split.

    Attributes
    ----------
    data : str
    split : int
    depth : int or None
        Of the tree; ``None`` is fully grown.
    prediction : {"decisions", "scores"}
    method : {"latent", "marginal", "floor"}
    classes : int or None
        Of a latent class model.
    chosen : bool
        Whether this is the method's answer: of the latent class models, the one with the least BIC in this split.
    true, estimated, estimated_sd : float
        DI of the test part; mean and sd over the samples that have one.
    signed, error : float
        True − estimated, and its absolute value.
    undefined : float
        Share of samples whose DI is not finite.
    """

    data: str
    split: int
    depth: int | None
    prediction: Prediction
    method: Method
    classes: int | None
    chosen: bool
    true: float
    estimated: float
    estimated_sd: float
    signed: float
    error: float
    undefined: float


@dataclass(frozen=True)
class StructuralSummary:
    """One method over all splits.

    Attributes
    ----------
    data, depth, prediction, method
        As in `SplitResult`.
    classes : int or None
        ``None`` for the number that BIC chose in each split, and for methods without classes.
    mean, sd : float
        Of |DI(true) − mean DI(estimated)|.
    bias, bias_sd : float
        Of DI(true) − mean DI(estimated).
    true, estimated : float
        Means.
    splits : int
        With a finite error.
    """

    data: str
    depth: int | None
    prediction: Prediction
    method: Method
    classes: int | None
    mean: float
    sd: float
    bias: float
    bias_sd: float
    true: float
    estimated: float
    splits: int


@dataclass(frozen=True)
class StructuralStudy:
    """Results by data set, split, depth, prediction and method.

    Attributes
    ----------
    splits, seed, bootstraps, starts : int
    classes : tuple of int
    depths : tuple of int or None
    results : tuple of SplitResult
    summaries : tuple of StructuralSummary
    choices : tuple of Choice
    """

    splits: int
    seed: int
    bootstraps: int
    classes: tuple[int, ...]
    depths: tuple[int | None, ...]
    starts: int
    results: tuple[SplitResult, ...]
    summaries: tuple[StructuralSummary, ...]
    choices: tuple[Choice, ...] = CHOICES

    def summary(
        self,
        data: str,
        method: Method,
        prediction: Prediction = "decisions",
        depth: int | None = None,
        classes: int | None = None,
    ) -> StructuralSummary:
        """Return one summary; by default the headline."""
        wanted = (data, method, prediction, depth, classes)
        for found in self.summaries:
            if (found.data, found.method, found.prediction, found.depth, found.classes) == wanted:
                return found
        raise ProblemError(f"no summary for {', '.join(map(repr, wanted))}")

    def to_columns(self) -> Columns:
        """Return one row per result; ``depth`` is ``full`` for trees that are fully grown."""
        return columns_of_records(_named(asdict(result)) for result in self.results)

    def summary_columns(self) -> Columns:
        """Return one row per summary; ``classes`` is ``BIC`` where it chose the number in each split."""
        return columns_of_records(_with_criterion(_named(asdict(summary))) for summary in self.summaries)

    def choice_columns(self) -> Columns:
        """Return one row per choice."""
        return columns_of_records(asdict(choice) for choice in self.choices)

    def beside_paper(self) -> Columns:
        """Return the paper's errors beside the headline's mean and sd over splits, and the noise floor."""
        known = {summary.data for summary in self.summaries}
        return columns_of_records(
            row for published in STRUCTURAL if published.data in known for row in self._beside(published)
        )

    def _beside(self, published: PublishedError) -> Iterator[dict[str, Any]]:
        depth = self.depths[0]
        floor = self.summary(published.data, "floor", depth=depth)
        methods: tuple[tuple[Method, float], ...] = (("latent", published.latent), ("marginal", published.marginal))
        for method, theirs in methods:
            own = self.summary(published.data, method, depth=depth)
            yield {
                "data": published.data,
                "method": method,
                "paper": theirs,
                "own": own.mean,
                "own_sd": own.sd,
                "floor": floor.mean,
                "floor_sd": floor.sd,
                "splits": own.splits,
                "place": published.place,
            }


def structural(
    splits: int = 20,
    seed: int = 0,
    bootstraps: int = 1000,
    classes: Sequence[int] = (2, 4, 8, 16),
    depths: Sequence[int | None] = (None, 5),
    starts: int = 8,
    names: Sequence[str] = DATA,
) -> StructuralStudy:
    """Run the experiment.

    Parameters
    ----------
    splits, seed : int
    bootstraps : int
        Samples of people from each estimated joint.
    classes : sequence of int
        Numbers of latent classes.
    depths : sequence of int or None
        Of the tree; the first is the headline's.
    starts : int
        Of EM, for each number of classes.
    names : sequence of str

    Examples
    --------
    >>> study = structural(splits=3, bootstraps=100, classes=(2,), names=["compas"])
    >>> study.summary("compas", "floor").mean < study.summary("compas", "marginal").mean
    True
    """
    if splits < 1 or bootstraps < 1 or not classes or not depths:
        raise ProblemError("a study needs at least one split, one bootstrap, one number of classes and one depth")
    results: list[SplitResult] = []
    for k, (name, number) in enumerate(itertools.product(names, range(splits))):
        report("structural estimates", k / (len(names) * splits))
        data, purpose = real_data(name), f"{name}, split {number}"
        split = Split(data, dealt(data.table, stream(seed, purpose)), seed, purpose)
        results.extend(_results(name, number, split, classes, depths, starts, bootstraps))
    report("structural estimates", 1.0)
    return StructuralStudy(
        splits,
        seed,
        bootstraps,
        tuple(classes),
        tuple(depths),
        starts,
        tuple(results),
        tuple(_summaries(results)),
    )


def _results(
    name: str,
    number: int,
    split: Split,
    classes: Sequence[int],
    depths: Sequence[int | None],
    starts: int,
    bootstraps: int,
) -> Iterator[SplitResult]:
    fits = split.latent(classes, starts)
    for depth in depths:
        tree = split.tree(depth)
        for prediction in PREDICTIONS:
            true = split.true(tree, prediction)
            for sampled in split.samples(tree, prediction, fits, bootstraps):
                yield _result(name, number, depth, prediction, true, sampled)


def _result(
    name: str, number: int, depth: int | None, prediction: Prediction, true: float, sampled: Sampled
) -> SplitResult:
    finite = sampled.values[np.isfinite(sampled.values)]
    mean, sd = _mean_and_sd(finite)
    return SplitResult(
        data=name,
        split=number,
        depth=depth,
        prediction=prediction,
        method=sampled.method,
        classes=sampled.classes,
        chosen=sampled.chosen,
        true=true,
        estimated=mean,
        estimated_sd=sd,
        signed=true - mean,
        error=abs(true - mean),
        undefined=1 - len(finite) / len(sampled.values),
    )


def _summaries(results: Sequence[SplitResult]) -> Iterator[StructuralSummary]:
    """Summarise each method's answer, then each number of classes."""
    groups: dict[tuple[str, int | None, Prediction, Method, int | None], list[SplitResult]] = {}
    for found in results:
        data, depth, prediction, method = found.data, found.depth, found.prediction, found.method
        if found.chosen:
            groups.setdefault((data, depth, prediction, method, None), []).append(found)
        if found.classes is not None:
            groups.setdefault((data, depth, prediction, method, found.classes), []).append(found)
    for (data, depth, prediction, method, classes), same in groups.items():
        finite = [found for found in same if np.isfinite(found.error)]
        error, bias = ([getattr(found, name) for found in finite] for name in ("error", "signed"))
        mean, sd = _mean_and_sd(error)
        offset, offset_sd = _mean_and_sd(bias)
        yield StructuralSummary(
            data=data,
            depth=depth,
            prediction=prediction,
            method=method,
            classes=classes,
            mean=mean,
            sd=sd,
            bias=offset,
            bias_sd=offset_sd,
            true=_mean_and_sd([found.true for found in finite])[0],
            estimated=_mean_and_sd([found.estimated for found in finite])[0],
            splits=len(finite),
        )


def _mean_and_sd(values: npt.ArrayLike) -> tuple[float, float]:
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean()) if numbers.size else np.nan
    return mean, float(numbers.std(ddof=1)) if numbers.size > 1 else np.nan


def _named(record: dict[str, Any]) -> dict[str, Any]:
    return record | {"depth": "full" if record["depth"] is None else record["depth"]}


def _with_criterion(record: dict[str, Any]) -> dict[str, Any]:
    by_bic = record["method"] == "latent" and record["classes"] is None
    return record | {"classes": "BIC" if by_bic else record["classes"]}
