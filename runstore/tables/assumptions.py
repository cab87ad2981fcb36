"""What a reader found out and nobody said: logged here, told by the command that asked for the file."""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

_LOG = logging.getLogger("runstore.tables")


def assume(path: Path, assumed: Sequence[str]) -> None:
    """Note how a file was read, where that is anything but plain UTF-8 with commas and known names."""
    if assumed:
        _LOG.info("%s: read as %s", path, ", ".join(assumed))


@contextmanager
def told_on_stderr() -> Generator[None]:
    """Say what is assumed while a command runs, each sentence once. A library's caller hears nothing."""
    handler, level = _Once(sys.stderr), _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        _LOG.setLevel(level)


class _Once(logging.StreamHandler):  # pyright: ignore[reportMissingTypeArgument]
    """Lines that differ; the same file read twice is told once."""

    def __init__(self, stream: object) -> None:
        super().__init__(stream)  # pyright: ignore[reportArgumentType, reportUnknownMemberType]
        self._said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        if (text := record.getMessage()) not in self._said:
            self._said.add(text)
            super().emit(record)
