"""A real Dask scheduler and real workers on loopback, each a process that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.small_runs import REPOSITORY


class Machines:
    """``address`` of the scheduler; ``start`` and ``kill`` workers."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._process(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)
        )
        _until(self.file.is_file)
        import json

        self.address: str = json.loads(self.file.read_text())["address"]

    def start(self, count: int = 1, **environ: str) -> None:
        """More workers; returns when the scheduler knows them."""
        for _ in range(count):
            options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0")
            self.workers.append(self._process("worker", self.address, *options, **environ))
        _until(lambda: self.known() == len(self.alive))

    def known(self) -> int:
        """Workers that the scheduler knows."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return len(client.run_on_scheduler(_names))

    @property
    def alive(self) -> list[subprocess.Popen[bytes]]:
        return [worker for worker in self.workers if worker.poll() is None]

    def kill(self, number: int = 0) -> None:
        """kill -9 of the worker that was started first of those that live."""
        worker = self.alive[number]
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                process.kill()
            process.wait()

    def _process(self, *arguments: str, **environ: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _names(dask_scheduler) -> list[str]:
    return list(dask_scheduler.workers)


@contextmanager
def machines(folder: Path, workers: int = 0, **environ: str) -> Iterator[Machines]:
    """A cluster of its own, gone at the end."""
    made = Machines(folder)
    try:
        made.start(workers, **environ)
        yield made
    finally:
        made.close()


def _until(holds: Callable[[], bool], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "not within the time"
        time.sleep(0.05)
