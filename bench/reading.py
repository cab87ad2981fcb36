"""Judges' replies drawn at random, read: no number that was not written as the value.  python bench/reading.py

Counted: replies, those whose score was read, and those where another number was read than was written (must be 0).
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arena.reading import read_integer, read_object
from tests.support.judge_replies import reply


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replies", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    generator = random.Random(args.seed)
    read = missed = wrong = 0
    for _ in range(args.replies):
        drawn = reply(generator)
        found = read_object(drawn.text, keys=("reason", "score", "other"))
        score = None if found.value is None else read_integer(found.value.get("score"), 1, 5).value
        read += score is not None
        missed += score is None and drawn.is_whole and drawn.value is not None
        if score is not None and score != drawn.value:
            wrong += 1
            print(repr(drawn.text))
    print(
        f"{args.replies} replies: {read} scores read, {missed} whole ones unread, {wrong} otherwise than written"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
