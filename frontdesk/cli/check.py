"""``tutor-arena check CONFIG``: validate a configuration and ask each endpoint once."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontdesk.runner.config import Config
    from gateway.engine import Gateway


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", type=Path, help="a TOML configuration")
    parser.add_argument("--offline", action="store_true", help="validate only; ask nobody")


def run(args: argparse.Namespace) -> int:
    from frontdesk.runner import config as configuration
    from frontdesk.runner import prepare
    from gateway.adapters.catalog import build
    from gateway.engine import Gateway

    config = configuration.load(args.config)
    adapters = {name: build(name, config.endpoints[name]) for name in config.used_endpoints()}
    gateway = Gateway(adapters, offline=args.offline)
    prepare.check(config)
    print(f"{args.config}: valid; {len(adapters)} endpoints used")
    return 0 if args.offline else asyncio.run(_ask_each(gateway, config))


async def _ask_each(gateway: Gateway, config: Config) -> int:
    from gateway.errors import CallFailed
    from gateway.prompt import Message, Prompt
    from runstore.records import Utterance

    question = "Why does binary search need a sorted list? Answer in one sentence."
    prompt = Prompt(
        role="teacher",
        messages=(Message("system", "You are a teacher."), Message("user", question)),
        transcript=(Utterance(role="student", text=question),),
        fields={"dialogue_id": "check", "subset_id": "check", "topic": "binary search", "style": "socratic"},
    )
    worst = 0
    async with gateway:
        for name in config.used_endpoints():
            try:
                answer = await gateway.ask(name, prompt, stage="check", item="check")
            except CallFailed as failed:
                worst = 1
                print(f"{name}: FAILED, {failed.kind}: {failed.message}")
            else:
                print(f"{name}: answers in {answer.latency_s:.2f} s ({answer.model or 'model not named'})")
    return worst
