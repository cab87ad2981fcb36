"""Each endpoint asked once, before a run: does it answer, how fast, and as which model?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from frontdesk.runner import prepare
from frontdesk.runner.config import Config
from gateway.adapters.catalog import build
from gateway.engine import Gateway
from gateway.errors import CallFailed
from gateway.prompt import Answer, Message, Prompt
from gateway.secrets import words_of
from runstore.records import Utterance

QUESTION = "Why is the sky blue at noon and red at sunset? Answer in one sentence."


def gateway_of(config: Config, *, offline: bool = False) -> Gateway:
    """The endpoints that a configuration uses, opened, with everything else about it checked.

    Raises Problem, InputProblem for whatever would keep a run from its first call; ``offline`` needs no keys.
    """
    adapters = {name: build(name, config.endpoints[name]) for name in config.used_endpoints()}
    gateway = Gateway(adapters, offline=offline, words=words_of(config.model_dump()))
    prepare.check(config)
    return gateway


async def ask_each(gateway: Gateway, names: Sequence[str]) -> AsyncIterator[tuple[str, Answer | CallFailed]]:
    """Every endpoint's answer to one short question, or how it failed, one after the other."""
    prompt = Prompt(
        role="teacher",
        messages=(Message("system", "You are a teacher."), Message("user", QUESTION)),
        transcript=(Utterance(role="student", text=QUESTION),),
        fields={"dialogue_id": "check", "subset_id": "check", "topic": "light", "style": "simple"},
    )
    async with gateway:
        for name in names:
            try:
                answer = await gateway.ask(name, prompt, stage="check", item="check")
            except CallFailed as failed:
                yield name, failed
            else:
                yield name, answer
