"""The wire itself, against a server that sends exactly the bytes of each test."""

import asyncio
import ssl
import subprocess

import pytest

from gateway.errors import Fault
from gateway.http1 import Pool, Target
from tests.support.raw_server import CLOSE, RESET, STALL, raw_server, whole

LARGEST = 1 << 20


async def post(pool: Pool, url: str, body: bytes = b"{}", **headers: str):
    async with asyncio.timeout(20):
        return await pool.post(Target(url, headers), body, largest=LARGEST)


async def fault_of(pool: Pool, url: str) -> Fault:
    with pytest.raises(Fault) as caught:
        await post(pool, url)
    return caught.value


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("steps", "connections"),
    [
        ([whole(b'{"a":1}')], 1),
        ([whole(b'{"a":1}')[:20], 0.01, whole(b'{"a":1}')[20:]], 1),
        ([CHUNKED + b'3\r\n{"a\r\n', 0.01, b'4;x=y\r\n":1}\r\n0\r\nTrailer: 1\r\n\r\n'], 1),
        ([b'HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n{"a"', 0.01, b":1}", CLOSE], 2),
        ([b'HTTP/1.0 200 OK\r\n\r\n{"a":1}', CLOSE], 2),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" + whole(b'{"a":1}')], 1),
        ([whole(b'{"a":1}', "Connection: close"), CLOSE], 2),
    ],
    ids=["length", "in pieces", "chunked", "until the end", "HTTP/1.0", "100 first", "close asked"],
)
async def test_a_response_is_read_however_it_is_framed(steps, connections):
    async with raw_server(steps) as server:
        pool = Pool()
        for _ in range(2):
            reply = await post(pool, server.url + "/x")
            assert (reply.status, reply.body) == (200, b'{"a":1}')
        assert server.connections == connections
        await pool.close()


async def test_a_request_carries_path_host_headers_and_body_and_nothing_smuggled():
    async with raw_server([whole(b"{}")]) as server:
        pool = Pool()
        await post(pool, f"{server.url}/v1/뜻 b?x=1&y=%20", b'{"q":"\xc3\xa9"}', **{"X-Key": "k\r\nEvil: 1"})
        await pool.close()
    lines = server.heads[0].rstrip().split("\r\n")
    assert lines[0] == "POST /v1/%EB%9C%BB%20b?x=1&y=%20 HTTP/1.1"
    assert lines[1] == f"Host: 127.0.0.1:{server.port}"
    assert lines[2:] == ["X-Key: kEvil: 1", "Content-Length: 10"]
    assert server.bodies == [b'{"q":"\xc3\xa9"}']


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        ([whole(b'{"a":1}')[:-3], CLOSE], "connection", "the response was cut off"),
        ([b"HTTP/1.1 200 OK\r\nContent-Ty", CLOSE], "connection", "the server closed the connection"),
        ([b"HTTP/1.1 200 OK\r\nContent-Type: x\r\nA", CLOSE], "connection", "the response was cut off"),
        ([CHUNKED + b"5\r\n{", CLOSE], "connection", "the response was cut off"),
        ([CLOSE], "connection", "the server closed the connection"),
        ([RESET], "connection", "the server closed the connection"),
        ([whole(b"{}" * 99)[:90], RESET], "connection", "the response was cut off"),
        ([b"SSH-2.0-OpenSSH_9.6\r\n"], "malformed", "the response is not HTTP/1.1"),
        (
            [b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\nxx"],
            "malformed",
            "not HTTP/1.1",
        ),
        ([CHUNKED + b"zz\r\n{}\r\n"], "malformed", "the response is not HTTP/1.1"),
    ],
)
async def test_a_broken_response_is_a_named_transient_fault(steps, kind, message):
    async with raw_server(steps, [whole(b"{}")]) as server:
        pool = Pool()
        fault = await fault_of(pool, server.url)
        assert (fault.kind, fault.retry.again) == (kind, "transient")
        assert message in fault.message
        assert (await post(pool, server.url)).body == b"{}"
        await pool.close()


