"""Seed questions from the shipped bank or from people's own files: YAML, JSON lines, CSV, or one a line.

Whatever the form, a question has a ``text`` and may have ``id``, ``subject``, ``difficulty`` and ``tags``. Without
an id it gets one made of its text, so that moving it in the file changes nothing. A question that is there twice
(same id, or same text but for case and white space) is refused with both places.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from runstore.ids import content_id
from runstore.languages import languages
from runstore.problems import InputProblem, Problem
from runstore.records import DIFFICULTIES, Language, SeedQuestion
from runstore.tables import Names
from seed_questions.banks import CARD, path_of_bank
from seed_questions.formats import READERS, Raw

_ID = re.compile(r"[\w.-]+")


def load(path: Path | str | None = None, language: Language = "en") -> list[SeedQuestion]:
    """The questions of a file, of every such file in a folder (by name), or of the default bank.

    Raises InputProblem naming file, line and field for what cannot be read, is blank, is twice, has no text in
    ``language``, or is marked as being in another language; Problem for a language nobody knows.
    """
    if language not in languages():
        raise Problem(f"language {language!r} is not one of {', '.join(languages())}")
    chosen = path_of_bank() if path is None else Path(path)
    questions: list[SeedQuestion] = []
    seen: dict[str, Raw] = {}
    names = Names(chosen)
    for raw in _raws(chosen):
        question = _question(raw, language, names)
        _refuse_twice(raw, f"text {_plain(question.text)}", seen)
        _refuse_twice(raw, f"id {question.id}", seen)
        questions.append(question)
    if not questions:
        raise InputProblem(chosen, "at least one question", found="none")
    return questions


def _raws(path: Path) -> Iterator[Raw]:
    for file in _files(path):
        yield from READERS[file.suffix.lower()](file)


def _files(path: Path) -> Iterable[Path]:
    if path.is_dir():
        return sorted(entry for entry in path.iterdir() if entry.suffix.lower() in READERS and entry.name != CARD)
    if path.suffix.lower() not in READERS:
        raise InputProblem(path, f"a file that ends in {', '.join(READERS)}, or a folder of such files")
    return [path]


def _question(raw: Raw, language: Language, names: Names) -> SeedQuestion:
    text = " ".join(_in_language(raw, language).split())
    if not any(unicodedata.category(character)[0] in "LNPS" for character in text):
        raise raw.problem("text", "a question that can be seen", "nothing visible")
    difficulty = raw.plain("difficulty") or "middling"
    if difficulty not in DIFFICULTIES:
        raise raw.problem("difficulty", " or ".join(DIFFICULTIES), difficulty)
    identity = names.take(raw.plain("id"), line=raw.line, column="id") or content_id("q", _plain(text))
    if not _ID.fullmatch(identity):
        raise raw.problem("id", "letters, digits, . _ or - only", identity)
    return SeedQuestion(
        id=identity,
        subject=raw.plain("subject") or "general",
        difficulty=difficulty,
        levels=raw.levels(),
        tags=raw.tags(),
        language=language,
        text=text,
    )


def _in_language(raw: Raw, language: str) -> str:
    own = raw.plain("language")
    if own and own != language:
        raise raw.problem("language", f"{language!r}, the language asked for", own)
    return raw.text(language)


def _plain(text: str) -> str:
    """The text without what doesn't make another question: case, white space, composition."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _refuse_twice(raw: Raw, key: str, seen: dict[str, Raw]) -> None:
    if (first := seen.get(key)) is not None:
        field, _, value = key.partition(" ")
        raise raw.problem(field, f"each question once (first at {first.place})", f"{value!r} again")
    seen[key] = raw
