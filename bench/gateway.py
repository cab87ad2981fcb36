"""What a call costs through the whole engine, beside a bare client and beside other engines.

    python bench/gateway.py                 # everything but the peers, about three minutes on two idle cores
    python bench/gateway.py --peers         # also curator, AsyncOpenAI and inspect_ai (installed on the first run)
    python bench/gateway.py --only rate,memory

Client and provider are pinned to different cores. Each pair of figures is taken in turn, several times, and
compared by its medians; a ratio is printed with the limit that it has to keep. Ends with exit code 1 where one is
not kept.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
PROVIDER = HERE.parent / "tests" / "support" / "fake_provider.py"
ENVIRONMENTS = Path(tempfile.gettempdir()) / "tutor-arena-bench"
# Each peer's environment, and its packages; curator's litellm loads orjson without asking for it.
PEERS = {
    "curator": ("curator", ("bespokelabs-curator", "orjson")),
    "openai": ("peers", ("openai",)),
    "inspect": ("peers", ("inspect-ai",)),
}
Figures = dict[str, float]


@contextmanager
def provider(*options: str) -> Generator[int]:
    """The fake provider on the last core; gives its port."""
    process = subprocess.Popen([sys.executable, str(PROVIDER), *options], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {(os.cpu_count() or 1) - 1})
        yield port
    finally:
        process.kill()
        process.communicate()


def client(
    port: int, which: str, *, calls: int, in_flight: int, kind: str = "openai", warm_up: int = 0
) -> Figures:
    """One run of bench/gateway_client.py on the first core."""
    command = [sys.executable, str(HERE / "gateway_client.py"), which, "--kind", kind, "--port", str(port)]
    numbers = ["--calls", str(calls), "--in-flight", str(in_flight), "--warm-up", str(warm_up), "--core", "0"]
    done = subprocess.run([*command, *numbers], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def in_turn(times: int, *runs: Callable[[], Figures]) -> list[Figures]:
    """The medians of each run's figures, taken in turn so that a busy moment meets all of them."""
    found: list[list[Figures]] = [[] for _ in runs]
    for _ in range(times):
        for place, run in enumerate(runs):
            found[place].append(run())
    return [{key: statistics.median(one[key] for one in rows) for key in rows[0]} for rows in found]


class Table:
    """Rows of (what, figures, ratio or figure, limit, kept or not)."""

    def __init__(self) -> None:
        self.is_kept = True

    def row(self, what: str, shown: str, value: float, limit: float, *, most: bool = False) -> None:
        kept = value <= limit if most else value >= limit
        self.is_kept &= kept
        sign = "<=" if most else ">="
        print(f"{what:<44} {shown:<46} {value:8.3f} {sign} {limit:<6g} {'' if kept else 'NOT KEPT'}", flush=True)


def rate(table: Table, times: int) -> None:
    """Beside a tuned bare aiohttp client, at as many calls in flight: it slows down too where they are many."""
    with provider("--fixed") as port:
        for in_flight, least in ((100, 0.5), (1000, 0.55)):
            calls = {"calls": 15_000, "in_flight": in_flight, "warm_up": max(500, 3 * in_flight)}
            bare, ours = in_turn(
                times,
                lambda calls=calls: client(port, "bare", **calls),
                lambda calls=calls: client(port, "engine", **calls),
            )
            shown = f"{ours['cpu_ms']:.3f} ms, bare aiohttp {bare['cpu_ms']:.3f} ms"
            ratio = ours["cpu_ms"] / bare["cpu_ms"]
            table.row(f"CPU a call, journal on, {in_flight:,} in flight", shown, ratio, 2.0, most=True)
            shown = f"{ours['rate']:.0f}/s, bare aiohttp {bare['rate']:.0f}/s"
            table.row(f"calls/s, journal on, {in_flight:,} in flight", shown, ours["rate"] / bare["rate"], least)


def latency(table: Table, times: int) -> None:
    """What waiting for places costs, the slow start among it: so many in flight that neither client is short of
    processor time (1,000 at 200 ms would be 5,000 calls/s, which is :func:`rate`)."""
    with provider("--fixed", "--latency-ms", "200") as port:
        bare, ours = in_turn(
            times,
            lambda: client(port, "bare", calls=8_000, in_flight=400),
            lambda: client(port, "engine", calls=8_000, in_flight=400),
        )
    shown = f"{ours['rate']:.0f}/s, bare aiohttp {bare['rate']:.0f}/s"
    table.row("200 ms latency, 400 in flight, slow start", shown, ours["rate"] / bare["rate"], 0.95)


