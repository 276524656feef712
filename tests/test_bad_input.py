"""Whatever is wrong with the input: one sentence that says what and what to do, exit code 2, and nothing written."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables_on_disk import EXTERNAL, INTERNAL, Content, command, csv, listing, write

import fairbounds as fb
from fairbounds import cli

MOST_LETTERS = 600


@dataclass(frozen=True)
class Case:
    """A command that must be refused.

    Parameters
    ----------
    name : str
    words : sequence of str
        What the message must contain: the value, the place, what to do.
    options : mapping
        Changes to the command that `INTERNAL` and `EXTERNAL` are audited with.
    files : mapping
        Files beside those two, or in their place.
    arguments : sequence of str, optional
        The whole command, where `options` cannot say it.
    """

    name: str
    words: Sequence[str]
    options: Mapping[str, object] = field(default_factory=dict)
    files: Mapping[str, Content] = field(default_factory=dict)
    arguments: Sequence[str] | None = None

    @property
    def command(self) -> list[str]:
        """The arguments; a report is asked for, which must not be written."""
        if self.arguments is not None:
            return list(self.arguments)
        return command(**{"report": "report.html", **self.options})


def parquet(columns: Mapping[str, object], path: Path) -> None:
    pq.write_table(pa.table(dict(columns)), path)


def truncated_parquet(path: Path) -> None:
    parquet({"job": ["nurse", "driver"] * 500, "approved": ["yes", "no"] * 500, "n": [1] * 1000}, path)
    path.write_bytes(path.read_bytes()[:-100])


def truncated_gzip(path: Path) -> None:
    rows = "".join(f"nurse,yes,{n}\n" for n in range(1, 3000))
    path.write_bytes(gzip.compress(f"job,approved,n\n{rows}".encode())[:-50])


def folder_with(*names: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        for name in names:
            (path / name).write_text(INTERNAL)

    return make


def rows(*lines: str) -> str:
    """Return an internal file of one row per line."""
    return csv("job,approved,n", *lines)


def people(*lines: str) -> str:
    """Return an external file of one row per line."""
    return csv("job,sex,people", *lines)


UNWEIGHTED = {"internal_weight": None, "external_weight": None}
LABELLED = csv(
    "job,approved,repaid,n",
    "nurse,yes,yes,3",
    "nurse,no,no,7",
    "teacher,yes,no,6",
    "teacher,no,yes,6",
    "driver,yes,yes,9",
)
SCORED = csv("job,p,n", "nurse,0.3,10", "teacher,0.5,12", "driver,0.9,16")
SCORE = {"decision": None, "favourable": None, "score": "p"}
PERSONS = csv("job,approved", *(f"nurse,{word}" for word in ("yes", "no")), "teacher,yes", "driver,yes")
IDS = "".join(f"{number},yes\n" for number in range(1500))
LONG = "a department with a name that never ends, " * 40


def id_files(first: str, second: str) -> dict[str, Content]:
    return {"internal.csv": first, "external.csv": second}


# fmt: off
CASES = [
    # -- the files -----------------------------------------------------------------------------------------------------
    Case("missing file", ["internal file 'interna.csv'", "does not exist", "did you mean 'internal.csv'"],
         {"internal": "interna.csv"}),
    Case("missing external file", ["external file", "census.csv", "does not exist"], {"external": "census.csv"}),
    Case("missing folder", ["data/2024/internal.csv", "nor does the folder 'data/2024'"],
         {"internal": "data/2024/internal.csv"}),
    Case("folder", ["'data' is a folder", "name a file", "data/*.csv"], {"internal": "data"},
         {"data": folder_with("part-1.csv")}),
    Case("empty path", ["internal file", "empty name", "give a path"], {"internal": ""}),
    Case("file name too long", ["internal file", "xxxx"], {"internal": "x" * 5000}),
    Case("file name with a zero byte", ["does not exist"], {"internal": "inter\0nal.csv"}),
    Case("empty file", ["internal file 'internal.csv'", "is empty"], files={"internal.csv": b""}),
    Case("blank file", ["external file 'external.csv'", "is empty"], files={"external.csv": "\n \n\n"}),
    Case("header only", ["internal.csv", "no rows"], files={"internal.csv": "job,approved,n\n"}),
    Case("header without names", ["internal.csv", "no column names"], files={"internal.csv": ",,\nnurse,yes,1\n"}),
    Case("binary file", ["internal.csv", "binary", "CSV"], files={"internal.csv": bytes(range(256)) * 20}),
    Case("Excel workbook", ["'internal.xlsx'", "Excel", "save it as CSV"], {"internal": "internal.xlsx"},
         {"internal.xlsx": b"PK\x03\x04" + bytes(500)}),
    Case("PDF", ["'census.pdf'", "PDF", "save it as CSV"], {"external": "census.pdf"},
         {"census.pdf": b"%PDF-1.7\n" + bytes(500)}),
    Case("web page", ["internal.csv", "'approved'", "<!DOCTYPE html>"],
         files={"internal.csv": "<!DOCTYPE html>\n<html><body>Please log in</body></html>\n"}),
    Case("gzip that is not gzip", ["internal.csv.gz", "gzip"], {"internal": "internal.csv.gz"},
         {"internal.csv.gz": b"\x1f\x8b" + b"no gzip after all" * 20}),
    Case("truncated gzip", ["internal.csv.gz", "incomplete gzip", "download it again"],
         {"internal": "internal.csv.gz"}, {"internal.csv.gz": truncated_gzip}),
    Case("truncated Parquet", ["internal.parquet", "damaged"], {"internal": "internal.parquet"},
         {"internal.parquet": truncated_parquet}),
    Case("text named Parquet", ["internal.parquet", "no Parquet file"], {"internal": "internal.parquet"},
         {"internal.parquet": INTERNAL}),
    Case("Parquet with lists", ["'approved'", "internal.parquet", "must be text"], {"internal": "internal.parquet"},
         {"internal.parquet": partial(parquet, {"job": ["nurse", "driver"], "approved": [["yes"], ["no"]],
                                                "n": [1, 2]})}),
    Case("damaged Arrow file", ["internal.arrow", "damaged"], {"internal": "internal.arrow"},
         {"internal.arrow": b"ARROW1\0\0" + bytes(50)}),
    Case("broken JSON line", ["line 2", "internal.jsonl", "JSON"], {"internal": "internal.jsonl"},
         {"internal.jsonl": '{"job": "nurse", "approved": "yes", "n": 1}\n{"job": \n'}),
    Case("JSON of columns", ["internal.json", "list"], {"internal": "internal.json"},
         {"internal.json": '{"job": ["nurse"], "approved": ["yes"], "n": [1]}'}),
    Case("JSON that mixes types", ["'job'", "internal", "int", "str", "one type"], {"internal": "internal.jsonl"},
         {"internal.jsonl": '{"job": 1, "approved": "yes", "n": 1}\n{"job": "1", "approved": "no", "n": 1}\n'}),
    Case("JSON with nested values", ["'job'", "internal.jsonl", "{'code': 1}", "must be text"],
         {"internal": "internal.jsonl"},
         {"internal.jsonl": '{"job": {"code": 1}, "approved": "yes", "n": 1}\n'}),
    Case("JSON without objects", ["internal.json", "object"], {"internal": "internal.json"},
         {"internal.json": "[1, 2, 3]"}),
    Case("not UTF-8", ["line 3", "internal.csv", "UTF-8"],
         files={"internal.csv": "job,approved,n\nnurse,yes,1\nemployé,no,2\n".encode("latin-1")}),
    Case("not UTF-8, far down", ["line 40,002", "internal.csv", "UTF-8"],
         files={"internal.csv": b"job,approved,n\n" + b"nurse,yes,1\n" * 40_000 + "employé,no,2\n".encode("latin-1")}),
    Case("ragged line", ["line 3", "internal.csv", "4 values", "3 columns"],
         files={"internal.csv": rows("nurse,yes,1", "driver,no,2,9", "nurse,no,3")}),
    Case("short line", ["line 4", "external.csv", "2 values", "3 columns"],
         files={"external.csv": people("nurse,female,1", "driver,male,2", "driver,male")}),
    Case("open quotation mark", ["line 3", "internal.csv", "quotation mark"],
         files={"internal.csv": rows("nurse,yes,1", '"driver,no,2', "nurse,no,3")}),
    Case("spaces after the commas", ["internal.csv", "'approved'", "did you mean ' approved'"],
         files={"internal.csv": INTERNAL.replace(",", ", ")}),
    Case("title above the header", ["external.csv", "'sex'", "'Table 1: people by job'"],
         files={"external.csv": f"Table 1: people by job\n\n{EXTERNAL}"}),
    Case("duplicate columns", ["internal.csv", "'approved'", "more than once", "rename one"],
         files={"internal.csv": csv("job,approved,approved,n", "nurse,yes,no,1", "driver,no,no,2")}),
    Case("duplicate columns of Parquet", ["internal.parquet", "'job'", "more than once"],
         {"internal": "internal.parquet"},
         {"internal.parquet": lambda path: pq.write_table(
             pa.table([["a"], ["b"], [1]], names=["job", "job", "n"]), path)}),
    Case("address", ["'https://census.example/people.csv'", "address", "download it first"],
         {"external": "https://census.example/people.csv"}),
    Case("pattern without match", ["no internal file", "'part-*.csv'"], {"internal": "part-*.csv"}),
    Case("device", ["external file 'null'", "not a regular file"], {"external": "/dev/null"}),
    Case("empty Parquet", ["internal.parquet", "no rows"], {"internal": "internal.parquet"},
         {"internal.parquet": partial(parquet, {"job": pa.array([], pa.string()), "approved": pa.array([], pa.string()),
                                                "n": pa.array([], pa.int64())})}),
    Case("pattern over files of different columns", ["part-2.csv", "lacks 'n'", "part-1.csv"],
         {"internal": "part-*.csv"}, {"part-1.csv": INTERNAL, "part-2.csv": csv("job,approved", "nurse,yes")}),
    # -- the names of columns ------------------------------------------------------------------------------------------
    Case("wrong protected column", ["external.csv", "'sexe'", "did you mean 'sex'"], {"protected": "sexe"}),
    Case("wrong second protected column", ["external.csv", "'rase'", "'people'"], {"protected": ["sex", "rase"]}),
    Case("wrong decision column", ["internal.csv", "'aproved'", "did you mean 'approved'"], {"decision": "aproved"}),
    Case("wrong decision column in another case", ["'Approved'", "did you mean 'approved'"], {"decision": "Approved"}),
    Case("wrong label column", ["internal.csv", "'repayed'", "did you mean 'repaid'"], {"label": "repayed"},
         {"internal.csv": LABELLED}),
    Case("label missing from the file", ["internal.csv", "'default'", "'approved'"], {"label": "default"}),
    Case("wrong score column", ["internal.csv", "'scor'", "did you mean 'score'"], {**SCORE, "score": "scor"},
         {"internal.csv": SCORED.replace("p,", "score,", 1)}),
    Case("wrong common column", ["'jobb'", "did you mean 'job'"], {"common": "jobb"}),
    Case("common column of one table only", ["external.csv", "'approved'"], {"common": "approved"}),
    Case("wrong internal weight", ["internal.csv", "'m'", "'approved'"], {"internal_weight": "m"}),
    Case("wrong external weight", ["external.csv", "'peopel'", "did you mean 'people'"], {"external_weight": "peopel"}),
    Case("column names with quotes and line breaks", ["'no such'", "internal.csv"], {"decision": "no such"},
         {"internal.csv": '"job","the ""final""\ndecision, as\nwritten",n\nnurse,yes,1\ndriver,no,2\n'}),
    Case("long names of columns", ["internal.csv", "'approve'", "did you mean 'approved'"], {"decision": "approve"},
         {"internal.csv": csv(",".join(["job,approved,n", *(f"question {n}: {LONG[:150]}".replace(",", "")
                                                            for n in range(20))]), "nurse,yes,1" + "," * 20)}),
    Case("columns separated by a comma", ["external.csv", "'sex,people'", "repeat"], {"protected": "sex,people"}),
    Case("empty name of a column", ["external.csv", "''"], {"protected": ""}),
    Case("same file twice", ["external", "'sex'", "'approved'"], {"external": "internal.csv"}),
    Case("no common column", ["no common column", "'occupation'", "'job'", "rename"],
         files={"external.csv": EXTERNAL.replace("job", "occupation", 1)}),
    # -- roles ---------------------------------------------------------------------------------------------------------
    Case("protected also internal", ["'sex'", "internal", "leave the column out"],
         files={"internal.csv": csv("job,sex,approved,n", "nurse,female,yes,1", "driver,male,no,2")}),
    Case("protected is the weight", ["'people'", "two roles"], {"protected": "people"}),
    Case("protected is common", ["'sex'", "internal.csv"], {"common": ["job", "sex"]}),
    Case("common twice", ["'job'", "once"], {"common": ["job", "job"]}),
    Case("protected twice", ["'sex'", "once"], {"protected": ["sex", "sex"]}),
    Case("decision is the label", ["'approved'", "two roles"], {"label": "approved"}),
    Case("decision is the weight", ["'n'", "two roles"], {"decision": "n"}),
    Case("decision is common", ["'approved'", "two roles"], {"common": ["job", "approved"]},
         {"external.csv": csv("job,approved,sex,people", "nurse,yes,female,1", "driver,no,male,1")}),
    Case("weight is common", ["'n'", "two roles"], {"common": ["job", "n"], "external_weight": "n"},
         {"external.csv": EXTERNAL.replace("people", "n", 1)}),
    Case("decision and score", ["decision", "score", "not both"], {"score": "p"},
         {"internal.csv": csv("job,approved,p,n", "nurse,yes,0.5,1", "driver,no,0.1,2")}),
    Case("neither decision nor score", ["--decision", "--score"], {"decision": None, "favourable": None}),
    Case("weights in both files, one of them named", ["'n'", "--external-weight"], {"external_weight": None},
         {"external.csv": EXTERNAL.replace("people", "n", 1)}),
    # -- the outcome ---------------------------------------------------------------------------------------------------
    Case("three levels and no favourable", ["'approved'", "'later'", "--favourable"], {"favourable": None},
         {"internal.csv": rows("nurse,yes,1", "nurse,no,1", "driver,later,2")}),
    Case("two unusual levels and no favourable", ["'approved'", "'hired'", "'rejected'", "--favourable"],
         {"favourable": None}, {"internal.csv": rows("nurse,hired,1", "nurse,rejected,1", "driver,hired,2")}),
    Case("unknown favourable", ["'approved'", "'yess'", "did you mean 'yes'"], {"favourable": "yess"}),
    Case("favourable that was never given", ["'approved'", "'yes'", "'no'"],
         files={"internal.csv": rows("nurse,no,1", "driver,no,2")}),
    Case("favourable in another spelling of the number", ["'approved'", "'1'", "'1.0'"], {"favourable": "1"},
         {"internal.csv": rows("nurse,1.0,1", "driver,0.0,2")}),
    Case("unknown favourable like nothing", ["'approved'", "'granted'", "'no'", "'yes'"], {"favourable": "granted"}),
    Case("label of three levels", ["'repaid'", "'late'", "--positive"], {"label": "repaid"},
         {"internal.csv": csv("job,approved,repaid,n", "nurse,yes,full,1", "nurse,no,late,1", "driver,yes,never,2")}),
    Case("unknown positive", ["'repaid'", "'yea'", "did you mean 'yes'"], {"label": "repaid", "positive": "yea"},
         {"internal.csv": LABELLED}),
    Case("positive without label", ["--positive", "--label"], {"positive": "yes"}),
    Case("score above 1", ["'p'", "1.2", "between 0 and 1"], SCORE, {"internal.csv": SCORED.replace("0.9", "1.2")}),
    Case("score below 0", ["'p'", "-0.1", "between 0 and 1"], SCORE, {"internal.csv": SCORED.replace("0.3", "-0.1")}),
    Case("score in percent", ["'p'", "30", "between 0 and 1"], SCORE,
         {"internal.csv": csv("job,p,n", "nurse,30,10", "teacher,50,12", "driver,90,16")}),
    Case("infinite score", ["'p'", "inf"], SCORE, {"internal.csv": SCORED.replace("0.9", "inf")}),
    Case("score with text", ["'p'", "'high'", "internal.csv"], SCORE, {"internal.csv": SCORED.replace("0.9", "high")}),
    Case("decimal comma in a score", ["'p'", "'0,9'", "internal.csv"], SCORE,
         {"internal.csv": "job;p;n\nnurse;0,3;10\nteacher;0,5;12\ndriver;0,9;16\n"}),
    Case("missing score", ["'p'", "missing", "--missing drop"], SCORE, {"internal.csv": SCORED.replace("0.9", "")}),
    Case("score that is nan", ["'p'", "missing", "1 row"], SCORE, {"internal.csv": SCORED.replace("0.9", "nan")}),
    Case("missing score as a level", ["'p'", "missing", "--missing drop"], {**SCORE, "missing": "level"},
         {"internal.csv": SCORED.replace("0.9", "")}),
    # -- metrics, methods and thresholds -------------------------------------------------------------------------------
    Case("metric that needs a label", ["true_positive", "true outcome", "--label"], {"metric": "true_positive_rate"}),
    Case("unknown metric", ["'disparate_impct'", "did you mean 'disparate_impact'"], {"metric": "disparate_impct"}),
    Case("unknown metric like nothing", ["'fairness'", "'disparate_impact'"], {"metric": "fairness"}),
    Case("unknown method", ["'latent'", "independence"], {"method": "latent"}),
    Case("threshold 0", ["threshold", "0.0"], {"threshold": 0}),
    Case("threshold 1.5", ["threshold", "1.5"], {"threshold": 1.5}),
    Case("threshold in percent", ["threshold", "80"], {"threshold": 80}),
    Case("threshold nan", ["threshold", "nan"], {"threshold": "nan"}),
    Case("threshold in words", ["--threshold", "'four fifths'"], {"threshold": "four fifths"}),
    Case("tolerance -1", ["tolerance", "-1"], {"tolerance": -1}),
    Case("tolerance nan", ["tolerance", "nan"], {"tolerance": "nan"}),
    Case("gate without anything to judge", ["gate", "--metric", "--tolerance"],
         {"gate": True, "metric": "selection_rate"}),
    # -- groups --------------------------------------------------------------------------------------------------------
    Case("unknown reference", ["'sex'", "'mal'", "did you mean 'male'"], {"reference": "mal"}),
    Case("reference in another case", ["'Male'", "did you mean 'male'"], {"reference": "Male"}),
    Case("one group only", ["'sex'", "two groups", "'female'"],
         files={"external.csv": people("nurse,female,1", "driver,female,2")}),
    Case("one group only, which is the reference", ["'sex'", "two groups", "'female'"], {"reference": "female"},
         {"external.csv": people("nurse,female,1", "driver,female,2")}),
    Case("one group with weight", ["'sex'", "two groups", "'female'"],
         files={"external.csv": people("nurse,female,1", "driver,female,2", "driver,male,0")}),
    Case("second group outside the population", ["'sex'", "two groups", "'female'", "audited"],
         {"population": "internal"}, {"external.csv": people("nurse,female,1", "teacher,female,2", "driver,female,1",
                                                           "pilot,male,3")}),
    Case("reference outside the population", ["'sex'", "'male'", "audited population"],
         {"population": "internal", "reference": "male"},
         {"external.csv": people("nurse,female,1", "teacher,other,2", "driver,other,1", "pilot,male,3")}),
    Case("reference among combined groups", ["'male or white'", "did you mean 'male × white'"],
         {"protected": ["sex", "race"], "reference": "male or white"},
         {"external.csv": csv("job,sex,race,people", "nurse,male,white,1", "nurse,female,white,2",
                              "driver,male,black,3")}),
    Case("protected is an identifier", ["protected", "'sex'", "identifier", "1500"], UNWEIGHTED,
         id_files(PERSONS, "job,sex\n" + "".join(f"nurse,person {n}\n" for n in range(1500)))),
    # -- common variables ----------------------------------------------------------------------------------------------
    Case("one stratum", ["never vary", "job=nurse", "--one-stratum allow"],
         files={"internal.csv": rows("nurse,yes,1", "nurse,no,2"),
                "external.csv": people("nurse,female,1", "nurse,male,2")}),
    Case("one stratum of the audited population", ["never vary", "job=nurse", "--one-stratum allow"],
         files={"external.csv": people("nurse,female,1", "nurse,male,2")}),
    Case("identifier in both files", ["'id'", "identifier", "1500", "--common"],
         {**UNWEIGHTED, "common": None},
         id_files("id,approved\n" + IDS, "id,sex\n" + IDS.replace("yes", "female", 700).replace("yes", "male"))),
    Case("identifier beside a common variable", ["'id'", "identifier", "--common"], UNWEIGHTED,
         id_files("id,job,approved\n" + "".join(f"{n},nurse,yes\n" for n in range(1500)),
                  "id,job,sex\n" + "".join(f"{n},nurse,{'fm'[n % 2]}\n" for n in range(1500)))),
    Case("identifiers that never meet", ["'id'", "identifier", "--common"], UNWEIGHTED,
         id_files("id,approved\n" + "".join(f"A{n:04},yes\n" for n in range(1500)),
                  "id,sex\n" + "".join(f"A-{n:05},{'fm'[n % 2]}\n" for n in range(1500, 3000)))),
    Case("levels in another case", ["'job'", "spelling", "'Driver'", "'driver'", "--recode job="],
         files={"internal.csv": INTERNAL.replace("driver", "Driver")}),
    Case("levels with other spaces", ["'job'", "spelling", "'bus driver'", "'bus driver '", "--recode job="],
         files={"internal.csv": INTERNAL.replace("driver", "bus driver"),
                "external.csv": EXTERNAL.replace("driver", "bus driver ")}),
    Case("levels with double spaces", ["'job'", "spelling", "'bus driver'", "'bus  driver'", "--recode job="],
         files={"internal.csv": INTERNAL.replace("driver", "bus driver"),
                "external.csv": EXTERNAL.replace("driver", "bus  driver")}),
    Case("levels with no-break spaces", ["'job'", "spelling", "'bus driver'", r"'bus\xa0driver'"],
         files={"internal.csv": INTERNAL.replace("driver", "bus driver"),
                "external.csv": EXTERNAL.replace("driver", "bus\N{NO-BREAK SPACE}driver")}),
    Case("levels with other punctuation", ["'job'", "spelling", "'bus-driver'", "'bus driver'"],
         files={"internal.csv": INTERNAL.replace("driver", "bus-driver"),
                "external.csv": EXTERNAL.replace("driver", "bus driver")}),
    Case("1 and 1.0", ["'job'", "spelling", "'1'", "'1.0'", "--recode job="],
         files={"internal.csv": INTERNAL.replace("driver", "1"), "external.csv": EXTERNAL.replace("driver", "1.0")}),
    Case("spelling twins within one file", ["'job'", "'nurse'", "'Nurse'", "--recode job="],
         files={"internal.csv": INTERNAL + "Nurse,yes,4\n"}),
    Case("no level in common", ["'job'", "shares no level", "'nurse'", "'2221'", "--recode job="],
         files={"external.csv": people("2221,female,1", "2341,male,2", "8322,male,3")}),
    Case("numbers that never meet", ["'income'", "shares no level", "--bin income="], {"common": "income"},
         {"internal.csv": csv("income,approved,n", "1000.5,yes,1", "2000.1,no,2"),
          "external.csv": csv("income,sex,people", "1010.5,male,1", "2010.1,female,2")}),
    Case("unmatched level", ["'job'", "'pilot'", "only external", "--unmatched warn", "--recode job="],
         {"unmatched": "error"}, {"external.csv": EXTERNAL + "pilot,male,50\n"}),
    Case("unmatched levels on both sides", ["'job'", "'pilot'", "'baker'", "--unmatched warn"], {"unmatched": "error"},
         {"internal.csv": INTERNAL + "baker,yes,4\n", "external.csv": EXTERNAL + "pilot,male,50\n"}),
    Case("unmatched combination", ["in the external table only", "driver", "north", "--unmatched warn"],
         {"unmatched": "error"},
         {"internal.csv": csv("job,region,approved,n", "nurse,north,yes,1", "nurse,south,no,2", "driver,south,no,2"),
          "external.csv": csv("job,region,sex,people", "nurse,north,female,1", "nurse,south,female,2",
                              "driver,south,male,2", "driver,north,male,2")}),
    Case("long names of levels", ["'job'", "shares no level", "--recode job="],
         files={"internal.csv": rows(f'"{LONG} one",yes,1', f'"{LONG} two",no,1'),
                "external.csv": people(f'"{LONG} three",female,1', f'"{LONG} four",male,1')}),
    Case("long names of groups", ["'sex'", "'nobody'", "its groups are"], {"reference": "nobody"},
         {"external.csv": EXTERNAL.replace("female", f'"{LONG}"').replace("male", f'"{LONG} too"')}),
    Case("levels with line breaks", ["'job'", "shares no level", "--recode job="],
         files={"internal.csv": rows('"a\nb",yes,1', '"c\r\nd",no,1'),
                "external.csv": people("x,female,1", '"y\n\nz",male,1')}),
    # -- weights -------------------------------------------------------------------------------------------------------
    Case("negative weight", ["'n'", "internal.csv", "1 row", "-300", "not negative"],
         files={"internal.csv": INTERNAL.replace("300", "-300")}),
    Case("negative external weight", ["'people'", "external.csv", "-9000"],
         files={"external.csv": EXTERNAL.replace("9000", "-9000")}),
    Case("weight that is nan", ["'n'", "internal.csv", "1 row", "finite"],
         files={"internal.csv": INTERNAL.replace("300", "nan")}),
    Case("infinite weight", ["'people'", "external.csv", "inf", "finite"],
         files={"external.csv": EXTERNAL.replace("9000", "inf")}),
    Case("weight with text", ["'n'", "internal.csv", "'many'", "numbers"],
         files={"internal.csv": INTERNAL.replace("300", "many")}),
    Case("weight with a thousands separator", ["'people'", "external.csv", "'9,000'"],
         files={"external.csv": EXTERNAL.replace("9000", '"9,000"')}),
    Case("missing weight", ["'n'", "internal.csv", "1 row", "no value"],
         files={"internal.csv": INTERNAL.replace("300", "")}),
    Case("weights that are all zero", ["'n'", "internal.csv", "zero"],
         files={"internal.csv": rows("nurse,yes,0", "driver,no,0")}),
    Case("weights beyond all numbers", ["'n'", "internal.csv"],
         files={"internal.csv": rows("nurse,yes,1e308", "driver,no,1e308", "driver,yes,1e308")}),
    # -- missing values ------------------------------------------------------------------------------------------------
    Case("missing common value", ["internal.csv", "'job'", "1 row", "--missing drop", "--missing level"],
         files={"internal.csv": INTERNAL.replace("driver,yes", ",yes")}),
    Case("missing protected value", ["external.csv", "'sex'", "1 row", "--missing drop"],
         files={"external.csv": EXTERNAL.replace("driver,male", "driver,")}),
    Case("missing decision", ["internal.csv", "'approved'", "1 row", "--missing drop"],
         files={"internal.csv": INTERNAL.replace("driver,yes", "driver,")}),
    Case("missing label", ["internal.csv", "'repaid'", "1 row", "--missing drop"], {"label": "repaid"},
         {"internal.csv": LABELLED.replace("nurse,yes,yes", "nurse,yes,")}),
    Case("nothing left once missing values are dropped", ["internal.csv", "no row", "'job'"], {"missing": "drop"},
         {"internal.csv": rows(",yes,1", ",no,2")}),
    Case("bad policy for missing values", ["--missing", "'ignore'", "'drop'"], {"missing": "ignore"}),
    # -- recode and bin ------------------------------------------------------------------------------------------------
    Case("recode without a map", ["--recode", "'job'", "COLUMN=MAP.csv"], {"recode": "job"}),
    Case("recode map that is not there", ["recode map file 'map.csv'", "does not exist", "did you mean 'maps.csv'"],
         {"recode": "job=map.csv"}, {"maps.csv": "nurse,health\n"}),
    Case("recode map that is a folder", ["'maps' is a folder", "name a file"], {"recode": "job=maps"},
         {"maps": folder_with()}),
    Case("recode map of three columns", ["'map.csv'", "two columns", "line 2", "has 3"], {"recode": "job=map.csv"},
         {"map.csv": "old,new\nnurse,health,1\n"}),
    Case("empty recode map", ["'map.csv'", "empty", "old,new"], {"recode": "job=map.csv"}, {"map.csv": "old,new\n"}),
    Case("recode map that is not UTF-8", ["'map.csv'", "UTF-8"], {"recode": "job=map.csv"},
         {"map.csv": "nurse,santé\n".encode("latin-1")}),
    Case("recode map with bars", ["'map.csv'", "two columns", "line 1", "has 1"], {"recode": "job=map.csv"},
         {"map.csv": "nurse|health\n"}),
    Case("recode to nothing", ["'map.csv'", "'nurse'", "empty"], {"recode": "job=map.csv"}, {"map.csv": "nurse,\n"}),
    Case("recode of an unknown level", ["recode", "'job'", "'nurs'", "did you mean 'nurse'"],
         {"recode": "job=map.csv"}, {"map.csv": "nurs,health\n"}),
    Case("recode of an unknown column", ["'jobs'", "did you mean 'job'"], {"recode": "jobs=map.csv"},
         {"map.csv": "nurse,health\n"}),
    Case("recode of the favourable level", ["'approved'", "'yes'", "'granted'"], {"recode": "approved=map.csv"},
         {"map.csv": "yes,granted\n"}),
    Case("recode into one group", ["'sex'", "two groups", "'any'"], {"recode": "sex=map.csv"},
         {"map.csv": "female,any\nmale,any\n"}),
    Case("recode of an unused column", ["'region'", "'job'"], {"recode": "region=map.csv"},
         {"internal.csv": csv("job,region,approved,n", "nurse,north,yes,1", "driver,south,no,2"),
          "map.csv": "north,N\n"}),
    Case("recode both ways", ["'map.csv'", "'nurse'", "'health'", "'care'"], {"recode": "job=map.csv"},
         {"map.csv": "nurse,health\nnurse,care\n"}),
    Case("two maps of one column", ["'job'"], {"recode": ["job=a.csv", "job=b.csv"]},
         {"a.csv": "nurse,health\n", "b.csv": "driver,transport\n"}),
    Case("recode into one level", ["never vary", "--one-stratum allow"], {"recode": "job=map.csv"},
         {"map.csv": "nurse,any\nteacher,any\ndriver,any\n"}),
    Case("bin without edges", ["--bin", "'age'", "COLUMN=25,60"], {"bin": "age"}),
    Case("bin with text", ["age=young,old", "numbers"], {"bin": "age=young,old"}),
    Case("bin with decreasing edges", ["'age'", "increasing", "60"], {"bin": "age=60,25"},
         {"internal.csv": csv("age,approved,n", "20,yes,1", "70,no,2"),
          "external.csv": csv("age,sex,people", "30,female,1", "65,male,2")}),
    Case("bin at nan", ["'age'", "nan"], {"bin": "age=25,nan"},
         {"internal.csv": csv("age,approved,n", "20,yes,1", "70,no,2"),
          "external.csv": csv("age,sex,people", "20,female,1", "70,male,2")}),
    Case("bin with semicolons", ["age=25;60", "commas"], {"bin": "age=25;60"}),
    Case("bin of a column that holds text", ["'job'", "'driver'", "not a number"], {"bin": "job=25,60"}),
    Case("bin of an unknown column", ["'jobs'", "did you mean 'job'"], {"bin": "jobs=25,60"}),
    Case("bin of one column twice", ["'age'"], {"bin": ["age=25", "age=60"]},
         {"internal.csv": csv("age,approved,n", "20,yes,1", "70,no,2"),
          "external.csv": csv("age,sex,people", "20,female,1", "70,male,2")}),
    # -- the command line ----------------------------------------------------------------------------------------------
    Case("no command", ["name a command", "audit", "--help"], arguments=[]),
    Case("unknown command", ["'audti'", "'audit'"], arguments=["audti"]),
    Case("unknown option", ["'--decison'", "'--decision'"], arguments=["audit", "a.csv", "b.csv", "--decison", "x"]),
    Case("no files", ["INTERNAL"], arguments=["audit"]),
    Case("one file", ["EXTERNAL"], arguments=["audit", "internal.csv"]),
    Case("three files", ["third.csv"], arguments=["audit", "internal.csv", "external.csv", "third.csv",
                                                    "--protected", "sex"]),
    Case("no protected column", ["--protected"], {"protected": None}),
    Case("option without a value", ["--protected"], arguments=["audit", "internal.csv", "external.csv", "--protected"]),
    Case("bad population", ["--population", "'census'", "'external'"], {"population": "census"}),
    Case("bad format", ["--format", "'xml'", "'json'"], {"format": "xml"}),
    Case("bad unmatched", ["--unmatched", "'ignore'", "'warn'"], {"unmatched": "ignore"}),
    Case("empty report", ["report", "name a file"], {"report": ""}),
    Case("report in a missing folder", ["reports/audit.html", "folder"], {"report": "reports/audit.html"}),
    Case("report that is a folder", ["'reports'", "folder"], {"report": "reports"}, {"reports": folder_with()}),
    Case("report over the internal file", ["internal.csv", "report", "another"], {"report": "internal.csv"}),
    Case("report over the external file", ["external.csv", "report", "another"], {"report": "./external.csv"}),
    Case("demo with a bad data set", ["'adults'", "'adult'"], arguments=["demo", "--dataset", "adults"]),
    Case("demo report in a missing folder", ["reports/demo.html", "folder"],
         arguments=["demo", "--dataset", "german", "--report", "reports/demo.html"]),
]
# fmt: on


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working folder; temporary files go there too, so that one left behind is seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def prepared(folder: Path, case: Case) -> dict[str, tuple[int, int]]:
    write(folder, {"internal.csv": INTERNAL, "external.csv": EXTERNAL, **case.files})
    return listing(folder)


def refuse(case: Case, code: int, printed: str, said: str) -> None:
    """Hold a refusal to what is promised of every one."""
    assert (code, printed) == (2, ""), said
    assert said.startswith("fairbounds: ")
    assert said.endswith("\n")
    assert len(said.splitlines()) == 1
    assert "Traceback" not in said
    assert not [word for word in case.words if word not in said], said
    assert len(said) <= MOST_LETTERS, said


def named(case: Any) -> str:
    return str(case.name)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_bad_input_is_refused_in_one_sentence(case: Case, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = prepared(folder, case)
    code = cli.run(case.command)
    refuse(case, code, *capsys.readouterr())
    assert listing(folder) == before


REAL = ["missing file", "truncated Parquet", "no common column", "unknown option", "protected also internal"]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in REAL], ids=named)
def test_a_process_of_its_own_refuses_alike(case: Case, folder: Path) -> None:
    before = prepared(folder, case)
    done = subprocess.run(
        [sys.executable, "-m", "fairbounds", *case.command], check=False, capture_output=True, text=True
    )
    refuse(case, done.returncode, done.stdout, done.stderr)
    assert listing(folder) == before


def test_a_file_that_may_not_be_read(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:  # taking the permission away would not stop root
        raise PermissionError(13, "Permission denied")

    case = Case("no permission", ["internal.csv", "permission denied"])
    prepared(folder, case)
    monkeypatch.setattr(Path, "open", refused)
    refuse(case, cli.run(case.command), *capsys.readouterr())


def test_there_are_many_cases_and_no_two_of_one_name() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 70
    assert set(REAL) <= set(names)


# -- Python ------------------------------------------------------------------------------------------------------------

ROWS: dict[str, list[Any]] = {
    "job": ["nurse", "nurse", "driver", "driver"],
    "approved": ["yes", "no", "yes", "no"],
    "n": [3, 7, 9, 1],
}
PEOPLE: dict[str, list[Any]] = {
    "job": ["nurse", "nurse", "driver", "driver"],
    "sex": ["female", "male", "female", "male"],
    "people": [90, 10, 8, 92],
}
MODEL = {"decision": None, "features": ["job"]}


@dataclass(frozen=True)
class Refusal:
    """Arguments of `fairbounds.audit` that must be refused; changes to an audit of `ROWS` and `PEOPLE`."""

    name: str
    words: Sequence[str]
    changes: Mapping[str, Any]


def answering(*values: object) -> Callable[[object], list[object]]:
    return lambda _: list(values)


# fmt: off
REFUSALS = [
    Refusal("no table", ["internal", "path", "dataframe", "int"], {"internal": 0}),
    Refusal("bytes for a path", ["external", "path", "bytes"], {"external": b"census.csv"}),
    Refusal("a series", ["internal", "dataframe", "Series"], {"internal": pd.Series([1, 2])}),
    Refusal("no rows", ["internal", "no rows"], {"internal": pd.DataFrame(ROWS).iloc[:0]}),
    Refusal("empty list", ["internal", "empty"], {"internal": []}),
    Refusal("rows that are lists", ["internal", "row 1", "[1, 2]"], {"internal": [[1, 2]]}),
    Refusal("columns of different lengths", ["internal", "'n' 1", "equally long"], {"internal": {**ROWS, "n": [1]}}),
    Refusal("two columns of one name", ["internal", "'job'", "more than once"],
            {"internal": pd.DataFrame([["a", "b", "yes", 1]], columns=["job", "job", "approved", "n"])}),
    Refusal("column names of several levels", ["internal", "several levels"],
            {"internal": pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")]))}),
    Refusal("an object column that mixes types", ["'job'", "internal", "int", "str", "one type"],
            {"internal": pd.DataFrame({**ROWS, "job": ["1", 1, "driver", "driver"]})}),
    Refusal("a column of lists", ["'job'", "internal", "must be text"],
            {"internal": pd.DataFrame({**ROWS, "job": [["a"], ["a"], ["b"], ["b"]]})}),
    Refusal("a missing column of two frames alike", ["internal pandas dataframe", "'repaid'"],
            {"internal": pd.DataFrame(ROWS), "external": pd.DataFrame(PEOPLE), "label": "repaid"}),
    Refusal("a column in the index", ["internal", "'job'", "reset_index"],
            {"internal": pd.DataFrame(ROWS).set_index("job"), "common": ["job"]}),
    Refusal("a weight for a Table", ["internal Table", "own weights", "'n'"],
            {"internal": fb.Table.from_columns({"job": ROWS["job"], "approved": ROWS["approved"]}, ROWS["n"])}),
    Refusal("a missing value of pandas", ["internal pandas", "'job'", "1 row", 'missing="drop"'],
            {"internal": pd.DataFrame({**ROWS, "job": ["nurse", None, "driver", "driver"]})}),
    Refusal("a missing weight", ["'n'", "internal", "1 row", "no value"],
            {"internal": pd.DataFrame({**ROWS, "n": [3, float("nan"), 9, 1]})}),
    Refusal("a negative weight of polars", ["'n'", "internal polars", "-7"],
            {"internal": pl.DataFrame({**ROWS, "n": [3, -7, 9, 1]})}),
    Refusal("weights beyond all numbers", ["'n'", "internal"], {"internal": {**ROWS, "n": [1e308] * 4}}),
    Refusal("times against text", ["'job'", "shares no level", "2020-01-01", "recode"],
            {"internal": pd.DataFrame({**ROWS, "job": pd.to_datetime(["2020-01-01 06:00", "2021-01-01 06:00"] * 2)}),
             "external": {**PEOPLE, "job": ["2020-01-01", "2021-01-01"] * 2}}),
    Refusal("a favourable level of a score", ["--favourable", "yes", "'p'", "leave it out"],
            {"internal": {"job": ["nurse", "driver"], "p": [0.2, 0.4], "n": [1, 1]}, "decision": None, "score": "p",
             "favourable": "yes"}),
    Refusal("a threshold in words", ["threshold", "number", "'0.8'"], {"threshold": "0.8"}),
    Refusal("no tolerance", ["tolerance", "number", "None"], {"tolerance": None}),
    Refusal("a confidence in words", ["confidence", "number", "'high'"], {"confidence": "high"}),
    Refusal("a number for a column", ["decision", "name of a column", "5"], {"decision": 5}),
    Refusal("a number for columns", ["protected", "list of names", "3"], {"protected": 3}),
    Refusal("numbers among columns", ["common", "list of names", "[1]"], {"common": [1]}),
    Refusal("several favourable levels", ["favourable", "one level"], {"favourable": ["yes"]}),
    Refusal("a recode map of nothing", ["recode", "map columns", "'x'"], {"recode": "x"}),
    Refusal("bins without edges", ["bins", "map columns", "3"], {"bins": {"job": 3}}),
    Refusal("a number for metrics", ["5", "list"], {"metrics": 5}),
    Refusal("no protected variable", ["protected"], {"protected": []}),
    Refusal("bad population", ["'census'", "'external'", "'internal'"], {"population": "census"}),
    Refusal("bad policy for missing values", ["'ignore'", "'drop'", "'level'"], {"missing": "ignore"}),
    Refusal("bad policy for unmatched levels", ["'eror'", "'warn'", "'error'"], {"unmatched": "eror"}),
    Refusal("bad policy for one stratum", ["'eror'", "'allow'", "'error'"], {"one_stratum": "eror"}),
    Refusal("a path for a recode map", ["recode", "'job'", "'map.csv'"], {"recode": {"job": "map.csv"}}),
    Refusal("text for bins", ["bin", "'job'", "'25,60'"], {"bins": {"job": "25,60"}}),
    Refusal("features without a model", ["features", "predict"], {"features": ["job"]}),
    Refusal("a model that is none", ["predict", "callable", "3"], {**MODEL, "predict": 3}),
    Refusal("the class of a model", ["predict", "dict", "instance"], {**MODEL, "predict": dict}),
    Refusal("a model and a decision", ["model", "one of them"], {"predict": answering(0.5, 0.5)}),
    Refusal("unknown feature", ["'jobb'", "did you mean 'job'"],
            {**MODEL, "predict": answering(0.5, 0.5), "features": ["jobb"]}),
    Refusal("no features", ["model", "feature"], {**MODEL, "predict": answering(0.5, 0.5), "features": []}),
    Refusal("too few answers", ["model", "1 values", "2 distinct rows"], {**MODEL, "predict": answering(0.5)}),
    Refusal("a probability above 1", ["model", "1.5", "[0, 1]"], {**MODEL, "predict": answering(0.5, 1.5)}),
    Refusal("no answer", ["model", "NaN", "1 of 2"], {**MODEL, "predict": answering(0.5, float("nan"))}),
    Refusal("one answer for all", ["model", "one value per row"], {**MODEL, "predict": lambda _: 1}),
    Refusal("answers in words", ["'granted'", "'refused'", "favourable"],
            {**MODEL, "predict": answering("granted", "refused")}),
]
# fmt: on


@pytest.mark.parametrize("refusal", REFUSALS, ids=named)
def test_the_python_entry_refuses_in_one_sentence(refusal: Refusal) -> None:
    roles = {"protected": "sex", "decision": "approved", "internal_weight": "n", "external_weight": "people"}
    arguments = {"internal": ROWS, "external": PEOPLE, **roles, **refusal.changes}
    with pytest.raises(fb.FairboundsError) as caught:
        fb.audit(arguments.pop("internal"), arguments.pop("external"), **arguments)
    said = str(caught.value)
    assert not [word for word in refusal.words if word not in said], said
    assert len(said) <= MOST_LETTERS
    assert "\n" not in said
