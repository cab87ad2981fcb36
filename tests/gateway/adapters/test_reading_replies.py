"""Bodies, contents and endings as providers really send them."""

from __future__ import annotations

import pytest

from gateway.adapters import reading
from gateway.adapters.base import WireReply
from gateway.errors import Fault
from runstore.records import Usage

THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "They forgot to carry."}]}


def test_half_an_emoji_becomes_a_replacement_character_and_whole_ones_stay() -> None:
    body = (
        b'{"a":"Nice \\ud83d work","b":"\\ud83d\\udc4d","c":"\\u0645\\u0631\\u062d\\u0628\\u0627","n":[1.5,null]}'
    )
    data = reading.load(WireReply(200, {}, body))
    assert data == {"a": "Nice � work", "b": "👍", "c": "مرحبا", "n": [1.5, None]}
    data["a"].encode()


@pytest.mark.parametrize(
    "body", [b"", b"data: {}", b"<html>x</html>", b'{"a":', b"\xff\xfe\x00", b"[1]", b"null", b"7"]
)
def test_anything_but_a_json_object_is_malformed_and_may_pass(body: bytes) -> None:
    with pytest.raises(Fault) as caught:
        reading.load(WireReply(200, {"content-type": "text/html"}, body))
    assert (caught.value.kind, caught.value.retry.again) == ("malformed", "transient")


def test_deep_nesting_is_malformed_not_a_crash() -> None:
    with pytest.raises(Fault):
        reading.load(WireReply(200, {}, b"[" * 200_000))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([], ""),
        (
            [THINKING, {"type": "text", "text": "Look at the "}, {"type": "text", "text": "tens."}],
            "Look at the tens.",
        ),
        ([{"text": "hint", "thought": True}, {"text": "What is 5?"}], "What is 5?"),
        (["a", "b"], "ab"),
        ([{"type": "image_url"}, {"type": "text", "text": None}, 3, None], ""),
    ],
)
def test_content_is_a_string_or_a_list_of_chunks(content: object, text: str) -> None:
    assert reading.joined(content) == text


@pytest.mark.parametrize("content", [3, {"text": "x"}, True])
def test_other_content_is_malformed(content: object) -> None:
    with pytest.raises(Fault, match="expected text"):
        reading.joined(content)


@pytest.mark.parametrize(
    ("text", "is_leak"),
    [
        ("THOUGHT: the answer is 42, do not say so.\n\nWhat have you tried so far?", True),
        ("Thoughts: hm", True),
        ("<think>so</think>What next?", True),
        ("so</think>\nWhat next?", True),
        ("**Thought:** they forgot to carry.\n\nWhat next?", True),
        ("thought\nThe student is wrong.\n\nWhat next?", True),
        ("[THINK]it is 42[/THINK]What next?", True),
        ("<reasoning>it is 42</reasoning>What next?", True),
        ("◁think▷it is 42◁/think▷What next?", True),
        ("<|channel|>analysis<|message|>it is 42<|end|><|channel|>final<|message|>What next?", True),
        ("analysisIt is 42.assistantfinalWhat next?", True),
        ("What do you think? Explain your reasoning: why 42?", False),
        ("I thought: why not?", False),
        ("A thoughtful guess. What do you think of it?", False),
        ("Your THOUGHT process is fine", False),
    ],
)
def test_text_that_looks_like_reasoning_is_kept_and_warned_about(text: str, is_leak: bool) -> None:
    answer = reading.settle(text, Usage())
    assert answer.text == text
    assert answer.warnings == ((reading.LEAKED_REASONING,) if is_leak else ())


BLANKS = [
    "\u200b",
    "\u2060",
    "\ufeff",
    "\u3164",
    "\u2800",
    "\u00ad",
    "\0",
    "<think>so</think>",
    "<|channel|>analysis<|message|>it is 42<|end|>",
    "<think>so",
    "\u3164 \u2800\n",
]


@pytest.mark.parametrize("text", ["", " \n\t", *BLANKS])
def test_a_reply_without_text_is_empty_and_may_pass(text: str) -> None:
    with pytest.raises(Fault) as caught:
        reading.settle(text, Usage(input=1, output=0))
    assert (caught.value.kind, caught.value.retry.again, caught.value.usage) == (
        "empty",
        "transient",
        Usage(input=1, output=0),
    )


def test_a_cut_reply_is_no_answer_unless_the_endpoint_accepts_it() -> None:
    with pytest.raises(Fault) as caught:
        reading.settle("The first", Usage(input=9, output=4), cut="length", limit=4)
    assert (caught.value.kind, caught.value.text, caught.value.retry.again) == ("truncated", "The first", "no")
    usage = Usage(input=9, output=4)
    assert reading.settle("The first", usage, cut="length", accept_truncated=True).finish == "length"
    with pytest.raises(Fault, match="before any text"):
        reading.settle(" ", Usage(input=9, output=4), cut="length", accept_truncated=True)


@pytest.mark.parametrize(
    ("value", "count"),
    [(3, 3), (3.0, 3), (None, None), ("3", None), (-1, None), (True, None)]
    + [(value, None) for value in (2e19, 10**20, 1e308, 1e15, 3.5, float("nan"), float("inf"), {}, [])],
)
def test_token_counts_may_be_anything(value: object, count: int | None) -> None:
    assert reading.count(value) == count
