"""kill -9 at any moment: the next session finishes the run, byte for byte, and pays for nothing twice."""

import random
import time

from frontdesk.cli import main
from runstore.journal import read_rows
from tests.support.killed_changes import Changes
from tests.support.killed_under_cap import CHAOS, series
from tests.support.small_runs import counts, files_of, finished_twice, start, timeless, write_config

KILLS = 8


def test_killed_again_and_again_a_run_ends_as_if_nothing_had_happened(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=10, subsets=20, concurrency=6)
    assert main(["run", str(config), "--run", str(tmp_path / "quiet")]) == 0
    calls = provider.stats.calls
    provider.reset()
    provider.configure(latency_ms=8, jitter_ms=8)
    generator = random.Random(11)
    run = tmp_path / "run"
    moments = [*sorted(generator.randrange(1, calls) for _ in range(KILLS - 1)), calls]
    for moment in moments:
        process = start("run", config, "--run", run)
        until = time.monotonic() + 60
        while provider.stats.calls < moment and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(generator.random() * (0.5 if moment == calls else 0.02))
        process.kill()
        process.communicate()
        if (run / "journal").is_dir():
            kept, lost = counts(run)
            assert provider.stats.answered <= kept + lost
    provider.configure(latency_ms=0, jitter_ms=0)
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert timeless(files_of(run)) == timeless(files_of(tmp_path / "quiet"))
    assert main(["verify", "--run", str(run)]) == 0
    assert finished_twice(run) == []
    kept, lost = counts(run)
    assert kept == calls
    assert 0 <= provider.stats.answered - kept <= lost <= 6 * KILLS


def test_a_changed_configuration_that_was_killed_is_gone_on_with(provider, tmp_path):
    series = Changes.prepared(tmp_path, provider)
    moments = (1, series.calls // 2, series.calls - 1, series.calls + 2)
    assert [series.kill(moment) for moment in moments] == [[]] * len(moments)


def test_a_cap_on_calls_holds_through_faults_and_kills(provider, tmp_path):
    cap = 120
    sizes = {"dialogues": 10, "subsets": 20, "concurrency": 6}
    config = write_config(tmp_path / "c.toml", provider, budget={"calls": cap}, **sizes)
    provider.configure(chaos_rate=0.3, chaos_kinds=("500", "503", "empty"), latency_ms=4, jitter_ms=4)
    run = tmp_path / "run"
    for moment in (15, 30, 50, 70, 90):
        process = start("run", config, "--run", run)
        until = time.monotonic() + 60
        while provider.stats.calls < moment and process.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        process.kill()
        process.communicate()
    assert main(["run", str(config), "--run", str(run)]) == 3
    announced = sum(row["state"] == "sent" for row in read_rows(run / "journal"))
    assert announced == cap
    assert cap - 6 * 5 <= provider.stats.calls <= cap


def test_a_cap_on_what_calls_take_holds_through_faults_and_kills(provider, tmp_path):
    provider.configure(**CHAOS)
    one = series(tmp_path, provider, "usd", 3, random.Random(5))
    assert one.code == 3 and one.holds, one
    assert one.lost <= 6 * 3
