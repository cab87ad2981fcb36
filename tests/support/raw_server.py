"""A server that sends exactly the bytes a test wants, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeVar

CLOSE = "close"
RESET = "reset"
STALL = "stall"

Step = bytes | str | float
"""Bytes to send, seconds to wait, or CLOSE, RESET, STALL (until the client goes)."""


def whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A plain response with its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class RawServer:
    """Request number n (from 0, over all connections) is answered by the steps of ``script[n]``; the last one
    stays. ``heads`` and ``bodies`` are what came, ``connections`` how many were opened, ``gone`` how many the
    client left."""

    def __init__(self, script: Sequence[Sequence[Step]]) -> None:
        self.script = script
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self.connections = 0
        self.gone = 0
        self.open: set[asyncio.StreamWriter] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8")
                size = next(
                    (
                        int(line.split(":")[1])
                        for line in head.split("\r\n")
                        if line.lower().startswith("content-l")
                    ),
                    0,
                )
                self.bodies.append(await reader.readexactly(size))
                self.heads.append(head)
                steps = self.script[min(len(self.heads), len(self.script)) - 1]
                if not await self._play(steps, reader, writer):
                    break
        self.gone += 1
        self.open.discard(writer)
        writer.close()

    async def _play(
        self, steps: Sequence[Step], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        for step in steps:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif isinstance(step, float):
                await asyncio.sleep(step)
            elif step == STALL:
                await reader.read()
                return False
            elif step == RESET:
                raw: socket.socket = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            else:
                return False
        return True


class Served(Protocol):
    """What serves connections, and knows those that are open."""

    port: int
    open: set[asyncio.StreamWriter]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None: ...


Server = TypeVar("Server", bound=Served)


@asynccontextmanager
async def listening(
    served: Server, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[Server]:
    """The server at a free port, until nobody needs it; nothing of it is left open."""
    server = await asyncio.start_server(served.serve, host, 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for writer in list(served.open):
            writer.transport.abort()
        while served.open:
            await asyncio.sleep(0.005)


def raw_server(
    *script: Sequence[Step], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AbstractAsyncContextManager[RawServer]:
    return listening(RawServer(script), host, tls)
