"""One process at a time in a run folder, and in each segment of its journal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
from pathlib import Path

from runstore.problems import Problem


class RunLock:
    """Held by the process that writes a run. A second one is refused by name; a dead one's lock is free.

    The lock is the kernel's (``flock``), which ends with its process; the file's text is for people.
    """

    NAME = "run.lock"

    def __init__(self, run: Path) -> None:
        self.path = run / self.NAME
        try:
            run.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o644)
        except OSError as error:
            raise Problem(f"{run} cannot be written: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = self.path.read_text(errors="replace").strip() or "another process"
            os.close(self._file)
            raise Problem(f"{run} is being written by {holder}; wait for it or stop it first") from None
        os.ftruncate(self._file, 0)
        started = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
        os.write(self._file, f"process {os.getpid()} on {socket.gethostname()} since {started}\n".encode())

    def release(self) -> None:
        os.ftruncate(self._file, 0)
        os.close(self._file)

    def __enter__(self) -> RunLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def hold(file: int) -> None:
    """Mark an open file as written by this process until it is closed, where the file system knows locks."""
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(path: Path) -> bool:
    """Whether a process that is alive still writes the file (see :func:`hold`)."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # gone, or a file system without locks
        return False
    return False
