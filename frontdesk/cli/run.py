"""``tutor-arena run CONFIG``: every stage in order, resuming what exists."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import tell

if TYPE_CHECKING:
    from frontdesk.runner.runfolder import RunFolder


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_configuration(parser, "a TOML configuration (tutor-arena init writes one)")
    options.add_run_options(parser)
    options.add_on_option(parser)
    options.add_batch_options(parser)
    options.add_size_options(parser, "dialogues", "turns", "subsets")
    options.add_goal_options(parser)
    options.add_partial_option(parser)
    options.add_json_option(parser)
    parser.add_argument("--live", action="store_true", help="also serve a local page that shows it as it goes")


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages
    from frontdesk.cli.judge import with_goal

    options.configuration(args)
    config = stages.load_config(args)
    config.require_whole()
    if not config.is_data_set:
        config = with_goal(config, args.goal, args.error)
    if args.dry_run:
        return stages.dry_run(args, config)
    whole = partial(stages.whole_run, allowed=args.allow_partial)
    with _page(stages.folder_of(args, config)) if args.live else nullcontext():
        return stages.execute(args, config, config.used_endpoints(), whole)


@contextmanager
def _page(folder: RunFolder) -> Generator[None]:
    """The page of the run, as long as it is under way."""
    from frontdesk.runner.watching import Watched
    from frontdesk.web.watch import watching

    with watching(Watched(folder)) as address:
        tell(f"watch: {address}", file=sys.stderr, flush=True)
        yield
