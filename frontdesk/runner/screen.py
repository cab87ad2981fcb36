"""What a stream can show, decided once: for the line of progress, for tables, for whoever else prints."""

from __future__ import annotations

import os
import shutil
from typing import TextIO


def is_plain() -> bool:
    """Whether no escape code may be written anywhere: NO_COLOR is set, or the terminal is a dumb one."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in {"dumb", ""}


def is_live(out: TextIO) -> bool:
    """Whether a line of ``out`` can be drawn again: it is a terminal, and no plain one."""
    return out.isatty() and not is_plain()


def width_of(out: TextIO) -> int:
    """Cells of the terminal's line; asked every time, as a window may change."""
    try:
        return os.get_terminal_size(out.fileno()).columns or shutil.get_terminal_size().columns
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns
