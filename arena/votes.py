"""From judgments to verdicts: a letter becomes a name once; more than half of the rounds asked must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from arena.reading import LetterReading
from runstore.records import Agreement, Judgment, Outcome, Verdict, VerdictOutcome, Vote


def judgment_from(
    reading: LetterReading,
    *,
    subset: str,
    dialogue: str,
    judge: str,
    criterion: str,
    round: int,  # noqa: A002 - the field's name in the record
    slot_a: str,
    slot_b: str,
    raw: str,
    reason: str | None = None,
) -> Judgment:
    """The record of one round. This is the only place where a slot's letter becomes an endpoint's name.

    ``reason`` is the judge's own; where the reply is unreadable, why it is takes its place.
    """
    outcome: Outcome = "unreadable" if reading.letter is None else "tie" if reading.letter == "c" else "win"
    winner = {"a": slot_a, "b": slot_b}.get(reading.letter or "")
    return Judgment(
        subset=subset,
        dialogue=dialogue,
        judge=judge,
        criterion=criterion,
        round=round,
        slot_a=slot_a,
        slot_b=slot_b,
        letter=reading.letter,
        outcome=outcome,
        winner=winner,
        reason=reading.reason if reading.letter is None else reason,
        raw=raw,
    )


def majority(
    votes: Sequence[tuple[Outcome, str | None]], asked: int
) -> tuple[VerdictOutcome, str | None, Agreement]:
    """Outcome, winner and agreement of one match's rounds, whatever their order.

    An outcome needs more than half of the rounds ``asked``. Without one the match is a tie where every round
    could be read and they differ, and invalid where unreadable or missing rounds are what keeps it from one. All
    rounds asked alike is unanimous, a majority short of that is a majority, anything else is split.
    Raises ValueError where more votes came than were asked for.
    """
    if len(votes) > asked:
        raise ValueError(f"{len(votes)} votes for {asked} rounds")
    readable: Counter[tuple[Literal["win", "tie"], str | None]] = Counter()
    for outcome, winner in votes:
        if outcome != "unreadable":
            readable[outcome, winner] += 1
    for (outcome, winner), count in readable.items():
        if 2 * count > asked:
            return outcome, winner, "unanimous" if count == asked else "majority"
    if sum(readable.values()) == asked:
        return "tie", None, "split"
    return "invalid", None, "split"


def verdict(judgments: Sequence[Judgment], endpoints: tuple[str, str], asked: int) -> Verdict:
    """The verdict of one match under one criterion, from all judges and rounds that were ``asked`` in all.

    Raises ValueError where the judgments are none, are of several matches, or name another endpoint.
    """
    matches = {(judgment.subset, judgment.dialogue, judgment.criterion) for judgment in judgments}
    if len(matches) != 1:
        raise ValueError(f"judgments of one match are needed, got {len(matches)}")
    if strangers := {name for judgment in judgments for name in (judgment.slot_a, judgment.slot_b)} - set(
        endpoints
    ):
        raise ValueError(f"endpoints {sorted(strangers)} are not in this match")
    subset, dialogue, criterion = matches.pop()
    outcome, winner, agreement = majority([(judgment.outcome, judgment.winner) for judgment in judgments], asked)
    ordered = sorted(judgments, key=lambda cast: (cast.judge, cast.round))
    return Verdict(
        subset=subset,
        dialogue=dialogue,
        endpoints=endpoints,
        criterion=criterion,
        outcome=outcome,
        winner=winner,
        agreement=agreement,
        votes=tuple(
            Vote(judge=cast.judge, round=cast.round, outcome=cast.outcome, winner=cast.winner) for cast in ordered
        ),
    )
