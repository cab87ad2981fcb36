"""Dialogues of a student and a teacher, over the scripted endpoint and over loopback."""

from collections import Counter

import orjson
import pytest

from gateway.engine import Gateway
from personas import generate
from runstore.records import ACTS, SeedQuestion
from simulator.conversation import Conversation, converse
from simulator.roles import Roles

PERSONA = generate()[0]
QUESTION = SeedQuestion(id="q", subject="arithmetic", text="I get 12 for 3 + 4 x 2, why is that wrong?")


def scripted(tmp_path, name, replies):
    path = tmp_path / f"{name}.jsonl"
    lines = [reply if isinstance(reply, dict) else {"reply": reply} for reply in replies]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return {"kind": "scripted", "replies": str(path), "order": "sequence"}


async def hold(endpoints, **how):
    how.setdefault("turns", 3)
    async with Gateway.open(endpoints) as gateway:
        return await converse(
            gateway.ask, PERSONA, QUESTION, Conversation(student="student", teacher="teacher", **how), Roles.load()
        )


async def test_student_first_teacher_last(tmp_path):
    held = await hold(
        {
            "student": scripted(tmp_path, "s", ["is it 11?", "ok because x first"]),
            "teacher": scripted(tmp_path, "t", ["Which part first?", "Why 11?", "Right. What about 2 x 3 + 1?"]),
        }
    )
    dialogue = held.dialogue
    assert held.failure is None
    assert [u.role for u in dialogue.utterances] == ["student", "teacher"] * 3
    assert dialogue.utterances[0].text == QUESTION.text
    assert (dialogue.turns, dialogue.end, dialogue.complete) == (3, "turns reached", True)


async def test_the_last_sentence_before_the_end_marker_is_kept(tmp_path):
    last = "Oh, so it is 3/4 because both halves split again. Thanks!"
    held = await hold(
        {
            "student": scripted(tmp_path, "s", ["half?", f"{last} <END>"]),
            "teacher": scripted(tmp_path, "t", ["What is a half of a half?", "And both halves?"]),
        },
        turns=10,
    )
    assert held.dialogue.utterances[-1].text == last
    assert (held.dialogue.end, held.dialogue.complete, held.dialogue.turns) == ("student ended", True, 2)


async def test_a_bare_end_marker_adds_no_utterance(tmp_path):
    held = await hold(
        {"student": scripted(tmp_path, "s", ["<END>"]), "teacher": scripted(tmp_path, "t", ["What first?"])}
    )
    assert [u.role for u in held.dialogue.utterances] == ["student", "teacher"]
    assert held.dialogue.end == "student ended"


async def test_a_blank_is_asked_again_and_counted(tmp_path):
    held = await hold(
        {
            "student": scripted(tmp_path, "s", ["Hi, can we do ratios?", "   \n\u200b", "I think 2:3"]),
            "teacher": scripted(tmp_path, "t", ["a?", "b?", "c?"]),
        }
    )
    texts = [u.text for u in held.dialogue.utterances if u.role == "student"]
    assert texts == [QUESTION.text, "Hi, can we do ratios?", "I think 2:3"]
    assert held.dialogue.notes["blank"] == 1
    assert held.dialogue.complete


async def test_only_blanks_end_the_dialogue_incomplete(tmp_path):
    held = await hold(
        {
            "student": scripted(tmp_path, "s", [" ", "\u200b", "\n", " ", " ", " ", " ", " "]) | {"retries": 0},
            "teacher": scripted(tmp_path, "t", ["a?", "b?", "c?"]),
        }
    )
    assert (held.dialogue.end, held.dialogue.complete) == ("empty student reply", False)
    assert all(u.text.strip() for u in held.dialogue.utterances)
    assert held.dialogue.notes["blank"] >= 1


async def test_context_overflow_is_asked_once_and_named(provider):
    overflow = {
        "error": {
            "code": "context_length_exceeded",
            "message": "maximum context length is 8192 tokens, request has 9001",
        }
    }

    def script(asked, attempt):
        if asked.role == "teacher" and len(asked.texts) >= 10:
            from tests.support.fake_faults import Reply

            return Reply(orjson.dumps(overflow), 400)
        return None

    provider.script = script
    endpoint = provider.settings("openai", retries=3)
    held = await hold({"student": endpoint, "teacher": endpoint}, turns=8)
    assert (held.dialogue.turns, held.dialogue.end, held.dialogue.complete) == (4, "context limit", False)
    assert "context length" in (held.dialogue.end_detail or "")
    assert held.failure is not None
    assert held.failure.kind == "context_length"
    assert provider.stats.by_fault["scripted"] == 1


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_the_student_sees_its_own_opening_line_once_as_its_own(provider, kind):
    endpoint = provider.settings(kind)
    await hold({"student": endpoint, "teacher": endpoint}, turns=2)
    student = next(asked for asked in provider.requests if asked.role == "student")
    body = student.body
    if kind == "openai":
        messages = [(m["role"], m["content"]) for m in body["messages"] if m["role"] != "system"]
        own, other = "assistant", "user"
    else:
        messages = [(c["role"], "".join(p["text"] for p in c["parts"])) for c in body["contents"]]
        own, other = "model", "user"
    assert orjson.dumps(body).decode().count(QUESTION.text) == 1
    assert messages[0][0] == other
    assert messages[1] == (own, QUESTION.text)
    assert messages[2][0] == other
    assert [role for role, _ in messages] == [other, own, other]


