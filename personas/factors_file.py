"""Factor files: the dimensions of a student, what each level means in behaviour, and what combinations add.

The file is YAML with ``factors`` (each ``id``, ``short``, ``name``, ``levels`` of ``id`` and ``text``), and may
have ``intro``, ``outro`` and ``interactions`` (``when``: levels that come together, ``text``). A text is one for
all languages, or a mapping from language to text. The file and each level may have ``acts``: weights of the kinds
of utterance, multiplied where the kind of a student's next utterance is drawn. A level may have ``opens`` (the
difficulties of questions such a student opens with), a level or an interaction ``leaves_early``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite, prod
from pathlib import Path
from typing import Any, cast

from runstore.languages import listed, resource
from runstore.problems import Problem
from runstore.records import ACTS, DIFFICULTIES, Act
from runstore.yaml_file import Place, YamlFile, read_yaml

_ID = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Level:
    """One value of a factor, and how it shows in what the student writes."""

    id: str
    text: str
    acts: Mapping[Act, float] = field(default_factory=dict[Act, float])
    opens: tuple[str, ...] = ()
    leaves_early: bool = False


@dataclass(frozen=True, slots=True)
class Factor:
    """A dimension of a student. ``short`` stands for it in the ids of personas."""

    id: str
    short: str
    name: str
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Interaction:
    """What is added where all these levels (factor id -> level id) come together."""

    when: Mapping[str, str]
    text: str
    leaves_early: bool = False


@dataclass(frozen=True, slots=True)
class FactorSet:
    """A factor file in one language."""

    factors: tuple[Factor, ...]
    interactions: tuple[Interaction, ...] = ()
    intro: str = ""
    outro: str = ""
    language: str = "en"
    acts: Mapping[Act, float] = field(default_factory=dict[Act, float])

    @property
    def combinations(self) -> int:
        return prod(len(factor.levels) for factor in self.factors)

    @property
    def act_weights(self) -> dict[str, Mapping[Act, float]]:
        """Weights of the kinds of utterance: under ``*`` for every student, under ``factor-level`` for a level."""
        levels = {f"{factor.id}-{level.id}": level.acts for factor in self.factors for level in factor.levels}
        return {name: table for name, table in {"*": self.acts, **levels}.items() if table}


STUDENTS = "students"


def shipped() -> dict[str, Path]:
    """The factor files that come with the product, by name."""
    return {path.stem: path for path in listed("personas", "factors", "*.yaml")}


def path_of(name: Path | str | None = None) -> Path:
    """A factor file: a path, the name of a shipped one, or by default ``students``.

    Raises Problem for a plain name that is neither a file nor shipped.
    """
    chosen = Path(name if name is not None else STUDENTS)
    if chosen.exists() or chosen.suffix or len(chosen.parts) > 1:
        return chosen
    if str(chosen) not in shipped():
        raise Problem(f"factors: found {str(chosen)!r}, expected a file, or one of {', '.join(shipped())}")
    return resource("personas", f"factors/{chosen}.yaml")


def load(path: Path | str | None = None, language: str = "en") -> FactorSet:
    """A factor file, or a shipped one by name. Raises InputProblem naming file, line and field; Problem."""
    file = read_yaml(path_of(path))
    top = file.mapping(file.data, (), ("intro", "acts", "factors", "interactions", "outro"))
    if "factors" not in top:
        raise file.problem((), "a key 'factors'", "none")
    entries = file.sequence(top["factors"], ("factors",))
    factors = tuple(_factor(file, entry, ("factors", at), language) for at, entry in enumerate(entries))
    _distinct(file, [factor.id for factor in factors], ("factors",), "id")
    _distinct(file, [factor.short for factor in factors], ("factors",), "short")
    added = file.sequence(top["interactions"], ("interactions",)) if "interactions" in top else []
    return FactorSet(
        factors=factors,
        interactions=tuple(
            _interaction(file, entry, ("interactions", at), language, factors) for at, entry in enumerate(added)
        ),
        intro=file.translated(top["intro"], ("intro",), language) if "intro" in top else "",
        outro=file.translated(top["outro"], ("outro",), language) if "outro" in top else "",
        language=language,
        acts=_acts(file, top, ()),
    )


def _factor(file: YamlFile, entry: object, place: Place, language: str) -> Factor:
    fields = file.mapping(entry, place, ("id", "short", "name", "levels"))
    identity = _identity(file, fields, place, "id")
    levels_place = (*place, "levels")
    entries = file.sequence(fields.get("levels"), levels_place)
    levels = tuple(_level(file, level, (*levels_place, at), language) for at, level in enumerate(entries))
    if len(levels) < 2:
        raise file.problem(levels_place, "at least two levels (what never varies belongs in 'intro')", "one level")
    _distinct(file, [level.id for level in levels], levels_place, "id")
    return Factor(
        id=identity,
        short=_identity(file, fields, place, "short") if "short" in fields else identity,
        name=file.translated(fields["name"], (*place, "name"), language) if "name" in fields else identity,
        levels=levels,
    )


def _level(file: YamlFile, entry: object, place: Place, language: str) -> Level:
    fields = file.mapping(entry, place, ("id", "opens", "leaves_early", "acts", "text"))
    return Level(
        id=_identity(file, fields, place, "id"),
        text=file.translated(fields.get("text", ""), (*place, "text"), language),
        acts=_acts(file, fields, place),
        opens=_opens(file, fields, place),
        leaves_early=_leaves(file, fields, place),
    )


def _opens(file: YamlFile, fields: Mapping[str, Any], place: Place) -> tuple[str, ...]:
    if "opens" not in fields:
        return ()
    names = [str(name) for name in file.sequence(fields["opens"], (*place, "opens"))]
    for name in names:
        if name not in DIFFICULTIES:
            raise file.problem((*place, "opens"), f"some of {', '.join(DIFFICULTIES)}", name)
    return tuple(names)


def _leaves(file: YamlFile, fields: Mapping[str, Any], place: Place) -> bool:
    value = fields.get("leaves_early", "false")
    if value not in ("true", "false"):
        raise file.problem((*place, "leaves_early"), "true or false", value)
    return value == "true"


def _acts(file: YamlFile, fields: Mapping[str, Any], place: Place) -> dict[Act, float]:
    table: dict[Act, float] = {}
    for act, value in (file.mapping(fields["acts"], (*place, "acts"), ACTS) if "acts" in fields else {}).items():
        try:
            weight = float(value)
        except (TypeError, ValueError):
            weight = -1.0
        if not (isfinite(weight) and weight >= 0):
            raise file.problem((*place, "acts", act), "a weight of 0 or more", value)
        table[cast("Act", act)] = weight
    if len(table) == len(ACTS) and not any(table.values()):
        raise file.problem((*place, "acts"), "a weight above 0 for at least one kind", "0 for all")
    return table


def _interaction(
    file: YamlFile, entry: object, place: Place, language: str, factors: tuple[Factor, ...]
) -> Interaction:
    fields = file.mapping(entry, place, ("when", "leaves_early", "text"))
    known = {factor.id: [level.id for level in factor.levels] for factor in factors}
    when = file.mapping(fields.get("when"), (*place, "when"), known)
    for factor, level in when.items():
        if level not in known[factor]:
            raise file.problem((*place, "when", factor), f"one of the levels {', '.join(known[factor])}", level)
    if not when:
        raise file.problem((*place, "when"), "at least one level", "none")
    text = file.translated(fields.get("text", ""), (*place, "text"), language)
    return Interaction(when, text, _leaves(file, fields, place))


def _identity(file: YamlFile, fields: Mapping[str, Any], place: Place, key: str) -> str:
    text = file.text(fields.get(key, ""), (*place, key))
    if not _ID.fullmatch(text):
        raise file.problem((*place, key), "letters, digits, _ or - only", text)
    return text


def _distinct(file: YamlFile, names: list[str], place: Place, key: str) -> None:
    for at, name in enumerate(names):
        if (first := names.index(name)) != at:
            line = file.line((*place, first))
            raise file.problem((*place, at, key), f"a different {key} (first on line {line})", name)
