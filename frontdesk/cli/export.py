"""``tutor-arena export``: a run as data sets for other tools, each with a data card."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import tell
from runstore.problems import Problem, nearest

if TYPE_CHECKING:
    from frontdesk.export.write import Exported, Form


def configure(parser: argparse.ArgumentParser) -> None:
    options.add_run_folder(parser)
    parser.add_argument(
        "--as",
        dest="forms",
        required=True,
        metavar="FORM[,FORM...]",
        help="one or several of: openai: chat fine-tuning rows; sharegpt: conversations; preference: one row a "
        "winner; lmarena: battles as FastChat and arena-rank read them; "
        "inspect: a log an endpoint for Inspect's viewer and data frames; "
        "parquet: every stage file as a table; hf: a dataset folder with card; "
        "csv: an utterance a row; page: a few dialogues to look at (HTML)",
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
    from frontdesk.runner.runfolder import RunFolder

    forms = _forms(args.forms)
    if args.out is not None and len(forms) > 1:
        places = {form: args.out / form for form in forms}
    else:
        places = dict.fromkeys(forms, args.out)
    folder = RunFolder(options.run_folder(args))
    history.refuse_mixed(folder)
    done: list[Exported] = []
    for how in [How(form, args.side, args.split, args.licence) for form in forms]:
        exported = export(folder, how, places[how.form])
        done.append(exported)
        if not args.json:
            _tell(exported)
        for name in (*exported.files, exported.card):
            tell(f"wrote {exported.folder / name}", file=sys.stderr)
    if args.json:
        _print_json(done)
    return 0 if all(any(exported.files.values()) for exported in done) else 1


def _forms(given: str) -> list[Form]:
    from frontdesk.export.write import FORMS

    names = list(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    for name in names:
        if name not in FORMS:
            near = nearest(name, FORMS)
            expected = repr(near) if near else f"some of {', '.join(FORMS)}"
            raise Problem(f"--as: found {name!r}, expected {expected}")
    if not names:
        raise Problem(f"--as: found nothing, expected some of {', '.join(FORMS)}")
    return [form for form in FORMS if form in names]


def _tell(exported: Exported) -> None:
    for each in exported.sets:
        tell(f"{each.name}: {len(each.rows)} of {each.of} {each.unit}")
        for reason, times in sorted(each.left_out.items()):
            tell(f"  left out: {times} of {each.of} ({reason})")
        for change, times in sorted(each.changed.items()):
            tell(f"  changed: {times} of {each.of} ({change})")


def _print_json(done: list[Exported]) -> None:
    """export.json as it is; of several forms all of them, in their order, under ``exports``."""
    from runstore.publish import read_json, to_json

    if len(done) == 1:
        sys.stdout.write((done[0].folder / "export.json").read_text("utf-8"))
    else:
        abouts = [read_json(exported.folder / "export.json") for exported in done]
        sys.stdout.write(to_json({"exports": abouts}, indent=True).decode() + "\n")
