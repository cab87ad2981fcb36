"""One reader for the tables that people bring, in every dress and through every command that takes one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl  # pyright: ignore[reportMissingModuleSource]
import pytest

from arena.agreement.table import load as load_ratings
from arena.ratings.reading import read_battles
from arena.rubrics.rubric import load_rubric
from arena.scoring.sessions import load_sessions
from frontdesk.cli import main
from runstore.problems import InputProblem
from runstore.tables import Schema, read_table, whole_number
from seed_questions import load as load_questions

Rows = Sequence[Sequence[str]]
ROOT = Path(__file__).parents[2]


def _text(rows: Rows, mark: str = ",") -> str:
    return "".join(mark.join(row) + "\n" for row in rows)


def _workbook(path: Path, rows: Rows) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in rows:
        sheet.append(list(row))
    book.save(path)


def _objects(rows: Rows) -> list[dict[str, str]]:
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


DRESSES: dict[str, tuple[str, Callable[[Path, Rows], object]]] = {
    "cp949": ("t.csv", lambda path, rows: path.write_bytes(_text(rows).encode("cp949"))),
    "utf-8 with mark": ("t.csv", lambda path, rows: path.write_bytes(_text(rows).encode("utf-8-sig"))),
    "utf-16": ("t.csv", lambda path, rows: path.write_bytes(_text(rows).encode("utf-16"))),
    "semicolon": ("t.csv", lambda path, rows: path.write_text(_text(rows, ";"), encoding="utf-8")),
    "tab": ("t.tsv", lambda path, rows: path.write_text(_text(rows, "\t"), encoding="utf-8")),
    "xlsx": ("t.xlsx", _workbook),
    "lines": ("t.jsonl", lambda path, rows: path.write_text("\n".join(map(json.dumps, _objects(rows))))),
    "array": ("t.json", lambda path, rows: path.write_text(json.dumps(_objects(rows), indent=1))),
    "wrapped": ("t.json", lambda path, rows: path.write_text(json.dumps({"n": 1, "sessions": _objects(rows)}))),
}
BATTLES = [["model_a", "model_b", "승자"], ["가람", "나래", "model_a"], ["나래", "가람", "tie"]]
RATINGS = [
    ["항목", "평가자", "점수"],
    ["가", "김", "４"],
    ["가", "이", "4.0"],
    ["나", "김", "5"],
    ["나", "이", "3"],
]
SESSIONS = [["번호", "질문", "응답"], ["가1", "왜요?", "그래서요."], ["가2", "뭐예요?", "이거예요."]]
QUESTIONS = [["과목", "질문"], ["수학", "분수가 뭐예요?"], ["수학", "왜 약분해요?"]]


def _read_names(path: Path) -> object:
    return sorted(read_battles(path).names)


def _read_matrix(path: Path) -> object:
    return load_ratings(path).matrix.tolist()


def _read_questions(path: Path) -> object:
    return [question.text for question in load_questions(path, "ko")]


def _read_sessions(path: Path) -> object:
    return [(s.id, s.messages[1].text) for s in load_sessions(path, load_rubric("qac"))]


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize(
    ("rows", "read", "expected"),
    [
        (BATTLES, _read_names, ["가람", "나래"]),
        (RATINGS, _read_matrix, [[4, 4], [5, 3]]),
        (SESSIONS, _read_sessions, [("가1", "그래서요."), ("가2", "이거예요.")]),
        (QUESTIONS, _read_questions, ["분수가 뭐예요?", "왜 약분해요?"]),
    ],
    ids=["battles", "ratings", "sessions", "questions"],
)
def test_every_dress_reads_alike(
    tmp_path: Path, dress: str, rows: Rows, read: Callable[[Path], object], expected: object
) -> None:
    name, write = DRESSES[dress]
    write(tmp_path / name, rows)
    assert read(tmp_path / name) == expected


def test_rows_and_columns_are_the_same_table(tmp_path: Path) -> None:
    rows = [("a", "", "b"), *((f"{n}", "x", "'=1" if n % 2 else "'tis") for n in range(5000))]
    path = tmp_path / "t.csv"
    path.write_text(_text(rows), encoding="utf-8")
    table = read_table(path)
    assert table.header == ("a", "b")
    assert len(table.rows) == len(table.lines) == 5000
    assert table.rows[1] == (3, {"a": "1", "b": "=1"})
    assert list(table.rows[4998:]) == [(5000, {"a": "4998", "b": "'tis"}), (5001, {"a": "4999", "b": "=1"})]
    assert list(zip(table.column("a"), table.column("b"), strict=True)) == [
        (r["a"], r["b"]) for _, r in table.rows
    ]
    assert set(table.column("c")) == {None}


def test_what_was_assumed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(_text(RATINGS, ";").encode("cp949"))
    load_ratings(path)
    assert capsys.readouterr().err == "", "a library says nothing"
    assert main(["agree", "--ratings", str(path), "--out", str(tmp_path / "out"), "--resamples", "0"]) == 0
    assert capsys.readouterr().err.count("CP949, semicolon, 항목 as item") == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "a,b,a\n1,2,3\n", r":1: a: found 'a' twice \(columns 1 and 3\)"),
        ("t.csv", "a,가,나\n1,2,3\n", r"found '가' and '나' \(columns 2 and 3\), expected one column for x"),
        ("t.jsonl", '{"a":1}\n{"a":1,"b":2,"a":3}\n', r":2: found 'a' twice \(keys 1 and 3"),
        ("t.json", '[\n{"a":1},\n{"a":1,"a":3}]', r":3: found 'a' twice"),
        ("t.json", '[\n{"a":NaN}]', r":2: found NaN is not JSON"),
        ("t.csv", "a,b\n1,2\n" + '3,"4\n' + "5,6\n" * 9, r":3: .*expected CSV with every quote closed"),
        ("t.csv", 'a,b\n1,2\n3,"4\n5,6\n7,"8"\n', r":3: .*expected CSV with every quote closed"),
        ("t.csv", "a,b\n1\n", r":2: found 1 cells, expected 2 cells"),
    ],
)
def test_what_has_two_readings_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputProblem, match=message):
        read_table(tmp_path / name, Schema({"x": ("가", "나")}))


def test_an_open_quote_does_not_swallow_battles(tmp_path: Path) -> None:
    rows = ["p,q,model_a"] * 5 + ['p,"q,model_a'] + ["q,p,tie"] * 50
    (tmp_path / "b.csv").write_text("\n".join(["model_a,model_b,winner", *rows]) + "\n")
    with pytest.raises(InputProblem, match=r"b.csv:7: .*every quote closed"):
        read_battles(tmp_path / "b.csv")


@pytest.mark.parametrize("twin", ["p ", "p\u00a0", "p\u200b", "p\0", "\u200ep", "p\ufe0f", "\u3164p"])
def test_names_that_look_alike_are_refused_together(tmp_path: Path, twin: str) -> None:
    path = tmp_path / "b.csv"
    path.write_text(f"model_a,model_b,winner\np,q,tie\n{twin},q,tie\n", encoding="utf-8")
    with pytest.raises(InputProblem, match="expected one spelling of each name"):
        read_battles(path)


def test_composed_and_decomposed_names_are_refused_together(tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text(
        "model_a,model_b,winner\nalpha,베타,tie\n\u1107\u1166\u1110\u1161,alpha,tie\n", encoding="utf-8"
    )
    with pytest.raises(InputProblem, match="one spelling"):
        read_battles(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json"])
def test_a_refusal_names_the_column_that_stands_in_the_file(tmp_path: Path, suffix: str) -> None:
    rows = [{"문항": "a", "평가자": "r", "점수": "4"}, {"문항": "b", "평가자": "r", "점수": "넷"}]
    path = tmp_path / f"t.{suffix}"
    if suffix.startswith("json"):
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text("\n".join(lines) if suffix == "jsonl" else f"[{','.join(lines)}]", encoding="utf-8")
    else:
        mark = "," if suffix == "csv" else "\t"
        lines = [mark.join(rows[0]), *(mark.join(row.values()) for row in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputProblem, match="점수: found 넷") as refused:
        load_ratings(path)
    assert refused.value.field == "점수"
    path.write_text(path.read_text("utf-8").replace("점수", "value"), encoding="utf-8")
    with pytest.raises(InputProblem, match="value: found 넷"):
        load_ratings(path)


def test_columns_that_were_found_are_listed_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("문항,평가자\na,r\n", encoding="utf-8")
    with pytest.raises(InputProblem, match="found 문항, 평가자, expected the long format"):
        load_ratings(path)


def test_two_names_for_one_field_in_one_file_leave_it_its_own(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [{"문항": "a", "평가자": "r", "점수": 4}, {"item": "b", "rater": "r", "value": "four"}]
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    with pytest.raises(InputProblem, match="2: value: found four"):
        load_ratings(path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_game_is_counted_once(tmp_path: Path, suffix: str) -> None:
    rows = [["game_id", "model_a", "model_b", "winner"], ["g1", "p", "q", "tie"], ["", "p", "q", "tie"]]
    rows += [["", "q", "p", "tie"], ["g2", "p", "q", "model_a"]]
    path = tmp_path / f"b{suffix}"
    for more, accepted in ((["g3", "p", "q", "tie"], True), (["g1", "q", "p", "tie"], False)):
        table = [*rows, more]
        path.write_text(_text(table) if suffix == ".csv" else "\n".join(map(json.dumps, _objects(table))))
        if accepted:
            assert read_battles(path).number.sum() == 5
        else:
            with pytest.raises(InputProblem, match="game_id: found 'g1' again, expected each game once"):
                read_battles(path)


def test_nan_is_no_weight(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("model_a,model_b,winner,weight\np,q,tie,nan\n")
    with pytest.raises(InputProblem, match="weight: found 'nan', expected a number"):
        read_battles(tmp_path / "b.csv")


def test_texts_that_begin_with_an_equals_sign_stay_texts(tmp_path: Path) -> None:
    answers = ["=> then halve it", "= 3 이므로 답은 3", "=)"]
    _workbook(tmp_path / "t.xlsx", [["id", "answer"], *([str(n), text] for n, text in enumerate(answers))])
    assert [row["answer"] for _, row in read_table(tmp_path / "t.xlsx").rows] == answers


@pytest.mark.parametrize("formula", ["=A1+1", '=CONCATENATE(A2," x")', "=SUM(A1:A3)"])
def test_a_formula_that_was_never_computed_is_refused_by_cell(tmp_path: Path, formula: str) -> None:
    _workbook(tmp_path / "t.xlsx", [["id", "answer"], ["1", "ok"], ["2", formula]])
    with pytest.raises(InputProblem, match="cell B3"):
        read_table(tmp_path / "t.xlsx")


def test_long_cells_and_line_separators(tmp_path: Path) -> None:
    long = "x" * 200_000
    (tmp_path / "t.csv").write_text(f"id,answer\n1,{long}\n2,a\u2028b\n", encoding="utf-8")
    assert [row["answer"] for _, row in read_table(tmp_path / "t.csv").rows] == [long, "a\u2028b"]
    (tmp_path / "q.txt").write_text("What?\u2028And why?\nSecond\x0cgoes on.\n", encoding="utf-8")
    assert len(load_questions(tmp_path / "q.txt")) == 2


@pytest.mark.parametrize(
    ("text", "number"),
    [("４", "4"), ("4.0", "4"), *((text, None) for text in ("4.5", "nan", "4²", "④", "4½", "3,4", "1e999"))],
)
def test_whole_numbers(text: str, number: str | None) -> None:
    assert whole_number(text) == number


def test_only_the_reader_opens_peoples_files() -> None:
    """The product's own stage files, and the plan and answers that a study keeps, go through runstore.publish."""
    own = {"runstore/publish.py", "arena/human/plan.py", "frontdesk/web/desk.py", "frontdesk/export/tables.py"}
    opens = re.compile(
        r"csv\.reader|DictReader|read_csv\b|read_csv_lines|load_workbook|decode\(.cp949|ParquetFile", re.IGNORECASE
    )
    packages = ("personas", "seed_questions", "runstore", "gateway", "simulator", "arena", "frontdesk")
    files = (path for package in packages for path in (ROOT / package).rglob("*.py"))
    openers = {
        path.relative_to(ROOT).as_posix() for path in files if opens.search(path.read_text(encoding="utf-8"))
    }
    strangers = {name for name in openers if not name.startswith("runstore/tables/")} - own
    # Battles in Parquet come in Arrow's own chunks: tables of tens of millions of rows.
    assert strangers <= {"arena/ratings/reading.py"}
