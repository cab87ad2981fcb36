from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from arena.agent_runs.columns import read_mapping
from arena.agent_runs.tables import Layout, Table, open_table
from runstore.problems import InputProblem, Problem
from tests.support.agent_runs_table import HEADER, rows, table_text


def write(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def cells(table: Table, field: str) -> list[str]:
    return [row[table.columns.index[field]] for _, row in table.rows() if row is not None]


@pytest.mark.parametrize(
    "text",
    [
        'run_id,question,answer\r\n1,"2+2?",4\r\n',
        '"run_id",question,answer\r\n1,"2+2?",4\r\n',
        'run_id;question;answer\r\n1;"2+2?";4\r\n',
        'run_id\tquestion\tanswer\n1\t"2+2?"\t4\n',
        'sep=;\r\nrun_id;question;answer\r\n1;"2+2?";4\r\n',
        'run_id,question,answer\r1,"2+2?",4\r',
    ],
)
def test_a_mark_before_the_first_header_is_no_part_of_it(tmp_path: Path, text: str) -> None:
    table = open_table(write(tmp_path / "a.csv", b"\xef\xbb\xbf" + text.encode()))
    assert table.stream.encoding.name == "UTF-8 with mark"
    assert table.columns.form == "plain"
    assert cells(table, "run_id") == ["1"]
    assert cells(table, "query") == ["2+2?"]
    assert cells(table, "response") == ["4"]


def test_a_missing_required_column_names_those_that_were_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "run_id,question\n1,x\n")
    with pytest.raises(InputProblem, match=r"'응답' \(response\).*columns found: 'run_id', 'question'"):
        open_table(path)


def test_a_plain_table_needs_some_id(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"query_id.*run_id.*columns found: 'question', 'answer'"):
        open_table(write(tmp_path / "a.csv", "question,answer\nx,y\n"))


@pytest.mark.parametrize("gone", ["Query ID", "기대결과", "방/반복", "Raw JSON"])
def test_agent_runs_need_their_four_columns(tmp_path: Path, gone: str) -> None:
    place = HEADER.index(gone)
    lines = [row[:place] + row[place + 1 :] for row in rows()]
    header = [name for name in HEADER if name != gone]
    path = write(tmp_path / "a.csv", table_text(lines, header))
    with pytest.raises(InputProblem) as problem:
        open_table(path)
    assert gone in str(problem.value).split("columns found")[0]
    assert "'LLM 점수'" in str(problem.value).split("columns found")[1]


def test_a_column_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="twice"):
        open_table(write(tmp_path / "a.csv", "run_id,answer,Answer\n1,a,b\n"))


def test_texts_that_look_missing_or_numeric_stay_texts(tmp_path: Path) -> None:
    text = "run_id,answer\n007,NA\n012,None\n1e5,null\n12,\n 1.50 ,nan\n"
    table = open_table(write(tmp_path / "a.csv", text))
    assert cells(table, "run_id") == ["007", "012", "1e5", "12", " 1.50 "]
    assert cells(table, "response") == ["NA", "None", "null", "", "nan"]


def test_row_numbers_are_those_of_a_spreadsheet(tmp_path: Path) -> None:
    text = 'run_id,answer\n1,"two\nlines"\n\n2,b\n3,c,extra\n4,d,\n'
    table = open_table(write(tmp_path / "a.csv", text))
    assert list(table.rows()) == [(2, ["1", "two\nlines"]), (4, ["2", "b"]), (5, None), (6, ["4", "d"])]


def test_huge_cells_are_read_whole(tmp_path: Path) -> None:
    huge = "가" * 400_000
    table = open_table(write(tmp_path / "a.csv", f'run_id,answer\n1,"{huge}"\n'))
    assert cells(table, "response") == [huge]


def test_a_quote_that_is_never_closed_is_refused_with_its_line(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "a.csv", 'run_id,answer\n1,a\n2,"b\n3,c\n'))
    with pytest.raises(InputProblem, match=r"a\.csv:3: .*every quote closed"):
        list(table.rows())


