"""Data beyond memory on one machine: battles from Parquet shards, dialogues from simulation to export."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.cluster_work import GIGABYTE, in_process
from runstore.publish import write_jsonl

BATTLES = """
import sys, time, resource, json
from pathlib import Path
from arena.ratings.leaderboard import build
from arena.ratings.reading import Columns, read_battles
began = time.perf_counter()
cluster = None if sys.argv[2] == "none" else "cluster"
battles = read_battles(Path(sys.argv[1]), Columns(cluster=cluster))
counted = time.perf_counter()
board = build(battles)
print(json.dumps({"total": battles.total, "count_s": counted - began, "fit_s": time.perf_counter() - counted,
    "rated": [model.rating is not None and model.lower is not None for model in board.models],
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def battles(args: argparse.Namespace) -> bool:
    import pyarrow as pa
    from pyarrow import parquet

    names = np.array([f"model-{number:02d}" for number in range(20)])
    size, kept = 1_000_000, True
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        generator = np.random.default_rng(1)
        for shard in range(args.millions):
            a = generator.integers(0, 20, size)
            b = (a + generator.integers(1, 20, size)) % 20
            ahead = 1 / (1 + np.exp(0.1 * (a - b)))
            won = np.where(generator.random(size) < 0.1, 2, (generator.random(size) > ahead).astype(int))
            talks = shard * args.dialogues // args.millions + generator.integers(
                0, max(1, args.dialogues // args.millions), size
            )
            winner = pa.DictionaryArray.from_arrays(won.astype(np.int8), ["model_a", "model_b", "tie"])
            sides = [pa.DictionaryArray.from_arrays(side.astype(np.int8), names) for side in (a, b)]
            columns = {"model_a": sides[0], "model_b": sides[1], "winner": winner, "cluster": talks}
            parquet.write_table(pa.table(columns), Path(name) / f"{shard:05d}.parquet")
        for cluster in ("none", "cluster"):
            told = in_process(BATTLES, name, cluster)
            clustered = f"clustered by {args.dialogues:,} dialogues" if cluster == "cluster" else "not clustered"
            shards = f"{told['total']:,} battles in {args.millions} shards"
            print(
                f"{shards}, {clustered}: counted in {told['count_s']:.1f} s "
                f"({told['total'] / told['count_s'] / 1e6:.1f} million/s), rated in {told['fit_s']:.1f} s, "
                f"peak {told['peak'] / GIGABYTE:.2f} GB (limit 2)"
            )
            kept = kept and all(told["rated"]) and told["peak"] < 2 * GIGABYTE
    return kept


REPLIES = [
    {
        "role": "student",
        "reply": "I think it halves each time, but why does that make it logarithmic, not linear?",
    },
    {
        "role": "teacher",
        "reply": "What is left after one step, and after two? Try it with sixteen and write it down.",
    },
]


SCRIPTED = """
[run]
seed = 7
[endpoints.stub]
kind = "scripted"
replies = "replies.jsonl"
[simulate]
turns = 4
dialogues = {}
student = "stub"
teacher = "stub"
"""
COMMAND = """
import sys, resource, json
from frontdesk.cli import main
code = main(sys.argv[1:])
print(json.dumps({"code": code, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def dialogues(args: argparse.Namespace) -> bool:
    """Every command in a process of its own; the peak of each is looked at."""
    kept = True
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        folder = Path(name)
        write_jsonl(folder / "replies.jsonl", REPLIES)
        (folder / "c.toml").write_text(SCRIPTED.format(1000 * args.thousands))
        for command in (["simulate", "c.toml", "--run", "run"], ["export", "run", "--as", "hf"]):
            began = time.perf_counter()
            here = Path.cwd()
            os.chdir(folder)
            told = in_process(COMMAND, *command)
            os.chdir(here)
            print(
                f"{command[0]}, {args.thousands},000 dialogues of 4 turns: {time.perf_counter() - began:.0f} s, "
                f"peak {told['peak'] / GIGABYTE:.2f} GB (limit 1)"
            )
            kept = kept and told["code"] == 0 and told["peak"] < GIGABYTE
    return kept
