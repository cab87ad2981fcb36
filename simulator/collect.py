"""Subsets -> every endpoint's replies."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.adapters.base import EndpointSettings
from gateway.errors import CallFailed
from gateway.prompt import Ask
from runstore.ids import hashed_number
from runstore.records import Reply, Subset
from simulator.roles import SIMPLE, Roles
from simulator.speech import read_reply


async def reply_to(
    ask: Ask, subset: Subset, endpoint: str, roles: Roles, settings: EndpointSettings | None = None
) -> Reply:
    """One endpoint's answer to one subset, as the teacher: whole, as it came.

    Raises CallFailed (kind ``empty`` for a blank).
    """
    style = (settings.style if settings is not None else None) or SIMPLE
    system = settings.system if settings is not None else None
    fields = {"dialogue_id": subset.dialogue, "subset_id": subset.id, "topic": subset.subject}
    prompt = roles.teacher_prompt(subset.history, style, fields, system)
    answer = await ask(endpoint, prompt, repeat=hashed_number(subset.id), stage="collect", item=subset.id)
    speech = read_reply(answer.text)
    if speech.is_blank:
        raise CallFailed(endpoint, "empty", "the reply has no visible character", 1, answer.text)
    return Reply(
        subset=subset.id,
        dialogue=subset.dialogue,
        endpoint=endpoint,
        text=speech.text,
        finish=answer.finish,
        usage=answer.usage,
        latency_s=None if answer.latency_s is None else float(round(answer.latency_s)),
        cost_usd=answer.cost_usd,
        warnings=(*answer.warnings, *speech.notes),
        removed=speech.removed,
    )


def styles_of(endpoints: Mapping[str, EndpointSettings]) -> list[str]:
    """The teacher styles that these endpoints ask for, the default first."""
    named = {settings.style for settings in endpoints.values() if settings.style}
    return [SIMPLE, *sorted(named - {SIMPLE})]
