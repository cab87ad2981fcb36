"""Published files: written to a temporary name and moved into place, so that a reader never sees half of one.

JSON never holds NaN or Infinity (they become null; whoever writes one adds the reason beside it). CSV never
starts a text cell with something a spreadsheet would run, and :func:`read_csv` gives the original back.
"""

from __future__ import annotations

import csv
import io
import os
import re
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel, ValidationError

from runstore.expected import expected_of
from runstore.problems import InputProblem, in_file
from runstore.results import Result

R = TypeVar("R", bound=BaseModel)
Cell = str | int | float | bool | None

FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and signs to Unicode, but nothing on paper: Hangul's fillers, an empty Braille cell, a null notehead."""

BOM = b"\xef\xbb\xbf"
"""The mark that some programs begin a file of UTF-8 with."""
_FORMULA_STARTS = frozenset("=+-@＝＋－＠")
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Mn"})
_BLANK = _UNSEEN | {"Cn", "Co", "Zl", "Zp"}
_JSON_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_unicode(text: str) -> str:
    """Lone surrogates become U+FFFD: the one place where half an emoji is dealt with."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """Give a temporary path beside ``path``; move it into place when the block ends well, drop it if not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, clean_unicode(text).encode())


def to_json(value: object, *, indent: bool = False) -> bytes:
    """Strict JSON: NaN and Infinity become null, records become objects, lone surrogates become U+FFFD."""
    options = _JSON_OPTIONS | (orjson.OPT_INDENT_2 if indent else 0)
    try:
        return orjson.dumps(value, default=_plain, option=options)
    except TypeError:
        return orjson.dumps(_cleaned(value), default=_plain, option=options)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return _row(value)
    if isinstance(value, (set, frozenset)):
        return sorted(cast("set[Any]", value))
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def _row(record: BaseModel) -> dict[str, Any]:
    return record.to_json() if isinstance(record, Result) else record.model_dump(mode="python")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean_unicode(value)
    if isinstance(value, BaseModel):
        value = _row(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_cleaned(key): _cleaned(item) for key, item in items}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, int) and value.bit_length() > 63:
        return orjson.Fragment(str(value))  # more than the fast writer takes
    return value


def write_json(path: Path, value: object) -> None:
    write_bytes(path, to_json(value, indent=True) + b"\n")


def write_jsonl(path: Path, rows: Iterable[object]) -> int:
    """One JSON object a line; returns the number of rows."""
    count = 0
    with replacing(path) as temporary, temporary.open("wb") as out:
        for row in rows:
            out.write(to_json(row))
            out.write(b"\n")
            count += 1
    return count


def read_json(path: Path) -> Any:
    """Raises InputProblem where the file is missing or not JSON."""
    try:
        return orjson.loads(_bytes(path))
    except orjson.JSONDecodeError as error:
        raise InputProblem(path, "JSON", found=str(error), line=error.lineno) from error


