"""llama.cpp's server inside this process: on loopback, behind a random key, started once and shared by all.

Every endpoint of kind ``local`` asks the same server: the weights are in memory once, and the fixed beginnings
of all prompt forms stay in its cache.
"""

from __future__ import annotations

import atexit
import os
import secrets
import sys
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from gateway.local_model.fetch import MODELS, ModelFile, Say, ensure_model, say_on_stderr
from gateway.user_cache import variables_set
from runstore.problems import Problem

SLOTS = 4
CONTEXT = 2048
"""Tokens a slot can hold: prompt and reply."""
PROMPT_CACHE_MIB = 128
EXTRA = "local"

# The OpenMP runtime reads these when it is loaded. Without them threads that wait for each other spin, and with
# other programs on the cores a call takes many times as long; on idle cores nothing is lost.
_PATIENT_THREADS = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}

_running: dict[str, EmbeddedServer] = {}
_starting = Lock()


@dataclass(slots=True)
class EmbeddedServer:
    """A running server. ``address`` is only good in this process; ``key`` goes into a bearer header."""

    address: str
    key: str
    handle: Any


def find_model(name: str) -> ModelFile:
    """Raises Problem for a name that is not one of the embedded models."""
    if name not in MODELS:
        raise Problem(f"model: found {name!r}, expected one of {', '.join(MODELS)}")
    return MODELS[name]


def shared_server(name: str, *, say: Say = say_on_stderr) -> EmbeddedServer:
    """The running server of a model; fetches the weights and starts it (about half a second) the first time.

    Blocks; call it from a thread. Raises Problem where the weights or the library cannot be had.
    """
    with _starting:
        server = _running.get(name)
        if server is None:
            library = _library()
            server = _running[name] = _start(library, ensure_model(find_model(name), say=say))
        return server


def stop_servers() -> None:
    """Stop what runs; the next call starts anew. Also done when the program ends."""
    with _starting:
        _running.clear()


def _library() -> Any:
    try:
        with variables_set(_PATIENT_THREADS):
            return import_module("xllamacpp")
    except ImportError as error:
        raise Problem(
            f"the embedded model needs the extra [{EXTRA}]: pip install 'tutor-arena[{EXTRA}]' ({error})"
        ) from error


def _start(library: Any, path: Path) -> EmbeddedServer:
    key = secrets.token_urlsafe(24)
    params = library.CommonParams()
    params.model.path = str(path)
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * CONTEXT
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.verbosity = -1
    params.api_keys = [key]
    params.ui = False
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = _threads()
        threads.poll = 0  # nor may they spin between calls
    try:
        handle = library.Server(params)
        server = EmbeddedServer(handle.listening_address, key, handle)
        _say_a_word(server)
    except Exception as error:  # whatever the library raises
        raise Problem(f"the embedded model does not start from {path}: {error}") from error
    atexit.register(stop_servers)
    return server


def _say_a_word(server: EmbeddedServer) -> None:
    """One token, so that the server's loop has surely begun: told to stop before that, it would wait for ever."""
    connection = HTTPConnection(urlsplit(server.address).netloc, timeout=120)
    try:
        body = b'{"prompt":"One","max_tokens":1,"cache_prompt":false}'
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {server.key}"}
        connection.request("POST", "/v1/completions", body, headers)
        reply = connection.getresponse()
        if reply.status != 200:
            raise OSError(f"it answers with status {reply.status}: {reply.read()[:200]!r}")
        reply.read()
    finally:
        connection.close()


def _threads() -> int:
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    return max(1, min(4, cores or 2))
