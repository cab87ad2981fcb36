from itertools import permutations, product

import pytest

from arena.reading import read_marker
from arena.votes import judgment_from, majority, verdict
from runstore.records import Judgment, Outcome, VerdictOutcome

WIN_X: tuple[Outcome, str | None] = ("win", "X")
WIN_Y: tuple[Outcome, str | None] = ("win", "Y")
TIE: tuple[Outcome, str | None] = ("tie", None)
UNREADABLE: tuple[Outcome, str | None] = ("unreadable", None)


def judged(
    letter: str | None, slot_a: str = "X", slot_b: str = "Y", round_: int = 0, judge: str = "j"
) -> Judgment:
    raw = f"### ({letter})" if letter else "no idea"
    return judgment_from(
        read_marker(raw),
        subset="s",
        dialogue="d",
        judge=judge,
        criterion="overall",
        round=round_,
        slot_a=slot_a,
        slot_b=slot_b,
        raw=raw,
    )


@pytest.mark.parametrize(
    ("slot_a", "slot_b", "letter", "winner"),
    [
        ("X", "Y", "a", "X"),
        ("X", "Y", "b", "Y"),
        ("Y", "X", "a", "Y"),
        ("Y", "X", "b", "X"),
        ("Y", "X", "c", None),
    ],
)
def test_a_row_shows_slots_letter_and_winner_together(
    slot_a: str, slot_b: str, letter: str, winner: str | None
) -> None:
    row = judged(letter, slot_a, slot_b)
    assert (row.slot_a, row.slot_b, row.letter, row.winner) == (slot_a, slot_b, letter, winner)
    assert row.outcome == ("tie" if letter == "c" else "win")


@pytest.mark.parametrize(("first", "second"), [("B", "A"), ("tie", "C"), ("C", "tie"), ("b", "a")])
def test_names_that_look_like_letters_are_only_names(first: str, second: str) -> None:
    rows = [judged("a", first, second, 0), judged("a", first, second, 1), judged("b", second, first, 2)]
    decided = verdict(rows, (first, second), asked=3)
    assert (decided.outcome, decided.winner, decided.agreement) == ("win", first, "unanimous")


def test_an_unreadable_round_keeps_its_reply_and_reason() -> None:
    row = judged(None)
    assert (row.outcome, row.winner, row.letter, row.raw) == ("unreadable", None, None, "no idea")
    assert row.reason == "no line starts with ###"


@pytest.mark.parametrize("votes", list(permutations([WIN_X, WIN_Y, UNREADABLE])))
def test_one_unreadable_round_of_a_split_leaves_no_verdict_in_any_order(
    votes: tuple[tuple[Outcome, str | None], ...],
) -> None:
    assert majority(votes, 3) == ("invalid", None, "split")


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([WIN_X, WIN_X, UNREADABLE], ("win", "X", "majority")),
        ([WIN_X, WIN_X, WIN_X], ("win", "X", "unanimous")),
        ([WIN_X, WIN_X, WIN_Y], ("win", "X", "majority")),
        ([TIE, TIE, WIN_Y], ("tie", None, "majority")),
        ([TIE, TIE, TIE], ("tie", None, "unanimous")),
        ([WIN_X, WIN_Y, TIE], ("tie", None, "split")),
        ([WIN_X, TIE, UNREADABLE], ("invalid", None, "split")),
        ([UNREADABLE] * 3, ("invalid", None, "split")),
        ([WIN_X, WIN_X], ("win", "X", "majority")),
        ([WIN_X], ("invalid", None, "split")),
        ([], ("invalid", None, "split")),
    ],
)
def test_three_rounds(
    votes: list[tuple[Outcome, str | None]], expected: tuple[VerdictOutcome, str | None, str]
) -> None:
    assert {majority(order, 3) for order in permutations(votes)} == {expected}


def test_half_is_no_majority() -> None:
    assert majority([WIN_X, WIN_X, WIN_Y, WIN_Y], 4) == ("tie", None, "split")
    assert majority([WIN_X, WIN_X, WIN_Y, UNREADABLE], 4) == ("invalid", None, "split")


def test_at_most_one_outcome_has_a_majority_and_swapping_names_swaps_it() -> None:
    swapped = {"X": "Y", "Y": "X", None: None}
    for votes in product([WIN_X, WIN_Y, TIE, UNREADABLE], repeat=3):
        outcome, winner, agreement = majority(votes, 3)
        mirrored = majority([(kind, swapped[name]) for kind, name in votes], 3)
        assert mirrored == (outcome, swapped[winner], agreement)


def test_more_votes_than_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="4 votes for 3 rounds"):
        majority([WIN_X] * 4, 3)


def test_a_verdict_is_of_one_match_and_its_endpoints() -> None:
    with pytest.raises(ValueError, match="one match"):
        verdict([], ("X", "Y"), 3)
    with pytest.raises(ValueError, match="not in this match"):
        verdict([judged("a")], ("X", "Z"), 3)


def test_votes_are_listed_by_judge_and_round_whatever_came_first() -> None:
    rows = [judged("a", judge="k", round_=1), judged("b", judge="j", round_=2), judged("a", judge="j", round_=0)]
    assert verdict(rows, ("X", "Y"), 3) == verdict(rows[::-1], ("X", "Y"), 3)
    assert [(vote.judge, vote.round) for vote in verdict(rows, ("X", "Y"), 3).votes] == [
        ("j", 0),
        ("j", 2),
        ("k", 1),
    ]
