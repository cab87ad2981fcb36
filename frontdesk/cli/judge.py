"""``tutor-arena judge``: replies -> judgments and verdicts."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.cli import stages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="CONFIG", help="a TOML configuration")
    stages.add_run_options(parser)
    parser.add_argument(
        "--subsets", type=Path, metavar="FILE", help="subsets of your own (JSON lines), copied into the run"
    )
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="replies of your own (JSON lines), copied into the run"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the verdicts to FILE")


def run(args: argparse.Namespace) -> int:
    config = stages.load_config(args)
    judges = list(config.section("judge").endpoints)

    async def work(session: stages.Session) -> int:
        folder = session.folder
        stages.copy_in(args.subsets, folder.file("subsets.jsonl"))
        stages.copy_in(args.input, folder.file("replies.jsonl"))
        judgments, verdicts = await session.pipeline.judge(folder.subsets(), folder.replies())
        stages.copy_out(args.output, verdicts)
        return stages.exit_code(folder, judgments, verdicts)

    return stages.execute(args, config, judges, work)
