"""Who was told what: the teacher prompt of each contestant, and what makes a comparison unfair."""

from __future__ import annotations

from pathlib import Path

from frontdesk.report.blocks import Block, Table, Text, cells, columns
from frontdesk.report.sections.run.data import RunData
from gateway import prompts
from runstore.languages import Words
from runstore.problems import Problem
from simulator.roles import PACKAGE, SIMPLE

_SERVICES = ("http", "ureka")


def told(data: RunData, say: Words) -> list[Block]:
    """A table of contestants, and a warning where they were told different things or play a second role."""
    collect = data.config.collect
    if collect is None:
        return []
    rows = [(name, *_told(data, name, say)) for name in collect.endpoints]
    head = tuple(columns(say(key))[0] for key in ("endpoint", "style", "hash", "first_line"))
    blocks: list[Block] = [Table(head, [cells(*row) for row in rows], title=say("told"))]
    if len({row[2] for row in rows if row[1] != say("told_service")}) > 1:
        blocks.append(Text(say("told_differently"), "warn"))
    simulate, judge = data.config.simulate, data.config.judge
    others = {simulate.student, simulate.teacher} if simulate is not None else set[str]()
    others |= set(judge.endpoints) if judge is not None else set[str]()
    if double := [name for name in collect.endpoints if name in others]:
        blocks.append(Text(say("told_double", names=", ".join(double)), "warn"))
    return blocks


def _told(data: RunData, name: str, say: Words) -> tuple[str, str, str]:
    """Style, hash and first line; a text of the configuration has no style, and a service its own."""
    raw = data.config.endpoints.get(name, {})
    if isinstance(system := raw.get("system"), str):
        return say("told_own"), prompts.text_hash(system), _first_line(system)
    if raw.get("kind") in _SERVICES and "{system}" not in str(raw):
        return say("told_service"), "–", "–"
    style, language = str(raw.get("style") or SIMPLE), data.config.run.language
    hashed = data.manifest.get("prompts", {}).get(f"teacher.{style}.{language}", "–")
    folder = Path(data.config.run.prompts) if data.config.run.prompts else None
    try:
        file = prompts.load(PACKAGE, f"teacher.{style}", language, folder, like=f"teacher.{SIMPLE}")
    except Problem:
        return style, hashed, "–"
    return style, hashed, _first_line(file.text) if file.hash == hashed else "–"


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]
