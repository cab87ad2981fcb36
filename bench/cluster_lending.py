"""Messages a second that a scheduler answers while workers borrow from the desk, over the way that they take."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, cast

from bench.cluster_work import collecting
from frontdesk.runner.progress import Progress
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.session import opened
from gateway.budget import Budget

AT_ONCE = 16
NO_CAPS = {"usd": None, "calls": None, "tokens": None}


def lend(run: str, holder: str, messages: int) -> float:
    """On a worker, from a thread of its own as shares have it: seconds until so many messages were answered."""
    from distributed import get_worker

    from frontdesk.runner.cluster.service import Line

    line = Line(get_worker(), run)

    async def borrowed() -> float:
        began = time.perf_counter()
        for _ in range(messages):
            await line("places", holder, "e", [0] * AT_ONCE, [], 0)
        return time.perf_counter() - began

    return asyncio.run(borrowed())


async def lent(folder: Path, workers: int, messages: int = 500) -> float:
    """Messages of sixteen calls that all workers together get answered in a second."""
    endpoint = {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
    config = collecting(endpoint, f"local:{workers}")
    quiet = Progress((folder / "progress.txt").open("w"))
    async with opened(RunFolder(folder / "run"), config, ["tutor"], progress=quiet) as pipeline:
        crew = cast("Any", pipeline).crew
        client = await crew.ready()
        await crew.desk("open", "collect", {"e": (6e7, None)}, NO_CAPS, Budget().state(), (0, "rounds"))
        names = list(await crew.workers(60, lambda: False))
        for at, name in enumerate(names):
            await crew.desk("start", "collect", f"w{at}", name)
        placed = [
            client.submit(lend, crew.run, f"w{at}", messages, workers=[name], pure=False)
            for at, name in enumerate(names)
        ]
        spans = [await future for future in placed]
    return workers * messages / max(spans)
