"""Each detector finds what it is for, in English and Korean, and leaves ordinary student talk alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from runstore.records import Dialogue, Role, Utterance
from simulator.realism.failures import RULES, Material, failures, stutters
from simulator.realism.talk import talk_of

OPENER = "why does quicksort need a pivot at all?"
PLAIN = ("n log n?", "What happens if the list is sorted?", "oh so it gets slow", "Slow in which sense?")


def dialogue(said: Sequence[str], name: str = "d-1", **fields: Any) -> Dialogue:
    """The opener, then teacher and student in turns."""
    roles: list[Role] = ["teacher", "student"]
    talk = [Utterance(role=roles[at % 2], text=text) for at, text in enumerate(["What do you know?", *said])]
    told: dict[str, Any] = {"persona": "p", "question": "q", "subject": "s", "turns": 4, "end": "turns reached"}
    told |= {"complete": True, **fields}
    return Dialogue(id=name, utterances=(Utterance(role="student", text=OPENER), *talk), **told)


def kinds(*dialogues: Dialogue, material: Material | None = None) -> dict[str, list[str]]:
    found = failures(list(map(talk_of, dialogues)), material or Material(4))
    return {kind: row["dialogues"] for kind, row in found.items() if row["count"]}


ORDINARY = [
    ("idk", "Take [3, 1, 2]. Which goes first?", "1?", "Why 1?", "bc its smallest"),
    (
        "ok so pick the middle one",
        "And then?",
        "let me try that",
        "Go on.",
        "wait i can't get the second half right",
    ),
    ("thanks, that makes sense", "Which part did you find hard?", "what does stable mean?"),
    ("the user clicks and the process wakes up?", "What wakes it?", "an interrupt i think"),
    ("sorry, i can't follow", "Where did you get lost?", "at the tree thing"),
    ("모르겠는데요", "어디까지 이해했나요?", "피벗 고르는 것까지요", "그다음은요?", "나누는 거요?"),
    ("학생 때는 안 배웠어요", "무엇을 배웠나요?", "감사합니다 근데 왜 n log n이에요?"),
    ("idk", "Guess.", "idk", "Try.", "two?"),
    ("no no no i mean the left one", "Left of what?", "of the pivot"),
]


@pytest.mark.parametrize("said", ORDINARY)
def test_ordinary_talk_is_no_failure(said: tuple[str, ...]) -> None:
    language = "ko" if any("가" <= letter <= "힣" for letter in said[0]) else "en"
    assert kinds(dialogue(said, language=language)) == {}


CASES = [
    ("role_flip", ("Great question! Let me walk you through it.",)),
    ("role_flip", ("Teacher: what do you think?",)),
    ("role_flip", ("I’m here to help. How can I assist you?",)),
    ("role_flip", ("ok", "Student: I think it is n.")),
    ("role_flip", ("좋은 질문이에요! 제가 설명해 드릴게요.",)),
    ("role_flip", ("선생님: 어떻게 생각하나요?",)),
    ("prompt_leak", ("as a student with low self-efficacy i am not sure",)),
    ("prompt_leak", ("ok <|im_end|>",)),
    ("prompt_leak", ("저는 자기 효능감이 낮아서 모르겠어요",)),
    ("thinking_leak", ("<think>answer wrongly</think> n squared",)),
    ("thinking_leak", ("The teacher is asking about pivots. I should respond as a bored student.",)),
    ("thinking_leak", ("ok", "Okay, the user needs a hint.")),
    ("thinking_leak", ("학생 역할에 맞게 짧게 답변해야 한다.",)),
    ("loop", ("i think it is the pivot", "Why?", "I think it is the pivot!")),
    ("loop", ("idk", "Guess.", "idk", "Try.", "Idk.")),
    ("loop", ("it goes left and then it goes left and then it goes left and then stops",)),
    ("loop", ("ok", "What about the last one?", "hm", "What about the last one?")),
    ("loop", ("피벗을 왼쪽에 두면 돼요", "왜요?", "피벗을 왼쪽에 두면 돼요")),
    (
        "near_duplicate",
        (
            "i would take the first one as the pivot and split the list in two",
            "Why?",
            "well i would take the first one as the pivot and split the list in two",
        ),
    ),
    ("thanks_run", ("thanks!", "Anything else?", "no, thank you so much, bye")),
    ("thanks_run", ("thx", "Sure?", "see you, good night")),
    ("thanks_run", ("감사합니다", "더 있나요?", "아뇨 정말 고마워요, 안녕히 계세요")),
    ("empty", ("\u200b ",)),
    ("refused", ("I'm sorry, but I can't help with that.",)),
    ("refused", ("ok", "I cannot assist with this request.")),
    ("refused", ("ok", "죄송하지만 그 질문에는 답변드릴 수 없습니다.")),
]


@pytest.mark.parametrize(("kind", "said"), CASES)
def test_a_detector_finds_its_failure(kind: str, said: tuple[str, ...]) -> None:
    language = "ko" if any("가" <= letter <= "힣" for text in said for letter in text) else "en"
    found = failures(list(map(talk_of, [dialogue(said, language=language), dialogue(PLAIN, "d-2")])), Material(4))
    assert found[kind]["dialogues"] == ["d-1"]
    assert (found[kind]["count"], found[kind]["of"], found[kind]["rate"]) == (1, 2, 0.5)
    assert 0 < found[kind]["lower"] < 0.5 < found[kind]["upper"] < 1


def test_a_failure_says_where_it_struck() -> None:
    row = failures(list(map(talk_of, [dialogue(["ok", "And?", "as an AI I have no opinion"])])), Material(4))[
        "role_flip"
    ]
    assert row["where"] == [{"dialogue": "d-1", "utterance": 4, "text": "as an AI I have no opinion"}]


def test_the_openers_words_are_not_the_models() -> None:
    leaking = dialogue(PLAIN)
    opener = Utterance(role="student", text="Great question: is an AI assistant: a process? <think>")
    assert kinds(leaking.model_copy(update={"utterances": (opener, *leaking.utterances[1:])})) == {}


def test_what_reading_took_away_is_a_role_flip() -> None:
    assert kinds(dialogue(PLAIN, notes={"both_parts": 1})) == {"role_flip": ["d-1"]}
    assert kinds(dialogue(PLAIN, notes={"role_prefix": 2, "quotes_removed": 1})) == {}


def test_a_run_of_words_of_a_prompt_or_of_the_own_persona_leaks() -> None:
    text = "You skip steps, let a point go as soon as it gets fiddly, and leave."
    said = dialogue(["i let a point go as soon as it gets fiddly haha"])
    assert kinds(said, material=Material(4, personas={"p": text})) == {"prompt_leak": ["d-1"]}
    assert kinds(said, material=Material(4, prompts=[text])) == {"prompt_leak": ["d-1"]}
    assert kinds(said, material=Material(4, personas={"another": text})) == {}
    short = dialogue(["let a point go ok"])
    assert kinds(short, material=Material(4, personas={"p": text})) == {}


def test_two_students_who_say_the_same_are_both_counted() -> None:
    said = ("it takes the middle one and then splits", "Why?", "because the halves are about the same size")
    other = ("the root is red so we rotate", "Why?", "because a red node has no red child")
    found = kinds(dialogue(said, "a"), dialogue(said, "b"), dialogue(other, "c"))
    assert found == {"near_duplicate": ["a", "b"]}


@pytest.mark.parametrize(
    ("fields", "premature"),
    [
        ({"end": "failure", "complete": False, "turns": 3}, True),
        ({"end": "context limit", "complete": False, "turns": 3}, True),
        ({"end": "student ended", "turns": 1}, True),
        ({"end": "student ended", "turns": 2}, False),
        ({"end": "turns reached", "turns": 4}, False),
    ],
)
def test_premature_ends(fields: dict[str, Any], premature: bool) -> None:
    assert ("premature_end" in kinds(dialogue(PLAIN, **fields))) is premature


def test_who_is_meant_to_leave_early_may_but_not_break_off() -> None:
    left = dialogue(PLAIN, "left", persona="goes", end="student ended", turns=1)
    broken = dialogue(["ok"], "broken", persona="goes", end="failure", complete=False)
    for leaving, names in ((frozenset[str](), ["broken", "left"]), (frozenset({"goes"}), ["broken"])):
        assert kinds(left, broken, material=Material(4, leaving=leaving)) == {"premature_end": names}


def test_an_end_by_silence_or_refusal_counts_without_an_utterance() -> None:
    silent = dialogue(PLAIN, end="empty student reply", complete=False)
    assert set(kinds(silent)) == {"empty", "premature_end"}
    blocked = dialogue(PLAIN, end="failure", end_detail="blocked: SAFETY", complete=False)
    assert set(kinds(blocked)) == {"refused", "premature_end"}


def test_no_dialogues_have_no_rate() -> None:
    found = failures([], Material(4))
    assert set(found) == set(RULES)
    assert all(row["rate"] is None and row["of"] == 0 for row in found.values())


def test_stutters() -> None:
    assert stutters(["the", "the", "the", "the", "the", "the"])
    assert not stutters(["the", "the", "the", "the", "the"])
    assert stutters(["go", "on", "go", "on", "go", "on", "go", "on"])
    assert not stutters(["a", "b", "c", "d", "e", "f", "a", "b", "c", "d", "e", "f"])
    assert not stutters([])
