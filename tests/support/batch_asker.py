"""A small program that asks by batch and prints what it got: for tests that kill it.

``python tests/support/batch_asker.py PORT JOURNAL QUESTIONS``: each of three providers is asked every question,
and then a second one that quotes the first answer.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import orjson

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gateway.batches.runner import BatchRunner
from gateway.crowd import each
from gateway.engine import Gateway
from gateway.prompt import Ask
from runstore.journal import Journal
from tests.support.asking import chat

KINDS = ("openai", "anthropic", "gemini")


def endpoints(url: str, **more: Any) -> dict[str, dict[str, Any]]:
    return {
        kind: {
            "kind": kind,
            "model": "fake-1",
            "base_url": url + ("/v1" if kind == "openai" else ""),
            "api_key_env": "A_KEY",
            "price": {"input": 2.0, "output": 4.0},
            **more,
        }
        for kind in KINDS
    }


async def answers(ask: Ask, questions: int, kinds: tuple[str, ...] = KINDS) -> list[tuple[str, str]]:
    """First and second answer to each question, of those that have both."""

    async def both(item: tuple[str, int]) -> tuple[str, str]:
        kind, number = item
        first = await ask(kind, chat(f"Question {number}?"), repeat=number % 2, stage="score", item=f"q{number}")
        second = await ask(kind, chat(f"And {first.text}?"), stage="score", item=f"q{number}")
        return first.text, second.text

    work = [(kind, number) for kind in kinds for number in range(questions)]
    return (await each(work, both, at_once=len(work))).results()


async def main(port: str, folder: str, questions: str) -> None:
    journal = Journal(Path(folder))
    table = endpoints(f"http://127.0.0.1:{port}", timeout_s=20)
    async with Gateway.open(table, journal=journal, environ={"A_KEY": "k-123456789"}) as gateway:
        runner = BatchRunner(gateway, KINDS, poll_s=0.02)
        found = await runner.whole(lambda ask: answers(ask, int(questions)))
    journal.close()
    sys.stdout.buffer.write(orjson.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
