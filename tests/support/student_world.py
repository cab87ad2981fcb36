"""A world for the student's side: dialogues on topics, tutors of known habits, a student who says what it is told.

Everything is decided by the request and by the tutor's name, so that runs can be repeated byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from arena.learning.phrases import labels_of
from gateway.prompt import Answer, Prompt
from knowledge import load_topics
from knowledge.topic import Item, Option, Topic
from runstore.ids import draw, pick
from runstore.records import Subset, Utterance
from tests.support.fake_faults import Reply
from tests.support.fake_provider import Script
from tests.support.fake_shapes import Asked
from tests.support.fake_shapes import answer as answer_of

FAIR = "Let me think with you about this."
GENERIC = (
    "What do you think about that?",
    "Can you say more about it?",
    "Why would that be so?",
    "Go on, and then?",
)
CHAT = "What an interesting thought you have there."
HABITS: Mapping[str, tuple[float, float, float]] = {
    # share of: questions aimed at something of the topic, telling, teaching a misconception; the rest is generic
    "good": (0.80, 0.10, 0.00),
    "fair": (0.45, 0.10, 0.00),
    "lecturer": (0.05, 0.85, 0.00),
    "generic": (0.05, 0.00, 0.00),
    "silent": (0.00, 0.00, 0.00),
    "wrong": (0.00, 0.00, 0.90),
}


def topics(language: str = "en") -> dict[str, Topic]:
    return dict(load_topics(language=language).topics)


def subsets(dialogues: int, per: int = 2, language: str = "en", questions: Sequence[str] = ()) -> list[Subset]:
    """Dialogues on the shipped topics in turn, ``per`` subsets each."""
    names = list(questions or topics(language))
    found: list[Subset] = []
    for number in range(dialogues):
        for depth in range(1, per + 1):
            history = [Utterance(role="student", text=f"How does this work? ({number})")]
            for turn in range(1, depth):
                history.append(Utterance(role="teacher", text=f"Tell me more about it ({turn})."))
                history.append(Utterance(role="student", text=f"hm, not sure ({number}, {turn})"))
            found.append(
                Subset(
                    id=f"s-{number:04d}-{depth}",
                    dialogue=f"d-{number:04d}",
                    persona="p",
                    levels={"motivation": ("low", "high")[number % 2], "year": str(1 + number % 4)},
                    question=names[number % len(names)],
                    subject="any",
                    language=language,
                    cut=2 * depth - 1,
                    depth=depth,
                    history=tuple(history),
                )
            )
    return found


def utterance(tutor: str, topic: Topic, *about: str) -> str:
    """What a tutor of this habit says at a place: the words of the topic's scripts."""
    habit = tutor.partition("-")[0]
    where = (tutor, topic.question, *about)
    if habit == "leak":
        return topic.scripts.leak.text
    targeted, telling, wrong = HABITS[habit]
    point = draw(1, "move", *where)
    if point < targeted:
        transfer = [one for one in topic.transfer for _ in range(2)]
        names = [*transfer, *(one.id for one in topic.taught)]
        component = pick(names, 1, "component", *where)
        return topic.scripts.contrast[pick([component, *topic.held_by(component)], 1, "aim", *where)]
    if point < targeted + telling:
        one = pick(topic.taught, 1, "told", *where)
        return f"{one.states[0].upper()}{one.states[1:]}: {one.key_phrases[0]}."
    if point < targeted + telling + wrong:
        return topic.scripts.wrong[pick(sorted(topic.scripts.wrong), 1, "wrong", *where)]
    return f"{pick(GENERIC, 1, 'generic', *where)} {CHAT if habit == 'silent' else FAIR}"


def first_reply(tutor: str, topic: Topic, subset: Subset) -> str:
    return f"{utterance(tutor, topic, subset.id)} {mark(tutor, subset.id)}"


def mark(*parts: str) -> str:
    """Something that makes texts differ and means nothing."""
    return f"[{int(draw(2, *parts) * 16**6):06x}]"


class World:
    """Asks like the gateway, and counts; ``labels`` replaces what a labeller answers, ``quiz`` takes the quiz."""

    def __init__(self, language: str = "en", labels: Any = None, quiz: Taking | None = None) -> None:
        self.by_question = topics(language)
        self.calls: list[tuple[str, Prompt, int]] = []
        self.labels = labels
        self.quiz = quiz or faithful

    async def ask(
        self, endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
    ) -> Answer:
        self.calls.append((endpoint, prompt, repeat))
        last = prompt.messages[-1].content
        if prompt.schema is not None and prompt.schema.name == "choice":
            return Answer(taken(self.by_question, last, self.quiz))
        if prompt.schema is not None and prompt.schema.name == "rating":
            return Answer('{"rating": 4}')
        if prompt.role == "student":
            return Answer(spoken(last))
        if prompt.role == "judge":
            return Answer(self.labels(last) if self.labels else labelled(self.by_question, last))
        topic = self.by_question[prompt.fields["question"]] if "question" in prompt.fields else self._guess(prompt)
        said = " / ".join(message.content for message in prompt.messages)
        return Answer(f"{utterance(endpoint, topic, said, str(repeat))} {mark(endpoint, said, str(repeat))}")

    def _guess(self, prompt: Prompt) -> Topic:
        return topic_of(self.by_question, [message.content for message in prompt.messages])


