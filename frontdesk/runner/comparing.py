"""Two runs beside each other: what moved, and which verdicts on the same match fell otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.ratings.moves import Move, moves
from arena.ratings.result import Decision, read_leaderboard
from frontdesk.runner.rating import settings_of
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import Problem
from runstore.records import Subset, Utterance, Verdict
from runstore.results import Result

MatchKey = tuple[str, str, str, str]
"""(subset, endpoint, endpoint, criterion), endpoints in the order of their names."""


class Flip(Result):
    """A match of both runs whose verdict fell otherwise. ``winners``: an endpoint's name, or the outcome."""

    subset: str
    endpoints: tuple[str, str]
    criterion: str
    winners: tuple[str, str]


class PairDecision(Result):
    """What each run decides between two endpoints; None where it says nothing."""

    a: str
    b: str
    before: Decision | None
    after: Decision | None


class Comparison(Result):
    """``runs`` are the two folders' names; ``shared`` matches stand in both; ``level``: of the intervals."""

    runs: tuple[str, str]
    level: float
    moves: tuple[Move, ...]
    decisions: tuple[PairDecision, ...]
    shared: int
    flips: tuple[Flip, ...]


class Texts:
    """What was said in a run, for those who want to read why a verdict fell otherwise."""

    def __init__(self, folder: RunFolder) -> None:
        self._subsets: Mapping[str, Subset] = {subset.id: subset for subset in folder.subsets()}
        self._replies = {(reply.subset, reply.endpoint): reply.text for reply in folder.replies()}
        self._words: dict[MatchKey, list[str]] = {}
        for judgment in folder.judgments():
            key = _key(judgment.subset, (judgment.slot_a, judgment.slot_b), judgment.criterion)
            self._words.setdefault(key, []).append(judgment.raw)

    def history(self, subset: str) -> Sequence[Utterance]:
        return self._subsets[subset].history if subset in self._subsets else ()

    def reply(self, subset: str, endpoint: str) -> str | None:
        return self._replies.get((subset, endpoint))

    def judges(self, flip: Flip) -> Sequence[str]:
        """What the judges wrote of this match, round by round."""
        return self._words.get(_key(flip.subset, flip.endpoints, flip.criterion), ())


def compare(before: RunFolder, after: RunFolder) -> Comparison:
    """Compare two rated runs. Raises InputProblem where one is not, Problem without two endpoints in common."""
    verdicts = [_judged_on_common_ground(folder, other) for folder, other in ((before, after), (after, before))]
    old, new = ({_key(v.subset, v.endpoints, v.criterion): v for v in side} for side in verdicts)
    shared = [key for key in old if key in new]
    settings = settings_of(after.config())
    moved = moves(verdicts[0], verdicts[1], settings)
    if len(moved) < 2:
        raise Problem(f"{before.path}, {after.path}: found {len(moved)} endpoints that both rate, expected two")
    return Comparison(
        runs=(before.path.name, after.path.name),
        level=settings.level,
        moves=moved,
        decisions=_decisions(before, after, [move.name for move in moved]),
        shared=len(shared),
        flips=tuple(
            Flip(subset=key[0], endpoints=(key[1], key[2]), criterion=key[3], winners=fell)
            for key in shared
            if (fell := (_winner(old[key]), _winner(new[key])))[0] != fell[1]
        ),
    )


def _judged_on_common_ground(folder: RunFolder, other: RunFolder) -> list[Verdict]:
    """A run's verdicts; dialogues that only share their id with one of the other run get an id of their own."""
    theirs = {(subset.id, subset.history) for subset in other.subsets()}
    known = {subset.id for subset in other.subsets()}
    own = {s.dialogue for s in folder.subsets() if s.id in known and (s.id, s.history) not in theirs}
    return [
        verdict.model_copy(update={"dialogue": f"{folder.path.resolve()}:{verdict.dialogue}"})
        if verdict.dialogue in own
        else verdict
        for verdict in folder.verdicts()
    ]


def _decisions(before: RunFolder, after: RunFolder, names: Sequence[str]) -> tuple[PairDecision, ...]:
    boards = [read_leaderboard(folder.file("leaderboard.json")) for folder in (before, after)]
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    rows = [[board.pair(a, b) for board in boards] for a, b in pairs]
    return tuple(
        PairDecision(
            a=a,
            b=b,
            before=None if old is None else _from_side(old.decision, swapped=old.a != a),
            after=None if new is None else _from_side(new.decision, swapped=new.a != a),
        )
        for (a, b), (old, new) in zip(pairs, rows, strict=True)
    )


def _from_side(decision: Decision | None, *, swapped: bool) -> Decision | None:
    if swapped and decision in ("a", "b"):
        return "b" if decision == "a" else "a"
    return decision


def _winner(verdict: Verdict) -> str:
    return verdict.winner or verdict.outcome


def _key(subset: str, endpoints: tuple[str, str], criterion: str) -> MatchKey:
    a, b = sorted(endpoints)
    return subset, a, b, criterion
