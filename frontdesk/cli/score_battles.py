"""``tutor-arena rate --scores``: a table of scores as battles."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runstore.problems import Problem

if TYPE_CHECKING:
    from arena.ratings.battles import Battles


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("with --scores")
    group.add_argument("--model", metavar="COLUMN", help="the column that says whom a row scores")
    group.add_argument("--item", metavar="COLUMN", help="the column that says on what: rows that share it meet")
    group.add_argument("--measure", default="total", metavar="COLUMN", help="the score that decides (total)")
    group.add_argument(
        "--margin", type=float, default=0.0, metavar="POINTS", help="differences up to this tie (0)"
    )


def read(path: Path, args: argparse.Namespace, categories: Sequence[str]) -> Battles:
    """The battles of a scores.csv, written to ``battles.jsonl`` of the output folder as well.

    Pairs that could not meet because one has no score count as invalid. Raises Problem, InputProblem.
    """
    from arena.ratings.reading import Columns, read_battles
    from arena.scoring.battles import battles_from_scores, read_scores
    from runstore.publish import write_jsonl

    if args.out is None or not args.model or not args.item:
        raise Problem("rate --scores: expected --out DIR, --model COLUMN and --item COLUMN as well")
    scores = read_scores(path, model=args.model, item=args.item, measure=args.measure)
    found = battles_from_scores(scores, args.margin)
    if not found.rows:
        raise Problem(
            f"{path}: found no two rows of different {args.model!r} that share {args.item!r}, expected some"
        )
    file = args.out / "battles.jsonl"
    write_jsonl(file, found.rows)
    battles = read_battles(file, Columns(categories=categories))
    return replace(battles, invalid={**battles.invalid, **found.without_score})
