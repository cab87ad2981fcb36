"""Anybody's battles from CSV, JSON lines or Parquet, read in chunks of bounded memory.

Columns ``model_a``, ``model_b``, ``winner``; optional ``first``, ``weight``, ``cluster``, ``game_id`` (each once);
any other column only when it is asked for (categories, style). Conversations and whatever else the
file holds are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.ratings.battles import Battles, Chunk, Collector
from arena.ratings.columns import Encoded, arrow, encode_all
from arena.ratings.game_ids import GameIds
from arena.ratings.inspect_logs import logs
from arena.ratings.neighbours import Found, judgments
from arena.ratings.style import FEATURES, features, relative
from runstore.problems import InputProblem, Problem, in_file
from runstore.publish import unguard_cell
from runstore.tables import (
    SUFFIXES,
    Csv,
    Names,
    Schema,
    Shard,
    assume,
    is_one_file,
    open_csv,
    read_table,
    rename_columns,
    shards_of,
    strict_number,
)
from runstore.tables.encodings import detect_encoding
from runstore.tables.objects import parse_object, stream_objects

REQUIRED = ("model_a", "model_b", "winner")
GAME = "game_id"
Raw = dict[str, Any]
"""A chunk of a file as it was read: columns by name, of whatever the file has in them."""
_JSON_ROWS = 50_000
_PARQUET_ROWS = 1_000_000
_CSV_BYTES = 16_000_000
_FLAT = (".csv", ".tsv", ".xlsx", ".xlsm")
BATTLES = Schema(
    {
        "model_a": ("모델 A", "model a"),
        "model_b": ("모델 B", "model b"),
        "winner": ("승자",),
        "first": ("먼저 보인 쪽",),
        "weight": ("가중치",),
        "cluster": ("묶음",),
        "judge": ("심사자",),
    }
)


@dataclass(frozen=True)
class Columns:
    """Which columns to read beside the required ones.

    ``style`` reads the pairs ``length_a``, ``length_b`` and so on (:data:`arena.ratings.style.FEATURES`), or takes
    them from the texts ``reply_a``, ``reply_b``. ``keep_rows`` keeps the order of play; ``cluster`` None reads no
    clusters.
    """

    categories: Sequence[str] = ()
    cluster: str | None = "cluster"
    style: bool = False
    keep_rows: bool = False

    def wanted(self) -> list[str]:
        sides = [f"{name}_{side}" for name in (*FEATURES, "reply") for side in "ab"] if self.style else []
        own = [] if self.cluster is None else [self.cluster]
        return list(dict.fromkeys((*REQUIRED, "first", "weight", GAME, *own, *self.categories, *sides)))

    def texts(self) -> list[str]:
        """The columns that hold names or words."""
        own = [] if self.cluster is None else [self.cluster]
        return list(dict.fromkeys((*REQUIRED, "first", *own, *self.categories)))

    def needed(self) -> list[str]:
        own = [] if self.cluster in (None, "cluster") else [self.cluster]
        return [*REQUIRED, *own, *self.categories]


def read_battles(source: Path | str, columns: Columns | None = None, baseline: str | None = None) -> Battles:
    """Count the battles of a file; or of many, each for itself and then together: a folder, a pattern with ``*``,
    or an address such as ``s3://BUCKET/FOLDER`` (Parquet).

    Memory is bounded by what is counted, not by the rows: pairs and outcomes, and of clustered battles each
    cluster's. Judgment files of MT-bench and arena-hard, Inspect logs, and folders of any of these, are read as
    what they are; ``baseline`` is the model that arena-hard compares with, where its files do not say. Raises
    InputProblem naming file, row and field for what can't be understood.
    """
    columns, path = columns or Columns(), Path(source)
    if path.exists() and (neighbour := judgments(path, baseline) or logs(path)) is not None:
        return _neighbours(path, neighbour, columns)
    if is_one_file(source):
        if path.suffix.lower() not in SUFFIXES:
            raise InputProblem(path, f"a file ending in {', '.join(SUFFIXES)}", found=path.suffix or path.name)
        if not path.is_file():
            raise InputProblem(path, "a readable file", found="no such file")
    return _counted(shards_of(source), columns)


def _counted(files: Sequence[Shard], columns: Columns) -> Battles:
    names = Names(files[0].path)
    collector = Collector(keep_rows=columns.keep_rows, cluster_name=columns.cluster)
    games = GameIds()
    present: frozenset[str] | None = None
    for shard in files:
        collector.begin(str(shard.path), partial(_line_of, shard.path))
        for raw in _read(shard, columns):
            present = frozenset(raw) if present is None else present
            if odd := sorted(present ^ frozenset(raw)):
                expected = f"the same columns as in {files[0].path}"
                raise InputProblem(shard.path, expected, found=f"{odd[0]} in one of them alone", field="header")
            collector.add(_chunk(shard.path, raw, columns, names, collector))
            if GAME in raw:
                games.add(_values(raw[GAME]))
    if present is None:
        raise InputProblem(files[0].path, "at least one battle", found="none")
    again = (_values(raw[GAME]) for shard in files for raw in _read(shard, columns) if GAME in raw)
    if twice := games.twice(lambda: again):
        raise InputProblem(files[0].path, "each game once", found=f"{twice!r} again", field=GAME)
    return collector.battles()


def _read(shard: Shard, columns: Columns) -> Iterator[Raw]:
    """The chunks of one file."""
    if shard.path.suffix.lower() == ".parquet":
        return _parquet_chunks(shard, columns)
    kinds: dict[str, Callable[[Path, Columns], Iterator[Raw]]] = {
        ".csv": _csv_chunks,
        ".tsv": _csv_chunks,
        ".jsonl": _json_chunks,
        ".ndjson": _json_chunks,
    }
    return kinds.get(shard.path.suffix.lower(), _table_chunks)(shard.path, columns)


def _neighbours(path: Path, kept: Found, columns: Columns) -> Battles:
    """Battles that were kept in another benchmark's form."""
    present = kept.used
    if kept.columns["model_a"]:
        _check_header(path, list(present), columns)
    raw = {name: present[name] for name in columns.wanted() if name in present}
    collector = Collector(keep_rows=columns.keep_rows, cluster_name=columns.cluster)
    collector.begin(str(path))
    if raw:
        collector.add(_chunk(path, raw, columns, Names(path), collector))
    return replace(collector.battles(), invalid=dict(kept.invalid))


