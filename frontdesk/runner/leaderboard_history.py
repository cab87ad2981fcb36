"""What a refresh did to a leaderboard: old figures beside the new, what moved and why, one line a refresh.

``history.jsonl`` has a time in every line and cannot be made again from the journal, so ``verify`` leaves it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.ratings.result import Leaderboard, read_leaderboard
from frontdesk.runner.runfolder import RunFolder
from runstore.publish import read_json, read_rows, write_json, write_jsonl
from runstore.records import Verdict

HISTORY = "history.jsonl"
PENDING = "refresh.json"
FIGURES = ("name", "rating", "lower", "upper", "rank", "matches", "win_rate", "group")

JsonObject = dict[str, Any]
_SMALL = 5e-4
"""Rating points that are rounding, not news."""


def begin(folder: RunFolder, change: JsonObject) -> JsonObject:
    """What stood before the change. It is kept in ``refresh.json`` until the refresh has ended.

    So that a refresh that was interrupted still tells the difference from where it began.
    """
    path = folder.file(PENDING)
    if path.is_file():
        pending: JsonObject = read_json(path)
        if pending["change"] == change:
            return pending
    board = read_leaderboard(folder.file("leaderboard.json"))
    pending = {"change": change, "models": figures(board), "verdicts": outcomes(folder.verdicts())}
    write_json(path, pending)
    return pending


def end(folder: RunFolder, line: JsonObject) -> bool:
    """Add the line to the history, unless the refresh changed nothing at all; returns whether it was added."""
    path = folder.file(HISTORY)
    earlier = lines(folder)
    last = earlier[-1]["config"] if earlier else None
    is_new = line["before"] != line["after"] or last != line["config"]
    if is_new:
        write_jsonl(path, [*earlier, {"number": len(earlier) + 1, **line}])
    folder.file(PENDING).unlink(missing_ok=True)
    return is_new


def lines(folder: RunFolder) -> list[JsonObject]:
    """Every refresh so far, the oldest first. Raises InputProblem for a file that is not JSON lines."""
    path = folder.file(HISTORY)
    return [row for _, row in read_rows(path)] if path.is_file() else []


def figures(board: Leaderboard) -> list[JsonObject]:
    """The figures of each model that a history keeps, best first."""
    return [{key: getattr(model, key) for key in FIGURES} for model in board.models]


def outcomes(verdicts: Sequence[Verdict]) -> list[list[str | None]]:
    """(subset, endpoint, endpoint, criterion, outcome, winner) of each verdict."""
    return [[v.subset, *sorted(v.endpoints), v.criterion, v.outcome, v.winner] for v in verdicts]


def changed_verdicts(before: Sequence[Sequence[str | None]], after: Sequence[Verdict]) -> JsonObject:
    """How many matches are new, gone, and decided otherwise than before, in all and by endpoint."""
    old = {tuple(row[:4]): tuple(row[4:]) for row in before}
    new = {tuple(row[:4]): tuple(row[4:]) for row in outcomes(after)}
    by_endpoint: dict[str, JsonObject] = {}
    total = {"new": 0, "gone": 0, "changed": 0, "same": 0}
    for key in {**old, **new}:
        kind = (
            "new"
            if key not in old
            else "gone"
            if key not in new
            else "same"
            if old[key] == new[key]
            else "changed"
        )
        for counts in (total, *(by_endpoint.setdefault(str(name), dict.fromkeys(total, 0)) for name in key[1:3])):
            counts[kind] += 1
    return {"total": total, "by_endpoint": [{"name": name, **by_endpoint[name]} for name in sorted(by_endpoint)]}


def moves(
    before: Sequence[JsonObject], after: Sequence[JsonObject], verdicts: JsonObject, *, anchored: bool = False
) -> list[JsonObject]:
    """Each endpoint then and now, in today's order, those that left last; and why it moved.

    A rating's move is ``scale`` (the mean of all ratings is 1000, so who comes or goes shifts everybody alike;
    0 where an anchor holds the scale) plus ``evidence`` (what the matches say otherwise than before).
    """
    old = {model["name"]: model for model in before}
    new = {model["name"]: model for model in after}
    counts = {row["name"]: row for row in verdicts["by_endpoint"]}
    shift = 0.0 if anchored else _shift(old, new)
    names = [*new, *(name for name in old if name not in new)]
    return [_move(name, old.get(name), new.get(name), shift, counts.get(name)) for name in names]


def _shift(old: Mapping[str, JsonObject], new: Mapping[str, JsonObject]) -> float | None:
    """By how much the mean of the endpoints rated both times moved; None where there is none."""
    both = [name for name in old if name in new and None not in (old[name]["rating"], new[name]["rating"])]
    if not both:
        return None
    return sum(new[name]["rating"] - old[name]["rating"] for name in both) / len(both)


def _move(
    name: str, old: JsonObject | None, new: JsonObject | None, shift: float | None, counts: JsonObject | None
) -> JsonObject:
    moved = None
    if old is not None and new is not None and None not in (old["rating"], new["rating"]):
        moved = new["rating"] - old["rating"]
    row: JsonObject = {
        "name": name,
        "moved": _rounded(moved),
        "scale": _rounded(shift) if moved is not None else None,
        "evidence": _rounded(moved - shift) if moved is not None and shift is not None else None,
        "new_matches": counts["new"] if counts else 0,
        "gone_matches": counts["gone"] if counts else 0,
        "changed_verdicts": counts["changed"] if counts else 0,
    }
    return row | {"why": _why(row, old, new)}


def _why(row: JsonObject, old: JsonObject | None, new: JsonObject | None) -> list[str]:
    """Keys of reasons (the report has their words): what could have moved this endpoint, and did."""
    if old is None or new is None:
        return ["added" if old is None else "dropped"]
    if row["moved"] is None:
        return ["rated_now" if old["rating"] is None and new["rating"] is not None else "not_comparable"]
    reasons = ["scale"] if abs(row["scale"] or 0.0) > _SMALL else []
    if abs(row["evidence"] or 0.0) > _SMALL:
        own = [key for key in ("new_matches", "gone_matches", "changed_verdicts") if row[key]]
        reasons += own or ["others"]
    return reasons or ["unmoved"]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0
