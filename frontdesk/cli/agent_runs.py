"""``tutor-arena agent-runs``: five figures, checks and reports from raw tables of agent runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.languages import languages
from runstore.problems import InputProblem, Problem

if TYPE_CHECKING:
    from arena.agent_runs.scored import Options
    from arena.agent_runs.scoring import Analysis
    from arena.agent_runs.tables import Layout
    from frontdesk.runner.agent_runs import Judge

# Check -> its default limit, and what it is a share of.
_LIMITS = {
    "unmatched": (0.0, "questions that are not in every round"),
    "raw-failures": (0.05, "rows whose Raw JSON can't be read"),
    "missing-llm": (0.2, "rows without a valid LLM score"),
    "duplicates": (0.0, "rows that repeat a question within a round"),
    "malformed": (0.0, "rows with a wrong number of cells"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        type=options.source,
        metavar="FILE",
        help="CSV, TSV, XLSX, JSON lines, a JSON array or Parquet; several are read as one, as are "
        "FOLDER, PATTERN or s3://…",
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="folder for agent_runs.json, .md, .html and items.csv"
    )
    parser.add_argument(
        "--compare", nargs="+", type=options.source, metavar="FILE", help="the runs before, to test FILE against"
    )
    parser.add_argument(
        "--language", choices=languages(), default="ko", help="language of the reports (default: ko)"
    )
    parser.add_argument("--columns", type=Path, metavar="YAML", help="your columns' names, as field: name")
    parser.add_argument("--encoding", metavar="NAME", help="instead of finding it out (utf-8, cp949, utf-16, …)")
    parser.add_argument("--delimiter", metavar="CHAR", help="instead of finding it out (',', ';', 'tab')")
    parser.add_argument(
        "--rounds",
        default="repeat",
        metavar="BY",
        help="what makes a round: repeat (its column), run, file, or several joined by + (default: repeat)",
    )
    parser.add_argument(
        "--accuracy",
        choices=("three-level", "two-level"),
        default="three-level",
        help="three-level 5/3/0 (3: same path, another dataKey) or two-level 5/0",
    )
    parser.add_argument(
        "--judge", metavar="NAME", help="endpoint that scores intent where the table has no valid score"
    )
    parser.add_argument("--config", type=Path, metavar="CONFIG", help="the configuration that describes --judge")
    options.add_on_option(parser)
    _add_limits(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="only say how the files are read and what is missing"
    )
    parser.add_argument("--json", action="store_true", help="print agent_runs.json to stdout as well")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_argument_group("limits of the checks", "shares from 0 to 1; above one, the exit code is 1")
    for option, (default, what) in _LIMITS.items():
        limits.add_argument(
            f"--max-{option}", type=float, default=default, metavar="SHARE", help=f"{what} (default: {default:g})"
        )


def run(args: argparse.Namespace) -> int:
    from frontdesk.runner import agent_runs
    from runstore.publish import to_json

    if args.out is None and not args.dry_run:
        raise Problem("--out DIR is needed (or --dry-run)")
    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise InputProblem(args.out, "a folder for --out", found="a file")
    if (args.judge is None) != (args.config is None):
        raise Problem("--judge NAME and --config CONFIG go together")
    if args.on is not None and args.judge is None:
        raise Problem("--on: found without --judge, expected both: elsewhere only calls are made")
    layout, how = _layout(args), _options(args)
    tables, before = agent_runs.open_tables(args.files, args.compare or [], layout)
    if args.dry_run or args.out is None:
        read = agent_runs.describe([*tables, *before])
        print(to_json({"tables": read} if args.json else read, indent=True).decode())
        return 0
    job = agent_runs.Job(tables, before, how, args.out)
    return agent_runs.run(job, _judge(args), lambda analysis: _report(args, analysis))


def _judge(args: argparse.Namespace) -> Judge | None:
    from frontdesk.runner.agent_runs import Judge

    return None if args.judge is None else Judge.of(args.config, args.judge, args.language, args.on)


def _layout(args: argparse.Namespace) -> Layout:
    from arena.agent_runs.columns import read_mapping
    from arena.agent_runs.tables import Layout

    delimiter: str | None = args.delimiter
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise Problem(f"--delimiter: found {args.delimiter!r}, expected one character, or tab")
    mapping = read_mapping(args.columns) if args.columns else None
    optional = frozenset[str]() if "repeat" in _rounds(args) else frozenset({"round"})
    return Layout(mapping, args.encoding, delimiter, optional)


def _rounds(args: argparse.Namespace) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in args.rounds.split("+"))
    if not set(parts) <= {"repeat", "run", "file"}:
        raise Problem(f"--rounds: found {args.rounds!r}, expected repeat, run, file, or several joined by +")
    return parts


def _options(args: argparse.Namespace) -> Options:
    from arena.agent_runs.checks import Limits
    from arena.agent_runs.scored import Options

    for name in _LIMITS:
        share: float = getattr(args, f"max_{name.replace('-', '_')}")
        if not 0 <= share <= 1:
            raise Problem(f"--max-{name}: found {share:g}, expected a share from 0 to 1")
    limits = Limits(
        unmatched=args.max_unmatched,
        raw_failures=args.max_raw_failures,
        missing_llm=args.max_missing_llm,
        duplicates=args.max_duplicates,
        malformed=args.max_malformed,
    )
    return Options(levels=args.accuracy, rounds_by=_rounds(args), limits=limits)


def _report(args: argparse.Namespace, analysis: Analysis) -> int:
    from frontdesk.report.sections.agent_runs.document import document
    from frontdesk.report.sections.agent_runs.texts import check_line
    from frontdesk.report.untrusted import one_line
    from frontdesk.report.writers.html import html
    from frontdesk.report.writers.markdown import markdown
    from runstore.languages import words
    from runstore.publish import to_json, write_text

    report = document(analysis, args.language)
    write_text(args.out / "agent_runs.md", markdown(report))
    write_text(args.out / "agent_runs.html", html(report))
    say = words("frontdesk.report", "agent_runs", console_language())
    for check in analysis.figures.checks:
        if check.passed is not True:
            tell(
                f"{'!' if check.passed is False else '-'} {one_line(check_line(check, say))}",
                file=sys.stderr,
            )
    tell(f"{analysis.figures.counted} of {analysis.figures.rows} rows scored", file=sys.stderr)
    tell(f"report: {args.out / 'agent_runs.html'}", file=sys.stderr)
    if args.json:
        print(to_json(analysis.figures, indent=True).decode())
    return 0 if analysis.complete else 1
