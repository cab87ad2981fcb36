from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest

from frontdesk.cli import main
from runstore.publish import read_csv, read_json
from tests.support.agent_runs_table import HEADER, MESSAGE, rows, table_text

OUTLINE_KO = [
    "# 이동 에이전트 스코어링 요약",
    "## 산출 기준",
    "## 지표별 점수",
    "### 1. 의도 충족",
    "### 2. 일관성",
    "### 3. 정확성",
    "### 4. 응답 속도(단일)",
    "### 5. 안정성",
    "## 리스크/개선",
    "## 원본 판정 테이블 (appendix)",
]
HOSTILE = '<script>alert("x")</script>|`**[a](javascript:x)\n# not a heading'


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "url_agent_1.csv"
    path.write_bytes(table_text(rows()).encode("utf-8-sig"))
    return path


def headings(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]


def test_one_command_writes_figures_reports_and_items(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["agent-runs", str(table), "--out", str(out)]) == 1
    figures = read_json(out / "agent_runs.json")
    assert [row["round"] for row in figures["rounds"]] == ["1/1", "2/1"]
    assert set(figures["set"]) == {"items", "intent", "accuracy", "speed", "stability"}
    assert {"both_success", "both_fail", "differ", "queries", "rate", "score"} <= set(figures["consistency"])
    assert set(figures["rounds"][0]["speed"]["distribution"]) == set("543210")
    assert headings(out / "agent_runs.md") == OUTLINE_KO
    assert len(read_csv(out / "items.csv")[1]) == 45
    assert not list(out.glob("*.tmp"))


def test_the_korean_report_says_what_the_hand_made_table_holds(table: Path, tmp_path: Path) -> None:
    main(["agent-runs", str(table), "--out", str(tmp_path)])
    report = (tmp_path / "agent_runs.md").read_text(encoding="utf-8")
    for line in (
        "- 1회차: 3.07 (22/22)",
        "- 둘 다 정답 / 둘 다 실패 / 불일치: 12 / 4 / 5",
        "- 일치율: 76.19%",
        "- 점수: 3.81",
        "| 1회차 | 66.67% | 14 | 7 | 3.24 |",
        "| 세트 | 69.05% | 29 | 13 | 3.36 |",
        "  - 1회차: 8.82초 / 2.95 (19/22)",
        "- 분포: `5점(17) , 4점(6) , 3점(5) , 2점(4) , 1점(4) , 0점(5)`, 측정값 없음 3",
        "- 정상(문항 수): 38",
        "- 에러/타임아웃(문항 수): 6",
    ):
        assert line in report.splitlines()
    assert "바이트 순서 표시가 있는 UTF-8, 쉼표" in report
    assert report.index("점검 2건이 기준을 넘었습니다") < report.index("## 산출 기준")
    assert "Q01 @ 1/1: 행 2, 46" in report


def test_the_english_twin_has_the_same_outline_and_figures(table: Path, tmp_path: Path) -> None:
    main(["agent-runs", str(table), "--out", str(tmp_path), "--language", "en"])
    found = headings(tmp_path / "agent_runs.md")
    assert [line.split()[0] for line in found] == [line.split()[0] for line in OUTLINE_KO]
    assert not any(re.search("[가-힣]", line) for line in found)
    assert "- Agreement rate: 76.19%" in (tmp_path / "agent_runs.md").read_text(encoding="utf-8")


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    place = {name: at for at, name in enumerate(HEADER)}
    listed = rows()[:-1]
    for row in listed:
        for name in ("Query ID", "질의", "카테고리", "오류"):
            row[place[name]] += HOSTILE
    path = tmp_path / "<b>a.csv"
    path.write_bytes(table_text(listed).encode())
    main(["agent-runs", str(path), "--out", str(tmp_path)])
    page = (tmp_path / "agent_runs.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>a.csv" not in page
    assert "&lt;script&gt;" in page
    assert headings(tmp_path / "agent_runs.md") == OUTLINE_KO
    report = (tmp_path / "agent_runs.md").read_text(encoding="utf-8")
    assert not re.search(r"(?<!\\)<script", report)
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in report.split("(appendix)")[1].splitlines() if line}
    assert widths == {9}


def test_the_page_shows_every_part_and_fetches_nothing(table: Path, tmp_path: Path) -> None:
    main(["agent-runs", str(table), "--out", str(tmp_path)])
    page = (tmp_path / "agent_runs.html").read_text(encoding="utf-8")
    for title in ("회차 × 회차", "속도 점수 분포", "실패 패턴(메뉴 경로)", "트랙·카테고리별 실패 상위 패턴"):
        assert title in page
    assert not re.search(r"""(src|href)=["']?https?:|@import|url\(""", page)


