"""The wire itself, against a server that sends exactly the bytes of each test."""

import asyncio

import pytest

from gateway.errors import Fault
from gateway.transport import Target, Transport
from tests.support.raw_server import CLOSE, RESET, STALL, raw_server, whole

LARGEST = 1_000_000


async def post(transport: Transport, url: str, body: bytes = b"{}", **headers: str):
    async with asyncio.timeout(20):
        return await transport.send(Target(url, headers), body, LARGEST)


async def fault_of(transport: Transport, url: str) -> Fault:
    with pytest.raises(Fault) as caught:
        await post(transport, url)
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
        transport = Transport()
        for _ in range(2):
            reply = await post(transport, server.url + "/x")
            assert (reply.status, reply.body) == (200, b'{"a":1}')
        assert server.connections == connections
        await transport.close()


async def test_a_request_carries_path_host_headers_and_body_and_nothing_smuggled():
    async with raw_server([whole(b"{}")]) as server:
        transport = Transport()
        await post(transport, f"{server.url}/v1/뜻 b?x=1&y=%20", b'{"q":"\xc3\xa9"}', **{"X-Key": "k\r\nEvil: 1"})
        await transport.close()
    lines = server.heads[0].rstrip().split("\r\n")
    assert lines[0] == "POST /v1/%EB%9C%BB%20b?x=1&y=%20 HTTP/1.1"
    assert lines[1] == f"Host: 127.0.0.1:{server.port}"
    assert lines[2:] == [
        "User-Agent: tutor-arena",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Content-Type: application/json",
        "X-Key: kEvil: 1",
        "Content-Length: 10",
    ]
    assert server.bodies == [b'{"q":"\xc3\xa9"}']


