"""Every command on real pseudo-terminals of 80 and 50 columns, seen by pyte, and on those that want no codes."""

import os
import pty
import re
import shutil
import signal
import sys
import time
import warnings

import pyte
import pytest
from rich.cells import cell_len

from frontdesk.cli import COMMANDS, main, waiting
from runstore.tables.assumptions import Skipped, told_on_stderr
from tests.support import terminals
from tests.support.agent_runs_table import rows, table_text
from tests.support.small_runs import REPOSITORY

ROWS = 60
LONG = "a-tutor-with-a-very-long-name-2026-05-preview"
EXAMPLES = REPOSITORY / "docs" / "examples"
CHECKLIST = REPOSITORY / "docs" / "examples" / "session-checklist"


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with a finished run, battles and ratings; nothing in it needs a network."""
    folder = tmp_path_factory.mktemp("work")
    for name in ("student", "asks", "tells", "judge"):
        text = (REPOSITORY / "docs" / "notebooks" / f"{name}.jsonl").read_text()
        (folder / f"{name}.jsonl").write_text(text)
    config = (REPOSITORY / "docs" / "notebooks" / "arena.toml").read_text()
    config = config.replace("tells]", f"{LONG}]").replace('"tells"', f'"{LONG}"')
    (folder / "arena.toml").write_text(config.replace("dialogues = 24", "dialogues = 8").replace("= 48", "= 16"))
    with (folder / "arena.toml").open("a") as more:
        more.write('[endpoints.other]\nkind = "scripted"\nreplies = "judge.jsonl"\n')
        more.write('[student]\nlabellers = ["phrases"]\n')
    assert main(["run", str(folder / "arena.toml"), "--run", str(folder / "run")]) == 0
    shutil.copytree(folder / "run", folder / "twice")
    assert main(["refresh", str(folder / "twice"), "--rejudge", "other"]) == 0
    battles = [f"{a},{b},{w},c{n}" for n, (a, b, w) in enumerate([(LONG, "b", "model_a"), ("b", LONG, "tie")] * 6)]
    (folder / "battles.csv").write_text("model_a,model_b,winner,cluster\n" + "\n".join(battles) + "\n")
    ratings = [f"i{n},{rater},{1 + (n + k) % 5}" for n in range(8) for k, rater in enumerate((LONG, "teacher"))]
    (folder / "ratings.csv").write_text("item,rater,value\n" + "\n".join(ratings) + "\n")
    (folder / "agent.csv").write_text(table_text(rows()), encoding="utf-8")
    shutil.copytree(EXAMPLES / "document-review", folder / "study")
    study = [str(folder / "study" / "study.toml"), "--out", str(folder / "planned")]
    assert main(["human", "plan", *study]) == 0
    assert main(["human", "import", str(folder / "planned"), str(folder / "study" / "answers.csv")]) in (0, 1)
    return folder


def on_a_terminal(columns, work, *arguments, until="", **environ):
    """(exit code, what was written, the screen at the end) of a command on a terminal of so many columns.

    It is interrupted as soon as it has written ``until``. A copy of this process runs it: what it has
    imported need not be imported again; but a server, which uses threads, begins from nothing.
    """
    ours, theirs = terminals.opened(columns, ROWS)
    if until:
        code, said = _interrupted(ours, theirs, work, arguments, environ, until.encode())
    else:
        child = _copied(theirs, work, arguments, environ)
        os.close(theirs)
        said = terminals.written(ours)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    screen = pyte.HistoryScreen(columns, ROWS, history=10_000)
    pyte.ByteStream(screen).feed(said)
    return code, said.decode(), screen


def _interrupted(ours, theirs, work, arguments, environ, until):
    with terminals.begun(theirs, work, arguments, environ) as process:
        interrupted = []

        def interrupt(said):
            if until in said and not interrupted:
                interrupted.append(process.send_signal(signal.SIGINT))

        said = terminals.written(ours, interrupt)
    return process.returncode, said


def _copied(terminal, work, arguments, environ):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # this process may have threads; the copy uses none
        child = os.fork()
    if child == 0:
        _run_here(terminal, work, arguments, environ)
    return child


def _run_here(terminal, work, arguments, environ):
    """In the copy: the command, on the terminal, and nothing of pytest after it."""
    code = 70
    try:
        os.login_tty(terminal)
        os.chdir(work)
        os.environ["TERM"] = "xterm"
        for name in ("NO_COLOR", "COLUMNS"):
            os.environ.pop(name, None)
        os.environ.update(environ)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - the copy ends with them
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        code = main([str(word) for word in arguments])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def drawn(text):
    """Everything written, line by line, each redrawing of a line for itself, without its escape codes."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line for whole in plain.replace("\r\n", "\n").split("\n") for line in whole.split("\r")]


