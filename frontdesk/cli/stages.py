"""What the commands that run stages share: the configuration, the session, what is done when stages have ended."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frontdesk.cli import options
from frontdesk.cli.listing import print_object
from frontdesk.runner import config_file as configuration
from frontdesk.runner import leaderboard_history as history
from frontdesk.runner import session as sessions
from frontdesk.runner.config import Config
from frontdesk.runner.outcome import EndpointDone, endpoints_of, outcome
from frontdesk.runner.pipeline import Pipeline
from frontdesk.runner.runfolder import RunFolder, default_folder
from frontdesk.runner.told import head, tell, told
from runstore.problems import Problem
from runstore.publish import write_jsonl
from runstore.records import Judgment, Record, Verdict

RATED = ("run", "demo")
"""Commands whose object holds the ratings they made."""


@dataclass(slots=True)
class Session:
    """An open pipeline, for a command's work.

    ``as_json``: standard output is for one object alone, which is ``own`` where the work sets it, and else says
    how the command ended; empty: the command prints it later.
    """

    pipeline: Pipeline
    folder: RunFolder
    config: Config
    as_json: bool = False
    own: str | None = None
    _is_told: bool = False

    def tell_endpoints(self) -> None:
        """What each endpoint took, as a table on stderr, once."""
        if not self._is_told:
            self._is_told = True
            _tell_endpoints(endpoints_of(self.pipeline))


def load_config(args: argparse.Namespace) -> Config:
    """The configuration a command was given (or the one its run folder was made with), with its options in."""
    place: Path | None = getattr(args, "place", None)
    if place is not None and place.is_dir():
        if args.folder:
            raise Problem(f"{args.command}: found two run folders, {place} and {args.folder}; expected one")
        args.folder = str(place)
    elif place is not None and args.config is not None:
        raise Problem(f"{args.command}: found two configurations, {place} and {args.config}; expected one")
    elif place is not None:
        args.config = place
    given: Path | None = args.config
    if given is None:
        if not args.folder:
            raise Problem(f"{args.command}: found nothing to work on, expected CONFIG or RUN (or --config, --run)")
        config = RunFolder(Path(args.folder)).config()
    else:
        config = configuration.load(given)
    changes = {
        key: value
        for key in ("seed", "language", "prompts", "on")
        if (value := getattr(args, key, None)) is not None
    }
    if changes:
        config = config.model_copy(update={"run": config.run.model_copy(update=changes)})
    return _with_sizes(config, args)


def _with_sizes(config: Config, args: argparse.Namespace) -> Config:
    """The configuration with ``--dialogues``, ``--turns`` and ``--subsets`` in place of its own.

    Raises Problem for dialogues or turns without a section that simulates.
    """
    given = {name: getattr(args, name, None) for name in ("dialogues", "turns", "subsets")}
    sizes = {name: value for name, value in given.items() if isinstance(value, int)}
    if (subsets := sizes.pop("subsets", None)) is not None:
        config = config.model_copy(update={"cut": config.cut.model_copy(update={"subsets": subsets})})
    if sizes:
        config = config.model_copy(update={"simulate": config.require_simulate().model_copy(update=sizes)})
    return config


def folder_of(args: argparse.Namespace, config: Config) -> RunFolder:
    return default_folder(config, args.folder)


def execute(
    args: argparse.Namespace,
    config: Config,
    endpoints: Sequence[str],
    work: Callable[[Session], Awaitable[int]],
    first: Callable[[RunFolder], object] = history.refuse,
) -> int:
    """Open the run, do the work, close it; returns the exit code. ``first`` is done before anything is written.

    With ``--json``: print the session's own object on stdout, or the :class:`Outcome`, also where it was stopped.
    """
    folder = folder_of(args, config)
    open_pipeline: list[Pipeline] = []
    opened: list[Session] = []

    async def whole() -> int:
        async with sessions.opened(
            folder,
            config,
            endpoints,
            change=args.change,
            durable=args.durable,
            batch_poll_s=options.batch_poll_s(args),
            first=first,
        ) as pipeline:
            open_pipeline.append(pipeline)
            session = Session(pipeline, folder, config, args.json)
            opened.append(session)
            try:
                return await work(session)
            finally:
                session.tell_endpoints()

    code = sessions.run_interruptibly(whole, lambda: open_pipeline[0].gateway if open_pipeline else None)
    if args.json:
        own = opened[0].own if opened else None
        if own is None:
            print_object(outcome(args.command, code, next(iter(open_pipeline), None), rated=args.command in RATED))
        else:
            sys.stdout.write(own)
    return code


def _dollars(each: EndpointDone) -> str:
    """A sum that leaves calls of unknown price out ends in "+"."""
    if each.usd is None:
        return told("unknown") if each.unpriced else "–"
    return f"{each.usd:,.4f}{' +' if each.unpriced else ''}"


def _tell_endpoints(endpoints: Sequence[EndpointDone]) -> None:
    if not endpoints:
        return
    from frontdesk.report.writers import terminal
    from frontdesk.report.writers.terminal import Head

    titles = ("calls", "failed", "unreadable", "tokens", "USD", "median s", "from the journal")
    rows = [
        [
            each.endpoint,
            f"{each.calls:,}",
            f"{each.failed:,}",
            f"{each.unreadable:,}",
            f"{each.input + each.output + each.thinking:,}",
            _dollars(each),
            "–" if each.median_latency_s is None else f"{each.median_latency_s:.2f}",
            f"{each.served:,}",
        ]
        for each in endpoints
    ]
    heads = [Head(head("endpoint")), *(Head(head(title), number=True) for title in titles)]
    terminal.print_grid(terminal.console(sys.stderr), "", heads, rows)


async def whole_run(session: Session, allowed: float | None = None) -> int:
    """All stages and the report, then the summary on stdout; returns the exit code."""
    judgments, verdicts = await session.pipeline.whole()
    if session.config.is_data_set:
        return _data_set(session)
    from frontdesk.report.run import console_summary, write_report

    write_report(session.folder)
    console_summary(session.folder, out=sys.stderr if session.as_json else None)
    session.tell_endpoints()
    tell(f"report: {session.folder.file('report.html')}", file=sys.stderr)
    return tolerant(session.folder, allowed, exit_code(session.folder, judgments, verdicts))


def _data_set(session: Session) -> int:
    count = len(session.folder.dialogues())
    tell(
        f"a data set of {count} dialogues: without [collect] and [judge] no tutors are compared\n"
        f"next: tutor-arena quality {session.folder.path}, tutor-arena export {session.folder.path} --as hf",
        file=sys.stderr,
    )
    return exit_code(session.folder)


def exit_code(folder: RunFolder, judgments: Sequence[Judgment] = (), verdicts: Sequence[Verdict] = ()) -> int:
    """0, or 1 where something failed, was unreadable or invalid, or the student's side was refused."""
    from frontdesk.runner.rating import is_incomplete
    from frontdesk.runner.student import is_refused

    return int(is_incomplete(folder, judgments, verdicts) or is_refused(folder))


