"""Who talks about what, dialogue by dialogue, on one machine and on several."""

import pytest

from frontdesk.runner.casting import Castings
from personas import assign, generate
from seed_questions import load
from simulator.conversation import Conversation, dialogue_id

PEOPLE, QUESTIONS = generate(), load()
MANY = 3 * len(PEOPLE)


def castings(wanted=lambda casting: True) -> Castings:
    made = Castings(PEOPLE, QUESTIONS)
    made.take(assign(PEOPLE, QUESTIONS[:20], MANY, 7), wanted)
    return made


def test_dialogues_are_those_of_the_plan_and_no_two_are_one():
    made = castings()
    assert [(each.persona, each.question) for each in made] == assign(PEOPLE, QUESTIONS[:20], MANY, 7)
    assert [each.place for each in made] == list(range(MANY))
    assert any(each.copy for each in castings_of_one())
    how = Conversation("a", "b", seed=7)
    ids = [dialogue_id(each.persona, each.question, how, each.copy) for each in castings_of_one()]
    assert len(set(ids)) == len(ids) == 10


def castings_of_one() -> Castings:
    made = Castings(PEOPLE[:1], QUESTIONS[:1])
    made.take(assign(PEOPLE[:1], QUESTIONS[:1], 10, 7), lambda _: True)
    return made


@pytest.mark.parametrize("of", [2, 3])
def test_parts_of_the_plan_keep_its_places_and_copies(of):
    whole = list(castings())
    parts = [list(castings(lambda casting, at=at: casting.place % of == at)) for at in range(of)]
    assert sorted((each for part in parts for each in part), key=lambda each: each.place) == whole
