"""The whole analysis of a run's judges: what it holds, what it says where nothing can be known, and families."""

import json
import math

import pytest

from arena.judges.analysis import analyse
from arena.judges.result import JudgesResult
from arena.ratings.leaderboard import build
from arena.ratings.settings import Settings
from arena.ratings.verdicts import from_verdicts
from arena.votes import verdict
from frontdesk.runner.families import family_of
from gateway.adapters.base import EndpointSettings
from runstore.publish import to_json
from tests.support.judging_crowds import Habits, crowd

STRENGTHS = {"ada": 1.0, "bell": 0.0, "cray": -1.0}


def analysed(judgments, replies, families=None):
    by_match = {}
    for one in judgments:
        by_match.setdefault((one.subset, *sorted((one.slot_a, one.slot_b))), []).append(one)
    verdicts = [verdict(rounds, key[1:], len(rounds)) for key, rounds in by_match.items()]
    board = build(from_verdicts(verdicts, judgments), Settings(resamples=50))
    return analyse(judgments, replies, board, families or {})


def written(found):
    """What stands in the file, and is read as the same result again."""
    row = json.loads(to_json(found.to_json()))
    assert to_json(JudgesResult.model_validate(row).to_json()) == to_json(found.to_json())
    return row


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for one in value for number in numbers(one)]
    return [value] if isinstance(value, float) else []


def test_every_judge_is_analysed_and_every_gap_has_its_reason():
    judges = {"one": Habits(first=0.5, unreadable=0.1), "two": Habits(reliability=0.7, ties=0.2)}
    judgments, replies = crowd(STRENGTHS, judges, subsets=60, rounds=3)
    found = analysed(judgments, replies, {"one": "g", "ada": "g", "two": "o"})
    assert [judge.name for judge in found.judges] == ["one", "two"]
    one, two = found.judges
    assert one.rounds == two.rounds == 60 * 3 * 3
    assert one.unreadable == sum(j.judge == "one" and j.outcome == "unreadable" for j in judgments)
    assert one.position.log_odds.lower > 0
    assert one.position.first + one.position.second + one.position.ties + one.unreadable == 540
    assert two.consistency.all_alike.value < one.consistency.all_alike.value
    assert one.own_family.endpoints == ("ada",)
    assert two.own_family.log_odds.reason == "no endpoint is of the same family"
    assert found.agreement.pairs[0].kappa.value > 0
    assert [one.key for one in found.agreement.all] == ["percent_agreement", "krippendorff_nominal"]
    assert found.people is None
    assert [judge.name for judge in found.panel.judges] == ["one", "two"]
    assert [model.name for model in found.panel.models] == ["ada", "bell", "cray"]
    assert found.panel.kendall.value == 1.0
    assert all(math.isfinite(number) for number in numbers(written(found)))
    assert analysed(judgments, replies, {"one": "g", "ada": "g", "two": "o"}) == found


def test_what_the_model_changes_in_the_ranking_is_counted():
    """Two coins and a sharp judge of two close endpoints that only the coins see the other way round."""
    sharp, replies = crowd(STRENGTHS, {"sharp": Habits()}, subsets=150, seed=1)
    contrary, _ = crowd(
        {"ada": 0.0, "bell": 2.5, "cray": -1.0}, {"odd": Habits(), "odder": Habits()}, subsets=150, seed=2
    )
    found = analysed(sharp + contrary, replies)
    ranks = {model.name: (model.rank_by_vote, model.rank) for model in found.panel.models}
    for model in found.panel.models:
        assert model.moved == ranks[model.name][0] - ranks[model.name][1]


def test_people_are_one_rater_beside_each_judge_and_never_part_of_the_panel():
    people = {f"person:{n}": Habits() for n in range(3)}
    judges = {"sharp": Habits(), "coin": Habits(reliability=0.5), **people}
    judgments, replies = crowd({"ada": 0.0, "bell": 4.0, "cray": 0.0}, judges, subsets=80)
    found = analysed(judgments, replies)
    assert [judge.name for judge in found.judges] == ["coin", "sharp"]
    assert found.people.persons == 3
    kappas = {pair.a: pair.kappa.value for pair in found.people.pairs}
    assert {pair.b for pair in found.people.pairs} == {"people"}
    assert kappas["sharp"] > kappas["coin"] + 0.1
    assert {judge.name for judge in found.panel.judges} == {"coin", "sharp"}


