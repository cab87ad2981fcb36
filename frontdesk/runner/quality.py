"""The quality of a run's students: ``quality.json``, made of its dialogues without any call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.learning.contradicted import contradictions
from frontdesk.runner import published
from frontdesk.runner.blind import judged, read_guesses
from frontdesk.runner.config import Config
from frontdesk.runner.prepare import questions, steering
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.source import Source
from gateway.prompts import load_table
from runstore.problems import Problem
from runstore.publish import write_json
from runstore.records import Dialogue
from simulator.realism import Material, assess
from simulator.realism.gate import with_changes
from simulator.realism.result import Quality, read_quality
from simulator.roles import PACKAGE, Roles

FILE = "quality.json"
STAGE = "quality"
"""It ends when what people read is written too."""


@dataclass(frozen=True, slots=True)
class RunQuality:
    """``config`` is the run's."""

    found: Quality
    config: Config


def write_quality(folder: RunFolder, changes: Mapping[str, float]) -> RunQuality:
    """Assess the run's dialogues and write quality.json; ``changes`` are limits of the gate by name.

    Raises InputProblem where the run has no dialogues, Problem for a limit that there is not.
    """
    source = Source(folder)
    run = source.config.run
    table = with_changes(changes)
    material = _material(source)
    dialogues = source.each("dialogues.jsonl", Dialogue)
    told = judged(read_guesses(folder), run.seed)
    style = steering(source.config)
    profile = None if style is None else style.profile
    assessed = assess(dialogues, material, table, language=run.language, seed=run.seed, style=profile, judged=told)
    published.begin(folder.path, STAGE)
    write_json(folder.file(FILE), assessed)
    published.record(folder.path, FILE)
    return RunQuality(assessed, source.config)


def again(earlier: RunFolder, folder: RunFolder) -> RunQuality | None:
    """The same of another folder, with the limits that ``earlier`` was held to; nothing where it was not."""
    if not earlier.file(FILE).is_file() or not folder.file("dialogues.jsonl").is_file():
        return None
    checks = read_quality(earlier.file(FILE)).gate.checks
    return write_quality(folder, {check.name: check.limit for check in checks})


def _material(source: Source) -> Material:
    """Planned turns, and the texts that must not leak; why not, where they are no longer what made the run."""
    how = source.config.simulate
    planned = how.turns if how is not None else _longest(source.each("dialogues.jsonl", Dialogue))
    try:
        people = source.personas
        personas = {name: persona.text for name, persona in people.items()}
        leaving = frozenset(name for name, persona in people.items() if persona.leaves_early)
        roles = source.roles()
    except Problem as problem:
        return Material(planned, prompts_reason=f"texts of prompts and personas not searched for: {problem}")
    return Material(
        planned, _texts(roles, source), personas, leaving, _subjects(source), contradicts=_contradicts(source)
    )


def _contradicts(source: Source) -> Callable[[Dialogue], Sequence[str]] | None:
    """How utterances contradict the states that students were simulated with, where they were."""
    how = source.config.simulate
    if how is None or how.acts != "knowledge":
        return None
    from frontdesk.runner.knowing import Knowledge  # topics are read only where they are used

    try:
        topics = Knowledge.load(source.config).bank.topics
    except Problem:
        return None

    def look(dialogue: Dialogue) -> Sequence[str]:
        topic = topics.get(dialogue.question)
        return [] if topic is None else [kind for _, kind in contradictions(topic, dialogue.utterances)]

    return look


def _subjects(source: Source) -> dict[str, int]:
    """How many questions the bank has of each subject; nothing where it is gone, or nobody was simulated."""
    try:
        return dict(Counter(each.subject for each in questions(source.config))) if source.config.simulate else {}
    except Problem:
        return {}


def _texts(roles: Roles, source: Source) -> list[str]:
    run, how = source.config.run, source.config.simulate
    folder = Path(run.prompts) if run.prompts else None
    styles = [how.style] if how is not None else []
    teachers = Roles.load(run.language, folder, styles).teachers.values()
    acts = load_table(PACKAGE, "student_acts", run.language, folder).texts.values()
    further = [file.text for file in (roles.stay, roles.rephrase) if file is not None]
    own = [roles.student.text, roles.opening.text, roles.planned.text, *further]
    if (style := steering(source.config)) is not None:
        own += [style.directions.whole.text, *style.directions.marks.values()]
    return [*own, *acts, *(each.text for each in teachers)]


def _longest(dialogues: Iterable[Dialogue]) -> int:
    return max((dialogue.turns for dialogue in dialogues), default=0)
