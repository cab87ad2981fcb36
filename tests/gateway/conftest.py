"""Fixtures for tests of the wire."""

from __future__ import annotations

import pytest

from tests.support.certificates import Authority, own_authority_in


@pytest.fixture(autouse=True)
def no_environment_of_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither proxies nor certificates of the machine that the tests run on."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def own_authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate for this machine that no system trusts."""
    return own_authority_in(tmp_path_factory.mktemp("authority"))
