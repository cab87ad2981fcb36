"""What a reader found out and nobody said: logged here, told by the command that asked for the file."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from runstore.problems import InputProblem

_LOG = logging.getLogger("runstore.tables")


def assume(path: Path, assumed: Sequence[str]) -> None:
    """Note how a file was read, where that is anything but plain UTF-8 with commas and known names."""
    if assumed:
        _LOG.info("%s: read as %s", path, ", ".join(assumed), extra={"parts": tuple(assumed)})


class Skipped:
    """The rows of one file that can't be used: each is named with its line, and all are counted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._skipped: list[str] = []
        self._rows = 0

    def row(self, line: int, because: str | None) -> bool:
        """Count a row; whether it is skipped, which it is where there is a reason to."""
        self._rows += 1
        if because is not None:
            self._skipped.append(f"{because}, line {line}")
            _LOG.info("%s:%d: skipped: %s", self.path, line, because)
        return because is not None

    def tell(self) -> None:
        """Say how many of how many. Raises InputProblem where no row is left."""
        if self._skipped and len(self._skipped) == self._rows:
            found = f"{self._rows}, all skipped ({self._skipped[0]})"
            raise InputProblem(self.path, "a row that can be used", found=found)
        if self._skipped:
            _LOG.info("%s: %d of %d rows skipped", self.path, len(self._skipped), self._rows)


@contextmanager
def told_on_stderr(told: Callable[[str], str] = str) -> Generator[None]:
    """Say what is assumed while a command runs, each sentence once, as ``told`` says it; a library's caller hears
    nothing."""
    handler, level = _Once(told), _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(level)


class _Once(logging.StreamHandler[TextIO]):
    """Lines that differ; the same file read twice is told once."""

    def __init__(self, told: Callable[[str], str]) -> None:
        super().__init__(sys.stderr)
        self._said: set[str] = set()
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        if (text := record.getMessage()) not in self._said:
            self._said.add(text)
            self.setStream(sys.stderr)  # whoever draws a line on it since stands before it
            parts: tuple[str, ...] = getattr(record, "parts", ())
            said = text.removesuffix(", ".join(parts)) + ", ".join(map(self._part, parts))
            record.msg, record.args = self._told(said).replace("%", "%%"), ()
            super().emit(record)

    def _part(self, part: str) -> str:
        """What was assumed, as ``told`` says it: a renaming alone is no sentence yet."""
        sentence = f"read {part}" if " as " in part else part
        return part if (said := self._told(sentence)) == sentence else said
