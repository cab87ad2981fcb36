"""``tutor-arena human``: plan, serve, import and analyse a human study."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import console_language, tell
from runstore.languages import languages
from runstore.problems import Problem

if TYPE_CHECKING:
    Steps = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage] - no public name

RESULTS = ("result", "judges", "votes")
"""The sections of an analysis that answer; the rest is for its pages."""
EXAMPLES = ("document-review", "tutor-votes")


def configure(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    init = _step(steps, "init", "write an example study to start from")
    init.add_argument("folder", metavar="FOLDER", type=Path, help="where to write it; must not hold a study yet")
    init.add_argument(
        "--example", choices=EXAMPLES, default="document-review", help="which one (default document-review)"
    )
    init.add_argument("--language", choices=languages(), help="the study's first, and of what is printed")
    init.set_defaults(step_run=_init)
    plan = _step(steps, "plan", "who rates what, with its certificate and budget")
    plan.add_argument("study", metavar="STUDY", type=Path, help="the study file (TOML or YAML)")
    plan.add_argument("--out", type=Path, required=True, metavar="DIR", help="the study's folder, made here")
    plan.add_argument("--seed", type=int, metavar="N", help="instead of the study file's")
    plan.add_argument("--language", choices=languages(), help="of what is printed (default: the study's first)")
    plan.set_defaults(step_run=_plan)
    serve = _on_folder(steps, "serve", "collect answers in a web app (one personal link per rater)", _serve)
    serve.add_argument(
        "--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1, this machine only)"
    )
    serve.add_argument("--port", type=options.port, default=8770, help="0 takes a free one (default: 8770)")
    serve.add_argument("--address", help="how raters reach it, such as https://study.example.org; for the links")
    forms = _on_folder(steps, "forms", "printable forms and CSV files to type answers into", _forms)
    forms.add_argument("--language", choices=languages(), help="of the texts (default: the study's first)")
    forms.add_argument("--pdf", action="store_true", help="also print to PDF with the Chromium on this machine")
    take = _on_folder(steps, "import", "take in forms that came back as tables", _import)
    take.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a table of any form: rater,document,question,value[,position,seconds,submitted_at]; several are "
        "read as one",
    )
    swap = _on_folder(steps, "replace", "give the open items of a rater who left to another", _replace)
    swap.add_argument("--rater", required=True, metavar="NAME", help="who left")
    swap.add_argument("--by", metavar="NAME", help="who takes over (default: a new rater of the same group)")
    leave = _on_folder(steps, "withdraw", "delete everything a person gave, by their code", _withdraw)
    leave.add_argument("code", metavar="CODE", help="the withdrawal code the person was shown")
    purge = _on_folder(steps, "purge", "delete the data when their retention period is over", _purge)
    purge.add_argument("--early", action="store_true", help="before the period is over")
    purge.add_argument(
        "--persons", action="store_true", help="names, links and codes only: makes the rest anonymous"
    )
    study = _step(steps, "analyze", "the results table, agreement, strata, money, votes")
    study.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="the folder that human plan made")
    study.add_argument(
        "--study", type=Path, metavar="FILE", help="instead of a folder: a study file, with --ratings and --out"
    )
    study.add_argument(
        "--ratings", type=Path, metavar="FILE", help="a ratings.csv, or such a table of any form, from elsewhere"
    )
    study.add_argument("--out", type=Path, metavar="DIR", help="where to write (default: the folder)")
    study.add_argument(
        "--run", dest="run_folder", type=Path, metavar="DIR", help="the run whose matches people voted on"
    )
    study.add_argument(
        "--scores", type=Path, metavar="FILE", help="judges' scores of the same documents (see human sessions)"
    )
    study.add_argument("--language", choices=languages(), help="of labels and texts (default: the study's first)")
    study.set_defaults(step_run=_analyze)
    sessions = _on_folder(steps, "sessions", "write the study's documents for score to score", _sessions)
    sessions.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write (JSON lines)")
    sessions.add_argument("--language", choices=languages(), help="of the texts (default: the study's first)")
    themes = _step(steps, "themes", "count coded themes of free texts, with the coders' agreement")
    themes.add_argument(
        "coded",
        type=Path,
        metavar="CODED",
        help="a table of any form: rater,document,question,coder,theme[,condition]",
    )
    themes.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="where themes.json and themes.md go"
    )
    themes.add_argument("--language", choices=languages(), default="en", help="of themes.md")
    themes.set_defaults(step_run=_themes)
    for name, step in steps.choices.items():
        if name != "serve":
            options.add_json_option(step)


def _step(steps: Steps, name: str, summary: str) -> argparse.ArgumentParser:
    return steps.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")


def _on_folder(
    steps: Steps, name: str, summary: str, step_run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser = _step(steps, name, summary)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the folder that human plan made")
    parser.set_defaults(step_run=step_run)
    return parser


def run(args: argparse.Namespace) -> int:
    """What people gave, and all that is made of it, is for the study's owner alone."""
    if args.step == "init":
        return args.step_run(args)
    before = os.umask(0o077)
    try:
        return args.step_run(args)
    finally:
        os.umask(before)


def _init(args: argparse.Namespace) -> int:
    from frontdesk.runner.study import start

    target = start(args.folder, args.example, args.language)
    tell(f"{target}: read it, change it, then: tutor-arena human plan {target} --out {args.folder / 'plan'}")
    return 0