def test_judges_of_different_matches_have_no_agreement():
    one, replies = crowd(STRENGTHS, {"one": Habits()}, subsets=20)
    two, _ = crowd(STRENGTHS, {"two": Habits()}, subsets=20)
    other = [judgment.model_copy(update={"subset": f"other {judgment.subset}"}) for judgment in two]
    found = analysed(one + other, replies)
    [pair] = found.agreement.pairs
    assert pair.kappa.value is None and pair.kappa.reason == "no item was rated by both"
    assert all(one.value is None and one.reason for one in found.agreement.all)


def test_one_judge_and_no_readable_round():
    judgments, replies = crowd(STRENGTHS, {"one": Habits()}, subsets=20)
    found = analysed(judgments, replies)
    assert found.agreement.pairs == ()
    assert {one.reason for one in found.agreement.all} == {"1 judges; at least 2 are needed"}
    assert found.panel.judges == () and found.panel.reason
    unread, replies = crowd(STRENGTHS, {"one": Habits(unreadable=1), "two": Habits(unreadable=1)}, subsets=4)
    found = analysed(unread, replies)
    assert [judge.unreadable for judge in found.judges] == [12, 12]
    assert found.panel.reason and found.judges[0].position.log_odds.reason


@pytest.mark.parametrize(
    ("settings", "family"),
    [
        ({"kind": "gemini", "model": "gemini-2.5-flash"}, "google"),
        ({"kind": "openai", "model": "google/gemma-3-27b-it"}, "google"),
        ({"kind": "openai", "model": "gpt-5-mini"}, "openai"),
        ({"kind": "openai", "model": "o3-mini"}, "openai"),
        ({"kind": "openai", "model": "openai/o4"}, "openai"),
        ({"kind": "anthropic", "model": "claude-haiku-4-5"}, "anthropic"),
        ({"kind": "gemini"}, "google"),
        ({"kind": "openai", "model": "Qwen/Qwen3-8B"}, "alibaba"),
        ({"kind": "openai", "model": "my-tutor"}, "model my-tutor"),
        ({"kind": "http"}, None),
        ({"kind": "openai", "model": "gpt-5", "family": " Ours "}, "ours"),
    ],
)
def test_the_family_of_an_endpoint(settings, family):
    assert family_of(EndpointSettings(**settings)) == family


def test_a_few_rounds_that_slots_and_lengths_decide_between_them_have_no_effects_and_end_nothing():
    judgments, replies = crowd({"ada": 0.0, "bell": 0.0}, {"one": Habits()}, subsets=3, rounds=3)
    sizes = {"ada": (81, 81, 80), "bell": (69, 69, 92)}
    subsets = sorted({one.subset for one in judgments})
    replies = [
        one.model_copy(update={"text": "x" * sizes[one.endpoint][subsets.index(one.subset)]}) for one in replies
    ]
    shown = ["aa", "ba", "ba", "bb", "ab", "ab", "ba", "ab", "ba"]
    names = {"a": "ada", "b": "bell"}
    told = []
    for one, (first, won) in zip(sorted(judgments, key=lambda one: (one.subset, one.round)), shown, strict=True):
        slot_a, slot_b = names[first], names["b" if first == "a" else "a"]
        letter = "a" if won == "a" else "b"
        winner = slot_a if letter == "a" else slot_b
        told.append(
            one.model_copy(
                update={"slot_a": slot_a, "slot_b": slot_b, "letter": letter, "outcome": "win", "winner": winner}
            )
        )
    found = analysed(told, replies)
    assert found.judges[0].rounds == 9
    json.dumps(written(found), allow_nan=False)
