"""``tutor-arena collect``: subsets -> every endpoint's replies."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_stage_options(parser)
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="subsets of your own (JSON lines), copied into the run folder"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the replies to FILE (JSON lines)")


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages
    from frontdesk.runner.given import read_subsets

    config = stages.load_config(args)
    names = list(config.require_collect().endpoints)
    given = read_subsets(args.input) if args.input is not None else None

    if args.dry_run:
        subsets = stages.folder_of(args, config).subsets() if given is None else given
        return stages.dry_run(args, config, "collect", subsets=len(subsets))

    async def work(session: Session) -> int:
        folder = session.folder
        if given is not None:
            folder.take("subsets", given, config, change=args.change)
        replies = await session.pipeline.collect(folder.subsets())
        stages.copy_out(args.output, replies)
        return stages.exit_code(folder)

    return stages.execute(args, config, names, work)
