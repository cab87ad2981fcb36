"""What a rubric is: areas of items, each a checklist of elements or a scale, with its arithmetic and floor rules.

A rubric is one YAML file. Everything about it that a judge is told or that a score depends on stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from runstore.expected import expected_of
from runstore.ids import digest
from runstore.languages import languages, listed
from runstore.problems import InputProblem, Problem
from runstore.records import Language
from runstore.yaml_file import YamlFile, read_yaml

SCORE = "score"
MOST_POINTS = 1_000  # every number is listed in the schema that a judge is sent


def _in_both(value: object) -> object:
    return dict.fromkeys(languages(), value) if isinstance(value, str) else value


def _not_empty(value: dict[Language, str]) -> dict[Language, str]:
    if not value or any(not text.strip() for text in value.values()):
        raise ValueError("a text that is not blank")
    return value


Text = Annotated[dict[Language, str], BeforeValidator(_in_both), AfterValidator(_not_empty)]
Key = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]


class Part(BaseModel):
    """Base of a rubric's parts: frozen, and a key that is not known is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Element(Part):
    """One thing that is met or not. ``weight`` counts only in items with the arithmetic ``share``."""

    key: Key
    question: Text
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    not_applicable: bool = False


class Scale(Part):
    """Whole numbers from ``low`` to ``high``; ``anchors`` say what some or all of them mean."""

    low: int
    high: int
    anchors: dict[int, Text] = {}

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low >= self.high:
            raise ValueError(f"low ({self.low}) must be below high ({self.high})")
        if self.high - self.low > MOST_POINTS:
            raise ValueError(f"a scale of {MOST_POINTS:,} points at most (found {self.low} to {self.high})")
        if strays := [number for number in self.anchors if not self.low <= number <= self.high]:
            raise ValueError(f"anchors {strays} are off the scale {self.low} to {self.high}")
        return self


class Item(Part):
    """Either ``elements`` or a ``scale``.

    ``met_plus_one``: 1 + the number of elements met. ``share``: ``points`` x weight met / weight that applies.
    """

    key: Key
    label: str | None = None
    title: Text
    guidance: Text | None = None
    elements: tuple[Element, ...] = ()
    scale: Scale | None = None
    arithmetic: Literal["met_plus_one", "share"] = "met_plus_one"
    points: float = Field(default=1.0, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.elements) == (self.scale is not None):
            raise ValueError(f"item {self.key}: either elements or a scale")
        _unique("element", [element.key for element in self.elements])
        if self.arithmetic == "met_plus_one":
            if any(element.not_applicable for element in self.elements):
                raise ValueError(f"item {self.key}: not_applicable needs the arithmetic 'share'")
            if any(element.weight != 1 for element in self.elements):
                raise ValueError(f"item {self.key}: weights need the arithmetic 'share'")
        return self

    @property
    def name(self) -> str:
        """The short label where there is one (``A1``), else the key: the item's name in tables."""
        return self.label or self.key

    @property
    def slots(self) -> tuple[str, ...]:
        """The keys of what is filled in: the elements, or ``score`` alone for a scale."""
        return tuple(element.key for element in self.elements) or (SCORE,)

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest score."""
        if self.scale:
            return self.scale.low, self.scale.high
        return (0, self.points) if self.arithmetic == "share" else (1, 1 + len(self.elements))


class Area(Part):
    key: Key
    title: Text
    guidance: Text | None = None
    items: tuple[Item, ...] = Field(min_length=1)

    @property
    def bounds(self) -> tuple[float, float]:
        lows, highs = zip(*(item.bounds for item in self.items), strict=True)
        return sum(lows), sum(highs)


class Flag(Part):
    """A declared yes-or-no field of the sheet that a floor rule depends on.

    An ``optional`` one is asked for, but a sheet without it is complete.
    """

    key: Key
    question: Text
    optional: bool = False


class Floor(Part):
    """Where ``flag`` has the value ``when``, all items of ``area`` get their lowest score.

    ``if_missing``: what a sheet without the flag gets after floors: ``keep`` its scores, or ``null``.
    """

    flag: Key
    when: Literal[0, 1]
    area: Key
    if_missing: Literal["keep", "null"] = "null"


class Rubric(Part):
    """A whole scoring form. ``subject``: a ``dialogue`` (its messages) or an ``answer`` (question and answer).

    ``domain``: what the sessions are about unless another is named; texts say ``{domain}`` where they name it.
    ``evidence``: a ``quote`` that cites messages by number and is checked, a ``rationale``, or ``none``.
    """

    name: Key
    version: str
    title: Text
    domain: Text | None = None
    subject: Literal["dialogue", "answer"] = "dialogue"
    evidence: Literal["quote", "rationale", "none"] = "quote"
    flags: tuple[Flag, ...] = ()
    floors: tuple[Floor, ...] = ()
    areas: tuple[Area, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        flags = [flag.key for flag in self.flags]
        items = [item.key for item in self.items]
        _unique("area", [area.key for area in self.areas])
        _unique("item or flag", [*items, *flags, "flags"])
        _unique("item, area or label", [*(area.key for area in self.areas), *(item.name for item in self.items)])
        for floor in self.floors:
            if floor.flag not in flags:
                raise ValueError(f"floor: no flag {floor.flag!r}; there are: {', '.join(flags) or 'none'}")
            if floor.area not in [area.key for area in self.areas]:
                raise ValueError(f"floor: no area {floor.area!r}")
        return self

    def about(self, domain: str | None) -> Self:
        """The rubric with its texts about ``domain`` (of any language), or about its own where that is None."""
        if self.domain is None:
            return self
        named = self.domain if domain is None else dict.fromkeys(self.domain, domain)
        return self.model_validate(_filled(self.model_dump(), named) | {"domain": named})

    @cached_property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for area in self.areas for item in area.items)

    @property
    def bounds(self) -> tuple[float, float]:
        lows, highs = zip(*(area.bounds for area in self.areas), strict=True)
        return sum(lows), sum(highs)

    @property
    def languages(self) -> tuple[Language, ...]:
        return tuple(language for language in languages() if all(language in text for text in self._texts()))

    @cached_property
    def hash(self) -> str:
        """Names the whole content: two rubrics with one hash ask and count the same."""
        return digest(self.model_dump(mode="json"), size=8)

    @property
    def identity(self) -> str:
        """Name, version and hash: what a sheet says it was filled in for."""
        return f"{self.name}-{self.version}-{self.hash}"

    def slots(self) -> Iterator[tuple[str, str]]:
        """(item key, element key) of everything that is filled in, in order; a scale's element is ``score``."""
        for item in self.items:
            for slot in item.slots:
                yield item.key, slot

    def _texts(self) -> Iterator[Text]:
        yield self.title
        yield from (flag.question for flag in self.flags)
        for part in (*self.areas, *self.items):
            yield part.title
            if part.guidance:
                yield part.guidance
        for item in self.items:
            yield from (element.question for element in item.elements)
            yield from (item.scale.anchors.values() if item.scale else ())


