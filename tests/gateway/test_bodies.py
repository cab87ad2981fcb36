"""Bodies that are large, encoded, cut or in crumbs: read whole, or a named fault; never held beyond the limit."""

import asyncio
import gzip
import tracemalloc
import zlib

import orjson
import pytest

from gateway import bodies
from gateway.adapters.catalog import build
from gateway.engine import Gateway
from gateway.errors import CallFailed, Fault
from gateway.transport import Target, Transport
from tests.support.asking import chat
from tests.support.raw_server import CLOSE, raw_server, whole

LIMIT = 1_000_000
TEXT = '{"a":"가나다 – 힙 정렬"}'.encode() * 50


def packed(data: bytes) -> bytes:
    """The same bytes whenever it is packed: names of tests are made of them."""
    return gzip.compress(data, mtime=0)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def encoded(body: bytes, name: str) -> bytes:
    return whole(body, f"Content-Encoding: {name}")


def bomb(size: int, wbits: int) -> bytes:
    packer = zlib.compressobj(9, wbits=wbits)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


async def read(*steps: bytes | str | float, limit: int = LIMIT) -> bytes:
    async with asyncio.timeout(30), raw_server(steps) as server:
        transport = Transport()
        try:
            return (await transport.send(Target(server.url, {}), b"{}", limit)).body
        finally:
            await transport.close()


async def fault_of(*steps: bytes | str | float, limit: int = LIMIT) -> Fault:
    with pytest.raises(Fault) as caught:
        await read(*steps, limit=limit)
    return caught.value


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (packed(TEXT), "gzip"),
        (packed(TEXT), "X-GZIP"),
        (packed(TEXT[:100]) + packed(TEXT[100:]), "gzip"),
        (zlib.compress(TEXT), "deflate"),
        (raw_deflate(TEXT), "deflate"),
        (TEXT, "identity"),
        (packed(TEXT), "identity, gzip"),
        (packed(TEXT), "gzip\r\nContent-Encoding: identity"),
        (TEXT, ""),
        (TEXT, "UTF-8"),
        (TEXT, "none"),
    ],
    ids=[
        "gzip",
        "x-gzip",
        "gzip of two members",
        "deflate",
        "deflate without a frame",
        "identity",
        "identity and gzip",
        "gzip and identity in two lines",
        "a line that says nothing",
        "an alphabet",
        "none",
    ],
)
async def test_what_is_encoded_is_read_however_it_is_cut_into_pieces(body, name):
    response = encoded(body, name)
    assert await read(response) == TEXT
    assert await read(response[:-9], 0.01, response[-9:]) == TEXT
    middle = len(response) - len(body) // 2
    assert await read(response[:middle], 0.01, response[middle:]) == TEXT


@pytest.mark.parametrize("name", ["gzip", "deflate"])
async def test_an_empty_body_is_empty_whatever_its_encoding(name):
    assert await read(encoded(b"", name)) == b""


@pytest.mark.parametrize(
    ("body", "name"),
    [(packed(TEXT), "gzip"), (zlib.compress(TEXT), "deflate"), (raw_deflate(TEXT), "deflate")],
)
@pytest.mark.parametrize("cut", [1, 6, 9, 40])
async def test_an_encoded_body_without_its_end_is_cut_off_even_where_the_length_says_whole(body, name, cut):
    fault = await fault_of(encoded(body[:-cut], name))
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert f"cut off inside its {name} encoding" in fault.message


@pytest.mark.parametrize(
    ("body", "name", "said"),
    [
        (b"not packed at all", "gzip", "the response is not valid gzip"),
        (b"not packed at all", "deflate", "the response is not valid deflate"),
        (packed(TEXT)[:-8] + bytes(8), "gzip", "the response is not valid gzip"),
        (packed(TEXT) + b"and more", "gzip", "the response is not valid gzip"),
        (zlib.compress(TEXT) + b"and more", "deflate", "goes on after the end"),
        (TEXT, "br", "encoded as br, which was not asked for"),
        (packed(packed(TEXT)), "gzip, gzip", "encoded as gzip, gzip, which was not asked for"),
        (packed(packed(TEXT)), "gzip\r\nContent-Encoding: gzip", "encoded as gzip, gzip, which was not asked for"),
        (packed(TEXT), "identity\r\ncontent-encoding: br", "encoded as br, which was not asked for"),
        (TEXT, "zstd", "encoded as zstd, which was not asked for"),
        (TEXT, "gzip," * 1500, "encoded as gzip, gzip"),
    ],
)
async def test_what_is_not_encoded_as_it_says_is_malformed(body, name, said):
    fault = await fault_of(encoded(body, name))
    assert (fault.kind, fault.retry.again) == ("malformed", "transient") and said in fault.message


