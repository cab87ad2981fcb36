"""``tutor-arena cut``: dialogues -> subsets that end at a student utterance; calls no model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import tell
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session
    from frontdesk.runner.config import Config


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_place(parser)
    options.add_run_options(parser)
    options.add_json_option(parser)
    options.add_size_options(parser, "subsets")
    parser.add_argument("--input", type=Path, metavar="FILE", help="dialogues of your own (JSON lines)")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where the subsets go (needed with --input; else a copy)"
    )
    parser.add_argument("--depth", choices=("uniform", "any"), help="how depths are spread (default: uniform)")
    parser.add_argument("--last-turns", type=int, metavar="K", help="keep only the last K exchanges of a history")


def run(args: argparse.Namespace) -> int:
    """0, or 1 where the dialogues hold fewer subsets than were asked for."""
    if args.last_turns is not None and args.last_turns < 1:
        raise Problem(f"--last-turns: found {args.last_turns}, expected 1 at least")
    return _cut_run(args) if args.input is None else _cut_file(args)


def _cut_file(args: argparse.Namespace) -> int:
    from frontdesk.runner import config_file as configuration
    from frontdesk.runner.cutting import cut_file

    if args.output is None:
        raise Problem("--input needs --output")
    config = configuration.load(args.config) if args.config is not None else configuration.Config()
    seed = config.run.seed if args.seed is None else args.seed
    made = cut_file(args.input, args.output, _with_options(config, args).cut, seed)
    said = f"cut: {made.subsets} of {made.wanted} subsets, from {made.complete} of {made.dialogues} dialogues"
    tell(said if made.complete == made.dialogues else f"{said} (only complete ones are cut)", file=sys.stderr)
    code = 0 if made.subsets == made.wanted else 1
    if args.json:
        from frontdesk.cli.listing import print_object
        from frontdesk.runner.outcome import StageDone, ended

        stage = StageDone(stage="cut", done=made.subsets, failed=made.wanted - made.subsets, of=made.wanted)
        print_object(ended("cut", code, stages=[stage]))
    return code


def _with_options(config: Config, args: argparse.Namespace) -> Config:
    changes = {
        name: value for name in ("subsets", "depth", "last_turns") if (value := getattr(args, name)) is not None
    }
    return config.model_copy(update={"cut": config.cut.model_copy(update=changes)})


def _cut_run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages

    config = _with_options(stages.load_config(args), args)

    async def work(session: Session) -> int:
        subsets = session.pipeline.cut(session.folder.dialogues())
        stages.copy_out(args.output, subsets)
        return stages.exit_code(session.folder)

    return stages.execute(args, config, [], work)
