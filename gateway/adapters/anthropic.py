"""Claude's messages, with the version of the interface pinned."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from gateway.adapters import classify, reading
from gateway.adapters.base import EndpointSettings, Wire
from gateway.adapters.vendor import (
    LEAST_THINKING,
    NO_SEED,
    Vendor,
    VendorSettings,
    claude_thinks,
    given,
    in_range,
    messages_json,
)
from gateway.adapters.waits import Clock
from gateway.answers import says_something
from gateway.errors import NO, Fault
from gateway.prompt import Answer, Message, Prompt
from runstore.numbers import Whole, YesNo
from runstore.records import Usage

_PUBLIC = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_PATH = "/v1/messages"
_LIMIT = 1024
_MARK_BEGINS, _MARK_ENDS = b'[{"type":"text","text":', b',"cache_control":{"type":"ephemeral"}}]'
_SAMPLING = re.compile(r"\b(temperature|top_p|top_k)\b")


class AnthropicSettings(VendorSettings):
    """``max_output_tokens`` must be sent, so it has a default here. ``cache_prompt`` marks the system text.

    ``"dialogue"`` marks what has been said too, up to the last message that the next call sends again. These marks
    are no part of what the journal knows a call by: with and without them it is the same call.
    """

    useless: ClassVar[Mapping[str, str]] = NO_SEED

    max_output_tokens: Whole | None = Field(default=_LIMIT, gt=0)
    thinking_budget: Whole | None = Field(default=None, ge=LEAST_THINKING)
    cache_prompt: YesNo | Literal["dialogue"] = False

    @model_validator(mode="after")
    def _only_what_is_sent(self) -> AnthropicSettings:
        in_range("temperature", self.temperature, 0, 1)
        in_range("top_p", self.top_p, 0, 1)
        claude_thinks(self, "thinking_budget", self.thinking_budget, self.max_output_tokens or _LIMIT)
        return self


class AnthropicAdapter(Vendor):
    """Bodies of ``POST /v1/messages``; ``system`` stands at the top level."""

    Settings: ClassVar[type[EndpointSettings]] = AnthropicSettings
    reads_again = True

    def __init__(self, settings: AnthropicSettings, *, now: Clock = time.time) -> None:
        super().__init__(settings, _PUBLIC, now)
        self._limit = settings.max_output_tokens or _LIMIT
        self._head = reading.dumps({"model": settings.model, "max_tokens": self._limit})[:-1]
        budget = settings.thinking_budget
        thinking = None if budget is None else {"type": "enabled", "budget_tokens": budget}
        rest = given(temperature=settings.temperature, top_p=settings.top_p, thinking=thinking)
        self._tail = b"," + reading.dumps(rest)[1:] if rest else b"}"

    def headers(self, key: str | None) -> dict[str, str]:
        known = {"Content-Type": "application/json", "anthropic-version": _VERSION}
        return known | {"x-api-key": key} if key else known

    def compose(self, prompt: Prompt) -> bytes:
        messages = self.said(prompt)
        parts = [self._head]
        if messages and messages[0].role == "system":
            system = _marked(messages[0].content) if self.settings.cache_prompt else messages[0].content
            parts += [b',"system":', reading.dumps(system)]
            messages = messages[1:]
        parts += [b',"messages":', self._said(prompt, messages)]
        if prompt.schema is not None:
            form = {"format": {"type": "json_schema", "schema": prompt.schema.schema}}
            parts += [b',"output_config":', reading.dumps(form)]
        parts.append(self._tail)
        return b"".join(parts)

    def _said(self, prompt: Prompt, messages: Sequence[Message]) -> bytes:
        """A student's last message may end in a direction that the next call does not send; a teacher's not."""
        last = len(messages) - (2 if prompt.role == "student" else 1)
        if self.settings.cache_prompt != "dialogue" or prompt.role not in ("student", "teacher") or last < 0:
            return messages_json(messages)
        rows: list[dict[str, Any]] = [{"role": each.role, "content": each.content} for each in messages]
        rows[last]["content"] = _marked(messages[last].content)
        return reading.dumps(rows)

    def known_by(self, sent: bytes) -> bytes:
        """What the journal's key is made of: no quotation mark inside a JSON text can look like these."""
        if self.settings.cache_prompt != "dialogue":
            return sent
        return sent.replace(_MARK_BEGINS, b"").replace(_MARK_ENDS, b"")

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        reply = await wire.post(_PATH, sent)
        if reply.status != 200:
            raise _explained(classify.fault(reply, self._now))
        body = reading.load(reply)
        if body.get("error"):
            raise classify.embedded_fault(body["error"], reply, self._now)
        text = reading.joined(body.get("content"))
        usage, warnings = _usage(body)
        stop = reading.word(body.get("stop_reason"))
        request_id = reply.headers.get("request-id") or body.get("id")
        if stop == "refusal":
            raise Fault(
                "refused", "refused: stop reason refusal", NO, text=text, usage=usage, request_id=request_id
            )
        if stop == "model_context_window_exceeded":
            message = "the model's context window is full: stop reason model_context_window_exceeded"
            raise Fault("context_length", message, NO, text=text, usage=usage, request_id=request_id)
        if not says_something(text) and ((tools := _called(body)) or stop == "tool_use"):
            raise reading.called_tool(tools, usage)
        return reading.settle(
            text,
            usage,
            model=body.get("model"),
            request_id=request_id,
            cut=reading.cut(stop, usage, self._limit),
            limit=self._limit,
            accept_truncated=self.settings.accept_truncated,
            warnings=warnings,
        )


def _marked(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


def _called(body: dict[str, Any]) -> list[object]:
    """The names of the tools that a reply calls."""
    blocks = [reading.as_dict(block) for block in reading.as_list(body.get("content"))]
    return [block.get("name") for block in blocks if block.get("type") == "tool_use"]


def _explained(fault: Fault) -> Fault:
    """Newer models refuse sampling settings; only what the user set was sent, so the user can take it out."""
    setting = _SAMPLING.search(fault.message) if fault.kind == "bad_request" else None
    if setting is None:
        return fault
    hint = f"this model may not take {setting[1]}: leave it out of the endpoint's settings"
    return Fault(fault.kind, f"{fault.message} ({hint})", fault.retry, status=fault.status)


def _usage(body: dict[str, Any]) -> tuple[Usage, tuple[str, ...]]:
    """``input_tokens`` leaves out what the cache read and wrote; here input is all of it.

    What was written for an hour is told apart where the provider does so; the rest was for five minutes.
    """
    counts = reading.Counts(body.get("usage"))
    fresh, cached = counts("input_tokens"), counts("cache_read_input_tokens")
    written = counts("cache_creation_input_tokens")
    for_an_hour = counts("cache_creation", "ephemeral_1h_input_tokens")
    usage = Usage(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output=counts("output_tokens"),
        cached=cached,
        cache_written=None if written is None else written - min(written, for_an_hour or 0),
        cache_written_1h=min(written or 0, for_an_hour or 0) or None,
    )
    return usage, counts.warnings
