"""How many matches tell two endpoints apart: for a gap that is expected, and for gaps that were seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import log
from pathlib import Path

from arena.ratings.battles import Battles
from arena.ratings.power import (
    Contrast,
    Plan,
    detectable,
    matches_needed,
    observed,
    plans,
    power_of,
    subset_effect,
)
from arena.ratings.reading import read_battles
from arena.ratings.verdicts import from_verdicts
from runstore.problems import Problem
from runstore.publish import read_records
from runstore.records import Verdict

GUESSED_EFFECT = 1.0
"""Standard deviation of a pair's gap between subsets, in log-odds, where no rounds tell it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The power and level of the test; ``matches`` whose power is asked for; judge ``calls`` to be spent."""

    power: float = 0.8
    level: float = 0.95
    matches: int | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """``matches`` find the gap with chance ``power``; ``detectable`` is the smallest win rate they would find."""

    matches: int
    power: float
    detectable: float | None


@dataclass(frozen=True, slots=True)
class Spending:
    """Ways to spend calls, best first. ``effect`` is None where it had to be assumed."""

    effect: float | None
    plans: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One pair, or one expected gap (without names). Without a ``contrast`` nothing could be said, for ``reason``.

    ``needed`` is None where no number of matches would do; ``matches`` were held.
    """

    names: tuple[str, str] | None
    contrast: Contrast | None
    matches: int = 0
    needed: int | None = None
    reason: str | None = None
    reach: Reach | None = None
    spending: Spending | None = None

    @property
    def more(self) -> int | None:
        """Matches that are needed beyond those held."""
        return None if self.needed is None else max(0, self.needed - self.matches)

    def to_json(self) -> dict[str, object]:
        """The answer as ``power --json`` prints it."""
        a, b = self.names or (None, None)
        if self.contrast is None:
            return {"a": a, "b": b, "reason": self.reason}
        data: dict[str, object] = {"a": a, "b": b, **asdict(self.contrast)}
        data |= {"matches": self.matches, "needed": self.needed, "more": self.more, "reason": self.reason}
        if (reach := self.reach) is not None:
            data |= {"power_at": reach.matches, "power_there": reach.power, "detectable": reach.detectable}
        if (spending := self.spending) is not None:
            data["subset_effect"] = GUESSED_EFFECT if spending.effect is None else spending.effect
            data["subset_effect_origin"] = "assumed" if spending.effect is None else "from the rounds"
            data["plans"] = [asdict(plan) for plan in spending.plans]
        return data


def expected(contrast: Contrast, wanted: Wanted) -> Answer:
    """The answer for a gap that is expected, before anything was held. Raises Problem for impossible shares."""
    return _answer(None, contrast, 0, None, wanted)


def seen(
    battles: Battles, wanted: Wanted, *, verdicts: Sequence[Verdict] = (), pair: tuple[str, str] | None = None
) -> list[Answer]:
    """An answer for each pair that met, or for one ``pair``; ``verdicts`` with rounds tell how subsets differ.

    Raises Problem where nobody met, or where the pair asked for did not.
    """
    met = set(zip(battles.i.tolist(), battles.j.tolist(), strict=True))
    position = {name: at for at, name in enumerate(battles.names)}
    pairs = [pair] if pair is not None else list(combinations(battles.names, 2))
    answers: list[Answer] = []
    for a, b in pairs:
        if pair is None and (position[a], position[b]) not in met:
            continue
        try:
            contrast, matches = observed(battles, a, b)
        except Problem as problem:
            if pair is not None:
                raise
            answers.append(Answer((a, b), None, reason=str(problem)))
            continue
        effect = subset_effect([verdict for verdict in verdicts if set(verdict.endpoints) == {a, b}])
        answers.append(_answer((a, b), contrast, matches, effect, wanted))
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
    return seen(from_verdicts(verdicts), wanted, verdicts=verdicts, pair=pair)


def _answer(
    names: tuple[str, str] | None, contrast: Contrast, matches: int, effect: float | None, wanted: Wanted
) -> Answer:
    needed = matches_needed(contrast, wanted.power, wanted.level)
    reason = None if needed is not None else "no gap, or one too small to find with ten million matches"
    reach = spending = None
    if held := wanted.matches if wanted.matches is not None else matches:
        smallest = detectable(held, contrast.ties, contrast.design_effect, wanted.power)
        reach = Reach(held, power_of(contrast, held, wanted.level), smallest)
    if wanted.calls is not None:
        gap = abs(log(contrast.win_rate / (1 - contrast.win_rate)))
        spread = GUESSED_EFFECT if effect is None else effect
        spending = Spending(effect, tuple(plans(wanted.calls, gap, spread, level=wanted.level)))
    return Answer(names, contrast, matches, needed, reason, reach, spending)
