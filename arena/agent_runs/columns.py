"""Which column of somebody's table is which field: known names, a mapping file, and what must be there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, cast

from runstore.problems import InputProblem, nearest
from runstore.tables import clean_header, folded
from runstore.tables.encodings import read_text

# Field -> names it is known by, the first being the one shown to people. They are compared as ``folded`` has them.
KNOWN_NAMES: dict[str, tuple[str, ...]] = {
    "run_id": ("Run ID", "run"),
    "item_id": ("Item ID", "item"),
    "query_id": ("Query ID", "질의 ID", "question id"),
    "query": ("질의", "query", "question", "질문"),
    "expected": ("기대결과", "기대결과(F)", "expected result", "expected", "expected url"),
    "category": ("카테고리", "category", "domain", "도메인"),
    "track": ("Track", "트랙"),
    "round": ("방/반복", "room/repeat", "repeat", "round", "회차", "반복"),
    "response": ("응답", "response", "answer", "답변"),
    "error": ("오류", "error", "에러"),
    "llm_status": ("LLM 상태", "llm status"),
    "llm_score": ("LLM 점수", "llm score"),
    "llm_comment": ("LLM 코멘트", "llm comment"),
    "raw_json": ("Raw JSON", "raw"),
}
FIELDS = tuple(KNOWN_NAMES)
Form = Literal["full", "plain"]

_IDENTITIES = ("query_id", "item_id", "run_id")
_FULL_ONLY = frozenset({"expected", "round", "llm_status", "llm_score", "llm_comment", "raw_json"})
_FULL_NEEDS = ("query_id", "expected", "round", "raw_json")
Mapping = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Columns:
    """Where each field is: ``index[field]`` is a position in ``header``; a field that is not there has none.

    ``form`` is "full" (agent runs with Raw JSON, expectation and repeat) or "plain" (an id and an answer, one
    round): a plain table has no expectation and no Raw JSON, so those figures are not applicable.
    ``identity`` is the field that tells one item from another.
    """

    header: tuple[str, ...]
    index: dict[str, int]
    form: Form
    identity: str

    @property
    def unused(self) -> list[str]:
        used = set(self.index.values())
        return [name for position, name in enumerate(self.header) if position not in used]

    @cached_property
    def pick(self) -> Callable[[Sequence[str]], tuple[str, ...]]:
        """The cells of all FIELDS, in their order, out of a row with one empty cell behind its last."""
        return itemgetter(*(self.index.get(field, -1) for field in FIELDS))


_FOLDED = {field: tuple(folded(name) for name in names) for field, names in KNOWN_NAMES.items()}
_RECOGNISED = {name for names in _FOLDED.values() for name in names}


def recognised(header: Sequence[str], mapping: Mapping | None = None) -> int:
    """How many cells of a header line are names of fields; used to tell delimiters apart."""
    own = {folded(name) for names in (mapping or {}).values() for name in names}
    return sum(folded(name) in _RECOGNISED or folded(name) in own for name in header)


def read_mapping(path: Path) -> Mapping:
    """Field -> names of a team's own columns, from YAML such as ``query_id: 문항번호`` (a list tries in turn)."""
    import yaml

    try:
        content: object = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputProblem(path, "a readable YAML file of field: column", found=str(error)) from error
    if not isinstance(content, dict):
        raise InputProblem(path, "field: column pairs", found=type(content).__name__)
    mapping: Mapping = {}
    for field, names in cast("dict[Any, Any]", content).items():
        if field not in KNOWN_NAMES:
            near = nearest(str(field), FIELDS)
            hint = f" (nearest: {near})" if near else ""
            raise InputProblem(path, f"one of {', '.join(FIELDS)}{hint}", found=str(field), field="field")
        listed = cast("list[Any]", names if isinstance(names, list) else [names])
        if not listed or not all(isinstance(name, str) and name.strip() for name in listed):
            raise InputProblem(path, "a column's name, or a list of them", found=repr(listed), field=field)
        mapping[field] = tuple(listed)
    return mapping


def locate(
    header: Sequence[str], file: Path, mapping: Mapping | None = None, optional: frozenset[str] = frozenset()
) -> Columns:
    """Find every field in a header line; ``optional`` fields are not required even where they usually are.

    Raises InputProblem where a column is named twice, a mapped column is absent, or a required one is; the
    message lists the columns that were found.
    """
    names = tuple(clean_header(file, header))
    places: dict[str, list[int]] = {}
    for position, name in enumerate(names):
        places.setdefault(folded(name), []).append(position)
    index: dict[str, int] = {}
    for field in FIELDS:
        own = tuple(folded(name) for name in (mapping or {}).get(field, ()))
        present = next((name for name in (own or _FOLDED[field]) if name in places), None)
        if own and present is None:
            raise InputProblem(file, _wanted(f"the mapped column {mapping[field][0]!r}" if mapping else "", names))
        if present is None:
            continue
        if len(places[present]) > 1:
            first, second = places[present][:2]
            found = f"{names[first]!r} and {names[second]!r} (columns {first + 1} and {second + 1})"
            raise InputProblem(file, "each column once", found=found, line=1, field=field)
        if places[present][0] not in index.values():
            index[field] = places[present][0]
    return Columns(names, index, *_form(index, names, file, optional))


def _form(index: dict[str, int], names: Sequence[str], file: Path, optional: frozenset[str]) -> tuple[Form, str]:
    if _FULL_ONLY & set(index):
        missing = [field for field in _FULL_NEEDS if field not in index and field not in optional]
        if missing:
            raise InputProblem(file, _wanted(_shown(missing), names))
        return "full", "query_id"
    identity = next((field for field in _IDENTITIES if field in index), None)
    if identity is None:
        raise InputProblem(file, _wanted(f"{_shown(['query_id'])}, item_id or run_id", names))
    if "response" not in index:
        raise InputProblem(file, _wanted(_shown(["response"]), names))
    return "plain", identity


def _shown(fields: Sequence[str]) -> str:
    many = "columns" if len(fields) > 1 else "column"
    return f"the required {many} " + ", ".join(f"{KNOWN_NAMES[field][0]!r} ({field})" for field in fields)


def _wanted(what: str, names: Sequence[str]) -> str:
    found = ", ".join(repr(name) for name in names) or "none"
    return f"{what}, or a mapping given with --columns; columns found: {found}"
