"""Fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fake_provider import FakeProvider


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """A provider on loopback, new for each test; see ``tests/support/fake_provider.py``."""
    with FakeProvider() as running:
        yield running
