"""The stage files as typed Parquet tables. pyarrow comes with the extra ``parquet``; without it: a Problem.

Mappings (levels, notes) become lists of pairs, since their keys are data and not columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.runner.source import Source
from runstore.problems import Problem
from runstore.publish import clean_unicode
from runstore.records import Dialogue, Judgment, Record, Reply, Subset, Verdict

UTTERANCES = [{"role": "string", "text": "string", "act": "string"}]
SAID = [{**UTTERANCES[0], "realised": "string", "clean": "string"}]
LEVELS = [{"factor": "string", "level": "string"}]
USAGE = dict.fromkeys(("input", "output", "thinking", "cached"), "int64")
REMOVED = [{"rule": "string", "role": "string", "text": "string"}]
VOTES = [{"judge": "string", "round": "int64", "outcome": "string", "winner": "string"}]
_ABOUT = {"persona": "string", "levels": LEVELS, "question": "string", "subject": "string", "language": "string"}

SCHEMAS: dict[str, dict[str, Any]] = {
    "dialogues": {
        "id": "string", **_ABOUT, "turns": "int64", "utterances": SAID, "end": "string",
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


GROUP = 2_000
"""Rows of a Parquet row group: what is held at a time."""
_KINDS: dict[str, type[Record]] = {
    "dialogues": Dialogue,
    "subsets": Subset,
    "replies": Reply,
    "judgments": Judgment,
    "verdicts": Verdict,
}


def stage_rows(source: Source) -> list[Rows]:
    """Every stage file that the run has, whole: what broke off is in it and says so."""
    stages = [_stage(source, name) for name in SCHEMAS if source.has(f"{name}.jsonl")]
    if not stages:
        source.each("dialogues.jsonl", Dialogue)  # a run without stage files: says which command makes the first
    return stages


def _stage(source: Source, name: str) -> Rows:
    key, kind, file = "id" if name == "dialogues" else "dialogue", _KINDS[name], f"{name}.jsonl"

    def make(records: Iterable[Record], tally: Tally) -> Iterator[Row]:
        for record in records:
            tally.of += 1
            yield Row(getattr(record, key), _columns(record.model_dump()))

    return Rows(name, name, lambda skip: source.each(file, kind, skip), make, file=file)


class ParquetPiece:
    """A typed table written as rows come, whatever they are: an empty one has the same columns."""

    def __init__(self, path: Path, name: str) -> None:
        pa = pyarrow()
        self._schema = pa.schema([(column, _type(pa, kind)) for column, kind in SCHEMAS[name].items()])
        self._table, self._waiting = pa.Table, list[dict[str, Any]]()
        self._writer = import_module("pyarrow.parquet").ParquetWriter(path, self._schema, compression="zstd")

    def add(self, row: Row) -> None:
        self._waiting.append(_clean(row.value))
        if len(self._waiting) == GROUP:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(self._table.from_pylist(self._waiting, schema=self._schema))
        self._waiting.clear()

    def close(self) -> None:
        if self._waiting:
            self._flush()
        self._writer.close()


def joined_parquet(path: Path, pieces: Sequence[Path]) -> None:
    """Tables of one schema as one, row group after row group."""
    parquet = import_module("pyarrow.parquet")
    schema = parquet.read_schema(pieces[0])
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for piece in pieces:
            file = parquet.ParquetFile(piece)
            for at in range(file.num_row_groups):
                writer.write_table(file.read_row_group(at))


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
        return {name: _clean(inner) for name, inner in value.items()}  # pyright: ignore[reportUnknownVariableType] - any JSON
    if isinstance(value, (list, tuple)):
        return [_clean(inner) for inner in value]  # pyright: ignore[reportUnknownVariableType] - any JSON
    return value
