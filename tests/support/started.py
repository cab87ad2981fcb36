"""The command in a process of its own that need not import the program first: a copy of one that has.

A server process imports what commands import and forks for each that is asked for. What runs then is the command
alone in its process, to be killed, interrupted and waited for like any other; ``python -m frontdesk`` from
nothing is what the tests of installation and of the command line start.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

REPOSITORY = Path(__file__).resolve().parents[2]
# What ends the process that imports it, what starts threads, and clients that take seconds and few commands use.
_LEFT_OUT = (
    "frontdesk.__main__",
    "frontdesk.runner.cluster",
    "gateway.adapters.litellm",
    "gateway.adapters.bedrock",
)


class Started:
    """One command under way, with what ``subprocess.Popen`` offers of it.

    Its output is kept in pipes; with ``log``, what it says to people goes to that file and the rest nowhere.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: int | None = None) -> None:
        self.returncode: int | None = None
        self._asking = threading.Lock()
        self._pipes: list[IO[bytes]] = []
        theirs = (
            [os.open(os.devnull, os.O_WRONLY), os.dup(log)] if log is not None else [self._pipe(), self._pipe()]
        )
        request = {"arguments": list(arguments), "environment": dict(environment), "folder": str(REPOSITORY)}
        pid = _server().ask(request, theirs)
        assert pid is not None
        self.pid = pid
        for file in theirs:
            os.close(file)

    def _pipe(self) -> int:
        ours, theirs = os.pipe()
        self._pipes.append(os.fdopen(ours, "rb"))
        return theirs

    @property
    def stdout(self) -> IO[bytes]:
        """What it prints, while it runs."""
        return self._pipes[0]

    @property
    def stderr(self) -> IO[bytes]:
        """What it says to people, while it runs."""
        return self._pipes[1]

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        with self._asking:  # a process can be waited for once
            if self.returncode is None:
                self.returncode = _server().ask({"ended": self.pid})
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code. Raises subprocess.TimeoutExpired after ``timeout`` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(0.005)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """All of stdout and stderr, once the command has ended."""
        said: dict[int, bytes] = {}

        def read(number: int, pipe: IO[bytes]) -> None:
            with pipe:
                said[number] = pipe.read()

        readers = [threading.Thread(target=read, args=each, daemon=True) for each in enumerate(self._pipes)]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join()
        return said[0], said[1]

    def send_signal(self, number: int) -> None:
        """Send it, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it without warning."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class _Server:
    """Our end of the process that forks; one of each test process."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._asking = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.started", str(theirs.fileno())],
            cwd=REPOSITORY,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        atexit.register(self.close)

    def ask(self, request: Mapping[str, object], files: Sequence[int] = ()) -> int | None:
        with self._asking:
            carried = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
            self._ours.sendmsg([json.dumps(request).encode()], carried)
            answer = self._ours.recv(64)
        assert answer, "the process that starts commands has ended; what it said stands above"
        return json.loads(answer)

    def close(self) -> None:
        self._ours.close()
        self._process.kill()  # a copy of this process may hold the other end, and it would wait on
        self._process.wait()


_servers: dict[int, _Server] = {}


def _server() -> _Server:
    if os.getpid() not in _servers:
        _servers[os.getpid()] = _Server()
    return _servers[os.getpid()]


def _serve(asked: socket.socket) -> None:
    for module in _modules():
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(module)
    gc.freeze()
    starter = os.getppid()
    asked.settimeout(5)
    while os.getppid() == starter:  # a copy of a test process that was killed may hold the other end
        try:
            data, carried, _, _ = socket.recv_fds(asked, 1 << 20, 2)
        except TimeoutError:
            continue
        if not data:
            return
        request = json.loads(data)
        if "ended" in request:
            pid, status = os.waitpid(request["ended"], os.WNOHANG)
            asked.send(json.dumps(os.waitstatus_to_exitcode(status) if pid else None).encode())
            continue
        pid = os.fork()
        if pid == 0:
            asked.close()
            _become(request, carried)
        for file in carried:
            os.close(file)
        asked.send(json.dumps(pid).encode())


def _modules() -> list[str]:
    names = ["google.genai", "uvloop"]
    for package in ("frontdesk", "gateway"):
        inside = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        names += [module.name for module in inside]
    return [name for name in names if not name.startswith(_LEFT_OUT)]


def _become(request: Mapping[str, Any], files: Sequence[int]) -> None:
    """In the copy: the command, with its arguments, environment, folder and output, and nothing after it."""
    from frontdesk.cli import main

    code = 70
    try:
        for number, file in enumerate(files, 1):
            os.dup2(file, number)
            os.close(file)
        os.chdir(str(request["folder"]))
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = ["frontdesk", *request["arguments"]]
        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # whatever it is, it is told as in a process of its own
        traceback.print_exc()
        code = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