def _chunk(path: Path, raw: Raw, columns: Columns, names: Names, collector: Collector) -> Chunk:
    try:
        texts = encode_all({name: raw[name] for name in columns.texts() if name in raw})
    except Problem as problem:
        raise InputProblem(path, str(problem)) from problem
    if path.suffix.lower() in _FLAT:
        texts = {name: _csv_texts(name, column) for name, column in texts.items()}
    for side in ("model_a", "model_b"):
        texts[side] = replace(texts[side], values=[names.take(text, column=side) for text in texts[side].values])
    return Chunk(
        texts["model_a"],
        texts["model_b"],
        texts["winner"],
        texts.get("first"),
        _numbers(collector, raw, "weight") if "weight" in raw else None,
        None if columns.cluster is None else texts.get(columns.cluster),
        {name: texts[name] for name in columns.categories},
        _style(collector, raw) if columns.style else {},
    )


def _style(collector: Collector, raw: Raw) -> dict[str, NDArray[np.float64]]:
    """Relative differences of the features of style, from their columns or from the replies' texts."""
    given = [name for name in FEATURES if f"{name}_a" in raw and f"{name}_b" in raw]
    if given:
        return {
            name: relative(_numbers(collector, raw, f"{name}_a"), _numbers(collector, raw, f"{name}_b"))
            for name in given
        }
    if "reply_a" not in raw or "reply_b" not in raw:
        return {}
    sides: list[NDArray[np.float64]] = []
    for side in "ab":
        rows = [features(str(text or "")) for text in _values(raw[f"reply_{side}"])]
        sides.append(np.array([[row[name] for name in FEATURES] for row in rows]))
    return {name: relative(sides[0][:, k], sides[1][:, k]) for k, name in enumerate(FEATURES)}


