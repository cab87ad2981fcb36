import json
from collections.abc import Callable
from typing import Any

import pytest

from arena.rubrics.rubric import load_rubric
from arena.scoring.sessions import Message, Session
from arena.scoring.sheets import Form, Sheets, fill_in, score_all
from gateway.adapters.scripted import ScriptedAdapter
from gateway.engine import Gateway
from gateway.errors import NO, CallFailed, Fault
from gateway.prompt import Answer
from tests.support.qac_sheets import QAC, answer_to_schema, sheet_text

FORM = Form.load(QAC, "ko")
SUBJECT = Session(
    id="s1",
    messages=(
        Message(role="student", text="이차함수 그래프를 그리고 싶어요"),
        Message(role="teacher", text="어떤 이차함수인가요? $y=x^2$?"),
    ),
)
Request = dict[str, Any]
Reader = Callable[[Request], str | Answer | Fault]


def gateway(reader: Reader, *names: str) -> Gateway:
    return Gateway({name: ScriptedAdapter.of(reader) for name in names or ("j",)})


async def one_sheet(*replies: str | Answer | Fault) -> tuple[Any, list[Request]]:
    """The sheet that comes of these replies in turn, and the requests that were made."""
    requests: list[Request] = []

    def reader(request: Request) -> str | Answer | Fault:
        requests.append(request)
        return replies[len(requests) - 1]

    async with gateway(reader) as door:
        return await fill_in(door.ask, FORM, SUBJECT, "j", 1), requests


async def test_a_judge_sees_numbered_messages_between_fences_and_the_whole_form() -> None:
    _, (request,) = await one_sheet(sheet_text())
    system, user = (message["content"] for message in request["messages"])
    for item, slot in QAC.slots():
        assert item in system
        assert slot in system
    fence = user.split()[0]
    assert "[0] 학생: 이차함수 그래프를 그리고 싶어요\n[1] 선생님: 어떤" in user
    assert user.count(fence) == 2
    assert request["schema"]["required"][0] == "reached_content"


async def test_a_message_cannot_close_the_fence() -> None:
    first = FORM.prompt(SUBJECT).messages[1].content
    hostile = SUBJECT.model_copy(update={"messages": (Message(role="teacher", text=first.split()[0]),)})
    second = FORM.prompt(hostile).messages[1].content
    assert second.count(second.split()[0]) == 2
    assert second == FORM.prompt(hostile).messages[1].content


async def test_a_complete_sheet_costs_one_call() -> None:
    sheet, requests = await one_sheet(sheet_text(A1={"curriculum_hierarchy": 0}))
    assert len(requests) == 1
    assert (sheet.readable, sheet.repair, sheet.reason, sheet.asked_again) == (True, None, None, ())
    assert sheet.values["A1_math_expertise"]["curriculum_hierarchy"] == 0
    assert sheet.flags == {"reached_content": 1}
    assert sheet.rubric.startswith("qac-4.3-")


async def test_evidence_is_checked_against_the_cited_message_where_something_is_met() -> None:
    sheet, _ = await one_sheet(
        sheet_text(evidence='[0] "그래프"', A1={"curriculum_hierarchy": 0}).replace(
            '"value": 1, "evidence": "[0] \\"그래프\\""}', '"value": 1, "evidence": "[1] \\"그래프\\""}', 1
        )
    )
    assert sheet.evidence_found["A1_math_expertise"] == {
        "concept_accuracy": False,
        "curriculum_hierarchy": None,
        "terminology_appropriateness": True,
        "problem_direction_specificity": True,
    }


async def test_only_what_is_missing_is_asked_again() -> None:
    first = sheet_text(A2={"sentence_logic": None, "intent_clarity": None})
    second = (
        '{"A2_question_structure": {"sentence_logic": {"value": 0, "evidence": "x"}, "question_singularity": 0}}'
    )
    third = '{"A2_question_structure": {"intent_clarity": {"value": 1, "evidence": "y"}}}'
    sheet, requests = await one_sheet(first, second, third)
    asked = [request["schema"]["properties"] for request in requests]
    assert list(asked[1]) == list(asked[2]) == ["A2_question_structure"]
    assert list(asked[1]["A2_question_structure"]["properties"]) == ["sentence_logic", "intent_clarity"]
    assert list(asked[2]["A2_question_structure"]["properties"]) == ["intent_clarity"]
    assert sheet.values["A2_question_structure"] == {
        "question_singularity": 1,
        "condition_completeness": 1,
        "sentence_logic": 0,
        "intent_clarity": 1,
    }
    assert (sheet.raw, sheet.asked_again, sheet.reason) == (first, (second, third), None)


