"""kill -9 at random moments of run and refresh, each followed by a resume.  python bench/kill_resume.py

Every run is killed once, when a drawn number of calls has reached the provider (or while ratings and report are
made), and then run again to its end. Counted at the provider and in the journal: calls answered twice although
their answers had been written (must be 0), calls repeated because they were in flight (at most those), files that
differ from the undisturbed run's (must be 0), runs that verify does not find right, before or after the resume
(must be 0). Refreshes of a finished run, and runs of a changed configuration over one (``run --change``), are
killed and gone on with likewise.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.fake_provider import FakeProvider
from tests.support.killed_changes import Changes, is_right
from tests.support.refreshing import with_endpoint
from tests.support.small_runs import counts, files_of, finished_twice, start, timeless, write_config


def killed(provider: FakeProvider, config: Path, run: Path, moment: int, patience_s: float) -> None:
    process = start("run", config, "--run", run)
    while provider.stats.calls < moment and process.poll() is None:
        time.sleep(0.001)
    time.sleep(patience_s)
    process.kill()
    process.communicate()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="of run")
    parser.add_argument("--refreshes", type=int, default=20, help="kills of refresh")
    parser.add_argument("--changes", type=int, default=10, help="kills of run --change")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    generator = random.Random(args.seed)
    twice = in_flight = lost_total = different = accused = 0
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name, FakeProvider(keep=False) as provider:
        folder = Path(name)
        config = write_config(folder / "c.toml", provider, dialogues=8, subsets=16, concurrency=8)
        start("run", config, "--run", folder / "quiet").communicate()
        quiet, calls = timeless(files_of(folder / "quiet")), provider.stats.calls
        provider.configure(latency_ms=5, jitter_ms=10)
        for number in range(args.kills):
            provider.reset()
            run = folder / str(number)
            moment = generator.randrange(1, calls + calls // 2)
            killed(
                provider, config, run, min(moment, calls), generator.random() * (0.02 if moment < calls else 1.5)
            )
            lost = counts(run)[1]
            accused += not is_right(run)
            resumed = start("run", config, "--run", run)
            resumed.communicate()
            twice += len(finished_twice(run))
            repeated = provider.stats.answered - counts(run)[0]
            in_flight += repeated
            lost_total += lost
            made = timeless(files_of(run))
            wrong = [file for file, data in quiet.items() if made.get(file) != data]
            different += bool(wrong) or resumed.returncode != 0
            accused += not is_right(run)
            if wrong or repeated > lost:
                print(f"kill {number} at call {moment}: {repeated} repeated, {lost} in flight, differ: {wrong}")
            if number % 10 == 9:
                print(f"{number + 1} kills", flush=True)
    print(f"{args.kills} kills over {calls} calls: {twice} finished calls made twice; {in_flight} repeated of")
    print(f"{lost_total} in flight; {different} runs with a file that differs from the undisturbed run's;")
    print(f"{accused} of {2 * args.kills} verifications found something wrong")
    bad = refreshes(args.refreshes, generator) if args.refreshes else 0
    bad += changes(args.changes, generator) if args.changes else 0
    return 0 if not (twice or different or accused or bad) and in_flight <= lost_total else 1


def refreshes(kills: int, generator: random.Random) -> int:
    """Kill and resume refreshes of copies of one run; the number of those where anything is wrong."""
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name, FakeProvider(keep=False) as provider:
        folder = Path(name)
        config = write_config(folder / "c.toml", provider, dialogues=6, subsets=12, concurrency=8)
        start("run", config, "--run", folder / "made").communicate()
        added = folder / "added.toml"
        added.write_text(with_endpoint(provider, "third"))
        words = ("--add", "third", "--config", added)
        quiet = shutil.copytree(folder / "made", folder / "quiet")
        provider.reset()
        start("refresh", "--run", quiet, *words).communicate()
        calls = provider.stats.calls
        provider.configure(latency_ms=5, jitter_ms=10)
        for number in range(kills):
            provider.reset()
            run = shutil.copytree(folder / "made", folder / str(number))
            moment = generator.randrange(1, calls + calls // 4)
            process = start("refresh", "--run", run, *words)
            while provider.stats.calls < min(moment, calls) and process.poll() is None:
                time.sleep(0.001)
            time.sleep(generator.random() * (0.02 if moment < calls else 1.0))
            process.kill()
            process.communicate()
            fine = [is_right(run)]
            resumed = start("refresh", "--run", run, *words)
            resumed.communicate()
            fine += [is_right(run), resumed.returncode == 0, not finished_twice(run)]
            fine.append(len((run / "history.jsonl").read_bytes().splitlines()) == 1)
            fine.append((run / "verdicts.jsonl").read_bytes() == (quiet / "verdicts.jsonl").read_bytes())
            if not all(fine):
                wrong += 1
                print(f"refresh {number} killed at call {moment} of {calls}: {fine}")
    print(f"{kills} kills of refresh over {calls} calls: {wrong} with anything wrong")
    return wrong


def changes(kills: int, generator: random.Random) -> int:
    """Kill and resume changed configurations over copies of one run; the number of those with anything wrong."""
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name, FakeProvider(keep=False) as provider:
        series = Changes.prepared(Path(name), provider)
        wrong = sum(bool(series.kill(generator.randrange(1, series.calls * 5 // 4))) for _ in range(kills))
    print(f"{kills} kills of run --change over {series.calls} calls: {wrong} with anything wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
