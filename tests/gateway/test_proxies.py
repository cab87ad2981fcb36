"""Proxies: who is reached through which, what each of them sees, and that no password is ever shown."""

import asyncio

import pytest
import uvloop

from gateway import proxies
from gateway.engine import Gateway
from gateway.errors import CallFailed, Forbidden
from gateway.events import EventLog
from gateway.secrets import MARK
from runstore.journal import Journal
from runstore.problems import Problem
from tests.support.asking import chat, endpoint
from tests.support.proxy_server import proxy_server
from tests.support.raw_server import raw_server, whole

KEYS = {"KEY": "sk-abcdefgh"}
REPLY = whole(b'{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}')


def table(base_url: str, **more):
    return {
        "t": {"kind": "openai", "model": "m", "base_url": base_url, "api_key_env": "KEY", "retries": 0, **more}
    }


async def ask(endpoints, times: int = 1, **options) -> list[str]:
    async with asyncio.timeout(20), Gateway.open(endpoints, environ=KEYS, **options) as gateway:
        return [(await gateway.ask("t", chat(f"q{number}"))).text for number in range(times)]


async def failure(endpoints, **options) -> CallFailed:
    with pytest.raises(CallFailed) as caught:
        await ask(endpoints, **options)
    return caught.value


async def test_plain_addresses_go_whole_to_the_proxy_of_the_environment(monkeypatch):
    async with raw_server([REPLY]) as server, proxy_server(server.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.address)
        assert await ask(table("http://tutor.invalid/v1"), times=3) == ["fine"] * 3
        assert proxy.heads[0].startswith("POST http://tutor.invalid/v1/chat/completions HTTP/1.1\r\n")
        assert "authorization: bearer sk-abcdefgh" in server.heads[0].lower()
        assert "proxy-" not in proxy.heads[0].lower()
        assert server.connections == 1


@pytest.mark.parametrize("credentials", [None, "ada:Pa55:wo@rd"])
async def test_a_tunnel_for_https_shows_the_proxy_neither_key_nor_question(
    own_authority, monkeypatch, credentials
):
    await tunnel(own_authority, monkeypatch, credentials)


def test_a_tunnel_is_made_on_the_loop_of_the_commands(own_authority, monkeypatch):
    uvloop.run(tunnel(own_authority, monkeypatch, "ada:Pa55:wo@rd"))


async def tunnel(own_authority, monkeypatch, credentials):
    monkeypatch.setenv("SSL_CERT_FILE", str(own_authority.certificate))
    async with (
        raw_server([REPLY], tls=own_authority.server_context) as server,
        proxy_server(server.port, credentials=credentials) as proxy,
    ):
        before = "ada:Pa55%3Awo%40rd@" if credentials else ""
        monkeypatch.setenv("HTTPS_PROXY", f"http://{before}{proxy.address}")
        assert await ask(table("https://tutor.invalid/v1"), times=3) == ["fine"] * 3
        assert proxy.heads[0].startswith("CONNECT tutor.invalid:443 HTTP/1.1\r\n")
        assert len(proxy.heads) == 1 and server.connections == 1
        assert "sk-abcdefgh" not in proxy.heads[0]
        assert "authorization: bearer sk-abcdefgh" in server.heads[0].lower()
        assert "proxy-authorization" not in server.heads[0].lower()


async def test_a_proxy_with_credentials_takes_plain_addresses(monkeypatch):
    async with raw_server([REPLY]) as server, proxy_server(server.port, credentials="ada:Pa55word") as proxy:
        monkeypatch.setenv("ALL_PROXY", f"ada:Pa55word@{proxy.address}")
        assert await ask(table("http://tutor.invalid/v1"), times=2) == ["fine"] * 2
        assert "proxy-authorization" not in server.heads[0].lower()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_wrong_credentials_are_a_permanent_failure_that_shows_none(tmp_path, monkeypatch, scheme):
    journal = Journal(tmp_path / "journal")
    events = EventLog(tmp_path / "log.jsonl")
    async with raw_server([REPLY]) as server, proxy_server(server.port, credentials="ada:right") as proxy:
        monkeypatch.setenv(f"{scheme.upper()}_PROXY", f"http://ada:Wr0ngOne@{proxy.address}")
        failed = await failure(table(f"{scheme}://tutor.invalid/v1", retries=5), journal=journal, events=events)
        assert failed.kind == "auth" and failed.attempts == 1
        assert f"the proxy http://{proxy.address} asks for a user name and password" in failed.message
        assert server.heads == []
    journal.close()
    events.close()
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*.jsonl"))
    assert written and b"Wr0ngOne" not in written