def _values(column: Any) -> Any:
    return column.to_pylist() if hasattr(column, "to_pylist") else column


def _csv_texts(name: str, column: Encoded) -> Encoded:
    """Names as they were before a spreadsheet's guard; an empty cell of an optional column is a missing value."""
    if name in ("model_a", "model_b"):
        return Encoded(column.codes, [unguard_cell(value) for value in column.values], column.has_missing)
    return column if name == "winner" else column.blank_as_missing()


def _numbers(collector: Collector, raw: Raw, name: str) -> NDArray[np.float64]:
    values = [_number(value) for value in _values(raw[name])]
    if None in values:
        row = values.index(None)
        raise collector.refused(row, name, "a number", repr(_values(raw[name])[row]))
    return np.array(values, np.float64)


def _number(value: object) -> float | None:
    """NaN where nothing is there, None for what is no number, such as a text ``nan``."""
    if value is None or value == "":
        return np.nan
    if isinstance(value, (int, float)):
        return float(value)
    return strict_number(str(value))


def _check_header(path: Path, header: Sequence[str], columns: Columns) -> list[str]:
    missing = [name for name in columns.needed() if name not in header]
    if missing:
        found = ", ".join(in_file(path, name) for name in header[:20]) or "nothing"
        raise InputProblem(path, f"a column {missing[0]}", found=found, line=1, field="header")
    return [name for name in columns.wanted() if name in header]


def _csv_chunks(path: Path, columns: Columns) -> Iterator[Raw]:
    """By Arrow where it is installed and the file is UTF-8 with its quotes paired, else row by row."""
    head = open_csv(path, BATTLES)
    assume(path, head.assumed())
    wanted = _check_header(path, head.names, columns)
    try:
        pa, csv = arrow(), arrow("csv")
    except ImportError:
        yield from _plain_chunks(head, wanted)
        return
    file = head.file
    plain = file.encoding.name.startswith("UTF-8") and not file.skip and file.header_line == 1
    if not plain or _needs_care(path, b"\n" + file.delimiter.encode() * (len(head.names) - 1)):
        yield from _plain_chunks(head, wanted)
        return
    convert = csv.ConvertOptions(
        include_columns=wanted,
        column_types=dict.fromkeys(wanted, pa.string()),
        strings_can_be_null=False,
    )
    own = [name or f"\0{place}" for place, name in enumerate(head.names)]
    read = csv.ReadOptions(block_size=_CSV_BYTES, column_names=own, skip_rows=1)
    parse = csv.ParseOptions(newlines_in_values=True, delimiter=file.delimiter)
    done = 0
    try:
        with csv.open_csv(path, read_options=read, parse_options=parse, convert_options=convert) as stream:
            for batch in stream:
                yield {name: batch.column(name) for name in wanted}
                done += batch.num_rows
    except pa.ArrowInvalid:  # Arrow names no line, and takes no stray separator at a row's end
        yield from _plain_chunks(head, wanted, done)


def _plain_chunks(head: Csv, wanted: Sequence[str], done: int = 0) -> Iterator[Raw]:
    """By the standard library, several times slower; the first ``done`` rows were read before."""
    places = {name: head.names.index(name) for name in wanted}
    rows = islice((cells for _, cells in head.rows()), done, None)
    while some := list(islice(rows, _JSON_ROWS)):
        yield {name: [row[at] for row in some] for name, at in places.items()}


