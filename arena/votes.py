"""From judgments to verdicts: a letter becomes a name once; more than half of the rounds asked must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.reading import LetterReading
from runstore.records import Agreement, Judgment, Outcome, Verdict, VerdictOutcome, Vote

ReliabilityClass = Literal["unanimous", "majority", "split", "invalid"]
RELIABILITY: tuple[ReliabilityClass, ...] = ("unanimous", "majority", "split", "invalid")


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
    matches = {(one.subset, one.dialogue, one.criterion) for one in judgments}
    if len(matches) != 1:
        raise ValueError(f"judgments of one match are needed, got {len(matches)}")
    if strangers := {name for one in judgments for name in (one.slot_a, one.slot_b)} - set(endpoints):
        raise ValueError(f"endpoints {sorted(strangers)} are not in this match")
    subset, dialogue, criterion = matches.pop()
    outcome, winner, agreement = majority([(one.outcome, one.winner) for one in judgments], asked)
    ordered = sorted(judgments, key=lambda one: (one.judge, one.round))
    return Verdict(
        subset=subset,
        dialogue=dialogue,
        endpoints=endpoints,
        criterion=criterion,
        outcome=outcome,
        winner=winner,
        agreement=agreement,
        votes=tuple(
            Vote(judge=one.judge, round=one.round, outcome=one.outcome, winner=one.winner) for one in ordered
        ),
    )


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total; the share is None where the total is 0."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        return self.count / self.of if self.of else None


def reliability_class(one: Verdict) -> ReliabilityClass:
    """How much the rounds of a match agreed; an invalid verdict is its own class."""
    return "invalid" if one.outcome == "invalid" else one.agreement


def reliability(verdicts: Iterable[Verdict]) -> dict[ReliabilityClass, Share]:
    """How many matches were unanimous, decided by majority, split, or invalid, each out of all matches."""
    counts = Counter(reliability_class(one) for one in verdicts)
    total = sum(counts.values())
    return {name: Share(counts[name], total) for name in RELIABILITY}


@dataclass(frozen=True, slots=True)
class Results:
    """Outcomes of the matches of two endpoints.

    ``wins`` holds each endpoint's wins; ``valid`` of ``matches`` had a verdict, and shares are out of the valid.
    """

    wins: dict[str, int]
    ties: int
    invalid: int
    matches: int

    @property
    def valid(self) -> int:
        return self.matches - self.invalid

    def share(self, endpoint: str) -> Share:
        return Share(self.wins[endpoint], self.valid)

    @property
    def tie_share(self) -> Share:
        return Share(self.ties, self.valid)


def results(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], Results]:
    """Result tables by pair of endpoints (names in sorted order, whichever way round the matches were)."""
    table: dict[tuple[str, str], list[Verdict]] = {}
    for one in verdicts:
        first, second = sorted(one.endpoints)
        table.setdefault((first, second), []).append(one)
    return {pair: _tally(pair, rows) for pair, rows in sorted(table.items())}


def _tally(pair: tuple[str, str], rows: Sequence[Verdict]) -> Results:
    outcomes = Counter(row.outcome for row in rows)
    wins = Counter(row.winner for row in rows if row.outcome == "win")
    return Results(
        wins={name: wins[name] for name in pair},
        ties=outcomes["tie"],
        invalid=outcomes["invalid"],
        matches=len(rows),
    )
