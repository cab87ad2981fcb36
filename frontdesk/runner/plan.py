"""What a configuration asks for, counted once: whatever says "so many calls" or "n of m" reads it here.

Counts are of calls that succeed at the first attempt: retries, further tries at blank or unreadable replies and
calls that the journal already answers are apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

from arena.judge import is_decided
from arena.kept import KeptRounds, round_item
from frontdesk.runner import prepare
from frontdesk.runner.config import Config
from runstore.records import Failure, Reply

Stage = Literal["simulate", "collect", "judge", "score"]
Role = Literal["student", "teacher", "judge"]
Pair = tuple[str, str]
Assumption = Literal[
    "fewer subsets", "subsets given", "endpoints unknown", "goal", "decisive", "reask", "blank retries"
]
"""Why real calls may differ from the count: fewer can be cut than asked for; subsets are given by the user, as
many as configured; who replied is known only from replies; a goal or decided verdicts end judging sooner; replies
that are unreadable or blank are asked for again."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run already has and does not ask again: replies and failures by (subset, endpoint), and rounds."""

    replies: Mapping[tuple[str, str], Reply] = field(default_factory=dict[tuple[str, str], Reply])
    failures: Mapping[tuple[str, str], Failure] = field(default_factory=dict[tuple[str, str], Failure])
    rounds: KeptRounds = field(default_factory=KeptRounds)


NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True)
class Calls:
    """So many calls of one endpoint in one stage, speaking as ``role``."""

    stage: Stage
    role: Role
    endpoint: str
    calls: int


@dataclass(frozen=True, slots=True)
class Workload:
    """What will be asked. Stages that the configuration lacks count nothing.

    ``subsets`` is what can be cut at most, ``subsets_wanted`` what was asked for; ``endpoints`` reply to each of
    them (replies that are given are not ``is_collected``). A match is a subset and a pair; a verdict a match and a
    criterion; a round one question to one judge.
    """

    dialogues: int = 0
    turns: int = 0
    student: str | None = None
    teacher: str | None = None
    subsets: int = 0
    subsets_wanted: int = 0
    endpoints: tuple[str, ...] = ()
    is_collected: bool = False
    pairs: tuple[Pair, ...] = ()
    criteria: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    rounds_each: int = 0
    verdicts: int = 0
    assumed: tuple[Assumption, ...] = ()

    @property
    def replies(self) -> int:
        return self.subsets * len(self.endpoints)

    @property
    def matches(self) -> int:
        return self.verdicts // max(1, len(self.criteria))

    @property
    def rounds(self) -> int:
        return self.verdicts * self.rounds_each * len(self.judges)

    @property
    def calls(self) -> tuple[Calls, ...]:
        """Each endpoint's calls, in order of stages; parts without a call are left out."""
        parts: list[Calls] = []
        if self.student is not None and self.teacher is not None:
            # The first utterance is the seed question, the last word is the teacher's.
            parts.append(Calls("simulate", "student", self.student, self.dialogues * (self.turns - 1)))
            parts.append(Calls("simulate", "teacher", self.teacher, self.dialogues * self.turns))
        if self.is_collected:
            parts += [Calls("collect", "teacher", name, self.subsets) for name in self.endpoints]
        parts += [Calls("judge", "judge", name, self.verdicts * self.rounds_each) for name in self.judges]
        return tuple(part for part in parts if part.calls)

    def narrowed(self, verdicts: int) -> Workload:
        """The same where only so many verdicts are asked for, as by a goal."""
        return replace(self, verdicts=verdicts)


