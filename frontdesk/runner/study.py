"""An example study to start from."""

from __future__ import annotations

import shutil
from pathlib import Path

from arena.human import studies
from runstore.problems import Problem

EXAMPLES = {"document-review": ("document_review.toml", "documents.jsonl"), "tutor-votes": ("tutor_votes.toml",)}
"""Name -> the study file, and what it needs beside it."""


def start(folder: Path, example: str) -> Path:
    """Write an example into the folder; the path of its study file. Raises Problem where there is one already."""
    target = folder / "study.toml"
    if target.exists():
        raise Problem(f"{target} exists already; it was left as it is")
    folder.mkdir(parents=True, exist_ok=True)
    study, *beside = EXAMPLES[example]
    shutil.copyfile(studies.FOLDER / study, target)
    for name in beside:
        shutil.copyfile(studies.FOLDER / name, folder / name)
    return target
