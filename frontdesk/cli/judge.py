"""``tutor-arena judge``: replies -> judgments and verdicts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.sequential.goal import GOALS
from frontdesk.cli import options
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session
    from frontdesk.runner.config import Config


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_stage_options(parser)
    parser.add_argument(
        "--subsets", type=Path, metavar="FILE", help="subsets of your own (JSON lines), copied into the run folder"
    )
    parser.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="replies of your own to the run's subsets, or to those of --subsets, copied into the run folder",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the verdicts to FILE (JSON lines)")
    options.add_goal_options(parser)


def with_goal(config: Config, goal: Sequence[str] | None, error: float | None) -> Config:
    """The configuration with the goal of the command line. Raises Problem for one that does not fit."""
    from frontdesk.runner import chosen_goal

    name, *rest = goal or (None,)
    if name is not None and (name not in (*GOALS, "all") or len(rest) != (name == "place")):
        found = " ".join(goal or ())
        raise Problem(f"--goal: found {found!r}, expected best, place NAME, ranking, decide or all")
    return chosen_goal.with_goal(config, name, rest[0] if rest else None, error)


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages
    from frontdesk.runner.chosen_goal import only_the_goal_differs
    from frontdesk.runner.given import read_replies, read_subsets

    config = with_goal(stages.load_config(args), args.goal, args.error)
    folder = stages.folder_of(args, config)
    args.change = args.change or only_the_goal_differs(folder, config)
    subsets = read_subsets(args.subsets) if args.subsets is not None else None
    if subsets is None and not folder.file("subsets.jsonl").is_file():
        raise Problem(f"{folder.path} has no subsets yet: run the stages before, or give them with --subsets FILE")
    if args.input is None and not folder.file("replies.jsonl").is_file():
        raise Problem(f"{folder.path} has no replies yet: tutor-arena collect, or give them with --input FILE")
    known = folder.subsets() if subsets is None else subsets
    replies = read_replies(args.input, known) if args.input is not None else None

    if args.dry_run:
        names = dict.fromkeys(reply.endpoint for reply in (folder.replies() if replies is None else replies))
        return stages.dry_run(args, config, "judge", subsets=len(known), replied=list(names))

    async def work(session: Session) -> int:
        if subsets is not None:
            folder.take("subsets", subsets, config, change=args.change)
        if replies is not None:
            folder.take("replies", replies, config, change=args.change)
        judgments, verdicts = await session.pipeline.judge(folder.subsets(), folder.replies())
        stages.copy_out(args.output, verdicts)
        return stages.exit_code(folder, judgments, verdicts)

    return stages.execute(args, config, list(config.require_judge().endpoints), work)
