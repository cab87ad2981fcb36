from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agent_runs.checks import Limits
from arena.agent_runs.compare import compare
from arena.agent_runs.intent import IntentJudge, csv_score, heuristic_score
from arena.agent_runs.result import Questions
from arena.agent_runs.scored import Options, Scored
from arena.agent_runs.scoring import Analysis, analyse, score_tables
from arena.agent_runs.state import OTHERS, Names, Spool
from arena.agent_runs.tables import Layout, open_table
from arena.asking import Asked
from runstore.problems import InputProblem, Problem
from runstore.publish import read_csv
from tests.support.agent_runs_table import HEADER, raw, table_text, written

SPOOLS: list[Spool] = []
RIGHT, WRONG = "/m?dataKey=RIGHT", "/n?dataKey=WRONG"


@pytest.fixture(autouse=True)
def spools_are_closed() -> Iterator[None]:
    yield
    while SPOOLS:
        SPOOLS.pop().close()


def run_row(query_id: str, turn: str, url: str = RIGHT, **more: str) -> list[str]:
    """One row with good JSON; ``more`` overrides columns by name."""
    cells = {
        "Run ID": "r",
        "Item ID": query_id,
        "Query ID": query_id,
        "질의": "카드 조회",
        "기대결과": "/m?dataKey=RIGHT",
        "카테고리": "카드",
        "방/반복": turn,
        "응답": "카드 화면입니다.",
        "LLM 상태": "ok",
        "LLM 점수": "5",
        "Raw JSON": raw(url, sec=1),
    }
    cells |= more
    return [cells.get(name, "") for name in HEADER]


def write(path: Path, lines: list[list[str]]) -> Path:
    path.write_text(table_text(lines), encoding="utf-8", newline="")
    return path


async def first_pass(
    *paths: Path, options: Options | None = None, judge: IntentJudge | None = None, layout: Layout | None = None
) -> Scored:
    tables = [open_table(path, layout or Layout()) for path in paths]
    SPOOLS.append(Spool(paths[0].parent))
    return await score_tables(tables, options or Options(), judge=judge, spool=SPOOLS[-1])


async def analysed(*paths: Path, items: Path | None = None, **options: object) -> Analysis:
    return analyse(await first_pass(*paths, **options), items)  # type: ignore[arg-type]


def check(analysis: Analysis, name: str) -> dict[str, object]:
    return next(each for each in written(analysis)["checks"] if each["name"] == name)


async def test_ids_and_answers_that_look_like_something_else_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("run_id,answer\n007,NA\n012,None\n1e5,null\n12,\n007,again\n", encoding="utf-8")
    analysis = await analysed(path, items=tmp_path / "items.csv")
    _, items = read_csv(tmp_path / "items.csv")
    assert [row["run_id"] for row in items] == ["007", "012", "1e5", "12", "007"]
    assert [row["response"] for row in items] == ["NA", "None", "null", "", "again"]
    assert [row["response_state"] for row in items] == ["text", "text", "text", "empty", "text"]
    assert check(analysis, "empty_responses")["rows"] == [5]
    assert check(analysis, "duplicates")["rows"] == [{"id": "007", "round": "1", "row": 6, "first_row": 2}]
    assert not analysis.complete
    figures = written(analysis)["set"]
    assert (figures["accuracy"]["score"], figures["accuracy"]["not_applicable"]) == (None, 4)
    assert (figures["speed"]["score"], figures["stability"]["score"]) == (None, None)


async def test_no_written_cell_runs_in_a_spreadsheet_and_all_come_back(tmp_path: Path) -> None:
    hostile = ['=HYPERLINK("http://127.0.0.1/x","click")', "+1", "@SUM(A1)", "\t=1", "\u200b=1", "-3 is my answer"]
    lines = [run_row(f"={n}", "1/1", 질의=text, 응답=text) for n, text in enumerate(hostile)]
    path = write(tmp_path / "a.csv", [*lines, *(run_row(f"={n}", "2/1") for n in range(len(hostile)))])
    await analysed(path, items=tmp_path / "items.csv")
    written = (tmp_path / "items.csv").read_text(encoding="utf-8-sig")
    assert "\u200b=1" in written
    for line in written.replace("\t", "").replace("\u200b", "").splitlines():
        assert not line.startswith(("=", "+", "@", "-"))
        assert not any(f",{sign}" in line or f',"{sign}' in line for sign in "=+@-")
    _, items = read_csv(tmp_path / "items.csv")
    assert [row["response"] for row in items[: len(hostile)]] == hostile
    assert items[0]["query_id"] == "=0"


