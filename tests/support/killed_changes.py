"""A changed configuration over a finished run (``run --change``), killed and run again."""

from __future__ import annotations

import contextlib
import io
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from frontdesk.cli import main as command
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import counts, files_of, finished_twice, start, timeless, write_config


def is_right(run: Path) -> bool:
    """Whether verify finds nothing wrong (a run without run.toml had not begun)."""
    if not (run / "run.toml").is_file():
        return True
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()) as out:
        code = command(["verify", "--run", str(run)])
    if code:
        wrong = [
            line for line in out.getvalue().splitlines() if line.startswith(("DIFFERENT", "missing", "stale"))
        ]
        print(f"verify {run.name}: {wrong}")
    return code == 0


@dataclass(slots=True)
class Changes:
    """``calls`` are made by the undisturbed change, which ended as ``wanted``."""

    folder: Path
    provider: FakeProvider
    config: Path
    calls: int
    wanted: dict[str, bytes]
    tries: int = 0

    @classmethod
    def prepared(cls, folder: Path, provider: FakeProvider) -> Changes:
        """A finished run in ``folder``, and a copy of it after the change."""
        old = write_config(folder / "old.toml", provider, dialogues=5, subsets=6, concurrency=8)
        assert command(["run", str(old), "--run", str(folder / "made")]) == 0
        new = write_config(
            folder / "new.toml", provider, dialogues=6, subsets=8, concurrency=8, criteria=["understanding"],
            format="json",
        )  # fmt: skip
        quiet = shutil.copytree(folder / "made", folder / "quiet")
        provider.reset()
        assert command(["run", str(new), "--run", str(quiet), "--change"]) == 0
        calls = provider.stats.calls
        assert is_right(quiet)
        return cls(folder, provider, new, calls, timeless(files_of(quiet)))

    def kill(self, moment: int) -> list[str]:
        """What is wrong after a kill at a call (beyond the last: somewhat later), and after the resume."""
        self.tries += 1
        run = shutil.copytree(self.folder / "made", self.folder / str(self.tries))
        had = counts(run)[0]
        self.provider.reset()
        self.provider.configure(latency_ms=5, jitter_ms=10)
        process = start("run", self.config, "--run", run, "--change")
        while self.provider.stats.calls < min(moment, self.calls) and process.poll() is None:
            time.sleep(0.001)
        time.sleep(0.003 * (moment % 7) if moment < self.calls else 0.25 * (moment % 5))
        process.kill()
        process.communicate()
        lost = counts(run)[1]
        wrong = [] if is_right(run) else ["verify accused the killed run"]
        resumed = start("run", self.config, "--run", run, "--change")
        resumed.communicate()
        repeated = self.provider.stats.answered - (counts(run)[0] - had)
        made = timeless(files_of(run))
        differ = sorted(name for name in {*made, *self.wanted} if made.get(name) != self.wanted.get(name))
        wrong += [] if is_right(run) else ["verify accused the resumed run"]
        wrong += [f"exit code {resumed.returncode}"] if resumed.returncode else []
        wrong += [f"asked twice: {repeated}, {lost} in flight"] if finished_twice(run) or repeated > lost else []
        wrong += [f"differ: {differ}"] if differ else []
        if wrong:
            print(f"change {self.tries}, killed at call {moment} of {self.calls}: {wrong}", flush=True)
        return wrong
