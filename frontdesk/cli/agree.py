"""``tutor-arena agree``: agreement statistics for anybody's table of ratings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ratings",
        type=Path,
        required=True,
        metavar="FILE",
        help="CSV, TSV, XLSX, JSON lines, a JSON array or Parquet, with the columns item, rater, value",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the reports go")
    parser.add_argument(
        "--scale", metavar="SCALE", help="the declared scale: 1..5, or categories in order with commas between"
    )
    parser.add_argument(
        "--level",
        choices=("nominal", "ordinal", "interval", "ratio"),
        help="what the values are (default: numbers interval, labels nominal, labels on a scale ordinal)",
    )
    parser.add_argument("--by", metavar="COLUMN", help="also report per value of this column")
    parser.add_argument("--reference", metavar="RATER", help="compare every rater with this one (a teacher, say)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C", help="of intervals (default 0.95)")
    parser.add_argument(
        "--resamples", type=int, default=1000, metavar="N", help="accepted; draws nothing any more"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="accepted; draws nothing any more")
    parser.add_argument("--json", action="store_true", help="print agreement.json to standard output as well")


def run(args: argparse.Namespace) -> int:
    """Writes agreement.json and agreement.md; prints the Markdown, or the JSON if asked."""
    from arena.agreement.report import report
    from arena.agreement.table import load, parse_scale
    from frontdesk.report.sections.agreement.document import document
    from frontdesk.report.writers.markdown import markdown
    from runstore.problems import Problem
    from runstore.publish import to_json, write_json, write_text

    if not 0.5 <= args.confidence < 1:
        raise Problem(f"--confidence: found {args.confidence:g}, expected 0.5 or more and less than 1")
    if args.resamples < 0:
        raise Problem(f"--resamples: found {args.resamples}, expected 0 or more")
    scale = parse_scale(args.scale) if args.scale else None
    table = load(args.ratings, scale=scale, measurement=args.level, by=args.by)
    found = report(
        table,
        measurement=args.level,
        reference=args.reference,
        level=args.confidence,
        resamples=args.resamples,
        seed=args.seed,
    )
    text = markdown(document(found))
    write_json(args.out / "agreement.json", found.row())
    write_text(args.out / "agreement.md", text)
    sys.stdout.write(to_json(found.row(), indent=True).decode() + "\n" if args.json else text)
    print(f"written: {args.out / 'agreement.json'}, {args.out / 'agreement.md'}", file=sys.stderr)
    return 0