async def test_a_response_or_head_without_end_is_cut():
    endless = [b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65536] * 32, STALL]
    head = [b"HTTP/1.1 200 OK\r\n", *[b"X-A: " + b"y" * 60000 + b"\r\n"] * 32, STALL]
    async with raw_server(endless, head, [whole(b"x" * (1 << 20))]) as server:
        pool = Pool()
        assert "the response is larger than 1 MiB" in (await fault_of(pool, server.url)).message
        assert "headers are larger than 1 MiB" in (await fault_of(pool, server.url)).message
        assert len((await post(pool, server.url)).body) == 1 << 20
        await pool.close()


async def test_a_second_response_to_one_request_is_not_anybodys_answer():
    twice = whole(b'{"mine":1}') + whole(b'{"whose":1}')
    late = [whole(b'{"mine":2}'), 0.02, whole(b'{"whose":2}')]
    async with raw_server([twice], late, [whole(b'{"next":1}')]) as server:
        pool = Pool()
        assert (await post(pool, server.url)).body == b'{"mine":1}'
        await asyncio.sleep(0.02)
        assert (await post(pool, server.url)).body == b'{"mine":2}'
        await asyncio.sleep(0.1)
        assert (await post(pool, server.url)).body == b'{"next":1}'
        assert server.connections == 3
        await pool.close()


async def test_a_kept_connection_that_the_server_closed_is_not_used_again():
    async with raw_server(
        [whole(b'{"n":1}', "Connection: keep-alive"), 0.05, CLOSE], [whole(b'{"n":2}')]
    ) as server:
        pool = Pool()
        assert (await post(pool, server.url, b"1")).body == b'{"n":1}'
        await asyncio.sleep(0.3)
        assert (await post(pool, server.url, b"2")).body == b'{"n":2}'
        assert server.bodies == [b"1", b"2"]
        await pool.close()


async def test_a_cancelled_exchange_closes_its_connection():
    async with raw_server(
        [b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n0123456789", STALL], [whole(b"{}")]
    ) as server:
        pool = Pool()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await post(pool, server.url)
        await asyncio.sleep(0.05)
        assert server.gone == 1
        assert (await post(pool, server.url)).body == b"{}"
        await pool.close()
        await asyncio.sleep(0.05)
        assert server.gone == 2


async def test_many_at_once_and_one_after_the_other_share_connections():
    async with raw_server([0.02, whole(b"{}")]) as server:
        pool = Pool()
        await asyncio.gather(*(post(pool, server.url) for _ in range(20)))
        await asyncio.gather(*(post(pool, server.url) for _ in range(20)))
        assert server.connections == 20
        await pool.close()


async def test_ipv6_and_names_work():
    try:
        async with raw_server([whole(b"{}")], host="::1") as server:
            pool = Pool()
            assert (await post(pool, f"http://[::1]:{server.port}/")).status == 200
            assert f"Host: [::1]:{server.port}" in server.heads[0]
            await pool.close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")


async def test_nobody_there_and_no_such_name_are_transient_faults():
    async with raw_server([whole(b"{}")]) as server:
        closed = server.port
    pool = Pool()
    fault = await fault_of(pool, f"http://127.0.0.1:{closed}/")
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert f"cannot connect to 127.0.0.1:{closed}" in fault.message
    fault = await fault_of(pool, "http://no-such-host.invalid/")
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert "no-such-host.invalid" in fault.message
    await pool.close()


async def test_a_certificate_that_is_not_accepted_is_permanent_and_plain_text_on_tls_is_named(tmp_path):
    pem = tmp_path / "own.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", pem, "-out", tmp_path / "c.pem",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        capture_output=True,
    )  # fmt: skip
    if made.returncode != 0:
        pytest.skip("openssl cannot make a certificate here")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "c.pem", pem)
    async with raw_server([whole(b'{"tls":1}')], tls=context) as server:
        pool = Pool()
        fault = await fault_of(pool, f"https://localhost:{server.port}/")
        assert (fault.kind, fault.retry.again) == ("connection", "no")
        assert "the certificate of localhost is not accepted" in fault.message
        trusting = Pool()
        trusting._tls = ssl.create_default_context(cafile=str(tmp_path / "c.pem"))
        reply = await post(trusting, f"https://localhost:{server.port}/")
        assert reply.body == b'{"tls":1}'
        await trusting.close()
    await pool.close()


async def test_plain_text_where_tls_is_spoken_is_a_named_fault():
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pool = Pool()
    fault = await fault_of(pool, f"https://127.0.0.1:{port}/")
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert f"127.0.0.1:{port}" in fault.message
    await pool.close()
    server.close()
