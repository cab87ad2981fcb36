"""A profile is aggregates; targets drawn from it follow it; the nearest candidate is used, its clean text kept."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from runstore.ids import draw
from runstore.problems import InputProblem, Problem
from runstore.tables.talks import Message, Talked, read_talks
from simulator.style.choose import distance, nearest
from simulator.style.learn import learn, messages_of
from simulator.style.profile import as_yaml, load, shipped
from simulator.style.target import Spot, Target, target
from simulator.style.traits import typed
from simulator.style.typing import retyped


@pytest.mark.parametrize(("language", "name"), [(code, name) for code in ("en", "ko") for name in shipped(code)])
def test_shipped_profiles_can_be_read_and_say_what_was_not_counted(language: str, name: str) -> None:
    profile = load(name, language)
    assert profile.assumed
    assert profile.source
    values = [profile.words_of(2).at(p / 100) for p in range(100)]
    assert values == sorted(values)
    if language == "ko":
        assert "lower_case_start" not in profile.shares


def test_targets_of_a_run_follow_the_profile_and_belong_to_their_dialogue_alone() -> None:
    profile = load("people", "en")

    def targets(n: int) -> list[Target]:
        spots = [Spot(7, f"d{at}", turn, at) for at in range(n) for turn in (2, 3, 4)]
        return [target(profile, {}, spot, {}) for spot in spots]

    found = targets(96)
    assert found[:30] == targets(200)[:30]
    words = np.asarray([each.words for each in found])
    assert (words <= 3).mean() == pytest.approx(0.32, abs=0.04)
    assert np.median(words) == pytest.approx(6, abs=1)
    for trait, share in (("question_mark", 0.28), ("ends_sentence", 0.42), ("lower_case_start", 0.26)):
        assert np.mean([each.traits[trait] for each in found]) == pytest.approx(share, abs=0.04)
    assert all(each.traits["ends_sentence"] for each in found if each.traits["question_mark"])
    hashed = [target(profile, {}, Spot(7, f"d{at}", 2), {}).words for at in range(400)]
    assert np.median(hashed) == pytest.approx(6, abs=1)


def test_two_traits_of_one_message_are_drawn_apart() -> None:
    pairs = [(Spot(3, f"d{at}", 2, at).quantile("a"), Spot(3, f"d{at}", 2, at).quantile("b")) for at in range(960)]
    assert abs(np.corrcoef(np.asarray(pairs).T)[0, 1]) < 0.1


def test_levels_shift_their_students_in_the_direction_that_is_expected_of_them() -> None:
    profile = load("people", "en")
    means = {}
    for level in ("low", "high"):
        drawn = [target(profile, {"motivation": level}, Spot(1, f"d{at}", 2, at), {}) for at in range(320)]
        means[level] = np.mean([each.words for each in drawn]), np.mean([t.traits["question_mark"] for t in drawn])
    assert means["low"][0] < means["high"][0]
    assert means["low"][1] < means["high"][1]


def test_the_nearest_candidate_is_used_and_ties_do_not_hang_on_the_order() -> None:
    wanted = Target(4, {"question_mark": True, "ends_sentence": True})
    texts = [
        "So what I think is that the heap keeps the smallest element at the root.",
        "is it the smallest?",
        "yes",
    ]
    spot = Spot(1, "d", 2)
    assert nearest(texts, "en", wanted, spot) == 1
    assert distance(texts[1], "en", wanted) == 0
    same = ["is it a heap?", "is it a tree?"]
    chosen = Counter(same[nearest(same, "en", wanted, Spot(1, f"d{at}", 2))] for at in range(200))
    assert min(chosen.values()) > 70


@pytest.mark.parametrize(
    ("language", "text", "wanted", "typed_text"),
    [
        ("en", "It is the root.", {"lower_case_start": True, "ends_sentence": False}, "it is the root"),
        ("en", "O(n) is the cost.", {"lower_case_start": True, "ends_sentence": False}, "O(n) is the cost"),
        ("en", "Is it the root?", {"ends_sentence": False}, "Is it the root?"),
        ("en", "so the root", {"ends_sentence": True}, "so the root."),
        ("ko", "루트가 제일 작아요.", {"lower_case_start": True, "ends_sentence": False}, "루트가 제일 작아요"),
    ],
)
def test_typing_sets_the_first_letter_and_the_last_mark(language, text, wanted, typed_text) -> None:
    assert retyped(text, language, Target(4, wanted), Spot(1, "d", 2))[0] == typed_text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_slips_change_one_word_and_never_code_or_numbers(language: str) -> None:
    wanted = Target(5, {"typo": True})
    plain = {"en": "then the parent swaps with its child", "ko": "그러면 부모랑 자식을 서로 바꿔요"}[language]
    slips = {retyped(plain, language, wanted, Spot(1, f"d{at}", 2))[0] for at in range(60)}
    assert len(slips) > 3
    assert all(abs(len(slip) - len(plain)) <= 1 for slip in slips)
    for text in ("`heapify(12)` takes 40 steps", "$x^2 + 12$", "12 + 30"):
        assert retyped(text, language, wanted, Spot(1, "d", 2)) == (text, ())


def test_a_profile_is_learnt_from_transcripts_and_holds_none_of_their_words(tmp_path: Path) -> None:
    secret = "xylophonic"
    talks = []
    for at in range(40):
        size = 1 + at % 8
        said = " ".join([secret] * size) + ("?" if at % 4 == 0 else "")
        messages = [
            ("user", "How do heaps keep their order then?"),
            ("assistant", "What is a heap?"),
            ("user", said),
        ]
        talks.append({"id": f"anna-{at}", "messages": [{"role": r, "content": t} for r, t in messages]})
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, talks)), encoding="utf-8")
    profile = learn(read_talks(path), "en", "my class")
    text = as_yaml(profile)
    assert secret not in text
    assert "anna" not in text
    assert "heap" not in text
    assert profile.utterances == 40
    assert profile.shares["question_mark"] == 0.25
    assert profile.shares["lower_case_start"] == 1.0
    (tmp_path / "p.yaml").write_text(text, encoding="utf-8")
    assert load(str(tmp_path / "p.yaml"), "en") == profile
    assert profile.words_of(1).quantiles[0.5] == 7
    assert profile.words_of(9).quantiles[0.5] == 4.5
    with pytest.raises(InputProblem, match="language"):
        load(str(tmp_path / "p.yaml"), "ko")


def test_a_row_a_message_is_a_transcript_too(tmp_path: Path) -> None:
    path = tmp_path / "talks.csv"
    path.write_text(
        "대화,화자,발화\n1,학생,왜 그래요?\n1,선생님,왜일까요?\n1,학생,모르겠어요\n2,학생,네\n", encoding="utf-8"
    )
    talks = read_talks(path)
    assert [len(talk.messages) for talk in talks] == [3, 1]
    assert messages_of(talks) == ["모르겠어요"]


def test_too_little_is_refused() -> None:
    talk = Talked(id="1", messages=(Message(role="student", text="hi"), Message(role="student", text="yes")))
    with pytest.raises(Problem, match="expected 20"):
        learn([talk], "en", "x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("shares: {question_mark: 2}", "less than or equal to 1"),
        ("shares: {asks: 0.1}", "asks"),
        ("words: []", "words"),
    ],
)
def test_a_wrong_profile_is_named(tmp_path: Path, change: str, said: str) -> None:
    path = tmp_path / "p.yaml"
    lines = {"language": "language: en", "source": "source: x", "words": "words: [{turn: 1, quantiles: {0.5: 4}}]"}
    lines[change.partition(":")[0]] = change
    path.write_text("\n".join(lines.values()), encoding="utf-8")
    with pytest.raises(InputProblem, match=said):
        load(str(path), "en")


@pytest.mark.parametrize(
    ("language", "text", "traits"),
    [
        ("en", "um why?", {"question_mark", "ends_sentence", "lower_case_start", "filler"}),
        ("en", "Thanks :)", {"thanks", "emoji"}),
        ("en", "teh loop is for(i) ok", {"lower_case_start", "typo", "code"}),
        ("en", "Is 힙 a tree?", {"question_mark", "ends_sentence", "mixed_language"}),
        ("ko", "음 모르겠어요ㅠㅠ", {"filler", "emoji"}),
        ("ko", "heap이 뭐예요?", {"question_mark", "ends_sentence", "mixed_language"}),
        ("ko", "그럼 안되요", {"typo"}),
    ],
)
def test_traits_of_a_message(language: str, text: str, traits: set[str]) -> None:
    assert set(typed(text, language).traits) == traits


def test_draws_are_unit_numbers() -> None:
    assert all(0 <= Spot(draw_seed, "d", 2, at).quantile("w") < 1 for at in range(64) for draw_seed in (0, 9))
    assert 0 <= draw(1, "x") < 1
