"""The kinds of endpoint that have a batch interface. Adding one: a module beside this, a line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from gateway.adapters.base import EndpointSettings
from runstore.problems import Problem

if TYPE_CHECKING:
    from gateway.batches.base import Service  # with all that calls are made with; most who look here make none

SERVICES: dict[str, str] = {
    "gemini": "gateway.batches.gemini:GeminiBatches",
    "openai": "gateway.batches.openai:OpenAIBatches",
    "anthropic": "gateway.batches.anthropic:AnthropicBatches",
}


def has_batches(settings: EndpointSettings) -> bool:
    """Whether the endpoint's provider has a batch interface that is reached from here."""
    return settings.kind in SERVICES and not getattr(settings, "vertexai", False)


def service_of(name: str, settings: EndpointSettings) -> Service:
    """The batch interface of the endpoint ``name``. Raises Problem for an endpoint that has none."""
    kind = settings.kind
    if getattr(settings, "vertexai", False):
        raise Problem(
            f"endpoints.{name}.vertexai: batches on Vertex AI need a bucket of Cloud Storage or a table of "
            "BigQuery, which are not supported; leave --batch out, or use an API key"
        )
    if kind not in SERVICES:
        raise Problem(
            f"endpoints.{name}.kind: found {kind!r}, which has no batch interface; expected one of "
            f"{', '.join(SERVICES)} (or leave --batch out)"
        )
    module, _, cls = SERVICES[kind].partition(":")
    return getattr(importlib.import_module(module), cls)()
