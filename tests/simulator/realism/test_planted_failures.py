"""Every detector on planted failures and on talk that looks a little like them (bench/detectors.py has more)."""

import pytest

from simulator.realism.failures import RULES
from tests.support.planted_failures import MAKERS, counted, texts


def test_every_kind_has_planted_cases() -> None:
    assert set(MAKERS) == set(RULES)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("kind", sorted(RULES))
def test_what_was_planted_is_found_and_little_else(kind: str, language: str) -> None:
    hit, planted, wrong = counted(kind, 24, language, held=False if texts(kind, language, planted=True) else None)
    assert planted == 24
    assert hit >= 0.9 * planted
    assert wrong <= 0.05 * planted


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("kind", ["role_flip", "prompt_leak", "thinking_leak", "refused", "thanks_run"])
def test_of_lines_that_no_detector_was_changed_for_some_are_found(kind: str, language: str) -> None:
    """How few, the documents say; ordinary lines are not taken for failures for it."""
    lines = texts(kind, language, planted=True, held=True)
    hit, planted, wrong = counted(kind, len(lines), language, held=True)
    assert (len(lines), planted) == (len(set(lines)), len(lines)) >= (6, 6)
    assert hit >= 0.1 * planted
    assert wrong <= (0.4 if kind == "thanks_run" else 0.05) * planted
