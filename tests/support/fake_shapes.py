"""The wire shapes of the providers: reading what was asked, and writing an answer as each of them would."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

import orjson

Shape = Literal["openai", "gemini", "anthropic", "bedrock", "http", "ureka"]
Role = Literal["student", "teacher", "judge", "schema"]


@dataclass(slots=True)
class Asked:
    """One model request: ``key`` is all of it that decides the answer."""

    shape: Shape
    role: Role
    model: str
    texts: list[str]
    schema: dict[str, Any] | None
    path: str
    body: Any
    key: bytes
    headers: dict[str, str] = field(default_factory=dict)
    attempt: int = 1

    @property
    def last(self) -> str:
        return self.texts[-1] if self.texts else ""


def shape_of(path: str) -> Shape:
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return "openai"
    if ":generateContent" in path:
        return "gemini"
    if path.endswith("/v1/messages"):
        return "anthropic"
    if path.startswith("/model/") and path.endswith("/converse"):
        return "bedrock"
    if path.startswith(("/projects", "/set-chat-history/", "/chat/", "/simple-chat/")):
        return "ureka"
    return "http"


def read(path: str, body: Any, key: bytes) -> Asked:
    """What a body asks. ``body`` is parsed JSON, whatever it holds."""
    shape = shape_of(path)
    body = body if isinstance(body, dict) else {"messages": body}
    schema: Any = None
    model = str(body.get("model", ""))
    if shape == "gemini":
        model = path.split("/models/")[-1].split(":")[0]
        turns = [body.get("systemInstruction") or {}, *(body.get("contents") or [])]
        texts = [part.get("text", "") for turn in turns for part in turn.get("parts", [])]
        schema = (body.get("generationConfig") or {}).get("responseJsonSchema")
    elif shape == "bedrock":
        model = unquote(path.split("/")[2])
        texts = [_text(body["system"])] if body.get("system") else []
        texts += [_text(message.get("content")) for message in body.get("messages") or []]
        form = ((body.get("outputConfig") or {}).get("textFormat") or {}).get("structure") or {}
        schema = orjson.loads(form["jsonSchema"]["schema"]) if form else None
    elif shape in ("openai", "anthropic"):
        texts = [_text(body["system"])] if body.get("system") else []
        texts += [_text(message.get("content")) for message in body.get("messages") or []]
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        schema = schema or ((body.get("output_config") or {}).get("format") or {}).get("schema")
    else:
        texts = list(_all_texts(body))
    return Asked(shape, _role(model, texts, schema), model, texts, schema, path, body, key)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _all_texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in values for text in _all_texts(item)]


def _role(model: str, texts: list[str], schema: Any) -> Role:
    """By the model's name, else by what the prompts of a role have to ask for: ``###`` or ``<END>``."""
    if schema is not None:
        return "schema"
    for role in ("student", "teacher", "judge"):
        if role in model:
            return role
    if any("###" in text and "(a)" in text for text in texts):
        return "judge"
    return "student" if texts and "<END>" in texts[0] else "teacher"


def _counts(asked: Asked, text: str) -> tuple[int, int]:
    return max(1, sum(map(len, asked.texts)) // 4), max(1, len(text) // 4)


def answer(asked: Asked, text: str, *, finish: str = "stop", number: int = 0) -> bytes:
    """A whole, successful answer. ``finish``: stop, length, blocked, refused."""
    return orjson.dumps(_ANSWERS[asked.shape](asked, text, finish, number))


def _openai(asked: Asked, text: str | None, finish: str, number: int) -> Any:
    read, written = _counts(asked, text or "")
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if finish == "refused":
        message |= {"content": None, "refusal": "I cannot help with that."}
    reasons = {"blocked": "content_filter", "refused": "stop"}
    return {
        "id": f"chatcmpl-{asked.key.hex()[:12]}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.model,
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": reasons.get(finish, finish)}
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    }


def _gemini(asked: Asked, text: str | None, finish: str, number: int) -> Any:
    read, written = _counts(asked, text or "")
    reasons = {"stop": "STOP", "length": "MAX_TOKENS", "blocked": "SAFETY", "refused": "SAFETY"}
    content: dict[str, Any] = {"role": "model"}
    if text and finish in ("stop", "length"):
        content["parts"] = [{"text": text}]
    return {
        "candidates": [{"content": content, "finishReason": reasons[finish], "index": 0}],
        "usageMetadata": {
            "promptTokenCount": read,
            "candidatesTokenCount": written,
            "totalTokenCount": read + written,
        },
        "modelVersion": asked.model,
        "responseId": asked.key.hex()[:16],
    }


def _anthropic(asked: Asked, text: str | None, finish: str, number: int) -> Any:
    read, written = _counts(asked, text or "")
    reasons = {"stop": "end_turn", "length": "max_tokens", "blocked": "refusal", "refused": "refusal"}
    return {
        "id": f"msg_{asked.key.hex()[:12]}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": reasons[finish],
        "stop_sequence": None,
        "usage": {
            "input_tokens": read,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": written,
        },
    }


def _bedrock(asked: Asked, text: str | None, finish: str, number: int) -> Any:
    read, written = _counts(asked, text or "")
    reasons = {"stop": "end_turn", "length": "max_tokens", "blocked": "guardrail_intervened"}
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text}] if text else []}},
        "stopReason": reasons.get(finish, "content_filtered"),
        "usage": {"inputTokens": read, "outputTokens": written, "totalTokens": read + written},
        "metrics": {"latencyMs": 1},
    }


def _http(asked: Asked, text: str | None, finish: str, number: int) -> Any:
    read, written = _counts(asked, text or "")
    return {
        "id": f"s-{number}",
        "reply": text,
        "data": {"answer": text},
        "usage": {"input": read, "output": written},
    }


def _ureka(asked: Asked, text: str | None, finish: str, number: int) -> Any:
    return {"ai_response": text}


_ANSWERS = {
    "openai": _openai,
    "gemini": _gemini,
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "http": _http,
    "ureka": _ureka,
}


def error(shape: Shape, status: int, message: str, details: list[Any] | None = None) -> dict[str, Any]:
    """An error object as each provider writes it."""
    if shape == "gemini":
        names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
        names |= {429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
        whole = {"code": status, "message": message, "status": names.get(status, "UNKNOWN")}
        return {"error": whole | ({"details": details} if details else {})}
    if shape == "anthropic":
        kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
        kinds |= {429: "rate_limit_error", 529: "overloaded_error"}
        inner = {"type": kinds.get(status, "api_error"), "message": message}
        return {"type": "error", "error": inner | ({"details": details} if details else {})}
    if shape == "bedrock":
        return {"message": message}
    if shape in ("http", "ureka"):
        return {"detail": message} if not details else {"error": {"message": message, "details": details}}
    kinds = {400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_exceeded"}
    inner = {"message": message, "type": kinds.get(status, "server_error"), "param": None, "code": None}
    return {"error": inner | ({"details": details} if details else {})}
