"""kill -9 again and again under a cap, with faults: what was spent against the cap.  python bench/kill_caps.py

Runs under one cap (of calls, tokens or dollars in turn) are killed at drawn moments, several times each, and then
run to the cap. The provider fails a share of the requests and counts every request that it saw. The cap must be
exact but for the attempts in flight at a kill: those may have reached the provider or not, and count as spent.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.fake_provider import FakeProvider
from tests.support.killed_under_cap import CAPS, CHAOS, Series, series


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--kills-each", type=int, default=5, help="kills of one run")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    generator = random.Random(args.seed)
    done: list[Series] = []
    with (
        tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name,
        FakeProvider(keep=False, **CHAOS) as provider,
    ):
        print(f"{'cap':<8}{'limit':>10}{'used':>12}{'announced':>11}{'seen':>7}{'lost':>6}  holds")
        while sum(one.kills for one in done) < args.kills:
            cap = list(CAPS)[len(done) % len(CAPS)]
            folder = Path(name) / str(len(done))
            folder.mkdir()
            one = series(folder, provider, cap, args.kills_each, generator)
            done.append(one)
            shown = f"{one.used:>12g}{one.announced:>11}{one.seen:>7}{one.lost:>6}"
            print(f"{cap:<8}{CAPS[cap]:>10g}{shown}  {'yes' if one.holds else 'NO'}", flush=True)
    kills, lost = sum(one.kills for one in done), sum(one.lost for one in done)
    held = sum(one.holds for one in done)
    print(f"{kills} kills of {len(done)} runs: {held} caps held, {lost} attempts in flight when killed")
    return 0 if held == len(done) else 1


if __name__ == "__main__":
    sys.exit(main())
