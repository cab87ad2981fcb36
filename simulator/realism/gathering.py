"""Dialogues of any number, gone through once: what is counted of all, and those that the measures are taken on.

Failures, ends and balance are of all dialogues. Profile, distance, fidelity and variety are of a sample where
there are more than :data:`SAMPLE`: those with the lowest draws by id, so that neither order nor machine matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heappush, heappushpop

from runstore.ids import draw
from runstore.records import Dialogue
from simulator.realism.diversity import Balance
from simulator.realism.failures import FEWEST_PAIRS, LISTED, SAME, Finder, Material, pairs_of, twins
from simulator.realism.near_spool import NearSpool
from simulator.realism.talk import Talk, talk_of

SAMPLE = 10_000


class Gathering:
    """Add every dialogue, then ask."""

    def __init__(self, material: Material, seed: int, sample: int = SAMPLE) -> None:
        self.count, self.utterances = 0, 0
        self.ends, self.balance = Counter[str](), Balance()
        self._finder, self._seed, self._most = Finder(material), seed, sample
        self._drawn: list[tuple[float, str, Talk]] = []
        self._repeating: set[str] = set()
        self._spool: NearSpool | None = None
        self._contradicts = material.contradicts
        self._stated, self._against, self._who = 0, Counter[str](), list[str]()

    @classmethod
    def of(cls, dialogues: Iterable[Dialogue], material: Material, seed: int, sample: int = SAMPLE) -> Gathering:
        gathering = cls(material, seed, sample)
        for dialogue in dialogues:
            gathering.add(dialogue)
        return gathering

    def add(self, dialogue: Dialogue) -> None:
        talk = talk_of(dialogue)
        self.count += 1
        self.utterances += len(talk.said)
        self.ends[dialogue.end] += 1
        self.balance.add(dialogue)
        self._look_at_state(dialogue)
        repeats = self._finder.add(talk)
        item = (-draw(self._seed, "quality sample", dialogue.id), dialogue.id, talk)
        if len(self._drawn) < self._most:
            heappush(self._drawn, item)
            if repeats:
                self._repeating.add(talk.id)
            return
        if self._spool is None:
            self._spool = NearSpool(SAME, FEWEST_PAIRS)
            for _, name, earlier in sorted(self._drawn, key=lambda drawn: drawn[1]):
                self._spool.add(name, pairs_of(earlier), known=name in self._repeating)
        heappushpop(self._drawn, item)
        self._spool.add(talk.id, pairs_of(talk), known=repeats)

    def _look_at_state(self, dialogue: Dialogue) -> None:
        stated = sum(said.state is not None for said in dialogue.utterances[1:])
        if stated and self._contradicts is not None:
            self._stated += stated
            against = self._contradicts(dialogue)
            self._against.update(against)
            if against:
                self._who = sorted([*self._who, dialogue.id])[:LISTED]

    @property
    def state(self) -> dict[str, object] | None:
        """Utterances that contradict their student's state; None where no student has one."""
        if not self._stated:
            return None
        kinds = {kind: self._against[kind] for kind in ("knows_too_much", "unlearns")}
        return {"utterances": self._stated, **kinds, "dialogues": self._who}

    @property
    def talks(self) -> list[Talk]:
        """The dialogues that measures are taken on, by id."""
        return [talk for _, _, talk in sorted(self._drawn, key=lambda drawn: drawn[1])]

    def failures(self) -> dict[str, dict[str, object]]:
        """Of all dialogues; asked for once."""
        if self._spool is not None:
            self._finder.twins(self._spool.twins())
        else:
            self._finder.twins(name for name in twins(self.talks) if name not in self._repeating)
        return self._finder.result()
