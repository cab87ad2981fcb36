"""``tutor-arena score``: a rubric filled in by judges for dialogues, or for any questions and answers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from frontdesk.scoring import Wishes
from runstore.problems import Problem


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--input", type=Path, required=True, metavar="FILE", help="dialogues or question/answer rows: JSONL or CSV"
    )
    parser.add_argument(
        "--rubric", required=True, metavar="NAME_OR_YAML", help="qac, meeting_minutes, socratic, or a YAML file"
    )
    parser.add_argument(
        "--judge",
        action="append",
        required=True,
        metavar="NAME",
        help="an endpoint of the configuration; repeatable",
    )
    parser.add_argument("--config", type=Path, required=True, metavar="CONFIG", help="a TOML configuration")
    parser.add_argument("--out", dest="folder", required=True, metavar="DIR", help="where journal and results go")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="sheets per judge and subject (3)")
    parser.add_argument(
        "--reask", type=int, default=2, metavar="N", help="further requests for missing values (2)"
    )
    tables = parser.add_argument_group("tables")
    tables.add_argument(
        "--by", action="append", default=[], metavar="COLUMN", help="summary per value of a column; repeatable"
    )
    tables.add_argument(
        "--compare",
        action="append",
        metavar="COLUMN[=FIRST,SECOND]",
        help="compare two groups; repeatable (default: every column with two values)",
    )
    tables.add_argument("--match", metavar="COLUMN", help="also compare the groups on rows that share its value")
    tables.add_argument(
        "--sheets", type=Path, metavar="FILE", help="sheets filled in by people (like sheets.jsonl)"
    )
    tables.add_argument("--reference", metavar="NAME", help="compare every judge with this one (a teacher, say)")
    tables.add_argument("--resamples", type=int, default=1000, metavar="N", help="of bootstrap intervals (1000)")
    parser.add_argument("--seed", type=int, help="replaces [run] seed")
    parser.add_argument("--language", choices=("en", "ko"), help="replaces [run] language")
    parser.add_argument("--prompts", metavar="DIR", help="a folder of prompt files that replace the shipped ones")
    parser.add_argument("--change", action="store_true", help="let a changed configuration recompute this folder")
    parser.add_argument("--durable", action="store_true", help="sync the journal to disk with every write")
    parser.add_argument("--json", action="store_true", help="print score.json to standard output")


def run(args: argparse.Namespace) -> int:
    """0 all scored, 1 where a reply failed, was unreadable or lacks values."""
    from arena.rubrics.rubric import load_rubric
    from arena.scoring.sheets import Form, score_all
    from arena.scoring.subjects import load_subjects
    from frontdesk import scoring
    from frontdesk.cli import stages
    from frontdesk.pipeline import MOST_AT_ONCE, Stopping
    from gateway.adapters.catalog import settings_of

    for name in ("repeats", "reask", "resamples"):
        low = 1 if name == "repeats" else 0
        if getattr(args, name) < low:
            raise Problem(f"--{name}: found {getattr(args, name)}, expected {low} or more")
    config = stages.load_config(args)
    judges: list[str] = args.judge
    _check_judges(judges, list(config.endpoints))
    rubric = load_rubric(args.rubric)
    subjects = load_subjects(args.input, rubric)
    folder = Path(config.run.prompts) if config.run.prompts else None
    form = Form.load(rubric, config.run.language, folder)
    wishes = _wishes(args, config.run.seed)
    scoring.check(subjects, wishes)
    people = scoring.read_people(args.sheets, rubric, subjects, judges) if args.sheets else []
    kinds = {judge: settings_of(judge, config.endpoints[judge]).kind for judge in judges}
    raters = [*judges, *(sheet.judge for sheet in people)]
    if wishes.reference is not None and wishes.reference not in raters:
        raise Problem(
            f"--reference: found {wishes.reference!r}, expected one of {', '.join(dict.fromkeys(raters))}"
        )

    async def work(session: stages.Session) -> int:
        gateway, progress = session.pipeline.gateway, session.pipeline.progress
        if gateway is None:
            raise Problem("scoring calls models, but none were opened")
        inputs = {"score": {"file": args.input.name, "subjects": len(subjects), "rubric": rubric.identity}}
        session.folder.write_manifest(config, form.hashes, inputs)
        asked = len(subjects) * len(judges) * args.repeats
        at_once = sum(gateway.endpoints[judge].adapter.settings.concurrency for judge in judges)
        progress.start("score", asked)
        found = await score_all(
            gateway.ask,
            form,
            subjects,
            judges,
            repeats=args.repeats,
            reask=args.reask,
            at_once=min(MOST_AT_ONCE, at_once),
            finished=progress.advance,
        )
        session.folder.replace_failures("score", found.failures)
        scored = scoring.Scored(
            rubric, subjects, judges, args.repeats, found.sheets, found.failures, people, kinds
        )
        provenance = _provenance(rubric.identity, args, len(subjects), judges)
        gaps = scoring.publish(session.folder.path, scored, wishes, provenance)
        if found.stopped is not None:
            raise Stopping(found.stopped, "score", len(found.sheets), asked)
        progress.finish(f"{len(found.sheets)} of {asked} sheets")
        _say(session.folder.path, gaps, as_json=args.json)
        return 1 if found.failures or gaps else 0

    return stages.execute(args, config, judges, work)


def _check_judges(judges: list[str], known: list[str]) -> None:
    for name in judges:
        if name not in known:
            raise Problem(f"--judge: found {name!r}, expected one of {', '.join(known) or 'none'} (endpoints)")
    if twice := [name for name in judges if judges.count(name) > 1]:
        raise Problem(f"--judge: found {twice[0]!r} twice, expected each judge once")


def _wishes(args: argparse.Namespace, seed: int) -> Wishes:
    wanted: list[str] | None = args.compare
    compare = None if wanted is None else dict(_two_groups(wish) for wish in wanted)
    return Wishes(args.by, compare, args.match, args.reference, args.resamples, seed)


def _two_groups(wish: str) -> tuple[str, tuple[str, str] | None]:
    column, _, values = wish.partition("=")
    pair = values.split(",") if values else []
    if len(pair) not in (0, 2) or (len(pair) == 2 and pair[0] == pair[1]):
        raise Problem(f"--compare: found {wish!r}, expected COLUMN or COLUMN=FIRST,SECOND")
    return column, (pair[0], pair[1]) if pair else None


def _provenance(identity: str, args: argparse.Namespace, subjects: int, judges: list[str]) -> str:
    return (
        f"{subjects} subjects of {args.input.name}; rubric {identity}; judges {', '.join(judges)}, "
        f"{args.repeats} sheets each, majority per element and median per scale."
    )


def _say(folder: Path, gaps: list[str], *, as_json: bool) -> None:
    for gap in gaps:
        print(gap, file=sys.stderr)
    if as_json:
        sys.stdout.write((folder / "score.json").read_text(encoding="utf-8"))
    else:
        print(f"{folder / 'score.html'}")
