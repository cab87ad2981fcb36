"""How many dialogues tell two endpoints apart: for a gap that is expected, and for gaps that were seen.

Every answer is a best guess with a range: of what the run's own votes leave open at the level, or of what was
assumed where nothing was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import ceil
from pathlib import Path

import numpy as np

from arena.ratings.battles import Battles
from arena.ratings.components import FEWEST_DIALOGUES, Components, Seen, components, of_battles, of_verdicts
from arena.ratings.estimate import SCALE
from arena.ratings.power import (
    DRAWS,
    MOST_DIALOGUES,
    Plan,
    Spent,
    detectable,
    dialogues_needed,
    gap_of_win_rate,
    power_of,
    spendings,
)
from arena.ratings.reading import read_battles
from arena.ratings.verdicts import from_verdicts
from arena.ratings.votes import Votes, moments
from frontdesk.runner.plan import Workload
from runstore.problems import Problem
from runstore.publish import read_records
from runstore.records import Verdict

GUESSED_SUBSET_SD, GUESSED_DIALOGUE_SD = 1.0, 0.5
"""Standard deviations of a pair's gap between subsets and between dialogues, in log-odds, where none is known."""
_GUESSES = ((0.5, 0.0), (0.5, 1.0), (1.5, 0.0), (1.5, 1.0))
"""The (subset, dialogue) corners of what is assumed."""
_RANGE_DRAWS, _FEW_DRAWS = 60, 100
Range = tuple[float | None, float | None]
NO_RANGE: Range = (None, None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The power and level of the decision; ``matches`` whose power is asked for; judge ``calls`` to be spent.

    ``subset_sd`` and ``dialogue_sd`` are given or, None, seen or assumed. ``dialogues`` cannot grow; each has
    ``subsets`` and a match ``rounds``: None as held (before a run: 1). ``pairs`` are tested together: None for all
    that met (before a run: 1).
    """

    power: float = 0.8
    level: float = 0.95
    matches: int | None = None
    calls: int | None = None
    subset_sd: float | None = None
    dialogue_sd: float | None = None
    dialogues: int | None = None
    subsets: int | None = None
    rounds: int | None = None
    pairs: int | None = None

    @property
    def together(self) -> int:
        return 1 if self.pairs is None else self.pairs

    def __post_init__(self) -> None:
        for name in ("power", "level"):
            if not 0 < getattr(self, name) < 1:
                raise Problem(f"{name}: found {getattr(self, name):g}, expected a share between 0 and 1")
        for name in ("matches", "calls", "dialogues", "subsets", "rounds", "pairs"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise Problem(f"{name}: found {value}, expected 1 or more")


@dataclass(frozen=True, slots=True)
class Expected:
    """A gap that is expected: the win rate of decided single votes, and the share of ties.

    ``design_effect`` is how many dependent matches count as one, where that is known instead of the dialogues'.
    """

    win_rate: float
    ties: float = 0.0
    design_effect: float = 1.0

    def __post_init__(self) -> None:
        if not self.design_effect > 0:
            raise Problem(f"design effect: found {self.design_effect:g}, expected more than 0")


@dataclass(frozen=True, slots=True)
class Told:
    """A figure, and the range of what it may be."""

    value: float | None
    range: Range


@dataclass(frozen=True, slots=True)
class Way:
    """A way to spend calls, with the range of its power."""

    spent: Spent
    range: Range

    def to_json(self) -> dict[str, object]:
        plan = self.spent.plan
        return {
            "subsets": plan.matches,
            "rounds": plan.rounds,
            "rule": plan.rule,
            "dialogues": plan.dialogues,
            "subsets_per_dialogue": plan.subsets,
            "power": self.spent.power,
            "power_range": self.range,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """One pair, or one expected gap (without names). Without ``votes`` nothing could be said, for ``reason``.

    ``plan`` is what was held, or asked about. ``needed`` counts matches; its value is None where none would do.
    ``origin`` says of the two standard deviations whether they were "given", "seen" or "assumed". ``range_reason``
    says why nothing has a range. With several ``criteria`` a "match" or "subset" here is a verdict on one of them.
    """

    names: tuple[str, str] | None
    votes: Votes | None = None
    plan: Plan = field(default_factory=lambda: Plan(0))
    matches: int = 0
    needed: Told | None = None
    reason: str | None = None
    power: Told | None = None
    detectable: float | None = None
    asked: int = 0
    ways: tuple[Way, ...] = ()
    origin: tuple[str, str] = ("assumed", "assumed")
    ranges: tuple[tuple[str, Range], ...] = ()
    factor: float = 1.0
    range_reason: str | None = None
    criteria: int = 1

    @property
    def more(self) -> int | None:
        """Matches that are needed beyond those held."""
        return (
            None
            if self.needed is None or self.needed.value is None
            else max(0, int(self.needed.value) - self.matches)
        )

    @property
    def design_effect(self) -> float:
        if self.votes is None:
            return 1.0
        return self.factor * moments(self.votes, self.plan.rounds, self.plan.rule).design_effect(self.plan.subsets)

    def to_json(self) -> dict[str, object]:
        """The answer as ``power --json`` prints it."""
        a, b = self.names or (None, None)
        if self.votes is None:
            return {"a": a, "b": b, "reason": self.reason}
        shown = moments(self.votes, self.plan.rounds)
        needed = self.needed or Told(None, (None, None))
        data: dict[str, object] = {"a": a, "b": b, "win_rate": shown.win_rate, "ties": shown.tied}
        data |= {"design_effect": self.design_effect, "matches": self.matches, "needed": needed.value}
        data |= {"more": self.more, "reason": self.reason, "needed_range": needed.range}
        data |= {"subsets_per_dialogue": self.plan.subsets, "rounds": self.plan.rounds}
        data["dialogues_needed"] = None if needed.value is None else ceil(needed.value / self.plan.subsets)
        data["model"] = asdict(self.votes)
        data["model_ranges"] = dict(self.ranges)
        data |= {"range_reason": self.range_reason, "criteria": self.criteria}
        data |= {"subset_effect": self.votes.subset_sd, "dialogue_effect": self.votes.dialogue_sd}
        names = {"seen": "from the rounds", "given": "given", "assumed": "assumed"}
        data |= {"subset_effect_origin": names[self.origin[0]], "dialogue_effect_origin": self.origin[1]}
        if self.power is not None:
            data |= {"power_at": self.asked, "power_there": self.power.value, "power_range": self.power.range}
            data["detectable"] = self.detectable
        if self.ways:
            data["plans"] = [way.to_json() for way in self.ways]
        return data


def expected(gap: Expected, wanted: Wanted) -> Answer:
    """The answer for a gap that is expected, before anything was held. Raises Problem for impossible shares."""
    known = (wanted.subset_sd is not None, wanted.dialogue_sd is not None)
    subset = GUESSED_SUBSET_SD if wanted.subset_sd is None else wanted.subset_sd
    dialogue = GUESSED_DIALOGUE_SD if wanted.dialogue_sd is None else wanted.dialogue_sd
    votes = gap_of_win_rate(gap.win_rate, subset, dialogue, gap.ties)
    corners = {
        (subset if known[0] else guess[0], dialogue if known[1] else guess[1])
        for guess in (_GUESSES if not all(known) else ())
    }
    others = [gap_of_win_rate(gap.win_rate, *corner, gap.ties) for corner in sorted(corners)]
    origin = ("given" if known[0] else "assumed", "given" if known[1] else "assumed")
    plan = Plan(0, wanted.subsets or 1, wanted.rounds or 1)
    start = Answer(None, votes, plan, origin=origin, factor=gap.design_effect)
    return _answered(start, votes, wanted, others, 1.0)


def seen(
    battles: Battles, wanted: Wanted, *, verdicts: Sequence[Verdict] = (), pair: tuple[str, str] | None = None
) -> list[Answer]:
    """An answer for each pair that met, or for one ``pair``; ``verdicts`` hold the votes of the battles.

    Raises Problem where nobody met, or where the pair asked for did not.
    """
    met = set(zip(battles.i.tolist(), battles.j.tolist(), strict=True))
    position = {name: at for at, name in enumerate(battles.names)}
    for name in pair or ():
        if name not in position:
            known = ", ".join(map(repr, battles.names))
            raise Problem(f"power: found no model {name!r}, expected one of {known}")
    if wanted.pairs is None:
        wanted = replace(wanted, pairs=len({(min(names), max(names)) for names in met}))
    answers: list[Answer] = []
    for a, b in [pair] if pair is not None else combinations(battles.names, 2):
        low, high = sorted((position[a], position[b]))
        if (low, high) not in met and (high, low) not in met:
            if pair is not None:
                raise Problem(f"power: {a!r} and {b!r} never met, so there is no gap to plan for")
            continue
        votes = of_verdicts(verdicts, a, b) if verdicts else of_battles(battles, a, b)
        try:
            answers.append(_of_pair((a, b), votes, wanted))
        except Problem as problem:
            told = f"power: {a!r} and {b!r}: {problem}"
            if pair is not None:
                raise Problem(told) from problem
            answers.append(Answer((a, b), reason=told))
    if not answers:
        raise Problem("power: found no pair that met")
    return answers


def seen_in(
    wanted: Wanted, *, run: Path | None = None, battles: Path | None = None, pair: tuple[str, str] | None = None
) -> list[Answer]:
    """:func:`seen` of a battles file, or of a run folder's verdicts. Raises Problem, InputProblem."""
    if battles is not None:
        return seen(read_battles(battles), wanted, pair=pair)
    verdicts = read_records((run or Path()) / "verdicts.jsonl", Verdict)
    criteria = max(1, len({verdict.criterion for verdict in verdicts}))
    answers = seen(from_verdicts(verdicts), wanted, verdicts=verdicts, pair=pair)
    return [replace(answer, criteria=criteria) for answer in answers]


@dataclass(frozen=True, slots=True)
class Reach:
    """What a configuration's plan can tell: the smallest gap (rating points) that it finds with ``power``.

    ``pairs`` are tested together; ``gap`` None: more than any. The range is of what subsets and dialogues may do.
    """

    plan: Plan
    pairs: int
    level: float
    power: float
    gap: float | None
    range: Range

    def to_json(self) -> dict[str, object]:
        """The answer as ``estimate --json`` prints it."""
        plan = self.plan
        data: dict[str, object] = {"level": self.level, "power": self.power, "pairs": self.pairs}
        data |= {"dialogues": plan.dialogues, "subsets_per_dialogue": plan.subsets, "rounds": plan.rounds}
        return data | {"gap_points": self.gap, "gap_points_range": self.range}


def reach(load: Workload, level: float, power: float = 0.8) -> Reach | None:
    """What the plan of a whole configuration can tell; None where its dialogues or pairs are not known yet."""
    rounds = load.rounds_each * len(load.judges)
    if not (load.dialogues and load.subsets and load.pairs and rounds):
        return None
    plan = Plan(load.dialogues, max(1, round(load.subsets / load.dialogues)), rounds)
    if load.subsets < load.dialogues:
        plan = Plan(load.subsets, 1, rounds)
    powers = [
        _gap_points(detectable(Votes(0.0, *spread), plan, power, level, len(load.pairs), _FEW_DRAWS * 2))
        for spread in ((GUESSED_SUBSET_SD, GUESSED_DIALOGUE_SD), *_GUESSES)
    ]
    return Reach(plan, len(load.pairs), level, power, powers[0], _range(powers, 1.0, float("inf")))


def _gap_points(rate: float | None) -> float | None:
    return None if rate is None else round(float(SCALE * np.log(rate / (1 - rate))), 1)


def _of_pair(names: tuple[str, str], votes: Seen, wanted: Wanted) -> Answer:
    """Raises Problem where no vote was decided."""
    parts = components(
        votes,
        subset_sd=GUESSED_SUBSET_SD if wanted.subset_sd is None else wanted.subset_sd,
        dialogue_sd=GUESSED_DIALOGUE_SD if wanted.dialogue_sd is None else wanted.dialogue_sd,
        draws=_RANGE_DRAWS,
        identity=names,
    )
    given = {
        name: value
        for name, value in (("subset_sd", wanted.subset_sd), ("dialogue_sd", wanted.dialogue_sd))
        if value is not None
    }
    guess, others = replace(parts.votes, **given), [replace(draw, **given) for draw in parts.draws]
    each = max(1, round(votes.matches / max(1, votes.dialogues)))
    plan = Plan(votes.dialogues, wanted.subsets or each, wanted.rounds or votes.rounds)
    start = Answer(names, guess, plan, votes.matches, origin=_origin(parts, wanted))
    few = f"{votes.dialogues} of the {FEWEST_DIALOGUES} dialogues that a range takes"
    start = replace(start, ranges=_model_ranges(others, wanted.level), range_reason=None if others else few)
    return _answered(start, guess, wanted, others, wanted.level)


def _origin(parts: Components, wanted: Wanted) -> tuple[str, str]:
    known = ((wanted.subset_sd, parts.knows_subsets), (wanted.dialogue_sd, parts.knows_dialogues))
    subset, dialogue = ("given" if given is not None else "seen" if told else "assumed" for given, told in known)
    return subset, dialogue


def _model_ranges(others: Sequence[Votes], level: float) -> tuple[tuple[str, Range], ...]:
    names = ("gap", "subset_sd", "dialogue_sd", "ties")
    return (
        tuple((name, _range([getattr(other, name) for other in others], level)) for name in names)
        if others
        else ()
    )


def _answered(start: Answer, votes: Votes, wanted: Wanted, others: Sequence[Votes], level: float) -> Answer:
    """The figures asked for; ``others`` are what the model may be instead, ``level`` of which a range holds."""
    plan = start.plan
    few = _FEW_DRAWS if len(others) > len(_GUESSES) else DRAWS // 4

    def told(of: Callable[[Votes, int], float | None], draws: int = DRAWS, worst: float | None = None) -> Told:
        value = of(votes, draws)
        rest = [of(other, few) for other in others]
        return Told(value, NO_RANGE if start.range_reason else _range([value, *rest], level, worst))

    def needed(way: Votes, draws: int) -> float | None:
        dialogues = dialogues_needed(way, plan, wanted.power, wanted.level, wanted.together, min(draws, 1000))
        return None if dialogues is None else ceil(dialogues * plan.subsets * start.factor)

    answer = replace(start, needed=told(needed, worst=float("inf")))
    if answer.needed is not None and answer.needed.value is None:
        reason = f"no gap, or one too small to find with {MOST_DIALOGUES:,} dialogues"
        answer = replace(answer, reason=reason)
    asked = wanted.matches if wanted.matches is not None else start.matches
    if asked:
        held = replace(plan, dialogues=int(asked / plan.subsets / start.factor))
        answer = replace(
            answer,
            asked=asked,
            power=told(lambda way, draws: power_of(way, held, wanted.level, wanted.together, draws)),
            detectable=detectable(votes, held, wanted.power, wanted.level, wanted.together),
        )
    if wanted.calls is None:
        return answer
    spent = spendings(
        int(wanted.calls / start.factor),
        votes,
        plan.subsets,
        dialogues=wanted.dialogues,
        level=wanted.level,
        pairs=wanted.together,
    )
    ways = tuple(_way(way, wanted, others, level, few) for way in spent)
    return replace(
        answer, ways=tuple(replace(way, range=NO_RANGE) for way in ways) if start.range_reason else ways
    )


def _way(spent: Spent, wanted: Wanted, others: Sequence[Votes], level: float, few: int) -> Way:
    rest = [power_of(other, spent.plan, wanted.level, wanted.together, few) for other in others]
    return Way(spent, _range([spent.power, *rest], level))


def _range(values: Iterable[float | None], level: float, worst: float | None = None) -> Range:
    """What the middle ``level`` of the values lies in; None stands for ``worst``, and is told as None again."""
    known = np.array([worst if value is None else value for value in values], float)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], method="closest_observation")
    return (float(low) if np.isfinite(low) else None, float(high) if np.isfinite(high) else None)
