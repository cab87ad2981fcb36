"""``tutor-arena judge``: replies -> judgments and verdicts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.sequential.goal import GOALS
from frontdesk import config as configuration
from frontdesk.cli import stages
from frontdesk.config import Config
from frontdesk.runfolder import RunFolder
from runstore.problems import Problem

GOAL_KEYS = ("goal", "error", "batch", "newcomer", "width_elo")


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
    parser.add_argument(
        "--goal",
        nargs="+",
        metavar=("GOAL", "NAME"),
        help="ask only what the goal needs: best, place NAME, ranking, decide, or all for every match",
    )
    parser.add_argument("--error", type=float, metavar="SHARE", help="how probable a wrong decision may be (0.05)")


def with_goal(config: Config, goal: Sequence[str] | None, error: float | None) -> Config:
    """The configuration with the goal of the command line. Raises Problem for one that does not fit."""
    if goal is None and error is None:
        return config
    data = config.model_dump(mode="json", exclude_none=True)
    judge: dict[str, Any] = config.section("judge").model_dump(mode="json", exclude_none=True)
    if goal is not None:
        name, *rest = goal
        if name not in (*GOALS, "all") or len(rest) != (name == "place"):
            raise Problem(f"--goal: found {' '.join(goal)!r}, expected best, place NAME, ranking, decide or all")
        for key in ("goal", "newcomer", *(["width_elo"] if name != "place" else [])):
            judge.pop(key, None)
        if name == "all":
            for key in ("error", "batch"):
                judge.pop(key, None)
        else:
            judge["goal"] = name
        if rest:
            judge["newcomer"] = rest[0]
    if error is not None:
        judge["error"] = error
    return configuration.parse({**data, "judge": judge}, "command line")


def only_the_goal_differs(folder: RunFolder, config: Config) -> bool:
    """Whether a run that was not judged yet was made with the same configuration but for its goal."""
    if not folder.file("run.toml").is_file() or folder.file("verdicts.jsonl").is_file():
        return False
    old, new = (configuration.settled(one) for one in (folder.config(), config))
    return all(
        line.split(":")[0] in {f"judge.{key}" for key in GOAL_KEYS} for line in configuration.differences(old, new)
    )


def run(args: argparse.Namespace) -> int:
    config = with_goal(stages.load_config(args), args.goal, args.error)
    args.change = args.change or only_the_goal_differs(stages.folder_of(args, config), config)
    judges = list(config.section("judge").endpoints)

    async def work(session: stages.Session) -> int:
        folder = session.folder
        stages.copy_in(args.subsets, folder.file("subsets.jsonl"))
        stages.copy_in(args.input, folder.file("replies.jsonl"))
        judgments, verdicts = await session.pipeline.judge(folder.subsets(), folder.replies())
        stages.copy_out(args.output, verdicts)
        return stages.exit_code(folder, judgments, verdicts)

    return stages.execute(args, config, judges, work)
