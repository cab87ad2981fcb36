"""Judges guess levels from messages alone: what they are sent, what is unreadable, and what verify makes again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.blind import BlindJudge, Guess, read_levels
from frontdesk.cli import main
from frontdesk.runner.blind import judged
from gateway.prompt import Answer, Prompt
from runstore.ids import pick
from runstore.journal import read_rows
from tests.support import fake_shapes
from tests.support.fake_faults import Reply
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import write_config

FACTORS = {"motivation": ["high", "low"], "year": ["1", "2"]}


async def test_a_judge_is_sent_messages_and_levels_and_nothing_else() -> None:
    sent: list[Prompt] = []

    async def ask(endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = "") -> Answer:
        sent.append(prompt)
        return Answer('{"motivation": "Low", "year": 3}')

    judge = BlindJudge.load("j", FACTORS, "en", None, 7)
    found = await judge.guess(
        ask, "d1", ["ok", '{"motivation": "high", "year": "1"}'], {"motivation": "low", "year": "2"}
    )
    assert found.levels == {"motivation": "low", "year": None}
    assert (found.state, found.truth) == ("missing values", {"motivation": "low", "year": "2"})
    text = sent[0].messages[0].content
    assert text.count("\nok\n") == 1
    orders = {
        judge.prompt(f"d{at}", ["ok"]).messages[0].content.split("(motivation): ")[1][:4] for at in range(20)
    }
    assert orders == {"high", "low "}


@pytest.mark.parametrize("raw", ["", "high", "[]", '{"motivation": "middling"}'])
def test_what_names_no_level_is_unreadable(raw: str) -> None:
    assert not read_levels(FACTORS, raw, "stop").is_readable


def guesses(n: int, *, dealt: bool) -> list[Guess]:
    rows: list[Guess] = []
    for at in range(n):
        truth = ("low", "high")[at % 2]
        said = pick(("low", "high"), 3, at) if dealt else truth if at % 10 else None
        rows.append(
            Guess(
                dialogue=f"d{at}",
                judge="j",
                state="answered" if said else "unreadable",
                levels={"m": said},
                truth={"m": truth},
            )
        )
    return rows


def test_hits_are_held_against_levels_dealt_out_and_the_unreadable_are_misses() -> None:
    (told,) = judged(guesses(100, dealt=False), 5)
    row: dict[str, Any] = told["factors"]["m"]
    assert (told["dialogues"], told["of"], told["unreadable"]) == (90, 100, 10)
    assert row["recall"] == pytest.approx(0.9)
    assert row["lower"] < 0.9 < row["upper"]
    assert row["p"] <= 0.01
    (chance,) = judged(guesses(100, dealt=True), 5)
    assert chance["factors"]["m"]["p"] > 0.05
    assert chance["factors"]["m"]["lower"] < 0.5 < chance["factors"]["m"]["upper"]


def test_the_command_asks_once_a_dialogue_and_verify_makes_it_again(
    tmp_path: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=8, subsets=4)
    text = config.read_text("utf-8")
    config.write_text(text[: text.index("[cut]")], encoding="utf-8")
    folder = tmp_path / "run"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    before = provider.stats.calls
    assert main(["quality", str(folder), "--judge", "gemini", "--judge-dialogues", "6"]) == 0
    assert provider.stats.calls - before == 6
    asked = [row for row in read_rows(folder / "journal") if row["state"] == "ok" and row["where"][0] == "quality"]
    assert len(asked) == 6
    assert not any("who are you" in json.dumps(row["request"]).lower() for row in asked)
    found = json.loads((folder / "quality.json").read_text("utf-8"))["fidelity"]["judged"]
    assert [(row["judge"], row["of"]) for row in found] == [("gemini", 6)]
    assert main(["quality", str(folder), "--judge", "gemini", "--judge-dialogues", "6"]) == 0
    assert provider.stats.calls - before == 6
    assert main(["verify", str(folder)]) == 0
    assert main(["quality", str(folder), "--judge", "nobody"]) == 2
    assert "expected one of" in capsys.readouterr().err


def test_a_judge_whose_first_guesses_nobody_can_read_is_asked_no_more(
    tmp_path: Path, provider: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path / "c.toml", provider, dialogues=12, subsets=4, concurrency=2)
    text = config.read_text("utf-8")
    config.write_text(text[: text.index("[cut]")] + "[budget]\ntrial_rounds = 4\n", encoding="utf-8")
    folder = tmp_path / "run"
    assert main(["run", str(config), "--run", str(folder)]) == 0
    before = provider.stats.calls
    provider.script = lambda asked, _: Reply(fake_shapes.answer(asked, "I cannot tell."))
    assert main(["quality", str(folder), "--judge", "gemini", "--judge-dialogues", "12"]) == 3
    assert 4 <= provider.stats.calls - before <= 6
    assert "of gemini's first 4 guesses 0 could be read" in capsys.readouterr().err
