"""kill -9 at random moments over all stages of a run, each followed by a resume.  python bench/kill_resume.py

Every run is killed once, when a drawn number of calls has reached the provider (or while ratings and report are
made), and then run again to its end. Counted at the provider and in the journal: calls answered twice although
their answers had been written (must be 0), calls repeated because they were in flight (at most those), files that
differ from the undisturbed run's (must be 0).
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import counts, files_of, finished_twice, start, write_config


def killed(provider: FakeProvider, config: Path, run: Path, moment: int, patience_s: float) -> None:
    process = start("run", config, "--run", run)
    while provider.stats.calls < moment and process.poll() is None:
        time.sleep(0.001)
    time.sleep(patience_s)
    process.kill()
    process.communicate()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    generator = random.Random(args.seed)
    twice = in_flight = lost_total = different = 0
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name, FakeProvider(keep=False) as provider:
        folder = Path(name)
        config = write_config(folder / "c.toml", provider, dialogues=8, subsets=16, concurrency=8)
        start("run", config, "--run", folder / "quiet").communicate()
        quiet, calls = files_of(folder / "quiet"), provider.stats.calls
        provider.configure(latency_ms=5, jitter_ms=10)
        for number in range(args.kills):
            provider.reset()
            run = folder / str(number)
            moment = generator.randrange(1, calls + calls // 6)
            killed(
                provider, config, run, min(moment, calls), generator.random() * (0.02 if moment < calls else 1.0)
            )
            lost = counts(run)[1]
            resumed = start("run", config, "--run", run)
            resumed.communicate()
            twice += len(finished_twice(run))
            repeated = provider.stats.answered - counts(run)[0]
            in_flight += repeated
            lost_total += lost
            wrong = [file for file, data in quiet.items() if files_of(run).get(file) != data]
            different += bool(wrong) or resumed.returncode != 0
            if wrong or repeated > lost:
                print(f"kill {number} at call {moment}: {repeated} repeated, {lost} in flight, differ: {wrong}")
            if number % 10 == 9:
                print(f"{number + 1} kills", flush=True)
    print(f"{args.kills} kills over {calls} calls: {twice} finished calls made twice; {in_flight} repeated of")
    print(f"{lost_total} in flight; {different} runs with a file that differs from the undisturbed run's")
    return 0 if not twice and in_flight <= lost_total and not different else 1


if __name__ == "__main__":
    sys.exit(main())
