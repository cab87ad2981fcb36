"""Languages are files: a folder of words has one ``<language>.yaml`` each, and English says what there is to say.

A words file holds groups of texts: ``group: {key: text}``, with ``{names}`` in a text to be filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Formatter

from runstore.problems import Problem
from runstore.yaml_file import YamlFile, read_yaml

ORIGINAL = "en"

Group = Mapping[str, str]


def languages(folder: Path) -> tuple[str, ...]:
    """The languages that a folder has words in, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


@cache
def words(folder: Path, language: str) -> Mapping[str, Group]:
    """All texts of a language, by group and key; read once.

    Raises Problem for a language without a file, and InputProblem, with file, line and field, for a word that
    English has and this language not, or the other way round, and for other names in braces than English's.
    """
    if language not in languages(folder):
        known = ", ".join(languages(folder)) or "none"
        raise Problem(f"no words in language {language!r} in {folder} (there are: {known})")
    file = read_yaml(folder / f"{language}.yaml")
    texts = _texts(file)
    if language != ORIGINAL:
        _compare(file, texts, words(folder, ORIGINAL))
    return texts


class Words:
    """The words of one group in one language: ``say("title", name="x")``."""

    def __init__(self, folder: Path, group: str, language: str) -> None:
        self._texts = words(folder, language)[group]

    def __call__(self, key: str, **values: object) -> str:
        text = self._texts[key]
        return text.format(**values) if values else text


def _texts(file: YamlFile) -> dict[str, dict[str, str]]:
    groups = file.mapping(file.data, ())
    for group in groups:
        for key, text in file.mapping(groups[group], (group,)).items():
            file.text(text, (group, key))
            _names(file, (group, key), text)
    return groups


def _compare(file: YamlFile, texts: Mapping[str, Group], original: Mapping[str, Group]) -> None:
    for group in (*original, *texts):
        here, there = texts.get(group, {}), original.get(group, {})
        for key in (*there, *here):
            place = (group, key)
            if key not in here:
                raise file.problem(place, f"a text in {file.path.stem!r} for {there[key]!r}", "nothing")
            if key not in there:
                raise file.problem(place, f"only words that {ORIGINAL}.yaml has", key)
            expected, names = (_names(file, place, text) for text in (there[key], here[key]))
            if names != expected:
                raise file.problem(place, f"the names {_braces(expected)}", _braces(names))


def _names(file: YamlFile, place: tuple[str, str], text: str) -> frozenset[str]:
    try:
        return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)
    except ValueError as error:
        raise file.problem(place, "names in braces", str(error)) from error


def _braces(names: frozenset[str]) -> str:
    return " ".join(f"{{{name}}}" for name in sorted(names)) or "no names in braces"
