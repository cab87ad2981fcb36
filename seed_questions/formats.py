"""The forms a file of questions may have; each reader gives rows with the place they stand at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from runstore.problems import InputProblem
from runstore.tables import SUFFIXES, Schema, read_table
from runstore.tables.encodings import read_text
from runstore.yaml_file import Place, YamlFile, read_yaml

FIELDS = ("id", "subject", "difficulty", "levels", "tags", "language", "text")
QUESTIONS = Schema(
    {
        "id": ("번호", "아이디", "식별자"),
        "subject": ("과목", "교과"),
        "difficulty": ("난이도",),
        "levels": ("대상", "수준"),
        "tags": ("태그",),
        "language": ("언어",),
        "text": ("질문", "문제"),
    }
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r"#+\s+(\S.*)")


@dataclass(frozen=True)
class Raw:
    """One question as it stands in a file."""

    file: Path
    line: int | None
    values: Mapping[str, Any]

    @property
    def place(self) -> str:
        return str(self.file) if self.line is None else f"{self.file}:{self.line}"

    def problem(self, field: str, expected: str, found: object = None) -> InputProblem:
        return InputProblem(self.file, expected, found=found, line=self.line, field=field)

    def plain(self, field: str) -> str:
        """A field as text, empty where it is not given. A number is taken as it is written."""
        value = self.values.get(field)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise self.problem(field, "a text", repr(value))
        return str(value).strip()

    def tags(self) -> tuple[str, ...]:
        """A list of texts, or one text with semicolons."""
        return self._texts("tags", self.values.get("tags") or (), ";")

    def levels(self) -> dict[str, tuple[str, ...]]:
        """Who may open with it: ``{factor: levels}``, or one text such as ``year: middle1, middle2; track: b``."""
        value: object = self.values.get("levels") or {}
        if isinstance(value, str):
            value = dict(_factor_and_levels(part) for part in value.split(";") if part.strip())
        if not isinstance(value, dict):
            raise self.problem("levels", "factor: levels, with ';' between factors", repr(value))
        levels = {
            str(factor).strip(): self._texts(f"levels.{factor}", named, ",")
            for factor, named in cast("dict[object, object]", value).items()
        }
        for factor, named in levels.items():
            if not factor or not named:
                raise self.problem(
                    "levels", "factor: levels, with ';' between factors", repr(self.values["levels"])
                )
        return levels

    def _texts(self, field: str, value: object, mark: str) -> tuple[str, ...]:
        parts = value.split(mark) if isinstance(value, str) else value
        if not isinstance(parts, (list, tuple)) or not all(
            isinstance(part, str) for part in cast("list[object]", parts)
        ):
            raise self.problem(field, f"a list of texts, or texts with {mark!r} between", repr(value))
        return tuple(part.strip() for part in cast("list[str]", parts) if part.strip())

    def text(self, language: str) -> str:
        """The question itself, where it is a mapping the text of ``language``."""
        value = self.values.get("text")
        if isinstance(value, dict):
            texts = cast("dict[str, object]", value)
            if language not in texts:
                raise self.problem(f"text.{language}", f"a text in {language!r}", f"only {', '.join(texts)}")
            value = texts[language]
        if not isinstance(value, str) or not value.strip():
            raise self.problem("text", "a question", "nothing" if not value else repr(value))
        return value


def read_yaml_questions(path: Path) -> Iterator[Raw]:
    """``subject`` and ``questions``, or just a list; a question is a mapping or a text."""
    file = read_yaml(path)
    shared: dict[str, Any] = {}
    place: Place = ()
    entries = file.data
    if isinstance(entries, dict):
        top = file.mapping(file.data, (), ("subject", "language", "difficulty", "domain", "questions"))
        shared = {key: top[key] for key in ("subject", "language", "difficulty") if key in top}
        entries, place = top.get("questions"), ("questions",)
    for at, entry in enumerate(file.sequence(entries, place)):
        yield _yaml_question(file, entry, (*place, at), shared)


def _yaml_question(file: YamlFile, entry: object, place: Place, shared: Mapping[str, Any]) -> Raw:
    if isinstance(entry, str):
        return Raw(file.path, file.line(place), {**shared, "text": entry})
    return Raw(file.path, file.line(place), {**shared, **file.mapping(entry, place, FIELDS)})


def _factor_and_levels(text: str) -> tuple[str, str]:
    factor, _, levels = text.partition(":")
    return factor.strip(), levels


def read_table_questions(path: Path) -> Iterator[Raw]:
    table = read_table(path, QUESTIONS)
    if table.rows and "text" not in table.header:
        raise InputProblem(path, "a column 'text'", found=table.own_header, line=1)
    for line, row in table.rows:
        yield Raw(path, line, row)


def read_text_questions(path: Path) -> Iterator[Raw]:
    """One question a line; a line that starts with ``# `` names the subject of those that follow."""
    subject = ""
    for number, line in enumerate(_LINE_END.split(read_text(path)), 1):
        if heading := _HEADING.fullmatch(line.strip()):
            subject = heading.group(1)
        elif line.strip():
            yield Raw(path, number, {"text": line, "subject": subject})


READERS: dict[str, Callable[[Path], Iterator[Raw]]] = {
    ".yaml": read_yaml_questions,
    ".yml": read_yaml_questions,
    **dict.fromkeys(SUFFIXES, read_table_questions),
    ".txt": read_text_questions,
}
