"""kill -9 at every point of a batch: what was submitted is found again, and nothing is paid for twice."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.batches.runner import BatchRunner
from gateway.engine import Gateway
from runstore.journal import Journal
from tests.support.batch_asker import KINDS, answers, endpoints
from tests.support.fake_provider import FakeProvider

PROGRAM = Path(__file__).parents[2] / "support" / "batch_asker.py"
QUESTIONS = 5


def asker(provider: FakeProvider, journal: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, str(PROGRAM), str(provider.port), str(journal), str(QUESTIONS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def killed_when(provider: FakeProvider, journal: Path, ready: Callable[[], bool]) -> None:
    running = asker(provider, journal)
    limit = time.monotonic() + 60
    while not ready() and running.poll() is None and time.monotonic() < limit:
        time.sleep(0.002)
    running.kill()
    running.communicate()
    assert running.returncode == -9


def finished(provider: FakeProvider, journal: Path) -> list[tuple[str, str]]:
    out, _ = asker(provider, journal).communicate(timeout=60)
    return [(first, second) for first, second in json.loads(out)]


async def in_real_time() -> list[tuple[str, str]]:
    """What another provider of the same kind says one by one: its answers depend on the requests alone."""
    with FakeProvider() as other:
        async with Gateway.open(endpoints(other.url), environ={"A_KEY": "k-123456789"}) as gateway:
            return await answers(gateway.ask, QUESTIONS)


def paid_once(provider: FakeProvider) -> None:
    assert set(provider.delivered.values()) == {1}
    assert len(provider.delivered) == 2 * QUESTIONS * len(KINDS)


@pytest.mark.parametrize(
    ("hang", "event", "times"),
    [
        ("upload", "upload", 1),
        ("before create", "before create", 3),
        ("create", "create", 3),
        ("look", "look", 3),
        ("results", "results", 2),
    ],
)
async def test_killed_anywhere(provider: FakeProvider, tmp_path: Path, hang: str, event: str, times: int) -> None:
    expected = await in_real_time()
    batches = provider.batches
    batches.hang = {hang}
    killed_when(provider, tmp_path, lambda: batches.count(event) >= times)
    batches.hang = set()
    assert finished(provider, tmp_path) == expected
    paid_once(provider)
    assert len(batches.jobs) == 2 * len(KINDS)


async def test_killed_again_while_looking_for_what_the_first_left(provider: FakeProvider, tmp_path: Path) -> None:
    expected = await in_real_time()
    batches = provider.batches
    batches.hang = {"create"}
    killed_when(provider, tmp_path, lambda: batches.count("create") >= 3)
    batches.hang = {"list"}
    killed_when(provider, tmp_path, lambda: batches.count("list") >= 3)
    batches.hang = {"results"}
    killed_when(provider, tmp_path, lambda: batches.count("results") >= 2)
    batches.hang = set()
    assert finished(provider, tmp_path) == expected
    paid_once(provider)
    assert len(batches.jobs) == 2 * len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
async def test_stopped_between_two_written_results(provider: FakeProvider, tmp_path: Path, kind: str) -> None:
    """Results are written some hundreds at a time; a process may end between two of those writes."""
    number = 600
    table = {kind: endpoints(provider.url)[kind]}
    journal = Journal(tmp_path)
    async with Gateway.open(table, journal=journal, environ={"A_KEY": "k-123456789"}) as gateway:
        runner = BatchRunner(gateway, [kind], poll_s=0.01)
        work = asyncio.ensure_future(runner.whole(lambda ask: answers(ask, number, (kind,))))
        while not len(journal):
            await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait([work])
        written = len(journal)
    journal.close()
    assert 0 < written < number
    journal = Journal(tmp_path)
    async with Gateway.open(table, journal=journal, environ={"A_KEY": "k-123456789"}) as gateway:
        found = await BatchRunner(gateway, [kind], poll_s=0.01).whole(lambda ask: answers(ask, number, (kind,)))
    assert len(found) == number
    rows = [row for row in journal.rows() if row["state"] == "ok"]
    journal.close()
    assert len({row["key"] for row in rows}) == len(rows) == len(provider.delivered)
    assert set(provider.delivered.values()) == {1}
    sizes = [len(job.requests) for job in provider.batches.jobs.values()]
    assert sizes == [number, written, number - written]  # what was written could be asked about further at once
