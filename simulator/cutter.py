"""Dialogues -> subsets: each a prefix that ends at a student utterance, the last one where several follow.

Subsets are spread evenly over dialogues (within one), then over depths. What is drawn belongs to the seed and to
the dialogue's id, so the order of the file, and other dialogues' ids, change nothing about an id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from runstore.ids import content_id, draw, shuffled
from runstore.problems import Problem
from runstore.records import Dialogue, Subset

Depth = Literal["uniform", "any"]


def cut(
    dialogues: Sequence[Dialogue],
    subsets: int,
    *,
    seed: int = 0,
    depth: Depth = "uniform",
    last_turns: int | None = None,
) -> list[Subset]:
    """``subsets`` different cuts, or as many as there are; no cut of a dialogue is taken twice.

    ``depth``: ``uniform`` balances the depths over the whole set, ``any`` draws them. ``last_turns`` keeps
    only the last so many exchanges of each history (the record says from which utterance on).

    Raises Problem if two dialogues have one id.
    """
    by_id = {dialogue.id: dialogue for dialogue in dialogues}
    chosen = choose(depths_of(dialogues), subsets, seed=seed, depth=depth)
    return [subset_at(by_id[name], level, last_turns=last_turns) for name, level in chosen]


def depths_of(dialogues: Iterable[Dialogue]) -> dict[str, int]:
    """At how many depths each dialogue can be cut, by id. Raises Problem if two dialogues have one id."""
    depths: dict[str, int] = {}
    for dialogue in dialogues:
        if dialogue.id in depths:
            raise Problem(f"two dialogues have the id {dialogue.id!r}; ids must differ")
        depths[dialogue.id] = len(_student_positions(dialogue))
    return depths


def choose(
    depths: Mapping[str, int], subsets: int, *, seed: int = 0, depth: Depth = "uniform"
) -> list[tuple[str, int]]:
    """The cuts to make: (dialogue id, depth from 1), sorted by both."""
    order = shuffled(((name, name) for name in depths), seed, "cut order")
    shares = _shares({name: depths[name] for name in order}, subsets)
    used: Counter[int] = Counter()
    chosen: list[tuple[str, int]] = []
    for name in order:
        levels = list(range(1, depths[name] + 1))
        for level in _choose(levels, shares[name], used, depth, seed, name):
            used[level] += 1
            chosen.append((name, level))
    return sorted(chosen)


def subset_at(dialogue: Dialogue, depth: int, *, last_turns: int | None = None) -> Subset:
    """The dialogue up to the student's turn number ``depth`` (from 1)."""
    end = _student_positions(dialogue)[depth - 1] + 1
    first = _first_kept(dialogue, end, last_turns)
    identity = (dialogue.id, end) if first == 0 else (dialogue.id, end, first)
    return Subset(
        id=content_id("s", *identity),
        dialogue=dialogue.id,
        persona=dialogue.persona,
        levels=dialogue.levels,
        question=dialogue.question,
        subject=dialogue.subject,
        language=dialogue.language,
        cut=end,
        first=first,
        depth=depth,
        history=dialogue.utterances[first:end],
    )


def _student_positions(dialogue: Dialogue) -> list[int]:
    """Where the student's turns end; in a turn there may be several utterances."""
    roles = [utterance.role for utterance in dialogue.utterances]
    following = [*roles[1:], None]
    return [
        at for at, (role, after) in enumerate(zip(roles, following, strict=True)) if role == "student" != after
    ]


def _first_kept(dialogue: Dialogue, end: int, last_turns: int | None) -> int:
    """A history begins with the student, also where somebody's own dialogue has the teacher speak first."""
    roles = [None, *(utterance.role for utterance in dialogue.utterances[:end])]
    starts = [at for at, (before, role) in enumerate(pairwise(roles)) if role == "student" != before]
    return starts[0 if last_turns is None else max(0, len(starts) - last_turns)]


def _shares(room: dict[str, int], subsets: int) -> dict[str, int]:
    """How many cuts each dialogue gives: equal within one, as far as its depths go round."""
    shares = dict.fromkeys(room, 0)
    left = min(subsets, sum(room.values()))
    while left:
        for name in room:
            if left and shares[name] < room[name]:
                shares[name] += 1
                left -= 1
    return shares


def _choose(
    depths: list[int], count: int, used: Counter[int], depth: Depth, seed: int, dialogue: str
) -> list[int]:
    drawn = sorted(depths, key=lambda level: draw(seed, "depth", dialogue, level))
    if depth == "uniform":
        drawn.sort(key=lambda level: used[level])
    return sorted(drawn[:count])
