"""Commands on pseudo-terminals of so many columns and rows."""

from __future__ import annotations

import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path

from tests.support.small_runs import REPOSITORY


def opened(columns: int, rows: int) -> tuple[int, int]:
    """Our end and the command's."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


@contextmanager
def begun(
    terminal: int, folder: Path, arguments: Sequence[object], environ: Mapping[str, str]
) -> Generator[subprocess.Popen[bytes]]:
    """The command, begun from nothing; it heeds interrupts however the tests were started. Ended when left."""
    command = [sys.executable, "-m", "frontdesk", *map(str, arguments)]
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    env = {**kept, "PYTHONPATH": str(REPOSITORY), "TERM": "xterm", **environ}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=env,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        preexec_fn=_heeding_interrupts,
    ) as process:
        os.close(terminal)
        yield process


def _heeding_interrupts() -> None:
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # a shell's background job ignores them, and so would its children


def written(ours: int, heard: Callable[[bytes], object] = len) -> bytes:
    """All that is written, until the command has closed its end; ``heard`` is given what there is so far."""
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
        heard(said)
    os.close(ours)
    return said
