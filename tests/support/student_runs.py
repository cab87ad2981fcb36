"""Runs of the student's side: against the fake provider as a whole, or in this process without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.learning.result import StudentSide
from frontdesk.runner import config_file as configuration
from frontdesk.runner.config import Config
from frontdesk.runner.knowing import Knowledge
from frontdesk.runner.runfolder import RunFolder
from frontdesk.runner.student import Branch, StudentStage
from knowledge import Learning, Outcomes
from runstore.publish import read_rows
from runstore.records import Reply, Subset, Usage
from simulator.knowledge.rollout import Grown
from tests.support.fake_provider import FakeProvider
from tests.support.small_runs import to_toml
from tests.support.student_world import World, first_reply, topics

STUDENT_FILES = ("rollouts.jsonl", "labels.jsonl", "states.jsonl", "quiz.jsonl")


def config_of(tutors: Sequence[str], *, seed: int = 7, language: str = "en", **student: Any) -> Config:
    """Endpoints that are only names: whoever asks them answers for them."""
    names = ("student", "teacher", "moves", "judge", *tutors)
    return configuration.parse(
        {
            "run": {"name": "student-side", "seed": seed, "language": language},
            "endpoints": {name: {"kind": "openai", "model": name} for name in names},
            "simulate": {"dialogues": 4, "turns": 3, "student": "student", "teacher": "teacher"},
            "collect": {"endpoints": list(tutors)},
            "student": {"labellers": ["phrases"], **student},
        }
    )


def replies_of(tutors: Sequence[str], subsets: Sequence[Subset], language: str = "en") -> list[Reply]:
    known = topics(language)
    return [reply(name, one, first_reply(name, known[one.question], one)) for one in subsets for name in tutors]


def reply(endpoint: str, subset: Subset, text: str, finish: str = "stop") -> Reply:
    return Reply(
        subset=subset.id, dialogue=subset.dialogue, endpoint=endpoint, text=text, finish=finish, usage=Usage(),
        latency_s=None, cost_usd=None,
    )  # fmt: skip


def run_stage(
    folder: Path,
    config: Config,
    subsets: Sequence[Subset],
    replies: Sequence[Reply],
    *,
    world: World | None = None,
    learning: Learning | None = None,
    outcomes: Outcomes | None = None,
) -> StudentSide:
    """The stage itself, asking a world in this process; its files stand in ``folder``."""
    stage = StudentStage.prepared(config, None)
    if learning is not None or outcomes is not None:
        known = stage.knowledge
        known = Knowledge(known.bank, learning or known.learning, outcomes or known.outcomes)
        rolling, silent = (replace(one, rules=known.learning) for one in (stage.rolling, stage.silent))
        stage = replace(stage, knowledge=known, rolling=rolling, silent=silent)
    asked = world or World(config.run.language)

    async def whole() -> list[tuple[Branch, Grown]]:
        return [(branch, await stage.grow(asked.ask, branch)) for branch in stage.work(subsets, replies)]

    folder.mkdir(parents=True, exist_ok=True)
    return stage.publish(RunFolder(folder), subsets, asyncio.run(whole()))


def write_student_config(
    path: Path,
    provider: FakeProvider,
    tutors: Sequence[str],
    *,
    dialogues: int = 8,
    subsets: int = 16,
    labellers: Sequence[str] = ("moves",),
    collected: Sequence[str] | None = None,
    endpoint: Mapping[str, Any] | None = None,
    **student: Any,
) -> Path:
    """A whole run whose questions all have topics; each tutor is a model of its own at the provider."""
    names = ("student", "teacher", "moves", "judge", *tutors)
    more = {"concurrency": 32, **(endpoint or {})}
    settings = {name: provider.settings("openai", model=name, identity=name, **more) for name in names}
    tables: dict[str, Mapping[str, Any]] = {
        "run": {"name": "student-side", "seed": 7},
        "questions": {"file": str(path.parent / "q.yaml")},
        **{f"endpoints.{name}": table for name, table in settings.items()},
        "simulate": {"dialogues": dialogues, "turns": 3, "student": "student", "teacher": "teacher"},
        "cut": {"subsets": subsets},
        "collect": {"endpoints": list(collected or tutors)},
        "judge": {"endpoints": ["judge"], "rounds": 1},
        "student": {"labellers": list(labellers), **student},
    }
    asked = {
        "dijkstra-negative-edges": "Which step of Dijkstra's algorithm fails with negative edges?",
        "http2-head-of-line": "Why does one lost packet stall all HTTP/2 streams, and what does QUIC do about it?",
    }
    questions = [f'- {{id: {name}, text: {{en: "{text}"}}}}' for name, text in asked.items()]
    (path.parent / "q.yaml").write_text("\n".join(questions), encoding="utf-8")
    path.write_text(to_toml(tables), encoding="utf-8")
    return path


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [row for _, row in read_rows(folder / name)]


def by_arm(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Every record by the arm its node belongs to."""
    arms = {row["id"]: row["arm"] for row in rows_of(folder, "rollouts.jsonl")}
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name in STUDENT_FILES:
        for row in rows_of(folder, name):
            arm = arms[row.get("id") or row.get("node") or row.get("leaf") or ""]
            found.setdefault(arm, {}).setdefault(name, []).append(row)
    return found
