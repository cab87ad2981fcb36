"""A reader names one of the six acts, and what names none is unreadable."""

import pytest

from arena.acts import ModelActReader, read_act
from gateway.prompt import Answer
from runstore.records import Utterance

HISTORY = (Utterance(role="student", text="why?"), Utterance(role="teacher", text="What is n?"))


@pytest.mark.parametrize(
    ("raw", "act"),
    [('{"act": "wrong_answer"}', "wrong_answer"), ('{"act": "guess"}', None), ("wrong_answer", None), ("", None)],
)
async def test_the_act_that_a_reply_names(raw, act) -> None:
    async def ask(endpoint, prompt, *, repeat=0, stage="", item=""):
        assert "follow_up" in prompt.messages[0].content
        return Answer(raw)

    reader = ModelActReader.load("j", "en", None)
    assert await reader(ask, HISTORY, "the size", item="d", repeat=1) == act
    assert read_act(raw, "stop").is_readable is (act is not None)