@pytest.mark.parametrize(
    ("steps", "kind", "message"),
    [
        ([whole(b'{"a":1}')[:-3], CLOSE], "connection", "the response was cut off"),
        ([b"HTTP/1.1 200 OK\r\nContent-Ty", CLOSE], "connection", "the server closed the connection"),
        ([b"HTTP/1.1 200 OK\r\nContent-Type: x\r\nA", CLOSE], "connection", "the server closed the connection"),
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
        transport = Transport()
        fault = await fault_of(transport, server.url)
        assert (fault.kind, fault.retry.again) == (kind, "transient")
        assert message in fault.message
        assert (await post(transport, server.url)).body == b"{}"
        await transport.close()


async def test_a_response_or_head_without_end_is_cut():
    endless = [b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65536] * 32, STALL]
    head = [b"HTTP/1.1 200 OK\r\n", *[b"X-A: " + b"y" * 60000 + b"\r\n"] * 32, STALL]
    async with raw_server(endless, head, [whole(b"x" * LARGEST)]) as server:
        transport = Transport()
        assert "the response is larger than 1 MB" in (await fault_of(transport, server.url)).message
        assert "headers are larger than 8 KB" in (await fault_of(transport, server.url)).message
        assert len((await post(transport, server.url)).body) == LARGEST
        await transport.close()


async def test_a_second_response_to_one_request_is_not_anybodys_answer():
    twice = whole(b'{"mine":1}') + whole(b'{"whose":1}')
    late = [whole(b'{"mine":2}'), 0.02, whole(b'{"whose":2}')]
    async with raw_server([twice], late, [whole(b'{"next":1}')]) as server:
        transport = Transport()
        assert (await post(transport, server.url)).body == b'{"mine":1}'
        await asyncio.sleep(0.02)
        assert (await post(transport, server.url)).body == b'{"mine":2}'
        await asyncio.sleep(0.1)
        assert (await post(transport, server.url)).body == b'{"next":1}'
        assert server.connections == 3
        await transport.close()


async def test_a_kept_connection_that_the_server_closed_is_not_used_again():
    async with raw_server(
        [whole(b'{"n":1}', "Connection: keep-alive"), 0.05, CLOSE], [whole(b'{"n":2}')]
    ) as server:
        transport = Transport()
        assert (await post(transport, server.url, b"1")).body == b'{"n":1}'
        await asyncio.sleep(0.3)
        assert (await post(transport, server.url, b"2")).body == b'{"n":2}'
        assert server.bodies == [b"1", b"2"]
        await transport.close()


async def test_a_cancelled_exchange_closes_its_connection():
    async with raw_server(
        [b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n0123456789", STALL], [whole(b"{}")]
    ) as server:
        transport = Transport()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await post(transport, server.url)
        await asyncio.sleep(0.05)
        assert server.gone == 1
        assert (await post(transport, server.url)).body == b"{}"
        await transport.close()
        await asyncio.sleep(0.05)
        assert server.gone == 2


async def test_many_at_once_and_one_after_the_other_share_connections():
    async with raw_server([0.02, whole(b"{}")]) as server:
        transport = Transport()
        await asyncio.gather(*(post(transport, server.url) for _ in range(20)))
        await asyncio.gather(*(post(transport, server.url) for _ in range(20)))
        assert server.connections == 20
        await transport.close()


async def test_ipv6_and_names_work():
    try:
        async with raw_server([whole(b"{}")], host="::1") as server:
            transport = Transport()
            assert (await post(transport, f"http://[::1]:{server.port}/")).status == 200
            assert f"Host: [::1]:{server.port}" in server.heads[0]
            await transport.close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")


async def test_nobody_there_and_no_such_name_are_transient_faults():
    async with raw_server([whole(b"{}")]) as server:
        closed = server.port
    transport = Transport()
    fault = await fault_of(transport, f"http://127.0.0.1:{closed}/")
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert f"cannot connect to 127.0.0.1:{closed}" in fault.message
    fault = await fault_of(transport, "http://no-such-host.invalid/")
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert "no-such-host.invalid" in fault.message
    await transport.close()


async def test_a_certificate_that_is_not_accepted_is_permanent(own_authority):
    async with raw_server([whole(b'{"tls":1}')], tls=own_authority.server_context) as server:
        transport = Transport()
        fault = await fault_of(transport, f"https://localhost:{server.port}/")
        assert (fault.kind, fault.retry.again) == ("connection", "no")
        assert "the certificate of localhost is not accepted" in fault.message
        await transport.close()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
async def test_an_authority_of_ones_own_is_named_by_the_usual_variables(own_authority, monkeypatch, variable):
    monkeypatch.setenv(variable, str(own_authority.certificate))
    async with raw_server([whole(b'{"tls":1}')], tls=own_authority.server_context) as server:
        transport = Transport()
        assert (await post(transport, f"https://localhost:{server.port}/")).body == b'{"tls":1}'
        await transport.close()


async def test_a_file_of_certificates_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    missing, empty = tmp_path / "no.pem", tmp_path / "empty.pem"
    empty.write_text("")
    for path, reason in ((missing, "No such file"), (empty, "no certificates")):
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        transport = Transport()
        fault = await fault_of(transport, "https://127.0.0.1:9/")
        assert (fault.kind, fault.retry.again) == ("connection", "no")
        assert fault.message.startswith(f"SSL_CERT_FILE: {path} cannot be used") and reason in fault.message
        await transport.close()


async def test_answers_on_every_kept_connection_are_nobodys_answer():
    answered_twice = [0.02, whole(b'{"mine":1}'), 0.02, whole(b'{"whose":1}')]
    async with raw_server(*[answered_twice] * 10, [whole(b'{"next":1}')]) as server:
        transport = Transport()
        await asyncio.gather(*(post(transport, server.url) for _ in range(10)))
        await asyncio.sleep(0.2)
        replies = await asyncio.gather(*(post(transport, server.url) for _ in range(10)))
        assert {reply.body for reply in replies} == {b'{"next":1}'}
        assert server.connections == 20
        await transport.close()


async def test_a_server_that_speaks_before_it_is_asked_ends_in_a_named_fault():
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    transport = Transport()
    fault = await fault_of(transport, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    assert fault.retry.again == "transient"
    await transport.close()
    server.close()


async def test_a_name_that_a_request_cannot_have_is_a_permanent_fault():
    async with raw_server([whole(b"{}")]) as server:
        transport = Transport()
        with pytest.raises(Fault, match="the head is not allowed in HTTP") as caught:
            await post(transport, server.url, **{"X-Bad": "a\0b"})
        assert caught.value.retry.again == "no" and server.heads == []
        await transport.close()


async def test_plain_text_where_tls_is_spoken_is_a_named_fault():
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = Transport()
    fault = await fault_of(transport, f"https://127.0.0.1:{port}/")
    assert (fault.kind, fault.retry.again) == ("connection", "transient")
    assert f"127.0.0.1:{port}" in fault.message
    await transport.close()
    server.close()
