"""The front door: a run from Python, in a script and inside a running event loop, and its tables."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tutor_arena as ta
from gateway import sync
from runstore.publish import read_rows
from tests.support.small_runs import REPOSITORY, write_config


@pytest.fixture
def config(tmp_path: Path, provider) -> Path:
    return write_config(tmp_path / "arena.toml", provider, dialogues=3, subsets=4)


def test_from_a_configuration_to_the_tables(config, tmp_path, capsys):
    run = ta.run(config, tmp_path / "run")
    assert (len(run.dialogues), len(run.subsets), len(run.replies)) == (3, 4, 8)
    assert (len(run.judgments), len(run.verdicts), len(run.failures)) == (12, 4, 0)
    assert {model.name for model in run.leaderboard.models} == {"gemini", "ureka"}
    assert run.verdicts.to_dicts() == [row for _, row in read_rows(tmp_path / "run" / "verdicts.jsonl")]
    assert list(run.verdicts[1:]) == list(run.verdicts)[1:]
    assert len(run.judgments.to_pandas()) == 12
    assert list(run.verdicts.to_pandas()["outcome"]) == [verdict.outcome for verdict in run.verdicts]
    assert run._repr_html_() == run.leaderboard._repr_html_()
    assert "ureka" in run.verdicts._repr_html_()
    assert (tmp_path / "run" / "report.html").is_file()
    said = capsys.readouterr()
    assert said.out == ""
    assert "judge: 12 of 12 rounds" in said.err


def test_inside_a_running_loop_as_in_a_notebook(config, tmp_path, provider):
    async def cell() -> int:
        return len(ta.run(config, tmp_path / "run").verdicts)

    assert asyncio.run(cell()) == 4
    calls = sum(provider.stats.by_role.values())
    assert len(asyncio.run(ta.arun(str(config), tmp_path / "run")).verdicts) == 4
    assert sum(provider.stats.by_role.values()) == calls


def test_simulate_makes_dialogues_only(config, tmp_path):
    run = ta.simulate(config, tmp_path / "run")
    assert len(run.dialogues) == 3
    with pytest.raises(ta.InputProblem, match=r"verdicts\.jsonl"):
        _ = run.verdicts


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(ta.Problem, match=r"run\.toml"):
        ta.open_run(tmp_path)


def test_a_missing_pandas_is_said(config, tmp_path, monkeypatch):
    run = ta.simulate(config, tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ta.Problem, match="pip install pandas"):
        run.dialogues.to_pandas()


def test_importing_loads_nothing_else():
    code = (
        "import sys, tutor_arena as ta; dir(ta); "
        "print(sorted({'numpy', 'pydantic', 'arena', 'frontdesk', 'gateway'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_every_name_is_there():
    assert all(getattr(ta, name) is not None for name in ta.__all__)
    with pytest.raises(AttributeError):
        _ = ta.nothing


def test_an_interrupt_in_a_notebook_ends_the_work():
    ended: list[str] = []

    async def work() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def cell() -> None:
        sync.run(work())

    loop = asyncio.new_event_loop()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where pytest is in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
    finally:
        loop.close()
        signal.signal(signal.SIGINT, before)
    assert ended == ["cancelled"]
