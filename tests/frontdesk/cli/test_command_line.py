"""What holds for every command: help at once, a near miss is named, a machine's refusal is said plainly."""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from frontdesk.cli import COMMANDS, main, of_command
from tests.support.small_runs import write_config

HEAVY = ("numpy", "scipy", "aiohttp", "google", "jinja2", "duckdb")
LISTS = ("personas", "questions")
"""Their help names what is shipped, which is read as records."""
SHOW_ALL = f"""
import contextlib, io, sys
from frontdesk.cli import main
for command in {sorted(COMMANDS, key=lambda name: (name in LISTS, name))!r}:
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        code = main([command, "--help"])
    heavy = {HEAVY!r} if command in {LISTS!r} else {(*HEAVY, "pydantic")!r}
    loaded = [name for name in heavy if name in sys.modules]
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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["score", "--inptu", "x"], "--input"),
        (["run", "c.toml", "--subset", "3", "--livee"], "--live"),
        (["human", "plna"], "plan"),
        (["human", "serve", "folder", "--prot", "1"], "--port"),
        (["agent-runs", "x.csv", "--accuracy", "three-levels"], "three-level"),
    ],
)
def test_what_is_mistyped_is_named_with_what_was_meant(typed, meant, capsys):
    assert main(typed) == 2
    assert re.search(rf"did you mean '?{meant}'?\?$", capsys.readouterr().err, re.MULTILINE)


def completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    at = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}"
    asked = ["bash", "-c", f"source {script}; {at}; _tutor_arena; printf '%s\\n' \"${{COMPREPLY[@]}}\""]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()


def test_a_shell_completes_commands_steps_options_and_their_values(tmp_path, capsys):
    script = tmp_path / "completion.sh"
    assert main(["completion", "bash"]) == 0
    script.write_text(capsys.readouterr().out)
    assert completed(script, "tutor-arena", "re") == ["report", "refresh"]
    assert completed(script, "tutor-arena", "human", "pl") == ["plan"]
    assert completed(script, "tutor-arena", "report", "x", "--la") == ["--language"]
    assert completed(script, "tutor-arena", "report", "x", "--language", "k") == ["ko"]
    assert completed(script, "tutor-arena", "rate", "--intervals", "b") == ["bootstrap"]
    main(["completion", "fish"])
    fish = capsys.readouterr().out
    for part in ("-f -a 'init plan", "-l intervals -x -a 'jackknife bootstrap", "-f -a refresh -d"):
        assert part in fish
    main(["completion", "zsh"])
    assert "bashcompinit" in capsys.readouterr().out


def test_every_argument_says_what_it_is():
    for name in set(COMMANDS):
        parsers = [of_command(name)]
        while parsers:
            parser = parsers.pop()
            parsers += parser.steps()
            for action in parser._actions:
                if not isinstance(action.choices, dict) and action.help != argparse.SUPPRESS:
                    assert re.search(r"[a-z]{2}", re.sub(r"\([^)]*\)", "", action.help or "")), (name, action)


def test_an_estimate_tells_student_and_teacher_apart(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=8)
    assert main(["estimate", str(config)]) == 0
    shown = capsys.readouterr().out
    assert re.findall(r"^ simulate, (\w+) +gemini +(\d+)", shown, re.MULTILINE) == [
        ("student", "12"),
        ("teacher", "16"),
    ]
    assert "1 pair: " in shown
