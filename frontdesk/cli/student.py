"""``tutor-arena student RUN``: what each tutor's replies leave behind in simulated students."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import tell

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_dir", nargs="?", metavar="RUN", help="the run folder, whose replies are taken")
    options.add_config_option(parser)
    options.add_run_options(parser)
    options.add_batch_options(parser)
    parser.add_argument(
        "--lint", type=Path, metavar="FILE", nargs="+", help="only look through these topics (YAML)"
    )
    parser.add_argument("--json", action="store_true", help="print student.json")


def run(args: argparse.Namespace) -> int:
    """0; 1 where the panel was not passed, or a branch did not end."""
    if args.lint:
        return _lint(args.lint, as_json=args.json)
    from frontdesk.cli import stages
    from frontdesk.runner.student import StudentStage, with_section
    from runstore.problems import Problem

    args.folder = args.folder or args.run_dir
    given = stages.load_config(args)
    config = with_section(given)
    folder = stages.folder_of(args, config)
    for name in ("subsets", "replies"):
        if not folder.file(f"{name}.jsonl").is_file():
            raise Problem(f"{folder.path} has no {name} yet: run the stages before")
    args.change = args.change or given.student is None
    stage = StudentStage.prepared(config, None)
    endpoints = [name for name in stage.endpoints if name in config.endpoints]

    if args.dry_run:
        names = dict.fromkeys(reply.endpoint for reply in folder.replies())
        return stages.dry_run(args, config, "student", subsets=len(folder.subsets()), replied=list(names))

    async def work(session: Session) -> int:
        side = await session.pipeline.student(folder.subsets(), folder.replies())
        _show(session)
        return 0 if side.panel.passed and not side.counts.invalid else 1

    return stages.execute(args, config, endpoints, work)


def _show(session: Session) -> None:
    from frontdesk.report.run import student_summary, write_reports_again

    if session.as_json:
        session.own = session.folder.file("student.json").read_text(encoding="utf-8")
    else:
        student_summary(session.folder)
    write_reports_again(session.folder)


def _lint(files: list[Path], *, as_json: bool) -> int:
    from knowledge.loader import lint_file

    said = [line for file in files for line in lint_file(file)]
    if as_json:
        from frontdesk.cli.listing import print_object
        from frontdesk.runner.outcome import ended

        print_object(ended("student", int(bool(said)), told=said))
        return int(bool(said))
    tell("\n".join(said) if said else f"{len(files)} topics: nothing to object to")
    return 1 if said else 0
