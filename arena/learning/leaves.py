"""From the records of branches to one row a leaf: credit, misconceptions, who said what, what was given away.

A component is leaked where the tutor states it (a label ``tell`` whose quote was found, or one of its phrases
stated) before the student has tried it or said it. Stated after an attempt, it is told after an attempt.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.learning.phrases import said_of
from knowledge.topic import Kind, Topic, misconception_of
from runstore.records import Subset
from runstore.student_records import OWN_RATING, ROOT_ARM, MoveLabel, Node, QuizRow


@dataclass(frozen=True, slots=True)
class Leaf:
    """One end of a branch. ``credit``: mean by kind of item.

    ``misconceived``: share of the topic's components, or of a model student's answers that stand for a
    misconception. ``own_rating``: what the student said of its tutor, 1 to 5.
    """

    id: str
    subset: str
    dialogue: str
    question: str
    arm: str
    credit: Mapping[Kind, float]
    misconceived: float
    leaked: float
    told_after_attempt: float
    first_by_student: int
    said: int
    own_rating: int | None = None


@dataclass(frozen=True, slots=True)
class Forest:
    """The records of all branches. ``subsets`` by id, which panel students share (``who`` -> subset)."""

    nodes: Sequence[Node]
    labels: Sequence[MoveLabel]
    quiz: Sequence[QuizRow]
    topics: Mapping[str, Topic]
    subsets: Mapping[str, Subset]
    whose: Mapping[str, str] = field(default_factory=dict[str, str])

    def subset_of(self, who: str) -> Subset:
        return self.subsets[self.whose.get(who, who)]

    def topic_of(self, who: str) -> Topic:
        return self.topics[self.subset_of(who).question]


@dataclass(slots=True)
class _Talk:
    """Who has said what along one branch."""

    tried: set[str] = field(default_factory=set[str])
    first: dict[str, str] = field(default_factory=dict[str, str])
    leaked: set[str] = field(default_factory=set[str])
    told_late: set[str] = field(default_factory=set[str])


def leaves(forest: Forest) -> list[Leaf]:
    """Every leaf that has its quiz, roots among them (arm ``""``), in the order of the nodes."""
    by_id = {node.id: node for node in forest.nodes}
    told: dict[str, set[str]] = defaultdict(set)
    deciding = _deciding(forest.labels)
    for label in forest.labels:
        if label.found and label.move == "tell" and label.component and label.labeller == deciding:
            told[label.node].add(label.component)
    rows: dict[str, list[QuizRow]] = defaultdict(list)
    for row in forest.quiz:
        if row.order == "drawn":
            rows[row.leaf].append(row)
    stated = {
        node.id: _stated(forest.topics[forest.subset_of(node.subset).question], node) for node in forest.nodes
    }
    gathered: list[Leaf] = []
    for node in forest.nodes:
        if node.id in rows:
            subset, topic = forest.subset_of(node.subset), forest.topic_of(node.subset)
            talk = _talk(topic, subset, _way(node, by_id), told, stated)
            gathered.append(_leaf(node, topic, subset, rows[node.id], talk))
    return gathered


def _stated(topic: Topic, node: Node) -> frozenset[str]:
    """The components that an utterance states, by their phrases."""
    return frozenset(component for component, _ in said_of(topic, node.text or ""))


def _deciding(labels: Sequence[MoveLabel]) -> str | None:
    """The first labeller: its labels moved the states."""
    return labels[0].labeller if labels else None


def _way(leaf: Node, by_id: Mapping[str, Node]) -> list[Node]:
    way = [leaf]
    while (parent := way[-1].parent) is not None and parent in by_id:
        way.append(by_id[parent])
    return way[::-1]


def _talk(
    topic: Topic,
    subset: Subset,
    way: Iterable[Node],
    told: Mapping[str, set[str]],
    by_phrase: Mapping[str, frozenset[str]],
) -> _Talk:
    talk = _Talk()
    for utterance in subset.history:
        for component, _ in said_of(topic, utterance.text):
            talk.first.setdefault(component, utterance.role)
            if utterance.role == "student":
                talk.tried.add(component)
    for node in way:
        if node.arm == ROOT_ARM:
            continue
        stated = set(by_phrase[node.id])
        if node.speaker == "student":
            if node.attempted and node.component:
                talk.tried.add(node.component)
                stated |= {node.component} if node.act == "right_answer" else set()
            talk.tried |= stated
        else:
            stated |= told.get(node.id, set())
            for component in stated - talk.first.keys():
                (talk.told_late if component in talk.tried else talk.leaked).add(component)
        for component in stated:
            talk.first.setdefault(component, node.speaker)
    return talk


def _leaf(node: Node, topic: Topic, subset: Subset, rows: Sequence[QuizRow], talk: _Talk) -> Leaf:
    kinds: dict[str, Kind] = {item.id: item.kind for item in topic.items}
    points: dict[Kind, list[float]] = defaultdict(list)
    for row in rows:
        if row.p is not None and row.item in kinds:
            points[kinds[row.item]].append(row.p)
    taught = [component.id for component in topic.taught]
    said = [name for name in taught if name in talk.first]
    return Leaf(
        id=node.id,
        subset=node.subset,
        dialogue=subset.dialogue,
        question=subset.question,
        arm=node.arm,
        credit={kind: sum(values) / len(values) for kind, values in points.items()},
        misconceived=_misconceived(node.state or {}, taught, rows),
        leaked=len(talk.leaked & set(topic.answer)) / len(topic.answer),
        told_after_attempt=len(talk.told_late & set(topic.answer)) / len(topic.answer),
        first_by_student=sum(talk.first[name] == "student" for name in said),
        said=len(said),
        own_rating=next((int(row.answer) for row in rows if row.item == OWN_RATING and row.answer), None),
    )


def _misconceived(state: Mapping[str, str], taught: Sequence[str], rows: Sequence[QuizRow]) -> float:
    answers = [row for row in rows if row.answer is not None and row.item != OWN_RATING]
    if answers:
        return sum(row.misconception is not None for row in answers) / len(answers)
    return sum(misconception_of(state[name]) is not None for name in taught) / len(taught)
