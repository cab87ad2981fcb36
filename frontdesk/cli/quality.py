"""``tutor-arena quality``: how realistic, faithful and varied a run's students are; calls no model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.runner.runfolder import RunFolder


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument(
        "--learn",
        type=Path,
        metavar="FILE",
        help="print the style profile of the students in these transcripts (YAML, aggregates only), no more",
    )
    parser.add_argument(
        "--language", metavar="CODE", help="with --learn: of the transcripts (found out if not given)"
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another limit of the gate, such as thanks_run=0.2; repeatable",
    )
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="NAME",
        help="an endpoint that guesses each student's levels from its messages alone (calls it; repeatable)",
    )
    parser.add_argument(
        "--judge-dialogues", type=int, default=100, metavar="N", help="of at most so many dialogues (100)"
    )
    parser.add_argument(
        "--beside",
        type=Path,
        metavar="FILE",
        help="conversations of people: the run's student answers each turn too (calls it; --judge reads both)",
    )
    parser.add_argument(
        "--turns",
        dest="most_turns",
        type=int,
        default=200,
        metavar="N",
        help="with --beside: at most so many (200)",
    )
    parser.add_argument("--gate", action="store_true", help="leave with 1 unless every check passes")
    parser.add_argument("--json", action="store_true", help="print quality.json instead of tables")


def run(args: argparse.Namespace) -> int:
    """Write quality.json and quality.md. 0 done; with --gate 1 where a check fails or is undecided."""
    if args.learn is not None:
        return _learn(args)
    from frontdesk.cli.listing import print_table
    from frontdesk.report.blocks import Table, Text
    from frontdesk.report.run import write_reports_again
    from frontdesk.report.sections.run import quality as section
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner.quality import write_quality
    from frontdesk.runner.runfolder import RunFolder
    from runstore.publish import to_json

    folder = RunFolder(options.run_folder(args))
    if args.beside is not None:
        return _beside(args, folder)
    if args.judge and (code := _ask(args, folder)):
        return code
    folder.config()
    with history.held(folder):
        quality = write_quality(folder, dict(options.named_number("--limit", text) for text in args.limit))
        section.write_quality(folder, quality)
        assessed = quality.found
        for name in ("quality.json", "quality.md"):
            tell(f"wrote {folder.file(name)}", file=sys.stderr)
        for path in write_reports_again(folder):
            tell(f"report: {path}", file=sys.stderr)
    if args.json:
        sys.stdout.write(to_json(assessed, indent=True).decode() + "\n")
    else:
        config = quality.config.model_copy(
            update={"run": quality.config.run.model_copy(update={"language": console_language()})}
        )
        for block in section.console(assessed, config):
            if isinstance(block, Text):
                tell(block.text)
            elif isinstance(block, Table):
                header = [column.title for column in block.columns]
                print_table(block.title, header, [[cell.text for cell in row] for row in block.rows])
    return 1 if args.gate and assessed.gate.passed is not True else 0


def _beside(args: argparse.Namespace, folder: RunFolder) -> int:
    """Our student's turns beside people's: beside.json, printed. 1 where a turn failed."""
    from frontdesk.cli import stages
    from frontdesk.runner.beside import beside
    from runstore.publish import to_json

    config, judge = folder.config(), next(iter(args.judge), None)
    if judge is not None and judge not in config.endpoints:
        raise Problem(f"--judge: found {judge!r}, expected one of {', '.join(config.endpoints)}")
    args.folder, args.change, args.durable, args.json = folder.path, False, False, True

    async def work(session: stages.Session) -> int:
        pairs = await beside(session.pipeline, args.beside, judge, args.most_turns)
        session.own = to_json(pairs, indent=True).decode() + "\n"
        return 1 if pairs["failed"] else 0

    used = [config.require_simulate().student, *([] if judge is None else [judge])]
    return stages.execute(args, config, list(dict.fromkeys(used)), work)


def _ask(args: argparse.Namespace, folder: RunFolder) -> int:
    """Let the judges guess; their guesses stand in guesses.jsonl."""
    from frontdesk.cli import stages
    from frontdesk.runner.blind import guess

    config = folder.config()
    for name in args.judge:
        if name not in config.endpoints:
            raise Problem(f"--judge: found {name!r}, expected one of {', '.join(config.endpoints)}")
    if args.judge_dialogues < 1:
        raise Problem(f"--judge-dialogues: found {args.judge_dialogues}, expected 1 at least")
    args.folder, args.change, args.durable = folder.path, False, False

    async def work(session: stages.Session) -> int:
        for name in dict.fromkeys(args.judge):
            await guess(session.pipeline, name, args.judge_dialogues)
        session.own = ""  # what was guessed is part of quality.json
        return 0

    return stages.execute(args, config, list(dict.fromkeys(args.judge)), work)


def _learn(args: argparse.Namespace) -> int:
    from runstore.languages import known_language
    from runstore.publish import to_json
    from runstore.tables.talks import read_talks
    from simulator.style.learn import language_of, learn
    from simulator.style.profile import as_yaml

    talks = read_talks(args.learn)
    try:
        chosen = known_language(args.language) if args.language is not None else language_of(talks)
    except ValueError as error:
        raise Problem(f"--language: {error}") from None
    profile = learn(talks, chosen, "transcripts of the user's own")
    sys.stdout.write(to_json(profile, indent=True).decode() + "\n" if args.json else as_yaml(profile))
    return 0
