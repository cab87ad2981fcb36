"""``tutor-arena verify``: recompute everything after the journal, offline, and compare byte for byte."""

from __future__ import annotations

import argparse

from frontdesk.cli import options
from frontdesk.cli.listing import padded
from frontdesk.runner.told import head, told


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")


def run(args: argparse.Namespace) -> int:
    """0, or 1 where a file is different, missing or stale."""
    from frontdesk.cli.listing import print_object
    from frontdesk.report.run import write_report
    from frontdesk.report.sections.ratings.write import write_markdown
    from frontdesk.report.sections.run.quality import write_quality
    from frontdesk.report.sections.scores.outcome import ScoreTeller
    from frontdesk.report.untrusted import one_line
    from frontdesk.runner.compared import Verified
    from frontdesk.runner.runfolder import RunFolder
    from frontdesk.runner.verify import Publishing, verify

    rows = verify(
        RunFolder(options.run_folder(args)), Publishing(write_report, write_quality, write_markdown, ScoreTeller)
    )
    if args.json:
        print_object(Verified(files=tuple(row.row() for row in rows)))
    else:
        for row in rows:
            state = "DIFFERENT" if row.state == "different" else row.state
            why = f"  ({told(one_line(row.why))})" if row.why else ""
            print(f"{padded(head(state), 9)}  {one_line(row.file)}{why}")
    return 0 if all(row.is_right for row in rows) else 1
