"""The embedded model as an endpoint: no key, no network, no cost.

    [endpoints.tiny]
    kind = "local"
    style = "simple"        # or "socratic" (the same to so small a model), "plain": how it answers as a tutor

It has a prompt form of its own (``gateway.local_model.forms``), since a model of this size cannot follow the chat
form. Its verdicts are a demonstration, never evidence.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, model_validator

from gateway.adapters import classify, reading
from gateway.adapters.base import LONGEST_S, EndpointSettings, PassedOver, Wire, WireReply
from gateway.errors import NO, TRANSIENT, Fault
from gateway.local_model import forms
from gateway.local_model.fetch import SMOLLM2
from gateway.local_model.server import EmbeddedServer, find_model, shared_server
from gateway.prompt import Answer, Message, Prompt
from runstore.ids import digest
from runstore.numbers import Real, Whole, YesNo
from runstore.problems import Problem
from runstore.records import Usage

ONLY_ENGLISH = "the embedded model knows only English"
STYLES = ("simple", "socratic", "plain")
VERDICT_TOKENS = 48
_PATH = "/v1/completions"


class LocalSettings(EndpointSettings):
    """Sampling as measured to work at this size. ``seed`` shifts the seeds that are drawn from the prompts."""

    useless: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("api_key_env", "proxy"), "the embedded model has none; leave it out"),
        "system": 'the embedded model cannot follow one; choose style = "socratic" or "plain"',
    }

    model: str | None = SMOLLM2.name
    base_url: PassedOver = None
    temperature: Real | None = Field(default=0.3, ge=0)
    min_p: Real = Field(default=0.15, ge=0, le=1)
    max_output_tokens: Whole | None = Field(default=48, gt=0)
    accept_truncated: YesNo = True
    concurrency: Whole = Field(default=4, gt=0)
    timeout_s: Real = Field(default=300.0, gt=0, le=LONGEST_S)

    @model_validator(mode="after")
    def _fits_the_embedded_model(self) -> LocalSettings:
        if self.style not in (None, *STYLES):
            raise ValueError(f"style: found {self.style!r}, expected one of {', '.join(STYLES)}")
        try:
            find_model(self.model or SMOLLM2.name)
        except Problem as problem:
            raise ValueError(str(problem)) from None
        return self


class LocalAdapter:
    """Bodies of llama.cpp's ``POST /v1/completions``, sent to the one server of this process."""

    Settings: ClassVar[type[EndpointSettings]] = LocalSettings

    def __init__(self, settings: LocalSettings, *, serve: Callable[[str], EmbeddedServer] = shared_server) -> None:
        self.settings: Any = settings
        self._model = find_model(settings.model or SMOLLM2.name)
        self._serve = serve

    @property
    def address(self) -> str:
        """Stands for the weights: the port differs from one process to the next."""
        return f"embedded:{self._model.identity}"

    def headers(self, key: str | None) -> dict[str, str]:  # noqa: ARG002 (the server's own key is known at sending)
        return {"Content-Type": "application/json"}

    async def prepare(self) -> None:
        """Fetch the weights and start the server now. Raises Problem where that cannot be done."""
        await self._server()

    def compose(self, prompt: Prompt) -> bytes:
        question = forms.ask(prompt, self.settings.style)
        request = self._request(question, self._seed(prompt.messages, question.text, prompt.fields.get("sample")))
        return reading.dumps({"form": question.form, "korean": forms.is_korean(prompt), "request": request})

    def _request(self, question: forms.Question, seed: int) -> dict[str, Any]:
        settings = self.settings
        limit = settings.max_output_tokens or 48
        request: dict[str, Any] = {"prompt": question.text, "max_tokens": limit, "seed": seed}
        request |= {"temperature": settings.temperature, "min_p": settings.min_p, "cache_prompt": True}
        if settings.top_p is not None:
            request["top_p"] = settings.top_p
        if question.schema is not None:
            return request | {
                "max_tokens": max(limit, forms.room_for(question.schema)),
                "json_schema": question.schema,
            }
        # Against going round in circles: only runs of four words or more are held down, single words are not.
        request |= {"dry_multiplier": 0.8, "dry_base": 1.75, "dry_allowed_length": 4, "dry_penalty_last_n": 256}
        request["dry_sequence_breakers"] = ["\n"]
        if question.form == "judge":
            request["max_tokens"] = max(limit, VERDICT_TOKENS)
        else:
            request["stop"] = ["\n"]
        if question.grammar is not None:
            request["grammar"] = question.grammar
        return request

    def _seed(self, messages: Sequence[Message], text: str, sample: str | None) -> int:
        """Of all that is asked; ``sample`` tells apart candidates for one message."""
        said = [(message.role, message.content) for message in messages]
        own = () if sample is None else (sample,)
        return int(digest(self.settings.seed, said, text, *own, size=4), 16) & 0x7FFFFFFF

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        composed: dict[str, Any] = reading.loads(sent)
        request = composed["request"]
        try:
            server = await self._server()
        except Problem as problem:
            raise Fault("unknown_model", str(problem), NO) from problem
        reply = await wire.post(
            server.address + _PATH, reading.dumps(request), {"Authorization": f"Bearer {server.key}"}
        )
        warnings = (ONLY_ENGLISH,) if composed["korean"] else ()
        return self._answer(reply, composed["form"], request["max_tokens"], warnings)

    async def _server(self) -> EmbeddedServer:
        return await asyncio.to_thread(self._serve, self._model.name)

    def _answer(self, reply: WireReply, form: str, limit: int, warnings: tuple[str, ...]) -> Answer:
        if reply.status != 200:
            raise classify.fault(reply, time.time)
        body = reading.load(reply)
        choice = reading.first(body.get("choices"))
        if not choice:
            raise Fault(
                "malformed", f"the reply has no choices: {reading.shown(reply.body)}", TRANSIENT, status=200
            )
        cut = choice.get("finish_reason") == "length"
        return reading.settle(
            forms.read(form, reading.joined(choice.get("text")), cut=cut),
            _usage(body),
            model=self._model.identity,
            request_id=body.get("id"),
            cut="length" if cut else None,
            limit=limit,
            accept_truncated=self.settings.accept_truncated,
            warnings=warnings,
        )


def _usage(body: dict[str, Any]) -> Usage:
    counts = reading.Counts(body.get("usage"))
    return Usage(
        input=counts("prompt_tokens"),
        output=counts("completion_tokens"),
        cached=counts("prompt_tokens_details", "cached_tokens"),
    )
