"""The Ureka tutor server, as a preset of the ``http`` kind: a new chat, its history, the last utterance.

The server stores the student's utterance before it answers, so asking again in the same chat would say it
twice: every attempt makes a chat of its own. A failure of its model comes as text in a successful answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from gateway.adapters.base import EndpointSettings
from gateway.adapters.http import HttpAdapter, HttpSettings, Step
from gateway.adapters.http_settings import SAMPLING
from gateway.adapters.waits import Clock
from runstore.numbers import YesNo

_LOCAL = "http://127.0.0.1:8000"


class UrekaSettings(EndpointSettings):
    """``plain`` asks the server's own baseline (one plain model call) instead of its tutor."""

    useless: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (*SAMPLING, "accept_truncated", "system", "style"), "the server takes none; leave it out"
    )

    base_url: str | list[str] | None = _LOCAL
    plain: YesNo = False
    headers: dict[str, str] = Field(default_factory=dict[str, str])


class UrekaAdapter(HttpAdapter):
    Settings: ClassVar[type[EndpointSettings]] = UrekaSettings
    reads_again = True

    def __init__(
        self, settings: UrekaSettings, *, environ: Mapping[str, str] = os.environ, now: Clock = time.time
    ) -> None:
        chat = "/simple-chat" if settings.plain else "/chat"
        steps = [
            Step(
                path="/projects/", body={"title": "tutor-arena", "description": "comparison"}, save={"chat": "id"}
            ),
            Step(path="/set-chat-history/{chat}", body="{history}", unless_empty="history"),
            Step(path=chat + "/{chat}", body={"role": "user", "message": "{last_student}"}),
        ]
        common = settings.model_dump(include=set(EndpointSettings.model_fields), exclude_unset=True)
        super().__init__(
            HttpSettings.model_validate(
                common
                | {
                    "base_url": settings.base_url or _LOCAL,
                    "headers": settings.headers,
                    "steps": steps,
                    "reply": "ai_response",
                    "error_pattern": r"\[ERROR:",
                    "message_keys": {"content": "message"},
                }
            ),
            environ=environ,
            now=now,
        )
