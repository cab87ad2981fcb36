"""Runs under a cap that are killed again and again, with faults, and what they spent of it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import spent, start, write_config

CONCURRENCY = 6
CAPS: dict[str, float] = {"calls": 120, "tokens": 24_000, "usd": 0.024}
PRICE = {"input": 1.0, "output": 1.0}
LONGEST = 400
CHAOS: dict[str, Any] = {
    "chaos_rate": 0.3,
    "chaos_kinds": ("500", "503", "empty"),
    "latency_ms": 4,
    "jitter_ms": 4,
}


@dataclass(frozen=True, slots=True)
class Series:
    """What one capped run did. ``seen``: requests that the provider saw; ``lost``: attempts without an end;
    ``used``: calls, tokens or dollars of the attempts that ended."""

    cap: str
    kills: int
    seen: int
    announced: int
    lost: int
    used: float
    code: int

    @property
    def holds(self) -> bool:
        """The cap was reached and not passed, and no request was made that is not announced."""
        is_known = self.announced - self.lost <= self.seen <= self.announced
        return self.code == 3 and is_known and self.used <= CAPS[self.cap]


def series(folder: Path, provider: FakeProvider, cap: str, kills: int, generator: random.Random) -> Series:
    """One run, killed ``kills`` times on its way to the cap."""
    budget = {cap: int(CAPS[cap]) if cap != "usd" else CAPS[cap]}
    endpoint = {"price": PRICE}
    sizes = {"dialogues": 10, "subsets": 20, "concurrency": CONCURRENCY}
    config = write_config(folder / "c.toml", provider, budget=budget, endpoint=endpoint, **sizes)
    told = f"[endpoints.gemini]\nmax_output_tokens = {LONGEST}"
    config.write_text(config.read_text().replace("[endpoints.gemini]", told))
    provider.reset()
    for moment in sorted(generator.randrange(1, 100) for _ in range(kills)):
        process = start("run", config, "--run", folder / "run")
        while provider.stats.calls < moment and process.poll() is None:
            time.sleep(0.001)
        time.sleep(generator.random() * 0.01)
        process.kill()
        process.communicate()
    process = start("run", config, "--run", folder / "run")
    process.communicate()
    announced, lost, used = spent(folder / "run", cap)
    return Series(cap, kills, provider.stats.calls, announced, lost, used, process.returncode)
