"""What the adapters of model vendors have in common: a model that must be named, and a public address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import model_validator

from gateway.adapters import reading
from gateway.adapters.base import EndpointSettings
from gateway.adapters.waits import Clock
from gateway.prompt import Message


class VendorSettings(EndpointSettings):
    """Settings of a kind that cannot do without ``model``."""

    @model_validator(mode="after")
    def _names_a_model(self) -> VendorSettings:
        if not (self.model or "").strip():
            raise ValueError("model: missing")
        return self


class Vendor:
    """Address and clock of one endpoint of a vendor."""

    settings: Any

    def __init__(self, settings: VendorSettings, public: str, now: Clock) -> None:
        self.settings = settings
        self._now = now
        base = settings.base_url
        self._address = (base if isinstance(base, str) else base[0] if base else public).rstrip("/")

    @property
    def address(self) -> str:
        return self._address


def in_range(name: str, value: float | None, least: float, most: float, when: str = "") -> None:
    """What the provider is known to refuse is refused before anything is sent. Raises ValueError."""
    if value is not None and not least <= value <= most:
        raise ValueError(f"{name}: found {value:g}, expected {least:g} to {most:g}{when}")


def messages_json(messages: Sequence[Message]) -> bytes:
    """``[{"role":...,"content":...},...]``, straight from the messages where they are valid Unicode."""
    try:
        return orjson.dumps(messages)
    except TypeError:
        return reading.dumps([{"role": message.role, "content": message.content} for message in messages])


def given(**values: Any) -> dict[str, Any]:
    """The settings that were set: what is None is not sent."""
    return {name: value for name, value in values.items() if value is not None}
