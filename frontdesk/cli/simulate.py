"""``tutor-arena simulate``: personas and questions -> dialogues."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.cli import stages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="CONFIG", help="a TOML configuration")
    stages.add_run_options(parser)
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="also write the dialogues to FILE (JSON lines)"
    )


def run(args: argparse.Namespace) -> int:
    config = stages.load_config(args)
    how = config.section("simulate")

    async def work(session: stages.Session) -> int:
        dialogues = await session.pipeline.simulate()
        stages.copy_out(args.output, dialogues)
        return stages.exit_code(session.folder)

    return stages.execute(args, config, list(dict.fromkeys((how.student, how.teacher))), work)
