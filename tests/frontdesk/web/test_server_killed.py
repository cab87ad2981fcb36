"""A study server that is killed or has no room loses nothing that it said it had stored."""

from __future__ import annotations

import random
from pathlib import Path

from tests.support.killed_server import killed


async def test_what_was_acknowledged_survives_kills_under_six_writers(tmp_path: Path) -> None:
    saved, lost, failed = await killed(tmp_path, 2, random.Random(5))
    assert saved > 0
    assert (lost, failed) == (0, 0)
