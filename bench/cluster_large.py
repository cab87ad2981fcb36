"""Data beyond memory on one machine: battles from Parquet shards, dialogues from simulation to export."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.cluster_work import GIGABYTE, in_process
from runstore.publish import write_jsonl
from seed_questions import load
from simulator.realism.talk import plain_words

BATTLES = """
import sys, time, json
from pathlib import Path
from arena.ratings.leaderboard import build
from bench.cluster_work import peak_bytes
from arena.ratings.reading import Columns, read_battles
began = time.perf_counter()
cluster = None if sys.argv[2] == "none" else "cluster"
battles = read_battles(Path(sys.argv[1]), Columns(cluster=cluster))
counted = time.perf_counter()
board = build(battles)
print(json.dumps({"total": battles.total, "count_s": counted - began, "fit_s": time.perf_counter() - counted,
    "rated": [model.rating is not None and model.lower is not None for model in board.models],
    "peak": peak_bytes()}))
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


SCRIPTED = """
[run]
seed = 7
[endpoints.pupil]
kind = "scripted"
replies = "pupil.jsonl"
order = "hash"
[endpoints.coach]
kind = "scripted"
replies = "coach.jsonl"
order = "hash"
[simulate]
turns = 4
dialogues = {}
student = "pupil"
teacher = "coach"
"""
COMMAND = """
import sys, json
from bench.cluster_work import peak_bytes
from frontdesk.cli import main
code = main(sys.argv[1:])
print(json.dumps({"code": code, "peak": peak_bytes()}))
"""
STAGES = {
    "simulate": ("simulate", "c.toml", "--run", "run"),
    "quality": ("quality", "run"),
    "export as parquet and openai": ("export", "run", "--as", "parquet,openai"),
    "export as hf": ("export", "run", "--as", "hf"),
}
BEFORE = 10_000
LINES = 5_000
"""Messages of each speaker, of words of the question bank: so many that few dialogues say nearly the same."""


def dialogues(args: argparse.Namespace) -> bool:
    """So many dialogues, and before them ten thousand, so that growth is seen."""
    peaks: dict[str, list[float]] = {stage: [] for stage in STAGES}
    kept = True
    for count in dict.fromkeys((BEFORE, 1000 * args.thousands)):
        for stage, told, seconds in through(count):
            print(
                f"{stage}, {count:,} dialogues of 4 turns: {seconds:.0f} s, "
                f"peak {told['peak'] / GIGABYTE:.3f} GB (limit 1)",
                flush=True,
            )
            peaks[stage].append(told["peak"] / GIGABYTE)
            kept = kept and told["code"] == 0 and told["peak"] < GIGABYTE
    for stage, (few, *many) in peaks.items():
        for most in many:
            print(f"{stage}: peak {few:.3f} -> {most:.3f} GB, x {most / few:.2f}")
    return kept


def through(count: int) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Each stage with what its command told and its seconds; every command in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as name:
        folder = Path(name)
        scripted(folder, count)
        for stage, command in STAGES.items():
            began = time.perf_counter()
            here = Path.cwd()
            os.chdir(folder)
            told = in_process(COMMAND, *command)
            os.chdir(here)
            yield stage, told, time.perf_counter() - began


def scripted(folder: Path, count: int) -> None:
    """The configuration and the replies of a data set of so many dialogues."""
    drawn = random.Random(1)
    words = sorted({word for each in load() for word in plain_words(each.text)})
    for name, longest in (("pupil", 12), ("coach", 24)):
        said = ([drawn.choice(words) for _ in range(drawn.randint(3, longest))] for _ in range(LINES))
        write_jsonl(folder / f"{name}.jsonl", ({"reply": " ".join(each)} for each in said))
    (folder / "c.toml").write_text(SCRIPTED.format(count))
