"""Any number of dialogues: what is counted is counted of all, near-duplicates are found without holding texts."""

from __future__ import annotations

import pytest

from runstore.ids import pick
from runstore.publish import to_json
from runstore.records import Dialogue, Utterance
from simulator.realism import Material, assess
from simulator.realism.failures import failures, pairs_of
from simulator.realism.near import near_pairs
from simulator.realism.near_spool import NearSpool
from simulator.realism.talk import talk_of

WORDS = [f"w{at}" for at in range(400)]


def dialogue(name: str, texts: list[str], **more: object) -> Dialogue:
    said = [Utterance(role="student", text=f"why {name}?")]
    for text in texts:
        said += [Utterance(role="teacher", text=f"hm {name} {text[:9]}?"), Utterance(role="student", text=text)]
    fields = {"persona": "p", "question": f"q{hash(name) % 7}", "subject": "s", "turns": 4, "end": "turns reached"}
    return Dialogue.model_validate({"id": name, "utterances": said, "complete": True, **fields, **more})


def planted(n: int) -> tuple[list[Dialogue], set[str]]:
    """Dialogues of drawn words; each tenth repeats an earlier one but for one word in twenty."""
    found: list[Dialogue] = []
    twins: set[str] = set()
    for at in range(n):
        words = [pick(WORDS, 5, at, place) for place in range(60)]
        if at % 10 == 9:
            words = [*" ".join(each.text for each in found[at - 5].utterances[2::2]).split()]
            words[7] = "other"
            twins |= {f"d{at:04}", f"d{at - 5:04}"}
        texts = [" ".join(words[:20]), " ".join(words[20:40]), " ".join(words[40:])]
        found.append(dialogue(f"d{at:04}", texts))
    return found, twins


def test_bands_find_what_comparing_all_finds() -> None:
    dialogues, twins = planted(400)
    talks = list(map(talk_of, dialogues))
    spool = NearSpool(0.8, 5)
    for talk in talks:
        spool.add(talk.id, pairs_of(talk), known=False)
    assert set(spool.twins()) == twins
    exact = near_pairs([pairs_of(talk) for talk in talks], 0.8)
    assert {talks[at].id for one, other, _ in exact for at in (one, other)} == twins


@pytest.mark.parametrize("copies", [2, 40])
def test_copies_are_all_found_however_many(copies: int) -> None:
    spool = NearSpool(0.8, 5)
    for at in range(copies):
        spool.add(f"c{at}", {("a", str(n)) for n in range(9)}, known=at == 0)
        spool.add(f"x{at}", {(str(at), str(n)) for n in range(9)}, known=False)
    assert sorted(spool.twins()) == sorted(f"c{at}" for at in range(1, copies))


def test_a_sample_changes_no_count_and_says_what_it_is_of() -> None:
    dialogues, twins = planted(200)
    dialogues[3] = dialogue("d0003", ["ok thanks", "thank you", "bye"])
    whole, sampled = (assess(dialogues, Material(4), seed=3, sample=size) for size in (1000, 50))
    assert whole.sampled is None
    assert sampled.sampled is not None
    assert (sampled.sampled.dialogues, sampled.sampled.of, sampled.profile.utterances) == (50, 200, 150)
    assert to_json(whole.failures) == to_json(sampled.failures)
    assert set(sampled.failures["near_duplicate"].dialogues) == twins
    assert sampled.failures["thanks_run"].dialogues == ("d0003",)
    assert to_json(whole.balance) == to_json(sampled.balance)
    assert to_json(assess(dialogues[::-1], Material(4), seed=3, sample=50)) == to_json(sampled)


def test_of_very_many_failures_all_are_counted_and_the_first_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.realism.failures.LISTED", 5)
    found = failures(
        list(map(talk_of, [dialogue(f"d{at:02}", ["thanks", "thank you"]) for at in range(30, 0, -1)])),
        Material(4),
    )
    assert found["thanks_run"]["count"] == 30
    assert found["thanks_run"]["dialogues"] == [f"d{at:02}" for at in range(1, 6)]


def test_topics_and_openers_are_held_to_limits() -> None:
    dialogues = [
        dialogue(f"d{at}", ["so it is a heap then"], subject=f"s{at % 4}", question=f"q{at}") for at in range(40)
    ]
    found = assess(dialogues, Material(2, subjects={f"s{at}": 3 for at in range(8)}), seed=1)
    assert found.diversity.topics is not None
    assert (found.diversity.topics.coverage, found.diversity.topics.evenness) == (0.5, 1.0)
    hi = Utterance(role="student", text="hi")
    same = [
        each.model_copy(update={"utterances": (hi, *each.utterances[1:]), "subject": "s0" if at else "s1"})
        for at, each in enumerate(dialogues)
    ]
    failed = assess(same, Material(2), seed=1).gate.failed
    assert {"opener_variety", "topic_evenness"} <= set(failed)
