"""Any provider that litellm (the extra ``[litellm]``) knows, for those that no other kind reaches.

litellm translates; its requests go over the run's own wire, so bounds, proxies, certificates, failures and the
journal are those of every other kind.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from gateway.adapters import literal_keys, reading
from gateway.adapters.base import CredentialsWay, EndpointSettings, NothingKept, Wire, WireReply
from gateway.adapters.openai import OpenAIAdapter, OpenAISettings
from gateway.adapters.vendor import claude_thinks
from gateway.adapters.waits import Clock
from gateway.prompt import Answer
from gateway.secrets import SHORTEST_KEY
from runstore.numbers import Real

if TYPE_CHECKING:
    from gateway.adapters.litellm_client import LitellmClient

_OURS = ("model", "messages", "api_key", "stream", "n", "num_retries", "max_retries", "fallbacks", "timeout")


class LitellmSettings(OpenAISettings):
    """``model``: ``PROVIDER/MODEL``; ``extra_body``: further arguments of ``litellm.acompletion``.

    The bound of a response is lower, for litellm takes its time over large ones.
    """

    largest_reply_mb: Real = Field(default=1.0, gt=0)

    @property
    def takes_key(self) -> bool:
        return False

    @model_validator(mode="after")
    def _leaves_to_us_what_is_ours(self) -> LitellmSettings:
        if "/" not in (self.model or ""):
            raise ValueError(f"model: found {self.model!r}, expected PROVIDER/MODEL, as litellm names it")
        if self.key_header is not None:
            raise ValueError("key_header: litellm knows where its providers want the key; leave it out")
        if named := [name for name in _OURS if name in self.extra_body]:
            raise ValueError(f"extra_body.{named[0]}: is not litellm's to decide here; leave it out")
        budget = reading.as_dict(self.extra_body.get("thinking")).get("budget_tokens")
        claude_thinks(self, "extra_body.thinking.budget_tokens", budget, self.max_output_tokens)
        return self


class LitellmAdapter(OpenAIAdapter):
    """What is composed are the arguments of ``litellm.acompletion``; what it gives back is a chat completion."""

    Settings: ClassVar[type[EndpointSettings]] = LitellmSettings

    def __init__(
        self, settings: LitellmSettings, *, environ: Mapping[str, str] = os.environ, now: Clock = time.time
    ) -> None:
        super().__init__(settings, f"litellm:{(settings.model or '').partition('/')[0]}", now=now)
        self._environ = environ
        self._client: LitellmClient | None = None

    def headers(self, key: str | None) -> dict[str, str]:  # noqa: ARG002 (litellm puts it where its provider wants it)
        return {}

    def secrets(self) -> list[str]:
        """litellm reads keys out of the environment by itself: all that is for keys there, by its name."""
        variables = self._environ.items()
        named = (value for name, value in variables if literal_keys.is_for_keys(name) and name != "PWD")
        return [value for value in named if len(value) >= SHORTEST_KEY]

    def make_ready(self, way: CredentialsWay | None = None) -> LitellmClient:  # noqa: ARG002 (its requests are the wire's)
        """Import litellm, before anything is asked. Raises Problem."""
        from gateway.adapters.litellm_client import LitellmClient

        self._client = LitellmClient(self._now)
        return self._client

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        client = self._client or self.make_ready()
        arguments: dict[str, Any] = reading.loads(sent)
        if wire.key is not None:
            arguments["api_key"] = wire.key
        if self.settings.base_url is not None:
            arguments["api_base"] = wire.base_url
        if self.settings.extra_headers:
            arguments["extra_headers"] = self.settings.extra_headers
        completion, reply = await client.complete(arguments, wire)
        wire.keep(reading.dumps(completion))
        return self.read(completion, reply)

    def read_again(self, bodies: Sequence[bytes]) -> Answer:
        """The last of them is the completion that litellm made of those before it."""
        if len(bodies) < 2:
            raise NothingKept
        reply = WireReply(200, {}, bodies[-1])
        return self.read(reading.load(reply), reply)
