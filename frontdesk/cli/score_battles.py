"""The options of ``tutor-arena rate --scores``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.runner.score_battles import ScoreColumns


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --scores")
    group.add_argument("--model", metavar="COLUMN", help="the column that says whom a row scores")
    group.add_argument("--item", metavar="COLUMN", help="the column that says on what: rows that share it meet")
    group.add_argument("--measure", default="total", metavar="COLUMN", help="the score that decides (total)")
    group.add_argument(
        "--margin", type=float, default=0.0, metavar="POINTS", help="differences up to this tie (0)"
    )


def columns(args: argparse.Namespace) -> ScoreColumns:
    """The columns named. Raises Problem where one is needed and not named."""
    from frontdesk.runner.score_battles import ScoreColumns

    if args.out is None or not args.model or not args.item:
        raise Problem("rate --scores: expected --out DIR, --model COLUMN and --item COLUMN as well")
    return ScoreColumns(args.model, args.item, args.measure, args.margin)
