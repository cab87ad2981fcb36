"""Any tutor service that speaks JSON, described by templates: one request, or a declared sequence of them.

What is in the environment (keys) goes into headers and addresses only when a request is made; what
:meth:`HttpAdapter.compose` gives, and so the journal, holds the templates.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from gateway.adapters import classify, literal_keys, reading, templates
from gateway.adapters.base import EndpointSettings, Wire, WireReply, is_address
from gateway.adapters.http_settings import NO_ADDRESS, HttpSettings, Step
from gateway.adapters.pieces import KNOWN_NAMES, pieces
from gateway.adapters.waits import Clock
from gateway.errors import TRANSIENT, Fault
from gateway.prompt import Answer, Prompt
from gateway.secrets import SHORTEST_KEY
from runstore.problems import Problem
from runstore.records import Usage

_ORIGIN = re.compile(r"^https?://[^/?{]*(?=[/?]|$)")
"""Scheme and host stay out of what is composed: the journal's key has the address, or what stands for it."""


class HttpAdapter:
    """Requests made of templates. Several steps, a replayed session or a fresh id make what is composed a plan
    (``{"steps","headers","values"}``); else it is ``{"path","headers","body"}`` with the body that is sent."""

    Settings: ClassVar[type[EndpointSettings]] = HttpSettings
    reads_again = True

    def __init__(
        self, settings: HttpSettings, *, environ: Mapping[str, str] = os.environ, now: Clock = time.time
    ) -> None:
        self.settings = settings
        self._environ, self._now = environ, now
        self._steps = settings.steps or [
            Step(path=settings.url or "", body={} if settings.body is None else settings.body)
        ]
        self._check_templates()
        self._reply = templates.parse_path(settings.reply, "reply")
        self._error = templates.parse_path(settings.error, "error")
        self._saves = [{n: templates.parse_path(p, f"save.{n}") for n, p in s.save.items()} for s in self._steps]
        self._usage = {name: templates.parse_path(path, f"usage.{name}") for name, path in settings.usage.items()}
        self._pattern = re.compile(settings.error_pattern) if settings.error_pattern else None
        self._used = self._names()
        self._paths: dict[str, str] = {}
        self._is_plain = (
            len(self._steps) == 1
            and settings.session == "none"
            and "attempt_id" not in self._used
            and not templates.names(self._steps[0].path)
        )
        about = {"path": _ORIGIN.sub("", self._steps[0].path) or "/", "headers": settings.headers}
        self._head = reading.dumps(about)[:-1] + b',"body":'
        self._plan = {
            "steps": [[_ORIGIN.sub("", step.path), step.body] for step in self._steps],
            "headers": settings.headers,
        }

    def _names(self) -> set[str]:
        fields: set[str] = set()
        for step in self._steps:
            fields |= templates.names([step.path, step.body])
            if step.unless_empty is not None:
                fields.add(step.unless_empty)
        replayed = {"last_student", "messages", "history"}
        return fields | replayed if self.settings.session == "replay" else fields

    def _check_templates(self) -> None:
        known = KNOWN_NAMES | {name for step in self._steps for name in step.save}
        for step in self._steps:
            if templates.variables(step.body):
                raise Problem("body: ${...} would put a secret into the record; keys belong into headers")
        unknown = sorted(self._names() - known)
        if unknown:
            raise Problem(f"body: found {{{unknown[0]}}}, expected one of {', '.join(sorted(known))}")
        if not self._names() & {"system", "all_messages", "style"}:
            for name in ("system", "style"):
                if getattr(self.settings, name) is not None:
                    raise Problem(f"{name}: nothing that is sent has {{system}} or {{all_messages}} for it")
        if templates.names(self.settings.headers):
            raise Problem("headers: only ${VARIABLE} is filled in here")
        if self.settings.error_pattern:
            try:
                re.compile(self.settings.error_pattern)
            except re.error as error:
                raise Problem(f"error_pattern: found {self.settings.error_pattern!r}: {error}") from None

    @property
    def address(self) -> str:
        """``base_url`` if given, else scheme and host of ``url``. Raises Problem where a variable is not set."""
        base = self.settings.base_url
        if base:
            return (base if isinstance(base, str) else base[0]).rstrip("/")
        url = self._expanded(self.settings.url or "")
        if not is_address(url):
            raise Problem(f"url: {NO_ADDRESS.format(self.settings.url)}")
        parts = urlsplit(url)
        if "@" in parts.netloc:
            raise Problem("url: holds a user name or password; put them into headers")
        return f"{parts.scheme}://{parts.netloc}"

    def _expanded(self, url: str) -> str:
        return templates.expand(url, self._environ, "url", quoted=True) if "${" in url else url

    def _path(self, template: str) -> str:
        """What is added to the base address: of a whole address, all after the host."""
        known = self._paths.get(template)
        if known is None:
            parts = urlsplit(self._expanded(template))
            path = parts.path if parts.path.startswith("/") else f"/{parts.path}"
            known = self._paths[template] = path + (f"?{parts.query}" if parts.query else "")
        return known

    def headers(self, key: str | None) -> dict[str, str]:
        """Raises Problem naming a variable that is not set."""
        known = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        for name, value in self.settings.headers.items():
            known[name] = templates.expand(value, self._environ, f"headers.{name}")
        return known

    def secrets(self) -> list[str]:
        """Values out of the environment that must not appear anywhere: in headers, and in the address's query."""
        keys = self.header_keys()
        for variable in templates.variables([step.path for step in self._steps]):
            value = self._environ.get(variable, "").strip()
            inside = [part for _, part in parse_qsl(urlsplit(value).query)] if "://" in value else [value]
            keys += [form for part in inside for form in (part, quote(part, safe="/:"))]
        return list(dict.fromkeys(secret for secret in keys if secret))

    def header_keys(self) -> list[str]:
        """What the environment puts into headers for keys, and whatever else it puts there that may be one."""
        keys: list[str] = []
        for name, value in self.settings.headers.items():
            for variable in templates.variables([value]):
                known = self._environ.get(variable, "").strip()
                if known and (literal_keys.is_for_keys(name) or len(known) >= SHORTEST_KEY):
                    keys.append(known)
        return keys

    def compose(self, prompt: Prompt) -> bytes:
        values = pieces(prompt, self._used, self.settings)
        if self._is_plain:
            return self._head + reading.dumps(templates.fill(self._steps[0].body, values)) + b"}"
        return reading.dumps({**self._plan, "values": values})

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        if self._is_plain:
            body = sent[len(self._head) : -1]
            return self._answer(await self._post(wire, self._path(self._steps[0].path), body))
        values: dict[str, Any] = reading.loads(sent)["values"]
        if "attempt_id" in self._used:
            values["attempt_id"] = uuid.uuid4().hex
        for step, saves in zip(self._steps[:-1], self._saves[:-1], strict=True):
            await self._take(step, saves, values, wire)
        last, saves = self._steps[-1], self._saves[-1]
        if self.settings.session == "replay":
            for before in _turns(values, self._role("student"), *self._keys()):
                self._answer(await self._take(last, saves, values | before, wire))
        return self._answer(await self._take(last, saves, values, wire))

    def _role(self, role: Literal["student", "teacher"]) -> str:
        return self.settings.roles.get(role, "user" if role == "student" else "assistant")

    def _keys(self) -> tuple[str, str]:
        keys = self.settings.message_keys
        return keys.get("role", "role"), keys.get("content", "content")

    async def _take(
        self, step: Step, saves: Mapping[str, templates.Path], values: dict[str, Any], wire: Wire
    ) -> WireReply:
        if step.unless_empty is not None and not values.get(step.unless_empty):
            return WireReply(204, {}, b"null")
        path = templates.fill_path(self._path(step.path), values)
        reply = await self._post(wire, path, reading.dumps(templates.fill(step.body, values)))
        if saves:
            answer = reading.load_any(reply)
            for name, where in saves.items():
                value = templates.walk(answer, where)
                if value is templates.MISSING or value is None:
                    raise self._absent(step.save[name], answer, reply)
                values[name] = value
        return reply

    async def _post(self, wire: Wire, path: str, body: bytes) -> WireReply:
        reply = await wire.post(path, body)
        if not 200 <= reply.status < 300:
            raise classify.fault(reply, self._now)
        return reply

    def _answer(self, reply: WireReply) -> Answer:
        data = reading.load_any(reply)
        value = templates.walk(data, self._reply)
        error = templates.walk(data, self._error)
        if error is not templates.MISSING and error and error != value:
            raise classify.embedded_fault(error, reply, self._now)
        if value is templates.MISSING:
            raise self._absent(self.settings.reply, data, reply)
        text = reading.joined(value)
        refusal = self._pattern.search(text) if self._pattern else None
        if refusal is not None:
            said = reading.shown(text[refusal.start() :], reading.LONGEST_MESSAGE)
            raise Fault(
                "server",
                f"the service failed: {said}",
                TRANSIENT,
                status=reply.status,
                text=text[: refusal.start()],
            )
        counts = reading.Counts(None)
        paths = self.settings.usage
        usage = Usage(
            **{str(name): counts.checked(paths[name], _found(data, self._usage[name])) for name in paths}
        )
        request_id = reply.headers.get("x-request-id")
        return reading.settle(text, usage, request_id=request_id, warnings=counts.warnings)

    def _absent(self, path: str, data: Any, reply: WireReply) -> Fault:
        error = templates.walk(data, self._error)
        if error is not templates.MISSING and error:
            return classify.embedded_fault(error, reply, self._now)
        seen = reading.shown(reply.body, reading.LONGEST_MESSAGE)
        return Fault("malformed", f"nothing at {path} in the answer; found {seen}", TRANSIENT, status=reply.status)


def _found(data: Any, path: templates.Path) -> Any:
    value = templates.walk(data, path)
    return None if value is templates.MISSING else value


def _turns(values: Mapping[str, Any], student: str, role_key: str, content_key: str) -> list[dict[str, Any]]:
    """What the placeholders were at each student utterance before the last one."""
    messages: list[dict[str, str]] = values["messages"]
    places = [place for place, message in enumerate(messages) if message[role_key] == student]
    return [
        {
            "last_student": messages[place][content_key],
            "messages": messages[: place + 1],
            "history": messages[:place],
        }
        for place in places[:-1]
    ]
