"""``tutor-arena collect``: subsets -> every endpoint's replies."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.cli import stages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="CONFIG", help="a TOML configuration")
    stages.add_run_options(parser)
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="subsets of your own (JSON lines), copied into the run"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the replies to FILE")


def run(args: argparse.Namespace) -> int:
    config = stages.load_config(args)
    names = list(config.section("collect").endpoints)

    async def work(session: stages.Session) -> int:
        stages.copy_in(args.input, session.folder.file("subsets.jsonl"))
        replies = await session.pipeline.collect(session.folder.subsets())
        stages.copy_out(args.output, replies)
        return stages.exit_code(session.folder)

    return stages.execute(args, config, names, work)
