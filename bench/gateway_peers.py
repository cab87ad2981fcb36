"""Other call engines over the same provider, each as its users write it. Runs in an environment of its own.

    python bench/gateway_peers.py openai --port P --calls 500 --in-flight 100

Prints one JSON line. Imports nothing of this project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time

SAID = "I added the tops and I added the bottoms, so one half and one third made two fifths; is that not right? "


def messages(number: int) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "You are a patient teacher. " + SAID * 3},
        {"role": "user", "content": SAID * 2},
        {"role": "assistant", "content": SAID * 2},
        {"role": "user", "content": f"{number:07d} {SAID * 3}"},
    ]


def with_openai(args: argparse.Namespace) -> None:
    from openai import AsyncOpenAI

    async def run() -> None:
        client = AsyncOpenAI(base_url=f"http://127.0.0.1:{args.port}/v1", api_key="sk-x", max_retries=2)
        gate = asyncio.Semaphore(args.in_flight)

        async def one(number: int) -> None:
            async with gate:
                await client.chat.completions.create(
                    model="m",
                    messages=messages(number),
                    temperature=1.0,
                    max_tokens=256,  # type: ignore[arg-type]
                )

        await asyncio.gather(*(one(number) for number in range(args.calls)))

    asyncio.run(run())


def with_inspect(args: argparse.Namespace) -> None:
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
    from inspect_ai.solver import generate

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    samples = [
        Sample(input=[kinds[one["role"]](content=one["content"]) for one in messages(number)], target="x")
        for number in range(args.calls)
    ]
    logs = evaluate(
        Task(dataset=MemoryDataset(samples), solver=[generate()]),
        model="openai-api/bench/m",
        display="none",
        log_dir=tempfile.mkdtemp(prefix="bench-inspect-"),
        max_connections=args.in_flight,
        max_samples=args.in_flight,
        temperature=1.0,
        max_tokens=256,
        log_level="warning",
    )
    assert logs[0].status == "success", logs[0].error


def with_curator(args: argparse.Namespace) -> None:
    from bespokelabs import curator
    from datasets import Dataset

    class Teacher(curator.LLM):
        def prompt(self, input):  # noqa: A002
            return input["messages"]

        def parse(self, input, response):  # noqa: A002
            return {"number": input["number"], "answer": response}

    rows = Dataset.from_list([{"number": number, "messages": messages(number)} for number in range(args.calls)])
    teacher = Teacher(
        model_name="m",
        backend="openai",
        backend_params={
            "base_url": f"http://127.0.0.1:{args.port}/v1",
            "api_key": "sk-x",
            "max_requests_per_minute": 1_000_000,
            "max_tokens_per_minute": 1_000_000_000,
            "max_concurrent_requests": args.in_flight,
        },
        generation_params={"temperature": 1.0, "max_tokens": 256},
    )
    answered = teacher(rows)
    assert len(getattr(answered, "dataset", answered)) == args.calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("client", choices=("openai", "inspect", "curator"))
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--in-flight", type=int, default=100)
    parser.add_argument("--core", type=int, default=None)
    args = parser.parse_args()
    if args.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args.core})
    os.environ.update(
        OPENAI_API_KEY="sk-x",
        BENCH_API_KEY="sk-x",
        BENCH_BASE_URL=f"http://127.0.0.1:{args.port}/v1",
        CURATOR_CACHE_DIR=tempfile.mkdtemp(prefix="bench-curator-"),
        TELEMETRY_ENABLED="False",
        CURATOR_DISABLE_RICH_DISPLAY="1",
        CURATOR_VIEWER="0",
        HF_HUB_OFFLINE="1",
        HF_DATASETS_OFFLINE="1",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )
    run = {"openai": with_openai, "inspect": with_inspect, "curator": with_curator}[args.client]
    if args.client != "openai":  # its imports are the process's, not the calls'
        __import__("inspect_ai" if args.client == "inspect" else "bespokelabs.curator")
    wall, cpu = time.perf_counter(), time.process_time()
    run(args)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print("\n" + json.dumps({"rate": args.calls / wall, "cpu_ms": 1000 * cpu / args.calls}))


if __name__ == "__main__":
    main()
