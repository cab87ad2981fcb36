"""``tutor-arena run CONFIG``: every stage in order, resuming what exists."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from frontdesk.cli import options


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", type=Path, help="a TOML configuration (tutor-arena init writes one)"
    )
    options.add_run_options(parser)
    options.add_size_options(parser, "dialogues", "turns", "subsets")
    options.add_goal_options(parser)
    options.add_partial_option(parser)
    options.add_json_option(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything and print the estimate; call nothing"
    )


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages
    from frontdesk.cli.judge import with_goal

    config = stages.load_config(args)
    config.require_whole()
    if not config.is_data_set:
        config = with_goal(config, args.goal, args.error)
    if args.dry_run:
        from frontdesk.cli import estimate
        from frontdesk.runner import prepare

        prepare.check(config)
        estimate.show(config, as_json=args.json)
        prepare.check_prices(config)
        return 0
    whole = partial(stages.whole_run, allowed=args.allow_partial)
    return stages.execute(args, config, config.used_endpoints(), whole, as_json=args.json)
