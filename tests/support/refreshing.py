"""Finished runs of three endpoints, and the command that changes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config

NAMES = ("ureka", "gemini", "third")


def three(tmp_path: Path, provider: FakeProvider, **options: Any) -> tuple[Path, Path]:
    """The configuration and folder of a finished run of three endpoints: 10 dialogues, 20 subsets, 3 rounds."""
    config = write_config(tmp_path / "c.toml", provider, dialogues=10, subsets=20, **options)
    text = config.read_text()
    text = text.replace("[simulate]", with_endpoint(provider, "third") + "[simulate]")
    config.write_text(text.replace('endpoints = ["ureka", "gemini"]', f"endpoints = {json.dumps(list(NAMES))}"))
    run = tmp_path / "run"
    assert main(["run", str(config), "--run", str(run)]) in (0, 1)
    return config, run


def with_endpoint(provider: FakeProvider, name: str, **more: Any) -> str:
    keys = provider.settings("openai", identity=name, **{"model": f"model-{name}", **more})
    return f"[endpoints.{json.dumps(name)}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items())


def refresh(run: Path, *arguments: str) -> int:
    return main(["refresh", "--run", str(run), *arguments])


def given(tmp_path: Path, provider: FakeProvider, name: str, **more: Any) -> list[str]:
    path = tmp_path / "fourth.toml"
    path.write_text(with_endpoint(provider, name, **more))
    return ["--config", str(path)]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def is_verified(run: Path, capsys: pytest.CaptureFixture[str]) -> bool:
    capsys.readouterr()
    code = main(["verify", "--run", str(run), "--json"])
    rows = json.loads(capsys.readouterr().out)["files"]
    assert not (different := [row for row in rows if not row["same"]]), different
    return code == 0