async def test_rounds_are_ordered_by_their_numbers_and_any_number_is_paired(tmp_path: Path) -> None:
    outcomes = {"Q1": "RRRR", "Q2": "WWWW", "Q3": "RWRW", "Q4": "RRRW"}
    lines = [
        run_row(query, f"{turn}/1", RIGHT if mark == "R" else WRONG)
        for turn in (10, 2, 1, 9)
        for query, marks in outcomes.items()
        for mark in [marks[(1, 2, 9, 10).index(turn)]]
    ]
    analysis = await analysed(write(tmp_path / "a.csv", lines))
    assert [row["round"] for row in written(analysis)["rounds"]] == ["1/1", "2/1", "9/1", "10/1"]
    found = written(analysis)["consistency"]
    # Six pairs of rounds a question: Q1 6 right, Q2 6 wrong, Q3 1 + 1 and 4 differ, Q4 3 and 3 differ.
    assert (found["both_success"], found["both_fail"], found["differ"], found["comparisons"]) == (10, 7, 7, 24)
    assert found["rate"] == pytest.approx(17 / 24)
    assert found["queries"] == 4
    assert len(found["pairs"]) == 6
    # k = 2 of n = 4, by successes 4, 0, 2, 3: all of two 6/6, 0, 1/6, 3/6; any of two 1, 0, 5/6, 1.
    assert found["pass_hat_k"]["2"] == pytest.approx((1 + 0 + 1 / 6 + 3 / 6) / 4)
    assert found["pass_at_k"]["2"] == pytest.approx((1 + 0 + 5 / 6 + 1) / 4)
    assert found["pass_hat_k"]["4"] == pytest.approx(1 / 4)


@given(st.lists(st.lists(st.sampled_from("RWN-"), min_size=3, max_size=3), min_size=1, max_size=8))
@settings(max_examples=25, deadline=None)
def test_counting_over_pairs_equals_listing_them(outcomes: list[list[str]]) -> None:
    """R right, W wrong, N nothing expected, - no row."""
    import asyncio
    from tempfile import TemporaryDirectory

    lines = [
        run_row(f"Q{q}", f"{turn}/1", WRONG if mark == "W" else RIGHT, **({"기대결과": ""} if mark == "N" else {}))
        for q, marks in enumerate(outcomes)
        for turn, mark in enumerate(marks, 1)
        if mark != "-"
    ]
    if not lines:
        return
    with TemporaryDirectory() as folder:
        found = written(asyncio.run(analysed(write(Path(folder) / "a.csv", lines))))["consistency"]
    pairs = [(a, b) for marks in outcomes for a, b in combinations([m for m in marks if m in "RW"], 2)]
    assert found["both_success"] == pairs.count(("R", "R"))
    assert found["both_fail"] == pairs.count(("W", "W"))
    assert found["differ"] == len(pairs) - pairs.count(("R", "R")) - pairs.count(("W", "W"))
    if found["pairs"]:
        assert sum(pair["queries"] for pair in found["pairs"]) == len(pairs)


async def test_broken_matching_and_uneven_rounds_are_found(tmp_path: Path) -> None:
    lines = [
        run_row("Q1", "1/1"),
        run_row("Q2", "1/1"),
        run_row("", "1/1"),
        run_row("Q1", "2/1"),
        run_row("Q9", "2/1"),
    ]
    analysis = await analysed(write(tmp_path / "a.csv", lines))
    assert check(analysis, "items_per_round")["passed"] is False
    assert check(analysis, "items_per_round")["rounds"] == {"1/1": 3, "2/1": 2}
    assert check(analysis, "query_ids_matched")["queries"] == ["Q2", "Q9"]
    assert check(analysis, "rows_without_query_id")["count"] == 1
    assert written(analysis)["consistency"]["queries"] == 1


async def test_rows_of_another_width_are_counted_and_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [run_row("Q1", "1/1"), ["only", "three", "cells"], run_row("Q1", "2/1")])
    analysis = await analysed(path)
    found = check(analysis, "malformed_rows")
    assert (found["count"], found["of"], found["rows"], found["passed"]) == (1, 3, [3], False)
    assert written(analysis)["rows"] == 2


async def test_several_files_are_one_table_with_rows_named_by_file(tmp_path: Path) -> None:
    first = write(tmp_path / "one.csv", [run_row("Q1", "1/1"), run_row("Q2", "1/1")])
    second = tmp_path / "two.csv"
    second.write_bytes(
        table_text([run_row("Q1", "2/1"), run_row("Q2", "2/1"), run_row("Q2", "1/1")]).encode("cp949")
    )
    analysis = await analysed(first, second)
    assert [each["encoding"] for each in written(analysis)["inputs"]] == ["UTF-8", "CP949"]
    assert written(analysis)["consistency"]["queries"] == 2
    assert check(analysis, "duplicates")["rows"] == [
        {"id": "Q2", "round": "1/1", "row": "two.csv:4", "first_row": "one.csv:3"}
    ]


