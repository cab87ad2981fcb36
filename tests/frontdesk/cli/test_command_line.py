"""What holds for every command: help at once, a near miss is named, a machine's refusal is said plainly."""

import subprocess
import sys
from pathlib import Path

import pytest

from frontdesk.cli import COMMANDS, main
from tests.support.small_runs import write_config

HEAVY = ("numpy", "scipy", "aiohttp", "google", "jinja2", "duckdb")
SHOW_ALL = f"""
import contextlib, io, sys
from frontdesk.cli import main
for command in {sorted(COMMANDS)!r}:
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        code = main([command, "--help"])
    loaded = [name for name in {HEAVY!r} if name in sys.modules]
    if code or loaded or command not in shown.getvalue():
        sys.exit(f"{{command}}: exit {{code}}, loaded {{loaded}}")
"""


def test_help_of_every_command_loads_nothing_heavy():
    ended = subprocess.run([sys.executable, "-c", SHOW_ALL], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_mistyped_command_is_named_with_the_nearest(capsys):
    assert main(["verfy", "--run", "x"]) == 2
    assert "no command 'verfy'; did you mean 'verify'?" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["personas"], ["questions", "--json"]])
def test_a_full_disk_behind_stdout_is_no_traceback(command):
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "frontdesk", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert "No space left" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_run_ends_with_its_summary_and_where_the_report_is(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8)
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr()
    assert "Leaderboard" in shown.out
    assert shown.err.endswith(f"report: {tmp_path / 'run' / 'report.html'}\n")
