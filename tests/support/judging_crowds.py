"""Judgments of simulated judges whose habits are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from runstore.records import Judgment, Reply, Usage


@dataclass(frozen=True)
class Habits:
    """Log-odds that sway a judge, and the chance that it says what it thinks instead of the opposite."""

    first: float = 0.0
    doubling: float = 0.0
    own: float = 0.0
    favours: tuple[str, ...] = ()
    reliability: float = 1.0
    ties: float = 0.0
    unreadable: float = 0.0


def crowd(
    strengths: Mapping[str, float],
    judges: Mapping[str, Habits],
    *,
    subsets: int = 200,
    rounds: int = 1,
    per_dialogue: int = 2,
    seed: int = 0,
    words: Callable[[str, np.random.Generator], int] = lambda name, generator: 40,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> tuple[list[Judgment], list[Reply]]:
    """Every judge's rounds on every pair (or the given ones) of every subset, and the replies they saw."""
    generator = np.random.default_rng(seed)
    judgments: list[Judgment] = []
    replies: list[Reply] = []
    for number in range(subsets):
        subset, dialogue = f"s{number}", f"d{number // per_dialogue}"
        length = {name: words(name, generator) for name in strengths}
        replies += [_reply(subset, dialogue, name, length[name]) for name in strengths]
        for pair in pairs or combinations(sorted(strengths), 2):
            for judge, habits in judges.items():
                for at in range(1, rounds + 1):
                    a, b = pair if generator.random() < 0.5 else pair[::-1]
                    eta = strengths[a] - strengths[b] + habits.first
                    eta += habits.doubling * np.log2(length[a] / length[b])
                    eta += habits.own * ((a in habits.favours) - (b in habits.favours))
                    letter = _letter(float(eta), habits, generator)
                    judgments.append(_judgment(subset, dialogue, judge, at, a, b, letter))
    return judgments, replies


def _letter(eta: float, habits: Habits, generator: np.random.Generator) -> str | None:
    drawn = generator.random(4)
    if drawn[0] < habits.unreadable:
        return None
    if drawn[1] < habits.ties:
        return "c"
    likes_a = drawn[2] < 1 / (1 + np.exp(-eta))
    return "a" if likes_a == (drawn[3] < habits.reliability) else "b"


def _judgment(subset: str, dialogue: str, judge: str, at: int, a: str, b: str, letter: str | None) -> Judgment:
    return Judgment(
        subset=subset,
        dialogue=dialogue,
        judge=judge,
        criterion="overall",
        round=at,
        slot_a=a,
        slot_b=b,
        letter=letter,  # pyright: ignore[reportArgumentType] - one of a, b, c, None
        outcome="unreadable" if letter is None else "tie" if letter == "c" else "win",
        winner={"a": a, "b": b}.get(letter or ""),
        reason=None,
        raw="",
    )


def _reply(subset: str, dialogue: str, name: str, words: int) -> Reply:
    return Reply(
        subset=subset,
        dialogue=dialogue,
        endpoint=name,
        text="word " * words,
        finish="stop",
        usage=Usage(),
        latency_s=None,
        cost_usd=None,
    )
