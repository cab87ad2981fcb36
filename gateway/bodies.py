"""A response's body, read and inflated in bounded pieces: what is too large is never held."""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING, Protocol

from gateway.errors import TRANSIENT, Fault
from runstore.problems import shown

if TYPE_CHECKING:
    from multidict import CIMultiDictProxy

MB = 1_000_000
_PIECE, _INFLATED = 1 << 14, 1 << 16
"""Compressed bytes that are taken, and inflated bytes that are made, at a time."""
LARGE = 1 << 17
"""Bytes of a body that take milliseconds to read."""
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_AS_IT_IS = frozenset({"", "identity", "chunked", "aws-chunked", "none", "utf-8", "utf8", "8bit", "binary"})
"""What heads say of a body that is no encoding, or is undone already."""


class Content(Protocol):
    """Bytes as they come: all that are there, or none at the end."""

    async def readany(self) -> bytes: ...


class Turns:
    """Large bodies are worked on one after the other, and everybody else has a turn between two of them."""

    def __init__(self) -> None:
        self._taken = asyncio.Lock()

    async def turn(self) -> None:
        """Before work on a large one, which nothing interrupts."""
        async with self._taken:
            await asyncio.sleep(0)


class _Stream(Protocol):
    """A decompressor of zlib."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def unconsumed_tail(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def encoding_of(headers: CIMultiDictProxy[str]) -> str:
    """How a body is encoded, by all that the head says of it (content and transfer, in any number of lines)."""
    if "Content-Encoding" not in headers and "Transfer-Encoding" not in headers:
        return ""
    lines = [*headers.getall("Content-Encoding", ()), *headers.getall("Transfer-Encoding", ())]
    names = [name.strip().lower() for line in lines for name in line.split(",")]
    return ", ".join(name for name in names if name not in _AS_IT_IS)


async def read(content: Content, encoding: str, largest: int) -> bytes:
    """The whole body, decoded.

    ``encoding``: as :func:`encoding_of` gives it; ``largest``: bytes that the decoded body may have, and the
    encoded one too. Raises Fault ``malformed`` for more, and for what is cut short or not so encoded.
    """
    if not encoding:
        return await _plain(content, largest)
    if encoding not in _WINDOWS:
        said = f"the response is encoded as {shown(encoding)}, which was not asked for"
        raise Fault("malformed", said, TRANSIENT)
    return await _Inflated(encoding, largest).read(content)


async def _plain(content: Content, largest: int) -> bytes:
    data = bytearray()
    while block := await content.readany():
        data += block
        if len(data) > largest:
            raise _too_large(largest)
    return bytes(data)


class _Inflated:
    """gzip (one member or several) or deflate (with or without zlib's frame), up to its end marker."""

    def __init__(self, name: str, largest: int) -> None:
        self._name, self._largest = name, largest
        self._data = bytearray()
        self._stream: _Stream | None = None

    async def read(self, content: Content) -> bytes:
        taken = 0
        while block := await content.readany():
            taken += len(block)
            if taken > self._largest:
                raise _too_large(self._largest)
            await self._feed(block)
        if self._stream is not None and not self._stream.eof:
            raise Fault("connection", f"the response was cut off inside its {self._name} encoding", TRANSIENT)
        return bytes(self._data)

    async def _feed(self, block: bytes) -> None:
        """A piece at a time, others having their turn between two: no body holds the loop up."""
        while block:
            piece, block = block[:_PIECE], block[_PIECE:]
            while piece:
                piece = self._inflate(piece)
                if piece or block:
                    await asyncio.sleep(0)

    def _inflate(self, piece: bytes) -> bytes:
        """Takes what makes at most a piece of inflated bytes; gives back the rest."""
        if self._stream is None or self._stream.eof:
            self._stream = self._next(piece)
        try:
            self._data += self._stream.decompress(piece, min(_INFLATED, self._largest - len(self._data) + 1))
        except zlib.error:
            raise Fault("malformed", f"the response is not valid {self._name}", TRANSIENT) from None
        if len(self._data) > self._largest:
            raise _too_large(self._largest)
        return self._stream.unconsumed_tail or self._stream.unused_data

    def _next(self, piece: bytes) -> _Stream:
        if self._stream is not None and self._name == "deflate":
            raise Fault("malformed", "the response goes on after the end of its deflate encoding", TRANSIENT)
        is_raw = self._name == "deflate" and piece[0] & 0x0F != zlib.DEFLATED
        return zlib.decompressobj(-15 if is_raw else _WINDOWS[self._name])


def _too_large(largest: int) -> Fault:
    limit = f"{largest / MB:g} MB"
    return Fault("malformed", f"the response is larger than {limit}, the limit of largest_reply_mb", TRANSIENT)
