"""Progress: lines in a log, one line on a terminal, and nothing on stdout."""

import io
import json
import os
import pty
import re

import pytest

from frontdesk.cli import main
from frontdesk.runner import progress as module
from frontdesk.runner import screen
from frontdesk.runner.progress import Progress
from tests.support.small_runs import start, write_config


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run_through(out, monkeypatch, *, items=50, seconds_each=1.0, warn_at=()):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    progress = Progress(out, lambda: ("12 calls",))
    progress.start("judge", items)
    for number in range(items):
        now[0] += seconds_each
        if number in warn_at:
            progress.say(f"warning {number}")
        progress.advance()
    progress.finish("50 of 50 rounds")
    return out.getvalue()


@pytest.mark.parametrize(
    ("out", "environ"),
    [(io.StringIO, {}), (Terminal, {"TERM": "dumb"}), (Terminal, {"NO_COLOR": "1"})],
    ids=["file", "dumb", "no color"],
)
def test_in_a_log_there_are_whole_lines_and_few_of_them(monkeypatch, out, environ):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    text = run_through(out(), monkeypatch, warn_at=(7, 23))
    assert not re.search(r"[\r\x1b]", text)
    lines = text.splitlines()
    assert "warning 7" in lines and "warning 23" in lines
    steps = [line for line in lines if line.startswith("judge: ") and " of 50" in line]
    assert 8 <= len(steps) <= 13
    assert "judge: 5 of 50, about 45 s left (12 calls)" in lines
    assert lines[-1] == "judge: 50 of 50 rounds"


def test_a_fast_stage_does_not_flood_a_log(monkeypatch):
    assert len(run_through(io.StringIO(), monkeypatch, items=1000, seconds_each=0.001).splitlines()) <= 3


def test_a_slow_stage_says_something_every_ten_seconds(monkeypatch):
    text = run_through(io.StringIO(), monkeypatch, items=10_000, seconds_each=0.01)
    assert 9 <= len(text.splitlines()) <= 21


def test_on_a_terminal_one_line_is_drawn_again_and_again(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = run_through(Terminal(), monkeypatch, warn_at=(7,))
    assert text.count("\r\x1b[K") > 40
    assert "\r\x1b[Kwarning 7\n" in text
    assert text.endswith("judge: 50 of 50 rounds\n")


def test_a_run_into_files_has_no_control_codes_and_stdout_is_for_results(provider, tmp_path):
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=4)
    process = start("run", config, "--run", tmp_path / "run")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert not re.search(rb"[\r\x1b]", out + err)
    assert b"simulate: 4 of 4 dialogues" in err
    process = start("calls", "--run", tmp_path / "run", "--json")
    out, err = process.communicate(timeout=60)
    assert json.loads(out)["endpoints"]["gemini"]["calls"]["ok"] > 0
    assert err == b""


def test_model_text_that_looks_like_console_markup_is_printed_as_it_is(provider, tmp_path, capsys):
    config = write_config(tmp_path / "c.toml", provider, dialogues=2, subsets=2)
    config.write_text(config.read_text().replace("gemini]", '"gpt[x]"]').replace('"gemini"', '"gpt[x]"').replace(
        'kind = "gpt[x]"', 'kind = "gemini"'
    ))  # fmt: skip
    bad = "Use [/b] and [red] here: list[str] [/x]"
    provider.script = lambda asked, attempt: _error(bad) if asked.role == "judge" else None
    assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 1
    assert main(["calls", "--run", str(tmp_path / "run")]) == 0
    shown = capsys.readouterr()
    assert "gpt[x]" in shown.out
    assert main(["calls", "--run", str(tmp_path / "run"), "--list", "--state", "failed"]) == 0
    assert bad in capsys.readouterr().out


def _error(text):
    from tests.support.fake_faults import Reply

    return Reply(json.dumps({"error": {"code": 400, "message": text}}).encode(), 400)


def test_a_terminal_is_told_from_a_pipe(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        assert screen.is_live(terminal)
    os.close(leader)
    assert not screen.is_live(io.StringIO())


def test_a_stage_says_its_own_note_and_the_next_one_starts_without():
    out = Terminal()
    progress = Progress(out, lambda: ("12 calls",))
    progress.start("judge", 2)
    progress.note = "1 of 3 rounds unreadable"
    progress.advance()
    progress.advance()
    assert "judge: 2 of 2 (1 of 3 rounds unreadable, 12 calls)" in out.getvalue()
    progress.start("rate", 1)
    assert out.getvalue().endswith("rate: 0 of 1 (12 calls)")
