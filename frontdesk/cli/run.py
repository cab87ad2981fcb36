"""``tutor-arena run CONFIG``: every stage in order, resuming what exists."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from frontdesk.cli import stages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", type=Path, help="a TOML configuration (tutor-arena init writes one)"
    )
    stages.add_run_options(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="check everything and print the estimate; call nothing"
    )


def run(args: argparse.Namespace) -> int:
    config = stages.load_config(args)
    for section in ("simulate", "collect", "judge"):
        config.section(section)
    if args.dry_run:
        from frontdesk.cli import estimate

        return estimate.show(config)

    code = stages.execute(args, config, config.used_endpoints(), stages.all_stages)
    if code in (0, 1):
        from frontdesk.report.run_report import console_summary

        folder = stages.folder_of(args, config)
        console_summary(folder)
        print(f"report: {folder.file('report.html')}", file=sys.stderr)
    return code
