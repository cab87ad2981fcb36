"""Sheets that people filled in: in the form of ``sheets.jsonl``, or as a wide table of sessions and elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.rubrics.rubric import SCORE, Rubric
from arena.rubrics.score import misfit
from arena.scoring.sessions import Session
from runstore.problems import InputProblem
from runstore.publish import parse_record
from runstore.records import Sheet
from runstore.tables import Names, Schema, Table, read_table, whole_number

_SUBJECT = ("id", "session_id", "session", "dialogue", "번호", "아이디", "식별자", "대상")
_JUDGE = ("rater", "teacher", "평가자", "채점자", "심사자", "교사")


def read_people(path: Path, rubric: Rubric, sessions: Sequence[Session], judges: Sequence[str]) -> list[Sheet]:
    """Sheets of these sessions by people who are none of the ``judges``.

    A wide table has a row a session and person: columns ``subject``, ``judge``, and one of whole numbers for every
    element (``A1.concept_accuracy``), scale (``A1``) and flag; a blank cell is a missing value.
    Raises InputProblem; for a table that is neither form, with the whole header that a wide table has.
    """
    table = read_table(path, _schema(rubric))
    wide = "values" not in table.header
    if wide:
        _check_wide(table, rubric)
    ids = {session.id for session in sessions}
    names = {column: Names(path) for column in ("subject", "judge")}
    seen: set[tuple[str, str]] = set()
    sheets: list[Sheet] = []
    for line, row in table.rows:
        taken = {
            name: known.take(str(row.get(name) or ""), line=line, column=name) for name, known in names.items()
        }
        cells = {**row, **{name: text for name, text in taken.items() if text}}
        sheet = _wide_sheet(path, line, cells, rubric) if wide else parse_record(Sheet, cells, path, line)
        if sheet.subject not in ids:
            raise InputProblem(path, "a subject of the input", found=sheet.subject, line=line, field="subject")
        if sheet.judge in judges or (sheet.subject, sheet.judge) in seen:
            raise InputProblem(path, "one sheet a person and session", found=sheet.judge, line=line, field="judge")
        if wrong := misfit(rubric, sheet):
            raise InputProblem(
                path, f"what rubric {rubric.name} allows", found=wrong[1], line=line, field=wrong[0]
            )
        seen.add((sheet.subject, sheet.judge))
        sheets.append(sheet)
    return sheets


def wide_header(rubric: Rubric) -> list[str]:
    """The columns of a wide table for a rubric, in its order."""
    return ["subject", "judge", *_columns(rubric), *(flag.key for flag in rubric.flags)]


def _columns(rubric: Rubric) -> dict[str, tuple[str, str]]:
    """Column -> (item key, element key)."""
    return {
        item.name if slot == SCORE else f"{item.name}.{slot}": (item.key, slot)
        for item in rubric.items
        for slot in item.slots
    }


def _schema(rubric: Rubric) -> Schema:
    """Items go by their label or their key."""
    further = {
        column: (item if slot == SCORE else f"{item}.{slot}",) for column, (item, slot) in _columns(rubric).items()
    }
    return Schema({"subject": _SUBJECT, "judge": _JUDGE, **further, **{flag.key: () for flag in rubric.flags}})


def _check_wide(table: Table, rubric: Rubric) -> None:
    wanted = wide_header(rubric)
    optional = {flag.key for flag in rubric.flags if flag.optional}
    missing = [name for name in wanted if name not in table.header and name not in optional]
    strays = [name for name in table.header if name not in wanted]
    if missing or strays:
        expected = (
            "one sheet a line as in sheets.jsonl, or a table with a row a subject and person, whole numbers in its"
            f" cells, and the header {','.join(wanted)}"
        )
        raise InputProblem(table.path, expected, found=table.own_header or "no columns", line=1)


def _wide_sheet(path: Path, line: int, row: Mapping[str, Any], rubric: Rubric) -> Sheet:
    for name in ("subject", "judge"):
        if not row.get(name):
            raise InputProblem(path, "a name", found="a blank cell", line=line, field=name)
    values: dict[str, dict[str, int | None]] = {}
    for column, (item, slot) in _columns(rubric).items():
        values.setdefault(item, {})[slot] = _whole(path, line, column, row)
    flags = {flag.key: _whole(path, line, flag.key, row) for flag in rubric.flags if flag.key in row}
    given = [value for slots in values.values() for value in slots.values()]
    return Sheet(
        subject=row["subject"],
        judge=row["judge"],
        repeat=1,
        values=values,
        flags=flags,
        readable=any(value is not None for value in given),
        reason="blank cells" if None in given else None,
        raw="",
        rubric=rubric.identity,
    )


def _whole(path: Path, line: int, column: str, row: Mapping[str, Any]) -> int | None:
    cell = row.get(column)
    if cell is None or not str(cell).strip():
        return None
    number = None if isinstance(cell, bool) else whole_number(str(cell))
    if number is None:
        raise InputProblem(path, "a whole number or nothing", found=cell, line=line, field=column)
    return int(number)
