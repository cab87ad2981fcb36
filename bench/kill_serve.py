"""kill -9 of the study server under six people who write.  python bench/kill_serve.py --kills 30

Six raters save their form again and again, each time with another text. At a random moment the server is killed
and started again. Every save that was acknowledged must be on file, or a later one of the same person that was
under way. Counted: acknowledged saves, lost ones (must be 0), pages that fail (must be 0).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.killed_server import WRITERS, killed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        saved, lost, failed = asyncio.run(killed(Path(name), args.kills, random.Random(args.seed)))
    counted = f"{saved} saves acknowledged, {lost} lost, {failed} pages failed"
    print(f"{args.kills} kills under {WRITERS} writers: {counted}")
    return 0 if saved and not lost and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