async def test_rounds_may_come_from_files_where_no_column_says_so(tmp_path: Path) -> None:
    place = HEADER.index("방/반복")
    header = [name for name in HEADER if name != "방/반복"]
    paths: list[Path] = []
    for name in ("monday.csv", "tuesday.csv"):
        row = run_row("Q1", "")
        paths.append(tmp_path / name)
        paths[-1].write_text(table_text([row[:place] + row[place + 1 :]], header), encoding="utf-8")
    layout = Layout(optional=frozenset({"round"}))
    analysis = await analysed(*paths, options=Options(rounds_by=("file",)), layout=layout)
    assert [row["round"] for row in written(analysis)["rounds"]] == ["monday.csv", "tuesday.csv"]
    assert written(analysis)["consistency"]["both_success"] == 1


async def test_tables_of_two_forms_are_not_mixed(tmp_path: Path) -> None:
    full = write(tmp_path / "full.csv", [run_row("Q1", "1/1")])
    plain = tmp_path / "plain.csv"
    plain.write_text("run_id,answer\n1,a\n", encoding="utf-8")
    with pytest.raises(InputProblem, match="plain"):
        await first_pass(full, plain)


async def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputProblem, match="at least one row"):
        await first_pass(write(tmp_path / "a.csv", []))


async def test_a_column_that_is_no_repeat_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [run_row("Q1", f"text {n}") for n in range(1200)])
    with pytest.raises(Problem, match="repeat column"):
        await first_pass(path)


async def test_a_judge_scores_what_the_table_does_not(tmp_path: Path) -> None:
    asked: list[tuple[str, str, str]] = []

    async def judge(query: str, expected: str, response: str) -> Asked[int | None]:
        asked.append((query, expected, response))
        return {"one": Asked("answered", 4), "three": Asked("answered", 9)}.get(query, Asked("unreadable", None))

    lines = [
        run_row("Q0", "1/1", **{"질의": "zero", "LLM 점수": "2"}),
        run_row("Q1", "1/1", **{"질의": "one", "LLM 점수": ""}),
        run_row("Q2", "1/1", **{"질의": "two", "LLM 점수": "7"}),
        run_row("Q3", "1/1", **{"질의": "three", "LLM 점수": "점수 5"}),
        run_row("Q4", "1/1", **{"LLM 점수": "", "응답": "", "Raw JSON": raw(RIGHT, sec=1, message=" ")}),
    ]
    analysis = await analysed(write(tmp_path / "a.csv", lines), judge=judge)
    intent = written(analysis)["set"]["intent"]
    assert intent["origin"] == {"csv": 1, "judge": 1, "heuristic": 1, "missing": 2}
    assert (intent["score"], intent["scored"]) == (pytest.approx((2 + 4 + 0) / 3), 3)
    assert [query for query, _, _ in asked] == ["one", "two", "three"]
    assert written(analysis)["judge"] == {
        "asked": 3,
        "answered": 1,
        "missing_values": 0,
        "unreadable": 2,
        "cut_off": 0,
        "failed": 0,
    }
    assert check(analysis, "judge_failures")["count"] == 2
    assert check(analysis, "judge_failures")["passed"] is False


@pytest.mark.parametrize(
    ("cell", "status", "score"),
    [
        ("5", "", 5),
        ("4.5", "완료", 4.5),
        (" ３ ", "success", 3),
        ("0", "", 0),
        ("5.1", "", None),
        ("6", "", None),
        ("-1", "", None),
        ("nan", "", None),
        ("1_0", "", None),
        ("4점", "", None),
        ("1e0", "", None),
        ("", "", None),
        ("4", "FAILED", None),
        ("4", "오류", None),
        ("4", "timeout", None),
    ],
)
def test_a_score_of_the_table_is_valid_or_missing(cell: str, status: str, score: float | None) -> None:
    assert csv_score(cell, status) == score


@pytest.mark.parametrize(
    ("query", "response", "score"),
    [
        ("카드 결제일 변경하고 싶어", "카드 결제일을 변경하는 화면입니다", 5),
        ("카드 결제일 변경 신청", "카드 결제일 변경 화면", 4),
        ("카드 결제일", "카드 화면", 3),
        ("카드 결제일 변경 신청", "카드 화면", 2),
        ("카드 결제일 변경 신청 취소", "카드 화면", 1),
        ("카드 결제일", "대출 화면", 0),
        ("카드 결제일", "죄송합니다. 카드 결제일 화면을 찾을 수 없습니다.", 1),
        ("show me my card limit", "Here is your CARD LIMIT.", 5),
        ("카드", "", 0),
        ("보여줘", "화면입니다", None),
    ],
)
def test_the_heuristic_is_the_share_of_naming_words(query: str, response: str, score: int | None) -> None:
    assert heuristic_score(query, response) == score