def _needs_care(path: Path, blank: bytes) -> bool:
    """Whether quotes are unpaired, or a row may be ``blank``, which Arrow would take for a battle."""
    quotes, end = 0, b""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            quotes += block.count(b'"')
            seen = end + block
            if blank + b"\n" in seen or blank + b"\r" in seen:
                return True
            end = seen[-len(blank) :]
    return quotes % 2 == 1 or end == blank


def _line_of(path: Path, row: int) -> int:
    """Where the data row (from 1) begins, found by reading again what was passed over: blank rows, and quoted
    cells of several lines. A row's own number where the file has no lines."""
    rows: Iterable[tuple[int, object]]
    match path.suffix.lower():
        case ".parquet":
            return row
        case ".csv" | ".tsv":
            rows = open_csv(path, BATTLES).rows()
        case ".xlsx" | ".xlsm":
            rows = read_table(path, BATTLES).rows
        case _:
            rows = stream_objects(path, detect_encoding(path))
    return next((line for line, _ in islice(rows, row - 1, None)), row)


def _table_chunks(path: Path, columns: Columns) -> Iterator[Raw]:
    table = read_table(path, BATTLES)
    rows = [row for _, row in table.rows]
    if path.suffix.lower() == ".json" and len(rows) == 1 and not set(REQUIRED) & set(rows[0]):
        raise InputProblem(path, "a list of objects", found=", ".join(rows[0]))
    if rows:
        yield _columns_of(path, rows, columns, set())


def _json_chunks(path: Path, columns: Columns) -> Iterator[Raw]:
    if not detect_encoding(path).name.startswith("UTF-8") or _begins_array(path):
        yield from _table_chunks(path, columns)
        return
    rows: list[Raw] = []
    present: set[str] = set()
    for row in _json_rows(path):
        rows.append(row)
        if len(rows) == _JSON_ROWS:
            yield _columns_of(path, rows, columns, present)
            rows = []
    if rows:
        yield _columns_of(path, rows, columns, present)


def _begins_array(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _json_rows(path: Path) -> Iterator[Raw]:
    names: dict[tuple[str, ...], list[str]] = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not text.strip():
                continue
            row = parse_object(path, text, number)
            keys = tuple(row)
            if keys not in names:
                names[keys], told = rename_columns(path, keys, BATTLES, number)
                assume(path, told)
            yield dict(zip(names[keys], row.values(), strict=True))


def _columns_of(path: Path, rows: list[Raw], columns: Columns, present: set[str]) -> Raw:
    names = {name for row in rows for name in row}
    if not present:
        present |= set(_check_header(path, sorted(names), columns))
    late = [name for name in columns.wanted() if name in names and name not in present]
    if late:
        raise InputProblem(path, f"the column {late[0]} in the first {_JSON_ROWS} rows, as it occurs later")
    return {name: [row.get(name) for row in rows] for name in columns.wanted() if name in present}


def _parquet_chunks(shard: Shard, columns: Columns) -> Iterator[Raw]:
    path = shard.path
    try:
        pa, parquet = arrow(), arrow("parquet")
    except ImportError as error:
        raise Problem(f"{path}: reading Parquet needs pyarrow (install tutor-arena[parquet])") from error
    try:
        handle = shard.handle
        file = parquet.ParquetFile(handle)
        own = list(file.schema_arrow.names)
        names, told = rename_columns(path, own, BATTLES, None)
        assume(path, told)
        own_of = dict(zip(names, own, strict=True))
        wanted = _check_header(path, names, columns)
        texts = [name for name in columns.texts() if name in wanted]
        fields = file.schema_arrow
        strings = [own_of[name] for name in texts if pa.types.is_string(fields.field(own_of[name]).type)]
        file = parquet.ParquetFile(handle, read_dictionary=strings)
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS, columns=[own_of[name] for name in wanted]):
            yield {name: batch.column(own_of[name]) for name in wanted}
    except pa.ArrowInvalid as error:
        raise InputProblem(path, "a Parquet file", found=str(error)) from error
