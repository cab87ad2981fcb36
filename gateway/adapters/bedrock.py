"""Amazon Bedrock's Converse, the one form that it has for all its models.

Asked over the run's own wire; botocore (the extra ``[bedrock]``) finds credentials and signs. With an API key of
Bedrock nothing is signed, and the extra is not needed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, model_validator

from gateway.adapters import classify, reading
from gateway.adapters.base import CredentialsWay, EndpointSettings, Wire, WireReply, whole_address
from gateway.adapters.vendor import NO_SEED, Vendor, VendorSettings, claude_thinks, given, in_range
from gateway.adapters.waits import Clock
from gateway.answers import says_something
from gateway.errors import NO, TRANSIENT, Fault
from gateway.prompt import Answer, Message, Prompt
from runstore.numbers import YesNo
from runstore.records import Usage

if TYPE_CHECKING:
    from gateway.adapters.aws_credentials import Signer

_REGION = re.compile(r"[a-z]{2}(?:-[a-z]+)+-\d")
_BLOCKED = frozenset({"guardrail_intervened", "content_filtered"})
_MALFORMED = frozenset({"malformed_model_output", "malformed_tool_use"})


class BedrockSettings(VendorSettings):
    """``profile``: of AWS's shared files; ``extra_body``: a model's own settings, sent as
    ``additionalModelRequestFields``; ``json_format``: ``json_schema`` for the models that know it."""

    useless: ClassVar[Mapping[str, str]] = NO_SEED

    region: str
    profile: str | None = None
    json_format: Literal["json_schema", "none"] = "none"
    extra_body: dict[str, Any] = Field(default_factory=dict[str, Any])
    cache_prompt: YesNo = False

    @property
    def takes_key(self) -> bool:
        return False

    @model_validator(mode="after")
    def _is_taken(self) -> BedrockSettings:
        if not _REGION.fullmatch(self.region):
            raise ValueError(f"region: found {self.region!r}, expected a region of AWS such as us-east-1")
        if self.profile is not None and self.api_key_env is not None:
            raise ValueError("profile: an API key (api_key_env) takes its place; leave one of them out")
        in_range("temperature", self.temperature, 0, 1)
        in_range("top_p", self.top_p, 0, 1)
        budget = reading.as_dict(self.extra_body.get("thinking")).get("budget_tokens")
        claude_thinks(self, "extra_body.thinking.budget_tokens", budget, self.max_output_tokens)
        return self


class BedrockAdapter(Vendor):
    """``POST /model/MODEL/converse``, signed with AWS credentials, or with an API key in a header.

    The model is part of the path, not of the body; so that the journal's key covers it, what :meth:`compose`
    gives is ``{"model":...,"body":...}``, and :meth:`send` cuts the body out.
    """

    Settings: ClassVar[type[EndpointSettings]] = BedrockSettings

    def __init__(self, settings: BedrockSettings, *, now: Clock = time.time) -> None:
        domain = "amazonaws.com.cn" if settings.region.startswith("cn-") else "amazonaws.com"
        super().__init__(settings, f"https://bedrock-runtime.{settings.region}.{domain}", now)
        self._path = f"/model/{quote(settings.model or '', safe='')}/converse"
        self._signer: Signer | None = None
        self._head = reading.dumps({"model": settings.model})[:-1] + b',"body":'
        limits = given(maxTokens=settings.max_output_tokens, temperature=settings.temperature, topP=settings.top_p)
        self._rest = given(
            inferenceConfig=limits or None, additionalModelRequestFields=settings.extra_body or None
        )

    def headers(self, key: str | None) -> dict[str, str]:
        return {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def compose(self, prompt: Prompt) -> bytes:
        body: dict[str, Any] = {}
        messages = self.said(prompt)
        if messages and messages[0].role == "system":
            mark = [{"cachePoint": {"type": "default"}}] if self.settings.cache_prompt else []
            body["system"] = [{"text": messages[0].content}, *mark]
            messages = messages[1:]
        body["messages"] = [_message(message) for message in messages]
        body |= self._rest
        if prompt.schema is not None and self.settings.json_format == "json_schema":
            schema = {"name": prompt.schema.name, "schema": reading.dumps(prompt.schema.schema).decode()}
            body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": schema}}}
        return self._head + reading.dumps(body) + b"}"

    def make_ready(self, way: CredentialsWay | None = None) -> None:
        """Find the credentials, before anything is asked. Raises Problem."""
        settings = self.settings
        if settings.api_key_env is not None:
            return
        from gateway.adapters import aws_credentials

        way = way or CredentialsWay(settings.timeout_s)
        self._signer = aws_credentials.found(settings.profile, settings.region, way)

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        body = sent[len(self._head) : -1]
        if self._signer is None:
            self.make_ready()
        signed: dict[str, str] | None = None
        if self._signer is not None:
            signed = await self._signer.headers(whole_address(wire.base_url, self._path), body, wire.hide)
        reply = await wire.post(self._path, body, signed)
        if reply.status != 200:
            raise classify.fault(reply, self._now)
        return self._read(reply)

    def read_again(self, bodies: Sequence[bytes]) -> Answer:
        return self._read(WireReply(200, {}, bodies[-1]))

    def _read(self, reply: WireReply) -> Answer:
        said = reading.load(reply)
        message = reading.as_dict(reading.as_dict(said.get("output")).get("message"))
        if "content" not in message:
            raise self._without_message(said, reply)
        return self._answer(message, said, reply)

    def _without_message(self, body: dict[str, Any], reply: WireReply) -> Fault:
        if "__type" in body or "message" in body:
            return classify.embedded_fault(body, reply, self._now)
        return Fault("malformed", f"the reply has no message: {reading.shown(reply.body)}", TRANSIENT, status=200)

    def _answer(self, message: dict[str, Any], body: dict[str, Any], reply: WireReply) -> Answer:
        text = reading.joined(message["content"])
        usage, warnings = _usage(body)
        stop, request_id = reading.word(body.get("stopReason")), reply.headers.get("x-amzn-requestid")
        more: dict[str, Any] = {"text": text, "usage": usage, "request_id": request_id}
        if stop in _BLOCKED:
            raise Fault("blocked", f"the reply was blocked: stop reason {stop}", NO, **more)
        if stop == "model_context_window_exceeded":
            raise Fault("context_length", f"the model's context window is full: stop reason {stop}", NO, **more)
        tools = [reading.as_dict(part).get("toolUse") for part in reading.as_list(message["content"])]
        called: list[object] = [reading.as_dict(tool).get("name") for tool in tools if tool]
        if (called or stop == "tool_use") and not says_something(text):
            raise reading.called_tool(called, usage)
        if stop in _MALFORMED:
            raise Fault("malformed", f"the reply ended with stop reason {stop}", TRANSIENT, **more)
        return reading.settle(
            text,
            usage,
            model=self.settings.model,
            request_id=request_id,
            cut=reading.cut(stop, usage, self.settings.max_output_tokens),
            limit=self.settings.max_output_tokens,
            accept_truncated=self.settings.accept_truncated,
            warnings=warnings,
        )


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [{"text": message.content}]}


def _usage(body: dict[str, Any]) -> tuple[Usage, tuple[str, ...]]:
    """``inputTokens`` leaves out what the cache read and wrote; here input is all of it."""
    counts = reading.Counts(body.get("usage"))
    fresh, cached = counts("inputTokens"), counts("cacheReadInputTokens")
    written = counts("cacheWriteInputTokens")
    details = map(reading.as_dict, reading.as_list(reading.as_dict(body.get("usage")).get("cacheDetails")))
    long = [counts.checked("cacheDetails", each.get("inputTokens")) for each in details if each.get("ttl") == "1h"]
    for_an_hour = min(written or 0, sum(number or 0 for number in long))
    usage = Usage(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output=counts("outputTokens"),
        cached=cached,
        cache_written=None if written is None else written - for_an_hour,
        cache_written_1h=for_an_hour or None,
    )
    return usage, counts.warnings
