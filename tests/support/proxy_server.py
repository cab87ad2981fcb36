"""An HTTP proxy on loopback: whatever host is asked for, it goes to one port of this machine."""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from contextlib import AbstractAsyncContextManager

from tests.support.raw_server import listening


class ProxyServer:
    """``heads`` are what clients sent to the proxy itself (of CONNECT, only that; the rest is a tunnel).

    ``credentials``: ``user:password`` that it asks for; ``refuses``: a status line that it gives to everybody.
    """

    def __init__(self, upstream: int, credentials: str | None, refuses: str | None) -> None:
        self._upstream, self._refuses = upstream, refuses
        self._wanted = credentials and "Basic " + b64encode(credentials.encode()).decode()
        self.heads: list[str] = []
        self.open: set[asyncio.StreamWriter] = set()
        self.port = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        there, back = await asyncio.open_connection("127.0.0.1", self._upstream)
        self.open.add(back)
        answers = asyncio.create_task(_pass_on(there, writer))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while await self._request(reader, writer, back):
                pass
            await _pass_on(reader, back)
        back.close()
        writer.close()
        await answers
        self.open -= {writer, back}

    async def _request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, back: asyncio.StreamWriter
    ) -> bool:
        """One request to the proxy itself; False when all that follows goes through a tunnel."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        lines = head.split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await reader.readexactly(int(fields.get("content-length", "0")))
        refusal = self._refuses
        if self._wanted and fields.get("proxy-authorization") != self._wanted:
            refusal = "407 Proxy Authentication Required"
        if refusal:
            writer.write(f"HTTP/1.1 {refusal}\r\nContent-Length: 0\r\n\r\n".encode())
            return True
        if lines[0].startswith("CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            return False
        method, url, version = lines[0].split(" ")
        kept = [line for line in lines[1:] if not line.lower().startswith("proxy-")]
        path = "/" + url.split("/", 3)[3]
        back.write("\r\n".join([f"{method} {path} {version}", *kept]).encode() + body)
        return True


async def _pass_on(source: asyncio.StreamReader, goal: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await source.read(65536):
            goal.write(data)
            await goal.drain()
    goal.close()


def proxy_server(
    upstream: int, *, credentials: str | None = None, refuses: str | None = None
) -> AbstractAsyncContextManager[ProxyServer]:
    return listening(ProxyServer(upstream, credentials, refuses))
