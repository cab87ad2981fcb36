"""What the benches of several machines are made of: subsets, a configuration, a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frontdesk.runner import config_file as configuration
from frontdesk.runner.config import Config
from runstore.records import Subset, Utterance

GIGABYTE = 1 << 30
REPOSITORY = Path(__file__).resolve().parents[1]


def subsets(count: int) -> Iterator[Subset]:
    """Histories of two turns, all different."""
    talk = ("Why is it logarithmic, and not linear? {}", "What is left after one step?", "Half of them, I think.")
    roles = ("student", "teacher", "student")
    for number in range(count):
        yield Subset(
            id=f"s-{number:07d}",
            dialogue=f"d-{number:07d}",
            persona="p",
            levels={},
            question="q",
            subject="algorithms",
            cut=3,
            depth=2,
            history=tuple(
                Utterance(role=role, text=text.format(number))  # type: ignore[arg-type]
                for role, text in zip(roles, talk, strict=True)
            ),
        )


def collecting(endpoint: Mapping[str, Any], on: str | None, *, judged: bool = False, rounds: int = 3) -> Config:
    """One tutor's replies; or two tutors whose replies are judged."""
    tutors = ["other", "tutor"] if judged else ["tutor"]
    names = [*tutors, "judge"] if judged else tutors
    return configuration.parse(
        {
            "run": {"on": on} if on else {},
            "endpoints": {name: {**endpoint, "identity": name} for name in names},
            "collect": {"endpoints": tutors},
            **({"judge": {"endpoints": ["judge"], "rounds": rounds}} if judged else {}),
        }
    )


def in_process(code: str, *arguments: str) -> dict[str, Any]:
    """A fresh process, whose peak of memory is its own."""
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=environ
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
