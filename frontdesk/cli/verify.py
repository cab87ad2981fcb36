"""``tutor-arena verify``: recompute everything after the journal, offline, and compare byte for byte."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", dest="folder", metavar="DIR", required=True, help="the run folder")
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")


def run(args: argparse.Namespace) -> int:
    from frontdesk.runner.runfolder import RunFolder
    from frontdesk.runner.verify import compare, recompute
    from runstore.publish import to_json

    folder = RunFolder(Path(args.folder))
    config = folder.config()
    with tempfile.TemporaryDirectory(prefix="tutor-arena-verify-") as scratch:
        again = RunFolder(Path(scratch), journal=folder.journal)
        recompute(folder, again, config)
        rows = compare(folder.path, again.path)
    if args.json:
        print(to_json({"files": [{"file": name, "same": same, "why": why} for name, same, why in rows]}).decode())
    else:
        for name, same, why in rows:
            print(f"{'same     ' if same else 'DIFFERENT'}  {name}{f'  ({why})' if why else ''}")
    return 0 if all(same for _, same, _ in rows) else 1
