"""``tutor-arena check CONFIG``: validate a configuration and play each role of a run once."""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import head, tell

if TYPE_CHECKING:
    from frontdesk.runner.config import Config
    from frontdesk.runner.preflight import Checked
    from gateway.engine import Gateway


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_configuration(parser)
    options.add_json_option(parser)
    parser.add_argument("--offline", action="store_true", help="validate only; ask nobody")


def run(args: argparse.Namespace) -> int:
    """0, or 1 where a role could not be played, or ``run`` would refuse the configuration whatever its options."""
    from frontdesk.cli import estimate
    from frontdesk.cli.listing import print_object
    from frontdesk.runner import config_file as configuration
    from frontdesk.runner import preflight

    config = configuration.load(options.configuration(args))
    gateway = preflight.gateway_of(config, offline=args.offline)
    used = len(config.used_endpoints())
    what = f"{used} endpoints used" if used else "no section names an endpoint, so each is asked as a contestant"
    out = sys.stderr if args.json else sys.stdout
    with redirect_stdout(out):
        tell(f"{args.config}: valid; {what}")
        refused = preflight.refusals(config, gateway)
        for refusal in refused:
            tell(f"run would refuse it: {refusal.reason}")
        caps = estimate.print_stops(config)
        roles = [] if args.offline else asyncio.run(_play_each(gateway, config))
        proxies = {name: endpoint.proxies for name, endpoint in gateway.endpoints.items() if endpoint.proxies}
        for name, addresses in proxies.items() if roles else ():
            for proxy in addresses:
                tell(f"{name}: is reached through the proxy {proxy}")
    code = int(any(part.failed is not None for part in roles) or any(refusal.is_final for refusal in refused))
    if args.json:
        print_object(
            preflight.Checking(
                config=str(args.config),
                exit_code=code,
                endpoints=tuple(config.used_endpoints()),
                refused=tuple(refused),
                caps=tuple(caps),
                roles=tuple(roles),
                proxies={name: tuple(map(str, addresses)) for name, addresses in proxies.items()},
            )
        )
    return code


async def _play_each(gateway: Gateway, config: Config) -> list[Checked]:
    from frontdesk.runner.preflight import play_each

    played: list[Checked] = []
    async for part in play_each(gateway, config):
        played.append(part)
        _print(part)
    return played


def _print(part: Checked) -> None:
    from runstore.problems import shown

    who = f"{part.endpoint} as {head(part.role)}"
    if part.failed is None or part.latency_s is not None:
        took = "" if part.latency_s is None else f" in {part.latency_s:.2f} s"
        tell(f"{who}: answers{took} ({part.model or 'model not named'})")
        tell(f"    {shown(part.said, 200)}")
    if part.failed is not None:
        said = "" if part.latency_s is not None else f": {shown(part.said, 400)}"
        tell(f"{who}: FAILED, {part.failed}{said}")
    if part.hint:
        tell(f"    {part.hint}", flush=True)
