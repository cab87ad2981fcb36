"""Our student's next turn beside a person's, on conversations of the user's: ``beside.jsonl``, ``beside.json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.beside import BesideReader, Pair, measured
from frontdesk.runner import plan, published
from frontdesk.runner.source import Source
from frontdesk.runner.stagework import StageWork, Stopping
from gateway.crowd import each
from gateway.prompt import Ask
from runstore.ids import hashed_number, shuffled
from runstore.languages import words
from runstore.problems import InputProblem
from runstore.publish import has_visible, write_json, write_jsonl
from runstore.records import Persona, Utterance
from runstore.tables.talks import Talked, read_talks
from simulator.roles import Roles
from simulator.speech import read_speech

STAGE = "quality"


@dataclass(frozen=True, slots=True)
class Cut:
    """A conversation up to the teacher's message that a person answered with ``said``; ``turn`` counts from 1."""

    talk: str
    turn: int
    history: tuple[Utterance, ...]
    said: str


def cuts_of(talks: Sequence[Talked], most: int, seed: int) -> list[Cut]:
    """At most ``most`` turns, drawn by conversation and turn; the first message is nobody's answer."""
    cuts: list[Cut] = []
    for talk in talks:
        history: list[Utterance] = []
        turn = 0
        for message in talk.messages:
            is_student = message.role in ("student", "question")
            turn += is_student
            if is_student and turn > 1 and history[-1].role == "teacher" and has_visible(message.text):
                cuts.append(Cut(talk.id, turn, tuple(history), message.text))
            history.append(Utterance(role="student" if is_student else "teacher", text=message.text))
    drawn = shuffled(((f"{cut.talk}/{cut.turn}", cut) for cut in cuts), seed, "beside")[:most]
    return sorted(drawn, key=lambda cut: (cut.talk, cut.turn))


async def beside(pipeline: StageWork, file: Path, judge: str | None, most: int) -> dict[str, object]:
    """Ask the run's student for each turn, and the judge, if named, to read both. Writes and returns figures.

    The student is nobody in particular: no persona is known of the person. Raises InputProblem where no turn is
    found, Stopping.
    """
    config = pipeline.config
    student, seed = config.require_simulate().student, config.run.seed
    cuts = cuts_of(read_talks(file), most, seed)
    if not cuts:
        raise InputProblem(file, "a student's message after a teacher's", found="none")
    roles = Source(pipeline.folder).roles()
    text = words("simulator", "knowledge", config.run.language)("somebody")
    nobody = Persona(id="nobody", levels={}, language=config.run.language, text=text)
    reader = None if judge is None else BesideReader.load(judge, config.run.language, pipeline.prompts, seed)
    gateway, progress = pipeline.opened(), pipeline.progress
    progress.start(STAGE, plan.turns_asked(student, judge, len(cuts))[0].calls)

    ask = pipeline.overheard()

    async def ask_one(cut: Cut) -> Pair:
        said = await _said(ask, student, roles, nobody, cut)
        pair = Pair(talk=cut.talk, turn=cut.turn, person=cut.said, student=said)
        return pair if reader is None else await reader.read(ask, cut.history, pair)

    at_once = gateway.endpoints[student].adapter.settings.concurrency
    gathered = await each(cuts, ask_one, at_once=at_once, finished=progress.advance)
    pipeline.secure()
    if gathered.stopped is not None:
        raise Stopping(gathered.stopped, STAGE, len(gathered.done), len(cuts))
    pairs = sorted(gathered.results(), key=lambda pair: (pair.talk, pair.turn))
    result = {"asked": len(cuts), "failed": len(gathered.failed), "judge": judge, **measured(pairs, seed)}
    write_jsonl(pipeline.folder.file("beside.jsonl"), pairs)
    write_json(pipeline.folder.file("beside.json"), result)
    published.record(pipeline.folder.path, "beside.jsonl", "beside.json")
    progress.finish(f"{len(pairs)} of {len(cuts)} turns beside people's")
    return result


async def _said(ask: Ask, student: str, roles: Roles, persona: Persona, cut: Cut) -> str:
    prompt = roles.student_prompt(persona, cut.history, None, {"dialogue_id": cut.talk})
    repeat = hashed_number(cut.talk, cut.turn, "beside")
    answer = await ask(student, prompt, repeat=repeat, stage=STAGE, item=cut.talk)
    return read_speech(answer.text, "student").text
