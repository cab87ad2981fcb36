"""What an adapter is: it translates one prompt into one request and one response into one answer.

It never loops, sleeps or retries; it raises a classified :class:`gateway.errors.Fault`. Adding a kind of endpoint
is one file with a ``Settings`` and an adapter class, and one line in ``catalog.py``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    get_args,
    runtime_checkable,
)
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from gateway import proxies
from gateway.prompt import Answer, Prompt
from runstore.numbers import NotNegative, Real, Whole, YesNo

if TYPE_CHECKING:
    from gateway.transport import Loan

Priced = Literal["input", "output", "cached_input", "cache_write", "cache_write_1h"]
PRICED: tuple[str, ...] = get_args(Priced)
LONGEST_S, LEAST_A_MINUTE = 1e7, 1e-4
"""Bounds of what a timer can wait for: four months, and one a week."""


class WireReply(NamedTuple):
    """A response as it came: status, headers whose names are found in lower case, body bytes (decoded)."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def is_address(text: str) -> bool:
    """Whether a text can be the address of a service."""
    try:
        parts = urlsplit(text)
        is_web = parts.scheme in ("http", "https") and parts.port != 0
        return is_web and bool(parts.hostname) and re.search(r"\s", parts.netloc) is None
    except ValueError:
        return False


def whole_address(base_url: str, path: str) -> str:
    """``path`` added to a base address, whose query stays behind it: some servers want their version there."""
    base, _, query = base_url.partition("?")
    address = base.rstrip("/") + path
    return f"{address}{'&' if '?' in path else '?'}{query}" if query else address


class CredentialsWay(NamedTuple):
    """How a vendor's own credentials are asked for: the longest time of one request, and the endpoint's proxy as
    ``gateway.proxies.chosen`` takes it."""

    timeout_s: float
    proxy: str | bool | None = None


class Wire(Protocol):
    """One attempt's way out: the lane (address and key) chosen for it, with the attempt's timeout.

    Raises Fault ``timeout``, ``connection`` or ``malformed`` (cut body); never an aiohttp exception.
    """

    base_url: str
    key: str | None

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> WireReply:
        """POST JSON bytes to ``path`` (added to ``base_url``; a full address is taken as it is)."""
        ...

    async def lend(self, path: str, body: bytes, use: Callable[[Loan], Awaitable[object]]) -> WireReply:
        """The same by a vendor's client library, which is to make one request at ``path`` when it is used."""
        ...

    async def fetch(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> WireReply:
        """A request of a client library whole as it is, to wherever it leads; a lane's key does not go along."""
        ...

    def hide(self, secret: str) -> None:
        """Take a secret that came up on the way out of everything that is written from now on."""
        ...

    def keep(self, made: bytes) -> None:
        """Have what was made of the responses recorded behind them, for :class:`ReadsAgain`."""
        ...


def _passed_over(_: object) -> None:
    """Left out."""


OneOrMore = Annotated[list[str], Field(min_length=1)]
"""Addresses or keys: none at all would mean the vendor's own address, or a call without a key."""
PassedOver = Annotated[str | list[str] | None, AfterValidator(_passed_over)]
"""An address of a kind that sends nothing: a configuration may keep it, and it is in no journal's key."""


class EndpointSettings(BaseModel):
    """The keys that every kind of endpoint has. A kind adds its own in a subclass."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    useless: ClassVar[Mapping[str, str]] = {}
    """Keys that the kind can make nothing of, each with what to do instead: they are refused, not passed over."""

    kind: str
    model: str | None = None
    base_url: str | OneOrMore | None = None
    api_key_env: str | OneOrMore | None = None
    identity: str | None = None
    family: str | None = None
    temperature: Real | None = None
    top_p: Real | None = None
    seed: Whole | None = None
    max_output_tokens: Whole | None = Field(default=None, gt=0)
    accept_truncated: YesNo = False
    system: str | None = None
    style: str | None = None
    concurrency: Whole = Field(default=64, gt=0)
    requests_per_minute: Real | None = Field(default=None, ge=LEAST_A_MINUTE)
    tokens_per_minute: Real | None = Field(default=None, ge=LEAST_A_MINUTE)
    timeout_s: Real = Field(default=60.0, gt=0, le=LONGEST_S)
    retries: Whole = Field(default=5, ge=0)
    longest_wait_s: Real = Field(default=120.0, ge=0, le=LONGEST_S)
    total_s: Real = Field(default=900.0, gt=0, le=LONGEST_S)
    largest_reply_mb: Real = Field(default=4.0, gt=0)
    proxy: str | bool | None = None
    price: dict[Priced, NotNegative] | None = None

    @property
    def takes_key(self) -> bool:
        """Whether the kind's public address is asked with a key out of a variable."""
        return True

    @model_validator(mode="after")
    def _uses_what_is_given(self) -> EndpointSettings:
        for name, instead in self.useless.items():
            if name in self.model_fields_set and getattr(self, name) not in (None, False):
                raise ValueError(f"{name}: {instead}")
        return self

    @model_validator(mode="after")
    def _names_a_proxy(self) -> EndpointSettings:
        """Its password is in the environment: what stands here is copied into the run folder."""
        if self.proxy is True:
            raise ValueError(f"proxy: found true, {proxies.EXPECTED}, or false")
        if not isinstance(self.proxy, str):
            return self
        credentials, at, _ = self.proxy.rpartition("@")
        if at and "${" not in credentials:
            raise ValueError("proxy: holds a password; write ${VARIABLE} and put it into that variable")
        if "${" not in self.proxy:
            try:
                proxies.parsed(self.proxy)
            except ValueError as error:
                raise ValueError(f"proxy: {error}, or false") from None
        return self


class Adapter(Protocol):
    """One kind of endpoint. Built once per endpoint from its settings.

    A class attribute ``reads_again = True`` says that :meth:`send` does nothing but through the wire, so that it
    may be given responses out of the journal. One whose ``send`` does more is a :class:`ReadsAgain`. The answers
    of any other stay as they were once read.
    """

    Settings: ClassVar[type[EndpointSettings]]
    settings: Any

    @property
    def address(self) -> str:
        """The default base address: part of the journal's key unless ``identity`` stands for it."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """Headers of every request of a lane, the key among them (never in the address)."""
        ...

    def compose(self, prompt: Prompt) -> bytes:
        """Everything that will be sent, as bytes: the request body, or for several steps all they depend on.

        Equal prompts give equal bytes. These bytes (with endpoint, address and repeat) are the journal's key.
        """
        ...

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        """One attempt at sending what :meth:`compose` made. Raises Fault."""
        ...


class NothingKept(Exception):
    """What is recorded of a call is not enough to read it again."""


@runtime_checkable
class ReadsAgain(Protocol):
    """An adapter that reads recorded responses by a way of its own."""

    def read_again(self, bodies: Sequence[bytes]) -> Answer:
        """The answer, from what was recorded of one attempt, in order. Raises Fault, NothingKept."""
        ...
