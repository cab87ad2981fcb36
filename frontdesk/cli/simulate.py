"""``tutor-arena simulate``: personas and questions -> dialogues."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_stage_options(parser)
    options.add_size_options(parser, "dialogues", "turns")
    parser.add_argument(
        "--input", type=Path, metavar="FILE", help="seed questions of your own (YAML, JSONL, CSV or plain text)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="also write the dialogues to FILE (JSON lines)"
    )


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages

    config = stages.load_config(args)
    config.require_simulate()
    if args.input is not None:
        questions = config.questions.model_copy(update={"file": str(args.input.resolve())})
        config = config.model_copy(update={"questions": questions})

    if args.dry_run:
        return stages.dry_run(args, config, "simulate")

    async def work(session: Session) -> int:
        dialogues = await session.pipeline.simulate()
        stages.copy_out(args.output, dialogues)
        return stages.exit_code(session.folder)

    return stages.execute(args, config, config.simulating(), work)
