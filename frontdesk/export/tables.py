"""The stage files as typed Parquet tables. pyarrow comes with the extra ``parquet``; without it: a Problem.

Mappings (levels, notes) become lists of pairs, since their keys are data and not columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from frontdesk.export.rows import Row, Rows
from frontdesk.runner.source import Source
from runstore.problems import Problem
from runstore.publish import clean_unicode, replacing

UTTERANCES = [{"role": "string", "text": "string", "act": "string"}]
LEVELS = [{"factor": "string", "level": "string"}]
USAGE = dict.fromkeys(("input", "output", "thinking", "cached"), "int64")
REMOVED = [{"rule": "string", "role": "string", "text": "string"}]
VOTES = [{"judge": "string", "round": "int64", "outcome": "string", "winner": "string"}]
_ABOUT = {"persona": "string", "levels": LEVELS, "question": "string", "subject": "string", "language": "string"}

SCHEMAS: dict[str, dict[str, Any]] = {
    "dialogues": {
        "id": "string", **_ABOUT, "turns": "int64", "utterances": UTTERANCES, "end": "string",
        "end_detail": "string", "complete": "bool", "notes": [{"note": "string", "count": "int64"}],
        "removed": REMOVED,
    },
    "subsets": {
        "id": "string", "dialogue": "string", **_ABOUT, "cut": "int64", "first": "int64", "depth": "int64",
        "history": UTTERANCES,
    },
    "replies": {
        "subset": "string", "dialogue": "string", "endpoint": "string", "text": "string", "finish": "string",
        "usage": USAGE, "latency_s": "double", "cost_usd": "double", "warnings": ["string"],
        "removed": REMOVED,
    },
    "judgments": {
        "subset": "string", "dialogue": "string", "judge": "string", "criterion": "string", "round": "int64",
        "slot_a": "string", "slot_b": "string", "letter": "string", "outcome": "string", "winner": "string",
        "reason": "string", "raw": "string",
    },
    "verdicts": {
        "subset": "string", "dialogue": "string", "endpoints": ["string"], "criterion": "string",
        "outcome": "string", "winner": "string", "agreement": "string", "votes": VOTES,
    },
}  # fmt: skip
"""Column -> type: a name of Arrow's, ``[type]`` a list, ``{field: type}`` a struct."""


def stage_rows(source: Source) -> list[Rows]:
    """Every stage file that the run has, whole: what broke off is in it and says so."""
    found: list[Rows] = []
    for name in SCHEMAS:
        if not source.has(f"{name}.jsonl"):
            continue
        records = getattr(source, name)
        key = "id" if name == "dialogues" else "dialogue"
        rows = [Row(getattr(record, key), _columns(record.model_dump())) for record in records]
        found.append(Rows(name, name, len(rows), rows))
    if not found:
        source.dialogues  # noqa: B018 - a run without stage files: says which command makes the first
    return found


def write_parquet(path: Path, name: str, rows: Iterable[Row]) -> int:
    """One typed table, whatever its rows: an empty one has the same columns. Returns the number of rows."""
    pa, parquet = pyarrow(), import_module("pyarrow.parquet")
    schema = pa.schema([(column, _type(pa, kind)) for column, kind in SCHEMAS[name].items()])
    table = pa.Table.from_pylist([_clean(row.value) for row in rows], schema=schema)
    with replacing(path) as temporary:
        parquet.write_table(table, temporary, compression="zstd")
    return int(table.num_rows)


def pyarrow() -> Any:
    """The library (it has no types of its own). Raises Problem where it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise Problem("writing Parquet needs pyarrow: install tutor-arena[parquet]") from error


def _type(pa: Any, kind: Any) -> Any:
    if isinstance(kind, str):
        return pa.type_for_alias(kind)
    if isinstance(kind, list):
        return pa.list_(_type(pa, kind[0]))
    return pa.struct([(name, _type(pa, inner)) for name, inner in kind.items()])


def _columns(record: Mapping[str, Any]) -> dict[str, Any]:
    pairs: dict[str, Callable[[str, Any], dict[str, Any]]] = {
        "levels": lambda key, value: {"factor": key, "level": value},
        "notes": lambda key, value: {"note": key, "count": value},
    }
    return {
        name: [pairs[name](key, inner) for key, inner in value.items()] if name in pairs else value
        for name, value in record.items()
    }


def _clean(value: Any) -> Any:
    """Arrow refuses half a surrogate pair; JSON lines may hold one as an escape."""
    if isinstance(value, str):
        return clean_unicode(value)
    if isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value
