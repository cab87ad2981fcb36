"""The same run on several machines: a real scheduler, real workers on loopback, each of which can be killed."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from frontdesk.cli import main
from gateway.endpoint import LATE_S
from gateway.leases import FASTER
from runstore.journal import read_rows
from tests.support.fake_provider import FakeProvider
from tests.support.machines import Machines, machines
from tests.support.small_runs import counts, files_of, finished_twice, spent, start, timeless, write_config

SIZE = {"dialogues": 100, "subsets": 100}
SMALL = {"dialogues": 12, "subsets": 24, "concurrency": 4}


@dataclass(frozen=True)
class Alone:
    """A run on one machine: what it published, and how many calls it took."""

    config: Path
    files: dict[str, bytes]
    calls: int


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="module")
def running() -> Iterator[FakeProvider]:
    with FakeProvider() as one:
        yield one


@pytest.fixture
def provider(running: FakeProvider) -> Iterator[FakeProvider]:
    """One for all tests here, in each as it was at first."""
    before = running.config
    yield running
    running.config = before
    wait_until(lambda: running.stats.in_flight == 0)
    running.reset()


@pytest.fixture(scope="module")
def small(running: FakeProvider, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """The small run on one machine."""
    folder = tmp_path_factory.mktemp("small")
    config = write_config(folder / "c.toml", running, **SMALL)
    return reference(running, folder / "alone", config)


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Machines that do not see the run folder; the last test that has them takes their scheduler away."""
    folder = tmp_path_factory.mktemp("apart")
    with machines(folder, TUTOR_ARENA_OWN_DISK="1", TMPDIR=str(folder / "disk")) as made:
        yield made


def with_workers(cluster: Machines, count: int) -> str:
    """The address, with so many workers at least."""
    if (more := count - len(cluster.alive)) > 0:
        cluster.start(more)
    return cluster.address


def wait_for(process: subprocess.Popen[bytes], holds: Callable[[], bool]) -> None:
    wait_until(lambda: holds() or process.poll() is not None)


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not holds():
        assert time.monotonic() < end, "not within the time"
        time.sleep(0.005)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, err = process.communicate(timeout=120)
    return process.returncode, err.decode()


def reference(provider: FakeProvider, folder: Path, config: Path) -> Alone:
    assert main(["run", str(config), "--run", str(folder)]) == 0
    calls = provider.stats.calls
    provider.reset()
    return Alone(config, timeless(files_of(folder)), calls)


def test_one_two_or_four_workers_publish_the_same_bytes(provider, cluster, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, **SIZE)
    alone = reference(provider, tmp_path / "alone", config)
    for count in (1, 2, 4):
        assert len(cluster.alive) <= count
        address, run = with_workers(cluster, count), tmp_path / f"on-{count}"
        code, err = ended(start("run", config, "--run", run, "--on", address))
        assert code == 0, err
        assert timeless(files_of(run)) == alone.files
        assert counts(run) == (alone.calls, 0)
        assert finished_twice(run) == []
        assert f"simulate: {SIZE['dialogues']} of {SIZE['dialogues']} dialogues" in err
        assert provider.stats.calls == alone.calls, "a call was made twice"
        provider.reset()
    assert main(["verify", "--run", str(run)]) == 0


def test_a_worker_killed_in_each_stage_costs_only_its_calls_in_flight(provider, cluster, small, tmp_path):
    in_stages = [30, 12 * 7 + 10, 12 * 7 + 48 + 20]
    assert in_stages[-1] < small.calls
    provider.configure(latency_ms=60, jitter_ms=30)
    run, address = tmp_path / "run", with_workers(cluster, 3)
    process = start("run", small.config, "--run", run, "--on", address)
    for moment in in_stages:
        wait_for(process, lambda moment=moment: provider.stats.calls >= moment)
        cluster.kill()
        if len(cluster.alive) < 2:
            cluster.start()
    code, err = ended(process)
    assert code == 0, err
    assert "was lost; its share goes on at" in err
    assert timeless(files_of(run)) == small.files
    kept, lost = counts(run)
    assert finished_twice(run) == []
    assert kept == small.calls
    assert provider.stats.answered - kept <= lost <= 3 * 2 * SMALL["concurrency"]
    assert main(["verify", "--run", str(run)]) == 0


