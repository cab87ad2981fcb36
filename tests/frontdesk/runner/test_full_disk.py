"""No room for the journal: the run ends, says so, and goes on where there is room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from frontdesk.cli import main
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import REPOSITORY, finished_twice, start, write_config

LIMITED = """
import resource, sys
sys.dont_write_bytecode = True  # what is compiled would be cut off there too, and stay so for all who import it
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from frontdesk.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("room", [3_000, 60_000, 120_000])
def test_a_file_that_cannot_grow_ends_the_run_and_loses_no_paid_call(
    provider: FakeProvider, tmp_path: Path, room: int
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=6, subsets=12, concurrency=4)
    run = tmp_path / "run"
    words = [sys.executable, "-c", LIMITED, str(room), "run", str(config), "--run", str(run)]
    ended = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "File too large" in ended.stderr
    assert "to go on: run the same command again" in ended.stderr
    assert main(["run", str(config), "--run", str(run)]) == 0
    assert finished_twice(run) == []
    assert main(["verify", "--run", str(run)]) == 0


@pytest.mark.skipif(not sys.platform.startswith("linux") or os.geteuid() != 0, reason="mounts a small disk")
@pytest.mark.parametrize("on", [[], ["--on", "local:2"]])
def test_a_full_disk_ends_the_run_which_goes_on_where_there_is_room(
    provider: FakeProvider, tmp_path: Path, on: list[str]
) -> None:
    """Nothing can be written there any more: neither the journal nor what would be published of it."""
    config = write_config(tmp_path / "c.toml", provider, dialogues=6, subsets=12, concurrency=4)
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=100k", "none", str(disk)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode:
        pytest.skip("no disk may be mounted here")
    try:
        code, said = _ended("run", config, "--run", disk / "run", *on)
        assert code == 1, said
        assert "stopped: the journal cannot be written: No space left on device" in said
        assert "to go on: run the same command again" in said
        assert "Traceback" not in said
        shutil.copytree(disk / "run", tmp_path / "run")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    assert finished_twice(tmp_path / "run") == []


def _ended(*arguments: str | Path) -> tuple[int, str]:
    process = start(*arguments)
    _, said = process.communicate(timeout=120)
    return process.wait(), said.decode()
