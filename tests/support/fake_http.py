"""As much of an HTTP/1.1 server as the fake provider needs, with a hand on every byte that goes out."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

from tests.support.fake_faults import Reply

Respond = Callable[[str, str, dict[str, str], bytes], "tuple[Reply, float, Callable[[bool], None]]"]
"""(method, path, headers, body) -> response, seconds before it goes out, what to call when it has (or has not)."""

_DRIP_S = 0.2


class Connection(asyncio.Protocol):
    """One client's connection."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._waiting: Callable[[bool], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for timer in self._timers:
            timer.cancel()
        self._finished(False)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        size = end + 4 + int(headers.get("content-length", "0"))
        if len(self._buffer) < size:
            return
        body, self._buffer = self._buffer[end + 4 : size], self._buffer[size:]
        method, path, _ = lines[0].split(" ", 2)
        reply, after_s, self._waiting = self._respond(method, path, headers, body)
        if after_s > 0:
            self._later(after_s, self._send, reply)
        else:
            self._send(reply)

    def _later(self, seconds: float, call: Callable[..., None], *values: object) -> None:
        self._timers[:] = [timer for timer in self._timers if not timer.cancelled()][-4:]
        self._timers.append(asyncio.get_running_loop().call_later(seconds, call, *values))

    def _finished(self, went_out: bool) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting(went_out)

    def _send(self, reply: Reply) -> None:
        transport = self._transport
        if transport is None:
            return
        head = f"HTTP/1.1 {reply.status} X\r\nContent-Type: {reply.content_type}\r\n"
        head += f"Content-Length: {len(reply.body)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items()) + "\r\n"
        if reply.how == "hang":
            return
        if reply.how == "reset":
            raw = cast("socket.socket", transport.get_extra_info("socket"))
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        elif reply.how == "cut":
            transport.write(head.encode() + reply.body[: len(reply.body) // 2])
            transport.close()
        elif reply.how == "drip":
            transport.write(head.replace("Content-Length: ", "Content-Length: 99").encode())
            self._drip(reply.body, 0)
        else:
            transport.write(head.encode() + reply.body)
            self._finished(True)
            if reply.how == "close-soon":
                self._later(0.05, transport.close)

    def _drip(self, body: bytes, place: int) -> None:
        if self._transport is not None:
            self._transport.write(body[place % len(body) : place % len(body) + 1])
            self._later(_DRIP_S, self._drip, body, place + 1)
