"""Every detector on planted failures and on talk that looks a little like them (bench/detectors.py has more)."""

import pytest

from simulator.realism.failures import RULES
from tests.support.planted_failures import MAKERS, counted


def test_every_kind_has_planted_cases() -> None:
    assert set(MAKERS) == set(RULES)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("kind", sorted(RULES))
def test_what_was_planted_is_found_and_little_else(kind: str, language: str) -> None:
    hit, planted, wrong = counted(kind, 24, language)
    assert planted == 24
    assert hit >= 0.6 * planted
    assert wrong <= 0.05 * planted
