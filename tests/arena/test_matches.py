"""Pairs of endpoints, and the order in which a round shows them."""

import random
from collections import Counter

import pytest

from arena.matches import Match, all_pairs, chosen_pairs, matches, slots
from runstore.problems import Problem
from runstore.records import Reply, Subset, Usage, Utterance


def subset(name: str) -> Subset:
    return Subset(
        id=name,
        dialogue=f"d-{name}",
        persona="p",
        question="q",
        subject="s",
        cut=1,
        depth=1,
        history=(Utterance(role="student", text="why?"),),
    )


def reply(name: str, endpoint: str) -> Reply:
    return Reply(
        subset=name,
        dialogue=f"d-{name}",
        endpoint=endpoint,
        text=f"{endpoint} says",
        finish="stop",
        usage=Usage(),
        latency_s=None,
        cost_usd=None,
    )


def match(name: str) -> Match:
    return Match(subset(name), reply(name, "x"), reply(name, "y"))


def test_pairs_are_each_taken_once():
    assert all_pairs(["b", "a", "c"]) == [("a", "b"), ("b", "c"), ("a", "c")]
    assert chosen_pairs(["a", "b", "c"], [("c", "a"), ("a", "c")]) == [("a", "c")]


def test_an_endpoint_listed_twice_needs_a_second_name():
    with pytest.raises(Problem, match="second name"):
        all_pairs(["a", "a"])
    with pytest.raises(Problem, match="second name"):
        chosen_pairs(["a", "b"], [("a", "a")])
    with pytest.raises(Problem, match="'z'"):
        chosen_pairs(["a", "b"], [("a", "z")])


def test_a_match_that_lacks_a_reply_is_named_and_not_played():
    played, missing = matches(
        [subset("1"), subset("2")], [reply("1", "x"), reply("1", "y"), reply("2", "y")], [("x", "y")]
    )
    assert [one.id for one in played] == ["1/x/y"]
    assert missing == [("2", ("x", "y"))]


def test_random_order_is_drawn_for_each_round_by_identity():
    shown = [
        slots(match(str(i)), "j", "overall", r, "random", 7)[0].endpoint for i in range(300) for r in (1, 2, 3)
    ]
    assert 400 < Counter(shown)["x"] < 500
    again = [
        slots(match(str(i)), "j", "overall", r, "random", 7)[0].endpoint for i in range(300) for r in (1, 2, 3)
    ]
    other = [
        slots(match(str(i)), "j", "overall", r, "random", 8)[0].endpoint for i in range(300) for r in (1, 2, 3)
    ]
    assert shown == again != other


def test_balanced_order_alternates_from_a_drawn_side():
    firsts = Counter()
    for i in range(200):
        sides = [slots(match(str(i)), "j", "overall", r, "balanced", 7)[0].endpoint for r in (1, 2, 3, 4)]
        assert sides[0] != sides[1]
        assert sides[:2] == sides[2:]
        firsts[sides[0]] += 1
    assert 70 < firsts["x"] < 130


@pytest.mark.parametrize("seed", range(4))
def test_replies_may_come_in_any_order(seed):
    names = [str(number) for number in range(12)]
    given = [reply(name, endpoint) for name in [*names, "stranger"] for endpoint in ("x", "y")]
    random.Random(seed).shuffle(given)
    played, missing = matches([subset(name) for name in names], given, [("x", "y")])
    assert [(one.subset.id, one.first.subset, one.second.subset) for one in played] == [(n, n, n) for n in names]
    assert missing == []
