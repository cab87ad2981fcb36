"""Personas that people bring ready-made: one row each, in YAML or any table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from personas import factors_file
from personas.generator import generate
from runstore.ids import content_id
from runstore.problems import InputProblem
from runstore.publish import clean_unicode
from runstore.records import DIFFICULTIES, Language, Persona
from runstore.tables import Names, Schema, read_table
from runstore.yaml_file import read_yaml

PERSONAS = Schema(
    {
        "id": ("번호", "아이디", "식별자"),
        "text": ("설명", "내용", "본문", "description"),
        "language": ("언어",),
        "opens": ("시작난이도",),
        "leaves_early": ("일찍떠남",),
    }
)
YAML = (".yaml", ".yml")
_ID = re.compile(r"[\w.-]+")
Row = tuple[int | None, Mapping[str, Any]]


def load_personas(path: Path, language: Language = "en") -> list[Persona]:
    """A file's personas: listed one a row, or crossed where the file is a YAML file of factors.

    A row has ``text`` (one, or a mapping from language to text); ``id`` (made of the text where there is none),
    ``language``, ``opens`` (difficulties, with ; between) and ``leaves_early`` (true or false) may be there.
    Levels are an object ``levels``, or every other column: the factor's name over the level's. Rows in another
    language than the one asked for are refused. Raises InputProblem naming file, line and field.
    """
    if crosses(path):
        return generate(factors_file.load(path, language), language)
    people: list[Persona] = []
    lines: dict[str, int | None] = {}
    names = Names(path)
    for line, row in _rows(path):
        person = _persona(path, line, row, language, names)
        if person.id in lines:
            found = f"{person.id!r} again (first on line {lines[person.id]})"
            raise InputProblem(path, "each persona once", found=found, line=line, field="id")
        lines[person.id] = line
        people.append(person)
    if not people:
        raise InputProblem(path, "at least one persona", found="none")
    return people


def crosses(path: Path) -> bool:
    """Whether a file holds factors to be crossed, not a list of personas."""
    if path.suffix.lower() not in YAML:
        return False
    top: object = read_yaml(path).data
    return isinstance(top, dict) and "factors" in top


def _rows(path: Path) -> Iterator[Row]:
    if path.suffix.lower() not in YAML:
        yield from read_table(path, PERSONAS).rows
        return
    file = read_yaml(path)
    listed = file.data
    place: tuple[str | int, ...] = ()
    if isinstance(listed, dict):
        listed, place = file.mapping(file.data, (), ("personas",)).get("personas"), ("personas",)
    for at, entry in enumerate(file.sequence(listed, place)):
        yield file.line((*place, at)), file.mapping(entry, (*place, at))


def _persona(path: Path, line: int | None, row: Mapping[str, Any], language: Language, names: Names) -> Persona:
    text: object = row.get("text")
    if isinstance(text, dict):
        texts = cast("dict[str, object]", text)
        if language not in texts:
            found = f"only {', '.join(texts) or 'nothing'}"
            raise InputProblem(path, f"a text in {language!r}", found=found, line=line, field=f"text.{language}")
        text = texts[language]
    if not isinstance(text, str) or not text.strip():
        raise InputProblem(path, "what the model is told of the student", found=text, line=line, field="text")
    own = str(row.get("language") or language).strip()
    if own != language:
        raise InputProblem(path, f"{language!r}, the language asked for", found=own, line=line, field="language")
    given = row.get("id")
    identity = "" if given is None else names.take(str(given), line=line, column="id")
    identity = identity or content_id("p", text.strip())
    if not _ID.fullmatch(identity):
        raise InputProblem(path, "letters, digits, . _ or - only", found=identity, line=line, field="id")
    return Persona(
        id=identity,
        levels=_levels(path, line, row),
        language=language,
        opens=_opens(path, line, row),
        leaves_early=_leaves(path, line, row),
        text=clean_unicode(text.strip()),
    )


def _opens(path: Path, line: int | None, row: Mapping[str, Any]) -> tuple[str, ...]:
    given: object = row.get("opens") or ()
    parts = given.split(";") if isinstance(given, str) else given
    names = (
        [str(name).strip() for name in cast("list[object]", parts)] if isinstance(parts, (list, tuple)) else [""]
    )
    for name in names:
        if name not in DIFFICULTIES:
            expected = f"some of {', '.join(DIFFICULTIES)}, with ; between"
            raise InputProblem(path, expected, found=given, line=line, field="opens")
    return tuple(names)


def _leaves(path: Path, line: int | None, row: Mapping[str, Any]) -> bool:
    given = row.get("leaves_early")
    text = "" if given is None else str(given).strip().casefold()
    if text not in ("true", "false", ""):
        raise InputProblem(path, "true or false", found=given, line=line, field="leaves_early")
    return text == "true"


def _levels(path: Path, line: int | None, row: Mapping[str, Any]) -> dict[str, str]:
    given: object = row.get("levels") or {}
    if not isinstance(given, dict):
        raise InputProblem(path, "factor: level pairs", found=given, line=line, field="levels")
    columns = {name: value for name, value in row.items() if name not in (*PERSONAS.names, "levels")}
    levels: dict[str, str] = {}
    for name, value in {**columns, **cast("dict[str, Any]", given)}.items():
        if isinstance(value, (dict, list, bool)):
            raise InputProblem(path, "a level's name", found=cast("object", value), line=line, field=name)
        if value is not None and str(value).strip():
            levels[name] = str(value).strip()
    return levels
