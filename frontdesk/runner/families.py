"""Which endpoints are of one family of models: a judge may favour what sounds like itself."""

from __future__ import annotations

import re

from gateway.adapters.base import EndpointSettings

MAKERS: tuple[tuple[str, str], ...] = (
    (r"gemini|gemma|palm|learnlm", "google"),
    (r"gpt|chatgpt|davinci|o[1-9](?:-|$)", "openai"),
    (r"claude", "anthropic"),
    (r"llama", "meta"),
    (r"qwen|qwq", "alibaba"),
    (r"mistral|mixtral|ministral|magistral|codestral", "mistral"),
    (r"deepseek", "deepseek"),
    (r"grok", "xai"),
    (r"phi-?\d", "microsoft"),
    (r"command-(?:a|r)|aya", "cohere"),
    (r"exaone", "lg"),
    (r"solar", "upstage"),
    (r"smollm", "huggingface"),
)
_KINDS = {"gemini": "google", "anthropic": "anthropic"}


def family_of(settings: EndpointSettings) -> str | None:
    """The family an endpoint declares, or the maker that its model's name or its kind tells; None where unknown.

    Two endpoints with one and the same model name are of a family whoever made it.
    """
    if settings.family is not None:
        return settings.family.strip().casefold() or None
    model = (settings.model or "").rsplit("/", 1)[-1].casefold()
    for pattern, maker in MAKERS:
        if re.match(rf"(?:{pattern})", model):
            return maker
    return _KINDS.get(settings.kind) or (f"model {model}" if model else None)
