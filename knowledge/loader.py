"""Topics from the shipped folder or from people's own: one YAML a seed question, linted as it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from knowledge.lint import findings
from knowledge.rules import validated
from knowledge.topic import Topic
from runstore.ids import digest
from runstore.languages import languages, resource
from runstore.problems import InputProblem, Problem
from runstore.records import Language
from runstore.yaml_file import Place, YamlFile, read_yaml


@dataclass(frozen=True, slots=True)
class TopicBank:
    """Topics by question. ``drafts`` are questions whose topic is not reviewed: they give no verdicts."""

    topics: Mapping[str, Topic]
    drafts: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        return digest(sorted((name, topic.hash) for name, topic in self.topics.items()), size=8)

    def of(self, question: str) -> Topic | None:
        return self.topics.get(question)


def load_topics(folder: Path | None = None, language: Language = "en", *, drafts: bool = False) -> TopicBank:
    """Every topic of a folder (the shipped one where none is given), in one language.

    ``drafts``: take drafts too; otherwise they are only named. Raises InputProblem naming file, line and field for
    what is malformed or gives an item's key away, for a question that is there twice, and for a missing language.
    """
    chosen = folder or resource("knowledge", "topics")
    if not chosen.is_dir():
        raise InputProblem(chosen, "a folder of topics", found="no folder")
    topics: dict[str, Topic] = {}
    left_out: list[str] = []
    for path in sorted(chosen.glob("*.yaml")):
        topic = read_topic(path, language)
        if topic.question in topics or topic.question in left_out:
            raise InputProblem(path, "each question once", found=topic.question, field="question")
        if topic.status == "draft" and not drafts:
            left_out.append(topic.question)
        else:
            topics[topic.question] = topic
    if not topics and not left_out:
        raise InputProblem(chosen, "at least one topic (QUESTION.yaml)", found="none")
    return TopicBank(topics, tuple(left_out))


def read_topic(path: Path, language: Language = "en") -> Topic:
    """One topic. Raises InputProblem for what is malformed, and for the first thing the lint refuses."""
    stat = path.stat()
    return _read_topic(path, language, stat.st_mtime_ns, stat.st_size)


@lru_cache(256)
def _read_topic(path: Path, language: str, *_: int) -> Topic:
    """A file that has not changed is read once: a command needs its topics at several places."""
    file = read_yaml(path)
    topic = _topic(file, language)
    for place, message in findings(topic):
        raise file.problem(place, message)
    return topic


def lint_file(path: Path) -> list[str]:
    """All that the lint refuses in a topic's file, in every language that it has."""
    file = read_yaml(path)
    said: list[str] = []
    for language in _languages_of(file.data):
        try:
            topic = _topic(file, language)
        except Problem as problem:
            said.append(str(problem))
            continue
        said += [f"{file.problem(place, message)} ({language})" for place, message in findings(topic)]
    return list(dict.fromkeys(said))


def _topic(file: YamlFile, language: str) -> Topic:
    data = file.mapping(file.data, ())
    resolved = cast("dict[str, Any]", _in_language(file, data, (), language))
    return validated(file, Topic, {**resolved, "language": language, "hash": digest(resolved, size=8)})


def _in_language(file: YamlFile, value: object, place: Place, language: str) -> object:
    """``value`` with each mapping from language to text replaced by its text in ``language``."""
    if isinstance(value, list):
        items = cast("list[object]", value)
        return [_in_language(file, item, (*place, at), language) for at, item in enumerate(items)]
    if not isinstance(value, dict):
        return value
    mapping = cast("dict[str, object]", value)
    if mapping and mapping.keys() <= set(languages()):
        if language not in mapping:
            raise file.problem((*place, language), f"a text in {language!r}", f"only {', '.join(mapping)}")
        return _in_language(file, mapping[language], (*place, language), language)
    return {key: _in_language(file, item, (*place, key), language) for key, item in mapping.items()}


def _languages_of(value: object) -> list[str]:
    """The languages that a file has texts of."""
    named: set[str] = set()
    queue = [value]
    while queue:
        node = queue.pop()
        if isinstance(node, list):
            queue += cast("list[object]", node)
        elif isinstance(node, dict):
            mapping = cast("dict[str, object]", node)
            if mapping and mapping.keys() <= set(languages()):
                named |= mapping.keys()
            queue += mapping.values()
    return sorted(named) or ["en"]