def _unique(what: str, keys: list[str]) -> None:
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise ValueError(f"{what} keys given twice: {', '.join(twice)}")


def _filled(value: Any, domain: dict[Language, str]) -> Any:
    """Texts by language with ``{domain}`` named in each."""
    if isinstance(value, dict):
        table = cast("dict[Any, Any]", value)
        return {
            key: part.replace("{domain}", domain[key])
            if isinstance(part, str) and key in domain
            else _filled(part, domain)
            for key, part in table.items()
        }
    if isinstance(value, list | tuple):
        return [_filled(part, domain) for part in cast("Sequence[Any]", value)]
    return value


def shipped() -> dict[str, Path]:
    """The rubrics that come with the product, by name."""
    return {path.stem: path for path in listed("arena", "rubrics", "*.yaml")}


def load_rubric(name_or_file: str | Path, domain: str | None = None) -> Rubric:
    """A shipped rubric by name, or a user's YAML file, about ``domain`` (None: the rubric's own).

    Raises Problem or InputProblem (file, line, field).
    """
    known = shipped()
    path = known.get(str(name_or_file)) or Path(name_or_file)
    if not path.suffix and not path.exists():
        raise Problem(f"no rubric {str(name_or_file)!r}: give a YAML file or one of {', '.join(known)}")
    return parse_rubric(read_yaml(path, plain_scalars=False)).about(domain)


def parse_rubric(file: YamlFile) -> Rubric:
    """The rubric in a parsed YAML file. Raises InputProblem with the line and the field."""
    data: Any = file.data
    try:
        return Rubric.model_validate(data)
    except ValidationError as error:
        # A key that is not known is most likely the missing one, mistyped: it is told first.
        first = min(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        place = tuple(part for part in first["loc"] if part != "[key]")
        expected, found = expected_of(first), first.get("input")
        if first["type"] == "extra_forbidden":
            expected, found = "a key of the rubric format", place[-1]
        found = found if isinstance(found, (str, int, float, bool)) else None
        raise InputProblem(
            file.path, expected, found=found, line=file.line(place), field=".".join(map(str, place)) or None
        ) from error
