"""Sheets from judges: each fills in the form for each session several times; only what is missing is asked again.

sheets = await score_all(gateway.ask, form, sessions, judges=["gemini", "gpt"], repeats=3)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.asking import Asked, Reading, ask_judge, fence
from arena.rubrics.evidence import evidence_found
from arena.rubrics.form import Wanted, form_text, schema, skeleton, value_rules
from arena.rubrics.rubric import Rubric
from arena.scoring.filled import FLAGS, Filled, Slot, read_filled
from arena.scoring.sessions import Session
from gateway import prompts
from gateway.crowd import Gathered, each
from gateway.errors import Stopped, as_failed
from gateway.prompt import Ask, Message, Prompt, Schema
from runstore.ids import hashed_number
from runstore.problems import Problem
from runstore.records import Failure, Language, Sheet, Utterance

PACKAGE = "arena"
STAGE = "score"
Sitting = tuple[Session, str, int]
"""A session, a judge and the repeat, from 1."""


@dataclass(frozen=True, slots=True)
class Form:
    """A rubric with the prompt texts of one language, loaded once; ``hashes`` name the files used."""

    rubric: Rubric
    language: Language
    instructions: prompts.PromptFile
    material: prompts.PromptFile
    words: prompts.PromptTable
    _texts: dict[Wanted, tuple[str, Schema]] = field(
        default_factory=dict[Wanted, "tuple[str, Schema]"], repr=False
    )

    @classmethod
    def load(cls, rubric: Rubric, language: Language = "en", folder: Path | None = None) -> Form:
        """The shipped prompts, or the user's own out of ``folder``. Raises Problem, InputProblem."""
        if language not in rubric.languages:
            raise Problem(f"rubric {rubric.name} has no texts in {language!r}, only {', '.join(rubric.languages)}")
        return cls(
            rubric,
            language,
            prompts.load(PACKAGE, "score", language, folder),
            prompts.load(PACKAGE, "score_material", language, folder),
            prompts.load_table(PACKAGE, "score_words", language, folder),
        )

    @property
    def hashes(self) -> dict[str, str]:
        texts = (self.instructions, self.material, self.words)
        return {f"{text.name}.{text.language}": text.hash for text in texts} | {"rubric": self.rubric.hash}

    def prompt(self, session: Session, wanted: Wanted | None = None) -> Prompt:
        """What a judge is sent: the (wanted part of the) form, then the numbered messages between fences.

        The fence depends on the messages alone, so a replay sends the same bytes.
        """
        words = self.words.texts
        instructions, answer = self._instructions(wanted or Wanted.whole(self.rubric))
        lines = [f"[{place}] {words[said.role]}: {said.text}" for place, said in enumerate(session.messages)]
        messages = "\n".join(lines)
        material = self.material.fill(messages=messages, fence=fence(messages))
        return Prompt(
            role="score",
            messages=(Message("system", instructions), Message("user", material)),
            transcript=tuple(_utterance(message.role, message.text) for message in session.messages),
            fields={"dialogue_id": session.id},
            schema=answer,
        )

    def _instructions(self, wanted: Wanted) -> tuple[str, Schema]:
        """The form in words and as a schema: the same for every session, so written once."""
        if wanted not in self._texts:
            rubric, words = self.rubric, self.words.texts
            text = self.instructions.fill(
                title=rubric.title[self.language],
                form=form_text(rubric, wanted, self.language, words),
                values=value_rules(rubric, words),
                evidence=words[rubric.evidence],
                skeleton=skeleton(rubric, wanted),
            )
            self._texts[wanted] = text, schema(rubric, wanted)
        return self._texts[wanted]


def _utterance(role: str, text: str) -> Utterance:
    return Utterance(role="student" if role in {"student", "question"} else "teacher", text=text)


async def fill_in(ask: Ask, form: Form, session: Session, judge: str, repeat: int, *, reask: int = 2) -> Sheet:
    """One sheet: one judge, one session, one repeat (repeats count from 1).

    What the first reply lacks is asked for alone, at most ``reask`` times; what stays missing is None. A reply
    that was cut off gives nothing. Raises CallFailed where the first call brought no reply, and Stopped.
    """
    filled, raws = Filled(), list[str]()
    for attempt in range(reask + 1):
        missing = filled.missing(Wanted.whole(form.rubric))
        if attempt and not _required_of(form.rubric, missing):
            break
        said = await _ask_once(ask, form, session, judge, missing, hashed_number(session.id, repeat, attempt))
        if said.failure is not None and not raws:
            raise said.failure
        if said.value is None:
            break
        raws.append(said.raw)
        filled.reason = said.value.reason if not filled.values else filled.reason
        filled.add(said.value)
    return _sheet(form, session, judge, repeat, filled, raws)


def _required_of(rubric: Rubric, wanted: Wanted) -> Wanted:
    """Without the flags that may be left out."""
    return Wanted(wanted.slots, wanted.flags & _required(rubric).flags)