def tables(text):
    """The lines of every table: what stands around a rule, up to a blank line."""
    lines, found = drawn(text), []
    for at, line in enumerate(lines):
        if line.strip() and set(line.strip()) == {"─"}:
            first = at
            while first > 0 and lines[first - 1].strip():
                first -= 1
            last = at
            while last + 1 < len(lines) and lines[last + 1].strip():
                last += 1
            found += lines[first : last + 1]
    return found


TYPED = {
    "run": ["run", "arena.toml", "--run", "fresh{at}"],
    "init": ["init", "made{at}.toml"],
    "check": ["check", "arena.toml"],
    "simulate": ["simulate", "arena.toml", "--run", "stage{at}"],
    "cut": ["cut", "run"],
    "collect": ["collect", "run"],
    "judge": ["judge", "run"],
    "student": ["student", "side{at}"],
    "sensitivity": ["sensitivity", "run", "twice", "--judges"],
    "estimate": ["estimate", "arena.toml"],
    "rate": ["rate", "--battles", "battles.csv", "--out", "rated"],
    "power": ["power", "run", "--calls", "300"],
    "report": ["report", "run"],
    "verify": ["verify", "run"],
    "refresh": ["refresh", "again{at}", "--rejudge", "other"],
    "runs": ["runs", ".", "--cost"],
    "calls": ["calls", "run"],
    "compare": ["compare", "run", "run"],
    "export": ["export", "run", "--as", "openai,csv"],
    "quality": ["quality", "run"],
    "completion": ["completion", "bash"],
    "agree": ["agree", "--ratings", "ratings.csv", "--out", "agreed"],
    "agent-runs": ["agent-runs", "agent.csv", "--out", "agent", "--language", "en"],
    "personas": ["personas"],
    "questions": ["questions"],
    "score": ["score", "--input", str(CHECKLIST / "sessions.jsonl"), "--rubric", "qac", "--judge", "gpt",
              "--config", str(CHECKLIST / "config.toml"), "--out", "scored{at}"],
    "human plan": ["human", "plan", "study/study.toml", "--out", "plan{at}"],
    "human analyze": ["human", "analyze", "planned"],
    "human themes": ["human", "themes", "study/coded.csv", "--out", "themes"],
}  # fmt: skip
PROGRESS = ("run", "simulate", "collect", "judge", "student", "refresh", "score", "report", "estimate", "rate")
"""What draws on a terminal otherwise than on one without codes; tables of 80 columns are looked at on both."""
ELSEWHERE = {"demo", "watch"}
"""``demo`` needs its model and prints what ``run`` does; ``watch`` goes on until it is interrupted."""


def typed(work, name, at):
    """The words of a command; what it changes is its own copy, named after ``at``."""
    for folder in ("again", "side"):
        if f"{folder}{{at}}" in TYPED[name]:
            shutil.copytree(work / "run", work / f"{folder}{at}", dirs_exist_ok=True)
    return [word.format(at=at) for word in TYPED[name]]


def test_every_command_is_looked_at():
    assert {name.split()[0] for name in TYPED} | ELSEWHERE == set(COMMANDS)


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_no_command_writes_a_code_where_none_is_wanted(work, environ):
    for name in TYPED:
        code, said, _ = on_a_terminal(80, work, *typed(work, name, next(iter(environ))), **environ)
        assert code in (0, 1), (name, said[-2000:])
        assert "\x1b" not in said, name
        assert [line for line in tables(said) if cell_len(line) > 80] == [], name