def topic_of(known: Mapping[str, Topic], texts: Sequence[str]) -> Topic:
    """The topic that a conversation is on: the one whose words occur most."""
    text = " ".join(texts).casefold()
    language = next(iter(known.values())).language
    return known[max(known, key=lambda name: (sum(word in text for word in _words(name, language)), name))]


@cache
def _words(question: str, language: str) -> frozenset[str]:
    topic = topics(language)[question]
    texts = [one.states for one in topic.components] + [one.says for one in topic.misconceptions]
    return frozenset(re.findall(r"\w{5,}", " ".join(texts).casefold()))


def spoken(last: str) -> str:
    """A student who says what the stage direction tells it to mean."""
    meant = re.search(r"(?:means?|meaning|뜻은 이렇습니다): (.+?)\.(?: |\))", last)
    about = re.search(r"asked about (.+?)[.,] ", last)
    shown = meant[1] if meant else about[1] if about else "hm"
    return f"i think {shown} {mark(last)}"


def labelled(known: Mapping[str, Topic], prompt: str) -> str:
    """What a faultless labeller answers to the moves prompt: the topics' phrases, read in the tutor's message."""
    topic = next(topic for topic in known.values() if topic.components[0].states in prompt)
    found = labels_of(topic, judged_text(prompt))
    rows = [
        {"component": one.component, "move": one.move, "target": one.target, "quote": one.quote} for one in found
    ]
    return json.dumps({"labels": rows}, ensure_ascii=False)


def judged_text(prompt: str) -> str:
    """The tutor's message between the last two fences."""
    return re.findall(r"(==[0-9a-f]{12}==)\n(.*?)\n\1", prompt, re.DOTALL)[-1][1]


def provider_script(language: str = "en", labels: Callable[[str], str] | None = None) -> Script:
    """The same world behind the fake provider: an endpoint's model is the tutor's name."""
    known = topics(language)

    def text(asked: Asked) -> str | None:
        last = asked.last
        if asked.schema is not None and '"support"' in last:
            return taken(known, last, faithful)
        if asked.schema is not None and '"rating"' in last:
            return '{"rating": 4}'
        if asked.schema is not None and '"labels"' in last:
            return labels(last) if labels is not None else labelled(known, last)
        if asked.role == "student" and ("means: " in last or "asked about" in last):
            return spoken(last)
        if asked.role == "teacher" and asked.model.partition("-")[0] in {*HABITS, "leak"}:
            said = " / ".join(asked.texts)
            key = asked.key.hex()
            return f"{utterance(asked.model, topic_of(known, asked.texts), said, key)} {mark(said, key)}"
        return None

    def answer(asked: Asked, attempt: int) -> Reply | None:
        said = text(asked)
        return None if said is None else Reply(answer_of(asked, said))

    return answer


@dataclass(frozen=True, slots=True)
class Put:
    """An item as a model student is asked it: what it knew, what the teacher said, options and reasons by mark."""

    topic: Topic
    item: Item
    knew: str
    said: str
    marks: Sequence[Mapping[str, Option]]

    def choice(self, wanted: Callable[[Option], bool], support: str) -> str:
        """The first option and reason wanted of each tier, ``?`` where there is none."""
        chosen = [next((mark for mark, option in tier.items() if wanted(option)), "?") for tier in self.marks]
        reason = chosen[1] if len(chosen) > 1 else None
        return json.dumps({"answer": chosen[0], "reason": reason, "support": support}, ensure_ascii=False)


Taking = Callable[[Put], str]


def faithful(put: Put) -> str:
    """A student who understands what is asked against what it holds, and repeats, at most, what it was told."""
    topic, scripts = put.topic, put.topic.scripts
    needed = [topic.component[name] for name in put.item.components]
    for one in needed:
        aims = [scripts.contrast[name] for name in (one.id, *topic.held_by(one.id)) if name in scripts.contrast]
        if aimed := next((text for text in aims if text in put.said), None):
            return put.choice(lambda option: option.key, aimed)
        held = [topic.misconception[name] for name in topic.held_by(one.id)]
        if believed := next((name for name in held if name.says in put.knew), None):
            return put.choice(lambda option, name=believed.id: option.misconception == name, believed.says)
        wrong = {name: text for name, text in scripts.wrong.items() if topic.misconception[name].of == one.id}
        if taught := next((name for name, text in wrong.items() if text in put.said), None):
            return put.choice(lambda option, name=taught: option.misconception == name, wrong[taught])
        if one.states in put.knew:
            return put.choice(lambda option: option.key, one.states)
        told = next((phrase for phrase in one.key_phrases if phrase.casefold() in put.said.casefold()), None)
        if told and put.item.kind == "recall":
            return put.choice(lambda option: option.key, told)
    return put.choice(lambda option: False, "")


def taken(known: Mapping[str, Topic], prompt: str, how: Taking) -> str:
    """The reply of a student of this kind to a quiz prompt."""
    topic, item = next((t, i) for t in known.values() for i in t.items if i.ask in prompt)
    knew, rest = prompt.split("\n==", 1)
    asked = prompt.rsplit("==\n", 1)[1]
    said = "\n".join(
        line.partition(": ")[2] for line in rest.split("\n") if line.startswith(("Teacher", "선생님"))
    )
    marked = {text: mark for mark, text in re.findall(r"^([A-Z]|\d)\. (.+)$", asked, re.MULTILINE)}
    return how(Put(topic, item, knew, said, [{marked[one.text]: one for one in tier} for tier in item.tiers]))
