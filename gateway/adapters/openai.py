"""Any chat-completions server: OpenAI, vLLM, Ollama, llama.cpp, OpenRouter, Mistral, DeepSeek."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from gateway.adapters import classify, literal_keys, reading
from gateway.adapters.base import EndpointSettings, Wire, WireReply
from gateway.adapters.vendor import Vendor, VendorSettings, given, in_range, messages_json
from gateway.adapters.waits import Clock
from gateway.answers import says_something
from gateway.errors import NO, TRANSIENT, Fault
from gateway.prompt import Answer, Prompt, Schema
from runstore.numbers import YesNo
from runstore.records import Usage

_PATH = "/chat/completions"
_OF_TOOLS = frozenset({"tool_calls", "function_call"})


class OpenAISettings(VendorSettings):
    """``max_tokens_field`` and ``json_format`` follow what the server understands; see docs/endpoints.md."""

    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = None
    json_format: Literal["json_schema", "json_object", "none"] = "json_schema"
    strict_schema: YesNo = True
    extra_body: dict[str, Any] = Field(default_factory=dict[str, Any])
    extra_headers: dict[str, str] = Field(default_factory=dict[str, str])
    key_header: str | None = None

    @model_validator(mode="after")
    def _holds_no_key(self) -> OpenAISettings:
        if name := literal_keys.in_headers(self.extra_headers):
            raise ValueError(f"extra_headers.{name}: holds a key; name its environment variable in api_key_env")
        return self

    @model_validator(mode="after")
    def _is_taken(self) -> OpenAISettings:
        in_range("temperature", self.temperature, 0, 2)
        in_range("top_p", self.top_p, 0, 1)
        return self


class OpenAIAdapter(Vendor):
    """Bodies of ``POST /chat/completions``; the model and all settings are in the body."""

    Settings: ClassVar[type[EndpointSettings]] = OpenAISettings
    reads_again = True

    def __init__(
        self, settings: OpenAISettings, public: str = "https://api.openai.com/v1", *, now: Clock = time.time
    ) -> None:
        super().__init__(settings, public, now)
        self._head = reading.dumps({"model": settings.model})[:-1] + b',"messages":'
        self._extra = self._static()
        self._tail = _members(self._extra) + b"}"

    def _static(self) -> dict[str, Any]:
        settings = self.settings
        named = settings.max_tokens_field or (
            "max_completion_tokens" if _is_openai(self._address) else "max_tokens"
        )
        sampling = given(temperature=settings.temperature, top_p=settings.top_p, seed=settings.seed)
        return sampling | given(**{named: settings.max_output_tokens}) | settings.extra_body

    def headers(self, key: str | None) -> dict[str, str]:
        known = {"Content-Type": "application/json", **self.settings.extra_headers}
        if not key:
            return known
        name = self.settings.key_header or ("api-key" if _is_azure(self._address) else "Authorization")
        return known | {name: f"Bearer {key}" if name.lower() == "authorization" else key}

    def compose(self, prompt: Prompt) -> bytes:
        messages = messages_json(self.said(prompt))
        if prompt.schema is None or self.settings.json_format == "none":
            return self._head + messages + self._tail
        form = self._response_format(prompt.schema)
        return self._head + messages + _members(self._extra | {"response_format": form}) + b"}"

    def _response_format(self, schema: Schema) -> dict[str, Any]:
        if self.settings.json_format == "json_object":
            return {"type": "json_object"}
        form = {"name": schema.name, "schema": schema.schema, "strict": self.settings.strict_schema}
        return {"type": "json_schema", "json_schema": form}

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        reply = await wire.post(_PATH, sent)
        if reply.status != 200:
            raise classify.fault(reply, self._now)
        return self.read(reading.load(reply), reply)

    def read(self, body: dict[str, Any], reply: WireReply) -> Answer:
        """The answer that a chat completion is; ``reply``: what it came in. Raises Fault."""
        choices = body.get("choices")
        if not choices:
            raise self._without_choices(body, reply)
        choice = reading.first(choices)
        return self._answer(choice, body, reply)

    def _without_choices(self, body: Mapping[str, Any], reply: WireReply) -> Fault:
        if body.get("error"):
            return classify.embedded_fault(body["error"], reply, self._now)
        if "choices" in body:
            return Fault("empty", "the reply has no choices", TRANSIENT, usage=_usage(body)[0])
        fault = classify.embedded_fault(body, reply, self._now)
        if body.get("object") == "error":
            return fault
        return Fault("malformed", f"the reply has no choices: {reading.shown(reply.body)}", TRANSIENT, status=200)

    def _answer(self, choice: dict[str, Any], body: dict[str, Any], reply: WireReply) -> Answer:
        finish = reading.word(choice.get("finish_reason"))
        error = choice.get("error") or body.get("error")
        if error:
            raise classify.embedded_fault(error, reply, self._now)
        message = reading.as_dict(choice.get("message"))
        text = reading.joined(message.get("content"))
        usage, warnings = _usage(body)
        request_id = reply.headers.get("x-request-id") or body.get("id")
        if finish and reading.HELD_BACK.search(finish):
            raise Fault("blocked", f"blocked: finish reason {finish}", NO, text=text, usage=usage)
        refusal = message.get("refusal")
        if refusal and not text:
            raise Fault("refused", f"refused: {reading.shown(str(refusal))}", NO, usage=usage)
        if not says_something(text) and ((tools := _called(message)) or finish in _OF_TOOLS):
            raise reading.called_tool(tools, usage)
        if finish and reading.BROKEN_OFF.search(finish):
            raise Fault(
                "server", f"the server broke off: finish reason {finish}", TRANSIENT, text=text, usage=usage
            )
        return reading.settle(
            text,
            usage,
            model=body.get("model"),
            request_id=request_id,
            cut=reading.cut(finish, usage, self.settings.max_output_tokens),
            limit=self.settings.max_output_tokens,
            accept_truncated=self.settings.accept_truncated,
            warnings=warnings,
        )


def _called(message: Mapping[str, Any]) -> list[object]:
    """The names of the tools that a message calls, in the present form and in the one before it."""
    calls = [reading.as_dict(call) for call in reading.as_list(message.get("tool_calls"))]
    functions = [reading.as_dict(call.get("function") or call.get("custom")) for call in calls]
    if message.get("function_call"):
        functions.append(reading.as_dict(message["function_call"]))
    return [function.get("name") for function in functions]


def _usage(body: Mapping[str, Any]) -> tuple[Usage, tuple[str, ...]]:
    """Here thinking is counted apart from output. ``completion_tokens`` holds it, unless the total says otherwise:
    some count it beside, and some of those in the total alone.

    Cache writes are counted by routers alone, and by either name.
    """
    counts = reading.Counts(body.get("usage"))
    read, output, total = counts("prompt_tokens"), counts("completion_tokens"), counts("total_tokens")
    thinking = counts("completion_tokens_details", "reasoning_tokens")
    details = "prompt_tokens_details"
    cached, written = counts(details, "cached_tokens"), counts(details, "cache_write_tokens")
    written = counts(details, "cache_creation_tokens") if written is None else written
    if output is not None:
        beside = 0 if read is None or total is None else max(0, total - read - output)
        if thinking is None and beside not in (0, cached, written, (cached or 0) + (written or 0)):
            thinking = beside
        elif thinking is not None and beside < thinking:
            output = max(0, output - thinking)
    usage = Usage(input=read, output=output, thinking=thinking, cached=cached, cache_written=written)
    return usage, counts.warnings


def _members(values: Mapping[str, Any]) -> bytes:
    """``,"a":1,"b":2``: what follows the members before, inside the same object."""
    return b"," + reading.dumps(values)[1:-1] if values else b""


def _is_openai(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    return host.endswith(".openai.com") or _is_azure(address)


def _is_azure(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    return host.endswith((".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"))
