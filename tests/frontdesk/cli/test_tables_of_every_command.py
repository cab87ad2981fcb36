"""Every command that takes a table takes it in every dress, with Korean headers, and comes to the same result."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import openpyxl  # pyright: ignore[reportMissingModuleSource]
import pytest

from arena.human.folder import StudyFolder
from arena.scoring.people import wide_header
from frontdesk.cli import main
from frontdesk.web.store import Store
from runstore.publish import read_csv
from tests.support.human_site import planned
from tests.support.qac_sheets import QAC, sheet_text

Rows = Sequence[Sequence[str]]
SUFFIX = {
    "tab": ".tsv",
    "xlsx": ".xlsx",
    "lines": ".jsonl",
    "array": ".json",
    "wrapped": ".json",
    "parquet": ".parquet",
}
ENCODED = {"plain": "utf-8", "cp949": "cp949", "utf-16": "utf-16", "marked": "utf-8-sig"}
DRESSES = (*ENCODED, "semicolon", *SUFFIX)


def dressed(folder: Path, dress: str, rows: Rows) -> Path:
    path = folder / f"table{SUFFIX.get(dress, '.csv')}"
    objects = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    if dress == "xlsx":
        book = openpyxl.Workbook()
        sheet: Any = book.active
        for row in rows:
            sheet.append(list(row))
        book.save(path)
    elif dress == "parquet":
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(objects), path)
    elif dress == "lines":
        path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in objects), encoding="utf-8")
    elif dress in ("array", "wrapped"):
        path.write_text(json.dumps(objects if dress == "array" else {"sessions": objects}), encoding="utf-8")
    else:
        mark = {"semicolon": ";", "tab": "\t"}.get(dress, ",")
        path.write_bytes("".join(mark.join(row) + "\n" for row in rows).encode(ENCODED.get(dress, "utf-8")))
    return path


def agree(table: Path, out: Path) -> object:
    assert main(["agree", "--ratings", str(table), "--out", str(out), "--resamples", "0"]) == 0
    found = json.loads((out / "agreement.json").read_text(encoding="utf-8"))
    return found["raters"], found["rows"]


def rate(table: Path, out: Path) -> object:
    assert main(["rate", "--battles", str(table), "--out", str(out), "--intervals", "none"]) == 0
    board = json.loads((out / "leaderboard.json").read_text(encoding="utf-8"))
    return sorted((model["name"], model["wins"], model["ties"]) for model in board["models"])


def config_of(out: Path) -> Path:
    out.mkdir(exist_ok=True)
    replies = out / "replies.jsonl"
    replies.write_text(json.dumps({"reply": sheet_text(1)}) + "\n", encoding="utf-8")
    config = out / "arena.toml"
    config.write_text(
        '[run]\nname = "x"\nseed = 7\nlanguage = "ko"\n[endpoints.j]\nkind = "scripted"\n'
        f"replies = {str(replies)!r}\nconcurrency = 1\n",
        encoding="utf-8",
    )
    return config


def score(table: Path, out: Path, *more: str) -> object:
    fixed = [
        "--rubric",
        "qac",
        "--config",
        str(config_of(out)),
        "--judge",
        "j",
        "--repeats",
        "1",
        "--resamples",
        "0",
    ]
    assert main(["score", "--input", str(table), "--out", str(out / "scores"), *fixed, *more]) == 0
    rows = read_csv(out / "scores" / "scores.csv")[1]
    return sorted((row["subject"], row["judge"], row["total"]) for row in rows)


def sheets(table: Path, out: Path) -> object:
    out.mkdir()
    sessions = dressed(out, "plain", SESSIONS)
    return score(sessions, out, "--sheets", str(table))


def questions(table: Path, out: Path) -> object:
    file = out.with_suffix(".jsonl")
    assert main(["questions", "--input", str(table), "--language", "ko", "--output", str(file)]) == 0
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(row["id"], row["subject"], row["text"]) for row in found]


def personas(table: Path, out: Path) -> object:
    file = out.with_suffix(".jsonl")
    assert main(["personas", "--input", str(table), "--language", "ko", "--output", str(file)]) == 0
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [(row["id"], row["levels"], row["text"]) for row in found]


def agent_runs(table: Path, out: Path) -> object:
    assert main(["agent-runs", str(table), "--out", str(out)]) == 0
    rows = read_csv(out / "items.csv")[1]
    return len(rows), sorted(value for row in rows for value in row.values() if value in ("왜요?", "뭐예요?"))


BATTLES = [["모델 A", "모델 B", "승자"], ["가람", "나래", "model_a"], ["나래", "가람", "tie"]]
RATINGS = [
    ["항목", "평가자", "점수"],
    ["가", "김", "４"],
    ["가", "이", "4.0"],
    ["나", "김", "5"],
    ["나", "이", "3"],
]
SESSIONS = [["번호", "질문", "응답"], ["s1", "왜요?", "그래서요."], ["s2", "뭐예요?", "이거예요."]]
QUESTIONS = [["식별자", "과목", "질문"], ["q1", "수학", "분수가 뭐예요?"], ["q2", "수학", "왜 약분해요?"]]
PERSONAS = [["아이디", "수준", "설명"], ["p1", "초급", "천천히 쓴다."], ["p2", "고급", "짧게 쓴다."]]
WIDE = wide_header(QAC)[2:]
SHEETS = [["번호", "교사", *WIDE], *([name, "김", "１", "1.0", *["1"] * (len(WIDE) - 2)] for name in ("s1", "s2"))]
SCORED = [("s1", "j", "40"), ("s2", "j", "40")]
COMMANDS: dict[str, tuple[Callable[[Path, Path], object], Rows, object]] = {
    "agree": (agree, RATINGS, (["김", "이"], 4)),
    "rate": (rate, BATTLES, [("가람", 1, 1), ("나래", 0, 1)]),
    "score": (score, SESSIONS, SCORED),
    "score --sheets": (sheets, SHEETS, sorted([*SCORED, ("s1", "김", "40"), ("s2", "김", "40")])),
    "questions": (questions, QUESTIONS, [("q1", "수학", "분수가 뭐예요?"), ("q2", "수학", "왜 약분해요?")]),
    "personas": (
        personas,
        PERSONAS,
        [("p1", {"수준": "초급"}, "천천히 쓴다."), ("p2", {"수준": "고급"}, "짧게 쓴다.")],
    ),
    "agent-runs": (agent_runs, [["질의 ID", "질문", "응답"], *SESSIONS[1:]], (2, ["뭐예요?", "왜요?"])),
}


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_every_dress(
    tmp_path: Path, command: str, dress: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, rows, expected = COMMANDS[command]
    assert run(dressed(tmp_path, dress, rows), tmp_path / "out") == expected
    told = capsys.readouterr().err
    said = {"cp949": "CP949", "utf-16": "UTF-16", "semicolon": "semicolon", "tab": "tab", "xlsx": "XLSX"}
    in_korean = {**said, "utf-16": "바이트 순서 표시가 있는 UTF-16", "semicolon": "쌍반점", "tab": "탭"}
    if dress in said:
        assert told.count(f"read as {said[dress]}") + told.count(f": {in_korean[dress]}") == 1


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planned(tmp_path_factory.mktemp("study")).path.parent


@pytest.mark.parametrize("dress", DRESSES)
def test_returned_forms_come_in_every_dress(tmp_path: Path, study: Path, dress: str) -> None:
    shutil.copytree(study, tmp_path / "study")
    folder = StudyFolder(tmp_path / "study" / "plan")
    row = next(row for row in folder.rows() if row.rater.startswith("expert"))
    answers = [["E1", "４"], ["E2", "4.0"], ["E15", "좋은 답변입니다"]]
    rows = [["평가자", "문서", "문항", "값"], *([row.rater, row.document, *answer] for answer in answers)]
    assert main(["human", "import", str(folder.path), str(dressed(tmp_path, dress, rows))]) == 0
    taken = [
        (rating.question, rating.value) for rating in Store(folder).answers.ratings() if rating.rater == row.rater
    ]
    assert sorted(taken) == [("E1", "4"), ("E15", "좋은 답변입니다"), ("E2", "4")]


def test_a_sheet_in_no_known_shape_is_told_the_whole_shape(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sessions = tmp_path / "sessions.csv"
    shutil.copy(dressed(tmp_path, "marked", SESSIONS), sessions)
    table = dressed(tmp_path, "plain", [["번호", "교사", "A1"], ["s1", "김", "5"]])
    fixed = ["--rubric", "qac", "--config", str(config_of(tmp_path / "out")), "--judge", "j"]
    command = [
        "score",
        "--input",
        str(sessions),
        "--out",
        str(tmp_path / "scores"),
        *fixed,
        "--sheets",
        str(table),
    ]
    assert main(command) == 2
    assert ",".join(wide_header(QAC)) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "command"),
    [
        ("--battles", ["rate", "--out", "o"]),
        ("--ratings", ["agree", "--out", "o"]),
        ("--input", ["questions"]),
        ("--input", ["personas"]),
    ],
)
def test_a_file_given_twice_is_refused(
    tmp_path: Path, option: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, option, str(tmp_path / "a.csv"), option, str(tmp_path / "b.csv")]) == 2
    assert f"{option}: given twice" in capsys.readouterr().err


def test_personas_come_as_a_list_or_as_factors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = tmp_path / "people.yaml"
    listed.write_text("personas:\n- {id: mina, text: Writes slowly., levels: {pace: slow}}\n", encoding="utf-8")
    assert main(["personas", "--input", str(listed), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["id"], row["levels"], row["text"]) == ("mina", {"pace": "slow"}, "Writes slowly.")
    factors = tmp_path / "factors.yaml"
    factors.write_text("factors:\n- {id: pace, levels: [{id: slow, text: Slow.}, {id: fast, text: Fast.}]}\n")
    assert main(["personas", "--input", str(factors), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("p1,again", "each persona once"),
        ("p1 ,again", "one spelling of each name"),
        ("p2,", "what the model is told"),
        ("p 2,x", "letters, digits"),
    ],
)
def test_wrong_persona_rows_are_refused_with_their_line(
    tmp_path: Path, second: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.csv").write_text(f"id,text\np1,one\n{second}\n", encoding="utf-8")
    assert main(["personas", "--input", str(tmp_path / "p.csv")]) == 2
    told = capsys.readouterr().err
    assert "p.csv:3" in told
    assert message in told


def test_exported_personas_are_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "people.csv"
    assert main(["personas", "--output", str(file)]) == 0
    assert main(["personas", "--json"]) == 0
    generated = capsys.readouterr().out
    assert main(["personas", "--input", str(file), "--json"]) == 0
    assert capsys.readouterr().out == generated
