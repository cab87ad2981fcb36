"""Tokens are counted without network, with the right encoding, and every count says how it was made."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway import tokens
from gateway.tokens import Correction, count, estimator

_COUNT_ELSEWHERE = """
import os
from gateway.tokens import count, estimator
def variable():
    return os.environ.get("TIKTOKEN_CACHE_DIR")
print(count("The student asks why.", "gpt-5-mini"), estimator("gpt-5-mini").method, variable())
"""


@pytest.fixture
def forgotten() -> Iterator[None]:
    """No counter is remembered from another test."""
    estimator.cache_clear()
    tokens._load.cache_clear()
    yield
    estimator.cache_clear()
    tokens._load.cache_clear()


def _in_a_fresh_process(cache: Path, **variables: str) -> str:
    unreachable = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), "http://127.0.0.1:9")
    inherited = {name: value for name, value in os.environ.items() if name != "TIKTOKEN_CACHE_DIR"}
    environ = inherited | unreachable | {"TUTOR_ARENA_CACHE": str(cache)} | variables
    done = subprocess.run(
        [sys.executable, "-c", _COUNT_ELSEWHERE], env=environ, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_first_count_needs_no_network_and_leaves_the_environment_as_it_was(tmp_path: Path) -> None:
    assert _in_a_fresh_process(tmp_path, TIKTOKEN_CACHE_DIR="mine") == "5 tiktoken o200k_base mine"
    (kept,) = (tmp_path / "encodings").iterdir()
    assert kept.name == "fb374d419588a4632f3f557e76b4b70aebbca790"


def test_a_damaged_copy_of_the_encoding_is_made_again(tmp_path: Path) -> None:
    damaged = tmp_path / "encodings" / "fb374d419588a4632f3f557e76b4b70aebbca790"
    damaged.parent.mkdir()
    damaged.write_bytes(b"IQ== 0\n")
    assert _in_a_fresh_process(tmp_path) == "5 tiktoken o200k_base None"
    assert damaged.stat().st_size > 1_000_000


@pytest.mark.parametrize(
    ("model", "method", "exact"),
    [
        ("gpt-5-mini", "tiktoken o200k_base", True),
        ("gpt-4.1", "tiktoken o200k_base", True),
        ("o3", "tiktoken o200k_base", True),
        ("gpt-4-0613", "tiktoken cl100k_base", True),
        ("gemini-2.5-flash", "tiktoken o200k_base (estimate)", False),
        ("claude-haiku-4-5", "tiktoken o200k_base (estimate)", False),
        ("davinci", "tiktoken o200k_base (estimate)", False),
        ("", "tiktoken o200k_base (estimate)", False),
    ],
)
def test_every_model_has_a_counter_that_names_its_method(model: str, method: str, exact: bool) -> None:
    assert (estimator(model).method, estimator(model).exact) == (method, exact)


def test_counts_differ_by_encoding_and_korean_costs_more_than_its_characters_in_english() -> None:
    text = "이진 탐색은 왜 정렬된 배열이 필요한가요?"
    assert count(text, "gpt-5") < count(text, "gpt-4")
    assert count("hello world", "gpt-5") == 2


def test_special_tokens_in_a_text_are_ordinary_text() -> None:
    assert count("<|endoftext|>", "gpt-5") > 1
    assert count("<|endoftext|>", "gemini-2.5-flash") > 1


@given(st.text(max_size=60))
@settings(max_examples=50, deadline=None)
def test_a_text_has_no_more_tokens_than_bytes_and_none_only_if_it_is_empty(text: str) -> None:
    assert count(text, "gpt-5") <= len(text.encode())
    assert (count(text, "gpt-5") == 0) == (text == "")


def test_without_a_place_for_the_encoding_characters_are_counted_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgotten: None
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    monkeypatch.setenv("TUTOR_ARENA_CACHE", str(in_the_way))
    fallback = estimator("gpt-5")
    assert fallback.method.startswith("characters / 4 (")
    assert (fallback(""), fallback("abcd"), fallback("abcde")) == (0, 1, 2)
    assert not fallback.exact


def test_estimates_are_corrected_by_what_the_endpoint_said_it_used() -> None:
    correction = Correction()
    assert correction.apply(100) == 100
    correction.add(100, 120)
    correction.add(300, 360)
    correction.add(500, None)
    correction.add(0, 50)
    assert correction.ratio == pytest.approx(1.2)
    assert correction.apply(50) == 60


def test_one_absurd_usage_cannot_turn_an_estimate_into_nothing_or_into_thousands() -> None:
    high, low = Correction(), Correction()
    high.add(1, 10_000)
    low.add(10_000, 1)
    assert (high.ratio, low.ratio) == (4.0, 0.25)