def adapters(table: Table, times: int) -> None:
    with provider("--fixed") as port:
        theirs, ours = in_turn(
            times,
            lambda: client(port, "google", kind="gemini", calls=3_000, in_flight=100, warm_up=300),
            lambda: client(port, "engine", kind="gemini", calls=3_000, in_flight=100, warm_up=300),
        )
        shown = f"{ours['cpu_ms']:.3f} ms, bare google-genai {theirs['cpu_ms']:.3f} ms"
        table.row("CPU a call, adapter gemini", shown, ours["cpu_ms"] / theirs["cpu_ms"], 1.1, most=True)
        for kind in ("openai", "anthropic", "http"):
            bare, ours = in_turn(
                times,
                lambda kind=kind: client(port, "bare", kind=kind, calls=8_000, in_flight=100, warm_up=300),
                lambda kind=kind: client(port, "engine", kind=kind, calls=8_000, in_flight=100, warm_up=300),
            )
            shown = f"{ours['cpu_ms']:.3f} ms, bare aiohttp {bare['cpu_ms']:.3f} ms"
            table.row(f"CPU a call, adapter {kind}", shown, ours["cpu_ms"] / bare["cpu_ms"], 2.0, most=True)
        one = bare  # of the http shape, the nearest to a session's steps
    with provider() as port:
        (ours,) = in_turn(
            times, lambda: client(port, "engine", kind="ureka", calls=3_000, in_flight=100, warm_up=100)
        )
    shown = f"{ours['cpu_ms']:.3f} ms, three bare requests {3 * one['cpu_ms']:.3f} ms"
    table.row(
        "CPU a call, adapter ureka (3 requests)", shown, ours["cpu_ms"] / (3 * one["cpu_ms"]), 2.0, most=True
    )


def memory(table: Table, _: int) -> None:
    with provider("--fixed") as port:
        found = client(port, "engine", calls=60_000, in_flight=100, warm_up=10_000)
    table.row("peak bytes a finished call", "60,000 calls", found["bytes_per_call"], 1024, most=True)


def peers(table: Table, _: int) -> None:
    with provider("--fixed") as port:
        for name, calls, limit in (("curator", 600, 10.0), ("openai", 600, 10.0), ("inspect", 200, 100.0)):
            before, found, after = engine(port), peer(name, port, calls), engine(port)
            if found is not None:
                ours = {key: (before[key] + after[key]) / 2 for key in before}
                shown = (
                    f"{ours['rate']:.0f}/s, {found['rate']:.1f}/s; CPU {found['cpu_ms'] / ours['cpu_ms']:.0f} x"
                )
                table.row(f"times the rate of {name}", shown, ours["rate"] / found["rate"], limit)


def engine(port: int) -> Figures:
    return client(port, "engine", calls=8_000, in_flight=100, warm_up=500)


def peer(name: str, port: int, calls: int) -> Figures | None:
    """A peer's figures, out of an environment of its own; None, and said so, where it cannot be installed."""
    environment, packages = PEERS[name]
    python = ENVIRONMENTS / environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENTS / environment)], check=True)
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        print(f"{name}: could not be installed, not measured")
        return None
    measured = ["--port", str(port), "--calls", str(calls), "--core", "0"]
    # -P: this folder's datasets.py is not the package that curator loads.
    command = [python, "-P", HERE / "gateway_peers.py", name, *measured]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **encodings()})
    if done.returncode:
        print(f"{name}: failed, not measured: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def encodings() -> dict[str, str]:
    """Where tiktoken finds its encodings without a network, as unpacked by this project's own estimator."""
    from gateway import tokens
    from gateway.user_cache import user_cache

    tokens.count("x", "gpt-4")
    return {"TIKTOKEN_CACHE_DIR": str(user_cache() / "encodings")}


PARTS = {"rate": rate, "latency": latency, "adapters": adapters, "memory": memory, "peers": peers}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="also measure other engines")
    parser.add_argument("--only", help=f"some of {','.join(PARTS)}")
    parser.add_argument("--times", type=int, default=3, help="how often each pair is measured")
    args = parser.parse_args()
    chosen = args.only.split(",") if args.only else [name for name in PARTS if name != "peers" or args.peers]
    table = Table()
    print(f"{'what':<44} {'figures':<46} {'ratio':>8}    limit")
    for name in chosen:
        PARTS[name](table, args.times)
    return 0 if table.is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
