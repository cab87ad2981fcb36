"""Judges' replies drawn at random: what was written as the value is known, and what stands around it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

VALUES: tuple[tuple[str, int | None], ...] = (
    ("4", 4), ("1", 1), ("5", 5), ('"3"', 3), ('"2/5"', 2), ('"4 of 5"', 4), ('"４"', 4), ('"4점"', 4), ("4.0", 4),
    ('"3 or 4"', None), ('"3-4"', None), ('"3–4"', None), ('"3‑4"', None), ('"3, 4"', None), ('"3~4"', None),
    ('"1|2|3|4|5"', None), ('"0-5"', None), ('"4 or 5"', None), ("4.5", None), ('"4.5"', None), ("null", None),
    ('"4/10"', None), ('"5 reasons for a 2"', None), ('"3에서 4"', None), ("[4]", None), ("true", None),
    ("7", None), ("-2", None), ('""', None), ('"four"', None), ('{"a": 4}', None), ("4e0", 4),
)  # fmt: skip
REASONS = (
    "Turn 2 asks 3 questions, turn 4 none.", 'He says "score": 5, and "4".', "Two gaps:\ne.g. units",
    "5/5 정답, 1점",
    "uses <think>2</think> tags", "a } and a { and ```json", "trailing ,] and ,} inside", "it's 3 – 4 🍸",
    "\\frac{1}{2}",
)  # fmt: skip
BEFORE = (
    "",
    "",
    "Here are 3 of 5 points:\n",
    "Score is a number from 1 to 5.\n",
    "<think>maybe 2</think>",
    "점수표 1~5:\n",
)
AFTER = ("", "", "\nThat is 5 of 5 sure.", "\n```\n(2)", "\n### done")


@dataclass(frozen=True, slots=True)
class Drawn:
    """``value``: what was written as the score, None where that is no whole number from 1 to 5."""

    text: str
    value: int | None
    is_whole: bool


def reply(generator: random.Random) -> Drawn:
    """A reply with one object, perhaps fenced, framed in prose, with commas too many, or cut off."""
    written, value = generator.choice(VALUES)
    pairs = [
        f'"reason": {json.dumps(generator.choice(REASONS), ensure_ascii=generator.random() < 0.5)}',
        f'"score": {written}',
        f'"other": {generator.randrange(10)}',
    ]
    generator.shuffle(pairs)
    text = (
        "{" + generator.choice((", ", ",\n  ", ",, ")).join(pairs) + generator.choice(("", "", ",", " ,\n")) + "}"
    )
    if generator.random() < 0.3:
        text = f"```{generator.choice(('json', '', 'JSON'))}\n{text}\n```"
    text = generator.choice(BEFORE) + text + generator.choice(AFTER)
    is_cut = generator.random() < 0.2
    return Drawn(text[: generator.randrange(len(text))] if is_cut else text, value, not is_cut)


def damaged(generator: random.Random, written: str) -> str:
    """A valid object's text with damage that can mean one thing only."""
    kind = generator.randrange(4)
    if kind == 0:
        return written[:-1] + ",}"
    if kind == 1:
        return f"```json\n{written}\n```"
    if kind == 2:
        return f"Here it is:\n\n{written}\n"
    return f"```\n{written[:-1]},\n}}\n```"