async def test_planned_acts_are_drawn_by_identity_recorded_and_asked_for(provider):
    endpoint = provider.settings("openai")
    weights = {"*": {"wrong_answer": 3.0, "clarification": 1.0}, "motivation-low": {"irrelevant_question": 0.0}}
    first = await hold({"student": endpoint, "teacher": endpoint}, turns=6, acts="planned", weights=weights)
    again = await hold({"student": endpoint, "teacher": endpoint}, turns=6, acts="planned", weights=weights)
    acts = [u.act for u in first.dialogue.utterances if u.role == "student"]
    assert acts[0] is None
    assert set(acts[1:]) <= set(ACTS)
    assert first == again
    student = next(asked for asked in provider.requests if asked.role == "student")
    assert "next message do this and only this" in student.last


async def test_free_acts_leave_the_choice_to_the_model(provider):
    endpoint = provider.settings("openai")
    held = await hold({"student": endpoint, "teacher": endpoint}, acts="free")
    assert Counter(u.act for u in held.dialogue.utterances) == {None: 6}


async def test_an_adapter_that_breaks_ends_its_dialogue_only(tmp_path):
    held = await hold(
        {
            "student": scripted(tmp_path, "s", ["a", "b"]),
            "teacher": scripted(tmp_path, "t", ["x?", {"error": {"kind": "server", "message": "down"}}]),
        }
    )
    assert (held.dialogue.end, held.dialogue.complete, held.dialogue.turns) == ("failure", False, 1)
    assert held.failure is not None
    assert (held.failure.kind, held.failure.endpoint) == ("server", "teacher")


async def test_a_student_who_must_stay_has_exactly_the_planned_turns(tmp_path, provider):
    endpoint = provider.settings("openai")
    endpoints = {
        "student": scripted(tmp_path, "s", ["got it <END>", "<END>", "ok", "bye <END>"]),
        "teacher": scripted(tmp_path, "t", ["a?", "b?", "c?", "d?"]),
    }
    async with Gateway.open(endpoints) as gateway:
        how = Conversation(student="student", teacher="teacher", turns=4, stays=True)
        held = await converse(gateway.ask, PERSONA, QUESTION, how, Roles.load(stays=True))
    said = [each.text for each in held.dialogue.utterances if each.role == "student"]
    assert said == [QUESTION.text, "got it", "ok", "bye"]
    assert (held.dialogue.turns, held.dialogue.end, held.dialogue.complete) == (4, "turns reached", True)
    assert held.dialogue.notes == {"blank": 1, "end_marker": 3}
    async with Gateway.open({"student": endpoint, "teacher": endpoint}) as gateway:
        await converse(gateway.ask, PERSONA, QUESTION, how, Roles.load(stays=True))
    students = [asked for asked in provider.requests if asked.role == "student"]
    assert len(students) == 3
    assert all("you can't leave it" in asked.body["messages"][0]["content"] for asked in students)


async def test_an_opening_in_the_student_s_words_keeps_the_seed_question(tmp_path, provider):
    endpoints = {
        "student": scripted(tmp_path, "s", ["why isnt 3 + 4 x 2 twelve <END>", "is it 11?"]),
        "teacher": scripted(tmp_path, "t", ["a?", "b?"]),
    }
    async with Gateway.open(endpoints) as gateway:
        how = Conversation(student="student", teacher="teacher", turns=2, rephrases=True)
        held = await converse(gateway.ask, PERSONA, QUESTION, how, Roles.load(rephrases=True))
    dialogue = held.dialogue
    assert [each.text for each in dialogue.utterances] == ["why isnt 3 + 4 x 2 twelve", "a?", "is it 11?", "b?"]
    assert (dialogue.question, dialogue.asked) == (QUESTION.id, QUESTION.text)
    endpoint = provider.settings("openai")
    async with Gateway.open({"student": endpoint, "teacher": endpoint}) as gateway:
        await converse(gateway.ask, PERSONA, QUESTION, how, Roles.load(rephrases=True))
    opening = next(asked for asked in provider.requests if asked.role == "student")
    assert PERSONA.text in opening.body["messages"][0]["content"]
    assert opening.body["messages"][-1]["content"].endswith(QUESTION.text)


async def test_an_opening_that_never_comes_is_a_failure(tmp_path):
    endpoints = {
        "student": scripted(tmp_path, "s", [" "] * 8) | {"retries": 0},
        "teacher": scripted(tmp_path, "t", ["a?"]),
    }
    async with Gateway.open(endpoints) as gateway:
        how = Conversation(student="student", teacher="teacher", turns=2, rephrases=True)
        held = await converse(gateway.ask, PERSONA, QUESTION, how, Roles.load(rephrases=True))
    assert (held.dialogue.turns, held.dialogue.complete) == (0, False)
    assert held.failure is not None and held.failure.kind == "empty"
