"""What commands say on a console, in the language of the command.

Messages, progress and refusals are written in English where they arise, and told here in the language of the
console: one place for all of them. It is what ``--language`` says, or that of the run, configuration or study that
the command works on (:mod:`frontdesk.cli.language`). Command names, options and keys stay.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TextIO

from runstore.english import in_number
from runstore.languages import SOURCE, words
from runstore.problems import Problem
from runstore.spoken import CONSOLE, spoken_by

_OWN = (("frontdesk.runner", "console"), ("frontdesk.runner", "problems"))
_RESULTS = (("frontdesk.report", "sentences"),)
_LANGUAGE: ContextVar[str] = ContextVar("language of the console", default=SOURCE)


def speak(language: str | None) -> None:
    """From here on the console speaks ``language``; None: English."""
    _LANGUAGE.set(language or SOURCE)
    CONSOLE.set(told)


def console_language() -> str:
    """The language that the console speaks."""
    return _LANGUAGE.get()


def told(text: object) -> str:
    """``text``, line by line, in the console's language; what has no words there stays as it is."""
    language = _LANGUAGE.get()
    if language == SOURCE:
        return in_number(str(text))
    return "\n".join(_line(line, language) for line in str(text).split("\n"))


def tell(text: object, *, file: TextIO | None = None, flush: bool = False) -> None:
    """Print ``text`` in the console's language."""
    print(told(text), file=file, flush=flush)


def head(name: str) -> str:
    """The head of a column, or a value that is a word of ours, in the console's language."""
    try:
        source, here = (
            words("frontdesk.runner", "heads", SOURCE),
            words("frontdesk.runner", "heads", _LANGUAGE.get()),
        )
    except Problem:
        return name
    return next((here(key) for key, text in source.texts.items() if text == name), name)


def _line(line: str, language: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    try:
        return indent + spoken_by(line[len(indent) :], language, _OWN, _RESULTS)
    except Problem:  # a language of one's own may lack these tables: what was to be said is said
        return line
