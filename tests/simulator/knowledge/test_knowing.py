"""Plain dialogues with a student whose state is kept."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from arena.learning.phrases import PhraseLabeller
from gateway.prompt import Answer, Prompt
from knowledge import load_learning, load_topics
from knowledge.topic import misconception_of
from runstore.records import Dialogue, Persona, SeedQuestion
from simulator.conversation import Conversation, converse
from simulator.cutter import subset_at
from simulator.knowledge.acts import Directions
from simulator.knowledge.knowing import Knowing
from simulator.knowledge.rollout import situation
from simulator.roles import Roles
from tests.support.student_world import spoken

TOPICS = dict(load_topics().topics)
RULES = load_learning()
KNOWING = Knowing(TOPICS, RULES, PhraseLabeller(), Directions.load("en"))
QUESTION = SeedQuestion(id="dijkstra-negative-edges", subject="any", text="Where does Dijkstra go wrong?")
ASKED = TOPICS[QUESTION.id].scripts.contrast


async def ask(endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = "") -> Answer:
    if prompt.role == "student":
        return Answer(spoken(prompt.messages[-1].content))
    turn = sum(utterance.role == "teacher" for utterance in prompt.transcript)
    return Answer(ASKED[("settle", "monotone", "rounds", "cycle")[turn % 4]])


def dialogue(copy: int) -> Dialogue:
    person = Persona(id="p", levels={"motivation": "high"}, text="A student.")
    how = Conversation("student", "teacher", turns=5, acts="knowledge", seed=4)
    held = asyncio.run(converse(ask, person, QUESTION, how, Roles.load("en"), copy=copy, knowing=KNOWING))
    return held.dialogue


def test_a_wrong_answer_names_the_misconception_that_is_held_and_keeps_it() -> None:
    topic, wrong = TOPICS[QUESTION.id], 0
    for copy in range(30):
        for utterance in dialogue(copy).utterances:
            if utterance.role == "student":
                assert utterance.state is not None
                assert utterance.state.keys() == topic.component.keys()
            if utterance.act == "wrong_answer":
                held = [misconception_of(state) for state in (utterance.state or {}).values()]
                assert any(topic.misconception[name].says in utterance.text for name in held if name)
                wrong += 1
    assert wrong > 5


def test_a_state_changes_only_by_what_the_tutor_asked() -> None:
    for copy in range(10):
        states = [one.state for one in dialogue(copy).utterances if one.role == "student" and one.state]
        for asked, (before, after) in enumerate(pairwise(states)):
            changed = {name for name in before if before[name] != after[name]}
            assert changed <= {("settle", "monotone", "rounds", "cycle")[asked % 4]}


def test_branches_begin_with_the_state_at_the_cut() -> None:
    whole = dialogue(3)
    cut = subset_at(whole, 4)
    begun = situation(cut, TOPICS[QUESTION.id], Persona(id="p", levels={}, text=""), RULES, 4)
    assert begun.state == whole.utterances[6].state


def test_a_dialogue_without_a_state_is_written_as_before() -> None:
    person = Persona(id="p", levels={}, text="A student.")
    how = Conversation("student", "teacher", turns=2)
    held = asyncio.run(converse(ask, person, QUESTION, how, Roles.load("en")))
    assert all(set(one) == {"role", "text", "act"} for one in held.dialogue.model_dump()["utterances"])
