"""An example study to start from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from arena.human import studies
from runstore.problems import Problem
from runstore.publish import write_text

EXAMPLES = {"document-review": ("document_review.toml", "documents.jsonl"), "tutor-votes": ("tutor_votes.toml",)}
"""Name -> the study file, and what it needs beside it."""


_LANGUAGES = ["ko", "en"]
"""Those of the examples, in their order."""


def start(folder: Path, example: str, language: str | None = None) -> Path:
    """Write an example into the folder; the path of its study file. ``language``, if given, is its first one.

    Raises Problem where there is one already.
    """
    target = folder / "study.toml"
    if target.exists():
        raise Problem(f"{target} exists already; it was left as it is")
    folder.mkdir(parents=True, exist_ok=True)
    study, *beside = EXAMPLES[example]
    text = (studies.FOLDER / study).read_text(encoding="utf-8")
    first = language if language in _LANGUAGES else _LANGUAGES[0]
    order = [first, *(each for each in _LANGUAGES if each != first)]
    write_text(
        target, text.replace(f"languages = {json.dumps(_LANGUAGES)}", f"languages = {json.dumps(order)}", 1)
    )
    for name in beside:
        shutil.copyfile(studies.FOLDER / name, folder / name)
    return target
