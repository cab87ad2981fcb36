"""``tutor-arena report``: Markdown and HTML from a run folder, or a site to publish."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.runfolder import RunFolder

if TYPE_CHECKING:
    from frontdesk.report.run_data import RunData


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", dest="folder", metavar="DIR", type=Path, required=True, help="the run folder")
    parser.add_argument(
        "--language",
        choices=("en", "ko"),
        help="language of the report (default: the run's; another one gives report.<language>.md and .html)",
    )
    parser.add_argument("--quiet", action="store_true", help="write the files; print no summary")


def run(args: argparse.Namespace) -> int:
    from frontdesk.report.run_data import load
    from frontdesk.report.run_report import console_summary, write_report

    folder = RunFolder(args.folder)
    for path in write_report(folder, args.language):
        print(f"report: {path}", file=sys.stderr)
    if not args.quiet:
        console_summary(folder, args.language)
    return _code(load(folder, journal=False))


def _code(data: RunData) -> int:
    """1 where something is missing, unreadable or invalid, as for the run itself."""
    return 1 if data.incomplete else 0
