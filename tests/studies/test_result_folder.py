"""A folder of results appears whole or not at all, and nothing that somebody else put there is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fairbounds.errors import SourceError
from fairbounds.studies import writing
from fairbounds.studies.document import Bullets, Code, Grid, Heading, Paragraph, Places, as_html, as_markdown
from fairbounds.studies.writing import LISTED, csv_text, json_text, refuse_folder, whole_folder, write_text


def write(target: Path, **files: str) -> None:
    with whole_folder(target) as unfinished:
        names = write_text(unfinished, files.items())
        write_text(unfinished, [("summary.json", json_text({LISTED: names}))])


def write_and_fail(target: Path, trouble: BaseException) -> None:
    with whole_folder(target) as unfinished:
        write_text(unfinished, [("half/a", "1")])
        raise trouble


def test_a_later_run_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    write(tmp_path / "out", first="1", shared="1")
    write(tmp_path / "out", second="2", shared="2")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"second", "shared", "summary.json"}
    assert (tmp_path / "out" / "shared").read_text() == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("trouble", [KeyboardInterrupt, ValueError, OSError(28, "No space left on device")])
def test_what_goes_wrong_on_the_way_leaves_everything_as_it_was(tmp_path: Path, trouble: BaseException) -> None:
    write(tmp_path / "out", kept="1")
    expected = SourceError if isinstance(trouble, OSError) else trouble
    with pytest.raises(expected):
        write_and_fail(tmp_path / "out", trouble)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "kept").read_text() == "1"


def test_a_move_that_fails_puts_the_earlier_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", kept="1")
    moves: list[str] = []

    def replace(source: Path, target: Path) -> None:
        moves.append(Path(target).name)
        if len(moves) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    rename = os.replace
    monkeypatch.setattr(writing.os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "out", other="2")
    assert moves[1:] == ["out", "out"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "kept").read_text() == "1"


def test_places_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("x")
    (tmp_path / "empty").mkdir()
    refuse_folder(tmp_path / "empty")
    with pytest.raises(SourceError, match="that is a file"):
        refuse_folder(tmp_path / "file")
    with pytest.raises(SourceError, match=r"holds 'thesis\.tex', which no earlier run wrote"):
        refuse_folder(tmp_path / "foreign")
    with pytest.raises(SourceError, match=r"there is no folder .*; create it first"):
        refuse_folder(tmp_path / "no" / "out")
    write(tmp_path / "out", known="1")
    (tmp_path / "out" / "notes.txt").write_text("x")
    with pytest.raises(SourceError, match=r"holds 'notes\.txt'"):
        write(tmp_path / "out", known="2")
    assert (tmp_path / "out" / "known").read_text() == "1"


def test_a_place_that_cannot_be_written_to_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(SourceError, match="cannot be written: Permission denied; give another place with --out"):
        refuse_folder(tmp_path / "out")


@pytest.mark.parametrize("listed", ["[]", '{"files": 3}', "{", '{"files": ["summary.json", "a"]}'])
def test_a_list_of_files_that_somebody_else_wrote_vouches_for_nothing_more(tmp_path: Path, listed: str) -> None:
    (tmp_path / "summary.json").write_text(listed)
    (tmp_path / "b").write_text("x")
    with pytest.raises(SourceError, match=r"holds 'b'|holds 'summary"):
        refuse_folder(tmp_path)


def test_numbers_are_written_with_all_their_digits() -> None:
    value = 0.1 + 0.2
    text = csv_text({"x": [value, None], "said": ['a "b", c', "two\nlines"]})
    assert text == f'x,said\n{value!r},"a ""b"", c"\n,"two\nlines"\n'
    assert json.loads(json_text({"x": value})) == {"x": value}
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text({"x": float("nan")})


# -- pages -------------------------------------------------------------------------------------------------------------

LONG = Grid("Rows", ("name", "n", "share", "words"), tuple((f"r{k}", f"{k}", "−1.5 ± 0.2", "a|b") for k in range(3)))


def test_columns_of_numbers_stand_on_the_right() -> None:
    text = as_markdown([LONG])
    assert text.splitlines()[3] == "|:---|---:|---:|:---|"
    assert text.splitlines()[4] == r"| r0 | 0 | −1.5 ± 0.2 | a\|b |"
    page = as_html([LONG], "T")
    assert '<th scope="row">r1</th><td class="n">1</td><td class="n">−1.5 ± 0.2</td><td>a|b</td>' in page


def test_long_tables_are_folded_where_asked() -> None:
    assert "<details>" not in as_markdown([LONG], Places(fold=3))
    folded = as_markdown([LONG], Places(fold=2))
    assert "<summary>Rows (3 rows)</summary>" in folded
    assert folded.count("| r") == 3


def test_what_people_wrote_cannot_become_markup() -> None:
    page = as_html([Heading(2, "a < b"), Paragraph("<script> **x** `y`"), Bullets(("<i>",)), Code("a && b")], "<t>")
    assert "<title>&lt;t&gt;</title>" in page
    assert '<h2 id="a-b">a &lt; b</h2>' in page
    assert "<p>&lt;script&gt; <strong>x</strong> <code>y</code></p>" in page
    assert "<li>&lt;i&gt;</li>" in page
    assert "<pre><code>a &amp;&amp; b</code></pre>" in page
