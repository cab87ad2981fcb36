"""Messages that miss their planned act are asked for again; of several candidates the nearest is used."""

from __future__ import annotations

import orjson
import pytest

from gateway.engine import Gateway
from personas import generate
from runstore.records import SeedQuestion, Utterance
from simulator.acts import realised
from simulator.conversation import Conversation, converse
from simulator.roles import Roles
from simulator.style.profile import StyleProfile, WordsByTurn
from simulator.style.steering import Directions, Steering

PERSONA = generate()[0]
QUESTION = SeedQuestion(
    id="q", subject="algorithms", text="Why does a heap keep its smallest element at the root?"
)
HISTORY = (
    Utterance(role="student", text=QUESTION.text),
    Utterance(role="teacher", text="Which element does the parent compare with when it sinks?"),
)
KOREAN = (
    Utterance(role="student", text="힙에서 왜 가장 작은 원소가 루트에 있나요?"),
    Utterance(role="teacher", text="부모 노드는 자식과 어떻게 비교될까요?"),
)


@pytest.mark.parametrize(
    ("language", "act", "text", "found"),
    [
        ("en", "follow_up", "so does the parent compare with both children?", "yes"),
        ("en", "follow_up", "the smaller child", "no"),
        ("en", "clarification", "i dont get what sinks means", "yes"),
        ("en", "clarification", "the smaller child.", "no"),
        ("en", "new_question", "is a heap faster than a sorted list?", "yes"),
        ("en", "irrelevant_question", "do you like football?", "yes"),
        ("en", "irrelevant_question", "which element does the parent compare with?", "no"),
        ("en", "irrelevant_question", "the smaller child", "no"),
        ("en", "right_answer", "what do you mean by sinks?", "no"),
        ("en", "right_answer", "with its smaller child", "unknown"),
        ("en", "wrong_answer", "with the root i think?", "unknown"),
        ("ko", "clarification", "비교된다는 게 무슨 말이에요?", "yes"),
        ("ko", "follow_up", "그럼 부모가 두 자식이랑 다 비교하나요?", "yes"),
        ("ko", "follow_up", "더 작은 자식이요", "no"),
        ("ko", "irrelevant_question", "점심 뭐 드셨어요?", "yes"),
        ("ko", "new_question", "원소를 지울 때는 어떻게 되나요?", "yes"),
        ("ko", "wrong_answer", "잘 모르겠어요", "no"),
        ("ko", "right_answer", "더 작은 자식이랑 비교해요", "unknown"),
    ],
)
def test_rules_tell_what_they_can(language, act, text, found) -> None:
    assert realised(act, text, HISTORY if language == "en" else KOREAN, language) == found


def scripted(tmp_path, name, replies):
    path = tmp_path / f"{name}.jsonl"
    path.write_bytes(b"".join(orjson.dumps({"reply": reply}) + b"\n" for reply in replies))
    return {"kind": "scripted", "replies": str(path), "order": "sequence"}


async def hold(endpoints, **how):
    how = {"turns": 2, "weights": {"*": {"clarification": 1.0}}, **how}
    weights = {
        "*": {
            **dict.fromkeys(("follow_up", "new_question", "irrelevant_question"), 0.0),
            **how.pop("weights")["*"],
        }
    }
    weights["*"] = {act: weights["*"].get(act, 0.0) for act in (
        "follow_up", "clarification", "new_question", "irrelevant_question", "right_answer", "wrong_answer"
    )}  # fmt: skip
    async with Gateway.open(endpoints) as gateway:
        held = await converse(
            gateway.ask, PERSONA, QUESTION,
            Conversation(student="student", teacher="teacher", weights=weights, **how), Roles.load(),
        )  # fmt: skip
    return held.dialogue


def speakers(tmp_path, said):
    return {"student": scripted(tmp_path, "s", said), "teacher": scripted(tmp_path, "t", ["What sinks?", "Why?"])}


async def test_a_message_that_misses_its_act_is_asked_for_again(tmp_path) -> None:
    said = ["the smaller child.", "i dont get what sinks means"]
    dialogue = await hold(speakers(tmp_path, said), acts="planned", act_retries=2)
    assert dialogue.utterances[2].text == said[1]
    assert dialogue.utterances[2].realised == "yes"
    assert dialogue.notes["act_asked_again"] == 1