def test_a_driver_killed_is_gone_on_with_on_one_machine_or_on_other_workers(provider, cluster, small, tmp_path):
    provider.configure(latency_ms=40, jitter_ms=20)
    run, moments, lost_at_most = tmp_path / "run", [25, 110], 0
    for moment in moments:
        process = start("run", small.config, "--run", run, "--on", with_workers(cluster, 2))
        wait_for(process, lambda moment=moment: provider.stats.calls >= moment)
        process.kill()
        process.communicate()
        lost_at_most += 2 * len(cluster.alive) * SMALL["concurrency"]
        time.sleep(1.0)  # its workers notice, and let what is in flight end
    kept, _ = counts(run)
    assert provider.stats.answered - kept <= lost_at_most
    before = provider.stats.answered
    assert main(["run", str(small.config), "--run", str(run)]) == 0
    assert provider.stats.answered - before == small.calls - kept
    assert timeless(files_of(run)) == small.files
    assert finished_twice(run) == []
    assert main(["verify", "--run", str(run)]) == 0


def test_an_interrupt_lets_calls_in_flight_end_on_every_worker(provider, cluster, small, tmp_path):
    provider.configure(latency_ms=60, jitter_ms=20)
    run = tmp_path / "run"
    process = start("run", small.config, "--run", run, "--on", with_workers(cluster, 2))
    wait_for(process, lambda: provider.stats.calls >= 30)
    process.send_signal(signal.SIGINT)
    code, err = ended(process)
    assert code == 130, err
    assert "simulate stopped: interrupted" in err
    kept, lost = counts(run)
    assert lost == 0
    assert provider.stats.answered == kept < 12 * 7
    assert main(["verify", "--run", str(run)]) == 0


def test_a_cap_on_calls_is_exact_over_workers_kills_and_faults(provider, cluster, tmp_path):
    cap = 120
    config = write_config(tmp_path / "c.toml", provider, budget={"calls": cap}, **SMALL)
    provider.configure(chaos_rate=0.2, chaos_kinds=("500", "503"), latency_ms=20, jitter_ms=10)
    run = tmp_path / "run"
    process = start("run", config, "--run", run, "--on", with_workers(cluster, 3))
    wait_for(process, lambda: provider.stats.calls >= 50)
    cluster.kill()
    code, err = ended(process)
    assert code == 3, err
    assert f"the cap of {cap} calls is reached" in err
    announced, lost, _ = spent(run, "calls")
    assert provider.stats.calls <= announced <= cap
    assert announced >= 0.98 * cap - 2 * lost


def test_a_cap_in_tokens_holds_over_workers(provider, cluster, tmp_path):
    cap = 25_000
    config = write_config(tmp_path / "c.toml", provider, budget={"tokens": cap}, **SMALL)
    limited = config.read_text().replace("[endpoints.gemini]", "[endpoints.gemini]\nmax_output_tokens = 100")
    config.write_text(limited)
    run = tmp_path / "run"
    code, err = ended(start("simulate", config, "--run", run, "--on", with_workers(cluster, 3)))
    assert code == 3, err
    _, _, used = spent(run, "tokens")
    assert 0.7 * cap < used <= cap


def test_four_workers_share_requests_a_minute(provider, cluster, tmp_path):
    """1,200 a minute are 20 a second, at a pace a tenth above; what minutes hold: tests/gateway/test_leases.py."""
    config = write_config(
        tmp_path / "c.toml", provider, endpoint={"requests_per_minute": 1200}, dialogues=16, subsets=10
    )
    run = tmp_path / "run"
    code, err = ended(start("simulate", config, "--run", run, "--on", with_workers(cluster, 4)))
    assert code == 0, err
    sent = sorted(
        row["at"] for row in read_rows(run / "journal") if row["state"] == "sent" and row["endpoint"] == "gemini"
    )
    assert len(sent) == 16 * 7
    window = 3.0
    fullest = max(sum(at <= other < at + window for other in sent) for at in sent)
    # a second more than the product's own: what is announced may wait for a busy machine
    assert fullest <= 20 * FASTER * (window + LATE_S + 1.0)


def test_a_judge_that_cannot_be_read_stops_the_judging_on_every_worker(provider, cluster, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, budget={"trial_rounds": 30}, **SMALL)
    while len(cluster.alive) > 2:  # what is asked before the others hear of it is counted
        cluster.kill()
    run, address = tmp_path / "run", with_workers(cluster, 2)
    assert ended(start("simulate", config, "--run", run, "--on", address))[0] == 0
    assert main(["cut", str(run)]) == 0
    assert ended(start("collect", run, "--on", address))[0] == 0
    provider.configure(unreadable=1.0, latency_ms=100)
    before = provider.stats.calls
    code, err = ended(start("judge", run, "--on", address))
    assert code == 3, err
    assert "could be read" in err
    assert provider.stats.calls - before < 60


