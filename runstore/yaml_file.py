"""YAML files that people write: every mistake in one is named with its file, line and field.

Scalars stay the texts they are (``no`` is not False and ``1`` not a number, unless the caller asks), repeated
keys are refused instead of the last one winning, and each place keeps its line number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from runstore.languages import languages
from runstore.problems import InputProblem, nearest

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class YamlFile:
    """Parsed content and where each part of it stands. A place is keys and list positions from the top."""

    path: Path
    data: Any
    lines: dict[Place, int]

    def line(self, place: Place) -> int | None:
        """The line of a place, or of the nearest place around it that has one."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place)

    def problem(self, place: Place, expected: str, found: object = None) -> InputProblem:
        field = ".".join(str(part) for part in place)
        return InputProblem(self.path, expected, found=found, line=self.line(place), field=field or None)

    def mapping(self, value: object, place: Place, known: Collection[str] | None = None) -> dict[str, Any]:
        """``value`` as a mapping, with none but the known keys."""
        if not isinstance(value, dict):
            raise self.problem(place, "a mapping (key: value)", _kind(value))
        mapping = cast("dict[str, Any]", value)
        for key in mapping:
            if known is not None and key not in known:
                near = nearest(str(key), known)
                raise self.problem((*place, key), f"{near!r}" if near else f"one of {', '.join(known)}", key)
        return mapping

    def sequence(self, value: object, place: Place) -> list[Any]:
        items = cast("list[Any]", value) if isinstance(value, list) else []
        if not items:
            raise self.problem(place, "a list of at least one", _kind(cast("object", value)))
        return items

    def text(self, value: object, place: Place) -> str:
        """``value`` as a text that is not blank, without the white space around it."""
        if not isinstance(value, str) or not value.strip():
            raise self.problem(place, "a text", _kind(value))
        return value.strip()

    def translated(self, value: object, place: Place, language: str) -> str:
        """A text in ``language``: either one text for all languages, or a mapping from language to text."""
        if isinstance(value, str):
            return self.text(value, place)
        texts = self.mapping(value, place, languages())
        if language not in texts:
            raise self.problem(
                (*place, language), f"a text in {language!r}", f"only {', '.join(texts) or 'nothing'}"
            )
        return self.text(texts[language], (*place, language))


def read_yaml(path: Path, *, plain_scalars: bool = True) -> YamlFile:
    """One YAML document. ``plain_scalars``: keep every scalar a text; else YAML's numbers, booleans and null.

    Raises InputProblem for a file that cannot be read, is not UTF-8, is not YAML, or repeats a key.
    """
    text = read_text(path)
    try:
        return _parsed(path, text, yaml.CBaseLoader if plain_scalars else yaml.CSafeLoader)
    except (AttributeError, yaml.YAMLError, ValueError, RecursionError):
        pass  # without libyaml (ten times as fast), or in other words than the loader's below
    try:
        return _parsed(path, text, yaml.BaseLoader if plain_scalars else yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = (error.problem or error.context or "something else").removeprefix("found ")
        raise InputProblem(path, "YAML", found=found, line=mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputProblem(path, "YAML", found=f"character number {error.character}", line=line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputProblem(path, "YAML", found=str(error).splitlines()[0]) from error


def _parsed(path: Path, text: str, loaded_by: Callable[[str], Any]) -> YamlFile:
    """Raises yaml.YAMLError, ValueError, RecursionError; InputProblem for a key that is repeated."""
    lines: dict[Place, int] = {}
    loader = loaded_by(text)
    node = loader.get_single_node()
    if node is None:
        return YamlFile(path, None, lines)
    _walk(path, node, (), lines, set())
    return YamlFile(path, loader.construct_document(node), lines)


def read_text(path: Path) -> str:
    """A UTF-8 text file, without its byte order mark; line ends as they are. Raises InputProblem."""
    try:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise InputProblem(path, "a readable file", found=error.strerror or str(error)) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputProblem(path, "UTF-8 text", found=f"byte {data[error.start]:#04x}", line=line) from error


def _walk(path: Path, node: yaml.Node, place: Place, lines: dict[Place, int], seen: set[int]) -> None:
    """Note lines and refuse repeated keys; an alias is walked once, where its anchor stands."""
    lines.setdefault(place, node.start_mark.line + 1)
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(cast("list[yaml.Node]", node.value)):
            _walk(path, item, (*place, index), lines, seen)
    elif isinstance(node, yaml.MappingNode):
        keys: dict[str, int] = {}
        for key, item in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            name, line = str(key.value), key.start_mark.line + 1
            if name in keys:
                raise InputProblem(
                    path, "each key once", found=f"{name!r} again (first on line {keys[name]})", line=line
                )
            keys[name] = line
            lines[(*place, name)] = line
            _walk(path, item, (*place, name), lines, seen)


def yaml_text(data: object) -> str:
    """The text of a YAML file in the order of its keys, ASCII or not, that :func:`read_yaml` reads."""
    dump = cast("Callable[..., str]", yaml.safe_dump)  # pyright: ignore[reportUnknownMemberType] - its stub is partial
    return dump(data, allow_unicode=True, sort_keys=False, width=115)


def _kind(value: object) -> str:
    if value is None or value in ("", [], {}):
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return repr(value) if isinstance(value, str) and not value.strip() else str(value)
