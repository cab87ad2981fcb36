"""What a student knows of a topic, how a tutor's moves change it, and what it is worth in the quiz.

States by component: ``absent``, ``misconceived:<id>``, ``told``, ``understood``. Every draw belongs to the seed
and to what is drawn, never to a tutor's name: so two tutors who do the same have the same student.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knowledge.rules import Learning, Multipliers
from knowledge.topic import ABSENT, MISCONCEIVED, TOLD, UNDERSTOOD, Topic, misconception_of
from runstore.ids import draw, pick
from runstore.student_records import MoveLabel

States = Mapping[str, str]
_ORDER = (UNDERSTOOD, TOLD, MISCONCEIVED, ABSENT)
_WEAKEST = (MISCONCEIVED, ABSENT, TOLD, UNDERSTOOD)
STRONGEST_FIRST = ("wrong", "tell", "contrast", "hint", "ask", "mention")


@dataclass(frozen=True, slots=True)
class Chance:
    """What may become of a component: new states with their probabilities, in the order they are drawn in."""

    component: str
    before: str
    outcomes: tuple[tuple[str, float], ...]
    needs_attempt: bool

    @property
    def p(self) -> float:
        return sum(share for _, share in self.outcomes)

    def after(self, u: float) -> str:
        """The state that the draw ``u`` leads to."""
        for state, share in self.outcomes:
            u -= share
            if u < 0:
                return state
        return self.before


def kind_of(state: str) -> str:
    """A state without the misconception's name."""
    return state.partition(":")[0]


def first_states(topic: Topic, rules: Learning, levels: Mapping[str, str], seed: int, who: str) -> dict[str, str]:
    """What a student of these levels brings to the dialogue ``who`` names.

    A component is understood only where those it needs are.
    """
    understood = _scaled(
        rules.first.understood, [multiplier.understood for multiplier in _multipliers(rules, levels)]
    )
    states: dict[str, str] = {}
    for component in topic.components:
        held = topic.held_by(component.id)
        ready = all(kind_of(states.get(name, ABSENT)) == UNDERSTOOD for name in component.needs)
        if ready and draw(seed, "first", who, component.id) < understood:
            states[component.id] = UNDERSTOOD
        elif held and draw(seed, "misconceived", who, component.id) < rules.first.misconceived:
            states[component.id] = f"{MISCONCEIVED}:{pick(held, seed, 'held', who, component.id)}"
        else:
            states[component.id] = ABSENT
    return states


def engaged(rules: Learning, levels: Mapping[str, str]) -> float:
    """How probably a student of these levels answers what is asked."""
    return _scaled(rules.engaged, [multiplier.engaged for multiplier in _multipliers(rules, levels)])


def _multipliers(rules: Learning, levels: Mapping[str, str]) -> list[Multipliers]:
    names = [f"{factor}-{level}" for factor, level in levels.items()]
    return [rules.levels[name] for name in names if name in rules.levels]


def _scaled(p: float, odds: Iterable[float]) -> float:
    if p in (0.0, 1.0):
        return p
    ratio = p / (1 - p)
    for multiplier in odds:
        ratio *= multiplier
    return ratio / (1 + ratio)


def strongest(labels: Iterable[MoveLabel]) -> dict[str, MoveLabel]:
    """Component -> the label that decides, of those whose quote was found."""
    chosen: dict[str, MoveLabel] = {}
    for label in labels:
        if label.found and label.component is not None and label.move in STRONGEST_FIRST:
            known = chosen.get(label.component)
            if known is None or STRONGEST_FIRST.index(label.move) < STRONGEST_FIRST.index(known.move):
                chosen[label.component] = label
    return chosen


def chances(topic: Topic, rules: Learning, states: States, labels: Iterable[MoveLabel]) -> list[Chance]:
    """What a tutor's utterance may do, in the topic's order of components."""
    moved = strongest(labels)
    known = [
        _chance(topic, rules, states, moved[component.id])
        for component in topic.components
        if component.id in moved
    ]
    return [chance for chance in known if chance is not None]


def _chance(topic: Topic, rules: Learning, states: States, label: MoveLabel) -> Chance | None:
    component = label.component or ""
    state = states[component]
    shares = rules.moves.get(kind_of(state), {}).get(label.move, {})
    if label.move in ("contrast", "hint") and not _is_aligned(state, label.target):
        return None
    known = label.target if label.target in topic.held_by(component) else None
    outcomes = tuple(
        (f"{MISCONCEIVED}:{known}" if name == MISCONCEIVED else name, shares[name])
        for name in _ORDER
        if shares.get(name) and (name != MISCONCEIVED or known is not None)
    )
    if not outcomes:
        return None
    return Chance(component, state, outcomes, label.move in rules.needs_attempt)


def _is_aligned(state: str, target: str | None) -> bool:
    """Whether a move is aimed at what is held: at this misconception, or at none where none is held."""
    held = misconception_of(state)
    return target == held if held is not None or state == ABSENT else True


def credit_of(topic: Topic, rules: Learning, states: States) -> dict[str, float]:
    """Item -> probability of full credit, by the weakest state among the components that the item needs."""
    return {
        item.id: rules.credit[item.kind][
            min((kind_of(states[name]) for name in item.components), key=_WEAKEST.index)
        ]
        for item in topic.items
    }
