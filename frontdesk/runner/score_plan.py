"""What a scoring run is made of: its plan and its material, checked, and kept in its folder to be made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.rubrics.rubric import Rubric, load_rubric
from arena.scoring.compare import check_pairs, two_groups
from arena.scoring.people import read_people
from arena.scoring.sessions import Session, load_sessions
from arena.scoring.sheets import Form
from frontdesk.runner.config import Config
from runstore.problems import Problem
from runstore.publish import parse_record, read_json, read_records, write_json, write_jsonl
from runstore.records import Record, Sheet

PLAN, SUBJECTS, PEOPLE, RUBRIC = "score_plan.json", "subjects.jsonl", "people.jsonl", "rubric.json"


class Wishes(Record):
    """What tables are asked for: breakdown columns, two-group comparisons, and how intervals are made.

    ``compare``: the two values by column, None for a column's only two; None as a whole: every such column.
    """

    by: tuple[str, ...] = ()
    compare: dict[str, tuple[str, str] | None] | None = None
    match: str | None = None
    reference: str | None = None
    resamples: int = 1000
    seed: int = 0


class Plan(Record):
    """How a scoring run is made, beside the configuration: kept in its folder, so that it can be made again."""

    source: str
    judges: tuple[str, ...]
    repeats: int = 1
    reask: int = 2
    wishes: Wishes = Wishes()


@dataclass(frozen=True, slots=True)
class Material:
    """What is scored, with what form. ``people``: sheets that people filled in, as judges of one repeat."""

    rubric: Rubric
    sessions: Sequence[Session]
    people: Sequence[Sheet] = ()

    def write(self, folder: Path, plan: Plan) -> None:
        write_json(folder / PLAN, plan)
        write_json(folder / RUBRIC, self.rubric)
        write_jsonl(folder / SUBJECTS, self.sessions)
        write_jsonl(folder / PEOPLE, self.people)
        (folder / PEOPLE).chmod(0o600)  # what people gave is for its owner alone
        (folder / PEOPLE).chmod(0o600)


def gather(source: Path, rubric_name: str, plan: Plan, config: Config, *, sheets: Path | None = None) -> Material:
    """Everything that is read, and refused where it does not fit, before anything is called. Raises Problem."""
    rubric = load_rubric(rubric_name, config.run.domain)
    form_of(rubric, config)
    sessions = load_sessions(source, rubric)
    check(sessions, plan.wishes)
    people = read_people(sheets, rubric, sessions, plan.judges) if sheets else []
    raters = dict.fromkeys([*plan.judges, *(sheet.judge for sheet in people)])
    if plan.wishes.reference is not None and plan.wishes.reference not in raters:
        raise Problem(f"--reference: found {plan.wishes.reference!r}, expected one of {', '.join(raters)}")
    return Material(rubric, sessions, people)


def form_of(rubric: Rubric, config: Config) -> Form:
    """The rubric with the prompts of the run. Raises Problem, InputProblem."""
    return Form.load(rubric, config.run.language, Path(config.run.prompts) if config.run.prompts else None)


def check_plan(plan: Plan, config: Config) -> None:
    """Judges are endpoints of the configuration, each named once; numbers are not too low. Raises Problem."""
    judges, known = plan.judges, list(config.endpoints)
    for name in judges:
        if name not in known:
            raise Problem(f"--judge: found {name!r}, expected one of {', '.join(known) or 'none'} (endpoints)")
    if twice := [name for name in judges if judges.count(name) > 1]:
        raise Problem(f"--judge: found {twice[0]!r} twice, expected each judge once")
    limits = (("repeats", plan.repeats, 1), ("reask", plan.reask, 0), ("resamples", plan.wishes.resamples, 0))
    for name, given, low in limits:
        if given < low:
            raise Problem(f"--{name}: found {given}, expected {low} or more")


def read_plan(folder: Path) -> tuple[Plan, Material]:
    """The plan and the material of an earlier scoring run. Raises InputProblem."""
    plan = parse_record(Plan, read_json(folder / PLAN), folder / PLAN)
    rubric = parse_record(Rubric, read_json(folder / RUBRIC), folder / RUBRIC)
    sessions, people = read_records(folder / SUBJECTS, Session), read_records(folder / PEOPLE, Sheet)
    return plan, Material(rubric, sessions, people)


def judges_of(folder: Path) -> tuple[str, ...]:
    """The judges of an earlier scoring run in this folder; none where there was none."""
    return parse_record(Plan, read_json(folder / PLAN), folder / PLAN).judges if (folder / PLAN).is_file() else ()


def check(sessions: Sequence[Session], wishes: Wishes) -> None:
    """Refuse what could not be made of these subjects in the end, before anything is called. Raises Problem."""
    known = list(dict.fromkeys(name for session in sessions for name in session.columns))
    for name in (*wishes.by, *(wishes.compare or {}), *([wishes.match] if wishes.match else [])):
        if name not in known:
            raise Problem(f"column {name!r}: found no such column, expected one of {', '.join(known) or 'none'}")
    if wishes.match and not wishes.compare:
        raise Problem("--match: found without --compare, expected the groups to pair")
    for column, values in (wishes.compare or {}).items():
        pair = two_groups(column, (session.columns.get(column) for session in sessions), values)
        for value in pair if wishes.match else ():
            check_pairs(
                session.columns.get(wishes.match or "")
                for session in sessions
                if session.columns.get(column) == value
            )