async def test_before_and_after_are_paired_by_question(tmp_path: Path) -> None:
    """Eight questions right in both rounds after and wrong before, one the other way, one unchanged."""

    def lines(right: set[int], seconds: int) -> list[list[str]]:
        return [
            run_row(f"Q{q}", f"{turn}/1", **{"Raw JSON": raw(RIGHT if q in right else WRONG, sec=seconds)})
            for q in range(10)
            for turn in (1, 2)
        ]

    before = await first_pass(write(tmp_path / "before.csv", [*lines({8, 9}, 9), run_row("Q99", "1/1")]))
    after = await first_pass(write(tmp_path / "after.csv", lines({*range(8), 9}, 4)))
    found, changed = compare(before, after)
    assert found.queries == Questions(both=10, only_before=1, only_after=0)
    assert (found.gained, found.lost) == (8, 1)
    tests = {row.figure: row for row in found.tests}
    # McNemar, exact: 2 x (1 + 9) / 2^9.
    assert tests["success"].p_value == pytest.approx(20 / 512)
    assert (tests["success"].before, tests["success"].after) == (0.2, 0.9)
    # All ten times fell by the same 5 s: the smallest p that ten pairs can give.
    assert tests["seconds"].p_value == pytest.approx(2 / 1024)
    assert tests["seconds"].difference == -5
    assert tests["stability"].p_value is None
    assert tests["stability"].reason
    assert tests["seconds"].p_holm >= tests["seconds"].p_value
    texts = analyse(after, also_show=changed).shown
    assert [row.query_id for row in texts["lost"]] == ["Q8"]
    assert [row.query_id for row in texts["gained"]] == [f"Q{q}" for q in range(8)]


async def test_failures_are_counted_by_path_track_and_category(tmp_path: Path) -> None:
    header = [*HEADER, "Track"]
    lines = [
        [*run_row(f"Q{n}", "1/1", WRONG if n < 3 else RIGHT, 카테고리="카드" if n < 4 else "대출"), "A"]
        for n in range(6)
    ]
    path = tmp_path / "a.csv"
    path.write_text(table_text(lines, header), encoding="utf-8")
    figures = written(await analysed(path))
    assert figures["failures_by_path"] == [{"path": "/m", "items": 6, "fail": 3, "rate": 0.5, "no_url": 0}]
    assert figures["patterns"] == [
        {"track": "A", "category": "카드", "reason": "wrong key", "fail": 3, "items": 4, "rate": 0.75}
    ]


async def test_limits_decide_what_passes(tmp_path: Path) -> None:
    lines = [
        run_row(f"Q{n}", turn, **({"LLM 점수": ""} if n < 3 else {})) for n in range(10) for turn in ("1/1", "2/1")
    ]
    path = write(tmp_path / "a.csv", lines)
    assert not (await analysed(path)).complete
    assert (await analysed(path, options=Options(limits=Limits(missing_llm=0.3)))).complete


def test_names_beyond_the_limit_share_one_code() -> None:
    names = Names(2)
    assert [names.code(name) for name in ("a", "b", "c", "a", "d")] == [0, 1, 2, 0, 2]
    assert names.listed == ["a", "b", OTHERS]


async def test_state_is_small_and_does_not_hold_texts(tmp_path: Path) -> None:
    lines = [run_row(f"Q{n}", "1/1", 응답="긴 응답 " * 2_000) for n in range(500)]
    scored = await first_pass(write(tmp_path / "a.csv", lines))
    assert scored.records.nbytes <= 48 * len(lines)
    assert scored.records.dtype.kind == "V"
    assert not any(np.issubdtype(scored.records.dtype[n], np.str_) for n in scored.records.dtype.names or ())


async def test_rounds_that_a_spreadsheet_took_for_dates_are_pointed_out(tmp_path: Path) -> None:
    lines = [run_row("Q1", "1월 1일"), run_row("Q1", "02-Jan"), run_row("Q1", "3/1")]
    analysis = await analysed(write(tmp_path / "a.csv", lines))
    assert check(analysis, "rounds_look_like_dates")["rows"] == ["1월1일", "02-Jan"]
    assert analysis.complete


async def test_a_table_that_never_had_llm_scores_does_not_fail_for_it(tmp_path: Path) -> None:
    place = HEADER.index("LLM 점수")
    header = [name for name in HEADER if name != "LLM 점수"]
    lines = [row[:place] + row[place + 1 :] for row in (run_row("Q1", "1/1"), run_row("Q1", "2/1"))]
    path = tmp_path / "a.csv"
    path.write_text(table_text(lines, header), encoding="utf-8")
    analysis = await analysed(path)
    assert check(analysis, "missing_llm_scores")["passed"] is None
    assert analysis.complete
