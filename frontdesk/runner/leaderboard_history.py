"""What a refresh did to a leaderboard: old figures beside the new, what moved and why, one line a refresh.

``history.jsonl`` has a time in every line and cannot be made again from the journal, so ``verify`` leaves it out.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from arena.ratings.result import Leaderboard, read_leaderboard
from frontdesk.runner import before, published
from frontdesk.runner.runfolder import RunFolder
from runstore.problems import Problem
from runstore.publish import parse_record, read_json, read_records, write_json, write_jsonl
from runstore.records import Verdict
from runstore.results import Number, Result
from runstore.runlock import RunLock

HISTORY = "history.jsonl"
PENDING = "refresh.json"
_SMALL = 5e-4
"""Rating points that are rounding, not news."""

Outcome = tuple[str, str, str, str, str, str | None]
"""(subset, endpoint, endpoint, criterion, outcome, winner) of a verdict."""


class Figures(Result):
    """What a history keeps of a model."""

    name: str
    rating: Number | None
    lower: Number | None
    upper: Number | None
    rank: int | None
    matches: Number
    win_rate: Number | None
    group: int


class Pending(Result):
    """What stood before a change of endpoints or judges (``change``: names by what happens to them)."""

    change: Mapping[str, tuple[str, ...]]
    models: tuple[Figures, ...]
    verdicts: tuple[Outcome, ...]

    @property
    def told(self) -> str:
        """The change as options of the command: ``--add fourth``."""
        return " ".join(
            f"--{option.replace('_', '-')} {name}" for option, names in self.change.items() for name in names
        )


class Changed(Result):
    """Matches that are new, gone, decided otherwise than before, and decided alike."""

    new: int
    gone: int
    changed: int
    same: int


class Move(Result):
    """An endpoint then and now: by how many rating points it ``moved``, and the keys of the reasons ``why``."""

    name: str
    moved: Number | None
    scale: Number | None = None
    evidence: Number | None = None
    new_matches: int
    gone_matches: int
    changed_verdicts: int
    why: tuple[str, ...]


class Refresh(Result):
    """A line of the history; ``config`` is the digest of the settled configuration."""

    number: int | None = None
    at: str
    change: Mapping[str, tuple[str, ...]]
    config: str
    verdicts: Changed
    before: tuple[Figures, ...]
    after: tuple[Figures, ...]
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed verdicts in all, and by endpoint."""

    total: Changed
    by_endpoint: Mapping[str, Changed]


def begin(folder: RunFolder, change: Mapping[str, Sequence[str]]) -> Pending:
    """What stood before the change. It is kept in ``refresh.json`` until the refresh has ended.

    So that a refresh that was interrupted still tells the difference from where it began.
    """
    names = {key: tuple(value) for key, value in change.items()}
    if (begun := pending(folder)) is not None:
        if begun.change != names:
            refuse(folder)
        return begun
    before.keep(folder)
    now = standing(folder, names)
    write_json(folder.file(PENDING), now)
    return now


def standing(folder: RunFolder, change: Mapping[str, tuple[str, ...]]) -> Pending:
    """What stands in the folder before a change."""
    board = read_leaderboard(folder.file("leaderboard.json"))
    return Pending(change=change, models=figures(board), verdicts=outcomes(folder.verdicts()))


def pending(folder: RunFolder) -> Pending | None:
    """The refresh that began and has not ended. Raises InputProblem where its record is damaged."""
    path = folder.file(PENDING)
    return parse_record(Pending, read_json(path), path) if path.is_file() else None


def refuse(folder: RunFolder) -> None:
    """Raises Problem where a refresh is under way: whatever is made meanwhile would swallow it."""
    if (begun := pending(folder)) is not None:
        raise Problem(
            f"{folder.path}: a refresh is under way ({begun.told}); finish it with the same command, "
            f"or drop it with tutor-arena refresh --run {folder.path} --abandon"
        )


@contextmanager
def held(folder: RunFolder) -> Generator[None]:
    """The run for one program that writes files of it; refused while another does, or a refresh is under way."""
    with RunLock(folder.path):
        refuse(folder)
        yield


def abandon(folder: RunFolder) -> Pending:
    """Put everything back as it was before the refresh under way. Its calls stay in the journal.

    Raises Problem where there is none, or where what stood before is not there any more.
    """
    if (begun := pending(folder)) is None:
        raise Problem(f"{folder.path}: no refresh is under way")
    if not folder.file(before.FOLDER).is_dir():
        raise Problem(f"{folder.path}: {before.FOLDER} is gone; finish the refresh ({begun.told})")
    before.put_back(folder)
    close(folder)
    return begun


