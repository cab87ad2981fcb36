"""A provider that answers with mutated or with inflating responses, in a process of its own.

    python tests/support/fuzz_server.py --seed 1        prints {"port": N}

A request that holds ``#123#`` gets response number 123 of its shape; one without gets the next of its path. With
``--bomb MB`` every response is a gzip body that would become so large.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import sys
import zlib
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support import fake_shapes, mutations

_NUMBER = re.compile(rb"#(\d+)#")


class FuzzServer:
    def __init__(self, seed: int, bomb: bytes) -> None:
        self._seed, self._bomb = seed, bomb
        self._next: Counter[str] = Counter()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            size = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
            body = await reader.readexactly(int(size[1]) if size else 0)
            writer.write(self._response(head.split(" ")[1], body))
            await writer.drain()
        writer.close()

    def _response(self, path: str, body: bytes) -> bytes:
        if self._bomb:
            fields = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(self._bomb)
            return fields + self._bomb
        found = _NUMBER.search(body)
        number = int(found[1]) if found else self._next.update([path.split("/")[1]]) or self._next.total()
        if path.startswith(("/projects", "/set-chat-history")) and number % 10:
            good = b'{"id":7}'
            return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(good), good)
        shape = fake_shapes.shape_of(path)
        asked = fake_shapes.Asked(shape, "teacher", "m", ["q"], None, path, None, b"\0" * 16)
        return mutations.raw_response(shape, asked, f"{self._seed}/{shape}/{number}")


def bomb(megabytes: int) -> bytes:
    """gzip of so many zeros, within what would be JSON."""
    packer = zlib.compressobj(9, wbits=31)
    pieces = [packer.compress(bytes(1 << 20)) for _ in range(megabytes)]
    return b"".join(pieces) + packer.flush()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bomb", type=int, default=0)
    args = parser.parse_args()
    packed = await asyncio.to_thread(bomb, args.bomb) if args.bomb else b""
    server = await asyncio.start_server(FuzzServer(args.seed, packed).serve, "127.0.0.1", 0, backlog=4096)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
