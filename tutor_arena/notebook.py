"""Progress in a notebook: one output that is updated, in place of lines that scroll the cell away."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from frontdesk.report.untrusted import html, visible
from frontdesk.runner.progress import Progress

WIDTH = 110
"""Cells of a line of progress there."""


def progress() -> Progress | None:
    """What shows progress where this is called: None for a script, where standard error does."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display  # pyright: ignore - only in notebooks

    handle: Any = display(_Lines([]), display_id=True)  # pyright: ignore - only in notebooks
    return NotebookProgress(handle.update)


class _Lines:
    """What is shown: the lines said so far and the one of the stage under way."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def __repr__(self) -> str:
        return "\n".join(map(visible, self.lines))

    def _repr_html_(self) -> str:
        return f"<pre>{html(chr(10).join(self.lines))}</pre>"


class NotebookProgress(Progress):
    """``update`` shows an object in place of the one before."""

    def __init__(self, update: Callable[[object], object]) -> None:
        super().__init__(io.StringIO(), is_live=True)
        self._update = update
        self._said: list[str] = []

    def say(self, line: str) -> None:
        self._said.append(line)
        self._update(_Lines(list(self._said)))

    def _draw(self, line: str) -> None:
        self._update(_Lines([*self._said, line]))

    def _width(self) -> int:
        return WIDTH
