"""Spans: one a call, with what it took and none of what was said; off unless asked for."""

import importlib.util
import subprocess
import sys

import pytest

from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.telemetry import VARIABLE, Telemetry, from_environment
from tests.support.asking import chat


def test_it_is_off_and_not_imported_unless_the_environment_asks():
    assert from_environment({}) is None
    assert from_environment({VARIABLE: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}) is None
    seen = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, gateway.engine, frontdesk.runner.session; print('opentelemetry' in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout.strip() == "False"


@pytest.mark.skipif(importlib.util.find_spec("opentelemetry") is None, reason="the extra [otel] is not installed")
async def test_every_call_is_one_span_without_a_word_of_it(provider, tmp_path):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    provider.script = lambda asked, attempt: (
        "blocked" if "Bad" in asked.texts[-1] else "503" if attempt == 1 else None
    )
    raw = provider.settings("openai", price={"input": 1, "output": 1})
    async with Gateway.open({"tutor": raw}) as gateway:
        gateway.telemetry = Telemetry(tracers)
        answer = await gateway.ask("tutor", chat("Secret question"), stage="collect", item="s-1")
        with pytest.raises(CallFailed):
            await gateway.ask("tutor", chat("Bad question"), stage="judge", item="s-2")
    gateway.telemetry.close()
    good, bad = exporter.get_finished_spans()
    seen = dict(good.attributes or {})
    assert good.name == "chat fake-1"
    assert seen["tutor_arena.attempts"] == 2 and seen["tutor_arena.faults"] == ("server",)
    assert seen["gen_ai.usage.input_tokens"] == answer.usage.input
    assert seen["gen_ai.request.model"] == "fake-1" and seen["gen_ai.operation.name"] == "chat"
    assert seen["tutor_arena.endpoint"] == "tutor" and seen["tutor_arena.stage"] == "collect"
    assert seen["tutor_arena.latency_s"] == answer.latency_s
    assert good.end_time is not None and good.start_time is not None
    assert (good.end_time - good.start_time) / 1e9 >= (answer.latency_s or 0)
    assert dict(bad.attributes or {})["error.type"] == "blocked"
    everything = good.to_json() + bad.to_json()
    assert "question" not in everything and answer.text not in everything