def workload(
    config: Config,
    *,
    subsets: int | None = None,
    replied: Sequence[str] = (),
    criteria: Sequence[str] | None = None,
) -> Workload:
    """What the stages of a configuration ask for.

    ``subsets``: how many there are, where they have been made; otherwise as many as the dialogues hold at most.
    ``replied``: who replied, where replies are given instead of collected. ``criteria``: those judged by, where
    they are known without the criteria file. Raises Problem, InputProblem for what cannot be judged.
    """
    how, collect = config.simulate, config.collect
    possible = config.cut.subsets if how is None else min(config.cut.subsets, how.dialogues * how.turns)
    assumed: list[Assumption] = []
    if subsets is None and possible < config.cut.subsets:
        assumed.append("fewer subsets")
    if subsets is None and how is None:
        assumed.append("subsets given")
    if how is not None and how.blank_retries:
        assumed.append("blank retries")
    load = Workload(
        dialogues=how.dialogues if how is not None else 0,
        turns=how.turns if how is not None else 0,
        student=how.student if how is not None else None,
        teacher=how.teacher if how is not None else None,
        subsets=possible if subsets is None else subsets,
        subsets_wanted=config.cut.subsets,
        endpoints=collect.endpoints if collect is not None else tuple(replied),
        is_collected=collect is not None,
        assumed=tuple(assumed),
    )
    return _with_judging(config, load, replied, criteria)


def _with_judging(
    config: Config, load: Workload, replied: Sequence[str], criteria: Sequence[str] | None
) -> Workload:
    judge = config.judge
    if judge is None:
        return load
    if not load.endpoints:
        return replace(load, assumed=(*load.assumed, "endpoints unknown"))
    reasons: dict[Assumption, bool] = {
        "goal": judge.goal is not None,
        "decisive": judge.rounds_mode == "decisive",
        "reask": judge.reask > 0,
    }
    assumed = [reason for reason, holds in reasons.items() if holds]
    pairs = prepare.pairs(config, replied)
    names = prepare.judging(config).criterion_ids if criteria is None else criteria
    return replace(
        load,
        pairs=tuple(pairs),
        criteria=tuple(names),
        judges=judge.endpoints,
        rounds_each=judge.rounds,
        verdicts=load.subsets * len(pairs) * len(names),
        assumed=(*load.assumed, *assumed),
    )


def remaining(config: Config, subsets: Sequence[str], kept: Kept) -> tuple[Calls, ...]:
    """The calls of ``collect`` and ``judge`` that ``kept`` does not answer, endpoint by endpoint.

    ``subsets`` are ids. In ``decisive`` mode they are the most there can be.
    """
    names, judges = config.require_collect().endpoints, config.require_judge().endpoints
    replies = Counter(name for _, name in replies_asked(subsets, names, kept))
    rounds = Counter(_rounds_left(config, subsets, kept))
    parts = [Calls("collect", "teacher", name, replies[name]) for name in names]
    parts += [Calls("judge", "judge", name, rounds[name]) for name in judges]
    return tuple(part for part in parts if part.calls)


def replies_asked(
    subsets: Sequence[str], endpoints: Sequence[str], kept: Kept = NOTHING_KEPT
) -> list[tuple[str, str]]:
    """(subset id, endpoint) of every reply wanted, but those that are kept or recorded as failed."""
    known = kept.replies.keys() | kept.failures.keys()
    return [asked for asked in product(subsets, endpoints) if asked not in known]


def _rounds_left(config: Config, subsets: Sequence[str], kept: Kept) -> Iterator[str]:
    """The judge of each round that is to be asked."""
    how, earlier = prepare.judging(config), kept.rounds
    rounds = list(product(how.judges, range(1, how.rounds + 1)))
    for subset, pair in product(subsets, prepare.pairs(config)):
        match = "/".join((subset, *pair))
        if match in earlier.failures or any((subset, name) in kept.failures for name in pair):
            continue
        for criterion in how.criterion_ids:
            known = {asked: earlier.judgments.get((subset, *pair, criterion, *asked)) for asked in rounds}
            if how.rounds_mode == "decisive" and is_decided([old for old in known.values() if old], how.asked):
                continue
            for judge, number in rounds:
                item = round_item(match, criterion, judge, number)
                if known[judge, number] is None and item not in earlier.failures:
                    yield judge


def sheets_asked(judges: Sequence[str], subjects: int, repeats: int) -> tuple[Calls, ...]:
    """The sheets that a scoring run asks of each judge; values that are missing in one are asked for again."""
    return tuple(Calls("score", "judge", judge, subjects * repeats) for judge in judges)
