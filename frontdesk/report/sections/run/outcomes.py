"""Who won how often: counts and shares out of verdicts. Invalid verdicts are counted beside, never in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.agreement.shares import Share, share_of
from runstore.records import Dialogue, Subset, Verdict

RELIABILITY = ("unanimous", "majority", "split", "invalid")


@dataclass(frozen=True)
class Standing:
    """One endpoint (or one side of a pair) over its valid matches."""

    name: str
    wins: Share
    losses: int
    ties: int


@dataclass(frozen=True)
class PairResult:
    """Two endpoints' matches: ``a`` and ``b`` in the order given, ties, and those without a verdict."""

    a: Share
    b: Share
    ties: Share
    names: tuple[str, str]
    invalid: int


def pair_result(verdicts: Sequence[Verdict], names: tuple[str, str], level: float) -> PairResult:
    """Wins of both sides and ties, as shares of the pair's valid matches."""
    own = [verdict for verdict in verdicts if set(verdict.endpoints) == set(names)]
    valid = [verdict for verdict in own if verdict.outcome != "invalid"]
    a, b, ties = (
        _share(valid, lambda verdict, name=name: verdict.winner == name, level) for name in (*names, None)
    )
    return PairResult(a, b, ties, names, len(own) - len(valid))


def standing(verdicts: Sequence[Verdict], name: str, level: float) -> Standing:
    """One endpoint over all its valid matches."""
    valid = [verdict for verdict in verdicts if name in verdict.endpoints and verdict.outcome != "invalid"]
    wins = _share(valid, lambda verdict: verdict.winner == name, level)
    ties = sum(verdict.outcome == "tie" for verdict in valid)
    return Standing(name, wins, len(valid) - int(wins.hits) - ties, ties)


def reliability(verdicts: Sequence[Verdict], level: float) -> dict[str, Share]:
    """How much the rounds of each match agreed, as shares of all verdicts; invalid is a class of its own."""
    kinds = ["invalid" if verdict.outcome == "invalid" else verdict.agreement for verdict in verdicts]
    clusters = [verdict.dialogue for verdict in verdicts]
    return {
        kind: share_of([float(kind_there == kind) for kind_there in kinds], clusters, level)
        for kind in RELIABILITY
    }


def win_rate(verdicts: Sequence[Verdict], name: str, level: float) -> Share:
    """Wins and half the ties, per valid match of this endpoint."""
    own = [verdict for verdict in verdicts if name in verdict.endpoints and verdict.outcome != "invalid"]
    points = [0.5 if verdict.winner is None else float(verdict.winner == name) for verdict in own]
    return share_of(points, [verdict.dialogue for verdict in own], level)


@dataclass(frozen=True)
class Level:
    """One level of a category: its verdicts, and each endpoint's win rate in them."""

    name: str
    matches: int
    invalid: int
    rates: dict[str, Share]


def breakdown(
    verdicts: Sequence[Verdict], names: Sequence[str], level_of: Callable[[Verdict], str | None], level: float
) -> list[Level]:
    """Win rates per level of a category, levels in natural order; verdicts without a level are left out."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if (named := level_of(verdict)) is not None:
            groups.setdefault(named, []).append(verdict)
    return [
        Level(
            name,
            len(own),
            sum(verdict.outcome == "invalid" for verdict in own),
            {endpoint: win_rate(own, endpoint, level) for endpoint in names},
        )
        for name, own in sorted(groups.items(), key=lambda item: natural(item[0]))
    ]


def categories(subsets: dict[str, Subset], criteria: Sequence[str]) -> dict[str, Callable[[Verdict], str | None]]:
    """The categories worth a table: subject, each persona factor, depth of the cut, criterion if several."""
    factors = list(dict.fromkeys(factor for subset in subsets.values() for factor in subset.levels))

    def of(read: Callable[[Subset], str | None]) -> Callable[[Verdict], str | None]:
        return lambda verdict: read(subsets[verdict.subset]) if verdict.subset in subsets else None

    levels_of = {"subject": of(lambda subset: subset.subject)}
    levels_of |= {
        f"persona.{factor}": of(lambda subset, factor=factor: subset.levels.get(factor)) for factor in factors
    }
    levels_of["depth"] = of(lambda subset: str(subset.depth))
    if len(criteria) > 1:
        levels_of["criterion"] = lambda verdict: verdict.criterion
    return levels_of


def ends_and_notes(dialogues: Sequence[Dialogue]) -> tuple[Counter[str], Counter[str]]:
    """How dialogues ended, and in how many of them each reading rule had something to do."""
    ends: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for dialogue in dialogues:
        ends[dialogue.end] += 1
        notes.update(kind for kind, times in dialogue.notes.items() if times)
    return ends, notes


def natural(text: str) -> tuple[int, float, str]:
    """Numbers by their size, before words."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _share(verdicts: Sequence[Verdict], hit: Callable[[Verdict], bool], level: float) -> Share:
    return share_of([float(hit(each)) for each in verdicts], [each.dialogue for each in verdicts], level)
