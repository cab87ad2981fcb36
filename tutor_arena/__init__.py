"""The front door: from a configuration to a verdict, and into the tables of a run, in a script or a notebook.

Nothing is loaded before it is used: importing this package takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontdesk.runner.stagework import Stopping
    from runstore.problems import InputProblem, Problem
    from tutor_arena.measuring import Agreement, Ranking, agree, rate
    from tutor_arena.opened import Run, Table, open_run
    from tutor_arena.running import arun, asimulate, astudent, run, simulate, student
    from tutor_arena.scoring import Scores, ascore, score
    from tutor_arena.shown import Dialogue, Match, Sheet

__all__ = [
    "Agreement",
    "Dialogue",
    "InputProblem",
    "Match",
    "Problem",
    "Ranking",
    "Run",
    "Scores",
    "Sheet",
    "Stopping",
    "Table",
    "agree",
    "arun",
    "ascore",
    "asimulate",
    "astudent",
    "open_run",
    "rate",
    "run",
    "score",
    "simulate",
    "student",
]

_HOMES = {
    "frontdesk.runner.stagework": ("Stopping",),
    "tutor_arena.measuring": ("Agreement", "Ranking", "agree", "rate"),
    "runstore.problems": ("InputProblem", "Problem"),
    "tutor_arena.opened": ("Run", "Table", "open_run"),
    "tutor_arena.shown": ("Dialogue", "Match", "Sheet"),
    "tutor_arena.scoring": ("Scores", "ascore", "score"),
    "tutor_arena.running": ("arun", "asimulate", "astudent", "run", "simulate", "student"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