def _required(rubric: Rubric) -> Wanted:
    flags = frozenset(flag.key for flag in rubric.flags if not flag.optional)
    return Wanted(frozenset(rubric.slots()), flags)


async def _ask_once(
    ask: Ask, form: Form, session: Session, judge: str, wanted: Wanted, repeat: int
) -> Asked[Filled]:
    quoted = [message.text for message in session.messages]

    def read(raw: str, finish: str) -> Reading[Filled]:
        filled = read_filled(raw, form.rubric, wanted, finish=finish, quoted=quoted)
        is_readable = bool(filled.values or filled.not_applicable)
        lacking = _required_of(form.rubric, filled.missing(wanted))
        return Reading(filled, is_readable, not lacking, filled.reason)

    prompt = form.prompt(session, wanted)
    return await ask_judge(ask, judge, prompt, read, stage=STAGE, item=session.id, repeat=repeat)


def _sheet(form: Form, session: Session, judge: str, repeat: int, filled: Filled, raws: Sequence[str]) -> Sheet:
    rubric = form.rubric
    texts = [message.text for message in session.messages]
    evidence: dict[str, dict[str, str]] = {}
    evidence_found: dict[str, dict[str, bool | None]] = {}
    for slot in _in_order(rubric, filled):
        text = filled.evidence[slot]
        evidence.setdefault(slot[0], {})[slot[1]] = text
        if rubric.evidence == "quote":
            evidence_found.setdefault(slot[0], {})[slot[1]] = _found(rubric, slot, filled, text, texts)
    missing = filled.missing(_required(rubric))
    whole = len(_required(rubric))
    return Sheet(
        subject=session.id,
        judge=judge,
        repeat=repeat,
        values={
            item.key: {slot: filled.values.get((item.key, slot)) for slot in item.slots} for item in rubric.items
        },
        evidence=evidence,
        evidence_found=evidence_found,
        flags={flag.key: filled.values.get((FLAGS, flag.key)) for flag in rubric.flags},
        not_applicable={
            item.key: slots
            for item in rubric.items
            if (slots := tuple(slot for slot in item.slots if (item.key, slot) in filled.not_applicable))
        },
        readable=bool(filled.values or filled.not_applicable),
        repair="+".join(sorted(filled.steps)) or None,
        reason=filled.reason or (f"{len(missing)} of {whole} values missing" if missing else None),
        raw=raws[0],
        asked_again=tuple(raws[1:]),
        rubric=rubric.identity,
    )


def _in_order(rubric: Rubric, filled: Filled) -> list[Slot]:
    slots = [*((FLAGS, flag.key) for flag in rubric.flags), *rubric.slots()]
    return [slot for slot in slots if slot in filled.evidence]


def _found(rubric: Rubric, slot: Slot, filled: Filled, text: str, messages: Sequence[str]) -> bool | None:
    """A quotation is asked for what is met; what is said about something unmet cites nothing to check."""
    is_scale = any(item.key == slot[0] and item.scale for item in rubric.items)
    return evidence_found(text, messages) if is_scale or filled.values.get(slot) == 1 else None


@dataclass(frozen=True, slots=True)
class Sheets:
    """All sheets in the order session, judge, repeat; ``failures`` where no reply came; ``stopped`` if it was."""

    sheets: list[Sheet]
    failures: list[Failure]
    stopped: Stopped | None


async def score_all(
    ask: Ask,
    form: Form,
    sessions: Sequence[Session],
    judges: Sequence[str],
    *,
    repeats: int = 3,
    reask: int = 2,
    at_once: int = 512,
    finished: Callable[[], None] = lambda: None,
    filled: Callable[[Sheet], None] = lambda _: None,
) -> Sheets:
    """Every judge's repeats for every session, at most ``at_once`` under way (the gateway has its own limits)."""

    async def fill(sitting: Sitting) -> Sheet:
        sheet = await fill_in(ask, form, *sitting, reask=reask)
        filled(sheet)
        return sheet

    work = sittings(sessions, judges, repeats)
    return sheets_of(await each(work, fill, at_once=at_once, finished=finished))


def sittings(sessions: Sequence[Session], judges: Sequence[str], repeats: int) -> list[Sitting]:
    """Who fills in the form for what, in the order session, judge, repeat."""
    return [
        (session, judge, repeat) for session in sessions for judge in judges for repeat in range(1, repeats + 1)
    ]


def sheets_of(gathered: Gathered[Sitting, Sheet]) -> Sheets:
    """What came of the sittings, those that failed told by session, judge and repeat."""
    failures = [
        as_failed(judge, error).record(STAGE, f"{session.id}#{judge}#{repeat}")
        for (session, judge, repeat), error in gathered.failed
    ]
    return Sheets(gathered.results(), failures, gathered.stopped)
