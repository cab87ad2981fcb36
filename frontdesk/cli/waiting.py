"""A command that computes without a word says, from the third second on, that it is at it and for how long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TextIO, cast

SILENT = (
    "rate",
    "power",
    "agree",
    "agent-runs",
    "report",
    "export",
    "quality",
    "verify",
    "compare",
    "sensitivity",
)
"""Commands that compute before they say anything."""
AFTER_S = 2.0


@contextmanager
def shown(what: str) -> Generator[None]:
    """On a terminal, while the command ``what`` is silent, a line on stderr that is drawn again every second.

    It is gone as soon as anything else is said. Where a line of progress stands, nothing is drawn.
    """
    from frontdesk.runner.screen import is_live

    if what not in SILENT or not is_live(sys.stderr):
        yield
        return
    waiting, streams = _Waiting(what, sys.stderr), (sys.stdout, sys.stderr)
    sys.stdout, sys.stderr = (cast("TextIO", _Heard(stream, waiting)) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
        waiting.end()


class _Waiting:
    """The line, and since when nothing was said."""

    def __init__(self, what: str, out: TextIO) -> None:
        self.lock = threading.Lock()
        self._what, self._out = what, out
        self._started = self._quiet_since = time.monotonic()
        self._is_drawn, self._at_start = False, True
        self._ended = threading.Event()
        self._drawing = threading.Thread(target=copy_context().run, args=(self._draw,), daemon=True)
        self._drawing.start()

    def heard(self, text: str) -> None:
        """Something else is about to be written; the lock is held."""
        if self._is_drawn:
            self._out.write("\r\x1b[K")
            self._out.flush()
        self._is_drawn, self._at_start, self._quiet_since = False, text.endswith("\n"), time.monotonic()

    def end(self) -> None:
        """Nothing is drawn any more."""
        self._ended.set()
        self._drawing.join()
        self.heard("\n")

    def _draw(self) -> None:
        from frontdesk.runner.told import told

        while not self._ended.wait(1.0):
            with self.lock:
                now = time.monotonic()
                if self._at_start and now - self._quiet_since >= AFTER_S:
                    self._out.write(f"\r\x1b[K{self._what}: {told(f'at it for {now - self._started:.0f} s')}")
                    self._out.flush()
                    self._is_drawn = True


class _Heard:
    """A stream whose writing ends the line of waiting."""

    def __init__(self, stream: TextIO, waiting: _Waiting) -> None:
        self._stream, self._waiting = stream, waiting

    def write(self, text: str) -> int:
        """As the stream does it."""
        with self._waiting.lock:
            self._waiting.heard(text)
            return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
