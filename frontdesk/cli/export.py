"""``tutor-arena export``: a run as data sets for other tools, each with a data card."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from frontdesk.cli import options
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.told import tell


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument(
        "--as",
        dest="form",
        required=True,
        choices=("openai", "sharegpt", "preference", "lmarena", "inspect", "parquet", "hf"),
        help="openai: chat fine-tuning rows; sharegpt: conversations; preference: one row a winner; "
        "lmarena: battles as FastChat and arena-rank read them; "
        "inspect: a log an endpoint for Inspect's viewer and data frames; "
        "parquet: every stage file as a table; hf: a dataset folder with card",
    )
    parser.add_argument(
        "--side", choices=("teacher", "student"), default="teacher", help="whose part is learnt, openai (teacher)"
    )
    parser.add_argument(
        "--split", type=float, metavar="SHARE", help="a test part of this share of dialogues, drawn by identity"
    )
    parser.add_argument(
        "--licence", "--license", metavar="NAME", help="named in the card (default: left to fill in)"
    )
    parser.add_argument(
        "--out", "--output", dest="out", type=Path, metavar="DIR", help="default: export/FORM in the run"
    )
    parser.add_argument("--json", action="store_true", help="print what was counted as JSON")


def run(args: argparse.Namespace) -> int:
    """Write the export. 0 done; 1 where a data set came out without a single row."""
    from frontdesk.export.write import How, export
    from frontdesk.runner import leaderboard_history as history

    how = How(args.form, args.side, args.split, args.licence)
    folder = RunFolder(options.run_folder(args))
    history.refuse(folder)
    done = export(folder, how, args.out)
    if args.json:
        sys.stdout.write((done.folder / "export.json").read_text("utf-8"))
    else:
        for each in done.sets:
            tell(f"{each.name}: {len(each.rows)} of {each.of} {each.unit}")
            for reason, times in sorted(each.left_out.items()):
                tell(f"  left out: {times} of {each.of} ({reason})")
            for change, times in sorted(each.changed.items()):
                tell(f"  changed: {times} of {each.of} ({change})")
    for name in done.files:
        tell(f"wrote {done.folder / name}", file=sys.stderr)
    return 0 if any(each.rows for each in done.sets) else 1
