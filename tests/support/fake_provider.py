"""A provider on loopback that speaks the wire shapes of OpenAI, Gemini, Anthropic, plain JSON services and Ureka.

What it answers depends on the request alone: students, teachers and judges are told apart by what their prompts
must ask for, judgments end in a valid decision, and a JSON schema is filled in. It counts every call, and fails
on demand (``script``) or by seeded chance (``chaos_rate``), each request on its first attempts only.

In a test: ``with FakeProvider(latency_ms=5) as provider: ... provider.settings("openai")``, or the fixture
``provider``. From outside: ``python tests/support/fake_provider.py --port 0 --latency-ms 50`` prints
``{"port": N}``; GET ``/__stats``, ``/__calls``, ``/__reset``; POST ``/__config`` with fields of Config as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import orjson

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support import fake_shapes, fake_text
from tests.support.fake_batches import FakeBatches
from tests.support.fake_faults import CHAOS, FAULTS, Reply
from tests.support.fake_http import Connection
from tests.support.fake_shapes import Asked

Script = Callable[[Asked, int], "str | Reply | None"]
"""(what is asked, which attempt of this request, from 1) -> name of a fault, a response, or None to answer."""


@dataclass(frozen=True, slots=True)
class Config:
    """``faults`` are scripts for use from outside: ``{"kind", "attempts", "match", "role"}``, the first that fits.

    ``fixed``: one prebuilt answer without reading the request, for measuring clients. ``keep``: requests are kept
    in ``FakeProvider.requests``. ``wait_s``: what rate limits ask for.
    """

    latency_ms: float = 0.0
    jitter_ms: float = 0.0
    chaos_rate: float = 0.0
    chaos_seed: int = 0
    chaos_attempts: int = 2
    chaos_kinds: tuple[str, ...] = tuple(CHAOS)
    faults: tuple[dict[str, Any], ...] = ()
    unreadable: float = 0.0
    wait_s: float = 0.05
    fixed: bool = False
    keep: bool = False


@dataclass(slots=True)
class Stats:
    """``calls`` counts model requests (set-up steps of a session are none); ``answered`` whole good answers."""

    calls: int = 0
    answered: int = 0
    cancelled: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    by_role: Counter[str] = field(default_factory=Counter)
    by_shape: Counter[str] = field(default_factory=Counter)
    by_model: Counter[str] = field(default_factory=Counter)
    by_fault: Counter[str] = field(default_factory=Counter)


class FakeProvider:
    """The server, in its own thread. ``received`` and ``delivered`` count by request (:func:`request_key`)."""

    def __init__(self, *, script: Script | None = None, port: int = 0, keep: bool = True, **config: Any) -> None:
        self.config = Config(keep=keep, **config)
        self.script = script
        self.port = port
        self.chats: dict[str, list[dict[str, Any]]] = {}
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.reset()

    def reset(self) -> None:
        """Forget all that was counted and kept."""
        self.batches = FakeBatches(self)
        self.stats = Stats()
        self.received: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()
        self.requests: list[Asked] = []

    def configure(self, **changes: Any) -> None:
        changes = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
        self.config = replace(self.config, **changes)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self, kind: str, **more: Any) -> dict[str, Any]:
        """The table of an endpoint of that kind on this server."""
        if kind == "http":
            body = {"history": "{messages}", "question": "{last_student}"}
            return {"kind": "http", "url": f"{self.url}/reply", "body": body, "reply": "data.answer", **more}
        base = {"kind": kind, "base_url": self.url + ("/v1" if kind == "openai" else "")}
        return base | ({} if kind == "ureka" else {"model": "fake-1"}) | more

    def __enter__(self) -> FakeProvider:
        self._thread = threading.Thread(target=self._serve_in_thread, daemon=True)
        self._thread.start()
        if not self._started.wait(10):
            raise RuntimeError("the fake provider did not start")
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    def _serve_in_thread(self) -> None:
        with asyncio.Runner() as runner:
            runner.run(self.serve())

    async def serve(self) -> None:
        """Listen until stopped."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await self._loop.create_server(
            lambda: Connection(self._respond), "127.0.0.1", self.port, backlog=8192
        )
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    def _respond(
        self, method: str, path: str, headers: dict[str, str], data: bytes
    ) -> tuple[Reply, float, Callable[[bool], None]]:
        if path.startswith("/__"):
            return self._about(path, data), 0.0, _ignore
        if FakeBatches.is_batch(path):
            return self.batches.respond(method, path, headers, data), self.config.latency_ms / 1000, _ignore
        if self.config.fixed and fake_shapes.shape_of(path) != "ureka":
            self.stats.calls += 1
            return self._fixed(path), self.config.latency_ms / 1000, self._counted
        try:
            body = orjson.loads(data)
        except orjson.JSONDecodeError:
            return Reply(b'{"error":{"message":"the body is not JSON"}}', 400), 0.0, _ignore
        if method != "POST":
            return Reply(b'{"error":{"message":"no such path"}}', 404), 0.0, _ignore
        key = request_key(path, data)
        if fake_shapes.shape_of(path) == "ureka":
            chat, _, step = self._session(path, body)
            if step is not None:
                return step, 0.0, _ignore
            key = request_key(path.split("/")[1], orjson.dumps(chat))
        return self._model_call(path, headers, body, key)

    def _model_call(
        self, path: str, headers: dict[str, str], body: Any, key: str
    ) -> tuple[Reply, float, Callable[[bool], None]]:
        asked = fake_shapes.read(path, body, bytes.fromhex(key))
        self.received[key] += 1
        asked.attempt, asked.headers = self.received[key], headers
        stats = self.stats
        stats.calls += 1
        stats.in_flight += 1
        stats.most_in_flight = max(stats.most_in_flight, stats.in_flight)
        stats.by_role[asked.role] += 1
        stats.by_shape[asked.shape] += 1
        stats.by_model[asked.model] += 1
        if self.config.keep:
            self.requests.append(asked)
        reply, fault = self._chosen(asked)
        if fault is not None:
            stats.by_fault[fault] += 1
        is_good = fault is None or fault in ("surrogate", "close-soon")
        if asked.shape == "ureka" and is_good:
            self.chats[path.rsplit("/", 1)[1]].append({"role": "assistant", "message": self.text(asked)})

        def done(went_out: bool) -> None:
            stats.in_flight -= 1
            if not went_out:
                stats.cancelled += 1
            elif is_good:
                stats.answered += 1
                self.delivered[key] += 1

        jitter = self.config.jitter_ms * fake_text.share(b"jitter", asked.key)
        return reply, (self.config.latency_ms + jitter) / 1000, done

    def _chosen(self, asked: Asked) -> tuple[Reply, str | None]:
        fault = self.script(asked, asked.attempt) if self.script is not None else None
        if isinstance(fault, Reply):
            return fault, None if fault.status == 200 and fault.how == "whole" else "scripted"
        fault = fault or self._declared(asked) or self._chance(asked)
        if fault is None:
            return Reply(self.good(asked)), None
        return FAULTS[fault](asked, self.good, self.config.wait_s), fault

    def _declared(self, asked: Asked) -> str | None:
        for rule in self.config.faults:
            fits = rule.get("match", "") in "\n".join(asked.texts) and rule.get("role", asked.role) == asked.role
            if fits and asked.attempt <= rule.get("attempts", 1 << 30):
                return str(rule["kind"])
        return None

    def _chance(self, asked: Asked) -> str | None:
        config = self.config
        seed = str(config.chaos_seed)
        if fake_text.share(b"chaos", seed, asked.key) >= config.chaos_rate:
            return None
        if asked.attempt > 1 + fake_text.number(b"attempts", seed, asked.key) % config.chaos_attempts:
            return None
        drawn = fake_text.number(b"kind", seed, asked.key, str(asked.attempt))
        return config.chaos_kinds[drawn % len(config.chaos_kinds)]

    def text(self, asked: Asked) -> str:
        """The right answer to a request, the same whenever it is asked."""
        if asked.schema is not None:
            return orjson.dumps(fake_text.filled(asked.schema, asked.key)).decode()
        if asked.role == "judge":
            return fake_text.judge(asked.key, self.config.unreadable)
        return (fake_text.student if asked.role == "student" else fake_text.teacher)(asked.key)

    def good(self, asked: Asked) -> bytes:
        return fake_shapes.answer(asked, self.text(asked), number=self.stats.calls)

    def _session(self, path: str, body: Any) -> tuple[list[Any], str, Reply | None]:
        """The steps of a Ureka session before its model call; the chat, for the call itself."""
        name, _, chat = path.strip("/").partition("/")
        if name == "projects":
            chat = str(len(self.chats) + 1)
            self.chats[chat] = []
            return [], chat, Reply(orjson.dumps({"id": int(chat), "title": body.get("title", "")}), 201)
        if chat not in self.chats:
            return [], chat, Reply(b'{"detail":"no such chat"}', 404)
        if name == "set-chat-history":
            if any(not message.get("message") for message in body):
                return [], chat, Reply(b'{"detail":"an empty message"}', 400)
            self.chats[chat] = list(body)
            return [], chat, Reply(b'{"status":"ok"}')
        self.chats[chat].append(body)
        return self.chats[chat], chat, None

    def _counted(self, went_out: bool) -> None:
        if went_out:
            self.stats.answered += 1

    def _fixed(self, path: str) -> Reply:
        shape = fake_shapes.shape_of(path)
        if shape not in _FIXED:
            asked = fake_shapes.read(path, {"model": "fake-1"}, b"\0" * 16)
            _FIXED[shape] = Reply(fake_shapes.answer(asked, (fake_text.TEACHER[1] + " ") * 7))
        return _FIXED[shape]

    def _about(self, path: str, data: bytes) -> Reply:
        try:
            if path == "/__stats":
                counts = {f.name: getattr(self.stats, f.name) for f in fields(self.stats)}
                return Reply(orjson.dumps(counts | {"requests": len(self.received)}))
            if path == "/__calls":
                keys = self.received
                return Reply(orjson.dumps({key: [count, self.delivered[key]] for key, count in keys.items()}))
            if path == "/__reset":
                self.reset()
            elif path == "/__config":
                self.configure(**orjson.loads(data))
            else:
                return Reply(b'{"error":"unknown"}', 404)
        except (TypeError, ValueError) as error:
            return Reply(orjson.dumps({"error": str(error)}), 400)
        return Reply(orjson.dumps(asdict(self.config)))


