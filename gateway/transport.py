"""The wire itself: prebuilt bodies out, raw bytes in, over one aiohttp session of a run.

No redirects, cookies, netrc or retries, and no exception but Fault. Keys are in the headers of requests alone:
what a session adds by itself would be shown to a proxy.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import ssl
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import aiohttp
from aiohttp.http import StreamWriter
from multidict import CIMultiDict
from yarl import URL

from gateway import bodies
from gateway.adapters.base import WireReply
from gateway.errors import NO, TRANSIENT, Fault

if TYPE_CHECKING:
    from aiohttp.client_middlewares import ClientHandlerType
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

    from gateway.proxies import Proxy

CONNECT_S = 15.0
_WITHIN = aiohttp.ClientTimeout(connect=CONNECT_S, sock_connect=CONNECT_S)
KEPT_S = 60.0
"""How long an idle connection is kept."""
MOST_STRAY = 100
MOST_AT_ONCE = 1 << 16
"""Bytes of a body that a connection takes without being waited for."""
_KEPT = "/%?&=:@!$'()*+,;~[]"
_OWN_HEADERS = {
    "User-Agent": "tutor-arena",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}


class Target:
    """Where a request goes, with which headers and through which proxy; made once, used for many."""

    __slots__ = ("headers", "method", "proxy", "url")

    def __init__(
        self, url: str, headers: Mapping[str, str], method: str = "POST", proxy: Proxy | None = None
    ) -> None:
        self.url, self.method, self.proxy = _encoded(url), method, proxy
        self.headers: CIMultiDict[str] = CIMultiDict(_OWN_HEADERS)
        for name, value in headers.items():
            self.headers[_clean(name)] = _clean(value)


def _encoded(url: str) -> URL:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host.isascii():
        host = host.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return URL(f"{parts.scheme}://{host}{port}{quote(_clean(path), safe=_KEPT)}", encoded=True)


def _clean(text: str) -> str:
    """No line end can be smuggled into a head."""
    return text.replace("\r", "").replace("\n", "")


class Connector(aiohttp.TCPConnector):
    """Gives no connection on which something has come in unasked: it would be taken for the next answer."""

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout) -> Connection:  # noqa: ASYNC109, ARG002 - aiohttp's
        for _ in range(MOST_STRAY):
            connection = await super().connect(req, traces, _WITHIN)
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            connection.close()
        raise aiohttp.ServerDisconnectedError("answers that nobody asked for")


class Request(aiohttp.ClientRequest):
    """Writes head and body at once and by itself, for aiohttp starts a task for each body: where tasks do not
    start at once (Python 3.11), that is a seventh of a call. What is not plain and small goes aiohttp's way."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        body, protocol = self.body, conn.protocol
        is_direct = self.proxy is None or self.is_ssl()
        if not isinstance(body, aiohttp.BytesPayload) or (body.size or 0) > MOST_AT_ONCE or not is_direct:
            return await super().send(conn)
        if protocol is None or protocol.writing_paused:
            return await super().send(conn)
        writer = StreamWriter(protocol, self.loop)
        await writer.write_headers(f"{self.method} {self.url.raw_path_qs} HTTP/1.1", self.headers)
        await writer.write_eof(await body.as_bytes())
        protocol.start_timeout()
        self.response = self.response_class(
            self.method,
            self.original_url,
            writer=None,
            continue100=None,
            timer=self._timer,
            request_info=self.request_info,
            traces=[],
            loop=self.loop,
            session=self._session,
            stream_writer=writer,
        )
        return self.response


_IS_KNOWN = "stream_writer" in inspect.signature(aiohttp.ClientResponse.__init__).parameters
"""Whether a response of this aiohttp is made as :class:`Request` makes it."""
_REQUEST = Request if sys.version_info < (3, 12) and _IS_KNOWN else aiohttp.ClientRequest


@dataclass(frozen=True, slots=True, eq=False)
class Loan:
    """What a vendor's client library sends its requests with: the run's session, the certificates that it trusts,
    and ``arguments`` for each ``session.request``. The library is given no key, and gets no response."""

    session: aiohttp.ClientSession
    tls: ssl.SSLContext
    arguments: Mapping[str, Any]


