"""How ratings are made: the settings that every leaderboard carries."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

from runstore.problems import Problem

IntervalMethod = Literal["jackknife", "bootstrap", "sandwich", "none"]


@dataclass(frozen=True)
class Settings:
    """How ratings are made. Every leaderboard carries the settings that made it.

    ``ties`` names the rating model (:mod:`arena.ratings.models`). ``clustered`` takes whole clusters as
    independent where the battles carry them, else single battles. ``position`` "adjust" fits the effect of being
    shown first wherever battles say who was. Of the bootstrap: ``refit`` "auto" refits every resample while that
    is cheap or some model is close to undefeated or winless, else it takes one step. ``prior`` is in games.
    """

    ties: str = "half"
    intervals: IntervalMethod = "jackknife"
    level: int | float = 0.95
    resamples: int = 1000
    seed: int = 0
    clustered: bool = True
    anchor: tuple[str, int | float] | None = None
    prior: int | float = 0.0
    reference: str | None = None
    position: Literal["adjust", "ignore"] = "adjust"
    refit: Literal["auto", "exact", "one-step"] = "auto"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise Problem(f"level: found {self.level}, expected a number between 0 and 1")
        if self.intervals == "bootstrap" and self.resamples < 2:
            raise Problem(f"resamples: found {self.resamples}, expected at least 2")
        if not (isfinite(self.prior) and self.prior >= 0):
            raise Problem(f"prior: found {self.prior}, expected a number of games, 0 or more")
