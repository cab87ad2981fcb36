"""Judged and rated run folders, written without a model: every vote of every match is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from arena.votes import verdict
from frontdesk.runner import config_file as configuration
from frontdesk.runner.rating import rate_run
from frontdesk.runner.runfolder import RunFolder
from gateway.secrets import Redactor
from runstore.ids import draw
from runstore.publish import write_jsonl
from runstore.records import Dialogue, Failure, Judgment, Reply, Subset, Usage, Utterance

SUBJECTS = ("algorithms", "operating-systems", "machine-learning", "databases")
LEVELS = ("low", "high")


class RunBuilder:
    """A run of ``names`` judged by ``judges``: ``play`` adds matches, ``write`` leaves the folder."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        judges: Sequence[str] = ("judge",),
        rounds: int = 3,
        judge_kind: str = "openai",
        utterance: str = "Why is the middle element the pivot?",
        per_dialogue: int = 2,
        language: str = "en",
        resamples: int = 50,
    ) -> None:
        self.names, self.judges, self.rounds, self.per_dialogue = list(names), list(judges), rounds, per_dialogue
        self.utterance = utterance
        endpoint = {"kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
        judge: dict[str, Any] = {"kind": "local"} if judge_kind == "local" else endpoint
        self.settings: dict[str, Any] = {
            "run": {"name": "built", "seed": 5, "language": language},
            "endpoints": dict.fromkeys(("base", *names), endpoint) | dict.fromkeys(judges, judge),
            "simulate": {"dialogues": 1, "turns": 4, "student": "base", "teacher": "base"},
            "cut": {"subsets": 1},
            "collect": {"endpoints": list(names)},
            "judge": {"endpoints": list(judges), "rounds": rounds},
            "rate": {"resamples": resamples},
        }
        self.subsets: list[Subset] = []
        self.replies: list[Reply] = []
        self.judgments: list[Judgment] = []
        self.verdicts: list[Any] = []
        self.failures: list[Failure] = []

    def play(self, votes: Iterable[str], pair: tuple[str, str] | None = None) -> None:
        """One match a word, on a subset of its own; letters are rounds: a or b won, t a tie, x unreadable."""
        pair = pair or (self.names[0], self.names[1])
        for word in votes:
            subset = self._subset()
            self.match(subset, pair, word)

    def match(self, subset: Subset, pair: tuple[str, str], word: str) -> None:
        """One match on a subset; its replies are added where they are not there yet."""
        known = {(reply.subset, reply.endpoint) for reply in self.replies[-2 * len(self.names) :]}
        for name in pair:
            if (subset.id, name) not in known:
                self.replies.append(self._reply(subset, name))
        own = [self._judgment(subset, pair, at, letter) for at, letter in enumerate(word)]
        self.judgments += own
        self.verdicts.append(verdict(own, (min(pair), max(pair)), self.rounds * len(self.judges)))

    def subset(self) -> Subset:
        return self._subset()

    def write(self, path: Path) -> RunFolder:
        """Stage files, ratings and configuration, ready for a report."""
        dialogues = [self._dialogue(number) for number in range(len(self.subsets) // self.per_dialogue + 1)]
        self.settings["simulate"]["dialogues"] = len(dialogues)
        self.settings["cut"]["subsets"] = max(1, len(self.subsets))
        config = configuration.parse(self.settings)
        folder = RunFolder(path)
        path.mkdir(parents=True, exist_ok=True)
        folder.claim(config, Redactor([]))
        folder.write_manifest(config, {"judge.en": "0123456789abcdef"}, {"personas": {"count": 32, "hash": "ff"}})
        write_jsonl(folder.file("dialogues.jsonl"), dialogues)
        write_jsonl(folder.file("subsets.jsonl"), self.subsets)
        write_jsonl(folder.file("replies.jsonl"), self.replies)
        write_jsonl(folder.file("judgments.jsonl"), self.judgments)
        write_jsonl(folder.file("verdicts.jsonl"), self.verdicts)
        write_jsonl(folder.file("failures.jsonl"), self.failures)
        rate_run(folder, config, self.judgments, self.verdicts)
        return folder

    def _levels(self, number: int) -> dict[str, str]:
        return {"motivation": LEVELS[number % 2], "year": str(1 + number % 4)}

    def _dialogue(self, number: int) -> Dialogue:
        return Dialogue(
            id=f"d-{number}",
            persona=f"p-{number % 8}",
            levels=self._levels(number),
            question=f"q-{number % 16}",
            subject=SUBJECTS[number % len(SUBJECTS)],
            turns=4,
            utterances=(Utterance(role="student", text=self.utterance),),
            end="turns reached",
            complete=True,
            notes={"role prefix": 1} if number % 10 == 0 else {},
        )

    def _subset(self) -> Subset:
        at = len(self.subsets)
        number = at // self.per_dialogue
        depth = 1 + at % 4
        turns = [
            Utterance(role="student", text=self.utterance),
            Utterance(role="teacher", text="What do you see?"),
        ]
        history = [turn for turn, _ in zip(cycle(turns), range(2 * depth - 1), strict=False)]
        subset = Subset(
            id=f"s-{at:06d}",
            dialogue=f"d-{number}",
            persona=f"p-{number % 8}",
            levels=self._levels(number),
            question=f"q-{number % 16}",
            subject=SUBJECTS[number % len(SUBJECTS)],
            cut=2 * depth - 1,
            depth=depth,
            history=tuple(history),
        )
        self.subsets.append(subset)
        return subset

    def _reply(self, subset: Subset, name: str) -> Reply:
        return Reply(
            subset=subset.id,
            dialogue=subset.dialogue,
            endpoint=name,
            text=f"{self.utterance} Reply {subset.id} of {name}.",
            finish="stop",
            usage=Usage(input=10, output=5),
            latency_s=0.5,
            cost_usd=None,
        )

    def _judgment(self, subset: Subset, pair: tuple[str, str], at: int, letter: str) -> Judgment:
        round_number, judge = 1 + at // len(self.judges), self.judges[at % len(self.judges)]
        turned = draw(5, "slots", subset.id, judge, round_number) < 0.5
        slot_a, slot_b = reversed(pair) if turned else pair
        winner = {"a": pair[0], "b": pair[1]}.get(letter)
        said = None if letter == "x" else "c" if winner is None else "a" if winner == slot_a else "b"
        return Judgment(
            subset=subset.id,
            dialogue=subset.dialogue,
            judge=judge,
            criterion="overall",
            round=round_number,
            slot_a=slot_a,
            slot_b=slot_b,
            letter=said,
            outcome="unreadable" if letter == "x" else "tie" if winner is None else "win",
            winner=winner,
            reason="no decision line" if letter == "x" else None,
            raw=f"{self.utterance}\n### ({said or '?'})",
        )