def end(folder: RunFolder, line: Refresh) -> bool:
    """Add the line to the history, once, unless the refresh changed nothing; returns whether it is there."""
    path = folder.file(HISTORY)
    earlier = lines(folder)
    last = earlier[-1] if earlier else None
    is_told = last is not None and last == line.model_copy(update={"number": last.number, "at": last.at})
    is_new = not is_told and (line.before != line.after or last is None or last.config != line.config)
    if is_new:
        write_jsonl(path, [*earlier, line.model_copy(update={"number": len(earlier) + 1})])
        published.record(folder.path, HISTORY)
    return is_new or is_told


def close(folder: RunFolder) -> None:
    """The refresh has ended: all that it makes is written. What stood before it is forgotten."""
    folder.file(PENDING).unlink(missing_ok=True)
    before.forget(folder)


def lines(folder: RunFolder) -> list[Refresh]:
    """Every refresh so far, the oldest first. Raises InputProblem naming the line and field that is wrong."""
    path = folder.file(HISTORY)
    return read_records(path, Refresh) if path.is_file() else []


def figures(board: Leaderboard) -> tuple[Figures, ...]:
    """The figures of each model that a history keeps, best first."""
    return tuple(Figures(**{key: getattr(model, key) for key in Figures.model_fields}) for model in board.models)


def outcomes(verdicts: Sequence[Verdict]) -> tuple[Outcome, ...]:
    """The outcome of each verdict."""
    rows: list[Outcome] = []
    for verdict in verdicts:
        first, second = sorted(verdict.endpoints)
        rows.append((verdict.subset, first, second, verdict.criterion, verdict.outcome, verdict.winner))
    return tuple(rows)


def changed_verdicts(before: Sequence[Outcome], after: Sequence[Verdict]) -> Changes:
    """How many matches are new, gone, and decided otherwise than before, in all and by endpoint."""
    old = {row[:4]: row[4:] for row in before}
    new = {row[:4]: row[4:] for row in outcomes(after)}
    by_endpoint: dict[str, dict[str, int]] = {}
    total = dict.fromkeys(Changed.model_fields, 0)
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
        for counts in (total, *(by_endpoint.setdefault(name, dict.fromkeys(total, 0)) for name in key[1:3])):
            counts[kind] += 1
    return Changes(Changed(**total), {name: Changed(**counts) for name, counts in by_endpoint.items()})


def moves(
    before: Sequence[Figures], after: Sequence[Figures], changes: Changes, *, anchored: bool = False
) -> tuple[Move, ...]:
    """Each endpoint then and now, in today's order, those that left last; and why it moved.

    A rating's move is ``scale`` (the mean of all ratings is 1000, so who comes or goes shifts everybody alike;
    0 where an anchor holds the scale) plus ``evidence`` (what the matches say otherwise than before).
    """
    old = {model.name: model for model in before}
    new = {model.name: model for model in after}
    shift = 0.0 if anchored else _shift(old, new)
    names = [*new, *(name for name in old if name not in new)]
    nothing = Changed(new=0, gone=0, changed=0, same=0)
    return tuple(
        _move(name, old.get(name), new.get(name), shift, changes.by_endpoint.get(name, nothing)) for name in names
    )


def _shift(old: Mapping[str, Figures], new: Mapping[str, Figures]) -> float | None:
    """By how much the mean of the endpoints rated both times moved; None where there is none."""
    gaps = [gap for name in old if (gap := _gap(old[name], new.get(name))) is not None]
    return sum(gaps) / len(gaps) if gaps else None


def _gap(old: Figures | None, new: Figures | None) -> float | None:
    if old is None or new is None or old.rating is None or new.rating is None:
        return None
    return new.rating - old.rating


def _move(name: str, old: Figures | None, new: Figures | None, shift: float | None, counts: Changed) -> Move:
    moved = _gap(old, new)
    move = Move(
        name=name,
        moved=_rounded(moved),
        scale=_rounded(shift) if moved is not None else None,
        evidence=_rounded(moved - shift) if moved is not None and shift is not None else None,
        new_matches=counts.new,
        gone_matches=counts.gone,
        changed_verdicts=counts.changed,
        why=(),
    )
    return move.model_copy(update={"why": _why(move, old, new)})


def _why(move: Move, old: Figures | None, new: Figures | None) -> tuple[str, ...]:
    """Keys of reasons (the report has their words): what could have moved this endpoint, and did."""
    if old is None or new is None:
        return ("added" if old is None else "dropped",)
    if move.moved is None:
        return ("rated_now" if old.rating is None and new.rating is not None else "not_comparable",)
    reasons = ["scale"] if abs(move.scale or 0.0) > _SMALL else []
    if abs(move.evidence or 0.0) > _SMALL:
        own = [key for key in ("new_matches", "gone_matches", "changed_verdicts") if getattr(move, key)]
        reasons += own or ["others"]
    return tuple(reasons) or ("unmoved",)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0
