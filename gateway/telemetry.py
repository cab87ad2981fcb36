"""Spans for OpenTelemetry: one a call, with attempts, latency and tokens; never a word of what was said.

On where the extra ``[otel]`` is installed and OTEL_EXPORTER_OTLP_ENDPOINT says where spans go; imported only then.
Attributes follow the semantic conventions for generative AI (``gen_ai.*``), our own begin with ``tutor_arena.``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, Protocol

from gateway.adapters.base import EndpointSettings
from gateway.errors import CallFailed
from gateway.prompt import Answer
from gateway.rows import Call
from runstore.problems import Problem

VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT"


class Span(Protocol):
    """As much of a span as is used here."""

    def end(self, end_time: int | None = None) -> None: ...


class Tracer(Protocol):
    """As much of an OpenTelemetry tracer as is used here."""

    def start_span(self, name: str, *, attributes: Mapping[str, Any], start_time: int) -> Span: ...


class Provider(Protocol):
    """As much of a tracer provider as is used here."""

    def get_tracer(self, instrumenting_module_name: str) -> Tracer: ...

    def shutdown(self) -> None: ...


class Telemetry:
    """Turns calls that came to an end into spans."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("tutor-arena")

    def answered(self, endpoint: str, settings: EndpointSettings, call: Call, answer: Answer) -> None:
        attributes = {
            "gen_ai.response.model": answer.model,
            "gen_ai.response.finish_reasons": [answer.finish],
            "gen_ai.usage.input_tokens": answer.usage.input,
            "gen_ai.usage.output_tokens": answer.usage.output,
            "tutor_arena.cached_tokens": answer.usage.cached,
            "tutor_arena.thinking_tokens": answer.usage.thinking,
            "tutor_arena.cost_usd": answer.cost_usd,
            "tutor_arena.request_id": answer.request_id,
            "tutor_arena.attempts": len(call.faults) + 1,
        }
        self._span(endpoint, settings, call, attributes, answer.latency_s or 0.0)

    def failed(self, endpoint: str, settings: EndpointSettings, call: Call, failure: CallFailed) -> None:
        attributes = {"error.type": failure.kind, "tutor_arena.attempts": failure.attempts}
        self._span(endpoint, settings, call, attributes, 0.0)

    def close(self) -> None:
        """Send what has not been sent."""
        self._provider.shutdown()

    def _span(
        self,
        endpoint: str,
        settings: EndpointSettings,
        call: Call,
        attributes: Mapping[str, Any],
        latency_s: float,
    ) -> None:
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.system": settings.kind,
            "gen_ai.request.model": settings.model,
            "tutor_arena.endpoint": endpoint,
            "tutor_arena.stage": call.stage,
            "tutor_arena.item": call.item,
            "tutor_arena.key": call.key,
            "tutor_arena.faults": [fault["kind"] for fault in call.faults],
            "tutor_arena.latency_s": latency_s,
            **attributes,
        }
        now = time.time_ns()
        spent_s = latency_s + sum(fault["latency_s"] for fault in call.faults)
        span = self._tracer.start_span(
            f"chat {settings.model or endpoint}",
            attributes={name: value for name, value in about.items() if value is not None},
            start_time=now - int(spent_s * 1e9),
        )
        span.end(now)


def from_environment(environ: Mapping[str, str] | None = None) -> Telemetry | None:
    """Telemetry where the environment asks for it, else None. Raises Problem if the extra is not installed."""
    environ = os.environ if environ is None else environ
    if not environ.get(VARIABLE) or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise Problem(
            f"{VARIABLE} is set, but OpenTelemetry is not installed: pip install 'tutor-arena[otel]'"
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "tutor-arena"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Telemetry(provider)
