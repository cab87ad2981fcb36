"""The providers' shapes: what goes up, what comes down, and google-genai as the oracle of Gemini's."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.catalog import build
from gateway.batches import gemini
from gateway.batches.anthropic import AnthropicBatches
from gateway.batches.base import Look, Mark, Service, rows
from gateway.batches.desk import Desk
from gateway.batches.openai import OpenAIBatches
from gateway.batches.plan import jobs_of
from gateway.batches.runner import BatchRunner
from gateway.crowd import each
from gateway.engine import Gateway
from gateway.errors import Fault
from gateway.prompt import Schema
from gateway.rows import Call
from runstore.journal import Journal
from tests.support.asking import chat
from tests.support.batch_asker import endpoints
from tests.support.fake_provider import FakeProvider
from tests.support.raw_server import raw_server, whole

SERVICES_OF: dict[str, Service] = {
    "gemini": gemini.GeminiBatches(),
    "openai": OpenAIBatches(),
    "anthropic": AnthropicBatches(),
}


async def asked_by_batch(provider: FakeProvider, folder: Path, kind: str, number: int) -> list[str]:
    journal = Journal(folder)
    table = {kind: endpoints(provider.url)[kind]}
    async with Gateway.open(table, journal=journal, environ={"A_KEY": "k-123456789"}) as gateway:
        runner = BatchRunner(gateway, [kind], poll_s=0.01)
        found = await runner.whole(
            lambda ask: each(range(number), lambda n: ask(kind, chat(f"Question {n}?")), at_once=number)
        )
    journal.close()
    return [answer.text for answer in found.results()]


async def test_results_without_a_key_are_missing_and_asked_again(provider: FakeProvider, tmp_path: Path) -> None:
    expected = await asked_by_batch(provider, tmp_path / "keys", "gemini", 5)
    provider.batches.keyless = 1
    assert await asked_by_batch(provider, tmp_path / "again", "gemini", 5) == expected
    assert [len(job.requests) for job in provider.batches.jobs.values()] == [5, 5, 5]


async def test_results_that_never_have_a_key_are_failures_and_nobodys_answers(
    provider: FakeProvider, tmp_path: Path
) -> None:
    provider.batches.keyless = 9
    assert await asked_by_batch(provider, tmp_path, "gemini", 5) == []
    rows = [row for row in Journal(tmp_path).rows() if row["state"] in ("ok", "failed")]
    assert {(row["state"], row["faults"][-1]["kind"]) for row in rows} == {("failed", "server")}


async def test_a_job_is_a_file_of_requests_with_their_keys(provider: FakeProvider, tmp_path: Path) -> None:
    await asked_by_batch(provider, tmp_path, "gemini", 3)
    (job,) = provider.batches.jobs.values()
    lines = [orjson.loads(line) for line in provider.batches.files[job.source or ""].splitlines()]
    assert [len(line["key"]) for line in lines] == [32, 32, 32]
    adapter = build("one", endpoints(provider.url)["gemini"])
    composed = [orjson.loads(adapter.compose(chat(f"Question {n}?")))["body"] for n in range(3)]
    assert [line["request"] for line in lines] == composed


async def test_the_file_with_the_key_goes_to_the_provider_only(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeProvider, "url", "http://collector.example")
    base = f"http://127.0.0.1:{provider.port}"
    journal = Journal(tmp_path)
    table = {"gemini": endpoints(base, retries=0)["gemini"]}
    async with Gateway.open(table, journal=journal, environ={"A_KEY": "k-123456789"}) as gateway:
        found = await BatchRunner(gateway, ["gemini"], poll_s=0.01).whole(
            lambda ask: each([0], lambda n: ask("gemini", chat("Question?")), at_once=1)
        )
    journal.close()
    assert "should be uploaded to collector.example, not to 127.0.0.1" in str(found.failed[0][1])


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_requests_are_those_of_real_time(provider: FakeProvider, tmp_path: Path, kind: str) -> None:
    await asked_by_batch(provider, tmp_path, kind, 2)
    adapter = build("one", endpoints(provider.url)[kind])
    job = next(iter(provider.batches.jobs.values()))
    assert [request.body for request in job.requests] == [adapter.compose(chat(f"Question {n}?")) for n in (0, 1)]
    assert all(len(request.name or "") == 32 for request in job.requests)


async def test_google_genai_creates_the_same_job_and_reads_ours(
    provider: FakeProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Body for body: what is sent for a job, and what its own client makes of the same server."""
    from google import genai
    from google.genai import types

    sent: list[Any] = []
    create = type(provider.batches)._create

    def kept(batches: Any, path: str, data: bytes) -> Any:
        sent.append(orjson.loads(data))
        return create(batches, path, data)

    monkeypatch.setattr(type(provider.batches), "_create", kept)
    texts = await asked_by_batch(provider, tmp_path, "gemini", 2)
    options = types.HttpOptions(base_url=provider.url, api_version="v1beta")
    client = genai.Client(api_key="k-123456789", http_options=options)
    name, source = sent[0]["batch"]["displayName"], sent[0]["batch"]["inputConfig"]["fileName"]
    client.batches.create(model="fake-1", src=source, config=types.CreateBatchJobConfig(display_name=name))
    assert sent[1] == sent[0]
    ours = client.batches.get(name=next(iter(provider.batches.jobs)))
    assert ours.state == types.JobState.JOB_STATE_SUCCEEDED
    assert ours.dest is not None and ours.dest.file_name is not None
    rows_read = [orjson.loads(line) for line in client.files.download(file=ours.dest.file_name).splitlines()]
    read = [types.GenerateContentResponse.model_validate(row["response"]).text for row in rows_read]
    assert read == texts
    assert [job.display_name for job in client.batches.list()] == [name, name]
    client.close()


