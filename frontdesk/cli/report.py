"""``tutor-arena report``: Markdown and HTML from a run folder, or a site to publish."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.languages import languages, words
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.report.site.write import Moved
    from frontdesk.runner.runfolder import RunFolder


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument(
        "--language",
        choices=languages(),
        help="language of the report (default: the run's; another one gives report.<language>.md and .html)",
    )
    parser.add_argument("--site", metavar="OUT", type=Path, help="write a static site to publish into this folder")
    parser.add_argument(
        "--against",
        metavar="RUN_A",
        type=Path,
        help="with --site: also a page of what moved since this run, and which verdicts flipped",
    )
    options.add_plots_option(parser)
    options.add_partial_option(parser)
    parser.add_argument("--quiet", action="store_true", help="write the files; print no summary")
    options.add_json_option(parser)


def _moved(before: Path | None, after: RunFolder) -> Moved | None:
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner.comparing import Texts, compare
    from frontdesk.runner.runfolder import RunFolder

    if before is None:
        return None
    earlier = RunFolder(before)
    history.refuse_mixed(earlier)
    return compare(earlier, after), (Texts(earlier), Texts(after))


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli.listing import print_object
    from frontdesk.report.run import Reported, console_summary, write_plots, write_report
    from frontdesk.report.sections.run.data import load
    from frontdesk.report.sections.run.document import banner, document
    from frontdesk.report.site.write import write_site
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner.rating import rate_again_if_stale
    from frontdesk.runner.runfolder import RunFolder

    folder = RunFolder(options.run_folder(args))
    if args.against is not None and args.site is None:
        raise Problem("--against: expected --site OUT beside it; two runs alone: tutor-arena compare RUN_A RUN_B")
    folder.config()
    with history.held(folder):
        if newer := rate_again_if_stale(folder):
            listed = ", ".join(newer)
            tell(f"leaderboard.json was older than {listed}: rated again as before", file=sys.stderr)
        data = load(folder)
        if args.site is not None:
            paths = [write_site(data, args.site, args.language, _moved(args.against, folder))]
            tell(f"site: {paths[0]}", file=sys.stderr)
            tell(
                f"{args.site} holds the site alone, to publish as it is; report.md and report.html in "
                f"{folder.path} are not written again: tutor-arena report {folder.path}",
                file=sys.stderr,
            )
        else:
            paths = write_report(folder, args.language, data)
            for path in paths:
                tell(f"report: {path}", file=sys.stderr)
        if args.plots:
            drawn = write_plots(data, (args.site or folder.path) / "plots", args.plots, args.language)
            for path in drawn:
                tell(f"plot: {path}", file=sys.stderr)
            paths += drawn
    if args.site is None and not args.quiet:
        console_summary(folder, args.language, sys.stderr if args.json else None, data)
    else:
        for line in banner(data, words("frontdesk.report", "run", console_language())):
            print(line, file=sys.stderr)
    allowed = args.allow_partial
    code = int(data.incomplete and (allowed is None or data.lost > allowed))
    if args.json:
        print_object(
            Reported(
                run=str(folder.path),
                exit_code=code,
                files=tuple(map(str, paths)),
                incomplete=data.incomplete,
                lost=data.lost,
                banner=tuple(document(data, args.language or data.config.run.language).banner),
                leaderboard=data.board,
            )
        )
    return code
