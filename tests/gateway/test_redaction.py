"""Keys leave by the header and by nothing else."""

import logging
import traceback
from base64 import b64decode, b64encode, urlsafe_b64encode
from urllib.parse import quote

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.catalog import build
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.events import EventLog
from gateway.secrets import MARK, Redactor
from runstore.journal import Journal
from runstore.problems import Problem
from tests.support import fake_shapes
from tests.support.asking import chat
from tests.support.fake_faults import FAULTS, Reply

SECRET = "test-KEY-93f1-not-real"
FAILURES = [
    "400",
    "404-model",
    "503",
    "reset",
    "hang",
    "401",
    "cut-body",
    "html-200",
    "429-plain",
    "echo",
    "echo-ok",
]


def chain(error: BaseException) -> str:
    """Everything that a report of an exception could show, hidden causes too."""
    texts, seen = [], set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        texts += [str(one), repr(one), repr(vars(one)), *traceback.format_exception(one)]
        todo += [one.__cause__, one.__context__]
    return "\n".join(texts)


def script(kind: str):
    if kind == "echo":
        return lambda asked, attempt: Reply(orjson.dumps({"error": {"message": f"bad {asked.headers}"}}), 400)
    if kind == "echo-ok":
        return lambda asked, attempt: Reply(orjson.dumps({"said": str(asked.headers), "error": None}))
    assert kind in FAULTS
    return lambda asked, attempt: kind


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("kind", ["openai", "gemini", "anthropic", "http", "key in address"])
async def test_the_key_is_in_a_header_and_nowhere_else(provider, tmp_path, caplog, capfd, kind, failure):
    caplog.set_level(logging.DEBUG)
    provider.script = script(failure)
    common = {"timeout_s": 0.1, "retries": 1}
    if kind == "key in address":
        raw = provider.settings("http", **common)
        raw["url"] = raw["url"] + "?key=${THE_KEY}"
    elif kind == "http":
        raw = provider.settings("http", headers={"X-Api-Key": "${THE_KEY}"}, **common)
    else:
        raw = provider.settings(kind, api_key_env="THE_KEY", **common)
    environ = {"THE_KEY": SECRET}
    journal = Journal(tmp_path / "journal")
    gateway = Gateway({"t": build("t", raw, environ=environ)}, journal=journal, environ=environ)
    gateway.events = EventLog(tmp_path / "log.jsonl", gateway.redactor)
    told = []
    gateway.notify = told.append
    ends = []
    async with gateway:
        for number in range(7 if failure == "401" else 1):
            try:
                ends.append(str(await gateway.ask("t", chat(f"q{number}"))))
            except CallFailed as failed:
                ends.append(chain(failed))
    journal.close()
    gateway.events.close()
    assert provider.requests
    carried = [orjson.dumps(asked.headers).decode() for asked in provider.requests]
    if kind != "key in address":
        assert all(SECRET in headers for headers in carried)
    everything = "\n".join([*ends, *told, caplog.text, *capfd.readouterr()])
    for path in tmp_path.rglob("*"):
        everything += path.name + (path.read_text("utf-8") if path.is_file() else "")
    assert SECRET not in everything
    assert not any(SECRET in asked.path for asked in provider.requests if kind != "key in address")


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40))
def test_a_key_is_found_however_it_is_written(secret):
    redactor = Redactor([secret])
    for form in (
        secret,
        orjson.dumps(secret).decode(),
        quote(secret, safe=""),
        orjson.dumps({"a": [secret]}).decode(),
    ):
        cleaned = redactor.text(f"before {form} after")
        assert secret not in cleaned.replace(MARK, "")
        assert orjson.dumps(secret)[1:-1].decode() not in cleaned.replace(MARK, "")
    assert redactor.data(secret.encode()) == MARK.encode() or secret in MARK


def test_a_number_that_holds_a_keys_digits_leaves_json_as_it_is():
    body = b'{"created":1712345678,"a":["12345678"]}'
    assert orjson.loads(Redactor(["12345678"]).data(body)) == {"created": 1712345678, "a": [MARK]}


@pytest.mark.parametrize("around", ['"', "'"])
def test_a_key_that_was_read_with_its_quotes_is_found_without_them(around):
    redactor = Redactor([f"{around}sk-0123456789{around}"])
    assert redactor.data(b'{"said":"sk-0123456789"}') == orjson.dumps({"said": MARK})
    assert redactor.text("the key sk-0123456789 is wrong") == f"the key {MARK} is wrong"