def test_before_and_after_a_release(table: Path, tmp_path: Path) -> None:
    before = tmp_path / "before.csv"
    before.write_bytes(table_text(rows()).replace("CARD_01", "CARD_00").encode("cp949"))
    out = tmp_path / "out"
    main(["agent-runs", str(table), "--out", str(out), "--compare", str(before)])
    found = read_json(out / "agent_runs.json")["comparison"]
    assert found["queries"] == {"both": 22, "only_before": 0, "only_after": 0}
    assert found["tests"][0]["key"] == "mcnemar"
    assert "## 전후 비교" in headings(out / "agent_runs.md")
    assert "전후 비교" in (out / "agent_runs.html").read_text(encoding="utf-8")


def test_dry_run_says_how_files_are_read_and_writes_nothing(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["agent-runs", str(table), "--out", str(out), "--dry-run"]) == 0
    (described,) = json.loads(capsys.readouterr().out)
    assert (described["encoding"], described["rows"], described["without_llm_score"]) == ("UTF-8 with mark", 45, 4)
    assert described["columns"]["expected"] == "기대결과"
    assert not out.exists()


def test_json_goes_to_stdout_and_the_rest_to_stderr(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["agent-runs", str(table), "--out", str(tmp_path), "--json"])
    said = capsys.readouterr()
    assert json.loads(said.out)["rows"] == 45
    assert "44 of 45 rows scored" in said.err
    assert "\x1b" not in said.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "stub"], "--config"),
        (["--on", "local:2"], "--judge"),
        (["--rounds", "day"], "--rounds"),
        (["--delimiter", "ab"], "--delimiter"),
        (["--columns", "nowhere.yaml"], "nowhere.yaml"),
        (["--encoding", "cp949"], "UTF|CP949|cp949"),
    ],
)
def test_wrong_usage_is_named_and_nothing_is_written(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    out = tmp_path / "out"
    assert main(["agent-runs", str(table), "--out", str(out), *options]) == 2
    said = capsys.readouterr().err
    assert re.search(message, said)
    assert "Traceback" not in said
    assert not (out / "agent_runs.json").exists()


def test_a_file_is_no_folder_to_write_to(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent-runs", str(table), "--out", str(table)]) == 2
    assert "a folder for --out" in capsys.readouterr().err


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent-runs", str(tmp_path / "none.csv"), "--out", str(tmp_path)]) == 2
    assert "none.csv" in capsys.readouterr().err


def scripted(folder: Path, *replies: dict[str, object]) -> Path:
    (folder / "replies.jsonl").write_text("\n".join(json.dumps(reply) for reply in replies), encoding="utf-8")
    config = folder / "judge.toml"
    config.write_text(
        f'[endpoints.stub]\nkind = "scripted"\nretries = 0\nreplies = "{folder / "replies.jsonl"}"\n',
        encoding="utf-8",
    )
    return config


def test_an_endpoint_judges_what_has_no_score_and_is_not_asked_twice(table: Path, tmp_path: Path) -> None:
    said = json.dumps({"reason": "알맞다", "score": 4}, ensure_ascii=False)
    hint = json.dumps({"reason": "?", "score": 9})
    config = scripted(
        tmp_path, {"match": "환율", "reply": hint}, {"match": "결제일", "reply": said}, {"reply": said}
    )
    out = tmp_path / "out"
    arguments = ["agent-runs", str(table), "--out", str(out), "--judge", "stub", "--config", str(config)]
    assert main(arguments) == 1
    first = read_json(out / "agent_runs.json")
    # Four rows lack a valid score: one has no response (0 without asking), one is answered off the scale.
    assert first["set"]["intent"]["origin"] == {"csv": 40, "judge": 2, "heuristic": 1, "missing": 1}
    journal = "".join(file.read_text(encoding="utf-8") for file in (out / "journal").glob("*.jsonl"))
    assert journal.count('"state":"sent"') == 3
    main(arguments)
    assert read_json(out / "agent_runs.json") == first
    again = "".join(file.read_text(encoding="utf-8") for file in (out / "journal").glob("*.jsonl"))
    assert again.count('"state":"sent"') == 3


def test_what_a_judge_did_not_score_stays_apart_by_kind(table: Path, tmp_path: Path) -> None:
    cut = {"match": "환율", "reply": '{"reason": "알', "finish": "length"}
    config = scripted(tmp_path, cut, {"match": "결제일", "reply": '{"score": null}'}, {"reply": "4점쯤"})
    out = tmp_path / "out"
    assert main(["agent-runs", str(table), "--out", str(out), "--judge", "stub", "--config", str(config)]) == 1
    failures = [json.loads(line) for line in (out / "failures.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(failure["kind"] for failure in failures) == ["cut off", "missing values", "unreadable"]
    assert {failure["stage"] for failure in failures} == {"intent"}
    assert all(failure["item"].startswith(f"{table.name}:") for failure in failures)
    counts = {"asked": 3, "answered": 0, "missing_values": 1, "unreadable": 1, "cut_off": 1, "failed": 0}
    assert read_json(out / "agent_runs.json")["judge"] == counts


def test_a_dead_judge_leaves_its_failures_and_exit_code_1(table: Path, tmp_path: Path) -> None:
    config = tmp_path / "judge.toml"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config.write_text(
        f'[endpoints.dead]\nkind = "openai"\nmodel = "m"\nretries = 0\nbase_url = "http://127.0.0.1:{port}/v1"\n',
        encoding="utf-8",
    )
    out = tmp_path / "out"
    assert main(["agent-runs", str(table), "--out", str(out), "--judge", "dead", "--config", str(config)]) == 1
    failures = [json.loads(line) for line in (out / "failures.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(failure["endpoint"], failure["kind"]) for failure in failures] == [("dead", "connection")] * 3
    figures = read_json(out / "agent_runs.json")
    assert (figures["judge"]["failed"], figures["judge"]["asked"]) == (3, 3)
    assert figures["set"]["intent"]["origin"]["judge"] == 0


def test_an_unknown_judge_is_refused_with_those_there_are(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = scripted(tmp_path, {"reply": "x"})
    arguments = [
        "agent-runs",
        str(table),
        "--out",
        str(tmp_path / "o"),
        "--judge",
        "other",
        "--config",
        str(config),
    ]
    assert main(arguments) == 2
    assert "stub" in capsys.readouterr().err


def test_names_of_a_megabyte_and_control_codes_reach_no_report_and_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = {name: at for at, name in enumerate(HEADER)}
    listed = rows()[:6]
    for row in listed:
        for name in ("Query ID", "카테고리", "방/반복"):
            row[place[name]] += "\x1b[31m\u202e" + "긴" * 300_000
    path = tmp_path / "runs.csv"
    path.write_bytes(table_text([*listed, listed[0]]).encode())
    assert main(["agent-runs", str(path), "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert len(said) < 10_000
    for name in ("agent_runs.md", "agent_runs.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert not {"\x1b", "\u202e"} & set(text)
        assert len(text) < 100_000


@pytest.mark.parametrize("share", ["nan", "-0.1", "1.5"])
def test_a_limit_that_is_no_share_is_refused(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], share: str
) -> None:
    assert main(["agent-runs", str(table), "--out", str(tmp_path / "out"), f"--max-duplicates={share}"]) == 2
    assert "--max-duplicates: found" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_named_without_a_traceback(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    out = tmp_path / "file" / "out"
    assert main(["agent-runs", str(table), "--out", str(out)]) == 2
    assert capsys.readouterr().err.startswith(f"tutor-arena: {out}")


def test_the_items_show_the_text_that_was_scored(table: Path, tmp_path: Path) -> None:
    main(["agent-runs", str(table), "--out", str(tmp_path / "out")])
    _, items = read_csv(tmp_path / "out" / "items.csv")
    assert {row["scored_text"] for row in items} >= {MESSAGE}
    assert all(row["scored_text"] == "" for row in items if row["response_state"] == "empty")


def test_a_column_that_no_row_fills_is_a_finding(tmp_path: Path) -> None:
    lines = [dict(zip(HEADER, row, strict=True)) | {"카테고리": "", "오류": ""} for row in rows()]
    (tmp_path / "t.csv").write_text(table_text([list(line.values()) for line in lines]), encoding="utf-8")
    assert main(["agent-runs", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]) == 1
    checks = {check["name"]: check for check in read_json(tmp_path / "out" / "agent_runs.json")["checks"]}
    found = checks["columns_never_filled"]
    assert (found["passed"], found["count"], found["columns"]) == (False, 1, ["카테고리"])
    assert "모든 행에서 비어 있는 열: 기준 초과" in (tmp_path / "out" / "agent_runs.md").read_text(
        encoding="utf-8"
    )
