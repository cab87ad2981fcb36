"""What is in flight, or on a worker's own disk, when something dies: real processes, nothing asked twice."""

import asyncio
import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from distributed import Client

from frontdesk.cli import main
from gateway.clocks import Term
from gateway.engine import Gateway
from gateway.prompt import Message, Prompt
from tests.frontdesk.cluster.test_cluster_runs import (
    SMALL,
    Alone,
    ended,
    reference,
    wait_for,
    wait_until,
)
from tests.support.fake_provider import FakeProvider
from tests.support.machines import Machines, machines
from tests.support.small_runs import (
    REPOSITORY,
    counts,
    files_of,
    finished_twice,
    start,
    timeless,
    to_toml,
    write_config,
)

PROGRESS = re.compile(r": (\d+) of (\d+)")


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as one:
        yield one


@pytest.fixture
def small(provider: FakeProvider, tmp_path: Path) -> Alone:
    """The small run on one machine."""
    return reference(provider, tmp_path / "alone", write_config(tmp_path / "c.toml", provider, **SMALL))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Machines]:
    """Two workers that see the run folder."""
    with machines(tmp_path, 2) as made:
        yield made


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Machines]:
    """Two workers with disks of their own."""
    (tmp_path / "disk").mkdir()
    with machines(tmp_path, 2, TUTOR_ARENA_OWN_DISK="1", TMPDIR=str(tmp_path / "disk")) as made:
        yield made


def kept_on(apart: Machines) -> list[Path]:
    """Segments on the workers' disks."""
    return sorted((apart.folder / "disk").glob("tutor-arena-*/*/*.jsonl"))


def killed(process: subprocess.Popen[bytes], provider: FakeProvider) -> None:
    """kill -9 of a driver in the middle of its first stage; what is asked afterwards is answered at once."""
    wait_for(process, lambda: provider.stats.calls >= 30)
    process.kill()
    process.communicate()
    provider.configure(latency_ms=0)


def assert_is_as_alone(run: Path, small: Alone) -> None:
    assert timeless(files_of(run)) == small.files
    assert finished_twice(run) == []
    assert counts(run)[0] == small.calls
    assert main(["verify", "--run", str(run)]) == 0


def test_what_workers_have_in_flight_when_the_driver_dies_is_waited_for(provider, cluster, small, tmp_path):
    provider.configure(latency_ms=900)
    run = tmp_path / "run"
    killed(start("run", small.config, "--run", run, "--on", cluster.address), provider)
    code, err = ended(start("run", small.config, "--run", run))
    assert code == 0, err
    assert "waits for calls in flight of 2 workers of an earlier command" in err
    assert provider.stats.answered == small.calls, "a call was made twice"
    assert_is_as_alone(run, small)


def test_what_is_on_workers_own_disks_when_the_driver_dies_is_fetched_by_the_next(
    provider, apart, small, tmp_path
):
    provider.configure(latency_ms=400)
    run = tmp_path / "run"
    killed(start("run", small.config, "--run", run, "--on", apart.address), provider)
    code, err = ended(start("run", small.config, "--run", run, "--on", apart.address))
    assert code == 0, err
    assert provider.stats.answered == small.calls, "a call was made twice"
    assert_is_as_alone(run, small)
    wait_until(lambda: kept_on(apart) == [])


def test_a_share_whose_worker_dies_while_it_waits_in_line_is_done_elsewhere(provider, apart, small, tmp_path):
    """The worker is busy with something else, so its share has not begun when it dies."""
    run = tmp_path / "run"
    with Client(apart.address, set_as_default=False) as client:
        first = min(client.scheduler_info()["workers"])
        pid = client.run(_pid, workers=[first])[first]
        busy = client.submit(time.sleep, 60, workers=[first], pure=False)
        provider.configure(latency_ms=100)
        process = start("run", small.config, "--run", run, "--on", apart.address)
        wait_for(process, lambda: provider.stats.calls >= 12)
        number = [worker.pid for worker in apart.alive].index(pid)
        apart.kill(number)
        provider.configure(latency_ms=0)
        code, err = ended(process)
        busy.release()
    assert code == 0, err
    assert "was lost; its share goes on at" in err
    assert provider.stats.answered == small.calls, "a call was made twice"
    assert_is_as_alone(run, small)


def _pid() -> int:
    import os

    return os.getpid()


