"""Gemini's generateContent, at the Developer API or at Vertex AI, through Google's own client.

The request is composed here, since its bytes are part of the journal's key; google-genai sends it as it is.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import model_validator

from gateway.adapters import classify, reading
from gateway.adapters.base import CredentialsWay, EndpointSettings, Wire, WireReply
from gateway.adapters.vendor import Vendor, VendorSettings, given, in_range
from gateway.adapters.waits import Clock
from gateway.answers import says_something
from gateway.errors import NO, TRANSIENT, Fault
from gateway.prompt import Answer, Message, Prompt
from runstore.numbers import Whole, YesNo
from runstore.records import Usage

if TYPE_CHECKING:
    from gateway.adapters.google_client import GoogleClient
    from gateway.adapters.google_credentials import Credentials
    from gateway.transport import Loan

_PUBLIC = "https://generativelanguage.googleapis.com"
_MULTI_REGIONS = ("us", "eu")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:_-]*")
_BLOCKED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR"}
)


class GeminiSettings(VendorSettings):
    """``thinking_budget`` (tokens, 0 off, -1 dynamic) or ``thinking_level``: only what is set is sent.

    ``vertexai``: at Vertex AI, in ``project`` and ``location``, with application default credentials.
    """

    vertexai: YesNo = False
    project: str | None = None
    location: str | None = None
    thinking_budget: Whole | None = None
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    safety: dict[str, str] | None = None

    @model_validator(mode="after")
    def _is_taken(self) -> GeminiSettings:
        in_range("temperature", self.temperature, 0, 2)
        in_range("top_p", self.top_p, 0, 1)
        if self.thinking_budget is not None and self.thinking_budget < -1:
            raise ValueError(
                f"thinking_budget: found {self.thinking_budget}, expected -1 (dynamic), 0 (off) or more"
            )
        if self.thinking_budget is not None and self.thinking_level is not None:
            raise ValueError(
                f"thinking_level: found {self.thinking_level!r} beside thinking_budget = {self.thinking_budget}, "
                "expected one of the two"
            )
        return self

    @property
    def takes_key(self) -> bool:
        return not self.vertexai

    @property
    def region(self) -> str:
        return self.location or "global"

    @model_validator(mode="after")
    def _names_what_can_be_asked(self) -> GeminiSettings:
        model = self.model or ""
        if ".." in model or any(sign in model for sign in "?&#"):
            raise ValueError(f"model: found {model!r}, expected the name of a model such as gemini-2.5-flash")
        for name in ("project", "location"):
            value: str | None = getattr(self, name)
            if value is not None and not self.vertexai:
                raise ValueError(f"{name}: only Vertex AI has one; add vertexai = true, or leave it out")
            if value is not None and not _NAME.fullmatch(value):
                raise ValueError(f"{name}: found {value!r}, expected a name such as my-project or europe-west4")
        if self.vertexai and self.project is None:
            raise ValueError("project: missing; Vertex AI needs the id of a Google Cloud project")
        if self.vertexai and self.api_key_env is not None:
            raise ValueError(
                "api_key_env: Vertex AI is asked with application default credentials; leave it out, or vertexai"
            )
        return self


class GeminiAdapter(Vendor):
    """``POST MODEL:generateContent``, the key in a header or a token of the application default credentials.

    The model (at Vertex AI with project and location) is part of the path, not of the body; so that the journal's
    key covers it, what :meth:`compose` gives is ``{"model":...,"body":...}``, and :meth:`send` cuts the body out.
    """

    Settings: ClassVar[type[EndpointSettings]] = GeminiSettings
    reads_again = True

    def __init__(self, settings: GeminiSettings, *, now: Clock = time.time) -> None:
        public = _vertex_address(settings.region) if settings.vertexai else _PUBLIC
        super().__init__(settings, public, now)
        self.model = (_vertex_model if settings.vertexai else _developer_model)(settings)
        self._version = "v1beta1" if settings.vertexai else "v1beta"
        self.resource = f"/{self._version}/{quote(self.model)}"
        """The model's path, to which the methods of the interface are added."""
        self._path = f"{self.resource}:generateContent"
        self._client: GoogleClient | None = None
        self._credentials: Credentials | None = None
        self._head = reading.dumps({"model": self.model})[:-1] + b',"body":'
        self._generation = self._static()
        self._plain = self._after(self._generation)

    def _static(self) -> dict[str, Any]:
        settings = self.settings
        thinking = given(thinkingBudget=settings.thinking_budget, thinkingLevel=_upper(settings.thinking_level))
        return given(
            temperature=settings.temperature,
            topP=settings.top_p,
            maxOutputTokens=settings.max_output_tokens,
            seed=settings.seed,
            thinkingConfig=thinking or None,
        )

    def _after(self, generation: dict[str, Any]) -> bytes:
        """What follows the contents: settings, and the two closing braces."""
        rest: dict[str, Any] = {"generationConfig": generation} if generation else {}
        if self.settings.safety:
            rest["safetySettings"] = [{"category": c, "threshold": t} for c, t in self.settings.safety.items()]
        return (b"," + reading.dumps(rest)[1:] if rest else b"}") + b"}"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"Content-Type": "application/json"} | ({"x-goog-api-key": key} if key else {})

    def compose(self, prompt: Prompt) -> bytes:
        contents: dict[str, Any] = {}
        messages = self.said(prompt)
        if messages and messages[0].role == "system":
            contents["systemInstruction"] = {"parts": [{"text": messages[0].content}], "role": "user"}
            messages = messages[1:]
        contents["contents"] = [_content(message) for message in messages]
        after = self._plain
        if prompt.schema is not None:
            form = {"responseMimeType": "application/json", "responseJsonSchema": prompt.schema.schema}
            after = self._after(self._generation | form)
        return self._head + reading.dumps(contents)[:-1] + after

    def body(self, sent: bytes) -> bytes:
        """The request's body, out of what :meth:`compose` gave."""
        return sent[len(self._head) : -1]

    def make_ready(self, way: CredentialsWay | None = None) -> None:
        """Import Google's client and find the credentials, before anything is asked. Raises Problem."""
        from gateway.adapters.google_client import GoogleClient

        settings = self.settings
        if not settings.vertexai:
            self._client = GoogleClient(self._version, settings.timeout_s)
            return
        from gateway.adapters.google_credentials import application_default

        self._credentials = application_default(way or CredentialsWay(settings.timeout_s))
        self._client = GoogleClient(
            self._version, settings.timeout_s, self._credentials, settings.project, settings.region
        )

    async def send(self, sent: bytes, wire: Wire) -> Answer:
        async def ask(loan: Loan) -> None:
            if self._client is None:
                self.make_ready()
            if self._credentials is not None:
                wire.hide(await self._credentials.token())
            if self._client is not None:
                await self._client.generate(loan, wire.base_url, self.model)

        reply = await wire.lend(self._path, self.body(sent), ask)
        if reply.status != 200:
            raise classify.fault(reply, self._now)
        body = reading.load(reply)
        candidates = body.get("candidates")
        if not candidates or body.get("error"):
            raise self._without_candidates(body, reply)
        return self._answer(reading.first(candidates), body)

    def _without_candidates(self, body: dict[str, Any], reply: WireReply) -> Fault:
        if body.get("error"):
            return classify.embedded_fault(body["error"], reply, self._now)
        usage, request_id = _usage(body)[0], body.get("responseId")
        reason = reading.as_dict(body.get("promptFeedback")).get("blockReason")
        if reason:
            return Fault("blocked", f"the prompt was blocked: {reason}", NO, usage=usage, request_id=request_id)
        if "usageMetadata" in body or "candidates" in body:
            return Fault("empty", "the reply has no candidates", TRANSIENT, usage=usage, request_id=request_id)
        return Fault(
            "malformed", f"the reply has no candidates: {reading.shown(reply.body)}", TRANSIENT, status=200
        )

    def _answer(self, candidate: dict[str, Any], body: dict[str, Any]) -> Answer:
        (usage, warnings), request_id = _usage(body), body.get("responseId")
        finish = reading.word(candidate.get("finishReason"))
        parts = reading.as_dict(candidate.get("content")).get("parts")
        text = reading.joined(parts)
        if finish in _BLOCKED:
            said = candidate.get("finishMessage")
            message = f"the reply was blocked: {finish}" + (f" ({reading.shown(str(said))})" if said else "")
            raise Fault("blocked", message, NO, text=text, usage=usage, request_id=request_id)
        tools = [reading.as_dict(part).get("functionCall") for part in reading.as_list(parts)]
        called: list[object] = [reading.as_dict(tool).get("name") for tool in tools if tool]
        if finish == "UNEXPECTED_TOOL_CALL" or (called and not says_something(text)):
            raise reading.called_tool(called, usage)
        if finish not in ("STOP", "MAX_TOKENS", None, "FINISH_REASON_UNSPECIFIED"):
            message = f"the reply ended with finish reason {finish}"
            raise Fault("malformed", message, TRANSIENT, text=text, usage=usage, request_id=request_id)
        return reading.settle(
            text,
            usage,
            model=body.get("modelVersion"),
            request_id=request_id,
            cut=reading.cut(finish, usage, self.settings.max_output_tokens),
            limit=self.settings.max_output_tokens,
            accept_truncated=self.settings.accept_truncated,
            warnings=warnings,
        )


