"""``tutor-arena questions``: the bank of seed questions, or a file of one's own, listed or exported."""

from __future__ import annotations

import argparse
from pathlib import Path

from frontdesk.cli.listing import counted, print_json_lines, print_table, write_file
from frontdesk.runner.told import head
from runstore.languages import languages
from runstore.problems import Problem
from runstore.records import SeedQuestion
from seed_questions import DEFAULT, load, path_of_bank
from seed_questions.banks import subject_name

_HEADER = ("id", "subject", "difficulty", "levels", "tags", "language", "text")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="your own questions: a table (CSV, TSV, XLSX, JSON, Parquet), YAML or text, or a folder",
    )
    parser.add_argument("--bank", metavar="NAME", help=f"a shipped bank (default: {DEFAULT})")
    parser.add_argument(
        "--language", choices=languages(), default="en", help="language of the texts (default: en)"
    )
    parser.add_argument("--subject", action="append", metavar="NAME", help="only this subject (may be repeated)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on stdout")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to a .jsonl or .csv file")


def run(args: argparse.Namespace) -> int:
    if args.input is not None and args.bank is not None:
        raise Problem("--bank goes without --input: give one of them")
    path = args.input if args.input is not None else path_of_bank(args.bank or DEFAULT)
    questions = _chosen(load(path, args.language), args.subject or [])
    if args.output:
        rows = [
            [
                each.id,
                each.subject,
                each.difficulty,
                "; ".join(f"{factor}: {', '.join(named)}" for factor, named in each.levels.items()),
                ";".join(each.tags),
                each.language,
                each.text,
            ]
            for each in questions
        ]
        write_file(args.output, questions, _HEADER, rows)
    if args.json:
        print_json_lines(questions)
    elif not args.output:
        subjects = len({each.subject for each in questions})
        shown = [
            [each.id, subject_name(each.subject, args.language), head(each.difficulty), each.text]
            for each in questions
        ]
        print_table(
            f"{counted(len(questions), 'question')}, {counted(subjects, 'subject')}",
            ("id", "subject", "difficulty", "text"),
            shown,
        )
    return 0


def _chosen(questions: list[SeedQuestion], subjects: list[str]) -> list[SeedQuestion]:
    known = sorted({each.subject for each in questions})
    for name in subjects:
        if name not in known:
            raise Problem(f"no subject {name!r}; there are {', '.join(known)}")
    return [each for each in questions if not subjects or each.subject in subjects]
