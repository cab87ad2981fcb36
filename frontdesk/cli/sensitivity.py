"""``tutor-arena sensitivity RUN …``: how far the order of tutors hangs on the simulator."""

from __future__ import annotations

import argparse
from pathlib import Path

from runstore.languages import languages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="runs of the same subsets, each under rules or models of its own"
    )
    parser.add_argument("--judges", action="store_true", help="the runs' judges are simulators as well")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the result as JSON")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--language", choices=languages(), help="of what is printed (the first run's)")


def run(args: argparse.Namespace) -> int:
    """0, also where the order is reversed."""
    from frontdesk.report.sections.run.sensitivity import sensitivity_document
    from frontdesk.report.writers import console
    from frontdesk.runner import leaderboard_history as history
    from frontdesk.runner.runfolder import RunFolder
    from frontdesk.runner.sensitivity import compared_runs
    from runstore.publish import to_json, write_json

    folders = [RunFolder(Path(path)) for path in args.runs]
    for folder in folders:
        history.refuse_mixed(folder)
    sensitivity = compared_runs(folders, judges=args.judges)
    if args.out is not None:
        write_json(args.out, sensitivity.to_json())
    if args.json:
        print(to_json(sensitivity, indent=True).decode())
    else:
        language = args.language or folders[0].config().run.language
        console.show(sensitivity_document(sensitivity, language), sections=None)
    return 0