@pytest.mark.parametrize(("columns", "names"), [(80, PROGRESS), (50, TYPED)], ids=["80", "50"])
def test_no_table_and_no_progress_is_wider_than_the_terminal(work, columns, names):
    for name in names:
        code, said, screen = on_a_terminal(columns, work, *typed(work, name, columns))
        assert code in (0, 1), (name, said[-2000:])
        wide = [line for line in tables(said) if cell_len(line) > columns]
        assert wide == [], (name, wide[:3])
        progress = [line for line in drawn(said) if re.match(r"\w+: \d+ of \d+(, about| \(|$)", line)]
        assert [line for line in progress if cell_len(line) >= columns] == [], name
        shown = "\n".join([*screen.display])
        assert "\x1b" not in shown
        if name == "run":
            assert any(", about" in line or "calls" in line for line in progress)
            ended = [line.rstrip() for line in screen.display]
            assert not [line for line in ended if re.match(r"(simulate|collect): \d+ of \d+ \(", line)]
            assert "median" in said
        if name in ("rate", "report", "estimate"):
            assert "…" in said or LONG in said


def test_a_long_name_is_shortened_and_no_figure_is_split(work):
    (work / "plain.toml").write_text((work / "arena.toml").read_text().partition("[student]")[0])
    _, said, _ = on_a_terminal(50, work, "estimate", "plain.toml")
    assert re.search(r"judge +judge +48 +[\d,]+", said.replace("\r\n", "\n"))
    _, said, _ = on_a_terminal(50, work, "rate", "--battles", "battles.csv", "--out", "rated")
    assert LONG not in said
    assert "a-tutor" in said


def test_a_page_that_is_served_says_where_in_one_piece_and_ends_when_interrupted(work):
    for columns in (80, 50):
        code, said, _ = on_a_terminal(columns, work, "watch", "run", until="the run)")
        assert code == 0
        assert re.match(r"watch: http://127\.0\.0\.1:\d+/\S+/ ", said)
        assert "\x1b" not in said


@pytest.fixture
def waited_on(monkeypatch):
    """Our end of a terminal, and the other as a file, where half a second without a word is long."""
    monkeypatch.setattr(waiting, "AFTER_S", 0.5)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    ours, theirs = pty.openpty()
    return ours, os.fdopen(theirs, "w", encoding="utf-8")


def test_a_silent_command_says_that_it_is_at_it_until_it_says_something_else(monkeypatch, waited_on):
    ours, terminal = waited_on
    with terminal, monkeypatch.context() as streams:
        streams.setattr(sys, "stdout", terminal)
        streams.setattr(sys, "stderr", terminal)
        with waiting.shown("verify"):
            time.sleep(1.2)
            print("everything is the same")
            print("half a line of progress", end="", flush=True)
            time.sleep(1.2)
        assert sys.stderr is terminal
        with waiting.shown("watch"):
            assert sys.stderr is terminal, "it waits on purpose"
        said = os.read(ours, 65536).decode()
    os.close(ours)
    assert "verify: at it for 1 s" in said
    screen = pyte.Screen(80, 5)
    pyte.Stream(screen).feed(said)
    assert [line.rstrip() for line in screen.display[:2]] == ["everything is the same", "half a line of progress"]


def test_what_a_table_is_assumed_to_say_ends_the_line_of_waiting(monkeypatch, waited_on, tmp_path):
    ours, terminal = waited_on
    with terminal, monkeypatch.context() as streams:
        streams.setattr(sys, "stderr", terminal)
        with told_on_stderr(), waiting.shown("rate"):
            time.sleep(1.2)
            skipped = Skipped(tmp_path / "battles.csv")
            skipped.row(2, None)
            skipped.row(3, "no winner")
            skipped.tell()
        said = os.read(ours, 65536).decode()
    os.close(ours)
    assert "rate: at it for 1 s" in said
    screen = pyte.Screen(240, 5)
    pyte.Stream(screen).feed(said)
    assert "battles.csv:3: skipped: no winner" in screen.display[0] and "at it" not in screen.display[0]