def _developer_model(settings: GeminiSettings) -> str:
    name = settings.model or ""
    return name if name.startswith(("models/", "tunedModels/")) else f"models/{name}"


def _vertex_model(settings: GeminiSettings) -> str:
    """``gemini-2.5-flash``, ``PUBLISHER/MODEL``, or a full name (an endpoint of one's own)."""
    name = (settings.model or "").removeprefix("models/")
    if name.startswith("projects/"):
        return name
    if not name.startswith("publishers/"):
        publisher, _, model = name.rpartition("/")
        name = f"publishers/{publisher or 'google'}/models/{model}"
    return f"projects/{settings.project}/locations/{settings.region}/{name}"


def _vertex_address(region: str) -> str:
    if region == "global":
        return "https://aiplatform.googleapis.com"
    if region in _MULTI_REGIONS:
        return f"https://aiplatform.{region}.rep.googleapis.com"
    return f"https://{region}-aiplatform.googleapis.com"


def _content(message: Message) -> dict[str, Any]:
    role = "model" if message.role == "assistant" else "user"
    return {"parts": [{"text": message.content}], "role": role}


def _usage(body: dict[str, Any]) -> tuple[Usage, tuple[str, ...]]:
    """Counts of nothing are left out by the provider; what the total leaves for the text then is its count."""
    counts = reading.Counts(body.get("usageMetadata"))
    read, thinking, tools = map(counts, ("promptTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"))
    read = read if read is None else read + (tools or 0)
    written = counts("candidatesTokenCount")
    if written is None and read is not None and not counts.warnings:
        total = counts("totalTokenCount")
        written = None if total is None else max(0, total - read - (thinking or 0))
    cached = counts("cachedContentTokenCount")
    return Usage(input=read, output=written, thinking=thinking, cached=cached), counts.warnings


def _upper(value: str | None) -> str | None:
    return None if value is None else value.upper()
