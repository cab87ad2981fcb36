"""``tutor-arena cut``: dialogues -> subsets that end at a student utterance; calls no model."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.cli import stages
from runstore.problems import Problem
from runstore.publish import read_records, write_jsonl
from runstore.records import Dialogue


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, metavar="CONFIG", help="a TOML configuration")
    stages.add_run_options(parser)
    parser.add_argument("--input", type=Path, metavar="FILE", help="dialogues of your own (JSON lines)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="where the subsets go (with --input)")
    parser.add_argument("--subsets", type=int, metavar="M", help="how many (default 200, or as configured)")
    parser.add_argument("--depth", choices=("uniform", "any"), help="how depths are spread (default: uniform)")
    parser.add_argument("--last-turns", type=int, metavar="K", help="keep only the last K exchanges of a history")


def run(args: argparse.Namespace) -> int:
    from simulator import cutter

    if args.input is None:
        return _cut_run(args)
    if args.output is None:
        raise Problem("--input needs --output")
    dialogues = [dialogue for dialogue in stages.read_dialogues(args.input) if dialogue.complete]
    subsets = cutter.cut(
        dialogues,
        args.subsets if args.subsets is not None else 200,
        seed=args.seed or 0,
        depth=args.depth or "uniform",
        last_turns=args.last_turns,
    )
    write_jsonl(args.output, subsets)
    return 0


def _cut_run(args: argparse.Namespace) -> int:
    config = stages.load_config(args)
    changes = {
        name: value for name in ("subsets", "depth", "last_turns") if (value := getattr(args, name)) is not None
    }
    config = config.model_copy(update={"cut": config.cut.model_copy(update=changes)})

    async def work(session: stages.Session) -> int:
        dialogues = read_records(session.folder.file("dialogues.jsonl"), Dialogue)
        subsets = session.pipeline.cut(dialogues)
        stages.copy_out(args.output, subsets)
        return stages.exit_code(session.folder)

    return stages.execute(args, config, [], work)
