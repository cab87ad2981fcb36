"""``tutor-arena check CONFIG``: validate a configuration and ask each endpoint once."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.engine import Gateway


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", type=Path, help="a TOML configuration")
    parser.add_argument("--offline", action="store_true", help="validate only; ask nobody")


def run(args: argparse.Namespace) -> int:
    """0, or 1 where an endpoint did not answer."""
    from frontdesk.runner import config as configuration
    from frontdesk.runner import preflight

    config = configuration.load(args.config)
    gateway = preflight.gateway_of(config, offline=args.offline)
    names = config.used_endpoints()
    print(f"{args.config}: valid; {len(names)} endpoints used")
    return 0 if args.offline else asyncio.run(_ask_each(gateway, names))


async def _ask_each(gateway: Gateway, names: Sequence[str]) -> int:
    from frontdesk.runner.preflight import ask_each
    from gateway.errors import CallFailed

    worst = 0
    async for name, answer in ask_each(gateway, names):
        if isinstance(answer, CallFailed):
            worst = 1
            print(f"{name}: FAILED, {answer.kind}: {answer.message}")
        else:
            print(f"{name}: answers in {answer.latency_s:.2f} s ({answer.model or 'model not named'})")
        for proxy in gateway.endpoints[name].proxies:
            print(f"{name}: is reached through the proxy {proxy}")
    return worst
