"""What a template can ask for: a prompt in pieces.

In a teacher's prompt the pieces are the dialogue itself, as it was said; in any other prompt they are its
messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from gateway.adapters.http_settings import HttpSettings
from gateway.prompt import Prompt

FIELD_NAMES = frozenset({"persona", "topic", "style", "dialogue_id", "subset_id", "response_a", "response_b"})
_Said = tuple[Literal["student", "teacher", "system"], str]


def pieces(prompt: Prompt, wanted: Iterable[str], settings: HttpSettings) -> dict[str, Any]:
    """The wanted placeholders of a prompt; a field that the prompt does not have is an empty text."""
    said = _said(prompt)
    values: dict[str, Any] = {}
    for name in sorted(wanted):
        if name in _PIECES:
            values[name] = _PIECES[name](prompt, said, settings)
        elif name in FIELD_NAMES:
            values[name] = prompt.fields.get(name, "")
        elif name == "model":
            values[name] = settings.model or ""
    return values


def _said(prompt: Prompt) -> list[_Said]:
    if prompt.role == "teacher" and prompt.transcript:
        return [(utterance.role, utterance.text) for utterance in prompt.transcript]
    return [
        ("teacher" if message.role == "assistant" else "student", message.content)
        for message in prompt.messages
        if message.role != "system"
    ]


def _system(prompt: Prompt) -> str:
    first = prompt.messages[0] if prompt.messages else None
    return first.content if first is not None and first.role == "system" else ""


def _shaped(said: Iterable[_Said], settings: HttpSettings) -> list[dict[str, str]]:
    roles = {"student": "user", "teacher": "assistant", "system": "system"} | settings.roles
    role, content = settings.message_keys.get("role", "role"), settings.message_keys.get("content", "content")
    return [{role: roles[speaker], content: text} for speaker, text in said]


def _messages(_: Prompt, said: list[_Said], settings: HttpSettings) -> Any:
    return _shaped(said, settings)


def _all_messages(prompt: Prompt, said: list[_Said], settings: HttpSettings) -> Any:
    system = _system(prompt)
    return _shaped([("system", system), *said] if system else said, settings)


def _history(_: Prompt, said: list[_Said], settings: HttpSettings) -> Any:
    return _shaped(said[: _last_student(said)], settings)


def _transcript(_: Prompt, said: list[_Said], __: HttpSettings) -> Any:
    return "\n\n".join(f"{speaker.capitalize()}: {text}" for speaker, text in said)


def _last(_: Prompt, said: list[_Said], __: HttpSettings) -> Any:
    return said[_last_student(said)][1] if said else ""


def _last_student(said: list[_Said]) -> int:
    return next((place for place in reversed(range(len(said))) if said[place][0] == "student"), len(said) - 1)


_PIECES: dict[str, Callable[[Prompt, list[_Said], Any], Any]] = {
    "messages": _messages,
    "all_messages": _all_messages,
    "history": _history,
    "transcript": _transcript,
    "last_student": _last,
    "system": lambda prompt, _, __: _system(prompt),
}
KNOWN_NAMES = frozenset(_PIECES) | FIELD_NAMES | {"model", "attempt_id"}
