"""Subsets of dialogues that users bring, cut without a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from frontdesk.runner.config import CutSection
from frontdesk.runner.given import read_dialogues
from runstore.publish import write_jsonl
from simulator import cutter


@dataclass(frozen=True, slots=True)
class CutFile:
    """How many subsets were cut of those wanted, from how many complete dialogues of how many."""

    subsets: int
    wanted: int
    complete: int
    dialogues: int


def cut_file(path: Path, output: Path, how: CutSection, seed: int) -> CutFile:
    """Cut a file's complete dialogues and write the subsets as JSON lines. Raises InputProblem."""
    dialogues = read_dialogues(path)
    complete = [dialogue for dialogue in dialogues if dialogue.complete]
    subsets = cutter.cut(complete, how.subsets, seed=seed, depth=how.depth, last_turns=how.last_turns)
    write_jsonl(output, subsets)
    return CutFile(len(subsets), how.subsets, len(complete), len(dialogues))
