"""What a goal's stop did to the figures of a table, in one sentence."""

from __future__ import annotations

from arena.ratings.result import Leaderboard
from runstore.languages import words
from runstore.records import Language


def stop_told(board: Leaderboard, language: Language = "en") -> str | None:
    """None where every match was asked for, whatever came out."""
    if board.stop is None:
        return None
    say = words("frontdesk.report", "goal", language)
    if board.stop.goal == "place":
        return say("stop_place")
    return say("stop" if board.stop.reached is not None else "stop_broken")
