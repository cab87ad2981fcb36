"""How the judges behaved: position effect, agreement with themselves over rounds, and with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from arena.agreement.kappa import cohen_kappa
from arena.agreement.result import Statistic
from arena.agreement.shares import Share, share_of
from runstore.records import Judgment

MatchKey = tuple[str, str, str, str]
_TIE = "\0"
"""No endpoint has this name."""


@dataclass(frozen=True)
class PositionRow:
    """One judge: how often the reply shown first won, among the rounds that somebody won."""

    judge: str
    first: int
    second: int
    ties: int
    unreadable: int
    share: Share


@dataclass(frozen=True)
class ConsistencyRow:
    """One judge over the rounds of one match. ``same``: all readable rounds alike, among matches with two or more.

    ``pairs``: two rounds of one match alike, over all such pairs of rounds.
    """

    judge: str
    rounds: int
    unreadable: int
    same: Share
    pairs_alike: int
    pairs: int


@dataclass(frozen=True)
class JudgePair:
    """Two judges' own majorities per match: how often they are alike, and Cohen's kappa."""

    a: str
    b: str
    matches: int
    alike: Share
    kappa: Statistic


def match_of(judgment: Judgment) -> MatchKey:
    one, other = sorted((judgment.slot_a, judgment.slot_b))
    return judgment.subset, one, other, judgment.criterion


def position(judgments: Sequence[Judgment], judges: Sequence[str], level: float) -> list[PositionRow]:
    """The share of first-slot wins per judge; 50 % is no preference for a place."""
    rows: list[PositionRow] = []
    for judge in judges:
        own = [judgment for judgment in judgments if judgment.judge == judge]
        won = [judgment for judgment in own if judgment.winner is not None]
        first = [float(judgment.winner == judgment.slot_a) for judgment in won]
        states = Counter(judgment.outcome for judgment in own)
        share = share_of(first, [judgment.dialogue for judgment in won], level)
        rows.append(
            PositionRow(
                judge, int(sum(first)), len(won) - int(sum(first)), states["tie"], states["unreadable"], share
            )
        )
    return rows


def consistency(judgments: Sequence[Judgment], judges: Sequence[str], level: float) -> list[ConsistencyRow]:
    """Whether a judge that sees the same match again says the same."""
    rows: list[ConsistencyRow] = []
    for judge in judges:
        own = [judgment for judgment in judgments if judgment.judge == judge]
        said: defaultdict[MatchKey, list[str]] = defaultdict(list)
        dialogue: dict[MatchKey, str] = {}
        for judgment in own:
            if judgment.outcome != "unreadable":
                said[match_of(judgment)].append(_word(judgment))
                dialogue[match_of(judgment)] = judgment.dialogue
        several = {key: words for key, words in said.items() if len(words) > 1}
        alike = sum(n * (n - 1) // 2 for words in several.values() for n in Counter(words).values())
        pairs = sum(len(words) * (len(words) - 1) // 2 for words in several.values())
        same = share_of(
            [float(len(set(words)) == 1) for words in several.values()], [dialogue[key] for key in several], level
        )
        unreadable = sum(judgment.outcome == "unreadable" for judgment in own)
        rows.append(ConsistencyRow(judge, len(own), unreadable, same, alike, pairs))
    return rows


@dataclass(frozen=True)
class Majorities:
    """Each rater's own majority per match, None without one. A rater is a judge, or several taken as one."""

    of: dict[str, dict[MatchKey, str | None]]
    dialogue: dict[MatchKey, str]

    def codes(self, raters: Sequence[str]) -> NDArray[np.float64]:
        """Matches x raters: 0 the first name won, 1 a tie, 2 the second name won, NaN nothing (no sizes)."""
        table = [[_code(key, self.of[rater].get(key)) for rater in raters] for key in sorted(self.dialogue)]
        return np.array(table, dtype=np.float64).reshape(-1, len(raters))


def majorities(judgments: Sequence[Judgment], rater: Callable[[str], str] = str) -> Majorities:
    """The majority of each rater's readable rounds. ``rater`` names whom a judge counts as."""
    votes: defaultdict[str, defaultdict[MatchKey, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    dialogue: dict[MatchKey, str] = {}
    for judgment in judgments:
        own = votes[rater(judgment.judge)]
        if judgment.outcome != "unreadable":
            own[match_of(judgment)][_word(judgment)] += 1
            dialogue[match_of(judgment)] = judgment.dialogue
    of_judge = {name: {key: _majority(counts) for key, counts in own.items()} for name, own in votes.items()}
    return Majorities(of_judge, dialogue)


def between_judges(judgments: Sequence[Judgment], judges: Sequence[str], level: float) -> list[JudgePair]:
    """Every pair of judges, over the matches on which both have a majority of their own readable rounds."""
    voted = majorities(judgments)
    return [compared(voted, a, b, level) for a, b in combinations(judges, 2)]


def compared(voted: Majorities, a: str, b: str, level: float) -> JudgePair:
    """How often two raters' majorities are alike, and their kappa."""
    return _pair(a, b, voted.of.get(a, {}), voted.of.get(b, {}), sorted(voted.dialogue), voted.dialogue, level)


def _pair(
    a: str,
    b: str,
    of_a: dict[MatchKey, str | None],
    of_b: dict[MatchKey, str | None],
    keys: Sequence[MatchKey],
    dialogue: dict[MatchKey, str],
    level: float,
) -> JudgePair:
    coded = np.array([[_code(key, of_a.get(key)), _code(key, of_b.get(key))] for key in keys]).reshape(-1, 2)
    both = [key for key in keys if of_a.get(key) is not None and of_b.get(key) is not None]
    alike = share_of([float(of_a[key] == of_b[key]) for key in both], [dialogue[key] for key in both], level)
    dialogues = [dialogue[key] for key in keys]
    kappa = cohen_kappa(coded[:, 0], coded[:, 1], level=level, clusters=dialogues)
    return JudgePair(a, b, len(keys), alike, kappa)


def _word(judgment: Judgment) -> str:
    return _TIE if judgment.winner is None else judgment.winner


def _majority(counts: Counter[str]) -> str | None:
    (word, most), *_ = counts.most_common(1)
    return word if 2 * most > counts.total() else None


def _code(key: MatchKey, word: str | None) -> float:
    return float("nan") if word is None else 1.0 if word == _TIE else 0.0 if word == key[1] else 2.0
