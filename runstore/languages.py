"""The languages the product speaks: those there are files of, and the words in these files.

The words of a table stand in ``PACKAGE/words/NAME.LANGUAGE.yaml``; the languages are those of
``runstore/words/language.LANGUAGE.yaml``. The environment variable ``TUTOR_ARENA_LANGUAGES`` may name a folder
laid out like the product's own (``frontdesk/report/words/run.fr.yaml``, ``simulator/prompts/student.fr.md``, ...):
a file there is found first, so a language is added by files alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any, cast

from runstore.english import in_number
from runstore.korean import with_particles
from runstore.problems import InputProblem, Problem

VARIABLE = "TUTOR_ARENA_LANGUAGES"
SOURCE = "en"
"""The language the others are held against: each must have its words, with its fields."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one table in one language: ``words("asked", n=3)``.

    ``is_read``: people read them, so English has one match where it is one; what models are told stays as it is.
    """

    language: str
    texts: Mapping[str, str]
    is_read: bool = False

    def __call__(self, key: str, /, **values: object) -> str:
        text = self.texts[key]
        if not values:
            return text
        filled = _filled(text, values)
        return in_number(filled) if self.is_read and self.language == SOURCE else filled


def languages() -> tuple[str, ...]:
    """The codes of the languages there are, in order."""
    return _languages(os.environ.get(VARIABLE, ""))


def known_language(code: str) -> str:
    """``code`` itself. Raises ValueError where there are no files of that language."""
    if code != SOURCE and code not in languages():  # there is always that one, and every record asks
        raise ValueError(f"found {code!r}, expected one of {', '.join(languages())}")
    return code


def name_of(language: str) -> str:
    """The language by its own name."""
    return words("runstore", "language", language)("name")


def resource(package: str, path: str) -> Path:
    """A file of ``package`` (a dotted name), or the one that takes its place in the user's folder of languages."""
    own = _own_root(os.environ.get(VARIABLE, ""))
    if own is not None and (replacement := own / package.replace(".", "/") / path).exists():
        return replacement
    return Path(str(files(package))) / path


def listed(package: str, folder: str, pattern: str) -> list[Path]:
    """The files of one folder of ``package`` and of the user's that fit ``pattern``, by name, the user's first."""
    own = _own_root(os.environ.get(VARIABLE, ""))
    roots = [Path(str(files(package)))] + ([own / package.replace(".", "/")] if own is not None else [])
    by_name = {path.name: path for root in roots for path in (root / folder).glob(pattern)}
    return [by_name[name] for name in sorted(by_name)]


def words(package: str, table: str, language: str) -> Words:
    """The words of one table of ``package`` in a language.

    Raises Problem for a language there are no words of, InputProblem for a file that lacks a word of the English
    one, has another, or fills other fields.
    """
    return _words(package, table, language, os.environ.get(VARIABLE, ""))


@lru_cache(512)
def _words(package: str, table: str, language: str, own: str) -> Words:  # noqa: ARG001 - a cache's key
    source = _read(resource(package, f"words/{table}.{SOURCE}.yaml"))
    is_read = package.startswith("frontdesk")
    if language == SOURCE:
        return Words(language, source, is_read)
    path = resource(package, f"words/{table}.{language}.yaml")
    if not path.is_file():
        raise Problem(f"{path}: found no such file, expected the words of {table!r} in {language!r}")
    texts = _read(path)
    if missing := sorted(source.keys() - texts.keys()):
        raise InputProblem(path, "every word that English has", found=f"no {missing[0]}", field=missing[0])
    if further := sorted(texts.keys() - source.keys()):
        raise InputProblem(path, "the words that English has", found=further[0], field=further[0])
    for key, text in texts.items():
        if _fields(text) != _fields(source[key]):
            raise InputProblem(path, f"the fields of {source[key]!r}", found=text, field=key)
    return Words(language, texts, is_read)


def _read(path: Path) -> dict[str, str]:
    import yaml  # not needed by a command that only prints its help

    quick: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    loaded: object = yaml.load(path.read_text(encoding="utf-8"), Loader=quick)  # noqa: S506 - a base loader: texts alone
    texts = cast("dict[object, object]", loaded) if isinstance(loaded, dict) else {}
    for key, text in texts.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise InputProblem(path, "a text under each name", found=text, field=str(key))
    return cast("dict[str, str]", texts)


def _filled(text: str, values: Mapping[str, object]) -> str:
    """``text.format(**values)``, with Korean particles that fit what was filled in before them."""
    out, filled = "", False
    for literal, name, form, conversion in Formatter().parse(text):
        out += with_particles(out, literal) if filled else literal
        filled = name is not None
        if name is not None:
            field = f"{{{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}}}"
            out += field.format(**values)
    return out


def _fields(text: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name)


def _own_root(own: str) -> Path | None:
    return Path(own) if own else None


@lru_cache(8)
def _languages(own: str) -> tuple[str, ...]:  # noqa: ARG001 - a cache's key
    return tuple(path.name.split(".")[1] for path in listed("runstore", "words", "language.*.yaml"))
