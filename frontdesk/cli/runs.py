"""``tutor-arena runs``: run folders, how far each came, and what it found."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.runner.told import head, told


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "parent", nargs="?", type=Path, default=Path("runs"), metavar="DIR", help="where to look (runs)"
    )
    parser.add_argument("--cost", action="store_true", help="also what each cost so far (reads the journals)")
    parser.add_argument("--json", action="store_true", help="one JSON object a run on stdout")


def run(args: argparse.Namespace) -> int:
    from dataclasses import asdict

    from frontdesk.cli.listing import counted, print_table
    from frontdesk.report.sections.run.spending import spending_of
    from frontdesk.runner.overview import runs
    from runstore.publish import to_json

    listed = list(runs(args.parent))
    costs = [
        sum(line.usd for line in spending_of(Path(each.folder) / "journal").lines) for each in listed if args.cost
    ]
    if args.json:
        for at, each in enumerate(listed):
            print(to_json(asdict(each) | ({"usd": costs[at]} if args.cost else {})).decode())
        return 0
    header = (
        "run",
        "changed (UTC)",
        "state",
        "endpoints",
        "dialogues",
        "decision",
        *(("USD",) if args.cost else ()),
    )
    rows = [
        [
            Path(each.folder).resolve().name,
            each.changed[:16].replace("T", " "),
            head(each.state),
            ", ".join(each.endpoints),
            "" if each.dialogues is None else str(each.dialogues),
            told(f"{each.leader} better than {', '.join(each.better)}") if each.better else "",
            *((f"{costs[at]:.2f}",) if args.cost else ()),
        ]
        for at, each in enumerate(listed)
    ]
    print_table(counted(len(listed), "run"), header, rows)
    return 0