class Transport:
    """One session, opened by the first request, for everything that one event loop sends."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._loans: dict[str, Loan] = {}
        self.turns = bodies.Turns()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The session, opened now if it was not; within a running loop. Raises Fault for unusable certificates."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=Connector(
                    limit=0, ttl_dns_cache=300, keepalive_timeout=KEPT_S, ssl=trusted_certificates()
                ),
                request_class=_REQUEST,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session

    async def send(self, target: Target, body: bytes, largest: int) -> WireReply:
        """One request, one response, whatever its status.

        ``largest``: bytes that the decoded body may have. Raises Fault ``connection``, ``malformed``, or ``auth``
        where a proxy refuses its credentials.
        """
        proxy = target.proxy
        try:
            reply = await (self._session or self.session).request(
                target.method,
                target.url,
                data=body or None,
                headers=target.headers,
                allow_redirects=False,
                proxy=None if proxy is None else proxy.address,
            )
            return await _whole(reply, target, largest, self.turns)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _fault(error, target) from None

    async def lend(
        self,
        target: Target,
        headers: Mapping[str, str],
        body: bytes,
        largest: int,
        use: Callable[[Loan], Awaitable[object]],
    ) -> WireReply:
        """The response to the one request that a client library makes in ``use``; the library sees none of it.

        ``body`` takes the place of the library's, ``headers`` are added to its own. Raises Fault as :meth:`send`
        does, and what ``use`` raises.
        """
        guest = _GUEST.set(Guest(target, headers, body, largest, self.turns))
        try:
            await use(self._loan(target.proxy))
        except Arrived as arrived:
            arrived.__traceback__ = arrived.__context__ = None  # the library's frames, which hold the exception
            return arrived.reply
        finally:
            _GUEST.reset(guest)
        raise Fault("unexpected", "the client library made no request")

    def _loan(self, proxy: Proxy | None) -> Loan:
        address = "" if proxy is None else str(proxy.address)
        if address not in self._loans:
            tls = trusted_certificates()
            arguments = {"ssl": tls, "allow_redirects": False, "middlewares": (_carry,)}
            arguments |= {"proxy": address} if address else {}
            self._loans[address] = Loan(self.session, tls, arguments)
        return self._loans[address]

    async def close(self) -> None:
        session, self._session = self._session, None
        self._loans.clear()
        if session is not None:
            await session.close()
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Guest:
    """A client library's request: where it is meant to go, the headers it lacks, what is to be sent, and the bound
    of its response."""

    target: Target
    headers: Mapping[str, str]
    body: bytes
    largest: int
    turns: bodies.Turns


class Arrived(Exception):
    """The response to a client library's request is here, and the library's part is over."""

    def __init__(self, reply: WireReply) -> None:
        super().__init__(reply.status)
        self.reply = reply


_GUEST: ContextVar[Guest] = ContextVar("guest")


async def _carry(request: ClientRequest, handler: ClientHandlerType) -> aiohttp.ClientResponse:
    """aiohttp's middleware around what a client library sends. Raises Arrived, Fault."""
    guest = _GUEST.get()
    if request.url.origin() != guest.target.url.origin():
        raise Fault("unexpected", f"the client library would ask {request.url.host}, not {guest.target.url.host}")
    request.url = guest.target.url  # a query of the base address stands behind the path, not in it
    request.headers["Accept-Encoding"] = "identity"
    request.headers.update(guest.headers)
    await request.update_body(guest.body)
    try:
        reply = await _whole(await handler(request), guest.target, guest.largest, guest.turns)
    except aiohttp.ConnectionTimeoutError as error:
        raise _fault(error, guest.target) from None
    except TimeoutError:
        raise Fault("timeout", "no answer in time", TRANSIENT) from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise _fault(error, guest.target) from None
    raise Arrived(reply)


async def _whole(reply: aiohttp.ClientResponse, target: Target, largest: int, turns: bodies.Turns) -> WireReply:
    """The response with all of its body. Raises Fault, and aiohttp's exceptions."""
    try:
        data = await _body(reply, largest)
        if len(data) > bodies.LARGE:
            await turns.turn()
    except BaseException:  # cancelled, too: the connection is not used again
        reply.close()
        raise
    if reply.status == 407 and target.proxy is not None:
        raise _proxy_refuses(target.proxy, 407)
    return WireReply(reply.status, reply.headers, data)