def read_rows(path: Path, skip: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of a JSON-lines file, but its first ``skip``, one at a time; blank lines are none."""
    for number, line in _lines(path):
        if not line.strip():
            continue
        if skip:
            skip -= 1
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise InputProblem(path, "one JSON object a line", found=str(error), line=number) from error
        if not isinstance(row, dict):
            raise InputProblem(path, "a JSON object", found=type(row).__name__, line=number)
        yield number, cast("dict[str, Any]", row)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.removeprefix(BOM) if number == 1 else line
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError | ValueError) -> InputProblem:
    """``error``: ValueError for what cannot be a path at all."""
    return InputProblem(path, "a readable file", found=getattr(error, "strerror", None) or str(error))


def stream_records(path: Path, kind: type[R], skip: int = 0) -> Iterator[R]:
    """The records of a JSON-lines file, but the first ``skip``, one at a time. Raises InputProblem."""
    return (parse_record(kind, row, path, number) for number, row in read_rows(path, skip))


def read_records(path: Path, kind: type[R]) -> list[R]:
    """All records of a JSON-lines file, or InputProblem naming file, line and field."""
    return [parse_record(kind, row, path, number) for number, row in read_rows(path)]


def parse_record(kind: type[R], row: object, file: Path | str, line: int | None = None) -> R:
    """One record out of parsed JSON; a field that is wrong is named with what was found."""
    try:
        return kind.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        found = None if first["type"] == "missing" else first.get("input")
        raise InputProblem(file, expected_of(first), found=found, line=line, field=field) from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes().removeprefix(BOM)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    """UTF-8 with a mark (spreadsheets need it), comma, CRLF. None is an empty cell; numbers stay numbers."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as out:
        _write_rows(out, header, rows)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """The same as :func:`write_csv`, as text without the mark."""
    out = io.StringIO(newline="")
    _write_rows(out, header, rows)
    return out.getvalue()


def csv_rows(rows: Iterable[Sequence[Cell]]) -> str:
    """Rows without a header, to be added to a file that has one."""
    out = io.StringIO(newline="")
    _write_cells(csv.writer(out), rows)
    return out.getvalue()


def _write_rows(out: Any, header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    writer = csv.writer(out)
    writer.writerow([guard_cell(_without_controls(name)) for name in header])
    _write_cells(writer, rows)


def _write_cells(writer: Any, rows: Iterable[Sequence[Cell]]) -> None:
    for row in rows:
        writer.writerow([guard_cell(_without_controls(cell)) if isinstance(cell, str) else cell for cell in row])


def _without_controls(text: str) -> str:
    """A table is looked at in terminals too: what would steer one becomes U+FFFD; lines and tabs stay."""
    return _CONTROL.sub("\ufffd", clean_unicode(text))


def read_csv(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Header and rows of a UTF-8 CSV file, cells as the texts they were before :func:`write_csv` guarded them."""
    header, rows = read_csv_lines(path)
    return header, [row for _, row in rows]


def read_csv_lines(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The same with the line on which each row begins (a quoted cell may hold several lines)."""
    try:
        text = _bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputProblem(
            path, "UTF-8 text", found=f"byte {error.object[error.start]:#04x}", line=line
        ) from error
    csv.field_size_limit(1 << 30)
    reader = csv.reader(io.StringIO(text, newline=""))
    rows: list[tuple[int, list[str]]] = []
    begins = 1
    try:
        for row in reader:
            rows.append((begins, [unguard_cell(cell) for cell in row]))
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputProblem(path, "CSV", found=str(error), line=begins) from error
    if not rows:
        raise InputProblem(path, "a header line", found="an empty file")
    header = [name.strip() for name in rows[0][1]]
    for line, row in rows[1:]:
        if row and len(row) != len(header):
            raise InputProblem(path, f"{len(header)} cells", found=f"{len(row)} cells", line=line)
    return header, [(line, dict(zip(header, row, strict=True))) for line, row in rows[1:] if row]


def require_columns(path: Path, header: Sequence[str], names: Iterable[str]) -> None:
    """Raises InputProblem where one of these columns is not in the header, or stands there twice."""
    for name in names:
        if name not in header:
            there = ", ".join(in_file(path, each) for each in header)
            raise InputProblem(path, f"a column {name!r}", found=there, line=1)
        if header.count(name) > 1:
            raise InputProblem(path, "each column once", found=f"{name!r} twice", line=1)


LONGEST_BLANK = 400_000
"""Characters without a mark after which nothing more is looked for: what is read comes from outside."""


def has_visible(text: str) -> bool:
    """Whether any character leaves a mark on paper: what has none is blank, whatever it was made of."""
    first = set(text[:100])
    if any(map(_is_visible, first)):
        return True
    rest = text.lstrip().lstrip("".join(first)) if len(first) < 9 else text
    return any(map(_is_visible, set(rest[:LONGEST_BLANK])))


def _is_visible(character: str) -> bool:
    return character not in FILLERS and unicodedata.category(character) not in _BLANK


def guard_cell(text: str) -> str:
    """An apostrophe before a text that a spreadsheet would take for a formula (or that already looks guarded)."""
    if text[:1].isascii() and text[:1].isalnum():
        # Nearly every cell, and a table may have tens of millions.
        return text
    return f"'{text}" if _runs_in_a_spreadsheet(text.lstrip("'")) else text


def unguard_cell(text: str) -> str:
    """What :func:`guard_cell` was given."""
    return text[1:] if text.startswith("'") and _runs_in_a_spreadsheet(text.lstrip("'")) else text


def _runs_in_a_spreadsheet(text: str) -> bool:
    for character in text:
        if character in _FORMULA_STARTS:
            return True
        if not (character.isspace() or character in FILLERS or unicodedata.category(character) in _UNSEEN):
            return False
    return False


def safe_name(name: str, *, limit: int = 60) -> str:
    """A file name for any text: valid on Windows and Linux, and never the same for two names.

    Characters outside [A-Za-z0-9._-] become ``_``; the name then ends in a hash of the true name whenever
    anything had to change (case counts, since some file systems fold it).
    """
    from runstore.ids import digest

    plain = re.sub(r"[^a-z0-9._-]", "_", name)[:limit].strip(". ")
    reserved = re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", plain)
    if plain == name and plain and not reserved:
        return plain
    if reserved:  # also with an ending: aux.md is no file on Windows
        plain = plain.replace(".", "_")
    return f"{plain.strip('_. ') or 'x'}-{digest(name, size=4)}"
