"""Fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.fake_provider import FakeProvider

# How long a drawn value takes says something of the machine, not of the program.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """A provider on loopback, new for each test; see ``tests/support/fake_provider.py``."""
    with FakeProvider() as running:
        yield running
