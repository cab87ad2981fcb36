"""Dialogues as a table for spreadsheets: a row an utterance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from frontdesk.export.rows import Row, Rows, Tally
from frontdesk.runner.source import Source
from runstore.records import Dialogue


def utterances(source: Source) -> Rows:
    """Every dialogue with its utterances; those that broke off are in it and say so."""

    def make(records: Iterable[Dialogue], tally: Tally) -> Iterator[Row]:
        for dialogue in records:
            tally.of += 1
            yield Row(dialogue.id, {"dialogue": dialogue})

    name = "dialogues.jsonl"
    return Rows("utterances", "dialogues", lambda skip: source.each(name, Dialogue, skip), make, file=name)


def lines(row: Row) -> Iterator[Sequence[Any]]:
    """The rows of one dialogue, in the order of :data:`frontdesk.export.parts.CSV_HEADER`."""
    dialogue: Dialogue = row.value["dialogue"]
    levels = " ".join(f"{factor}={level}" for factor, level in dialogue.levels.items())
    after = [dialogue.persona, levels, dialogue.question, dialogue.subject, dialogue.language, dialogue.end]
    turn = 0
    for place, said in enumerate(dialogue.utterances, 1):
        turn += said.role == "student"
        own = [dialogue.id, place, turn, said.role, said.text, said.clean, said.act, said.realised]
        yield [*own, *after, dialogue.complete]
