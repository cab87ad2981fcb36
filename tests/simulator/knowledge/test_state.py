"""How states begin, what moves do to them, and what they are worth."""

from __future__ import annotations

import pytest

from knowledge import Learning, load_learning, load_topics
from knowledge.topic import Topic
from runstore.student_records import MoveLabel
from simulator.knowledge.state import chances, credit_of, engaged, first_states

RULES: Learning = load_learning()
TOPIC: Topic = load_topics().topics["dijkstra-negative-edges"]


def label(component: str, move: str, target: str | None = None, *, found: bool = True) -> MoveLabel:
    return MoveLabel.model_validate(
        {"node": "n", "component": component, "move": move, "target": target, "quote": "q", "found": found}
    )


def after(state: str, *labels: MoveLabel, u: float = 0.0) -> str:
    states = dict.fromkeys(TOPIC.component, "absent") | {"monotone": state}
    found = [one for one in chances(TOPIC, RULES, states, labels) if one.component == "monotone"]
    return found[0].after(u) if found else state


@pytest.mark.parametrize(
    ("state", "made", "becomes"),
    [
        ("misconceived:shift", label("monotone", "contrast", "shift"), "understood"),
        ("misconceived:shift", label("monotone", "contrast", "positive"), "misconceived:shift"),
        ("misconceived:shift", label("monotone", "hint"), "misconceived:shift"),
        ("misconceived:shift", label("rounds", "contrast", None), "misconceived:shift"),
        ("absent", label("monotone", "hint"), "understood"),
        ("absent", label("monotone", "contrast", "shift"), "absent"),
        ("told", label("monotone", "ask"), "understood"),
        ("absent", label("monotone", "wrong", "shift"), "misconceived:shift"),
        ("absent", label("monotone", "wrong"), "absent"),
        ("understood", label("monotone", "wrong", "shift"), "understood"),
        ("absent", label("monotone", "mention"), "absent"),
        ("absent", label("monotone", "hint", found=False), "absent"),
    ],
)
def test_a_move_acts_on_the_state_it_is_aimed_at(state: str, made: MoveLabel, becomes: str) -> None:
    assert after(state, made) == becomes


def test_being_told_is_not_understanding() -> None:
    tell = label("monotone", "tell")
    outcomes = [after("absent", tell, u=(at + 0.5) / 1000) for at in range(1000)]
    assert outcomes.count("told") == 800
    assert outcomes.count("understood") == 40
    assert [after("misconceived:shift", tell, u=(at + 0.5) / 1000) for at in range(1000)].count("told") == 400


def test_of_two_moves_on_one_component_the_stronger_counts() -> None:
    assert after("absent", label("monotone", "hint"), label("monotone", "tell"), u=0.5) == "told"


def test_a_component_is_understood_at_first_only_where_those_it_needs_are() -> None:
    for number in range(400):
        states = first_states(TOPIC, RULES, {}, 1, f"d-{number}")
        assert states["settle"] == "understood" or states["monotone"] != "understood"
        assert states["heap"] in ("absent", "understood")


def test_first_states_follow_the_levels_and_belong_to_the_dialogue_alone() -> None:
    def share(year: str) -> float:
        drawn = [first_states(TOPIC, RULES, {"year": year}, 1, f"d-{number}")["settle"] for number in range(600)]
        return drawn.count("understood") / 600

    assert share("4") > share("1") + 0.1
    assert first_states(TOPIC, RULES, {"year": "2"}, 1, "d") == first_states(TOPIC, RULES, {"year": "2"}, 1, "d")
    assert engaged(RULES, {"motivation": "high"}) > RULES.engaged > engaged(RULES, {"motivation": "low"})


def test_credit_goes_by_the_weakest_component_and_never_by_the_order_of_options() -> None:
    states = dict.fromkeys(TOPIC.component, "understood") | {"monotone": "told"}
    credit = credit_of(TOPIC, RULES, states)
    assert credit == {"q1": 0.92, "q2": 0.12, "q3": 0.08, "q4": 0.92}
    turned = TOPIC.model_copy(
        update={"items": tuple(one.model_copy(update={"options": one.options[::-1]}) for one in TOPIC.items)}
    )
    assert credit_of(turned, RULES, states) == credit
