"""HTTP/1.1 over kept-alive connections: bytes in, bytes out, on asyncio and httptools.

One round trip costs about a third of aiohttp's, which is what lets the whole engine around it stay as fast as a
bare client (see docs/decisions/002-wire.md). There is nothing here but what a model call needs: no redirects,
no cookies, no proxies, no retries; decoding of what was not asked for is left to the caller.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import defaultdict
from collections.abc import Iterator, Mapping
from socket import AF_INET6, SOCK_STREAM
from typing import cast
from urllib.parse import SplitResult, quote, urlsplit

import httptools

from gateway.adapters.base import WireReply
from gateway.errors import TRANSIENT, Fault, FaultKind

LARGEST_BODY = 64 << 20
LARGEST_HEAD = 1 << 20
CONNECT_S = 15.0

Origin = tuple[str, str, int]


class Headers(Mapping[str, str]):
    """Response headers by lower-case name, decoded when asked for; of a repeated one, the first."""

    __slots__ = ("_pairs",)

    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self._pairs = pairs

    def __getitem__(self, name: str) -> str:
        wanted = name.lower().encode("latin-1")
        for key, value in self._pairs:
            if key.lower() == wanted:
                return value.decode("latin-1")
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(key.lower().decode("latin-1") for key, _ in self._pairs))

    def __len__(self) -> int:
        return len(set(self))


class Target:
    """Where a request goes: its origin, and everything before the length of its body, built once."""

    __slots__ = ("head", "origin")

    def __init__(self, url: str, headers: Mapping[str, str], method: str = "POST") -> None:
        parts = urlsplit(url)
        self.origin = _origin(parts)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        scheme, name, port = self.origin
        host = f"[{name}]" if ":" in name else name
        lines = [
            f"{method} {quote(_clean(path), safe=_KEPT)} HTTP/1.1",
            f"Host: {host}" + ("" if port == _PORTS[scheme] else f":{port}"),
            *(f"{_clean(name)}: {_clean(value)}" for name, value in headers.items()),
            "Content-Length: ",
        ]
        self.head = "\r\n".join(lines).encode("utf-8", "replace")


_KEPT = "/%?&=:@!$'()*+,;~[]"
_PORTS = {"http": 80, "https": 443}


def _origin(parts: SplitResult) -> Origin:
    host = parts.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode()
    return parts.scheme, host, parts.port or _PORTS[parts.scheme]


def _clean(text: str) -> str:
    """No line end can be smuggled into a head."""
    return text.replace("\r", "").replace("\n", "")


class Pool:
    """Connections by origin, kept alive and used again, last used first."""

    def __init__(self) -> None:
        self._idle: defaultdict[Origin, list[_Connection]] = defaultdict(list)
        self._all: set[_Connection] = set()
        self._addresses: dict[tuple[str, int], asyncio.Future[list[tuple[int, str]]]] = {}
        self._tls: ssl.SSLContext | None = None

    async def post(self, target: Target, body: bytes, largest: int = LARGEST_BODY) -> WireReply:
        """One request (of the target's method), one response. Raises Fault ``connection`` or ``malformed``.

        ``largest``: bytes that the response's body may have.
        """
        idle = self._idle[target.origin]
        connection = None
        while idle and (connection is None or connection.is_closing):
            connection = idle.pop()
        if connection is None or connection.is_closing:
            connection = await self._connect(target.origin)
        try:
            return await connection.exchange(b"%b%d\r\n\r\n%b" % (target.head, len(body), body), largest)
        except asyncio.CancelledError:
            connection.abort()
            raise

    async def close(self) -> None:
        for connection in list(self._all):
            connection.abort()
        self._idle.clear()
        await asyncio.sleep(0)

    async def _connect(self, origin: Origin) -> _Connection:
        scheme, host, port = origin
        context = self._context() if scheme == "https" else None
        error = "no address"
        for family, address in await self._resolve(host, port):
            try:
                async with asyncio.timeout(CONNECT_S):
                    _, connection = await asyncio.get_running_loop().create_connection(
                        lambda: _Connection(self._idle[origin], self._all),
                        address,
                        port,
                        family=family,
                        ssl=context,
                        server_hostname=host if context is not None else None,
                    )
            except ssl.SSLCertVerificationError as failed:
                refused = f"the certificate of {host} is not accepted: {failed.verify_message}"
                raise Fault("connection", refused) from None
            except ssl.SSLError as failed:
                error = f"TLS failed: {failed.reason or 'handshake'}"
            except TimeoutError:
                error = f"no connection within {CONNECT_S:g} s"
            except OSError as failed:
                error = failed.strerror or type(failed).__name__
            else:
                return connection
        self._addresses.pop((host, port), None)
        raise Fault("connection", f"cannot connect to {host}:{port}: {error}", TRANSIENT)

    async def _resolve(self, host: str, port: int) -> list[tuple[int, str]]:
        """The host's addresses, IPv4 first; looked up once for all connections that want them."""
        found = self._addresses.get((host, port))
        if found is None:
            found = self._addresses[host, port] = asyncio.ensure_future(_look_up(host, port))
        try:
            return await asyncio.shield(found)
        except OSError as failed:
            self._addresses.pop((host, port), None)
            reason = failed.strerror or type(failed).__name__
            raise Fault("connection", f"cannot find {host}: {reason}", TRANSIENT) from None

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


async def _look_up(host: str, port: int) -> list[tuple[int, str]]:
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    found = dict.fromkeys((int(family), str(address[0])) for family, _, _, _, address in infos)
    return sorted(found, key=lambda pair: pair[0] == AF_INET6)


class _Connection(asyncio.Protocol):
    """One connection; at most one exchange at a time. Goes back to ``idle`` after a whole response."""

    __slots__ = (
        "_body",
        "_done",
        "_everybody",
        "_has_head",
        "_headers",
        "_idle",
        "_largest",
        "_parser",
        "_size",
        "_transport",
    )

    def __init__(self, idle: list[_Connection], everybody: set[_Connection]) -> None:
        self._idle, self._everybody = idle, everybody
        self._done: asyncio.Future[WireReply] | None = None
        self._largest = LARGEST_BODY
        self._begin()

    def _begin(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._size, self._has_head = 0, False

    def exchange(self, request: bytes, largest: int = LARGEST_BODY) -> asyncio.Future[WireReply]:
        self._largest = largest
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._done

    @property
    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def abort(self) -> None:
        self._transport.abort()

    # -- asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._everybody.add(self)

    def data_received(self, data: bytes) -> None:
        if self._done is None:  # nobody asked: whatever this is, the connection cannot be trusted
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("malformed", "the response is not HTTP/1.1")

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._everybody.discard(self)
        if self in self._idle:
            self._idle.remove(self)
        if self._done is None:
            return
        if self._has_head and exc is None and not self._has_length():
            self._finish(keep=False)
        elif self._headers:
            self._fail("connection", "the response was cut off")
        else:
            self._fail("connection", "the server closed the connection")

    def _has_length(self) -> bool:
        return any(name.lower() in (b"content-length", b"transfer-encoding") for name, _ in self._headers)

    # -- httptools' side; it goes on to the end of what it was fed, whatever is found here

    def on_message_begin(self) -> None:
        if self._done is None:  # a second response to one request
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._size += len(name) + len(value)
        if self._size > LARGEST_HEAD:
            self._fail("malformed", f"response headers are larger than {LARGEST_HEAD >> 20} MiB")
        elif self._done is not None and not self._has_head:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._size = 0
        self._has_head = self._done is not None

    def on_body(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size > self._largest:
            self._fail("malformed", f"the response is larger than {self._largest >> 20} MiB")
        elif self._done is not None:
            self._body.append(chunk)

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:  # "100 Continue" and the like announce the response
            self._headers.clear()
            self._has_head = False
        else:
            self._finish(keep=self._parser.should_keep_alive())

    def _finish(self, *, keep: bool) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        reply = WireReply(self._parser.get_status_code(), Headers(self._headers), body)
        self._begin()
        if keep and not self.is_closing:
            self._idle.append(self)
        else:
            self._transport.close()
        if not done.done():
            done.set_result(reply)

    def _fail(self, kind: FaultKind, message: str) -> None:
        done, self._done = self._done, None
        self._body.clear()
        self.abort()
        if done is not None and not done.done():
            done.set_exception(Fault(kind, message, TRANSIENT))
