"""Mutated and inflating responses through every adapter: only answers and named failures, in bounded memory.

    python bench/fuzz.py                        # 20,000 bodies, then 24 bodies of 200 MB at once to every kind
    python bench/fuzz.py --bodies 1500 --json   # fewer; prints one JSON line

Prints the outcomes, the longest time for which the loop's thread was busy without giving another a turn, and the
peak of the resident memory. litellm's own code is not ours to bound in time, so that its kind is measured apart.
Ends with exit code 1 where a limit is not kept. A body is made again by its number: ``--only KIND:NUMBER``.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gateway.adapters.catalog import build
from gateway.adapters.local import LocalAdapter
from gateway.budget import Budget
from gateway.engine import Gateway
from gateway.errors import CallFailed, FaultKind
from gateway.prompt import Message, Prompt
from runstore.journal import Journal
from runstore.records import Utterance

SERVER = Path(__file__).resolve().parents[1] / "tests" / "support" / "fuzz_server.py"
KINDS = ("openai", "gemini", "anthropic", "bedrock", "http", "ureka", "local", "litellm")
NAMED = frozenset(get_args(FaultKind)) - {"unexpected"}
AT_ONCE = 24
WARM_UP = 5
"""Calls of each kind before the watch begins: the first ones import and read certificates."""
LONGEST_BLOCK_MS, LARGEST_RSS_MB = 100.0, 400.0


@contextmanager
def server(*options: str) -> Generator[str]:
    """The fuzzing server in a process of its own; gives its address."""
    process = subprocess.Popen([sys.executable, str(SERVER), *options], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
    finally:
        process.kill()
        process.communicate()


def endpoints(address: str, kinds: list[str]) -> dict[str, Any]:
    common = {"concurrency": AT_ONCE, "retries": 0, "timeout_s": 60}
    vendor = {"model": "m", "base_url": address, **common}
    body = {"question": "{last_student}"}
    tables: dict[str, dict[str, Any]] = {
        "openai": {**vendor, "base_url": f"{address}/v1"},
        "gemini": vendor,
        "anthropic": vendor,
        "bedrock": {**vendor, "region": "us-east-1", "api_key_env": "FUZZ_KEY"},
        "http": {
            "url": f"{address}/reply",
            "body": body,
            "reply": "data.answer",
            "error_pattern": "ERROR",
            **common,
        },
        "ureka": {"base_url": address, **common},
        "litellm": {**vendor, "model": "hosted_vllm/m", "base_url": f"{address}/v1", "api_key_env": "FUZZ_KEY"},
    }
    made: dict[str, Any] = {kind: build(kind, {"kind": kind, **tables[kind]}) for kind in kinds if kind in tables}
    if "local" in kinds:
        of_a_server = SimpleNamespace(address=f"{address}/local", key="k")
        settings = LocalAdapter.Settings.model_validate({"kind": "local", **common})
        made["local"] = LocalAdapter(settings, serve=lambda _: of_a_server)  # type: ignore[arg-type]
    return made


def prompt(number: int) -> Prompt:
    text = f"#{number}# why?"
    messages = (Message("system", "Teach."), Message("user", text))
    return Prompt("teacher", messages, (Utterance(role="student", text=text),))


class Watch:
    """How long the loop's thread was at work between two turns of a timer: other processes do not count.

    ``near``: the calls that ended in the longest one.
    """

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self.near: list[str] = []
        self.ended: list[str] = []

    async def run(self) -> None:
        while True:
            before = time.thread_time()
            self.ended.clear()
            await asyncio.sleep(0.001)
            took = 1000 * (time.thread_time() - before)
            if took > self.longest_ms:
                self.longest_ms, self.near = took, self.ended.copy()


async def through(args: argparse.Namespace, address: str, kinds: list[str], asked: list[tuple[str, int]]) -> Any:
    """Every (kind, number) once, ``AT_ONCE`` at a time. Outcomes by kind, those without a name, the watch."""
    outcomes: dict[str, Counter[str]] = {kind: Counter() for kind in kinds}
    nameless: list[str] = []
    watch = Watch()
    with tempfile.TemporaryDirectory(prefix="tutor-arena-fuzz-") as folder:
        journal = Journal(Path(folder))
        async with Gateway(
            endpoints(address, kinds),
            journal=journal,
            budget=Budget(trial_calls=0),
            environ={"FUZZ_KEY": "fuzz-key-12345"},
        ) as gateway:
            for endpoint in gateway.endpoints.values():
                endpoint.health.patience = 1 << 60
            line = iter(asked)

            async def worker(asked: Iterable[tuple[str, int]]) -> None:
                for kind, number in asked:
                    try:
                        answer = await gateway.ask(kind, prompt(number))
                        outcomes[kind]["answer"] += 1
                        assert answer.text.strip()
                    except CallFailed as failed:
                        outcomes[kind][failed.kind] += 1
                        if failed.kind not in NAMED:
                            nameless.append(f"{kind}:{number}: {str(failed)[:300]}")
                        if args.verbose:
                            print(f"{kind}:{number}", failed)
                    watch.ended.append(f"{kind}:{number}")

            await worker((kind, number) for number in range(args.bodies, args.bodies + WARM_UP) for kind in kinds)
            gc.collect()
            gc.freeze()  # as a run does, see frontdesk.runner.session
            gc.set_threshold(50_000, 50, 50)
            watching = asyncio.create_task(watch.run())
            await asyncio.gather(*(worker(line) for _ in range(AT_ONCE)))
            watching.cancel()
        journal.close()
    return outcomes, nameless, watch


def measured(args: argparse.Namespace, kinds: list[str]) -> dict[str, Any]:
    """The figures of one part, in this process: mutations, or bombs."""
    options = ["--bomb", str(args.bomb)] if args.bomb else ["--seed", str(args.seed)]
    asked = [(kinds[n % len(kinds)], n // len(kinds)) for n in range(args.bodies)]
    if args.only:
        kind, _, number = args.only.partition(":")
        asked = [(kind, int(number))]
    with server(*options) as address:
        began = time.perf_counter()
        outcomes, nameless, watch = asyncio.run(through(args, address, kinds, asked))
    return {
        "bodies": len(asked),
        "seconds": round(time.perf_counter() - began, 1),
        "outcomes": {kind: dict(counts.most_common()) for kind, counts in outcomes.items()},
        "nameless": nameless,
        "longest_block_ms": round(watch.longest_ms, 1),
        "block_near": watch.near,
        "peak_rss_mb": _peak_rss_mb(),
    }


def part(*options: str) -> dict[str, Any]:
    """A part in a process of its own, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--json", *options], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def _peak_rss_mb() -> float:
    """This program's own peak: what the system counts for a process begins with that of its parent."""
    status = Path("/proc/self/status").read_text()
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=20_000)
    parser.add_argument("--bomb", type=int, default=0, help="MB that every body would become")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--only", help="KIND:NUMBER")
    parser.add_argument("--json", action="store_true", help="one part, its figures as JSON")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    kinds = [k for k in args.kinds.split(",") if k != "litellm" or importlib.util.find_spec("litellm")]
    if args.json or args.only:
        print(json.dumps(measured(args, kinds), ensure_ascii=False))
        return 0
    print(f"load {os.getloadavg()[0]:.1f}")
    is_kept = True
    ours, theirs = [kind for kind in kinds if kind != "litellm"], [kind for kind in kinds if kind == "litellm"]
    for some, share in ((ours, len(ours) / len(kinds)), (theirs, len(theirs) / len(kinds))):
        if some:
            options = ["--bodies", str(round(args.bodies * share)), "--seed", str(args.seed)]
            is_kept &= told(part(*options, "--kinds", ",".join(some)), "mutated bodies", timed=some is ours)
    for kind in kinds:
        bombs = part("--bodies", str(AT_ONCE), "--bomb", "200", "--kinds", kind)
        is_kept &= told(bombs, "bodies of 200 MB at once", timed=kind in ours)
    return 0 if is_kept else 1


def told(found: dict[str, Any], what: str, *, timed: bool) -> bool:
    """Prints a part's figures; whether they keep the limits (of time only where it is ``timed``)."""
    is_short = found["longest_block_ms"] <= LONGEST_BLOCK_MS or not timed
    is_kept = not found["nameless"] and is_short and found["peak_rss_mb"] <= LARGEST_RSS_MB
    limit = f"limit {LONGEST_BLOCK_MS:g}" if timed else "litellm's own"
    print(
        f"{found['bodies']} {what}, {found['seconds']} s: {len(found['nameless'])} without a name, longest block "
        f"{found['longest_block_ms']} ms ({limit}), peak {found['peak_rss_mb']} MB (limit {LARGEST_RSS_MB:g})",
        f"; in it ended {', '.join(found['block_near'][:3])}" if not is_short else "",
        "" if is_kept else "NOT KEPT",
    )
    for kind, counts in found["outcomes"].items():
        print(f"    {kind:<10}", ", ".join(f"{name} {count}" for name, count in counts.items()))
    print("".join(f"    {line}\n" for line in found["nameless"]), end="", flush=True)
    return is_kept


if __name__ == "__main__":
    sys.exit(main())
