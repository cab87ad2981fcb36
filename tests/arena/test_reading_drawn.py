"""Objects and scores drawn at random: repair changes no value, and no number is read that was not the value."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.reading import read_integer, read_object
from tests.support.judge_replies import damaged, reply

LEAF = st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=24)
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


@given(
    value=st.dictionaries(st.text(min_size=1, max_size=8), VALUE, min_size=1, max_size=4),
    seed=st.integers(0, 999),
    is_ascii=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_repaired_and_read_is_strictly_read(value: dict[str, object], seed: int, is_ascii: bool) -> None:
    written = json.dumps(value, ensure_ascii=is_ascii)
    strict = read_object(written)
    again = read_object(damaged(random.Random(seed), written))
    assert again.value == strict.value


def test_no_number_is_read_that_was_not_written_as_the_value() -> None:
    generator = random.Random(11)
    read = 0
    for _ in range(3000):
        drawn = reply(generator)
        found = read_object(drawn.text, keys=("reason", "score", "other"))
        if found.value is None:
            continue
        score = read_integer(found.value.get("score"), 1, 5).value
        assert score is None or score == drawn.value, drawn.text
        read += score is not None
    assert read > 500
