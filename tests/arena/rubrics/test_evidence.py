import pytest

from arena.rubrics.evidence import evidence_found

MESSAGES = [
    "이차함수 그래프를 그리고 싶어요",
    "어떤 이차함수인가요?",
    "y=x^2-4x+3이요",
    "Don't worry: the vertex is at $\\left(2, -1\\right)$. First complete the square, then read it off.",
]


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ("메시지[0]에서 '이차함수 그래프를 그리고 싶어요'라고 목표를 밝힘", True),
        ("메시지[1]에서 '이차함수 그래프를 그리고 싶어요'라고 함", False),
        ("메시지[2]에서 'y = x^2 - 4x + 3'을 제시", True),
        ("메시지[2]에서 'y = x^2 + 4x + 3'을 제시", False),
        ("메시지[0,2]의 '이차함수'와 '4x+3'", True),
        ("[0-2] “어떤 이차함수”", True),
        ('[3] says "DON\'T WORRY … read it off"', True),
        ('[3] says "read it off ... don\'t worry"', False),
        ('"the vertex is at" without a number', True),
        ('message [9] says "이차함수"', False),
        ("전체 대화에서 학년 언급이 없음", None),
        ("No year or unit is mentioned.", None),
        ("It doesn't say, and that's all.", None),
        ('[3] says "..."', None),
        ("", None),
    ],
)
def test_a_quotation_must_stand_in_the_cited_message(evidence: str, found: bool | None) -> None:
    assert evidence_found(evidence, MESSAGES) is found
