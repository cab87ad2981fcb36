"""How a tutor service is described: one request made of a template, or a declared sequence of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.adapters import literal_keys
from gateway.adapters.base import EndpointSettings, is_address

UsageName = Literal["input", "output", "thinking", "cached"]
SAMPLING = ("temperature", "top_p", "seed", "max_output_tokens")
NO_ADDRESS = "found {0!r}, expected an address such as http://127.0.0.1:8000/reply"
_UNTOLD = "the service does not say where a reply was cut; leave it out"


class Step(BaseModel):
    """One request of a sequence. ``save`` names parts of its answer for later steps; ``unless_empty`` names a
    placeholder without which the step is left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    body: Any = Field(default_factory=dict[str, Any])
    save: dict[str, str] = Field(default_factory=dict[str, str])
    unless_empty: str | None = None


class HttpSettings(EndpointSettings):
    """Either ``url`` and ``body``, or ``base_url`` and ``steps``; ``reply`` is where the text is."""

    useless: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(SAMPLING, "this kind sends only its templates; write it into body"),
        "accept_truncated": _UNTOLD,
    }

    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    body: Any = None
    steps: list[Step] = Field(default_factory=list[Step])
    reply: str = "reply"
    session: Literal["none", "replay"] = "none"
    error: str = "error"
    error_pattern: str | None = None
    usage: dict[UsageName, str] = Field(default_factory=dict[UsageName, str])
    roles: dict[Literal["student", "teacher", "system"], str] = Field(
        default_factory=dict[Literal["student", "teacher", "system"], str]
    )
    message_keys: dict[Literal["role", "content"], str] = Field(
        default_factory=dict[Literal["role", "content"], str]
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> HttpSettings:
        if (self.url is None) == (not self.steps):
            raise ValueError("url: give either url (with body) or steps (with base_url)")
        if self.steps and self.base_url is None:
            raise ValueError("base_url: missing; the paths of steps are added to it")
        if self.steps and self.body is not None:
            raise ValueError("body: each of the steps has its own")
        if self.url is not None and "${" not in self.url and not is_address(self.url):
            raise ValueError(f"url: {NO_ADDRESS.format(self.url)}")
        instead = "holds a key; write ${VARIABLE} and put the key into that environment variable"
        if name := literal_keys.in_headers(self.headers):
            raise ValueError(f"headers.{name}: {instead}")
        if name := literal_keys.in_addresses([self.url or "", *(step.path for step in self.steps)]):
            raise ValueError(f"{'url' if self.url else 'steps'}: {name} {instead}")
        return self
