"""``tutor-arena human``: plan, serve, import and analyse a human study."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from runstore.problems import Problem

if TYPE_CHECKING:
    Steps = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]

EXAMPLES = {"document-review": "document_review.toml", "tutor-votes": "tutor_votes.toml"}


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    init = steps.add_parser("init", help="write an example study to start from")
    init.add_argument("folder", type=Path, help="where to write it; must not hold a study yet")
    init.add_argument("--example", choices=list(EXAMPLES), default="document-review")
    init.set_defaults(step_run=_init)
    plan = steps.add_parser("plan", help="who rates what, with its certificate and budget")
    plan.add_argument("study", type=Path, help="the study file (TOML or YAML)")
    plan.add_argument("--out", type=Path, required=True, help="the study's folder, made here")
    plan.add_argument("--seed", type=int, help="instead of the study file's")
    plan.add_argument("--language", choices=["en", "ko"], default="en", help="of the budget's labels")
    plan.set_defaults(step_run=_plan)
    serve = _on_folder(steps, "serve", "collect answers in a web app (one personal link per rater)", _serve)
    serve.add_argument("--host", default="127.0.0.1", help="default 127.0.0.1: this machine only")
    serve.add_argument("--port", type=int, default=8770, help="0 takes a free one")
    serve.add_argument("--address", help="how raters reach it, such as https://study.example.org; for the links")


def _on_folder(
    steps: Steps, name: str, summary: str, step_run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = steps.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    parser.add_argument("folder", type=Path, help="the folder that human plan made")
    parser.set_defaults(step_run=step_run)
    return parser


def run(args: argparse.Namespace) -> int:
    return args.step_run(args)


def _init(args: argparse.Namespace) -> int:
    from arena.human import studies

    folder: Path = args.folder
    target = folder / "study.toml"
    if target.exists():
        raise Problem(f"{target} exists already; it was left as it is")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(studies.FOLDER / EXAMPLES[args.example], target)
    if args.example == "document-review":
        shutil.copyfile(studies.FOLDER / "documents.jsonl", folder / "documents.jsonl")
    print(f"{target}: read it, change it, then: tutor-arena human plan {target} --out {folder / 'plan'}")
    return 0


def _plan(args: argparse.Namespace) -> int:
    from arena.human.budget import budget_text
    from arena.human.folder import StudyFolder

    planned = StudyFolder(args.out).plan(args.study, args.seed)
    for invariant in planned.plan.certificate:
        mark = "holds" if invariant.holds else "FAILS"
        value = f"{invariant.smallest:g} to {invariant.largest:g}"
        bound = f"(bound {invariant.low:g} to {invariant.high:g})"
        print(f"{mark}  {invariant.group}: {invariant.meaning}: {value} {bound}")
    print(f"\n{budget_text(planned.study, args.language)}")
    if planned.material.masked:
        print(f"names masked in {planned.material.masked} of {planned.material.texts} texts", file=sys.stderr)
    if not planned.study.ethics_approval:
        print("no ethics approval number yet: enter it in the study file before the study", file=sys.stderr)
    print(f"{len(planned.plan.rows)} items planned in {args.out}")
    if not planned.plan.holds:
        print("incomplete: not every invariant holds; see certificate.json", file=sys.stderr)
    return 0 if planned.plan.holds else 1


def _serve(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.serve import serve

    def tell(line: str) -> None:
        print(line, flush=True)

    serve(StudyFolder(args.folder), host=args.host, port=args.port, address=args.address, tell=tell)
    return 0