def _plan(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.report.sections.study.budget import budget_blocks
    from frontdesk.report.writers import console
    from frontdesk.report.writers.markdown import blocks_as_markdown

    planned = StudyFolder(args.out).plan(args.study, args.seed)
    for invariant in planned.plan.certificate:
        mark = "holds" if invariant.holds else "FAILS"
        value = f"{invariant.smallest:g} to {invariant.largest:g}"
        bound = f"(bound {invariant.low:g} to {invariant.high:g})"
        tell(f"{mark}  {invariant.group}: {invariant.meaning}: {value} {bound}")
    budget = budget_blocks(planned.study, console_language())
    if sys.stdout.isatty():
        console.show_blocks(budget)
    else:
        tell("\n" + "\n".join(blocks_as_markdown(budget)))
    if planned.material.masked:
        tell(f"names masked in {planned.material.masked} of {planned.material.texts} texts", file=sys.stderr)
    if not planned.study.ethics_approval:
        tell("no ethics approval number yet: enter it in the study file before the study", file=sys.stderr)
    tell(f"{len(planned.plan.rows)} items planned in {args.out}")
    if not planned.plan.holds:
        tell("incomplete: not every invariant holds; see certificate.json", file=sys.stderr)
    return 0 if planned.plan.holds else 1


def _serve(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.serve import serve

    def say(line: str) -> None:
        tell(line, flush=True)

    serve(StudyFolder(args.folder), host=args.host, port=args.port, address=args.address, tell=say)
    return 0


def _forms(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.paper import write_forms

    raters, made = write_forms(StudyFolder(args.folder), language=args.language, pdf=args.pdf)
    tell(f"{args.folder / 'forms'}: forms of {raters} raters as HTML and CSV, {made} as PDF")
    if args.pdf and made < raters:
        tell(
            f"incomplete: {raters - made} of {raters} PDFs were not made (is Chromium here?)",
            file=sys.stderr,
        )
        return 1
    return 0


def _import(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.desk import import_forms

    done = import_forms(StudyFolder(args.folder), *args.files)
    report = done.report
    repeats = report["exact_repeats_ignored"]
    if not done.complete:
        tell(f"incomplete: {len(report['conflicts']) + len(report['unreadable'])} answers were not taken")
    tell(f"{report['rows']} answers about {report['items']} items read, {done.changed} items changed")
    if repeats:
        tell(f"{repeats} exact repeat{'s' if repeats > 1 else ''} ignored")
    tell(f"rule: {report['rule']}")
    for kind in ("settled_by_time", "conflicts", "unreadable"):
        for line in report[kind]:
            tell(f"{kind.replace('_', ' ')}: {line}")
    return 0 if done.complete else 1


def _replace(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.desk import replace

    name, moved = replace(StudyFolder(args.folder), args.rater, args.by)
    tell(f"{moved} open items of {args.rater} now belong to {name}; their link is on the organiser's page")
    return 0


def _withdraw(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.desk import withdraw

    rater = withdraw(StudyFolder(args.folder), args.code)
    tell(f"everything of {rater} is deleted, and what was analysed is analysed again")
    tell(f"to give their items to another: tutor-arena human replace {args.folder} --rater {rater}")
    return 0


def _analyze(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.report.writers import console
    from frontdesk.web.desk import analyze_folder, analyze_table

    out: Path
    if args.folder is not None:
        given = {"ratings": args.ratings, "out": args.out, "run": args.run_folder, "language": args.language}
        given["scores"] = args.scores
        done = analyze_folder(StudyFolder(args.folder), **given)
        out = args.out or args.folder
    elif args.study and args.ratings and args.out:
        out = args.out
        done = analyze_table(
            args.study, args.ratings, out, run=args.run_folder, language=args.language, scores=args.scores
        )
    else:
        raise Problem("give a study's folder, or --study FILE --ratings FILE --out DIR")
    counted = f"{done.page.title}: {done.finished} of {done.planned} items are finished, {done.raters} raters"
    tell(f"incomplete: {counted}" if done.missing else counted)
    console.show(replace(done.page, banner=[]), sections=RESULTS)
    tell(f"written: {out / 'analysis.md'}, .html, .json, .tex, .csv")
    return 1 if done.missing else 0


def _sessions(args: argparse.Namespace) -> int:
    from arena.human.against import sessions
    from arena.human.folder import StudyFolder
    from runstore.publish import write_jsonl

    folder = StudyFolder(args.folder)
    rows = list(sessions(folder.documents().values(), args.language or folder.study().languages[0]))
    write_jsonl(args.out, rows)
    tell(f"{len(rows)} sessions in {args.out}; then: tutor-arena human analyze FOLDER --scores scores.csv")
    return 0


def _themes(args: argparse.Namespace) -> int:
    from arena.human.themes import read_coded
    from frontdesk.report.sections.study.document import themes_document
    from frontdesk.report.writers import console
    from frontdesk.report.writers.markdown import markdown
    from runstore.publish import write_json, write_text

    themes = read_coded(args.coded)
    document = themes_document(themes, args.language)
    text = markdown(document)
    args.out.mkdir(parents=True, exist_ok=True)
    write_json(args.out / "themes.json", themes)
    write_text(args.out / "themes.md", text)
    if sys.stdout.isatty():
        console.show(document, sections=None)
    else:
        tell(text)
    return 0


def _purge(args: argparse.Namespace) -> int:
    from arena.human.folder import StudyFolder
    from frontdesk.web.desk import forget_persons, purge

    folder = StudyFolder(args.folder)
    if args.persons:
        forget_persons(folder)
        tell("names, links and codes are deleted; the ratings are anonymous")
        return 0
    gone = purge(folder, early=args.early)
    tell(f"deleted: {', '.join(gone) if gone else 'nothing, there was nothing'}")
    return 0