def test_a_damaged_byte_in_utf8_is_not_taken_for_another_encoding(tmp_path: Path) -> None:
    text = "run_id,answer\n1,카드 결제일을 변경합니다\n2,".encode() + b"\xff\n"
    with pytest.raises(InputProblem, match=r"a\.csv:3: found byte 0xff"):
        open_table(write(tmp_path / "a.csv", text))


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "run_id;answer\n1;é;\n".encode("cp1252"))
    with pytest.raises(InputProblem, match="--encoding"):
        open_table(path)
    assert cells(open_table(path, Layout(encoding="cp1252")), "response") == ["é"]
    with pytest.raises(Problem, match="--encoding"):
        open_table(path, Layout(encoding="klingon"))


def test_korean_beyond_the_first_block_is_noticed(tmp_path: Path) -> None:
    text = "run_id,answer\n" + "1,plain ascii\n" * 200_000 + "2,끝\n"
    assert open_table(write(tmp_path / "a.csv", text.encode("cp949"))).stream.encoding.name == "CP949"
    assert open_table(write(tmp_path / "b.csv", text.encode())).stream.encoding.name == "UTF-8"


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\n\n"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputProblem, match="header"):
        open_table(write(tmp_path / "a.csv", content))


def test_a_mapping_names_another_teams_columns(tmp_path: Path) -> None:
    mapping = write(
        tmp_path / "m.yaml", "query_id: 문항\nraw_json: [payload, trace]\nround: 차수\nexpected: 정답\n"
    )
    table = write(tmp_path / "a.csv", "문항,차수,정답,trace,응답\nQ1,1/1,dataKey=K,{},네\n")
    found = open_table(table, Layout(read_mapping(mapping)))
    assert cells(found, "query_id") == ["Q1"]
    assert cells(found, "raw_json") == ["{}"]
    assert cells(found, "response") == ["네"]


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("query: x\nquery_idd: y\n", "nearest: query_id"),
        ("- a\n", "field: column pairs"),
        ("query_id: 3\n", "a column's name"),
        ("query_id: [\n", "YAML"),
    ],
)
def test_a_wrong_mapping_is_explained(tmp_path: Path, yaml: str, message: str) -> None:
    with pytest.raises(InputProblem, match=message):
        read_mapping(write(tmp_path / "m.yaml", yaml))


def test_a_mapped_column_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match=r"'문항'.*columns found: 'run_id', 'answer'"):
        open_table(write(tmp_path / "a.csv", "run_id,answer\n1,a\n"), Layout({"query_id": ("문항",)}))


def test_jsonl_keeps_numbers_as_written_and_takes_objects(tmp_path: Path) -> None:
    lines = [
        '{"run_id": 1e5, "answer": null}',
        '{"run_id": "007", "answer": "NA"}',
        "",
        '{"run_id": 12, "answer": {"deep": [1.50, true]}}',
    ]
    table = open_table(write(tmp_path / "a.jsonl", "\n".join(lines)))
    assert cells(table, "run_id") == ["1e5", "007", "12"]
    assert cells(table, "response")[:2] == ["", "NA"]
    assert json.loads(cells(table, "response")[2]) == {"deep": [1.5, True]}
    assert [number for number, _ in table.rows()] == [1, 2, 4]


def test_a_broken_json_line_is_named(tmp_path: Path) -> None:
    table = open_table(write(tmp_path / "a.jsonl", '{"run_id": 1, "answer": "a"}\n{"run_id": \n'))
    with pytest.raises(InputProblem, match=r"a\.jsonl:2"):
        list(table.rows())


def test_xlsx_gives_the_same_texts(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["run_id", "answer", None])
    sheet.append(["007", "NA", None])
    sheet.append([])
    sheet.append([12, None, None])
    sheet.append(["1e5", "줄\n바꿈", None])
    book.save(tmp_path / "a.xlsx")
    table = open_table(tmp_path / "a.xlsx")
    assert list(table.rows()) == [(2, ["007", "NA"]), (4, ["12", ""]), (5, ["1e5", "줄\n바꿈"])]


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="XLSX workbook"):
        open_table(write(tmp_path / "a.xlsx", b"not a zip"))


def test_the_whole_hand_made_table_survives_every_way_in(tmp_path: Path) -> None:
    listed = rows()
    text = table_text(listed, quoting=csv.QUOTE_ALL)
    assert [row for _, row in open_table(write(tmp_path / "a.csv", text)).rows()] == listed
    lines = "\n".join(json.dumps(dict(zip(HEADER, row, strict=True)), ensure_ascii=False) for row in listed)
    assert [row for _, row in open_table(write(tmp_path / "a.jsonl", lines)).rows()] == listed
