"""Progress for people on a terminal, plain lines in a log; always on stderr, never a control code in a file."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TextIO

LINE_EVERY_S = 10.0


class Progress:
    """One stage at a time: ``start``, ``advance`` per finished item, ``finish``.

    ``status`` adds what to say of the whole run, ``note`` what to say of the stage before it.
    """

    def __init__(self, out: TextIO | None = None, status: Callable[[], str] = lambda: "") -> None:
        self.out = out or sys.stderr
        self.status = status
        self.note = ""
        self._live = _is_terminal(self.out)
        self._stage, self._total, self._done = "", 0, 0
        self._is_quiet = False
        self._started = self._said_at = 0.0
        self._said_share = 0

    def say(self, line: str) -> None:
        """A whole line of its own."""
        if self._live:
            self.out.write("\r\x1b[K")
        self.out.write(f"{line}\n")
        self.out.flush()

    def start(self, stage: str, total: int) -> None:
        self._stage, self._total, self._done = stage, total, 0
        self.note = ""
        self._started = self._said_at = time.monotonic()
        self._said_share = 0
        self._show(force=True)

    def advance(self) -> None:
        self._done += 1
        self._show()

    def reach(self, done: int) -> None:
        """So many are finished, elsewhere."""
        self._done = done
        self._show()

    @contextmanager
    def quiet(self) -> Generator[None]:
        """What is done in here has been shown already; lines of their own are still said."""
        self._is_quiet = True
        try:
            yield
        finally:
            self._is_quiet = False

    def finish(self, summary: str) -> None:
        self.say(f"{self._stage}: {summary}")

    def _show(self, *, force: bool = False) -> None:
        if self._is_quiet:
            return
        now = time.monotonic()
        share = 10 * self._done // self._total if self._total else 10
        if self._live:
            if force or now - self._said_at > 0.1 or self._done == self._total:
                self._said_at = now
                self.out.write(f"\r\x1b[K{_cut(self._line(now), _width(self.out))}")
                self.out.flush()
        elif (now - self._said_at >= LINE_EVERY_S or share > self._said_share) and self._done:
            if now - self._said_at < 1.0 and self._done < self._total:
                return
            self._said_at, self._said_share = now, share
            self.say(self._line(now))

    def _line(self, now: float) -> str:
        left = ""
        if 0 < self._done < self._total:
            seconds = (now - self._started) / self._done * (self._total - self._done)
            left = f", about {_duration(seconds)} left"
        status = ", ".join(part for part in (self.note, self.status()) if part)
        return f"{self._stage}: {self._done} of {self._total}{left}{f' ({status})' if status else ''}"


def _width(out: TextIO) -> int:
    """Cells of the terminal's line; asked every time, as a window may change."""
    try:
        return os.get_terminal_size(out.fileno()).columns or shutil.get_terminal_size().columns
    except OSError:
        return shutil.get_terminal_size().columns


def _cut(line: str, width: int) -> str:
    """A line that never wraps: the last cell of a terminal's line stays free."""
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) < width else f"{set_cell_size(line, max(width - 2, 0))}…"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _is_terminal(out: TextIO) -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in {"dumb", ""}
    return out.isatty() and not plain
