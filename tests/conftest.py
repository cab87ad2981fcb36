"""Fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.fake_provider import FakeProvider

# How long a drawn value takes says something of the machine, not of the program.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

LONG = (
    "frontdesk/cluster/test_cluster_runs.py",
    "frontdesk/cli/test_on_terminals.py",
    "frontdesk/test_pages_in_chromium.py",
    "frontdesk/report/test_site_in_chromium.py",
    "docs/test_templates.py",
    "gateway/batches/test_batches_killed.py",
    "gateway/test_local_model.py",
    "frontdesk/runner/",
    "frontdesk/cluster/",
    "frontdesk/web/",
    "frontdesk/cli/",
)
"""The files whose tests take longest, by how their paths begin, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files first: one that begins last is what all other processes wait for."""
    tests = Path(__file__).parent
    places: dict[Path, int] = {}
    for path in {item.path for item in items}:
        name = path.relative_to(tests).as_posix()
        places[path] = next((at for at, start in enumerate(LONG) if name.startswith(start)), len(LONG))
    items.sort(key=lambda item: places[item.path])


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    """A provider on loopback, new for each test; see ``tests/support/fake_provider.py``."""
    with FakeProvider() as running:
        yield running