async def test_the_limit_is_kept_and_what_came_is_recorded_as_a_miss(tmp_path) -> None:
    dialogue = await hold(speakers(tmp_path, ["a child.", "a parent.", "a root."]), acts="planned", act_retries=1)
    assert dialogue.utterances[2].text == "a parent."
    assert dialogue.utterances[2].realised == "no"
    assert dialogue.complete


async def test_a_reader_is_asked_only_where_rules_cannot_tell(tmp_path) -> None:
    asked = []

    class Reader:
        name = "reader"

        async def __call__(self, ask, history, text, *, item, repeat, stage="simulate"):
            asked.append(text)
            return "wrong_answer" if "root" in text else "right_answer"

    how = {"acts": "planned", "act_retries": 2, "reader": Reader(), "weights": {"*": {"wrong_answer": 1.0}}}
    dialogue = await hold(speakers(tmp_path, ["what do you mean?", "its child", "the root"]), **how)
    assert asked == ["its child", "the root"]
    assert (dialogue.utterances[2].text, dialogue.utterances[2].realised) == ("the root", "yes")
    assert (dialogue.notes["act_asked_again"], dialogue.notes["act_read"]) == (2, 2)


def steering(words=2, **how):
    profile = StyleProfile(
        language="en", source="test", words=(WordsByTurn(turn=1, quantiles={0.5: words}),),
        shares={"ends_sentence": 0.0, "lower_case_start": 1.0},
    )  # fmt: skip
    return Steering(profile, Directions.load("en"), **how)


async def test_of_several_candidates_the_nearest_is_used_and_what_was_done_is_recorded(tmp_path) -> None:
    said = [
        "The parent sinks until both of its children are larger than it.",
        "The child.",
        "It sinks down the tree.",
    ]
    dialogue = await hold(speakers(tmp_path, said), steering=steering(candidates=3))
    utterance = dialogue.utterances[2]
    assert (utterance.text, utterance.clean) == ("the child", "The child.")
    assert utterance.steered.model_dump() == {
        "words": 2, "traits": {"ends_sentence": False, "lower_case_start": True}, "of": 3, "chosen": 1,
        "edits": ("lower_case_start", "no_full_stop"),
    }  # fmt: skip


async def test_choosing_changes_nothing_in_who_leaves(tmp_path) -> None:
    stay = await hold(
        speakers(tmp_path, ["the parent sinks until both children are larger", "ok <END>", "ok bye <END>"]),
        steering=steering(candidates=3),
    )
    assert stay.end == "turns reached"
    leave = await hold(
        speakers(tmp_path, ["I am done here now. <END>", "ok", "yes"]), steering=steering(candidates=3)
    )
    assert (leave.end, leave.utterances[-1].clean) == ("student ended", "I am done here now.")


async def test_blank_and_copied_candidates_are_not_used(tmp_path) -> None:
    how = {"steering": steering(candidates=3, examples=["no idea"])}
    dialogue = await hold(speakers(tmp_path, ["", "No idea", "It sinks down the whole tree"]), **how)
    assert dialogue.utterances[2].clean == "It sinks down the whole tree"


async def test_the_model_is_told_at_the_very_end_so_that_prompts_share_their_beginning(provider) -> None:
    endpoint = provider.settings("openai")
    how = {"turns": 4, "steering": steering(candidates=2, examples=["ok wait"])}
    dialogue = await hold({"student": endpoint, "teacher": endpoint}, **how)
    assert provider.stats.calls == 4 + 3 * 2
    asked = [each for each in provider.requests if each.role == "student"]
    texts = [[m["content"] for m in each.body["messages"]] for each in asked]
    for one, other in zip(texts[::2], texts[2::2], strict=False):
        assert other[: len(one) - 1] == one[:-1]
    assert all("ok wait" in text[-1] and "ok wait" not in "".join(text[:-1]) for text in texts)
    assert all(each.steered is not None for each in dialogue.utterances[2::2])
