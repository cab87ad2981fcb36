"""Whole runs against the fake provider, in this process or in one that can be killed."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runstore.journal import Journal, read_rows
from tests.support.fake_provider import FakeProvider
from tests.support.started import Started

REPOSITORY = Path(__file__).resolve().parents[2]


def write_config(
    path: Path,
    provider: FakeProvider,
    *,
    dialogues: int = 100,
    subsets: int = 200,
    seed: int = 7,
    concurrency: int = 64,
    endpoint: dict[str, Any] | None = None,
    budget: dict[str, Any] | None = None,
    **judge: Any,
) -> Path:
    """The main job in small. ``endpoint``: more settings of both endpoints."""
    more = {"concurrency": concurrency, **(endpoint or {})}
    lines: dict[str, dict[str, Any]] = {
        "run": {"name": "main-job", "seed": seed},
        "endpoints.gemini": provider.settings("gemini", identity="g", **more),
        "endpoints.ureka": provider.settings("ureka", identity="u", **more),
        "simulate": {"dialogues": dialogues, "turns": 4, "student": "gemini", "teacher": "gemini"},
        "cut": {"subsets": subsets},
        "collect": {"endpoints": ["ureka", "gemini"]},
        "judge": {"endpoints": ["gemini"], "rounds": 3, **judge},
        "rate": {"resamples": 200},
        "budget": budget or {},
    }
    path.write_text(to_toml(lines), encoding="utf-8")
    return path


def to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values as TOML."""
    return "\n".join(
        f"[{table}]\n" + "\n".join(f"{key} = {_toml(value)}" for key, value in values.items())
        for table, values in tables.items()
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)


def files_of(folder: Path) -> dict[str, bytes]:
    """The published files that a run must reproduce byte for byte."""
    skipped = {"run.lock", "log.jsonl", "run.toml"}
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name not in skipped
    }


def timeless(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files that two runs of the same answers share, without how long each answer took.

    What draws, prints or hashes those times (reports, leaderboard.md, published.json) is left out: ``verify``
    compares it with its run.
    """
    timed = {"leaderboard.md", "published.json"}
    kept = {name: data for name, data in files.items() if not name.startswith("report") and name not in timed}
    for name in ("replies.jsonl", "leaderboard.json"):
        if name in kept:
            kept[name] = re.sub(rb'"latency(_p95)?_s": ?[^,}]+', b"", kept[name])
    if "leaderboard.csv" in kept:
        rows = csv.DictReader(kept["leaderboard.csv"].decode().splitlines())
        plain = [{key: value for key, value in row.items() if not key.startswith("latency")} for row in rows]
        kept["leaderboard.csv"] = repr(plain).encode()
    return kept


def start(*arguments: str | Path, **environ: str) -> Started:
    """The command in a process of its own, its output kept in pipes."""
    return Started([str(argument) for argument in arguments], {**os.environ, **environ})


def finished_twice(run: Path) -> list[str]:
    """Keys of calls that a run's journal holds more than one answer to."""
    seen: set[str] = set()
    twice: list[str] = []
    for row in read_rows(run / "journal"):
        if row["state"] == "ok":
            (twice.append if row["key"] in seen else seen.add)(row["key"])
    return twice


def counts(run: Path) -> tuple[int, int]:
    """(answers in the journal, calls that were sent and never heard of)."""
    journal = Journal(run / "journal", read_only=True)
    try:
        return len(journal), journal.lost
    finally:
        journal.close()


def spent(run: Path, cap: str) -> tuple[int, int, float]:
    """Attempts that were announced, those that never ended, and what the others took: calls, tokens or usd."""
    announced = ended = 0
    used = 0.0
    for row in read_rows(run / "journal"):
        if row["state"] == "note":
            continue
        if row["state"] == "sent":
            announced += 1
            continue
        paid = [(fault["usage"], fault["cost_usd"]) for fault in row["faults"] if fault["usage"] is not None]
        if row["state"] == "ok":
            paid.append((row["answer"]["usage"], row["cost_usd"]))
        ended += len(row["faults"]) + (row["state"] == "ok")
        for usage, usd in paid:
            used += (usd or 0.0) if cap == "usd" else sum(count or 0 for count in usage[:3])
    return announced, announced - ended, float(announced) if cap == "calls" else used