def test_workers_that_do_not_see_the_run_folder_send_their_segments_in_blocks(provider, apart, small, tmp_path):
    run = tmp_path / "run"
    provider.configure(latency_ms=40, jitter_ms=20)
    process = start("run", small.config, "--run", run, "--on", with_workers(apart, 3))
    wait_for(process, lambda: provider.stats.calls >= 40)
    apart.kill()
    code, err = ended(process)
    assert code == 0, err
    assert timeless(files_of(run)) == small.files
    assert finished_twice(run) == []
    kept, _ = counts(run)
    assert kept == small.calls
    assert provider.stats.answered - kept <= 2 * 3 * SMALL["concurrency"]
    assert main(["verify", "--run", str(run)]) == 0


def test_a_scheduler_killed_ends_the_run_so_that_it_can_be_resumed(provider, apart, small, tmp_path):
    """The workers keep what they write to themselves: what had been fetched is what counts."""
    provider.configure(latency_ms=100, jitter_ms=50)
    run = tmp_path / "run"
    process = start("run", small.config, "--run", run, "--on", with_workers(apart, 2))
    wait_for(process, lambda: provider.stats.calls >= 40 and run.is_dir() and counts(run)[0] > 0)
    apart.scheduler.send_signal(signal.SIGKILL)
    code, err = ended(process)
    apart.close()
    assert code == 1, err
    assert "scheduler is gone" in err
    assert "run the same command again" in err
    assert "Traceback" not in err
    kept, _ = counts(run)
    assert kept > 0
    before = provider.stats.answered
    provider.configure(latency_ms=0, jitter_ms=0)
    assert main(["run", str(small.config), "--run", str(run)]) == 0
    assert provider.stats.answered - before == small.calls - kept
    assert timeless(files_of(run)) == small.files
    assert finished_twice(run) == []


def test_scores_are_the_same_on_several_workers(provider, cluster, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, **SMALL)
    assert main(["simulate", str(config), "--run", str(tmp_path / "run")]) == 0
    arguments = ["score", "--input", tmp_path / "run" / "dialogues.jsonl", "--rubric", "qac", "--judge", "gemini"]
    arguments += ["--config", config, "--repeats", "2"]
    codes = [main([*map(str, arguments), "--out", str(tmp_path / "alone")])]
    code, err = ended(start(*arguments, "--out", tmp_path / "on", "--on", with_workers(cluster, 2)))
    assert [code] == codes, err
    assert timeless(files_of(tmp_path / "on")) == timeless(files_of(tmp_path / "alone"))


def test_agent_runs_are_judged_the_same_on_several_workers(cluster, tmp_path):
    texts = [f"q-{number},어디로 {number % 17}번 길인가요,/길/{number % 17}" for number in range(60)]
    table = tmp_path / "runs.csv"
    table.write_text("Query ID,Query,Response\n" + "\n".join(texts) + "\n", encoding="utf-8")
    said = json.dumps({"reason": "알맞다", "score": 4})
    replies = [{"match": "3번", "reply": "무엇인지 모르겠다"}, {"reply": said}]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    config = tmp_path / "judge.toml"
    config.write_text(f'[endpoints.stub]\nkind = "scripted"\nreplies = "{tmp_path / "replies.jsonl"}"\n')
    arguments = ["agent-runs", table, "--judge", "stub", "--config", config]
    codes = [main([*map(str, arguments), "--out", str(tmp_path / "alone")])]
    code, err = ended(start(*arguments, "--out", tmp_path / "on", "--on", with_workers(cluster, 2)))
    assert [code] == codes, err
    assert timeless(files_of(tmp_path / "on")) == timeless(files_of(tmp_path / "alone"))
    assert counts(tmp_path / "on") == counts(tmp_path / "alone") == (17, 0), "alike questions are one"
    segments = [path for path in (tmp_path / "on" / "journal").glob("*.jsonl") if path.stat().st_size > 1000]
    assert len(segments) > 1
    assert not list((tmp_path / "on").glob("intent.json*"))
