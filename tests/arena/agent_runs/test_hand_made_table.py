"""The hand-made table, every figure worked out by hand.

Accuracy, round 1: 5 for Q01-Q07, Q11, Q15, Q17, Q19, Q21, Q22 (13), 3 for Q08, 0 for Q09, Q10, Q12, Q14, Q16,
Q18, Q20 (7); Q13 expects neither key nor path. 13 x 5 + 3 = 68 of 21.
Round 2: 5 for Q01, Q03, Q04, Q06, Q07, Q10, Q11, Q14, Q15, Q17, Q18, Q19, Q21, Q22 (14), 3 for Q08, 0 for Q02,
Q05, Q09, Q12, Q16, Q20 (6). 14 x 5 + 3 = 73 of 21.
Both succeed: Q01, Q03, Q04, Q06, Q07, Q08, Q11, Q15, Q17, Q19, Q21, Q22 (12). Both fail: Q09, Q12, Q16, Q20 (4).
They differ: Q02, Q05, Q10, Q14, Q18 (5).

Speed, round 1: 5 Q01 Q11 Q12 Q13 Q15; 4 Q02 Q03 Q17 Q19; 3 Q04 Q05 Q21; 2 Q06 Q07; 1 Q08 Q09; 0 Q10 and the
timeouts Q16 Q18; no time Q14 Q20 Q22. 25 + 16 + 9 + 4 + 2 = 56 of 19. Seconds of 17 items: 5 + 5.01 + 8 + 8.01 +
10 + 10.5 + 15 + 15.5 + 20 + 20.5 + 1 + 2 + 3 + 4 + 6 + 7 + 9.5 = 150.02.
Round 2: twelve 5s, two each of 4, 3, 2, 1 and 0: 60 + 8 + 6 + 4 + 2 = 80 of 22. Seconds of 21 items: 4 + 4 + 5 +
6 + 30 + 9 + 9 + 12 + 12 + 16 + 16 + 1 + 1 + 2 + 3 + 6 + 5 x 2 = 146.

Stability: unstable are Q14 (broken), Q16 (error), Q17 (error cell), Q18 (empty), Q20 (a list), then Q16 alone.

Intent, round 1: 57.5 from the table's 18 valid scores; the heuristic gives Q08 5 (3 of 3 words), Q18 0 (no
response), Q19 2 (1 of 3 words), Q20 3 (1 of 2 words): 67.5 of 22. Round 2: 72 of 22.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.agent_runs.checks import Limits
from arena.agent_runs.scored import Options
from arena.agent_runs.scoring import Analysis, analyse, score_tables
from arena.agent_runs.state import Spool
from arena.agent_runs.tables import open_table
from runstore.publish import read_csv
from tests.support.agent_runs_table import rows, table_text, written

Score = Callable[..., Any]


async def scored(path: Path, options: Options | None = None, items: Path | None = None) -> Analysis:
    spool = Spool(path.parent)
    try:
        return analyse(await score_tables([open_table(path)], options or Options(), spool=spool), items)
    finally:
        spool.close()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "url_agent_hand_made.csv"
    path.write_bytes(table_text(rows()).encode("utf-8"))
    return path


async def test_accuracy_counts_keys_paths_and_nothing_expected(table: Path) -> None:
    figures = written(await scored(table))
    first, second = (row["accuracy"] for row in figures["rounds"])
    assert (first["success"], first["fail"], first["not_applicable"]) == (14, 7, 1)
    assert (second["success"], second["fail"], second["not_applicable"]) == (15, 6, 1)
    assert first["score"] == pytest.approx(68 / 21)
    assert second["score"] == pytest.approx(73 / 21)
    assert first["rate"] == pytest.approx(14 / 21)
    whole = figures["set"]["accuracy"]
    assert (whole["success"], whole["fail"]) == (29, 13)
    assert whole["score"] == pytest.approx((68 / 21 + 73 / 21) / 2)
    assert first["basis"] == {
        "key": 12,
        "path": 1,
        "other key on the same path": 1,
        "wrong key": 1,
        "wrong path": 1,
        "no button URL": 2,
        "raw JSON unreadable": 3,
        "nothing expected": 1,
    }


async def test_two_levels_give_no_three(table: Path) -> None:
    figures = written(await scored(table, Options(levels="two-level")))
    assert figures["rounds"][0]["accuracy"]["score"] == pytest.approx(65 / 21)
    assert figures["rounds"][0]["accuracy"]["success"] == 13
    assert figures["consistency"]["both_success"] == 11
    assert figures["consistency"]["both_fail"] == 5


async def test_consistency_pairs_rounds_by_query(table: Path) -> None:
    found = written(await scored(table))["consistency"]
    assert (found["both_success"], found["both_fail"], found["differ"], found["queries"]) == (12, 4, 5, 21)
    assert found["rate"] == pytest.approx(16 / 21)
    assert found["score"] == pytest.approx(5 * 16 / 21)
    assert found["pairs"][0]["only_a"] == 2
    assert found["pairs"][0]["only_b"] == 3
    # One of two rounds: 12 x 1 + 5 x 1/2 of 21; both: 12 of 21.
    assert found["pass_at_k"] == pytest.approx({"1": 14.5 / 21, "2": 17 / 21})
    assert found["pass_hat_k"] == pytest.approx({"1": 14.5 / 21, "2": 12 / 21})


async def test_speed_is_banded_with_mean_seconds_and_distribution(table: Path) -> None:
    figures = written(await scored(table))
    first, second = (row["speed"] for row in figures["rounds"])
    assert first["distribution"] == {"5": 5, "4": 4, "3": 3, "2": 2, "1": 2, "0": 3}
    assert first["missing"] == 3
    assert first["score"] == pytest.approx(56 / 19)
    assert first["mean_s"] == pytest.approx(150.02 / 17)
    assert second["distribution"] == {"5": 12, "4": 2, "3": 2, "2": 2, "1": 2, "0": 2}
    assert second["score"] == pytest.approx(80 / 22)
    assert second["mean_s"] == pytest.approx(146 / 21)
    whole = figures["set"]["speed"]
    assert whole["distribution"] == {"5": 17, "4": 6, "3": 5, "2": 4, "1": 4, "0": 5}
    assert whole["mean_s"] == pytest.approx((150.02 / 17 + 146 / 21) / 2)


async def test_stability_needs_readable_json_and_no_error(table: Path) -> None:
    figures = written(await scored(table))
    assert [(row["stability"]["ok"], row["stability"]["bad"]) for row in figures["rounds"]] == [(17, 5), (21, 1)]
    assert figures["set"]["stability"]["score"] == pytest.approx((85 / 22 + 105 / 22) / 2)
    assert {"cause": "timeout after ##s", "items": 1} in figures["instability"]
    assert {"cause": "HTTP ###", "items": 1} in figures["instability"]


async def test_intent_takes_valid_scores_and_counts_where_they_come_from(table: Path) -> None:
    figures = written(await scored(table))
    first, second = (row["intent"] for row in figures["rounds"])
    assert first["origin"] == {"csv": 18, "judge": 0, "heuristic": 4, "missing": 0}
    assert first["score"] == pytest.approx(67.5 / 22)
    assert second["score"] == pytest.approx(72 / 22)
    assert figures["set"]["intent"]["score"] == pytest.approx((67.5 / 22 + 72 / 22) / 2)


async def test_checks_come_with_counts_limits_and_rows(table: Path) -> None:
    analysis = await scored(table)
    checks = {check["name"]: check for check in written(analysis)["checks"]}
    assert checks["items_per_round"]["passed"]
    assert checks["items_per_round"]["rounds"] == {"1/1": 22, "2/1": 22}
    assert (checks["raw_json_failures"]["count"], checks["raw_json_failures"]["of"]) == (3, 45)
    assert checks["raw_json_failures"]["passed"] is False
    assert (checks["missing_llm_scores"]["count"], checks["missing_llm_scores"]["passed"]) == (4, True)
    assert checks["duplicates"]["rows"] == [{"id": "Q01", "round": "1/1", "row": 46, "first_row": 2}]
    assert checks["query_ids_matched"]["passed"]
    assert not analysis.complete
    assert (written(analysis)["rows"], written(analysis)["counted"]) == (45, 44)
    lenient = Options(limits=Limits(raw_failures=0.1, duplicates=0.1))
    assert (await scored(table, lenient)).complete


async def test_the_item_table_says_why(table: Path, tmp_path: Path) -> None:
    await scored(table, items=tmp_path / "items.csv")
    _, items = read_csv(tmp_path / "items.csv")
    assert len(items) == 45
    by_row = {row["row"]: row for row in items}
    assert by_row["9"]["accuracy_basis"] == "other key on the same path"
    assert by_row["15"]["stability_reason"] == "raw JSON unreadable"
    assert by_row["15"]["speed"] == ""
    assert (by_row["17"]["speed"], by_row["17"]["speed_reason"]) == ("0", "timeout")
    assert by_row["23"]["speed_reason"] == "responseTimeSec is not a time"
    assert (by_row["2"]["consistency"], by_row["3"]["consistency"]) == ("pass", "fail")
    assert by_row["14"]["consistency"] == "not applicable"
    assert by_row["46"]["duplicate_of"] == "2"
    assert by_row["45"]["response"] == '여러 줄\n응답, "따옴표"'
    assert by_row["19"]["response_state"] == "empty"


@pytest.mark.parametrize(
    ("codec", "mark", "name"),
    [
        ("utf-8", b"", "UTF-8"),
        ("utf-8", b"\xef\xbb\xbf", "UTF-8 with mark"),
        ("cp949", b"", "CP949"),
        ("utf-16-le", b"\xff\xfe", "UTF-16 LE with mark"),
        ("utf-16-be", b"\xfe\xff", "UTF-16 BE with mark"),
        ("utf-16-le", b"", "UTF-16 LE"),
        ("utf-16-be", b"", "UTF-16 BE"),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
async def test_the_figures_do_not_depend_on_encoding_or_delimiter(
    tmp_path: Path, table: Path, codec: str, mark: bytes, name: str, delimiter: str
) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(mark + table_text(rows(), delimiter=delimiter).encode(codec))
    expected, found = written(await scored(table)), written(await scored(other))
    assert found["inputs"][0]["encoding"] == name
    assert found["rounds"] == expected["rounds"]
    assert found["consistency"] == expected["consistency"]


async def test_quoted_headers_and_shuffled_columns_change_nothing(tmp_path: Path, table: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(b"\xef\xbb\xbf" + table_text(rows(), quoting=csv.QUOTE_ALL).encode())
    assert written(await scored(other))["rounds"] == written(await scored(table))["rounds"]


async def test_the_order_of_rows_changes_no_figure(tmp_path: Path, table: Path) -> None:
    other = tmp_path / "other.csv"
    # The duplicate keeps its place behind the row that it repeats: the first of two is the one that counts.
    listed = rows()
    other.write_bytes(table_text([*reversed(listed[:-1]), listed[-1]]).encode())
    expected, found = written(await scored(table)), written(await scored(other))
    assert found["consistency"] == expected["consistency"]
    for row, twin in zip(found["rounds"], expected["rounds"], strict=True):
        assert row["round"] == twin["round"]
        for figure in ("intent", "accuracy", "speed", "stability"):
            assert row[figure]["score"] == pytest.approx(twin[figure]["score"])


async def test_the_causes_of_instability_are_counted_most_frequent_first(table: Path) -> None:
    causes = written(await scored(table))["instability"]
    assert sum(cause["items"] for cause in causes) == 6  # five items of round 1, one of round 2
    assert [cause["items"] for cause in causes] == sorted((cause["items"] for cause in causes), reverse=True)
