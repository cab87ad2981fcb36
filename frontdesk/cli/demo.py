"""``tutor-arena demo``: the whole pipeline on the embedded model, no key needed."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from frontdesk.cli import options
from frontdesk.runner.told import tell
from runstore.problems import Problem

if TYPE_CHECKING:
    from frontdesk.cli.stages import Session

DEMO_FOLDER = "runs/demo"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run", dest="folder", metavar="DIR", default=DEMO_FOLDER, help=f"the run folder (default {DEMO_FOLDER})"
    )
    parser.add_argument("--dialogues", type=int, default=8, metavar="N", help="dialogues (default 8)")
    parser.add_argument("--turns", type=int, default=3, metavar="T", help="turns of each dialogue (default 3)")
    parser.add_argument("--subsets", type=int, default=16, metavar="M", help="subsets to compare on (default 16)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="every random choice comes from it (default 1)"
    )
    options.add_json_option(parser)
    parser.set_defaults(language=None, prompts=None, change=True, durable=False)


def run(args: argparse.Namespace) -> int:
    from frontdesk.cli import stages
    from frontdesk.runner import config_file as configuration
    from gateway.local_model.fetch import ensure_model

    if find_spec("xllamacpp") is None:
        raise Problem(
            "demo: found no xllamacpp, which runs the embedded model; pip install 'tutor-arena[local]', or "
            "tutor-arena init for a run on your own endpoints"
        )
    rounds = 3 * args.subsets
    tell(
        "A small tournament between two tutors of the embedded model: one asks (socratic), one tells (plain).\n"
        f"{args.dialogues} dialogues of {args.turns} turns, {args.subsets} subsets, {rounds} judgments; "
        "a few minutes on two cores, no key, nothing leaves this machine.\n"
        "The model has 135 million parameters: its verdicts show how the product works, they are no evidence.",
        file=sys.stderr,
    )
    config = configuration.parse(settings(args.dialogues, args.turns, args.subsets, args.seed))
    ensure_model()

    async def work(session: Session) -> int:
        code = await stages.whole_run(session)
        # What so small a model left unfinished is as expected; a call that failed for any other reason is not.
        if code == 1 and all(failure.kind == "truncated" for failure in session.folder.failures()):
            tell(
                "Some answers could not be read or were cut off, as small models go; "
                "the report says so at its top.",
                file=sys.stderr,
            )
            return 0
        return code

    return stages.execute(args, config, config.used_endpoints(), work)


def settings(dialogues: int, turns: int, subsets: int, seed: int) -> dict[str, object]:
    """The demonstration as a configuration, as ``run.toml`` will hold it."""
    tiny = {"kind": "local", "concurrency": 4}
    return {
        "run": {"name": "demo", "seed": seed},
        "endpoints": {
            "student": tiny,
            "teacher": {**tiny, "style": "socratic"},
            "asks": {**tiny, "style": "socratic"},
            "tells": {**tiny, "style": "plain"},
            "judge": tiny,
        },
        "simulate": {
            "dialogues": dialogues,
            "turns": turns,
            "student": "student",
            "teacher": "teacher",
            "acts": "knowledge",
        },
        "cut": {"subsets": subsets},
        "collect": {"endpoints": ["asks", "tells"]},
        "judge": {"endpoints": ["judge"], "rounds": 3, "order": "balanced"},
        # So small a model cannot label moves: the topics' own phrases do, and the report says so.
        "student": {"labellers": ["phrases"], "branches": [1], "panel": 60},
    }