async def test_a_password_that_a_server_says_back_is_taken_out(monkeypatch, tmp_path):
    said = b'{"error":{"message":"you are YWRhOlBhNTV3b3Jk, that is ada:Pa55word"}}'
    journal = Journal(tmp_path)
    async with raw_server([whole(said, status="400 Bad Request")]) as server, proxy_server(server.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://ada:Pa55word@{proxy.address}")
        failed = await failure(table("http://tutor.invalid/v1"), journal=journal)
    journal.close()
    assert f"you are {MARK}, that is ada:{MARK}" in failed.message
    assert all(b"Pa55word" not in path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


@pytest.mark.parametrize(
    ("refuses", "again"), [("403 Forbidden", False), ("502 Bad Gateway", True), ("503 Busy", True)]
)
async def test_a_proxy_that_does_not_connect_is_named(monkeypatch, refuses, again):
    async with raw_server([REPLY]) as server, proxy_server(server.port, refuses=refuses) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:Pa55word@{proxy.address}")
        failed = await failure(table("https://tutor.invalid/v1", retries=1, longest_wait_s=1))
        assert failed.kind == "connection" and failed.attempts == (2 if again else 1)
        assert f"the proxy http://{proxy.address} does not connect: HTTP {refuses[:3]}" in failed.message


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_is_not_there_is_named(monkeypatch, scheme):
    async with proxy_server(9) as proxy:
        gone = proxy.address
    monkeypatch.setenv("ALL_PROXY", f"http://ada:Pa55word@{gone}")
    failed = await failure(table(f"{scheme}://tutor.invalid/v1"))
    assert failed.kind == "connection" and "Pa55word" not in failed.message
    assert (
        f"cannot connect to tutor.invalid:{443 if scheme == 'https' else 80} through the proxy" in failed.message
    )
    assert f"http://{gone}" in failed.message


async def test_an_endpoint_names_a_proxy_of_its_own_or_none(monkeypatch):
    environ = KEYS | {"PROXY_PASSWORD": "Pa55:wo@rd"}
    async with raw_server([REPLY]) as server, proxy_server(server.port, credentials="ada:Pa55:wo@rd") as proxy:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        own = table(server.url + "/v1", proxy="http://ada:${PROXY_PASSWORD}@" + proxy.address)
        async with Gateway.open(own, environ=environ) as gateway:
            assert (await gateway.ask("t", chat("q"))).text == "fine"
            assert gateway.endpoints["t"].proxies == [f"http://{proxy.address}"]
            assert "Pa55:wo@rd" in gateway.endpoints["t"].secrets
        assert len(proxy.heads) == 1
        assert await ask(table(server.url + "/v1", proxy=False)) == ["fine"]
        assert await ask(table(server.url + "/v1")) == ["fine"], "this machine is not asked through a proxy"
        assert len(proxy.heads) == 1


async def test_hosts_that_are_exempt_are_asked_directly(monkeypatch):
    async with raw_server([REPLY]) as server, proxy_server(server.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        monkeypatch.setenv("NO_PROXY", "example.org, .invalid")
        failed = await failure(table("http://tutor.invalid/v1"))
        assert "cannot find tutor.invalid" in failed.message and proxy.heads == []


@pytest.mark.parametrize(
    ("host", "exempt", "expected"),
    [
        ("example.com", "a.example b.example example.com", True),
        ("example.com", "example.com.", True),
        ("xn--3e0b707e.kr", "한국.kr", True),
        ("sub.한국.kr", "xn--3e0b707e.kr", True),
        ("api.example.org", "example.org", True),
        ("api.example.org", ".example.org", True),
        ("api.example.org", "*.example.org", True),
        ("API.example.org", "Example.ORG", True),
        ("badexample.org", "example.org", False),
        ("example.org", ".example.org", True),
        ("api.example.org", "example.org:8080", False),
        ("api.example.org", "example.org:443", True),
        ("api.example.org", "*", True),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8, 192.168.0.0/16", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3:443", True),
        ("10.1.2.3", "10.1.2.3:80", False),
        ("fd00::1", "fd00::/8", True),
        ("fd00::1", "[fd00::1]", True),
        ("fd00::1", "[fd00::1]:80", False),
        ("fd00::1", "10.0.0.0/8", False),
        ("api.example.org", " , ", False),
        ("api.example.org", ".", False),
    ],
)
def test_who_is_exempt(host, exempt, expected):
    assert proxies.is_exempt(host, 443, exempt) is expected


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("socks5://ada:Pa55word@127.0.0.1:1080", "a socks5 proxy, which is not supported"),
        ("socks5h://127.0.0.1:1080", "a socks5h proxy, which is not supported"),
        ("ftp://127.0.0.1", "no address of an HTTP proxy"),
        ("http://ada:Pa55word@", "no address"),
        ("http://ada:Pa55word@127.0.0.1:99999", "no address"),
        ("http://ada:Pa55#word@127.0.0.1:3128", "no address"),
    ],
)
def test_what_is_no_proxy_that_can_be_used_is_refused_before_the_first_call(monkeypatch, address, said):
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(Problem, match=r"^HTTPS_PROXY: ") as caught:
        Gateway.open(table("https://tutor.invalid/v1"), environ=KEYS)
    assert said in str(caught.value) and "Pa55" not in str(caught.value)
    Gateway.open(table("https://tutor.invalid/v1", proxy=False), environ=KEYS)
    Gateway.open(table("https://tutor.invalid/v1"), offline=True)
    with pytest.raises(Problem, match=r"^endpoints\.t\.proxy: ") as caught:
        Gateway.open(table("https://tutor.invalid/v1", proxy="${MINE}"), environ=KEYS | {"MINE": address})
    assert said in str(caught.value) and "Pa55" not in str(caught.value)


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://ada:Pa55word@127.0.0.1:3128", "proxy: holds a password"),
        ("http://Pa55word@127.0.0.1:3128", "proxy: holds a password"),
        ("socks5://127.0.0.1:1080", "a socks5 proxy, which is not supported"),
        ("", "no address"),
        (True, "proxy: found true"),
    ],
)
def test_a_proxy_in_the_configuration_is_checked_and_holds_no_password(proxy, said):
    with pytest.raises(Problem, match=r"^endpoints\.tutor\.proxy: ") as caught:
        endpoint(table("http://127.0.0.1:1/v1", proxy=proxy)["t"])
    assert said in str(caught.value) and "Pa55" not in str(caught.value)


def test_a_variable_that_a_proxy_needs_is_named():
    with pytest.raises(Problem, match=r"endpoints\.t\.proxy: the environment variable MINE is not set"):
        Gateway.open(table("http://127.0.0.1:1/v1", proxy="${MINE}"), environ=KEYS)


async def test_where_calls_are_switched_off_a_proxy_elsewhere_is_not_asked(monkeypatch):
    monkeypatch.setenv("TUTOR_ARENA_FORBID_CALLS", "1")
    with pytest.raises(Forbidden, match=r"proxy\.invalid was not asked"):
        await ask(table("http://127.0.0.1:1/v1", proxy="http://proxy.invalid:3128"))


def test_a_proxy_shows_no_password():
    proxy = proxies.parsed("http://ada:Pa55word@proxy.example:3128/x?y")
    assert proxy.shown == "http://proxy.example:3128"
    assert "Pa55word" not in repr(proxy)
    assert "YWRhOlBhNTV3b3Jk" in proxy.secrets and "Pa55word" in proxy.secrets
