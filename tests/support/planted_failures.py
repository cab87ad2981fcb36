# ruff: noqa: E501 - lines that people say
"""Dialogues with one planted failure each, and ordinary ones that look a little like it, in English and Korean.

The planted lines were written from what a failure *is*, not from the detectors' word lists: some are put in words that
no list has, so that recall tells something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
LINES: dict[str, dict[str, tuple[str, ...]]] = {
    "role_flip": {
        "en": (
            "Great question! Let me walk you through it.",
            "Teacher: what do you think happens next?",
            "I'm here to help. How can I assist you today?",
            "You're on the right track, keep going!",
            "As your tutor I would start with the root.",
            "Does that make sense so far? Try the next one yourself.",
            "Excellent work! Now, would you like me to explain the next step?",
            "I hope this helps! Feel free to ask more.",
        ),
        "ko": (
            "좋은 질문이에요! 제가 차근차근 설명해 드릴게요.",
            "선생님: 다음에는 무슨 일이 일어날까요?",
            "제가 도와드리겠습니다. 무엇을 도와드릴까요?",
            "잘하셨어요! 이제 다음 단계로 가 볼까요?",
            "튜터로서 말하자면 루트부터 보세요.",
            "여기까지 이해되셨나요? 그럼 다음 문제를 풀어 보세요.",
            "질문이 더 있으시면 언제든지 말씀하세요.",
        ),
    },
    "prompt_leak": {
        "en": (
            "my persona says i should be bored now",
            "low motivation so i would not answer <END> yet",
            "as a simulated student i ask a follow up",
            "(staying in character) so is it n?",
            "i answer in very few words whenever the teacher asks you something hard",
            "my instructions say to get this one wrong",
            "<|im_start|>user is it n?",
            "self-efficacy is low so: maybe n?",
        ),
        "ko": (
            "제 페르소나는 지루해하는 학생이에요",
            "자기효능감이 낮으니까 자신 없게 말할게요",
            "시스템 프롬프트대로라면 여기서 틀려야 해요",
            "이 과목에 지쳐 있어서 선생님이 어려운 것을 물을 때마다 아주 짧게만",
            "역할극이니까 이제 질문할게요",
            "지시에 따라 여기서 틀리게 답합니다",
            "학습 동기가 낮은 학생이라 잘 몰라요",
            "</END> 그런데요",
        ),
    },
    "thinking_leak": {
        "en": (
            "<think>The student would be confused here.</think> so is it n?",
            "Okay, the user is asking me to play on. maybe n?",
            "The student is confused, so I should respond as someone unsure: maybe n?",
            "Thought: answer wrongly. it is n squared",
            "I need to respond as the student. is it n?",
            "Let me think about what a bored student would write: idk",
            "As the student, I would say n",
            "Reasoning: they want a short answer. n?",
        ),
        "ko": (
            "<thinking>학생이 헷갈려야 한다</thinking> n인가요?",
            "생각: 틀리게 답한다. n 제곱이요",
            "학생 역할에 맞게 짧게 답해야 한다. n이요",
            "사용자가 묻고 있으니 모른다고 하자. 잘 모르겠어요",
            "학생의 입장에서 답하면 n이에요",
            "추론: 짧은 답을 원함. n?",
            "지루한 학생이라면 뭐라고 쓸까. 몰라요",
        ),
    },
    "refused": {
        "en": (
            "I'm sorry, but I can't help with that.",
            "I cannot assist with this request.",
            "As an AI, I am unable to pretend.",
            "That would be against my guidelines.",
            "I'm not able to continue this conversation.",
            "I won't answer that, it is not appropriate.",
            "Sorry, I can't comply with that.",
        ),
        "ko": (
            "죄송하지만 그 부분은 도와드릴 수 없습니다.",
            "해당 질문에는 답변할 수 없습니다.",
            "그런 정보는 제공해 드릴 수 없습니다.",
            "이 요청에는 응답할 수 없습니다.",
            "정책상 말씀드리기 어렵습니다.",
            "저는 그렇게 해 드릴 수가 없어요, 죄송합니다.",
        ),
    },
}
NEAR_MISSES: dict[str, dict[str, tuple[str, ...]]] = {
    "role_flip": {
        "en": (
            "is my teacher right about that?",
            "good question, i dont know",
            "let me try it myself",
            "my tutor said n",
        ),
        "ko": ("제 질문이 이상한가요?", "선생님 말이 맞아요?", "제가 해 볼게요", "친구한테 설명해 봤어요"),
    },
    "prompt_leak": {
        "en": (
            "whats a prompt in a shell?",
            "i answer it in few words: n",
            "my motivation is the exam lol",
            "where does it end?",
        ),
        "ko": ("프롬프트 창에 치면 돼요?", "동기가 뭐예요?", "짧게 말하면 n이요", "끝이 어디예요?"),
    },
    "thinking_leak": {
        "en": (
            "i was thinking its n",
            "the user clicks and it wakes up?",
            "ok so the thread is waiting",
            "let me think... n?",
        ),
        "ko": ("제 생각은 n이에요", "사용자가 누르면 깨어나요?", "생각해 보니까 틀렸네요", "음 잠깐만요"),
    },
    "refused": {
        "en": (
            "sorry i cant follow",
            "i can't do fractions",
            "i dont want to answer that",
            "it can't help, it makes it slower",
        ),
        "ko": ("죄송해요 못 따라가겠어요", "저 분수는 못 해요", "대답하기 싫어요", "그건 도움이 안 되는데요"),
    },
}
THANKS = {
    "en": ("thanks!", "ok thank you so much", "got it, thx", "bye, see you"),
    "ko": ("감사합니다!", "아 고마워요", "네 감사해요", "안녕히 계세요"),
}


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


def _lines(kind: str) -> Callable[[str, int, bool], Dialogue]:
    def make(language: str, at: int, planted: bool) -> Dialogue:
        lines = (LINES if planted else NEAR_MISSES)[kind][language]
        place = 1 + at % (TURNS - 1)
        before = pick(("", "ok ", "hm "), 3, kind, at) if language == "en" and not planted else ""
        return talk(language, at, {place: before + lines[at % len(lines)]})

    return make


def _loop(language: str, at: int, planted: bool) -> Dialogue:
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


def _near(language: str, at: int, planted: bool) -> Dialogue:
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


def _thanks(language: str, at: int, planted: bool) -> Dialogue:
    lines = THANKS[language]
    one, other = lines[at % len(lines)], lines[(at + 1) % len(lines)]
    return talk(language, at, {3: one, 4: other} if planted else {2: one, 4: STUDENT[language][0]})


def _empty(language: str, at: int, planted: bool) -> Dialogue:
    blank = ("", " \n", "\u200b", "\u3164 \u3164")[at % 4]
    return talk(language, at, {1 + at % 5: blank if planted else pick(("?", "…", "ㅇ", "🙂"), 2, at)})


def _premature(language: str, at: int, planted: bool) -> Dialogue:
    whole = talk(language, at)
    if planted and at % 2:
        return whole.model_copy(update={"end": "failure", "complete": False, "turns": 3})
    if planted:
        return whole.model_copy(update={"end": "student ended", "turns": 2, "utterances": whole.utterances[:4]})
    persona = "leaver" if at % 2 else "p"
    turns = 1 if at % 2 else TURNS - 1
    return whole.model_copy(update={"end": "student ended", "turns": turns, "persona": persona})


MAKERS: dict[str, Callable[[str, int, bool], Dialogue]] = {
    **{kind: _lines(kind) for kind in LINES},
    "loop": _loop,
    "near_duplicate": _near,
    "thanks_run": _thanks,
    "empty": _empty,
    "premature_end": _premature,
}


def cases(kind: str, each: int) -> Iterator[Case]:
    """``each`` planted and as many ordinary dialogues, in either language."""
    for language in ("en", "ko"):
        for at in range(each):
            yield Case(MAKERS[kind](language, at, True), kind, True)
            yield Case(MAKERS[kind](language, each + at, False), kind, False)


def counted(kind: str, each: int, language: str | None = None) -> tuple[int, int, int]:
    """(found of planted, planted, found though not planted): each dialogue looked at by itself."""
    assert kind in RULES
    material = Material(TURNS, personas={"p": PERSONA["en"] + "\n" + PERSONA["ko"]}, leaving=frozenset({"leaver"}))
    chosen = [case for case in cases(kind, each) if language in (None, case.dialogue.language)]
    talks = {case.dialogue.id: list(map(talk_of, [case.dialogue])) for case in chosen}
    if kind == "near_duplicate":  # planted ones are like each other too: each is looked at by itself
        found = {name for name, one in talks.items() if failures(one, material)[kind]["count"]}
    else:
        found = set(failures([talk for one in talks.values() for talk in one], material)[kind]["dialogues"])
    planted = {case.dialogue.id for case in chosen if case.planted}
    return len(found & planted), len(planted), len(found - planted)
