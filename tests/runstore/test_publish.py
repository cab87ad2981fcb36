"""What every published file keeps: strict JSON, CSV that no spreadsheet runs, names that any file system takes."""

import csv
import io
import json
import math
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runstore.publish import FILLERS, read_csv, safe_name, to_json, write_csv, write_json, write_jsonl, write_text

CELLS = [
    '=HYPERLINK("http://127.0.0.1/x","click")',
    "+1",
    "@SUM(A1)",
    "\t=1",
    "\n@x",
    "\u200b=1",
    "\ufeff=1",
    "\u00a0-1",
    "\u3164=1",
    "\u2800+1",
    "\u115f@x",
    "＝1",
    "-3 is my answer",
    "'=1",
    "''+1",
    "'quoted'",
    "007",
    "NA",
    "",
    "한글",
    "a\n=2",
]


def starts(cell: str) -> str:
    """The first character that is there to see."""
    seen = (
        one
        for one in cell
        if not one.isspace() and one not in FILLERS and unicodedata.category(one) not in {"Cc", "Cf", "Mn"}
    )
    return next(seen, "")


def test_no_text_cell_begins_as_a_formula_numbers_stay_numbers_and_all_come_back(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(path, ["=cmd", "number"], [(cell, -0.5) for cell in CELLS])
    data = path.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    header, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""))
    assert all(starts(cell) not in set("=+-@＝＋－＠") for cell in [header[0], *(row[0] for row in rows)])
    assert {row[1] for row in rows} == {"-0.5"}
    found, again = read_csv(path)
    assert found == ["=cmd", "number"]
    assert [row["=cmd"] for row in again] == CELLS


@given(st.lists(st.text(alphabet="=+-@' \t\n\u200b\u3164aé한,\";\r", max_size=6), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back_as_it_was(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    write_csv(path, ["n", *(f"c{place}" for place in range(len(cells)))], [[1, *cells]])
    _, (row,) = read_csv(path)
    assert [row[f"c{place}"] for place in range(len(cells))] == cells


def test_json_never_holds_what_is_no_json(tmp_path):
    values = {
        "nan": math.nan,
        "inside": [1.5, math.inf, {"low": -math.inf}],
        "half": "Nice \ud83d work",
        "key\ud83d": 1,
    }
    write_json(tmp_path / "a.json", values)
    write_jsonl(tmp_path / "a.jsonl", [values])

    def refuse(constant):
        raise AssertionError(constant)

    for name in ("a.json", "a.jsonl"):
        read = json.loads((tmp_path / name).read_bytes().decode("utf-8"), parse_constant=refuse)
        assert (read["nan"], read["inside"]) == (None, [1.5, None, {"low": None}])
        assert (read["half"], read["key\ufffd"]) == ("Nice \ufffd work", 1)
    assert json.loads(to_json({"pair": "\U0001f44d", "arabic": "مرحبا"})) == {
        "pair": "\U0001f44d",
        "arabic": "مرحبا",
    }


def test_a_text_with_half_an_emoji_is_written_as_utf8(tmp_path):
    write_text(tmp_path / "a.txt", "Nice \ud83d work \U0001f44d")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "Nice \ufffd work \U0001f44d"


@pytest.mark.parametrize(
    "names",
    [
        ["org/tutor:8b", "org-tutor-8b", "org_tutor_8b", "../../up", "CON", "con", "n" * 300, "n" * 301],
        [
            "a",
            "A",
            "a.",
            "a ",
            " a",
            ".",
            "..",
            "",
            "한글",
            "한글 ",
            "LPT1.txt",
            "aux.md",
            "a\u200b",
            "a\x00",
            "é",
            "e\u0301",
        ],
    ],
)
def test_any_name_becomes_a_file_name_of_its_own_on_every_system(names):
    made = [safe_name(name) for name in names]
    assert len({one.casefold() for one in made}) == len(names)
    for one in made:
        assert one
        assert len(one) < 100
        assert not set(one) & set('<>:"/\\|?*')
        assert one.strip(". ") == one
        assert one.split(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT1"}
    assert made == [safe_name(name) for name in names]
