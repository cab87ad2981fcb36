"""Tokens billed for simulated dialogues, by the order of prompts and by marks.  python bench/caching.py

A provider on loopback bills as Claude and Gemini do. Claude reads what an earlier call marked and writes what this
one marks (1.25 of a token's price, read back at 0.1; nothing under 1,024 tokens is cached); Gemini finds by itself
what earlier calls began with (0.25, from 1,024 tokens on). Tokens are characters by 4. The dialogues are those of
``simulate``: planned acts, a steered style, a student and a teacher.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import web

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import seed_questions
from gateway.engine import Gateway
from gateway.prompt import Answer, Message, Prompt
from personas import assign, generate
from simulator.conversation import Conversation, converse
from simulator.roles import Roles
from simulator.style.profile import load
from simulator.style.steering import Directions, Steering

LEAST = 1024
PRICES = {
    "anthropic": {"fresh": 1.0, "read": 0.1, "written": 1.25},
    "gemini": {"fresh": 1.0, "read": 0.25, "written": 1.0},
}
SAID = {
    "student": "hm so it looks at the smaller child first and then swaps, is that it",
    "teacher": "Good. Take the list 4, 1, 3 and put it into a heap. Which two elements would you compare first, "
    "and what would have to be true of them for a swap to happen? Write down how the tree looks after that.",
}


@dataclass
class Provider:
    """Both shapes; counts what it would bill."""

    known: set[bytes] = field(default_factory=set)
    tokens: dict[str, int] = field(default_factory=lambda: {"fresh": 0, "read": 0, "written": 0})
    calls: int = 0

    async def messages(self, request: web.Request) -> web.Response:
        body = await request.json()
        blocks: list[tuple[str, bool]] = []
        for content in (body.get("system", ""), *(message["content"] for message in body["messages"])):
            parts = [{"text": content}] if isinstance(content, str) else content
            blocks += [(part["text"], "cache_control" in part) for part in parts]
        read, marked = self._prefixes(blocks)
        whole = sum(size(text) for text, _ in blocks)
        counts = {"fresh": whole - marked, "read": read, "written": marked - read}
        self._bill(counts)
        usage = {
            "input_tokens": counts["fresh"], "cache_read_input_tokens": counts["read"],
            "cache_creation_input_tokens": counts["written"], "output_tokens": 30,
        }  # fmt: skip
        text = said_by(" ".join(text for text, _ in blocks))
        return web.json_response(
            {
                "id": "m",
                "model": "m",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": usage,
            }
        )

    def _prefixes(self, blocks: list[tuple[str, bool]]) -> tuple[int, int]:
        """Tokens of the longest known prefix, and up to the last mark; every marked prefix is known then."""
        hasher, so_far, read, marked = hashlib.blake2b(), 0, 0, 0
        new: list[bytes] = []
        last = max((at for at, (_, is_marked) in enumerate(blocks) if is_marked), default=-1)
        for at, (text, is_marked) in enumerate(blocks[: last + 1]):
            hasher.update(text.encode() + b"\0")
            so_far += size(text)
            if so_far >= LEAST:
                read = so_far if hasher.digest() in self.known else read
                marked = so_far if is_marked else marked
                if is_marked:
                    new.append(hasher.digest())
            del at
        self.known.update(new)
        return min(read, marked), marked

    async def generate(self, request: web.Request) -> web.Response:
        body = await request.json()
        turns = [body.get("systemInstruction") or {}, *body["contents"]]
        whole = "\0".join(part["text"] for turn in turns for part in turn.get("parts", []))
        read = 0
        for end in range(4 * 128, len(whole) + 1, 4 * 128):
            prefix = hashlib.blake2b(whole[:end].encode()).digest()
            read = end // 4 if prefix in self.known and end // 4 >= LEAST else read
            self.known.add(prefix)
        self._bill({"fresh": size(whole) - read, "read": read, "written": 0})
        usage = {"promptTokenCount": size(whole), "cachedContentTokenCount": read, "candidatesTokenCount": 30}
        candidate = {"content": {"role": "model", "parts": [{"text": said_by(whole)}]}, "finishReason": "STOP"}
        return web.json_response({"candidates": [candidate], "usageMetadata": usage})

    def _bill(self, counts: Mapping[str, int]) -> None:
        self.calls += 1
        for name, count in counts.items():
            self.tokens[name] += count


def size(text: str) -> int:
    return max(1, len(text) // 4)


def said_by(text: str) -> str:
    return SAID["student" if "You play one student" in text else "teacher"]


def unordered(prompt: Prompt) -> Prompt:
    """The same text as one message, what changes first: direction, then dialogue, then persona and rules."""
    told = [f"{message.role}: {message.content}" for message in reversed(prompt.messages)]
    return replace(prompt, messages=(Message("user", "\n\n".join(told)),))


async def simulate(
    kind: str, settings: dict[str, Any], address: str, args: argparse.Namespace, *, ordered: bool
) -> None:
    endpoint = {"kind": kind, "model": "m", "base_url": address, **settings}
    people, roles = generate(), Roles.load()
    questions = seed_questions.load(seed_questions.path_of_bank(seed_questions.DEFAULT))
    steering = Steering(load("people", "en"), Directions.load("en"), candidates=1)
    how = Conversation(
        student="x", teacher="x", turns=args.turns, acts="planned", steering=steering, stays=True, seed=7
    )
    async with Gateway.open(
        {"x": endpoint}, environ={"ANTHROPIC_API_KEY": "k" * 24, "GEMINI_API_KEY": "k" * 24}
    ) as gateway:

        async def ask(
            endpoint: str, prompt: Prompt, *, repeat: int = 0, stage: str = "", item: str = ""
        ) -> Answer:
            own = prompt if ordered else unordered(prompt)
            return await gateway.ask(endpoint, own, repeat=repeat, stage=stage, item=item)

        for at, (who, question) in enumerate(assign(people, questions, args.dialogues, 7)):
            held = await converse(ask, who, question, how, roles, place=at)
            assert held.failure is None, held.failure


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=48)
    parser.add_argument("--turns", type=int, default=8)
    args = parser.parse_args()
    arms: list[tuple[str, str, dict[str, Any], bool]] = [
        ("anthropic", "what changes first, no marks", {}, False),
        ("anthropic", "what changes last, no marks", {}, True),
        ("anthropic", "system marked (cache_prompt = true)", {"cache_prompt": True}, True),
        ("anthropic", 'dialogue marked (cache_prompt = "dialogue")', {"cache_prompt": "dialogue"}, True),
        ("gemini", "what changes first", {}, False),
        ("gemini", "what changes last", {}, True),
    ]
    base: dict[str, float] = {}
    print(f"{args.dialogues} dialogues of {args.turns} turns; billed: input tokens in units of an uncached one")
    for kind, name, settings, ordered in arms:
        provider = Provider()
        app = web.Application()
        app.router.add_post("/v1/messages", provider.messages)
        app.router.add_post("/{path:.*}", provider.generate)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        await simulate(kind, settings, f"http://127.0.0.1:{port}", args, ordered=ordered)
        await runner.cleanup()
        billed = sum(PRICES[kind][part] * count for part, count in provider.tokens.items())
        first = base.setdefault(kind, billed)
        print(
            f"  {kind:10} {name:46} {provider.calls:5} calls, sent {sum(provider.tokens.values()):9,}, read "
            f"{provider.tokens['read']:9,}, written {provider.tokens['written']:8,}, billed {billed:11,.0f} "
            f"({billed / first:.0%}), {billed / args.dialogues:7,.0f} a dialogue",
            flush=True,
        )


if __name__ == "__main__":
    asyncio.run(main())