async def _body(reply: aiohttp.ClientResponse, largest: int) -> bytes:
    if reply.status < 200:
        raise Fault("malformed", "the response is not HTTP/1.1: the protocol was switched", TRANSIENT)
    content = reply.content
    encoding = bodies.encoding_of(reply.headers)
    if not encoding and content.is_eof() and content.total_bytes <= largest:
        return content.read_nowait()
    return await bodies.read(content, encoding, largest)


def trusted_certificates() -> ssl.SSLContext:
    """TLS as the system trusts it, or by the certificates that SSL_CERT_FILE, SSL_CERT_DIR or REQUESTS_CA_BUNDLE
    name. Raises Fault, permanent, for a file that is not there or holds none."""
    names = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    name = next((name for name in names if os.environ.get(name)), None)
    path = os.environ[name] if name is not None else ""
    try:
        return _context(path, os.environ.get("SSL_CERT_DIR", ""))
    except OSError as error:
        reason = "it holds no certificates in PEM form" if isinstance(error, ssl.SSLError) else error.strerror
        raise Fault("connection", f"{name}: {path} cannot be used: {reason}", NO) from None


@cache
def _context(path: str, folder: str) -> ssl.SSLContext:
    """Reading the system's certificates takes some 50 ms, so once a process."""
    if not path:
        return ssl.create_default_context()
    if Path(path).is_dir():
        return ssl.create_default_context(capath=path)
    return ssl.create_default_context(cafile=path, capath=folder or None)


def _fault(error: Exception, target: Target) -> Fault:
    """What went wrong, in words that hold neither key nor password."""
    host, place = target.url.host, f"{target.url.host}:{target.url.port}"
    through = "" if target.proxy is None else f" through the proxy {target.proxy.shown}"
    reason = getattr(error, "strerror", None) or type(error).__name__
    match error:
        case aiohttp.ClientConnectorCertificateError():
            because = getattr(error.certificate_error, "verify_message", "") or "it does not fit"
            return Fault("connection", f"the certificate of {host} is not accepted: {because}", NO)
        case aiohttp.ClientConnectorSSLError():
            message = f"cannot connect to {place}{through}: TLS failed: {_tls_reason(error)}"
        case aiohttp.ClientHttpProxyError() if target.proxy is not None:
            return _proxy_refuses(target.proxy, error.status)
        case aiohttp.ClientProxyConnectionError():
            message = f"cannot connect to {place}{through}: {reason}"
        case aiohttp.ClientConnectorDNSError():
            message = f"cannot find {error.host}{through}: {reason}"
        case aiohttp.ClientConnectorError():
            message = f"cannot connect to {place}{through}: {reason}"
        case TimeoutError():
            message = f"cannot connect to {place}{through}: no connection within {CONNECT_S:g} s"
        case aiohttp.ClientPayloadError():
            message = "the response was cut off"
        case aiohttp.ClientResponseError():
            is_long = error.message.startswith("Got more than")
            what = "headers are larger than 8 KB" if is_long else "the response is not HTTP/1.1"
            return Fault("malformed", what, TRANSIENT)
        case aiohttp.ServerDisconnectedError() | ConnectionError() | aiohttp.ClientOSError():
            message = f"the server closed the connection{through}"
        case ValueError():
            return Fault("bad_request", f"nothing can be sent to {place}: the head is not allowed in HTTP", NO)
        case _:
            message = f"the connection to {place}{through} failed: {reason}"
    return Fault("connection", message, TRANSIENT)


def _tls_reason(error: Exception) -> str:
    return getattr(getattr(error, "os_error", None), "reason", None) or "handshake"


def _proxy_refuses(proxy: Proxy, status: int) -> Fault:
    if status == 407:
        message = f"the proxy {proxy.shown} asks for a user name and password, or refuses those given (HTTP 407)"
        return Fault("auth", message, NO, status=status)
    retry = TRANSIENT if status >= 500 or status == 429 else NO
    return Fault("connection", f"the proxy {proxy.shown} does not connect: HTTP {status}", retry, status=status)
