"""A real Dask scheduler and real workers on loopback, each a process that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.small_runs import REPOSITORY


class Machines:
    """``address`` of the scheduler; ``start`` and ``kill`` workers."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", **environ: str) -> None:
        """``environ``: of the scheduler and of all workers."""
        self.file = folder / "scheduler.json"
        self.folder, self._environ = folder, environ
        self.workers: list[subprocess.Popen[bytes]] = []
        is_tls = any("TLS" in name for name in environ)
        protocol = "tls" if is_tls else "tcp"
        options = ("--host", host, "--port", "0", "--protocol", protocol, "--no-dashboard")
        self.scheduler = self._process("scheduler", *options, "--scheduler-file", str(self.file))
        _until(lambda: self.file.is_file() and self.file.read_text().rstrip().endswith("}"))
        port = json.loads(self.file.read_text())["address"].rpartition(":")[2]
        self.address = f"{protocol}://127.0.0.1:{port}"

    def start(self, count: int = 1, **environ: str) -> None:
        """More workers, ``environ`` theirs alone; returns when the scheduler knows them."""
        for _ in range(count):
            options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--memory-limit", "0")
            self.workers.append(self._process("worker", self.address, *options, **environ))
        from distributed import Client

        with Client(self.address, security=self._security(), set_as_default=False) as client:
            _until(lambda: len(client.run_on_scheduler(_names)) == len(self.alive))

    def _security(self) -> Any:
        """The client's part of the certificates, where these machines have some."""
        from distributed.security import Security

        names = {"tls_ca_file": "CA_FILE", "tls_client_cert": "CLIENT__CERT", "tls_client_key": "CLIENT__KEY"}
        given = {name: self._environ.get(f"DASK_DISTRIBUTED__COMM__TLS__{value}") for name, value in names.items()}
        return Security(**given) if all(given.values()) else None

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
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **self._environ, **environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _names(dask_scheduler) -> list[str]:
    return list(dask_scheduler.workers)


@contextmanager
def machines(folder: Path, workers: int = 0, **options: str) -> Iterator[Machines]:
    """A cluster of its own, gone at the end; ``options`` are those of :class:`Machines`."""
    made = Machines(folder, **options)
    try:
        made.start(workers)
        yield made
    finally:
        made.close()


def _until(holds: Callable[[], bool], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "not within the time"
        time.sleep(0.05)
