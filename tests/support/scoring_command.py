"""``tutor-arena score`` as a process of its own, over sessions and judges on the fake provider."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.support.fake_provider import FakeProvider
from tests.support.started import Started

JUDGES = {"gemini": "gemini", "gpt": "openai", "claude": "anthropic"}


def prepared(folder: Path, provider: FakeProvider, sessions: int, **settings: Any) -> list[str]:
    """The command, without where its results go; its input and configuration are written to the folder."""
    rows = [
        {
            "id": f"s{number}",
            "mode": "agent" if number % 2 else "freepass",
            "messages": [
                {"role": "user", "content": f"How do I factor x^2 - {number}?"},
                {"role": "assistant", "content": "Which two numbers multiply to that?"},
            ],
        }
        for number in range(sessions)
    ]
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    lines = ["[run]", 'name = "scored"', "seed = 3"]
    for name, kind in JUDGES.items():
        table = provider.settings(kind, api_key_env="A_KEY", **settings)
        lines += [f"[endpoints.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    (folder / "config.toml").write_text("\n".join([*lines, ""]), encoding="utf-8")
    judges = [word for name in JUDGES for word in ("--judge", name)]
    fixed = ["--rubric", "qac", "--repeats", "1", "--resamples", "0", "--compare", "mode"]
    files = ["--input", str(folder / "in.jsonl"), "--config", str(folder / "config.toml")]
    return [sys.executable, "-m", "frontdesk", "score", *files, *judges, *fixed]


def started(command: list[str], out: Path, *more: str) -> Started:
    """The running command; what it says is in a file beside ``out``: see :func:`said`."""
    environment = {**os.environ, "A_KEY": "k-123456789"}
    with _log(out).open("ab") as log:
        return Started([*command[3:], "--out", str(out), *more], environment, log.fileno())


def said(out: Path) -> str:
    return _log(out).read_text(encoding="utf-8")


def _log(out: Path) -> Path:
    return out.parent / f"{out.name}.err"
