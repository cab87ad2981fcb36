"""One attempt of an adapter over the real wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway.adapters.base import Adapter
from gateway.adapters.catalog import build
from gateway.errors import Fault
from gateway.prompt import Answer, Message, Prompt, Schema
from gateway.secrets import Redactor
from gateway.transport import Transport
from gateway.wire import Attempt, Lane
from runstore.records import Utterance


def chat(*contents: str, system: str | None = None, role: Any = "teacher", schema: Schema | None = None) -> Prompt:
    """A prompt whose contents are the user's and the assistant's in turn."""
    first = (Message("system", system),) if system is not None else ()
    turns = tuple(Message("assistant" if place % 2 else "user", text) for place, text in enumerate(contents))
    said = tuple(Utterance(role="teacher" if i % 2 else "student", text=text) for i, text in enumerate(contents))
    return Prompt(role, first + turns, said if role == "teacher" else (), schema=schema)


async def attempt(adapter: Adapter, prompt: Prompt, key: str | None = None) -> Answer:
    """What one attempt gives. Raises Fault."""
    transport = Transport()
    try:
        lane = Lane(adapter.address, key, adapter.headers(key))
        return await adapter.send(adapter.compose(prompt), Attempt(transport, lane, Redactor()))
    finally:
        await transport.close()


async def fault_of(adapter: Adapter, prompt: Prompt, key: str | None = None) -> Fault:
    """The fault that one attempt ends in."""
    try:
        answer = await attempt(adapter, prompt, key)
    except Fault as fault:
        return fault
    raise AssertionError(f"expected a fault, got {answer!r}")


def endpoint(raw: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Any:
    """The adapter of an endpoint's table."""
    return build("tutor", raw, environ=environ)
