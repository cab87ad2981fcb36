"""Replies read from a file, in order or by rule: the stand-in for a model in tests and dry runs.

A file holds one JSON object a line: ``reply`` (the text) or ``error`` (``kind``, ``message``, ``again``,
``wait_s``, and ``times``: only on the first attempts of a request), and optionally ``role``, ``match`` (in the
last message), ``contains`` (in any message), ``finish`` and ``usage``. An entry with ``role``, ``match`` or
``contains`` is a rule; the first one that fits answers. Other entries are the replies to everything else.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gateway.adapters import reading
from gateway.adapters.base import EndpointSettings, PassedOver, Wire
from gateway.errors import NO, Fault, FaultKind, Retry
from gateway.prompt import Answer, Prompt
from runstore import publish
from runstore.ids import digest
from runstore.problems import Problem
from runstore.records import Usage

Order = Literal["sequence", "hash"]
Counted = Literal["input", "output", "thinking", "cached"]
Tokens = Annotated[int, Field(ge=0, le=reading.LARGEST_COUNT)]
Reader = Callable[[dict[str, Any]], "str | Answer | Fault"]


class ScriptedError(BaseModel):
    """The fault to raise, on every attempt or only on the first ``times`` of each request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    message: str = "scripted failure"
    again: Literal["no", "transient", "rate_limited"] = "no"
    wait_s: float | None = None
    times: int | None = None

    @model_validator(mode="after")
    def _known(self) -> ScriptedError:
        if self.kind not in get_args(FaultKind):
            raise ValueError(f"expected one of {', '.join(get_args(FaultKind))}")
        return self


class ScriptedReply(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reply: str | None = None
    error: ScriptedError | None = None
    role: Literal["student", "teacher", "judge", "score"] | None = None
    match: str | None = None
    contains: str | None = None
    finish: Literal["stop", "length"] = "stop"
    usage: dict[Counted, Tokens] = Field(default_factory=dict[Counted, Tokens])

    @model_validator(mode="after")
    def _says_something(self) -> ScriptedReply:
        if self.reply is None and self.error is None:
            raise ValueError("reply: missing (a text), and no error either")
        return self

    @property
    def is_rule(self) -> bool:
        return not (self.role is None and self.match is None and self.contains is None)

    @cached_property
    def counted(self) -> Usage:
        return Usage(**self.usage)

    def fits(self, request: Mapping[str, Any]) -> bool:
        if self.role is not None and self.role != request["role"]:
            return False
        if self.match is None and self.contains is None:
            return True
        contents = [str(message["content"]) for message in request["messages"]]
        return (self.match is None or (bool(contents) and self.match in contents[-1])) and (
            self.contains is None or any(self.contains in content for content in contents)
        )


class ScriptedSettings(EndpointSettings):
    """``order``: ``sequence`` gives the replies one after another as calls come (from the start again at the
    end); ``hash`` lets the request itself choose, whatever the order of calls. Left out, it is ``hash`` in a
    file with rules and ``sequence`` in a file without."""

    useless: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("api_key_env", "proxy", "largest_reply_mb"), "nothing is sent anywhere; leave it out"
    )

    base_url: PassedOver = None
    replies: str | None = None
    order: Order | None = None


class ScriptedAdapter:
    """Also made in code: ``ScriptedAdapter.of(["one", "two"])`` or with a function of the request."""

    Settings: ClassVar[type[EndpointSettings]] = ScriptedSettings

    def __init__(
        self,
        settings: ScriptedSettings,
        *,
        entries: Sequence[ScriptedReply] | None = None,
        reader: Reader | None = None,
    ) -> None:
        self.settings = settings
        self._reader = reader
        if entries is None and reader is None:
            if settings.replies is None:
                raise Problem("replies: missing, expected a JSON-lines file")
            entries = publish.read_records(Path(settings.replies), ScriptedReply)
        known = list(entries or ())
        if not known and reader is None:
            raise Problem(f"replies: found no reply in {settings.replies}, expected at least one")
        self._rules = [entry for entry in known if entry.is_rule]
        self._others = [entry for entry in known if not entry.is_rule]
        self.order: Order = settings.order or ("hash" if self._rules else "sequence")
        named = "in code" if settings.replies is None else digest([entry.model_dump() for entry in known])
        self._address = f"scripted:{named}"
        self._next = 0
        self._attempts: Counter[bytes] = Counter()
        self._counts_attempts = any(entry.error is not None and entry.error.times is not None for entry in known)
        given = {
            name: getattr(settings, name)
            for name in ("model", "temperature", "top_p", "seed", "max_output_tokens")
        }
        self._sampling = {name: value for name, value in given.items() if value is not None}

    @classmethod
    def of(
        cls,
        replies: Sequence[str | Mapping[str, Any]] | Reader,
        *,
        order: Order | None = None,
        settings: ScriptedSettings | None = None,
    ) -> ScriptedAdapter:
        """From texts, from entries as in a file, or from a function of ``{"role", "messages", ...}``."""
        settings = (settings or ScriptedSettings(kind="scripted")).model_copy(update={"order": order})
        if callable(replies):
            return cls(settings, reader=replies)
        entries = [
            ScriptedReply(reply=entry) if isinstance(entry, str) else ScriptedReply.model_validate(entry)
            for entry in replies
        ]
        return cls(settings, entries=entries)

    @property
    def address(self) -> str:
        """By what the file says, so that it may be moved."""
        return self._address

    def headers(self, key: str | None) -> dict[str, str]:  # noqa: ARG002 - a file takes no key
        return {}

    def compose(self, prompt: Prompt) -> bytes:
        messages = [{"role": message.role, "content": message.content} for message in prompt.messages]
        schema = {"schema": prompt.schema.schema} if prompt.schema is not None else {}
        return reading.dumps({"role": prompt.role, "messages": messages, **self._sampling, **schema})

    async def send(self, sent: bytes, wire: Wire) -> Answer:  # noqa: ARG002 - nothing is sent
        request = cast("dict[str, Any]", reading.loads(sent))
        if self._reader is not None:
            said = self._reader(request)
            if isinstance(said, Fault):
                raise said
            return Answer(said) if isinstance(said, str) else said
        return self._read(self._chosen(request, sent), self._attempt(sent))

    def _attempt(self, sent: bytes) -> int:
        """The number of this attempt at the request (from 1), kept only where an entry asks for it."""
        if not self._counts_attempts:
            return 1
        request = hashlib.blake2b(sent, digest_size=16).digest()
        self._attempts[request] += 1
        return self._attempts[request]

    def _chosen(self, request: Mapping[str, Any], sent: bytes) -> ScriptedReply:
        for rule in self._rules:
            if rule.fits(request):
                return rule
        if not self._others:
            raise Fault("bad_request", f"no scripted reply fits this {request['role']} request", NO)
        if self.order == "hash":
            return self._others[int(digest(sent.hex()), 16) % len(self._others)]
        self._next += 1
        return self._others[(self._next - 1) % len(self._others)]

    def _read(self, entry: ScriptedReply, attempt: int) -> Answer:
        text, usage = entry.reply or "", entry.counted
        error = entry.error
        if error is not None and (error.times is None or attempt <= error.times or entry.reply is None):
            kind = cast("FaultKind", error.kind)
            raise Fault(kind, error.message, Retry(error.again, error.wait_s), text=text, usage=usage)
        if entry.finish == "length" and not self.settings.accept_truncated:
            limit = self.settings.max_output_tokens
            reading.settle(text, usage, cut="length", limit=limit)
        return Answer(text, entry.finish, usage, self.settings.model, None, reading.leaks(text))
