# ruff: noqa: E501 - lines that people say
"""Dialogues with one planted failure each, and ordinary ones that look a little like it, in English and Korean.

The planted lines (``student_lines.LANGUAGE.tsv``) were written from what a failure *is*, not from the detectors' word
lists: some are put in words that no list has, so that recall tells something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from csv import QUOTE_NONE, DictReader
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from runstore.ids import pick, shuffled
from runstore.records import Dialogue, Utterance
from simulator.realism.failures import RULES, Material, failures
from simulator.realism.talk import talk_of

TURNS = 6
PERSONA = {
    "en": "You are tired of the subject and answer in very few words whenever the teacher asks you something hard.",
    "ko": "이 과목에 지쳐 있어서 선생님이 어려운 것을 물을 때마다 아주 짧게만 대답하고 금방 딴생각을 한다.",
}
STUDENT = {
    "en": (
        "wait so it goes left first?",
        "i think its 12",
        "because the list is sorted already",
        "no idea tbh",
        "so the bigger one moves down",
        "what if there are two of the same",
        "oh so thats why it doubles",
        "the root?",
        "maybe the second half",
        "hm it gets slower i guess",
        "can it be zero too?",
        "log n because it halves each time",
    ),
    "ko": (
        "그럼 왼쪽부터 가는 거예요?",
        "12 같은데요",
        "이미 정렬돼 있어서요",
        "잘 모르겠어요",
        "더 큰 게 아래로 가요",
        "같은 게 두 개면 어떡해요?",
        "아 그래서 두 배가 되는구나",
        "루트요?",
        "뒤쪽 반 아닐까요",
        "점점 느려질 것 같아요",
        "0도 돼요?",
        "반씩 줄어드니까 로그요",
    ),
}
TEACHER = {
    "en": (
        "What happens in the very first step?",
        "Which of the two would you compare?",
        "Why does that hold?",
        "Take 4, 1 and 3. What comes out?",
        "And if the list were twice as long?",
        "Which part are you sure about?",
        "Where does the value go next?",
    ),
    "ko": (
        "맨 처음에는 어떤 일이 일어날까요?",
        "둘 가운데 어느 것을 비교하겠어요?",
        "왜 그럴까요?",
        "4, 1, 3이면 무엇이 나올까요?",
        "목록이 두 배로 길면요?",
        "어느 부분은 확실한가요?",
        "값은 다음에 어디로 가나요?",
    ),
}


@dataclass(frozen=True)
class Line:
    """What a student says, and whether it is a failure of its kind or only looks a little like one.

    ``held``: no detector may be changed because of it.
    """

    kind: str
    planted: bool
    held: bool
    text: str


@cache
def lines(language: str) -> tuple[Line, ...]:
    """The file of single lines (``student_lines.LANGUAGE.tsv``)."""
    path = Path(__file__).with_name(f"student_lines.{language}.tsv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(DictReader(file, delimiter="\t", quoting=QUOTE_NONE))
    return tuple(Line(row["kind"], row["planted"] == "yes", row["held"] == "yes", row["text"]) for row in rows)


def texts(kind: str, language: str, *, planted: bool, held: bool | None = None) -> list[str]:
    """The lines of a kind; ``held``: those kept apart, or (False) those to work with."""
    return [
        one.text
        for one in lines(language)
        if (one.kind, one.planted) == (kind, planted) and held in (None, one.held)
    ]


@dataclass(frozen=True)
class Case:
    """A dialogue, its kind, and whether the failure was planted in it (else it only looks a little like it)."""

    dialogue: Dialogue
    kind: str
    planted: bool


def talk(language: str, at: int, replaced: dict[int, str] | None = None, **fields: Any) -> Dialogue:
    """Ordinary talk of :data:`TURNS` turns; ``replaced``: other student lines, by their number from 1."""
    own = [line for _, line in zip(range(TURNS - 1), _order(STUDENT[language], at, "s"), strict=False)]
    asked = _order(TEACHER[language], at, "t")
    for place, text in (replaced or {}).items():
        own[place - 1] = text
    said = [
        Utterance(
            role="student", text={"en": "why is heap sort n log n?", "ko": "힙 정렬은 왜 n log n이에요?"}[language]
        )
    ]
    for place, line in enumerate(own):
        said += [Utterance(role="teacher", text=asked[place]), Utterance(role="student", text=line)]
    said.append(Utterance(role="teacher", text=asked[TURNS - 1]))
    base = {
        "persona": "p",
        "question": "q",
        "subject": "s",
        "turns": TURNS,
        "end": "turns reached",
        "complete": True,
    }
    values: dict[str, Any] = {
        **base,
        "id": f"{language}-{at}",
        "language": language,
        "utterances": tuple(said),
        **fields,
    }
    return Dialogue.model_validate(values)


def _order(lines: tuple[str, ...], at: int, what: str) -> list[str]:
    return shuffled(((line, line) for line in lines), 11, what, at)


Maker = Callable[[str, int, bool, bool | None], Dialogue]


def _lines(kind: str) -> Maker:
    def make(language: str, at: int, planted: bool, held: bool | None) -> Dialogue:
        said = texts(kind, language, planted=planted, held=held)
        place = 1 + at % (TURNS - 1)
        before = pick(("", "ok ", "hm "), 3, kind, at) if language == "en" and not planted else ""
        return talk(language, at, {place: before + said[at % len(said)]})

    return make


def _loop(language: str, at: int, planted: bool, _: bool | None) -> Dialogue:
    long = {
        "en": f"so the bigger one {at} moves down again",
        "ko": f"그러니까 {at}보다 큰 게 아래로 다시 내려가요",
    }[language]
    if planted:
        if at % 3 == 0:
            return talk(language, at, {1: long, 4: long})
        if at % 3 == 1:
            return talk(language, at, {2: " ".join([long] * 4)})
        word = {"en": "idk", "ko": "몰라요"}[language]
        return talk(language, at, {1: word, 3: word, 5: word})
    word = {"en": "no no no wait", "ko": "아니 아니 아니 잠깐만요"}[language]
    return talk(
        language,
        at,
        {1: word, 3: {"en": "idk", "ko": "몰라요"}[language], 5: {"en": "idk", "ko": "몰라요"}[language]},
    )


def _near(language: str, at: int, planted: bool, _: bool | None) -> Dialogue:
    words = {
        "en": "so first we compare the parent with the smaller of its two children and then we swap them until it fits",
        "ko": "그러니까 제가 이해한 바로는 먼저 부모를 두 자식 가운데 더 작은 쪽과 비교하고 "
        "그다음에 자리가 맞을 때까지 한 단계씩 계속 서로 바꾸는 거죠",
    }[language].split()
    again = list(words)
    again[3 + at % 5] = {"en": "node", "ko": "노드를"}[language]
    if not planted:
        again.reverse()
    return talk(language, at, {1: " ".join(words), 4: " ".join(again)})


def _thanks(language: str, at: int, planted: bool, held: bool | None) -> Dialogue:
    said = texts("thanks_run", language, planted=True, held=held)
    one, other = said[at % len(said)], said[(at + 1) % len(said)]
    misses = texts("thanks_run", language, planted=False, held=held)
    return talk(language, at, {3: one, 4: other} if planted else {2: one, 3: misses[at % len(misses)]})


def _empty(language: str, at: int, planted: bool, _: bool | None) -> Dialogue:
    blank = ("", " \n", "\u200b", "\u3164 \u3164")[at % 4]
    return talk(language, at, {1 + at % 5: blank if planted else pick(("?", "…", "ㅇ", "🙂"), 2, at)})


def _premature(language: str, at: int, planted: bool, _: bool | None) -> Dialogue:
    whole = talk(language, at)
    if planted and at % 2:
        return whole.model_copy(update={"end": "failure", "complete": False, "turns": 3})
    if planted:
        return whole.model_copy(update={"end": "student ended", "turns": 2, "utterances": whole.utterances[:4]})
    persona = "leaver" if at % 2 else "p"
    turns = 1 if at % 2 else TURNS - 1
    return whole.model_copy(update={"end": "student ended", "turns": turns, "persona": persona})


MAKERS: dict[str, Maker] = {
    **{kind: _lines(kind) for kind in ("role_flip", "prompt_leak", "thinking_leak", "refused")},
    "loop": _loop,
    "near_duplicate": _near,
    "thanks_run": _thanks,
    "empty": _empty,
    "premature_end": _premature,
}


def cases(kind: str, each: int, held: bool | None = None) -> Iterator[Case]:
    """``each`` planted and as many ordinary dialogues, in either language."""
    for language in ("en", "ko"):
        for at in range(each):
            yield Case(MAKERS[kind](language, at, True, held), kind, True)
            yield Case(MAKERS[kind](language, each + at, False, held), kind, False)


def counted(
    kind: str, each: int, language: str | None = None, *, held: bool | None = None
) -> tuple[int, int, int]:
    """(found of planted, planted, found though not planted): each dialogue looked at by itself.

    ``held``: only with lines kept apart, or (False) only with those to work with.
    """
    assert kind in RULES
    material = Material(TURNS, personas={"p": PERSONA["en"] + "\n" + PERSONA["ko"]}, leaving=frozenset({"leaver"}))
    chosen = [case for case in cases(kind, each, held) if language in (None, case.dialogue.language)]
    talks = {case.dialogue.id: [talk_of(case.dialogue)] for case in chosen}
    if kind == "near_duplicate":  # planted ones are like each other too: each is looked at by itself
        found = {name for name, one in talks.items() if failures(one, material)[kind]["count"]}
    else:
        found = set(failures([talk for one in talks.values() for talk in one], material)[kind]["dialogues"])
    planted = {case.dialogue.id for case in chosen if case.planted}
    return len(found & planted), len(planted), len(found - planted)
