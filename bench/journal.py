"""How long a run of a million calls takes to resume, and how much memory.  python bench/journal.py

Writes a journal as the engine does (a line when a call goes out, a line of about 1.5 KB when it is answered), then
opens it in a process of its own. Limits: 15 s and 300 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from runstore.ids import digest
from runstore.journal import Journal

LIMIT_S, LIMIT_MB = 15.0, 300.0
BODY = b',"endpoint":"t","repeat":0,"where":["collect","s-1"],"at":1.000,"request":"%b"' % (b"x" * 1350)


async def write(folder: Path, calls: int) -> None:
    journal = Journal(folder)
    for number in range(calls):
        key = digest(number)
        journal.put(key, "sent", b',"endpoint":"t","at":1.000')
        journal.put(key, "ok", BODY)
        if number % 200 == 199:
            await journal.written()
    journal.close()


def resume(folder: Path, calls: int) -> None:
    began = time.perf_counter()
    journal = Journal(folder)
    seconds = time.perf_counter() - began
    assert len(journal) == calls and journal.lost == 0 and journal.find(digest(calls // 2)) is not None
    journal.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu": time.process_time(), "mb": peak}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--resume", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.resume:
        resume(args.resume, args.calls)
        return 0
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as folder:
        began = time.perf_counter()
        asyncio.run(write(Path(folder), args.calls))
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
        print(f"wrote {args.calls:,} calls, {size:,.0f} MB, in {time.perf_counter() - began:.1f} s")
        again = [sys.executable, __file__, "--calls", str(args.calls), "--resume", folder]
        found = json.loads(subprocess.run(again, capture_output=True, text=True, check=True).stdout)
    kept = found["seconds"] <= LIMIT_S and found["mb"] <= LIMIT_MB
    print(f"resumed in {found['seconds']:.1f} s (limit {LIMIT_S:g}; {found['cpu']:.1f} s of CPU)")
    print(f"peak memory {found['mb']:.0f} MB (limit {LIMIT_MB:g})")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
