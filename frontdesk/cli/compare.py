"""``tutor-arena compare RUN_A RUN_B``: what moved between two runs, with intervals, and which verdicts flipped."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from frontdesk.runner.told import tell
from runstore.languages import languages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", type=Path, metavar="RUN_A", help="a rated run folder")
    parser.add_argument("after", type=Path, metavar="RUN_B", help="another: later, or under another judge")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="also write compare.json, .md and .html with the texts"
    )
    parser.add_argument("--language", choices=languages(), help="of what is said (default: that of RUN_B)")
    parser.add_argument("--json", action="store_true", help="print the comparison as one JSON object")


def run(args: argparse.Namespace) -> int:
    from frontdesk.report.sections.comparison.document import document, write_comparison
    from frontdesk.report.writers import console
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner.comparing import Texts, compare
    from frontdesk.runner.runfolder import RunFolder
    from runstore.publish import to_json

    before, after = RunFolder(args.before), RunFolder(args.after)
    for folder in (before, after):
        history.refuse_mixed(folder)
    language = args.language or after.config().run.language
    comparison = compare(before, after)
    if args.out is not None:
        for path in write_comparison(args.out, comparison, (Texts(before), Texts(after)), language):
            tell(f"wrote {path}", file=sys.stderr)
    if args.json:
        print(to_json(comparison, indent=True).decode())
    else:
        console.show(document(comparison, language=language))
    return 0
