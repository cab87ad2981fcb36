"""Banks of questions: the shipped ones by name, and what a bank says of itself.

A bank is a file or folder of questions. Its *domain*, what is taught, stands at the top of a YAML file of
questions, or in a folder's ``bank.yaml``, which may also name the ``factors`` of the students it is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from runstore.languages import languages, listed, resource, words
from runstore.problems import InputProblem, Problem
from runstore.records import Language
from runstore.yaml_file import read_yaml

DEFAULT = "computer-science"
CARD = "bank.yaml"


@dataclass(frozen=True, slots=True)
class Bank:
    """What a bank says of itself: None where it says nothing."""

    path: Path
    domain: str | None = None
    factors: str | None = None


def bank_names() -> list[str]:
    """The shipped banks."""
    return [path.name for path in listed("seed_questions", "bank", "*") if path.is_dir()]


def path_of_bank(name: str = DEFAULT) -> Path:
    """The folder of a shipped bank. Raises Problem for a name there is none of."""
    if name not in bank_names():
        raise Problem(f"bank: found {name!r}, expected one of {', '.join(bank_names())}")
    return resource("seed_questions", f"bank/{name}")


def bank(path: Path | str | None = None, language: Language = "en") -> Bank:
    """What a file or folder of questions (by default the shipped bank) says of itself.

    A folder without ``bank.yaml`` has the domain that its YAML files agree on. Raises InputProblem where what is
    said cannot be read, or where they differ.
    """
    chosen = path_of_bank() if path is None else Path(path)
    card = chosen / CARD
    if card.is_file():
        file = read_yaml(card)
        top = file.mapping(file.data, (), ("domain", "factors"))
        factors = file.text(top["factors"], ("factors",)) if "factors" in top else None
        if factors is not None and (chosen / factors).is_file():
            factors = str((chosen / factors).resolve())
        return Bank(chosen, _domain(card, language), factors)
    files = sorted(chosen.iterdir()) if chosen.is_dir() else [chosen]
    named = {domain: each for each in files if (domain := _domain(each, language)) is not None}
    if len(named) > 1:
        first, second = list(named)[:2]
        raise InputProblem(named[second], f"{first!r}, as in {named[first].name}", found=second, field="domain")
    return Bank(chosen, next(iter(named), None))


def _domain(path: Path, language: str) -> str | None:
    """A YAML file's own; one that is only in other languages counts as none."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        return None
    file = read_yaml(path)
    data: object = file.data
    top = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    if "domain" not in top:
        return None
    said = top["domain"]
    if not isinstance(said, str) and language not in file.mapping(said, ("domain",), languages()):
        return None
    return file.translated(said, ("domain",), language)


def subject_name(subject: str, language: Language) -> str:
    """The name of a subject of the shipped banks; another is called what it is called."""
    return words("seed_questions", "subjects", language).texts.get(subject, subject)
