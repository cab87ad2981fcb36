"""``tutor-arena refresh``: a finished run with an endpoint more or less, or another judge."""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.problems import Problem, nearest

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session
    from frontdesk.runner.config import Config
    from frontdesk.runner.leaderboard_history import Refresh
    from frontdesk.runner.refresh import Change
    from frontdesk.runner.runfolder import RunFolder


Table = dict[str, object]
"""A table of a configuration as TOML holds it."""


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    what = parser.add_argument_group("what changes")
    what.add_argument(
        "--add", action="append", default=[], metavar="NAME", help="an endpoint to compare as well; repeatable"
    )
    what.add_argument(
        "--against", action="append", default=[], metavar="NAME", help="whom it meets (all the others); repeatable"
    )
    what.add_argument("--drop", action="append", default=[], metavar="NAME", help="an endpoint to leave out")
    what.add_argument(
        "--rejudge", action="append", default=[], metavar="JUDGE", help="a judge more, for all matches"
    )
    what.add_argument(
        "--instead-of", action="append", default=[], metavar="JUDGE", help="a judge whose judgments it replaces"
    )
    source = parser.add_argument_group("where a new endpoint's settings come from")
    source.add_argument("--config", type=Path, metavar="CONFIG", help="its [endpoints.NAME], and a new [budget]")
    source.add_argument("--endpoint-file", type=Path, metavar="FILE", help="the keys of its table, as TOML")
    source.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="one key of its table; repeatable"
    )
    what.add_argument(
        "--abandon", action="store_true", help="drop a refresh that was stopped: the run is again as it was before"
    )
    options.add_partial_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="print the calls it would take; call nothing")
    parser.add_argument("--json", action="store_true", help="print the history's line (or the estimate) as JSON")
    parser.add_argument("--durable", action="store_true", help="sync the journal to disk with every write")
    parser.set_defaults(change=True)


def run(args: argparse.Namespace) -> int:
    """Refresh the run; the exit codes are those of ``run``."""
    from frontdesk.cli import estimate, stages
    from frontdesk.report.run import write_report
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner import plan, prepare, refresh
    from frontdesk.runner.estimate import estimate_calls
    from frontdesk.runner.runfolder import RunFolder
    from frontdesk.runner.session import spent_earlier

    folder = RunFolder(options.run_folder(args))
    if args.abandon:
        return _abandon(args, folder)
    change = _change(args)
    before = folder.config()
    if (begun := history.pending(folder)) is not None and not change.is_told_by(begun.change):
        history.refuse(folder)
    refresh.check_finished(folder)
    tables, budget = _given(args, change, before)
    config = refresh.planned(before, change, tables, budget)
    prepare.check(config)
    kept = refresh.kept(folder, config, change)
    needed = plan.remaining(config, [subset.id for subset in folder.subsets()], kept)
    if args.dry_run:
        estimated = estimate_calls(config, needed, spent=spent_earlier(folder))
        if args.json:
            prepare.check_prices(config, refresh.callers(config, needed))
        estimate.print_json(estimated) if args.json else estimate.print_lines(estimated)
        prepare.check_prices(config, refresh.callers(config, needed))
        return 0

    async def work(session: Session) -> int:
        began = history.begin(folder, change.to_json())
        judged = await refresh.perform(session.pipeline, change)
        line, is_new = refresh.conclude(folder, config, began, judged)
        write_report(folder)
        history.close(folder)
        _show(session, line, is_new=is_new)
        return stages.tolerant(folder, args.allow_partial, stages.exit_code(folder, *judged))

    def begin(folder: RunFolder) -> None:
        history.begin(folder, change.to_json())

    return stages.execute(args, config, refresh.callers(config, needed), work, begin)


