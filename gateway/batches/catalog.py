"""The kinds of endpoint that have a batch interface. Adding one: a module beside this, a line here."""

from __future__ import annotations

import importlib

from gateway.batches.base import Service
from runstore.problems import Problem

SERVICES: dict[str, str] = {
    "gemini": "gateway.batches.gemini:GeminiBatches",
    "openai": "gateway.batches.openai:OpenAIBatches",
    "anthropic": "gateway.batches.anthropic:AnthropicBatches",
}


def service_of(name: str, kind: str) -> Service:
    """The batch interface of the endpoint ``name``. Raises Problem for a kind that has none."""
    if kind not in SERVICES:
        raise Problem(
            f"endpoints.{name}.kind: found {kind!r}, which has no batch interface; expected one of "
            f"{', '.join(SERVICES)} (or leave --batch out)"
        )
    module, _, cls = SERVICES[kind].partition(":")
    return getattr(importlib.import_module(module), cls)()
