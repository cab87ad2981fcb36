"""What the reading rules took off what was said, and what was noticed and left: of whom, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from frontdesk.report.blocks import Block, Column, Section, Table, Text, cells
from frontdesk.report.sections.run.data import RunData
from frontdesk.runner.noticed import noticed, noticed_in
from gateway.adapters.reading import LEAKED_REASONING, UNKNOWN_USAGE
from runstore.languages import Words
from runstore.records import Removed, Role

RULES = ("thinking_removed", "role_prefix", "role_flip", "both_parts")
SPEAKERS: tuple[Role, ...] = ("student", "teacher")
_CALLED = {LEAKED_REASONING: "noticed_reasoning", UNKNOWN_USAGE: "noticed_usage"}


@dataclass(frozen=True)
class TakenOff:
    """One rule: in how many of an endpoint's replies (or of all dialogues, where ``endpoint`` is None) it acted,
    and what it took off in the first of them."""

    endpoint: str | None
    role: Role
    rule: str
    texts: int
    of: int
    example: str


def taken_off(data: RunData) -> list[TakenOff]:
    """Per endpoint over its replies, then per simulated speaker over the dialogues, rule by rule."""
    rows: list[TakenOff] = []
    for name in sorted({reply.endpoint for reply in data.replies}):
        rows += _by_rule(name, "teacher", [reply.removed for reply in data.replies if reply.endpoint == name])
    for role in SPEAKERS:
        rows += _by_rule(None, role, [dialogue.removed for dialogue in data.dialogues or []])
    return rows


def _by_rule(endpoint: str | None, role: Role, texts: Sequence[tuple[Removed, ...]]) -> Iterator[TakenOff]:
    for rule in RULES:
        hits = [[each for each in text if (each.rule, each.role) == (rule, role)] for text in texts]
        firsts = [hit[0] for hit in hits if hit]
        if firsts:
            yield TakenOff(endpoint, role, rule, len(firsts), len(texts), firsts[0].text)


def removed(data: RunData, say: Words) -> Section:
    """How many replies were judged without a part of theirs, and a table of all that was taken off."""
    touched = sum(bool(reply.removed) for reply in data.replies)
    lead = say("removed_replies", n=touched, of=len(data.replies))
    blocks: list[Block] = [Text(lead, "plain" if touched else "soft")]
    if rows := taken_off(data):
        head = (
            Column(say("removed_of"), number=False),
            Column(say("note"), number=False),
            Column(say("count")),
            Column(say("removed_example"), number=False),
        )
        table = [
            cells(
                row.endpoint or say(f"removed_{row.role}"),
                say(f"rule_{row.rule}"),
                say("n_of", n=row.texts, of=row.of),
                row.example,
            )
            for row in rows
        ]
        blocks.append(Table(head, table, say("removed_caption")))
    if lines := [*_noticed(data, say)]:
        blocks.append(Text(say("noticed", what="; ".join(lines))))
    return Section("removed", say("removed"), blocks)


def _noticed(data: RunData, say: Words) -> Iterator[str]:
    """What came with replies and dialogues as a warning, and was left in: who, what, in how many of how many."""
    for name in sorted({reply.endpoint for reply in data.replies}):
        mine = [noticed(reply.warnings) for reply in data.replies if reply.endpoint == name]
        yield from _warned(name, mine, say)
    yield from _warned(say("noticed_dialogues"), [noticed_in(dialogue) for dialogue in data.dialogues or []], say)


def _warned(who: str, kinds: Sequence[set[str]], say: Words) -> Iterator[str]:
    for kind, count in sorted(Counter(kind for each in kinds for kind in each).items()):
        yield f"{who}: {say(_CALLED[kind])}, {say('n_of', n=count, of=len(kinds))}"