@pytest.mark.parametrize("key", [5, ["a"], {"a": 1}, True, None])
async def test_a_result_whose_key_is_no_text_is_nobodys(tmp_path: Path, key: Any) -> None:
    row = orjson.dumps(
        {"key": key, "custom_id": key, "response": {}, "result": {"type": key}, "error": {"code": key}}
    )
    async with raw_server([whole(row)]) as server:
        for kind, service in SERVICES_OF.items():
            table = {kind: endpoints(server.url, retries=0)[kind]}
            async with Gateway.open(table, environ={"A_KEY": "k-123456789"}) as gateway:
                desk = Desk(gateway, gateway.endpoints[kind])
                look = Look(True, raw={"id": "b", "output_file_id": "f", "response": {"responsesFile": "files/f"}})
                assert [result.key for result in await service.fetch(desk, look)] == [None]


@pytest.mark.parametrize("count", ["9" * 5000, -5, "-5", 1e308, True, [], None, 2**70, "\u0665"])
async def test_counts_and_times_of_a_job_have_bounds(count: Any) -> None:
    job = {
        "metadata": {"batchStats": {"successfulRequestCount": count}, "state": count},
        "request_counts": {"completed": count, "succeeded": count},
        "status": count,
        "created_at": "0001-01-01T00:00:00",
    }
    async with raw_server([whole(json.dumps(job | {"data": [job]}).encode())]) as server:
        for kind, service in SERVICES_OF.items():
            table = {kind: endpoints(server.url, retries=0)[kind]}
            async with Gateway.open(table, environ={"A_KEY": "k-123456789"}) as gateway:
                desk = Desk(gateway, gateway.endpoints[kind])
                look = await service.look(desk, "b")
                assert not look.is_done and (look.finished or 0) <= 5
                await service.find(desk, Mark("token", 5, 1.7e9))


def test_a_schema_goes_along_with_each_request() -> None:
    schema = Schema("verdict", {"type": "object", "properties": {"a": {"type": "integer"}}})
    adapter = build("one", endpoints("http://127.0.0.1:1")["gemini"])
    line = orjson.loads(gemini.GeminiBatches().line("k" * 32, adapter.compose(chat("Hello?", schema=schema))))
    assert line["key"] == "k" * 32
    assert line["request"]["generationConfig"]["responseJsonSchema"] == schema.schema


def test_a_line_of_results_that_is_not_json_is_named() -> None:
    with pytest.raises(Fault, match="a line of results is not JSON: nonsense"):
        list(rows(b'{"a":1}\n\nnonsense\n'))


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 7), st.integers(1, 90))
def test_jobs_hold_every_request_once_in_order_and_stay_small(sizes: list[int], most: int, largest: int) -> None:
    calls = [Call(b"x" * size, f"{place:032x}", 0, "", "", 0, 0.0) for place, size in enumerate(sizes)]
    jobs = list(jobs_of(calls, most, largest))
    assert [call for job in jobs for call in job] == calls
    assert all(0 < len(job) <= most for job in jobs)
    assert all(len(job) == 1 or sum(len(call.sent) for call in job) <= largest for job in jobs)
