"""What is handed out to copy works as it stands: scheduled refresh, workflow, cron line, Containerfile."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from frontdesk.cli import COMMANDS, main
from tests.support.small_runs import REPOSITORY, write_config

TEMPLATES = REPOSITORY / "docs" / "templates"


@pytest.fixture
def place(tmp_path: Path, provider: Any) -> Path:
    """A folder as the template wants it: a finished run, its configuration with one endpoint more, the program."""
    config = write_config(tmp_path / "arena.toml", provider, dialogues=3, subsets=4)
    assert main(["run", str(config), "--run", str(tmp_path / "board")]) == 0
    new = provider.settings("gemini", identity="n")
    rows = "\n".join(f"{key} = {value!r}".replace("'", '"') for key, value in new.items())
    config.write_text(f"{config.read_text()}\n[endpoints.newest]\n{rows}\n")
    program = tmp_path / "bin" / "tutor-arena"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m frontdesk "$@"\n')
    program.chmod(0o755)
    return tmp_path


def refreshed(place: Path, *endpoints: str) -> subprocess.CompletedProcess[str]:
    script = TEMPLATES / "refresh.sh"
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        ["sh", script, "board", "arena.toml", "site", *endpoints],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_scheduled_refresh_adds_what_is_new_once_and_publishes(place: Path, provider: Any) -> None:
    done = refreshed(place, "gemini", "newest")
    assert done.returncode == 0, done.stderr
    assert "newest: added" in done.stdout
    assert "newest" in (place / "board" / "leaderboard.csv").read_text()
    assert (place / "site" / "index.html").is_file()
    calls = sum(provider.stats.by_role.values())
    again = refreshed(place, "gemini", "newest")
    assert (again.returncode, "added" in again.stdout) == (0, False)
    assert sum(provider.stats.by_role.values()) == calls


def test_a_night_that_ends_at_the_cap_publishes_nothing_and_the_next_one_goes_on(place: Path) -> None:
    config = place / "arena.toml"
    whole = config.read_text()
    config.write_text(whole.replace("[budget]", "[budget]\ncalls = 45"))
    stopped = refreshed(place, "newest")
    assert (stopped.returncode, (place / "site").exists()) == (0, False), stopped.stdout + stopped.stderr
    assert "stopped at the cap" in stopped.stdout
    config.write_text(whole.replace("[budget]", "[budget]\ncalls = 4500"))
    assert refreshed(place, "newest").returncode == 0
    assert (place / "site" / "index.html").is_file()


def test_what_is_refused_is_no_silent_night(place: Path) -> None:
    refused = refreshed(place, "nobody")
    assert refused.returncode == 2
    assert "nobody: refused" in refused.stderr


def test_workflow_and_cron_line_call_the_script_with_what_it_takes() -> None:
    workflow = yaml.safe_load((TEMPLATES / "scheduled-refresh.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["refresh"]["steps"]
    (step,) = [step for step in steps if step.get("name") == "refresh"]
    assert shlex.split(step["run"]) == ["sh", "refresh.sh", "$RUN", "$CONFIG", "$SITE", "$ENDPOINTS"]
    assert {"RUN", "CONFIG", "SITE", "ENDPOINTS"} <= set(workflow["env"])
    crons = [each["cron"] for each in workflow[True]["schedule"]]  # YAML reads the key "on" as true
    line = (TEMPLATES / "crontab").read_text(encoding="utf-8").splitlines()[-1]
    for cron in (*crons, " ".join(line.split()[:5])):
        assert re.fullmatch(r"\d{1,2} \d{1,2} \* \* \*", cron)
    assert "sh refresh.sh board arena.toml" in line
    assert "set -u" in (TEMPLATES / "refresh.sh").read_text(encoding="utf-8")


def test_the_containerfile_names_what_there_is() -> None:
    text = (REPOSITORY / "Containerfile").read_text(encoding="utf-8")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    copied = [words.split()[:-1] for words in re.findall(r"^COPY (?!--)(.*)$", text, re.MULTILINE)]
    names = {name for group in copied for name in group}
    assert [name for name in names if not (REPOSITORY / name).exists()] == []
    packages = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert packages | {project["project"]["readme"], "LICENSE", "pyproject.toml"} == names
    (entry,) = re.findall(r'^ENTRYPOINT \["([^"]+)"\]$', text, re.MULTILINE)
    assert entry in project["project"]["scripts"]
    for line in re.findall(r"^#   podman run .* tutor-arena (.*)$", text, re.MULTILINE):
        assert shlex.split(line)[0] in COMMANDS
        assert main([*shlex.split(line)[:1], "--help"]) == 0
    (port,) = re.findall(r"^EXPOSE (\d+)$", text, re.MULTILINE)
    assert f"default={port}" in (REPOSITORY / "frontdesk" / "cli" / "human.py").read_text(encoding="utf-8")
    major = re.findall(r"^FROM python:(\d+\.\d+)", text, re.MULTILINE)
    assert all(tuple(map(int, each.split("."))) >= (3, 11) for each in major)
