"""Whole dialogues as chats: chat fine-tuning files (``messages``) and ShareGPT (``conversations``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.runner.source import Source
from runstore.problems import InputProblem
from runstore.records import Dialogue, Role, Utterance
from simulator.roles import turns_of

Chat = dict[str, object]
"""A line of an exported file of chats."""
Side = Literal["teacher", "student"]


def openai(source: Source, side: Side = "teacher") -> Rows:
    """``{"messages": [{"role", "content"}]}``, nothing else: trainers refuse keys they don't know.

    The learner's side (``assistant``) is the teacher, or the student. A student's chat begins with the two
    messages that the simulated student was sent: who it is, and the request to open.
    """
    if side == "teacher":
        return _whole(source, "teacher", lambda _, said: {"messages": messages_of(said)})
    roles, personas = source.roles(), source.personas

    def row(dialogue: Dialogue, said: Sequence[Utterance]) -> Chat:
        if dialogue.persona not in personas:
            raise InputProblem(
                source.folder.file("dialogues.jsonl"), "a persona of this run", found=dialogue.persona
            )
        prompt = roles.student_prompt(personas[dialogue.persona], said, None, {})
        return {"messages": [{"role": each.role, "content": each.content} for each in prompt.messages]}

    return _whole(source, "student", row)


def sharegpt(source: Source) -> Rows:
    """``{"id", "conversations": [{"from": "human" | "gpt", "value"}], ...}``; the teacher is ``gpt``."""

    def row(dialogue: Dialogue, said: Sequence[Utterance]) -> Chat:
        talk = [
            {"from": "gpt" if each.role == "teacher" else "human", "value": each.text} for each in turns_of(said)
        ]
        about = {"persona": dialogue.persona, "question": dialogue.question, "subject": dialogue.subject}
        return {"id": dialogue.id, "conversations": talk, **about, "language": dialogue.language}

    return _whole(source, "teacher", row)


def messages_of(said: Sequence[Utterance]) -> list[dict[str, str]]:
    """A history as chat messages, speakers in turn, the teacher as assistant."""
    return [
        {"role": "assistant" if turn.role == "teacher" else "user", "content": turn.text}
        for turn in turns_of(said)
    ]


def _whole(source: Source, last: Role, row: Callable[[Dialogue, Sequence[Utterance]], Chat]) -> Rows:
    """Complete dialogues, each up to the last utterance of the side that is learnt."""

    def make(records: Iterable[Dialogue], tally: Tally) -> Iterator[Row]:
        for dialogue in records:
            tally.of += 1
            if not dialogue.complete:
                tally.left_out[f"broke off: {dialogue.end}"] += 1
                continue
            said = list(dialogue.utterances)
            while said and said[-1].role != last:
                said.pop()
            if not said:
                tally.left_out[f"no utterance of the {last}"] += 1
                continue
            if len(said) < len(dialogue.utterances):
                tally.changed[f"cut after the {last}'s last utterance"] += 1
            yield Row(dialogue.id, row(dialogue, said))

    name = "dialogues.jsonl"
    return Rows("chats", "dialogues", lambda skip: source.each(name, Dialogue, skip), make, file=name)
