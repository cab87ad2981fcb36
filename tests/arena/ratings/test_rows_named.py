"""Refused rows of a battles table are named by the line on which they stand, in every kind of file."""

import json
from pathlib import Path

import openpyxl  # pyright: ignore[reportMissingModuleSource]
import pytest

from arena.ratings.reading import read_battles
from runstore.problems import InputProblem

HEADER = "model_a,model_b,winner,weight,note"
GOOD = "P,Q,model_a,1,x"


def refusal(path: Path) -> str:
    with pytest.raises(InputProblem) as caught:
        read_battles(path)
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("blank", ["", ",,,,", '\n"P",Q,tie,1,"a note\nof two lines"'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("P,Q,nobody,1,x", "winner: found nobody"),
        (",Q,tie,1,x", "model_a: found ''"),
        ("P,Q,tie,heavy,x", "weight: found 'heavy', expected a number"),
        ("P,Q,tie,nan,x", "weight: found 'nan', expected a number"),
        ("P,Q,tie,,x", "weight: found nothing, expected a finite number"),
        ("P,Q,tie,-1,x", "weight: found -1.0, expected a finite number"),
    ],
)
def test_a_separated_row_by_its_line(blank, encoding, end, bad, said, tmp_path):
    lines = [HEADER, GOOD, *blank.split("\n"), GOOD, bad, GOOD]
    path = tmp_path / "battles.csv"
    path.write_bytes((end.join(lines) + end).encode(encoding))
    row = 4 if "note" in blank else 3
    assert refusal(path).startswith(f":{lines.index(bad) + 1}: {said}")
    assert f"(in data row {row})" in refusal(path)


def test_an_object_by_its_line_and_a_sheets_row_by_its_number(tmp_path):
    names = HEADER.split(",")
    good, bad = (dict(zip(names, row.split(","), strict=True)) for row in (GOOD, "P,Q,nobody,1,x"))
    path = tmp_path / "battles.jsonl"
    path.write_text("\n\n".join(map(json.dumps, [good, good, bad, good])), encoding="utf-8")
    assert refusal(path).startswith(":5: winner: found nobody")
    path = tmp_path / "battles.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (names, list(good.values()), [None] * 5, list(bad.values())):
        sheet.append(row)
    book.save(path)
    assert refusal(path).startswith(":4: winner: found nobody")


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_rows_of_empty_cells_are_no_battles(end, tmp_path):
    path = tmp_path / "battles.csv"
    path.write_bytes(f"{HEADER}\r\n{GOOD}\r\n,,,,\r\n{GOOD}\r\n,,,,{end}".encode())
    assert read_battles(path).total == 2


@pytest.mark.parametrize(("name", "text"), [("b.csv", HEADER + "\n"), ("b.jsonl", ""), ("b.json", "[]")])
def test_a_table_without_a_row_is_refused(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert "expected at least one battle" in refusal(tmp_path / name)
