"""Our student's turns beside people's: what is asked, what is measured, and what is not known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.beside import Pair, measured, read_pair, rouge_l
from frontdesk.cli import main
from frontdesk.runner.beside import cuts_of
from runstore.tables.talks import Message, Talked
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config


def talk(name: str, *texts: str) -> Talked:
    roles = ("student", "teacher")
    return Talked(id=name, messages=tuple(Message(role=roles[at % 2], text=text) for at, text in enumerate(texts)))


def test_every_answer_to_a_teacher_is_a_turn() -> None:
    cuts = cuts_of([talk("a", "why?", "what?", "hm", "so?", "n"), talk("b", "why?")], 10, 1)
    assert [(cut.talk, cut.turn, len(cut.history), cut.said) for cut in cuts] == [
        ("a", 2, 2, "hm"),
        ("a", 3, 4, "n"),
    ]
    assert len(cuts_of([talk("a", "why?", "what?", "hm", "so?", "n")], 1, 1)) == 1


def test_dimensions_are_held_beside_each_other() -> None:
    pairs = [
        Pair(talk=f"t{at}", turn=2, person="it is n", student="it is n squared then",
             act_person="right_answer", act_student="right_answer" if at % 2 else "wrong_answer",
             same_error="none", state="answered")
        for at in range(20)
    ]  # fmt: skip
    found = measured(pairs, 3)
    assert (found["same_act"]["value"], found["same_correctness"]["value"]) == (0.5, 0.5)
    assert found["same_act"]["lower"] < 0.5 < found["same_act"]["upper"]
    assert found["same_error"] == {"value": None, "reason": "no turn where both are wrong"}
    assert found["length"]["value"] == pytest.approx(0.737, abs=0.01)
    assert found["wording"]["value"] == pytest.approx(6 / 8)
    assert found["knowledge"]["value"] is None
    assert (
        measured([Pair(talk="t", turn=2, person="a", student="b")], 3)["same_act"]["reason"]
        == "no judge read the acts"
    )


def test_what_lacks_an_act_is_unreadable() -> None:
    assert read_pair('{"act_a": "follow_up", "act_b": "wrong_answer", "same_error": "none"}', "stop").is_readable
    assert not read_pair('{"act_a": "follow_up", "same_error": "none"}', "stop").is_readable
    assert rouge_l("", "a") == 0


def test_the_command_asks_the_student_once_a_turn(
    tmp_path: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=4, subsets=4)
    text = config.read_text("utf-8")
    config.write_text(text[: text.index("[cut]")], encoding="utf-8")
    folder = tmp_path / "run"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    said = (("user", "why is it n?"), ("assistant", "what is n?"), ("user", "the size i think"))
    rows = [
        {"id": f"p{at}", "messages": [{"role": role, "content": f"{each} {at}"} for role, each in said]}
        for at in range(5)
    ]
    file = tmp_path / "people.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    before = provider.stats.calls
    capsys.readouterr()
    assert main(["quality", str(folder), "--beside", str(file)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert provider.stats.calls - before == 5
    assert (found["turns"], found["conversations"], found["same_act"]["value"]) == (5, 5, None)
    sent = [asked for asked in provider.requests if asked.role == "student"][-1]
    assert "what is n?" in "".join(sent.texts)
    assert "the size i think" not in "".join(sent.texts)