@pytest.mark.parametrize(("name", "wbits"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
async def test_a_small_body_that_would_become_huge_is_refused_before_it_is_held(name, wbits):
    packed = bomb(200 << 20, wbits)
    assert len(packed) < 250_000
    tracemalloc.start()
    fault = await fault_of(encoded(packed, name))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert fault.kind == "malformed" and "larger than 1 MB" in fault.message
    assert peak < 16 * LIMIT


async def test_a_body_of_countless_empty_members_is_refused():
    fault = await fault_of(encoded(gzip.compress(b"") * 60_000, "gzip"))
    assert "larger than 1 MB" in fault.message


async def test_the_limit_counts_what_was_inflated_to_the_byte():
    assert len(await read(encoded(gzip.compress(bytes(LIMIT)), "gzip"))) == LIMIT
    assert "larger than 1 MB" in (await fault_of(encoded(gzip.compress(bytes(LIMIT + 1)), "gzip"))).message
    assert len(await read(whole(bytes(LIMIT)))) == LIMIT
    assert "larger than 1 MB" in (await fault_of(whole(bytes(LIMIT + 1)))).message


async def test_chunks_of_one_byte_are_read_whole_and_hold_nobody_up():
    body = bytes(range(32, 127)) * 3000
    crumbs = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert await read(head + crumbs) == body
    fault = await fault_of(head + crumbs[:-5], CLOSE)
    assert (fault.kind, fault.message) == ("connection", "the response was cut off")
    assert "larger than 0.1 MB" in (await fault_of(head + crumbs, limit=100_000)).message


@pytest.mark.parametrize(
    ("coding", "body"),
    [("gzip, chunked", packed(TEXT)), ("deflate, chunked", zlib.compress(TEXT)), ("chunked", TEXT)],
)
async def test_an_encoding_for_the_way_alone_is_undone_too(coding, body):
    head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n".encode()
    response = head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    assert await read(response) == TEXT
    assert await read(response[:-30], 0.01, response[-30:]) == TEXT


@pytest.mark.parametrize("coding", ["gzip, chunked", "br, chunked", "gzip, deflate, chunked"])
async def test_what_the_way_says_and_is_not_so_is_no_answer(coding):
    head = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n".encode()
    fault = await fault_of(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(TEXT), TEXT))
    assert fault.kind == "malformed"


async def test_a_huge_body_leaves_others_their_turns():
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    class AtOnce:
        async def readany(self) -> bytes:
            return bomb(64 << 20, 31)

    counting = asyncio.create_task(count())
    await asyncio.sleep(0)
    before = turns
    with pytest.raises(Fault, match="larger than 4 MB"):
        await bodies.read(AtOnce(), "gzip", 4_000_000)
    counting.cancel()
    assert turns - before >= 14, "at most 256 KB are inflated in a turn"


async def test_the_limit_is_a_setting_of_the_endpoint(provider):
    long = {"choices": [{"message": {"content": "a" * 5_000_000}, "finish_reason": "stop"}]}
    body = orjson.dumps(long)
    async with raw_server([whole(body)]) as server:
        table = {"kind": "openai", "model": "m", "base_url": server.url, "retries": 0}
        async with Gateway.open({"t": table}) as gateway:
            with pytest.raises(CallFailed, match=r"larger than 4 MB, the limit of largest_reply_mb"):
                await gateway.ask("t", chat("q"))
        async with Gateway.open({"t": {**table, "largest_reply_mb": 5.5}}) as gateway:
            assert len((await gateway.ask("t", chat("q"))).text) == 5_000_000


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("more", "location", "said"),
    [
        ({"kind": "http", "url": "{url}/reply"}, "{url}/reply/", "set url = '{url}/reply/'"),
        ({"kind": "http", "url": "{url}/reply"}, "/there?x=1", "set url = '{url}/there?x=1'"),
        (
            {"kind": "openai", "base_url": "{url}/v1"},
            "https://other.invalid/v2/chat/completions",
            "set base_url = 'https://other.invalid/v2'",
        ),
        (
            {"kind": "openai", "base_url": "{url}/v1"},
            "https://other.invalid/login",
            "set a base_url that is not redirected",
        ),
    ],
)
async def test_a_redirect_is_not_followed_and_says_what_to_write(status, more, location, said):
    async with raw_server([b""]) as server:
        where = location.format(url=server.url)
        server.script = [[whole(b"", f"Location: {where}", status=f"{status} Elsewhere")]]
        table = {key: value.format(url=server.url) for key, value in more.items()} | {"model": "m"}
        async with Gateway.open({"t": table}) as gateway:
            with pytest.raises(CallFailed) as caught:
                await gateway.ask("t", chat("q"))
        assert len(server.heads) == 1
    failed = caught.value
    assert (failed.kind, failed.attempts) == ("bad_request", 1)
    assert f"HTTP {status}: the address redirects to {where}" in failed.message
    assert said.format(url=server.url) in failed.message


async def test_a_redirect_without_a_place_is_an_ordinary_failure():
    adapter = build("t", {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:1"})
    async with raw_server([whole(b"moved", status="302 Found")]) as server:
        table = adapter.settings.model_dump(exclude_none=True) | {"base_url": server.url}
        async with Gateway.open({"t": table}) as gateway:
            with pytest.raises(CallFailed, match="HTTP 302: moved"):
                await gateway.ask("t", chat("q"))


async def test_no_key_and_no_cookie_goes_where_it_was_not_meant_to(monkeypatch, tmp_path):
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login ada password Pa55word\n")
    monkeypatch.setenv("NETRC", str(netrc))
    async with raw_server([whole(b"{}", "Set-Cookie: a=b; Path=/")]) as server:
        transport = Transport()
        await transport.send(Target(server.url, {"X-Key": "sk-1"}), b"{}", LIMIT)
        await transport.send(Target(server.url, {}, "GET"), b"", LIMIT)
        await transport.close()
    assert "sk-1" in server.heads[0] and "sk-1" not in server.heads[1]
    assert all("cookie" not in head.lower() and "authorization" not in head.lower() for head in server.heads)