def test_progress_counts_what_a_lost_worker_had_done_once(provider, cluster, small, tmp_path):
    provider.configure(latency_ms=60)
    run = tmp_path / "run"
    process = start("run", small.config, "--run", run, "--on", cluster.address)
    wait_for(process, lambda: provider.stats.calls >= 12 * 7 + 30)
    cluster.kill()
    provider.configure(latency_ms=0)
    code, err = ended(process)
    assert code == 0, err
    assert "was lost; its share goes on at" in err
    shown = [(int(done), int(of)) for done, of in PROGRESS.findall(err)]
    assert shown and all(done <= of for done, of in shown), err
    endpoints = err[err.index("median s") :]
    assert "–" not in endpoints, "how long workers' answers took is known"
    assert_is_as_alone(run, small)
    log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    for stage in ("simulate", "collect", "judge"):
        said = [event["event"] for event in log if event.get("stage") == stage]
        assert said.count("stage_started") == said.count("stage_ended") == 1
    seen = [event["done"] for event in log if event["event"] == "progress" and event["stage"] == "simulate"]
    assert seen and seen == sorted(seen), "whoever watches sees it go on while it is made elsewhere"


def test_what_was_spent_is_known_though_the_scheduler_dies(provider, cluster, small, tmp_path):
    provider.configure(latency_ms=150)
    run = tmp_path / "run"
    process = start("run", small.config, "--run", run, "--on", cluster.address)
    wait_for(process, lambda: provider.stats.calls >= 12 * 7 + 10)
    cluster.scheduler.send_signal(signal.SIGKILL)
    code, err = ended(process)
    assert code == 1, err
    assert "stopped: the scheduler is gone" in err
    wait_until(lambda: provider.stats.in_flight == 0)
    told = re.findall(r"^ (?:gemini|ureka) +([\d,]+) ", err[err.index("median s") :], re.MULTILINE)
    assert sum(map(int, told)) == provider.stats.calls
    code, err = ended(start("run", small.config, "--run", run))
    assert code == 0, err
    assert provider.stats.answered == small.calls
    assert_is_as_alone(run, small)


def test_an_interrupt_is_heard_while_another_worker_is_waited_for(provider, tmp_path, small):
    provider.configure(latency_ms=200)
    run = tmp_path / "run"
    with machines(tmp_path, 1) as cluster:
        process = start("run", small.config, "--run", run, "--on", cluster.address)
        wait_for(process, lambda: provider.stats.calls >= 20)
        cluster.kill()
        wait_for(process, lambda: provider.stats.in_flight == 0)
        time.sleep(4.0)  # the driver has noticed, and waits a minute for another one
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert b"waits for a worker, 60 s at most" in err
    assert b"Traceback" not in err
    assert main(["run", str(small.config), "--run", str(run)]) == 0
    assert_is_as_alone(run, small)


def test_the_questions_of_a_command_that_was_killed_are_not_left_in_the_folder(provider, cluster, tmp_path):
    texts = [f"q-{number},where is {number},/way/{number}" for number in range(60)]
    table = tmp_path / "runs.csv"
    table.write_text("Query ID,Query,Response\n" + "\n".join(texts) + "\n", encoding="utf-8")
    judge = {"endpoints.judge": provider.settings("openai", concurrency=4)}
    config, out = tmp_path / "judge.toml", tmp_path / "out"
    config.write_text(to_toml(judge))
    arguments = ["agent-runs", table, "--judge", "judge", "--config", config, "--out", out]
    provider.configure(latency_ms=200)
    process = start(*arguments, "--on", cluster.address)
    wait_for(process, lambda: provider.stats.calls >= 12)
    process.kill()
    process.communicate()
    assert list(out.glob("intent.json*"))
    provider.configure(latency_ms=0)
    ended(start(*arguments))
    assert finished_twice(out) == []
    assert provider.stats.answered == counts(out)[0]
    assert not list(out.glob("intent.json*"))


SLOW = """
import sys, time

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "frontdesk":
            time.sleep(12)

sys.meta_path.insert(0, Slow())
"""


def test_a_worker_that_imports_the_program_for_long_gets_its_share(provider, small, tmp_path):
    """As from a network file system that a hundred others read from."""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "sitecustomize.py").write_text(SLOW)
    run = tmp_path / "run"
    with machines(tmp_path) as cluster:
        cluster.start(PYTHONPATH=f"{tmp_path / 'slow'}:{REPOSITORY}")
        code, err = ended(start("run", small.config, "--run", run, "--on", cluster.address))
    assert code == 0, err
    assert "does not answer" not in err
    assert_is_as_alone(run, small)


async def test_whose_term_is_over_starts_no_call_until_it_is_renewed(provider):
    now = [0.0]
    async with Gateway.open({"e": provider.settings("gemini")}) as gateway:
        gateway.term = Term(30.0, lambda: now[0])
        assert (await gateway.ask("e", Prompt("teacher", (Message("user", "one"),)))).text
        now[0] = 31.0
        gateway.notify = lambda _: None
        waiting = asyncio.ensure_future(gateway.ask("e", Prompt("teacher", (Message("user", "two"),))))
        await gateway.pause(0.5)
        assert provider.stats.calls == 1 and not waiting.done()
        gateway.term.renew(20.0)
        assert (await waiting).text
        assert provider.stats.calls == 2