@pytest.mark.parametrize("before", ["", "u", "us", "user:"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_key_inside_of_a_text_in_base64_is_found(before, encode):
    secret = "sk-a?c/DEF+ghi>jkl012"
    shown = Redactor([secret]).text(encode(f"{before}{secret} and more".encode()).decode())
    assert MARK in shown
    left = "".join(shown.split(MARK))
    assert secret[4:8].encode() not in b64decode(left + "=" * (-len(left) % 4), altchars=None)


def test_a_key_that_is_spelt_out_is_found():
    redactor = Redactor(["sk-abc/DEF+ghi"])
    assert redactor.data(rb'{"a":"\u0073k-abc\/DEF+ghi"}') == b'{"a":"[redacted]"}'
    assert redactor.data(rb'{"a":"sk-abc\/DEF+ghi"') == b'{"a":"[redacted]"'
    assert redactor.text("?key=sk-abc%2fDEF%2bghi") == "?key=[redacted]"
    same = rb'{"a":"\u00e9\ud55c"}'
    assert redactor.data(same) is same


@pytest.mark.parametrize(
    "key", ["qwhzkvbtnrxmpdfj", "QWHZKVBTNRXMPDFJ", "qwhzkvbtnrxmpdfjglcsyoeuiaqwhzkv", "qWhZkVbT"]
)
async def test_a_key_of_letters_alone_is_taken_and_redacted(provider, key):
    """As app passwords are; here and elsewhere."""
    environ = {"THE_KEY": key}
    far = {"kind": "openai", "model": "m", "base_url": "http://tutor.example/v1", "api_key_env": "THE_KEY"}
    adapters = {
        "near": build("near", provider.settings("openai", api_key_env="THE_KEY"), environ=environ),
        "far": build("far", far, environ=environ),
    }
    async with Gateway(adapters, environ=environ) as gateway:
        assert gateway.redactor.text(f"Is there {key} here?") == "Is there [redacted] here?"


@pytest.mark.parametrize("key", ["anything", "assistant", "Password", "PLACEHOLDER", "completion_tokens"])
async def test_a_word_for_a_key_at_home_is_left_in_what_is_said(provider, key):
    said = f"Is there {key} here?"
    provider.script = lambda asked, _: Reply(fake_shapes.answer(asked, said))
    environ = {"THE_KEY": key}
    adapter = build("t", provider.settings("openai", api_key_env="THE_KEY"), environ=environ)
    async with Gateway({"t": adapter}, environ=environ) as gateway:
        answer = await gateway.ask("t", chat("q"))
    assert answer.text == said
    assert answer.usage.output is not None


def test_the_longer_of_two_keys_is_replaced_whole_and_short_words_are_left_alone():
    redactor = Redactor(["sk-12345", "sk-12345-long", "abc"])
    assert redactor.text("sk-12345-long sk-12345 abc") == f"{MARK} {MARK} abc"


def test_our_own_structure_is_never_rewritten():
    line = orjson.dumps(
        {
            "endpoint": "response-tutor",
            "where": ["response-stage", "item"],
            "response": [{"response": "the key is response", "n": 12345678}],
            "failure": {"kind": "response", "message": "not response"},
        }
    )
    cleaned = orjson.loads(Redactor(["response", "12345678"]).record(line))
    assert cleaned == {
        "endpoint": "response-tutor",
        "where": ["response-stage", "item"],
        "response": [{MARK: f"the key is {MARK}", "n": 12345678}],
        "failure": {"kind": "response", "message": f"not {MARK}"},
    }
    tail = b"," + line[1:-1]
    assert orjson.loads(b"{" + Redactor(["response"]).record(tail)[1:] + b"}")["endpoint"] == "response-tutor"


REMOTE = "https://models.example/v1"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("short", "shorter than 8"),
        ("fake-model-1", "also stands in"),
        ("far-away", "also stands in"),
        ("anything", "is a word"),
        ("student_verdicts", "is a word"),
        ("responsibility", "is a word"),
    ],
)
@pytest.mark.parametrize("kind", ["openai", "http"])
def test_a_key_that_could_not_be_told_from_the_configuration_is_refused_at_the_start(kind, value, words):
    raw = {"kind": "openai", "model": "fake-model-1", "base_url": REMOTE, "api_key_env": "THE_KEY"}
    if kind == "http":
        raw = {"kind": "http", "url": REMOTE, "model": "fake-model-1", "headers": {"X-Api-Key": "${THE_KEY}"}}
    environ = {"THE_KEY": value}
    with pytest.raises(Problem) as caught:
        Gateway({"far-away": build("far-away", raw, environ=environ)}, environ=environ)
    assert "endpoints.far-away" in str(caught.value) and words in str(caught.value)
    raw |= {"base_url": "http://127.0.0.1:9/v1"} if kind == "openai" else {"url": "http://localhost:9/v1"}
    gateway = Gateway({"far-away": build("far-away", raw, environ=environ)}, environ=environ)
    assert gateway.redactor.text(f"at home {value} is a word") == f"at home {value} is a word"
