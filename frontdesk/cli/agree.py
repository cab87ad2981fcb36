"""``tutor-arena agree``: agreement statistics for anybody's table of ratings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from frontdesk.cli import options
from frontdesk.runner.told import tell
from runstore.languages import languages


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ratings",
        type=options.source,
        required=True,
        metavar="FILE",
        help="CSV, TSV, XLSX, JSON lines, a JSON array or Parquet, with the columns item, rater, value; many "
        "files as FOLDER, PATTERN or s3://…",
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
    parser.add_argument("--resamples", type=int, default=1000, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument(
        "--language", choices=languages(), default="en", help="of agreement.md and .html (default: en)"
    )
    parser.add_argument("--json", action="store_true", help="print agreement.json to standard output as well")


def run(args: argparse.Namespace) -> int:
    """Writes agreement.json, .md and .html; prints the Markdown, or the JSON if asked."""
    from frontdesk.report.sections.agreement.document import document
    from frontdesk.report.writers import console
    from frontdesk.report.writers.html import html
    from frontdesk.report.writers.markdown import markdown
    from frontdesk.runner.agreement import Wishes, agree, write_record
    from runstore.publish import to_json, write_text

    wishes = Wishes(
        scale=args.scale,
        measurement=args.level,
        by=args.by,
        reference=args.reference,
        level=args.confidence,
        resamples=args.resamples,
        seed=args.seed,
    )
    agreed = agree(args.ratings, wishes)
    report = document(agreed, args.language)
    text = markdown(report)
    record = write_record(args.out, agreed)
    pages = [args.out / "agreement.md", args.out / "agreement.html"]
    write_text(pages[0], text)
    write_text(pages[1], html(report))
    if not args.json and sys.stdout.isatty():
        console.show(report, sections=None)
    else:
        sys.stdout.write(to_json(agreed.row(), indent=True).decode() + "\n" if args.json else text)
    tell(f"written: {', '.join(map(str, (record, *pages)))}", file=sys.stderr)
    return 0