_FIXED: dict[str, Reply] = {}


def _ignore(_: bool) -> None:
    pass


def request_key(path: str, body: bytes) -> str:
    """The name under which calls of one and the same request are counted.

    Google's client leaves empty groups of settings out and orders names in its own way: that is the same request.
    """
    if ":generateContent" in path:
        try:
            data = orjson.loads(body)
        except orjson.JSONDecodeError:
            data = None
        if isinstance(data, dict):
            whole = {name: value for name, value in data.items() if value != {}}
            body = orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(path.encode() + b"\n" + body, digest_size=16).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--jitter-ms", type=float, default=0.0)
    parser.add_argument("--chaos-rate", type=float, default=0.0)
    parser.add_argument("--chaos-seed", type=int, default=0)
    parser.add_argument("--chaos-attempts", type=int, default=2)
    parser.add_argument("--wait-s", type=float, default=0.05)
    parser.add_argument("--unreadable", type=float, default=0.0)
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop by itself after so long")
    given = vars(parser.parse_args())
    seconds = given.pop("seconds")
    provider = FakeProvider(keep=False, **given)

    async def run() -> None:
        serving = asyncio.create_task(provider.serve())
        while not provider._started.is_set():
            await asyncio.sleep(0.001)
        print(orjson.dumps({"port": provider.port}).decode(), flush=True)
        asyncio.get_running_loop().call_later(seconds, provider._stop.set)
        await serving

    factory = None
    try:
        import uvloop

        factory = uvloop.new_event_loop
    except ImportError:
        pass
    started = time.monotonic()
    try:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(run())
    except KeyboardInterrupt:
        print(f"stopped after {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
