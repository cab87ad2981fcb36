"""``run``, ``check`` and ``estimate`` take their configuration in first place or as ``--config``, as stages do."""

from __future__ import annotations

from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config

COMMANDS = (["run", "--dry-run"], ["check", "--offline"], ["estimate"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_both_ways_are_the_same_and_one_is_needed(
    command: list[str], provider: FakeProvider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2))
    assert main([*command, config]) == 0
    first = capsys.readouterr().out
    assert main([*command, "--config", config]) == 0
    assert capsys.readouterr().out == first
    assert main([*command, config, "--config", config]) == 2
    assert "found two configurations" in capsys.readouterr().err
    assert main(command) == 2
    assert f"{command[0]}: found no configuration, expected CONFIG" in capsys.readouterr().err