async def test_after_two_further_requests_what_is_missing_stays_missing() -> None:
    lacking = sheet_text(C2={"understanding_check": None})
    sheet, requests = await one_sheet(lacking, "I cannot say.", '{"C2_learning_support": {}}')
    assert len(requests) == 3
    assert sheet.values["C2_learning_support"]["understanding_check"] is None
    assert (sheet.readable, sheet.reason) == (True, "1 of 32 values missing")


async def test_a_sheet_without_the_optional_floor_field_is_complete() -> None:
    sheet, requests = await one_sheet(sheet_text(flag=None))
    assert len(requests) == 1
    assert sheet.flags == {"reached_content": None}


async def test_a_cut_off_reply_is_unreadable_and_never_zero() -> None:
    cut = Answer(sheet_text()[:200], finish="length")
    sheet, requests = await one_sheet(cut, cut, cut)
    assert len(requests) == 3
    assert not sheet.readable
    assert {value for slots in sheet.values.values() for value in slots.values()} == {None}
    assert sheet.reason == "the reply was cut off or blocked"


async def test_a_failure_after_a_first_reply_keeps_what_that_reply_gave() -> None:
    sheet, _ = await one_sheet(sheet_text(A1={"concept_accuracy": None}), Fault("blocked", "no", NO))
    assert sheet.values["A1_math_expertise"]["concept_accuracy"] is None
    assert sheet.values["A2_question_structure"]["intent_clarity"] == 1


async def test_no_reply_at_all_is_a_failure_and_no_sheet() -> None:
    with pytest.raises(CallFailed):
        await one_sheet(Fault("blocked", "refused to answer", NO))


async def scored(*names: str) -> Sheets:
    def reader(request: Request) -> str | Fault:
        if "[0] 학생: fail" in request["messages"][1]["content"]:
            return Fault("blocked", "refused", NO)
        return json.dumps(answer_to_schema(request["schema"]))

    sessions = [
        SUBJECT.model_copy(update={"id": name, "messages": (Message(role="student", text=name),)})
        for name in ("one", "fail", "two")
    ]
    async with gateway(reader, *names) as door:
        return await score_all(door.ask, FORM, sessions, names, repeats=2)


async def test_a_failing_subject_takes_no_other_sheet_with_it() -> None:
    found = await scored("j", "k")
    assert [(sheet.subject, sheet.judge, sheet.repeat) for sheet in found.sheets] == [
        (session, judge, repeat) for session in ("one", "two") for judge in ("j", "k") for repeat in (1, 2)
    ]
    assert [(failure.item, failure.kind) for failure in found.failures] == [
        (f"fail#{judge}#{repeat}", "blocked") for judge in ("j", "k") for repeat in (1, 2)
    ]


async def test_every_repeat_is_a_call_of_its_own() -> None:
    calls: list[Request] = []

    def reader(request: Request) -> str:
        calls.append(request)
        return sheet_text()

    async with gateway(reader) as door:
        await score_all(door.ask, FORM, [SUBJECT], ["j"], repeats=3)
    assert len(calls) == 3


async def test_minutes_are_scored_as_question_and_answer() -> None:
    form = Form.load(load_rubric("meeting_minutes"))
    messages = (
        Message(role="question", text="Write the minutes."),
        Message(role="answer", text="We meet on Monday."),
    )
    prompt = form.prompt(Session(id="m", messages=messages))
    assert "[0] Question: Write the minutes.\n[1] Answer: We meet on Monday." in prompt.messages[1].content
    assert "whole number from 0 to 5" in prompt.messages[0].content


def test_evidence_is_asked_for_in_thirty_to_a_hundred_characters() -> None:
    for language, asked in {"en": "30 to 100 characters", "ko": "30자에서 100자"}.items():
        system = Form.load(QAC, language).prompt(SUBJECT).messages[0].content
        assert asked in system
        assert {"en": "say what is missing", "ko": "무엇이 없는지"}[language] in system
