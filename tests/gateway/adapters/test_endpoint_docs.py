"""docs/endpoints.md names every kind and every key."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.adapters import catalog

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "endpoints.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_key_is_in_the_page(kind: str) -> None:
    assert f"`{kind}`" in PAGE
    missing = [key for key in catalog.adapter_class(kind).Settings.model_fields if f"`{key}`" not in PAGE]
    assert missing == []
