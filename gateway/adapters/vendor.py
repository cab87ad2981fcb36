"""What the adapters of model vendors have in common: a model that must be named, and a public address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import model_validator

from gateway.adapters import reading
from gateway.adapters.base import EndpointSettings
from gateway.adapters.waits import Clock
from gateway.prompt import Message, Prompt
from runstore.numbers import YesNo

LEAST_THINKING = 1024
NO_SEED = {"seed": "this kind of endpoint has no seed; leave it out"}


class VendorSettings(EndpointSettings):
    """Settings of a kind that cannot do without ``model``.

    ``system_role``: whether the model has such a role; else the system text goes before the first user message.
    """

    system_role: YesNo = True

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

    def said(self, prompt: Prompt) -> Sequence[Message]:
        """The prompt's messages, as the model's roles take them."""
        messages = prompt.messages
        roles = [message.role for message in messages[:2]]
        if self.settings.system_role or roles != ["system", "user"]:
            return messages
        return (Message("user", f"{messages[0].content}\n\n{messages[1].content}"), *messages[2:])


def in_range(name: str, value: float | None, least: float, most: float, when: str = "") -> None:
    """What the provider is known to refuse is refused before anything is sent. Raises ValueError."""
    if value is not None and not least <= value <= most:
        raise ValueError(f"{name}: found {value:g}, expected {least:g} to {most:g}{when}")


def claude_thinks(settings: VendorSettings, name: str, budget: object, limit: int | None) -> None:
    """Anthropic's rules for thinking, wherever its models are asked. Raises ValueError.

    ``name``: of the setting that holds ``budget``; ``limit``: of output tokens, where it is known.
    """
    if not isinstance(budget, int):
        return
    if budget < LEAST_THINKING:
        raise ValueError(f"{name}: found {budget}, expected {LEAST_THINKING} or more")
    if limit is not None and budget >= limit:
        where = "its default of " if "max_output_tokens" not in settings.model_fields_set else ""
        raise ValueError(
            f"{name}: found {budget}, expected less than max_output_tokens, {where}{limit}: thinking counts "
            "towards the limit"
        )
    if settings.temperature not in (None, 1):
        raise ValueError(f"temperature: found {settings.temperature:g}, expected none (or 1) beside {name}")
    in_range("top_p", settings.top_p, 0.95, 1, f" beside {name}")


def messages_json(messages: Sequence[Message]) -> bytes:
    """``[{"role":...,"content":...},...]``, straight from the messages where they are valid Unicode."""
    try:
        return orjson.dumps(messages)
    except TypeError:
        return reading.dumps([{"role": message.role, "content": message.content} for message in messages])


def given(**values: Any) -> dict[str, Any]:
    """The settings that were set: what is None is not sent."""
    return {name: value for name, value in values.items() if value is not None}