def _abandon(args: argparse.Namespace, folder: RunFolder) -> int:
    from frontdesk.cli.listing import print_object
    from frontdesk.report.run import write_reports_again
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner.outcome import ended
    from runstore.runlock import RunLock

    if any((args.add, args.against, args.drop, args.rejudge, args.instead_of)):
        raise Problem("--abandon stands alone: it drops the refresh that is under way")
    folder.config()
    with RunLock(folder.path):
        dropped = history.abandon(folder)
        write_reports_again(folder)
    said = "the run is as it was before; the calls made stay in the journal, and the report counts them"
    tell(f"dropped: {dropped.told}; {said}", file=sys.stderr)
    if args.json:
        print_object(ended(args.command, 0, run=str(folder.path)))
    return 0


def _change(args: argparse.Namespace) -> Change:
    from frontdesk.runner.refresh import Change
    from runstore.tables import clean_name

    parts = {
        key: tuple(map(clean_name, getattr(args, key)))
        for key in ("add", "against", "drop", "rejudge", "instead_of")
    }
    change = Change(**parts)
    if not (change.add or change.drop or change.rejudge):
        raise Problem("nothing to change: expected --add NAME, --drop NAME or --rejudge JUDGE")
    if change.against and not change.add:
        raise Problem("--against goes with --add")
    if change.instead_of and not change.rejudge:
        raise Problem("--instead-of goes with --rejudge")
    if twice := next((n for names in parts.values() for n in names if names.count(n) > 1), None):
        raise Problem(f"{twice!r} is named twice")
    return change


def _given(args: argparse.Namespace, change: Change, before: Config) -> tuple[dict[str, Table], Table | None]:
    """Tables of new endpoints by name, and a budget where the given configuration has one."""
    from frontdesk.runner import config_file as configuration
    from frontdesk.runner.config import BudgetSection

    names = [*change.add, *change.rejudge]
    tables: dict[str, Table] = {}
    budget: Table | None = None
    if args.config is not None:
        config = configuration.load(args.config)
        tables = {name: config.endpoints[name] for name in names if name in config.endpoints}
        if config.budget != BudgetSection():
            budget = config.budget.model_dump(exclude_none=True)
        lacking = next((name for name in names if name not in (*config.endpoints, *before.endpoints)), None)
        if lacking is not None and args.endpoint_file is None and not args.set:
            known = nearest(lacking, config.endpoints) or ", ".join(config.endpoints)
            raise Problem(f"{args.config}: found no [endpoints.{lacking}], expected one of its endpoints: {known}")
    if args.endpoint_file is not None or args.set:
        if len(names) != 1:
            raise Problem(f"--endpoint-file and --set describe one endpoint, but {len(names)} are named")
        tables[names[0]] = _described(args, names[0], tables.get(names[0], before.endpoints.get(names[0], {})))
    return tables, budget


def _described(args: argparse.Namespace, name: str, table: Table) -> Table:
    from frontdesk.runner import config_file as configuration
    from frontdesk.runner import inputs

    path: Path | None = args.endpoint_file
    if path is not None:
        data, text = configuration.read_toml(path)
        data = inputs.with_whole_paths({"endpoints": {name: data}}, Path(), path.parent)
        table = configuration.parse(data, path, text).endpoints[name]
    return _with_settings(table, args.set)


def _with_settings(table: Table, settings: Iterable[str]) -> Table:
    """The table with ``KEY=VALUE`` put in: values are TOML, or else plain text; ``price.input=0.3`` nests."""
    table = dict(table)
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or not key:
            raise Problem(f"--set: found {setting!r}, expected KEY=VALUE")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, KeyError):
            value = text
        outer, _, inner = key.partition(".")
        inside = table.get(outer)
        table[outer] = {**(inside if isinstance(inside, dict) else {}), inner: value} if inner else value
    return table


def _show(session: Session, line: Refresh, *, is_new: bool) -> None:
    from frontdesk.cli.listing import print_table
    from frontdesk.report.sections.run.refresh import table
    from runstore.publish import to_json

    if not is_new:
        tell("nothing was new: the leaderboard and its history stay as they are", file=sys.stderr)
    if session.as_json:
        session.own = to_json(line).decode() + "\n"
        return
    shown = table(line, console_language())
    rows = [[cell.text for cell in row] for row in shown.rows]
    print_table("before → now", [column.title for column in shown.columns], rows)
