"""Rows of the first sheet of a workbook; a text that begins with ``=`` stays a text."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

from runstore.problems import InputProblem, Problem

_REFERENCE = re.compile(r"(?:[^!]+!)?\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?")
_SCAN = 1 << 20


def sheet_rows(path: Path) -> Iterator[list[str]]:
    """Cells as texts, rows from the sheet's first on, blank ones included.

    Raises Problem without openpyxl, InputProblem for what is no workbook, and, by cell, for a formula whose value
    was never computed: it cannot be told what would stand there.
    """
    values = _cells(path, data_only=True)
    formulas = _cells(path, data_only=False) if _has_formulas(path) else repeat(())
    for number, (row, written) in enumerate(zip(values, formulas, strict=False), 1):
        texts = [cell_text(value) for value in row]
        for place, formula in enumerate(written[: len(row)]):
            if row[place] is None and formula is not None:
                texts[place] = _uncomputed(path, number, place, str(getattr(formula, "text", formula)))
        yield texts


def cell_text(value: object) -> str:
    """A cell as a spreadsheet shows it, dates as ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return str(value)


def _has_formulas(path: Path) -> bool:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputProblem(path, "an XLSX workbook", found=str(error)) from error
    with archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/"):
                with archive.open(name) as part:
                    tail = b""
                    while block := part.read(_SCAN):
                        if re.search(rb"<(?:\w+:)?f[\s>]", tail + block):
                            return True
                        tail = block[-16:]
    return False


def _cells(path: Path, *, data_only: bool) -> Iterator[tuple[Any, ...]]:
    try:
        from openpyxl import load_workbook  # pyright: ignore[reportMissingModuleSource] - an extra
    except ImportError as error:
        raise Problem(f"{path}: reading XLSX needs the extra: pip install 'tutor-arena[xlsx]'") from error
    try:
        book: Any = load_workbook(path, read_only=True, data_only=data_only)
    except Exception as error:
        # openpyxl raises whatever zip, XML or its own reader met; to the user they are one thing.
        raise InputProblem(path, "an XLSX workbook", found=f"{type(error).__name__}: {error}") from error
    try:
        yield from book.worksheets[0].iter_rows(values_only=True)
    finally:
        book.close()


def _uncomputed(path: Path, row: int, place: int, formula: str) -> str:
    """The text, where some library wrote a text as if it were a formula; refused where it is one."""
    if not _computes(formula):
        return formula
    from openpyxl.utils import get_column_letter  # pyright: ignore[reportMissingModuleSource] - an extra

    cell = f"cell {get_column_letter(place + 1)}{row}"
    expected = "a value (open and save the workbook in a spreadsheet, so that formulas are computed)"
    raise InputProblem(path, expected, found=f"{formula} without one", line=row, field=cell)


def _computes(formula: str) -> bool:
    """Whether a spreadsheet could compute it: references, numbers, texts and functions, joined by operators."""
    from openpyxl.formula import Tokenizer  # pyright: ignore[reportMissingModuleSource] - an extra

    try:
        tokens: list[Any] = [token for token in Tokenizer(formula).items if token.type != "WHITE-SPACE"]
    except Exception:
        # The tokenizer fails in many ways on what is no formula.
        return False
    operands = [token for token in tokens if token.type == "OPERAND"]
    adjacent = any(a.type == b.type == "OPERAND" for a, b in pairwise(tokens))
    return (
        bool(tokens)
        and not adjacent
        and tokens[0].type != "OPERATOR-INFIX"
        and all(token.subtype != "RANGE" or _REFERENCE.fullmatch(token.value) for token in operands)
    )
