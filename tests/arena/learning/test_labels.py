"""How well moves and leaks are read, and what counts as giving the answer away."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from arena.learning.labelling import read_labels
from arena.learning.leaves import Forest, leaves
from arena.learning.panel import label_row
from arena.learning.phrases import labels_of, said_of
from knowledge import load_learning, load_topics
from knowledge.wording import Wording
from runstore.records import Act, Role, Subset, Utterance
from runstore.student_records import MoveLabel, Node, QuizRow
from simulator.knowledge.state import credit_of
from tests.support.planted import planted, spoken
from tests.support.small_runs import REPOSITORY

TOPIC = load_topics().topics["dijkstra-negative-edges"]
PHRASES = {one.id: one.key_phrases[0] for one in TOPIC.taught}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_phrases_read_planted_moves(language: str) -> None:
    utterances = [one for topic in load_topics(language=language).topics.values() for one in planted(topic)]
    known = {str(at): one.moves for at, one in enumerate(utterances)}
    labels = [label for at, one in enumerate(utterances) for label in labels_of(one.topic, one.text, str(at))]
    row = label_row("phrases", known, labels)
    assert len(utterances) > 300
    assert (row.precision or 0) > 0.9
    assert (row.recall or 0) > 0.7


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_question_a_denial_or_a_quotation_is_no_leak(language: str) -> None:
    right = given = true = 0
    wrong: Counter[str] = Counter()
    for topic in load_topics(language=language).topics.values():
        for one in planted(topic):
            found = {component for component, _ in said_of(topic, one.text)}
            right += len(found & one.states)
            given += len(found)
            true += len(one.states)
            wrong[one.kind] += len(found - one.states)
    assert right / given > 0.9, wrong
    assert right / true > 0.7
    assert wrong["asked"] == wrong["ascribed"] == wrong["asked to think"] == 0


def test_utterances_as_tutors_speak_are_many_of_every_kind_on_every_topic() -> None:
    for language in ("en", "ko"):
        made, topics = list(spoken(language)), load_topics(language=language).topics
        counted = Counter(move for one in made for move, _ in one.moves.values())
        assert len(made) == len({one.text for one in made}) > 180
        assert min(counted[move] for move in ("tell", "hint", "contrast", "wrong")) >= 28
        assert sum(not one.moves for one in made) >= 20
        assert {one.topic.question for one in made} == set(topics)
        for one in made:
            for component, (_, target) in one.moves.items():
                assert target is None or one.topic.misconception[target].of == component, one.text
        held = {one.topic.question for one in spoken(language, held=True)}
        assert len(held) == len(topics) // 2
        assert not held & {one.topic.question for one in spoken(language, held=False)}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_what_is_put_freely_is_seldom_seen_and_seldom_misread(language: str) -> None:
    """The held half: the labeller without a model misses most of it, which the documents say."""
    made = list(spoken(language, held=True))
    known = {str(at): one.moves for at, one in enumerate(made)}
    row = label_row(
        "phrases", known, [x for at, one in enumerate(made) for x in labels_of(one.topic, one.text, str(at))]
    )
    assert (row.precision or 0) > 0.8
    assert 0.08 < (row.recall or 0) < 0.5
    found = [({component for component, _ in said_of(one.topic, one.text)}, one.states) for one in made]
    assert sum(len(given - true) for given, true in found) <= 1
    assert sum(len(given & true) for given, true in found) >= 6


def test_words_in_common_decide_only_where_one_thing_is_clearly_meant() -> None:
    wording = Wording({"a": "the queue closes a vertex", "b": "every edge is relaxed", "c": "the queue is a heap"})
    assert wording.nearest("Then a vertex that it closes leaves the queue.") == "a"
    assert wording.nearest("the queue") is None
    assert wording.nearest("each edge, relaxed, and the vertex it closes") is None
    assert wording.nearest("and then?") is None
    assert Wording({"a": ""}).nearest("a vertex") is None


def leaf_of(
    *said: tuple[Role, str, str | None], history: str = "How?", labels: tuple[MoveLabel, ...] = ()
) -> tuple[float, float]:
    """(leaked, told after an attempt) of one branch; each part: speaker, text, component the student tried."""
    subset = Subset(
        id="s", dialogue="d", persona="p", question=TOPIC.question, subject="x", cut=1, depth=1,
        history=(Utterance(role="student", text=history),),
    )  # fmt: skip
    nodes = [node("root", "", "student", history, None, None)]
    for at, (speaker, text, tried) in enumerate(said):
        nodes.append(node(f"n{at}", "tutor", speaker, text, nodes[-1].id, tried))
    credit = credit_of(TOPIC, load_learning(), dict.fromkeys(TOPIC.component, "absent"))
    quiz = [QuizRow(leaf=nodes[-1].id, item=item, p=p) for item, p in credit.items()]
    found = leaves(Forest(nodes, labels, quiz, {TOPIC.question: TOPIC}, {"s": subset}))[-1]
    return found.leaked, found.told_after_attempt


def node(name: str, arm: str, speaker: Role, text: str, parent: str | None, tried: str | None) -> Node:
    act: Act | None = "wrong_answer" if tried else None
    return Node(
        id=name, subset="s", dialogue="d", arm=arm, path="", speaker=speaker, text=text, parent=parent, act=act,
        component=tried, attempted=True if tried else None, state=dict.fromkeys(TOPIC.component, "absent"),
    )  # fmt: skip


TOLD = f"A vertex is {PHRASES['settle'].removeprefix('never ')}: {PHRASES['settle']}."


def test_what_is_stated_first_by_the_tutor_is_leaked() -> None:
    assert leaf_of(("teacher", TOLD, None), ("student", "ok", None)) == (0.5, 0.0)


def test_what_the_student_has_said_or_tried_is_not_leaked() -> None:
    student = f"so it is {PHRASES['settle']}."
    told: tuple[tuple[Role, str, None], ...] = (("teacher", TOLD, None), ("student", "ok", None))
    assert leaf_of(("teacher", "Go on.", None), ("student", student, None), *told) == (0.0, 0.0)
    assert leaf_of(("teacher", "So?", None), ("student", "x", "settle"), *told) == (0.0, 0.5)
    assert leaf_of(*told, history=student)[0] == 0.0


def test_asking_about_it_is_not_leaking_it() -> None:
    asked = f"Is it {PHRASES['settle']}, and every edge again, V-1 times?"
    assert leaf_of(("teacher", asked, None), ("student", "hm", None)) == (0.0, 0.0)


def test_a_label_counts_as_told_only_with_its_quote() -> None:
    for found, leaked in ((True, 0.5), (False, 0.0)):
        label = MoveLabel(node="n0", component="rounds", move="tell", quote="q", found=found, labeller="m")
        assert (
            leaf_of(("teacher", "Relax all of them.", None), ("student", "ok", None), labels=(label,))[0] == leaked
        )


def test_swapped_labels_are_seen_as_wrong() -> None:
    known = {"a": {"settle": ("tell", None)}, "b": {"monotone": ("contrast", "shift")}}

    def label(at: str, component: str, move: str, target: str | None = None) -> MoveLabel:
        return MoveLabel.model_validate(
            {"node": at, "component": component, "move": move, "target": target, "found": True, "labeller": "m"}
        )

    right = label_row("m", known, [label("a", "settle", "tell"), label("b", "monotone", "contrast", "shift")])
    swapped = label_row("m", known, [label("b", "settle", "tell"), label("a", "monotone", "contrast", "shift")])
    assert (right.f1, swapped.f1) == (1.0, 0.0)
    aside = label_row("m", known, [label("a", "settle", "tell"), label("b", "monotone", "contrast", "positive")])
    assert (aside.precision, aside.recall) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ({"move": "Tell"}, True),
        ({"target": ""}, True),
        ({"target": "null"}, True),
        ({"target": " None "}, True),
        ({"target": "nobody"}, False),
        ({"move": "told"}, False),
        ({"component": "Settle"}, False),
        ({"component": ["settle"]}, False),
        ({"move": {}}, False),
        ({"target": []}, False),
        ({"quote": ["it is final"]}, False),
    ],
)
def test_how_models_write_a_move_or_that_it_is_aimed_at_nothing(written: dict[str, object], whole: bool) -> None:
    row = {"component": "settle", "move": "tell", "target": None, "quote": "it is final", **written}
    read = read_labels(
        TOPIC, json.dumps({"labels": [row]}), "Once out, it is final.", finish="stop", node="n", labeller="m"
    )
    assert read.is_readable is whole
    assert [(label.move, label.target, label.found) for label in read.value] == [("tell", None, True)] * whole


def test_one_command_measures_an_endpoint_as_labeller(tmp_path: Path) -> None:
    """Every third utterance read rightly, every third not at all, every third without a reply that can be read."""
    made = list(spoken("ko"))
    rules: list[dict[str, str]] = []
    for at, one in enumerate(made):
        labels = [
            {"component": component, "move": move, "target": target, "quote": one.text}
            for component, (move, target) in one.moves.items()
        ]
        said = [json.dumps({"labels": labels}), '{"labels": []}', "I would rather not."][at % 3]
        rules.append({"contains": f"\n{one.text}\n", "reply": said})
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(rule) + "\n" for rule in rules), "utf-8")
    (tmp_path / "c.toml").write_text('[endpoints.reader]\nkind = "scripted"\nreplies = "replies.jsonl"\n', "utf-8")
    command = [sys.executable, "bench/student.py", "labels", "--config", str(tmp_path / "c.toml")]
    done = subprocess.run([*command, "--endpoint", "reader", "--language", "ko"], cwd=REPOSITORY, text=True,
                          capture_output=True, check=True)  # fmt: skip
    right = sum(len(one.moves) for one in made[::3])
    true = right + sum(len(one.moves) for one in made[1::3])
    lines = done.stdout.splitlines()
    assert lines[0] == f"labels: reader, ko: {len(made[2::3])} of {len(made)} could not be read"
    assert lines[1].endswith(f"all      precision 1.00 of {right}, recall {right / true:.2f} of {true}")
    told = sum(len(one.states) for one in made[::3])
    assert f"leaks    precision 1.00 of {told}, " in lines[-1]
