"""A hand-made table of agent runs: 22 questions in two rounds and one duplicate, each row there for one rule."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from arena.agent_runs.result import AgentRuns
from arena.agent_runs.scoring import Analysis
from runstore.publish import to_json

HEADER = (
    *("Run ID", "Item ID", "Query ID", "질의", "기대결과", "카테고리", "방/반복", "응답", "오류"),
    *("LLM 상태", "LLM 점수", "LLM 코멘트", "Raw JSON"),
)
APP = "https://app.example"
MESSAGE = "요청하신 화면으로 안내합니다."


def raw(*urls: object, sec: object = None, error: object = None, message: str = MESSAGE) -> str:
    """Raw JSON with one button a URL; ``sec`` None leaves the time out."""
    fields: dict[str, Any] = {
        "assistantMessage": message,
        "dataUIList": [{"uiValue": {"buttonUrl": url}} for url in urls],
        "error": error,
        "worker": "navigator",
    }
    if sec is not None:
        fields["responseTimeSec"] = sec
    return json.dumps(fields, ensure_ascii=False)


# Query ID -> query, expected result, category
QUESTIONS = {
    "Q01": ("카드 이용내역", f"{APP}/menu/card?dataKey=CARD_01", "카드"),
    "Q02": ("대출 한도", "정답은 dataKey=LOAN_02 입니다", "대출"),
    "Q03": ("결제 예정 금액", "dataKey=PAY_03", "결제"),
    "Q04": ("결제일", "/menu/pay?dataKey=PAY_04", "결제"),
    "Q05": ("포인트 조회", "/menu/point?dataKey=POINT_05", "포인트"),
    "Q06": ("포인트 전환", "/menu/point?dataKey=POINT_06", "포인트"),
    "Q07": ("카드 재발급", "/menu/card?dataKey=CARD_07", "카드"),
    "Q08": ("카드 결제일 변경", "/menu/card?dataKey=CARD_08", "카드"),
    "Q09": ("카드 해지", "/menu/card?dataKey=CARD_09", "카드"),
    "Q10": ("대출 이자", "/menu/loan?dataKey=LOAN_10", "대출"),
    "Q11": ("진행 중인 이벤트", "/menu/event", "이벤트"),
    "Q12": ("지난 이벤트", "/menu/event/past", "이벤트"),
    "Q13": ("상담원", "상담원 연결은 안내만 합니다", "상담"),
    "Q14": ("보험 가입", "/menu/safe?dataKey=SAFE_14", "보험"),
    "Q15": ("보험 해지", "/menu/safe?dataKey=SAFE_15", "보험"),
    "Q16": ("송금", "/menu/send?dataKey=SEND_16", "송금"),
    "Q17": ("송금 한도", "/menu/send?dataKey=SEND_17", "송금"),
    "Q18": ("송금 취소", "/menu/send?dataKey=SEND_18", "송금"),
    "Q19": ("포인트 사용처 조회", "/menu/point?dataKey=POINT_19", "포인트"),
    "Q20": ("환율 조회", "/menu/rate?dataKey=RATE_20", "환율"),
    "Q21": ("환전", "/menu/rate?dataKey=RATE_21", "환율"),
    "Q22": ("환전 내역", "/menu/rate?dataKey=RATE_22", "환율"),
}

NULLS = json.dumps(
    {
        "assistantMessage": "포인트 화면입니다.",
        "dataUIList": [
            None,
            {"uiValue": None},
            {"uiValue": {"buttonUrl": None}},
            {"other": 1},
            {"uiValue": {"buttonUrl": "/menu/point?dataKey=POINT_19"}},
        ],
        "responseTimeSec": 7,
        "error": "",
    },
    ensure_ascii=False,
)
BROKEN = raw("/menu/safe?dataKey=SAFE_14", sec=3.2)[:-1]

# Query ID, Raw JSON, error cell, LLM status, LLM score, response cell
ROUND_1: list[tuple[str, str, str, str, str, str]] = [
    ("Q01", raw(f"{APP}/menu/card?dataKey=CARD_01", sec=5.0), "", "완료", "5", MESSAGE),
    ("Q02", raw("/menu/loan?from=bot&dataKey=LOAN%5F02", sec=5.01), "", "완료", "4", MESSAGE),
    ("Q03", raw("/menu/pay?dataKey=PAY_99&dataKey=PAY_03", sec=8), "", "완료", "3", MESSAGE),
    ("Q04", raw(f"{APP}/#/menu/pay?dataKey=PAY_04", sec=8.01), "", "완료", "2", MESSAGE),
    ("Q05", raw("menu/point?dataKey=POINT_05", sec=10), "", "완료", "1", MESSAGE),
    ("Q06", raw("/Menu/Point?DATAKEY=point_06", sec=10.5), "", "완료", "0", MESSAGE),
    ("Q07", raw("/menu/home", "/menu/card?dataKey=CARD_77", "/a?dataKey=CARD_07", sec=15), "", "", "4.5", MESSAGE),
    ("Q08", raw("/menu/card?dataKey=CARD_88", sec=15.5, message="카드 결제일 변경 화면입니다."), "", "", "", ""),
    ("Q09", raw("/menu/loan?dataKey=LOAN_01", sec=20), "", "완료", "5", MESSAGE),
    ("Q10", '{"assistantMessage":"안내","dataUIList":null,"responseTimeSec":20.5}', "", "완료", "0", MESSAGE),
    ("Q11", raw("https://m.example/menu/event?from=bot", sec=1), "", "완료", "5", MESSAGE),
    ("Q12", raw("/menu/event", sec=2), "", "완료", "2", MESSAGE),
    ("Q13", raw("/menu/help?dataKey=HELP_01", sec=3), "", "완료", "4", MESSAGE),
    ("Q14", BROKEN, "", "완료", "3", MESSAGE),
    ("Q15", json.dumps(raw("/menu/safe?dataKey=SAFE_15", sec=4)), "", "완료", "5", MESSAGE),
    ("Q16", raw(error="timeout after 30s"), "", "완료", "0", MESSAGE),
    ("Q17", raw("/menu/send?dataKey=SEND_17", sec=6), "HTTP 500", "완료", "5", MESSAGE),
    ("Q18", "", "시간 초과", "완료", "N/A", ""),
    ("Q19", NULLS, "", "완료", "6", MESSAGE),
    ("Q20", "[]", "", "실패", "4", "환율 안내"),
    ("Q21", raw("/menu/rate?dataKey=RATE_21", sec="9.5"), "", "완료", "5", MESSAGE),
    ("Q22", raw("/menu/rate?dataKey=RATE_22", sec=-1), "", "완료", "4", MESSAGE),
]
ROUND_2: list[tuple[str, str, str, str, str, str]] = [
    ("Q01", raw("/menu/card?dataKey=CARD_01", sec=4), "", "완료", "5", MESSAGE),
    ("Q02", raw("/menu/loan?dataKey=LOAN_99", sec=4), "", "완료", "2", MESSAGE),
    ("Q03", raw("/menu/pay?dataKey=PAY_03", sec=5), "", "완료", "3", MESSAGE),
    ("Q04", raw("app://menu/pay#dataKey=PAY_04", sec=6), "", "완료", "2", MESSAGE),
    ("Q05", raw(sec=30), "", "완료", "1", MESSAGE),
    ("Q06", raw("/menu/point?dataKey=POINT_06", sec=9), "", "완료", "0", MESSAGE),
    ("Q07", raw("/menu/card?dataKey=CARD_07", sec=9), "", "완료", "4", MESSAGE),
    ("Q08", raw("/menu/card?dataKey=CARD_80", sec=12), "", "완료", "3", MESSAGE),
    ("Q09", raw("/menu/card", sec=12), "", "완료", "5", MESSAGE),
    ("Q10", raw("/menu/loan?dataKey=LOAN_10", sec=16), "", "완료", "5", MESSAGE),
    ("Q11", raw("/menu/event/", sec=16), "", "완료", "5", MESSAGE),
    ("Q12", raw("/menu/event", sec=1), "", "완료", "2", MESSAGE),
    ("Q13", raw(sec=1), "", "완료", "4", MESSAGE),
    ("Q14", raw("/menu/safe?dataKey=SAFE_14", sec=2), "", "완료", "3", MESSAGE),
    ("Q15", raw("/go?url=%2Fmenu%2Fsafe%3FdataKey%3DSAFE_15", sec=3), "", "완료", "5", MESSAGE),
    ("Q16", raw(error={"code": "ETIMEDOUT"}), "", "완료", "0", MESSAGE),
    ("Q17", raw("/menu/send?dataKey=SEND_17", sec=6), "", "완료", "5", MESSAGE),
    ("Q18", raw("/menu/send?dataKey=SEND_18", sec=2), "", "완료", "4", MESSAGE),
    ("Q19", raw("/menu/point?dataKey=POINT_19", sec=2), "", "완료", "4", MESSAGE),
    ("Q20", raw(sec=2), "", "완료", "1", MESSAGE),
    ("Q21", raw("/menu/rate?dataKey=RATE_21", sec=2), "", "완료", "5", MESSAGE),
    ("Q22", raw("/menu/rate?dataKey=RATE_22", sec=2), "", "완료", "4", '여러 줄\n응답, "따옴표"'),
]
DUPLICATE = ("Q01", raw("/menu/loan?dataKey=LOAN_01", sec=30), "", "완료", "0", MESSAGE)


def rows() -> list[list[str]]:
    """45 rows: round 1/1 is in rows 2 to 23 of the table, round 2/1 in 24 to 45, the duplicate in 46."""
    listed = [("1/1", *row) for row in ROUND_1] + [("2/1", *row) for row in ROUND_2] + [("1/1", *DUPLICATE)]
    made: list[list[str]] = []
    for number, (turn, query_id, raw_json, error, status, score, response) in enumerate(listed, 1):
        query, expected, category = QUESTIONS[query_id]
        made.append(
            [
                *(f"run-{turn[0]}", f"{number:03d}", query_id, query, expected, category, turn),
                *(response, error, status, score, "", raw_json),
            ]
        )
    return made


def table_text(
    lines: Sequence[Sequence[str]], header: Sequence[str] = HEADER, delimiter: str = ",", quoting: int = 0
) -> str:
    """A table as CSV text with CRLF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(header)
    writer.writerows(lines)
    return out.getvalue()


def written(analysis: Analysis) -> Any:
    """What stands in ``agent_runs.json``, which its models must read and write again."""
    content = to_json(analysis.figures)
    assert to_json(AgentRuns.model_validate(json.loads(content))) == content
    return json.loads(content)
