"""A folder is verified on another machine: figures must not depend on how its processor adds up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from runstore.ids import draw


def _agreed(ratings: Path, out: Path, **processor: str) -> dict[str, bytes]:
    # A process of its own: the linear algebra chooses its code once, when it is loaded.
    command = [sys.executable, "-m", "frontdesk", "agree", "--ratings", str(ratings), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **processor})
    return {file.name: file.read_bytes() for file in sorted(out.iterdir())}


def test_agreement_is_the_same_to_the_byte_on_an_older_processor(tmp_path: Path) -> None:
    rows = ["item,rater,value"]
    for item in range(200):
        level = 1 + 4 * draw("level", item)
        rows += [f"i{item},{rater},{round(level + draw(rater, item), 2)}" for rater in "abc"]
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("\n".join(rows), encoding="utf-8")
    here = _agreed(ratings, tmp_path / "here")
    assert "agreement.json" in here
    assert _agreed(ratings, tmp_path / "older", OPENBLAS_CORETYPE="Prescott") == here
    assert _agreed(ratings, tmp_path / "old", OPENBLAS_CORETYPE="Nehalem", OPENBLAS_NUM_THREADS="1") == here
