"""``tutor-arena init``: write a commented configuration file."""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.problems import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        default=Path("arena.toml"),
        help="where to (default: arena.toml)",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    options.add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    if args.file.exists() and not args.force:
        raise Problem(f"{args.file} is there already; --force writes over it")
    from runstore.publish import write_text

    example = (files("frontdesk") / "example.toml").read_text(encoding="utf-8")
    language = console_language()
    write_text(args.file, example.replace('language = "en" ', f'language = "{language}" ', 1))
    tell(f"wrote {args.file}; next: tutor-arena check {args.file}")
    return 0