def tolerant(folder: RunFolder, allowed: float | None, code: int) -> int:
    """The exit code, 0 where what is missing of a rated run is within the share that was allowed."""
    if not code or allowed is None:
        return code
    from frontdesk.report.sections.run.data import load

    lost = load(folder, journal=False).lost
    tell(f"incomplete: {lost:.1%} missing at most in a stage, {allowed:.1%} allowed", file=sys.stderr)
    return 0 if lost <= allowed else code


def dry_run(args: argparse.Namespace, config: Config, stage: str | None = None, **made: Any) -> int:
    """What one stage, or the whole, would ask and cost, on stdout; nothing is called.

    ``made``: as ``plan.workload`` takes it. Raises Problem for what the stage would be refused for, after a table
    but in place of the object of ``--json``.
    """
    from frontdesk.cli import estimate
    from frontdesk.runner import prepare

    prepare.check(config)
    by_batch = options.batch_poll_s(args) is not None
    if args.json:
        prepare.check_prices(config)
    estimate.show(config, as_json=args.json, by_batch=by_batch, stage=stage, **made)
    if folder_of(args, config).journal.is_dir() and not args.json:
        tell("What the journal answers already is counted too, and is not asked again.")
    prepare.check_prices(config)
    return 0


def copy_out(path: Path | None, records: Sequence[Record]) -> None:
    if path is not None:
        write_jsonl(path, records)
