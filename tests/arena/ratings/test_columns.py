"""Columns of names as numbers: whichever way one is read, they are those of a dictionary filled row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ratings.columns import Encoded, encode, encode_all
from arena.ratings.texts import numbered
from runstore.problems import Problem

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


def by_dictionary(texts: list[str]) -> tuple[list[int], list[str]]:
    known: dict[str, int] = {}
    return [known.setdefault(text, len(known)) for text in texts], list(known)


def read(column: Encoded) -> tuple[list[int], list[str]]:
    return column.codes.tolist(), column.values


def apart(texts: list[str]) -> tuple[list[int], list[int]] | None:
    parts = [text.encode() for text in texts]
    length = np.array([len(part) for part in parts])
    found = numbered(np.cumsum(length) - length, length, np.frombuffer(b"".join(parts), np.uint8))
    return None if found is None else (found[0].tolist(), found[1].tolist())


@given(st.lists(st.text(st.sampled_from("ab\0é한"), max_size=20), min_size=1, max_size=60))
def test_texts_taken_apart_are_told_apart_by_every_byte_and_by_their_length(texts: list[str]):
    codes, values = by_dictionary(texts)
    assert apart(texts) == (codes, [texts.index(value) for value in values])


def test_texts_that_are_too_long_are_left_to_others():
    assert apart(["a" * 64, "a" * 65]) is None
    assert apart(["a" * 63 + "b", "a" * 64, "a" * 63 + "b"]) == ([0, 1, 0], [0, 1])


@pytest.mark.parametrize("many", [7, 60_000])
@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_a_long_column_is_read_as_a_short_one(many: int, kind: str):
    generator = np.random.default_rng(many)
    texts = [
        f"d{k}" if k % 3 else f"a much longer name of number {k}" for k in generator.integers(0, many, 120_000)
    ]
    array = pa.array(["before", *texts, "seen at the very end"], kind).slice(1)
    assert read(encode(array)) == by_dictionary([*texts, "seen at the very end"])
    pieces = pa.chunked_array([array[:50_000], array[50_000:]])
    assert read(encode(pieces)) == by_dictionary([*texts, "seen at the very end"])
    assert encode(array[:120_000]).values == by_dictionary(texts)[1]


def test_a_long_column_keeps_what_is_missing():
    texts = [None if k % 1000 == 5 else f"d{k % 20_000}" for k in range(120_000)]
    column = encode(pa.array(texts))
    assert column.has_missing
    assert [None if code < 0 else column.values[code] for code in column.codes] == texts


def test_long_columns_are_read_side_by_side_as_each_by_itself():
    rows = np.arange(120_000)
    columns = {
        "model_a": pa.array([f"model {row}" for row in rows % 7]),
        "winner": pa.array(["model_a", "tie"] * 60_000),
        "cluster": pa.array([f"d{row}" for row in rows * 7919 % 30_011]),
    }
    together = encode_all(columns)
    assert list(together) == list(columns)
    for name, column in columns.items():
        alone = encode(column)
        assert together[name].values == alone.values
        assert np.array_equal(together[name].codes, alone.codes)
    with pytest.raises(Problem, match="found double"):
        encode_all({**columns, "winner": pa.array(rows / 2)})
