"""Progress for people on a terminal, plain lines in a log; always on stderr, never a control code in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TextIO

from frontdesk.runner import screen
from frontdesk.runner.told import told

LINE_EVERY_S = 10.0


class Progress:
    """One stage at a time: ``start``, ``advance`` per finished item, ``finish``.

    ``status`` adds what to say of the whole run, part by part, ``note`` what to say of the stage before it. What
    does not fit a terminal's line is left out from the end, part by part. ``is_live``: one line is drawn again and
    again; decided by ``out`` unless given.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        status: Callable[[], Sequence[str]] = tuple,
        *,
        is_live: bool | None = None,
    ) -> None:
        self.out = out or sys.stderr
        self.status = status
        self.note = ""
        self._live = screen.is_live(self.out) if is_live is None else is_live
        self._stage, self._total, self._done = "", 0, 0
        self.is_quiet = False
        self._started = self._said_at = 0.0
        self._said_share = 0

    @property
    def place(self) -> tuple[str, int, int]:
        """The stage, and how many of how many of its items are finished."""
        return self._stage, self._done, self._total

    def say(self, line: str) -> None:
        """A whole line of its own."""
        if self._live:
            self.out.write("\r\x1b[K")
        self.out.write(f"{told(line)}\n")
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
        self.is_quiet = True
        try:
            yield
        finally:
            self.is_quiet = False

    def finish(self, summary: str) -> None:
        self.say(f"{self._stage}: {summary}")

    def _show(self, *, force: bool = False) -> None:
        if self.is_quiet:
            return
        now = time.monotonic()
        share = 10 * self._done // self._total if self._total else 10
        if self._live:
            if force or now - self._said_at > 0.1 or self._done == self._total:
                self._said_at = now
                self._draw(self._line(now, self._width()))
        elif (now - self._said_at >= LINE_EVERY_S or share > self._said_share) and self._done:
            if now - self._said_at < 1.0 and self._done < self._total:
                return
            self._said_at, self._said_share = now, share
            self.say(self._line(now))

    def _draw(self, line: str) -> None:
        """In place of the line that was drawn before."""
        self.out.write(f"\r\x1b[K{line}")
        self.out.flush()

    def _width(self) -> int:
        return screen.width_of(self.out)

    def _line(self, now: float, width: int | None = None) -> str:
        left = ""
        if 0 < self._done < self._total:
            seconds = (now - self._started) / self._done * (self._total - self._done)
            left = f", about {_duration(seconds)} left"
        head = f"{self._stage}: {self._done} of {self._total}{left}"
        parts = [told(part) for part in (self.note, *self.status()) if part]
        return _fitted(head, parts, width)


def _fitted(head: str, parts: Sequence[str], width: int | None) -> str:
    """Head and parts as far as ``width`` cells hold them, the last of which stays free: no line wraps."""
    from rich.cells import cell_len, set_cell_size

    for shown in range(len(parts), 0, -1):
        line = told(f"{head} ({', '.join(parts[:shown])}{'' if shown == len(parts) else ', …'})")
        if width is None or cell_len(line) < width:
            return line
    head = told(head)
    if width is None or cell_len(head) < width:
        return head
    return f"{set_cell_size(head, max(width - 2, 0))}…"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
