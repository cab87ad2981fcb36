"""``tutor-arena score``: a rubric filled in by judges for dialogues, or for any questions and answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.languages import languages
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session
    from frontdesk.runner.config import Config
    from frontdesk.runner.plan import Calls
    from frontdesk.runner.score_files import ScoreResults
    from frontdesk.runner.score_plan import Plan


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        type=Path,
        required=True,
        metavar="FILE",
        help="dialogues or question/answer rows: CSV, TSV, XLSX, JSON lines, a JSON array or Parquet",
    )
    parser.add_argument(
        "--rubric", required=True, metavar="NAME_OR_YAML", help="qac, meeting_minutes, socratic, or a YAML file"
    )
    parser.add_argument(
        "--judge",
        action="append",
        required=True,
        metavar="NAME",
        help="an endpoint of the configuration; repeatable",
    )
    parser.add_argument("--config", type=Path, required=True, metavar="CONFIG", help="a TOML configuration")
    parser.add_argument("--out", dest="folder", required=True, metavar="DIR", help="where journal and results go")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="sheets per judge and subject (1)")
    parser.add_argument(
        "--reask", type=int, default=2, metavar="N", help="further requests for missing values (2)"
    )
    options.add_batch_options(parser)
    options.add_plots_option(parser)
    tables = parser.add_argument_group("tables")
    tables.add_argument(
        "--by", action="append", default=[], metavar="COLUMN", help="summary per value of a column; repeatable"
    )
    tables.add_argument(
        "--compare",
        action="append",
        metavar="COLUMN[=FIRST,SECOND]",
        help="compare two groups; repeatable (default: every column with two values)",
    )
    tables.add_argument("--match", metavar="COLUMN", help="also compare the groups on rows that share its value")
    tables.add_argument(
        "--sheets",
        type=Path,
        metavar="FILE",
        help="people's sheets: as in sheets.jsonl, or subjects x elements",
    )
    tables.add_argument("--reference", metavar="NAME", help="compare every judge with this one (a teacher, say)")
    tables.add_argument("--resamples", type=int, default=1000, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help="replaces [run] seed")
    parser.add_argument("--language", choices=languages(), help="replaces [run] language")
    parser.add_argument("--prompts", metavar="DIR", help="a folder of prompt files that replace the shipped ones")
    parser.add_argument("--change", action="store_true", help="let a changed configuration recompute this folder")
    parser.add_argument("--durable", action="store_true", help="sync the journal to disk with every write")
    options.add_on_option(parser)
    parser.add_argument("--json", action="store_true", help="print score.json to standard output")


def run(args: argparse.Namespace) -> int:
    """0 all scored, 1 where a reply failed, was unreadable or lacks values."""
    from frontdesk.cli import stages
    from frontdesk.report.sections.scores.outcome import ScoreTeller
    from frontdesk.runner import score_plan, scoring

    config = stages.load_config(args)
    plan = _plan(args, config)
    if options.batch_poll_s(args) is not None:
        scoring.check_batches(plan.judges, config)
    material = score_plan.gather(args.input, args.rubric, plan, config, sheets=args.sheets)

    if args.dry_run:
        return _estimate(args, config, scoring.asked(plan, material, config, by_batch=args.batch))

    async def work(session: Session) -> int:
        teller = ScoreTeller(config.run.language, args.plots)
        results = await scoring.perform(session.pipeline, plan, material, teller)
        _say(session, results)
        return 1 if results.gaps else 0

    return stages.execute(args, config, plan.judges, work)


def _estimate(args: argparse.Namespace, config: Config, calls: Sequence[Calls]) -> int:
    """Print what the sheets would take; returns 0. Raises Problem where a cap in dollars needs a price."""
    from frontdesk.cli import estimate
    from frontdesk.runner import prepare
    from frontdesk.runner.estimate import estimate_calls

    estimated = estimate_calls(config, calls)
    estimate.print_json(estimated) if args.json else estimate.print_lines(estimated)
    prepare.check_prices(config, args.judge)
    return 0


def _plan(args: argparse.Namespace, config: Config) -> Plan:
    from frontdesk.runner.score_plan import Plan, Wishes, check_plan

    wanted: list[str] | None = args.compare
    wishes = Wishes(
        by=tuple(args.by),
        compare=None if wanted is None else dict(_two_groups(wish) for wish in wanted),
        match=args.match,
        reference=args.reference,
        resamples=args.resamples,
        seed=config.run.seed,
    )
    plan = Plan(
        source=args.input.name, judges=tuple(args.judge), repeats=args.repeats, reask=args.reask, wishes=wishes
    )
    check_plan(plan, config)
    return plan


def _two_groups(wish: str) -> tuple[str, tuple[str, str] | None]:
    column, _, values = wish.partition("=")
    pair = values.split(",") if values else []
    if len(pair) not in (0, 2) or (len(pair) == 2 and pair[0] == pair[1]):
        raise Problem(f"--compare: found {wish!r}, expected COLUMN or COLUMN=FIRST,SECOND")
    return column, (pair[0], pair[1]) if pair else None


def _say(session: Session, results: ScoreResults) -> None:
    from frontdesk.report.sections.scores.document import document
    from frontdesk.report.writers import console

    for gap in results.gaps:
        tell(gap, file=sys.stderr)
    if session.as_json:
        session.own = session.folder.file("score.json").read_text(encoding="utf-8")
    else:
        console.show(document(results, console_language()))
        session.tell_endpoints()
    tell(f"report: {session.folder.file('score.html')}", file=sys.stderr)
