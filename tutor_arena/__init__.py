"""The front door: from a configuration to a verdict, and into the tables of a run, in a script or a notebook.

Nothing is loaded before it is used: importing this package takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runstore.problems import InputProblem, Problem
    from tutor_arena.opened import Run, Table, open_run
    from tutor_arena.running import arun, asimulate, run, simulate

__all__ = [
    "InputProblem",
    "Problem",
    "Run",
    "Table",
    "arun",
    "asimulate",
    "open_run",
    "run",
    "simulate",
]

_HOMES = {
    "runstore.problems": ("InputProblem", "Problem"),
    "tutor_arena.opened": ("Run", "Table", "open_run"),
    "tutor_arena.running": ("arun", "asimulate", "run", "simulate"),
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
