"""One measured client in a process of its own: prints a JSON line with its figures. Used by bench/gateway.py.

python bench/gateway_client.py bare --port P --calls 20000 --in-flight 100
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gateway.engine import Gateway
from gateway.prompt import Message, Prompt
from runstore.journal import Journal
from runstore.records import Utterance

SAID = "I added the tops and I added the bottoms, so one half and one third made two fifths; is that not right? "
BARE_PATHS = {
    "openai": "/v1/chat/completions",
    "gemini": "/v1beta/models/m:generateContent",
    "anthropic": "/v1/messages",
    "http": "/reply",
}


def prompt(number: int) -> Prompt:
    """About 1.2 KB in four messages, each call another."""
    texts = (SAID * 2, SAID * 2, f"{number:07d} {SAID * 3}")
    messages = (
        Message("system", "You are a patient teacher. " + SAID * 3),
        Message("user", texts[0]),
        Message("assistant", texts[1]),
        Message("user", texts[2]),
    )
    said = tuple(Utterance(role="teacher" if i % 2 else "student", text=text) for i, text in enumerate(texts))
    return Prompt("teacher", messages, said)


def settings(kind: str, port: int, in_flight: int) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}"
    common: dict[str, Any] = {"kind": kind, "concurrency": in_flight, "timeout_s": 120.0}
    if kind == "http":
        body = {"history": "{messages}", "question": "{last_student}"}
        return {**common, "url": url + "/reply", "body": body, "reply": "data.answer"}
    if kind == "ureka":
        return {**common, "base_url": url}
    base = url + ("/v1" if kind == "openai" else "")
    return {**common, "base_url": base, "model": "m", "temperature": 1.0, "max_output_tokens": 256}


async def crowd(calls: int, in_flight: int, one: Callable[[int], Awaitable[object]]) -> None:
    numbers = iter(range(calls))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


async def bare(args: argparse.Namespace) -> dict[str, float]:
    """A tuned aiohttp client that does nothing but the call: bytes out, JSON in, text found."""
    path = BARE_PATHS[args.kind]
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=75)
    headers = {"Authorization": "Bearer sk-x", "Content-Type": "application/json", "Accept-Encoding": "identity"}
    async with aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None),
        skip_auto_headers=("User-Agent", "Accept"),
    ) as session:

        async def one(number: int) -> None:
            asked = prompt(number)
            messages = [{"role": message.role, "content": message.content} for message in asked.messages]
            body = {"model": "m", "messages": messages, "temperature": 1.0, "max_tokens": 256}
            async with session.post(f"http://127.0.0.1:{args.port}{path}", data=orjson.dumps(body)) as reply:
                orjson.loads(await reply.read())

        return await measured(args, one)


async def google(args: argparse.Namespace) -> dict[str, float]:
    """google-genai as the engine uses it: a body of one's own in, the raw body out, over a tuned session."""
    from google import genai
    from google.genai import types

    tls = ssl.create_default_context()
    raw = types.GenerateContentConfig(
        should_return_http_response=True,
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=75),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
    ) as session:
        options = types.HttpOptions(
            base_url=f"http://127.0.0.1:{args.port}",
            api_version="v1beta",
            aiohttp_client=session,
            client_args={"verify": tls},
            async_client_args={"ssl": tls, "verify": tls},
        )
        client = genai.Client(vertexai=False, api_key="x", http_options=options)

        async def one(number: int) -> None:
            asked = prompt(number)
            turns = [{"parts": [{"text": m.content}], "role": m.role} for m in asked.messages[1:]]
            system = {"parts": [{"text": asked.messages[0].content}], "role": "user"}
            limits = {"temperature": 1.0, "maxOutputTokens": 256}
            body = {"systemInstruction": system, "contents": turns, "generationConfig": limits}
            config = raw.model_copy(update={"http_options": types.HttpOptions(extra_body=body)})
            reply = await client.aio.models.generate_content(model="m", contents=".", config=config)
            orjson.loads(reply.sdk_http_response.body)

        return await measured(args, one)


async def engine(args: argparse.Namespace) -> dict[str, float]:
    """The whole engine with its journal, every call written before its answer is given back."""
    with tempfile.TemporaryDirectory(prefix="tutor-arena-bench-") as folder:
        journal = Journal(Path(folder))
        async with Gateway.open({"t": settings(args.kind, args.port, args.in_flight)}, journal=journal) as gateway:
            found = await measured(
                args, lambda number: gateway.ask("t", prompt(number), stage="collect", item="s-0123456789ab")
            )
        assert len(journal) == args.calls + args.warm_up, "a call was not recorded"
        journal.close()
        return found


async def measured(args: argparse.Namespace, one: Callable[[int], Awaitable[object]]) -> dict[str, float]:
    if args.warm_up:
        await crowd(args.warm_up, args.in_flight, lambda number: one(-1 - number))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, cpu = time.perf_counter(), time.process_time()
    await crowd(args.calls, args.in_flight, one)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    return {
        "rate": args.calls / wall,
        "cpu_ms": 1000 * cpu / args.calls,
        "bytes_per_call": 1024 * grown / args.calls,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=("bare", "google", "engine"))
    parser.add_argument("--kind", default="openai")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--warm-up", type=int, default=0)
    parser.add_argument("--in-flight", type=int, default=100)
    parser.add_argument("--core", type=int, default=None)
    args = parser.parse_args()
    if args.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args.core})
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)
    print(json.dumps(uvloop.run({"bare": bare, "google": google, "engine": engine}[args.client](args))))


if __name__ == "__main__":
    main()
