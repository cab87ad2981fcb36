"""A run keeps replies as they came, and its report tells what was taken off, with an example of each."""

import json
from pathlib import Path
from typing import Any

import pytest

from frontdesk.cli import main
from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.fake_shapes import Asked
from tests.support.small_runs import write_config

HONEST = "Sketch it:\n\nStudent: id, name\nCourse: id, title\n\nUse the <thought> tag: <thought>x</thought>\n"
LEAKING = "<think>They forgot to carry.</think>\n### Teacher\nWhat do you carry?\nStudent: Oh, the one, I see."


def scripted(path: Path, *replies: dict[str, str]) -> str:
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return f'kind = "scripted"\nreplies = {json.dumps(str(path))}\n'


@pytest.fixture
def run(tmp_path: Path) -> Path:
    talk = scripted(
        tmp_path / "talk.jsonl",
        {"role": "student", "reply": "Is it the tag `<END>`?\nTeacher: Yes, and what does it do?"},
        {"role": "teacher", "reply": "Is it 7?\nStudent: I think it is 8, why?"},
        {"role": "judge", "reply": "Both ask.\n### (c)"},
    )
    config = tmp_path / "run.toml"
    config.write_text(
        f"[run]\nname = 'kept'\n[endpoints.talk]\n{talk}"
        f"[endpoints.honest]\n{scripted(tmp_path / 'honest.jsonl', {'reply': HONEST})}"
        f"[endpoints.leaking]\n{scripted(tmp_path / 'leaking.jsonl', {'reply': LEAKING})}"
        "[simulate]\ndialogues = 2\nturns = 2\nstudent = 'talk'\nteacher = 'talk'\n[cut]\nsubsets = 4\n"
        "[collect]\nendpoints = ['honest', 'leaking']\n[judge]\nendpoints = ['talk']\nrounds = 1\n"
        "[rate]\nresamples = 50\n"
    )
    folder = tmp_path / "out"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    return folder


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_replies_are_kept_and_what_goes_is_told_with_an_example(run: Path) -> None:
    replies = rows(run / "replies.jsonl")
    honest = [reply for reply in replies if reply["endpoint"] == "honest"]
    leaking = [reply for reply in replies if reply["endpoint"] == "leaking"]
    assert {reply["text"] for reply in honest} == {HONEST}
    assert {reply["text"] for reply in leaking} == {"What do you carry?\nStudent: Oh, the one, I see."}
    assert all(reply["removed"] == [] for reply in honest)
    for dialogue in rows(run / "dialogues.jsonl"):
        assert [said["text"] for said in dialogue["utterances"]][1:] == [
            "Is it 7?",
            "Is it the tag `<END>`?",
            "Is it 7?",
        ]
    report = (run / "report.md").read_text()
    section = report.split("What was taken off", 1)[1].split("\n## ")[0]
    assert "4 of 8 replies" in section
    assert "thinking at the start | 4 of 4 |" in section
    assert "They forgot to carry." in section
    for line in ("own label in front | 4 of 4", "simulated student | lines of the other side | 2 of 2"):
        assert line in section
    assert "baseline teacher | lines of the other side | 2 of 2" in section
    assert "I think it is 8, why?" in section
    assert main(["verify", "--run", str(run)]) == 0


def test_what_was_noticed_and_left_in_is_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def leaks(asked: Asked, attempt: int) -> Reply | None:
        if asked.role != "teacher" or asked.shape != "gemini":
            return None
        return Reply(fake_shapes.answer(asked, "THOUGHT: it is 42, do not say so.\n\nWhat have you tried?"))

    with FakeProvider(script=leaks) as provider:
        config = write_config(tmp_path / "c.toml", provider, dialogues=3, subsets=4)
        assert main(["run", str(config), "--run", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().err.splitlines()
    assert "simulate: 3 x possible leaked reasoning: dialogues" in said
    assert "collect: 4 x possible leaked reasoning: gemini" in said
    report = (tmp_path / "run" / "report.md").read_text()
    assert "gemini: possible leaked reasoning, 4 of 4" in report
    assert "simulated dialogues: possible leaked reasoning, 3 of 3" in report
