"""The shipped topics, and what the lint refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from arena.learning.phrases import labels_of
from knowledge import load_learning, load_outcomes, load_topics
from knowledge.loader import lint_file
from knowledge.topic import Topic
from runstore.languages import resource
from runstore.problems import InputProblem
from seed_questions import load as load_questions

SHIPPED = sorted(resource("knowledge", "topics").glob("*.yaml"))
DIJKSTRA = resource("knowledge", "topics/dijkstra-negative-edges.yaml")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_topic_has_nothing_to_object_to_in_any_language(path: Path) -> None:
    assert lint_file(path) == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_shipped_topic_is_on_a_question_of_the_bank(language: str) -> None:
    known = {question.id for question in load_questions(language=language)}
    assert set(load_topics(language=language, drafts=True).topics) <= known


def moves(topic: Topic, text: str) -> set[tuple[str | None, str, str | None]]:
    return {(label.component, label.move, label.target) for label in labels_of(topic, text)}


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("question", [path.stem for path in SHIPPED])
def test_a_topics_own_phrases_read_its_scripts_as_they_are_meant(question: str, language: str) -> None:
    topic = load_topics(language=language, drafts=True).topics[question]
    for name, text in topic.scripts.contrast.items():
        held = topic.misconception.get(name)
        expected = (held.of, "contrast", name) if held else (name, "hint", None)
        assert moves(topic, text) == {expected}, text
    for name, text in topic.scripts.wrong.items():
        assert moves(topic, text) == {(topic.misconception[name].of, "wrong", name)}, text
    for script in (topic.scripts.leak, topic.scripts.misaligned):
        assert moves(topic, script.text) == {(c, m, t) for c, (m, t) in script.moves().items()}, script.text


def changed(tmp_path: Path, **changes: object) -> Path:
    data = yaml.safe_load(DIJKSTRA.read_text(encoding="utf-8"))
    for dotted, value in changes.items():
        at, *way = dotted.split("__")
        place = data
        for key in [at, *way][:-1]:
            place = place[int(key) if key.isdigit() else key]
        last = [at, *way][-1]
        place[int(last) if last.isdigit() else last] = value
    path = tmp_path / "dijkstra-negative-edges.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"items__2__options__0__text": "it may return a wrong route, since the best one may be found later on"},
         "key that is not much the longest"),
        ({"items__2__reasons": []}, "two tiers"),
        ({"items__2__reasons__0__text": "every edge found later could have improved it, so closing was too soon"},
         "key in other words than the leak's"),
        ({"items__2__options__1__key": True}, "one key"),
        ({"items__2__options__1__text": "it loops for ever"}, "each option once"),
        ({"items__3__components": ["cycle"]}, "untouched component"),
        ({"scripts__misaligned__labels": {"monotone": "hint"}}, "nothing about the components behind"),
        ({"scripts__contrast": {"shift": "What then?"}}, "words for 'endless'"),
        ({"misconceptions__0__of": "nothing"}, "a component, not 'nothing'"),
        ({"components__0__key_phrases": []}, "phrases by which"),
        ({"items__0__options__2": {"text": "the loop's end"}, "items__1__reasons__3": {"text": "it ends"},
          "items__2__options__2": {"text": "it loops"}}, "an option that 'endless' leads to"),
        ({"items__0__kind": "recal"}, "recall"),
    ],
)  # fmt: skip
def test_the_lint_names_what_gives_a_key_away(tmp_path: Path, changes: dict[str, object], expected: str) -> None:
    said = lint_file(changed(tmp_path, **changes))
    assert any(expected in line for line in said), said
    with pytest.raises(InputProblem, match=r"dijkstra-negative-edges\.yaml"):
        load_topics(tmp_path)


def test_a_draft_is_left_out_and_named(tmp_path: Path) -> None:
    changed(tmp_path, status="draft")
    bank = load_topics(tmp_path)
    assert (dict(bank.topics), bank.drafts) == ({}, ("dijkstra-negative-edges",))
    assert list(load_topics(tmp_path, drafts=True).topics) == ["dijkstra-negative-edges"]


def test_a_language_that_a_topic_lacks_is_named(tmp_path: Path) -> None:
    changed(tmp_path, components__0__about={"en": "when a vertex is done"})
    with pytest.raises(InputProblem, match="'ko'"):
        load_topics(tmp_path, "ko")


def test_rules_with_impossible_probabilities_are_refused(tmp_path: Path) -> None:
    data = yaml.safe_load(resource("knowledge", "learning.yaml").read_text(encoding="utf-8"))
    data["moves"]["absent"]["tell"] = {"told": 0.8, "understood": 0.3}
    path = tmp_path / "learning.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(InputProblem, match="more than 1"):
        load_learning(path)
    assert load_learning().hash != ""
    assert load_outcomes().primary == "transfer"
