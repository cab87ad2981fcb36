"""Run folders at a glance: what each is, how far it came, and what it found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from arena.ratings.result import Leaderboard, read_leaderboard
from frontdesk.runner.leaderboard_history import PENDING
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import InputProblem

State = Literal["started", "simulated", "cut", "collected", "judged", "rated", "refresh pending"]
_FILES: tuple[tuple[State, str], ...] = (
    ("refresh pending", PENDING),
    ("rated", "leaderboard.json"),
    ("judged", "verdicts.jsonl"),
    ("collected", "replies.jsonl"),
    ("cut", "subsets.jsonl"),
    ("simulated", "dialogues.jsonl"),
)


@dataclass(frozen=True, slots=True)
class Overview:
    """One run. ``changed``: when its last file was written (UTC, ISO 8601, whole seconds); ``dialogues``: how many
    dialogues carry the ratings, or how many there are where nothing is rated. ``leader`` is the first endpoint,
    ``better`` those it is better than."""

    folder: str
    name: str
    changed: str
    endpoints: tuple[str, ...]
    state: State
    dialogues: int | None
    leader: str | None
    better: tuple[str, ...]


def runs(parent: Path) -> Iterator[Overview]:
    """Every run folder in ``parent`` (or itself), by name. Raises InputProblem where there is no folder."""
    if not parent.is_dir():
        raise InputProblem(parent, "a folder of runs", found="none")
    for path in [parent] if (parent / "run.toml").is_file() else sorted(parent.iterdir()):
        if (path / "run.toml").is_file():
            yield _overview(RunFolder(path))


def _overview(folder: RunFolder) -> Overview:
    config = folder.config()
    board = (
        read_leaderboard(folder.file("leaderboard.json")) if folder.file("leaderboard.json").is_file() else None
    )
    written = max(path.stat().st_mtime for path in folder.path.iterdir() if path.is_file())
    leader, better = _decided(board) if board is not None else (None, ())
    return Overview(
        folder=str(folder.path),
        name=config.run.name,
        changed=datetime.fromtimestamp(int(written), UTC).isoformat(),
        endpoints=tuple(config.collect.endpoints) if config.collect else (),
        state=_state(folder),
        dialogues=board.counts.clusters if board is not None else _lines(folder.file("dialogues.jsonl")),
        leader=leader,
        better=better,
    )


def _lines(path: Path) -> int | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(partial(file.read, 1 << 20), b""))


def _state(folder: RunFolder) -> State:
    for state, file in _FILES:
        if folder.file(file).is_file():
            return state
    return "started"


def _decided(board: Leaderboard) -> tuple[str | None, tuple[str, ...]]:
    if not board.models:
        return None, ()
    leader = board.models[0].name
    first = [pair.b for pair in board.pairs if pair.a == leader and pair.decision == "a"]
    second = [pair.a for pair in board.pairs if pair.b == leader and pair.decision == "b"]
    return leader, (*first, *second)
