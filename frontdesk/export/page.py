"""A few dialogues to look at, on one page: drawn by identity, whole, with who the student is."""

from __future__ import annotations

from heapq import heappush, heapreplace
from pathlib import Path

from frontdesk.report.blocks import Block, Cell, Column, Document, Section, Table, Text, cells
from frontdesk.report.writers.html import html
from frontdesk.runner.source import Source
from runstore.ids import draw
from runstore.languages import words
from runstore.publish import write_text
from runstore.records import Dialogue

SHOWN = 20


def drawn(source: Source, size: int = SHOWN) -> list[Dialogue]:
    """The dialogues with the lowest draws, by id."""
    seed = source.config.run.seed
    kept: list[tuple[float, str, Dialogue]] = []
    for dialogue in source.each("dialogues.jsonl", Dialogue):
        item = (-draw(seed, "page", dialogue.id), dialogue.id, dialogue)
        if len(kept) < size:
            heappush(kept, item)
        elif item > kept[0]:
            heapreplace(kept, item)
    return sorted((dialogue for _, _, dialogue in kept), key=lambda talk: talk.id)


def write_page(path: Path, source: Source) -> int:
    """The page; returns how many dialogues are on it."""
    dialogues = drawn(source)
    run = source.config.run
    say = words("frontdesk.report", "page", run.language)
    intro = say("intro", shown=len(dialogues), of=source.overview.dialogues)
    blocks: list[Block] = [Text(intro)]
    sections = [Section("about", say("about"), blocks)]
    for dialogue in dialogues:
        levels = ", ".join(f"{factor} {level}" for factor, level in dialogue.levels.items())
        about = say(
            "dialogue", persona=dialogue.persona, levels=levels, subject=dialogue.subject, end=dialogue.end
        )
        rows: list[tuple[Cell, ...]] = []
        for said in dialogue.utterances:
            notes = [said.act or "", say("not_done") if said.realised == "no" else ""]
            notes += [say("clean", text=said.clean)] if said.clean is not None else []
            rows.append(cells(say(said.role), said.text, "; ".join(note for note in notes if note)))
        head = tuple(Column(say(name), number=False) for name in ("who", "text", "notes"))
        sections.append(Section(dialogue.id, dialogue.id, [Text(about, "soft"), Table(head, rows)]))
    title = say("title", name=run.name)
    write_text(path, html(Document(title, run.language, None, [], sections, say("contents"), say("skip"))))
    return len(dialogues)
