"""``tutor-arena watch RUN``: a local page that shows a run as it goes."""

from __future__ import annotations

import argparse
import sys
import threading

from frontdesk.cli import options
from frontdesk.runner.told import tell


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument(
        "--port", type=options.port, default=0, metavar="N", help="of 127.0.0.1 (default: a free one)"
    )
    parser.add_argument("--json", action="store_true", help="print the run as it stands now, and leave")


def run(args: argparse.Namespace) -> int:
    """0, when it is interrupted."""
    from frontdesk.cli.listing import print_object
    from frontdesk.runner.watching import watched

    run_watched = watched(options.run_folder(args))
    if args.json:
        print_object(run_watched.look())
        return 0
    from frontdesk.web.watch import watching

    try:
        with watching(run_watched, args.port) as address:
            tell(f"watch: {address}  (Ctrl-C ends the page, not the run)", file=sys.stderr, flush=True)
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    return 0
